"""Write the expected texts of the broken site files anew: `python tests/spec/rewrite_broken.py`, then read the diff.

Never run by the suite. An expectation is a promise to the reader of an error; look at each one that changes.
"""

from pathlib import Path

from eastwest.errors import InputError
from eastwest.spec.load import parse_site
from eastwest.spec.mistakes import render_mistakes

BROKEN = Path(__file__).parent / "broken"
CHINESE = ("layout-product", "rate-in-bytes", "key-misspelt", "text-tab", "model-switch", "several-at-once")


def mistakes_of(path: Path, lang: str = "en") -> str:
    """What the command line prints about a broken site file; empty when it loads."""
    try:
        parse_site(path.read_text(encoding="utf-8"), path.name)
    except InputError as error:
        return render_mistakes(error, lang)
    return ""


def main() -> None:
    """Write one .txt per .yaml, and .zh.txt for a few."""
    for path in sorted(BROKEN.glob("*.yaml")):
        path.with_suffix(".txt").write_text(mistakes_of(path), encoding="utf-8")
        if path.stem in CHINESE:
            path.with_suffix(".zh.txt").write_text(mistakes_of(path, "zh"), encoding="utf-8")


if __name__ == "__main__":
    main()
