"""`python -m eastwest`: the same as the console script."""

from eastwest.cli.main import main

if __name__ == "__main__":
    main()
