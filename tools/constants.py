"""Fit the shipped constants again: `tools/constants.py TABLES` writes the three files of the package.

TABLES is a folder with `training.yaml` and `collectives.yaml`, tables of measurements in the shape that `eastwest
validate` reads. With the same tables the files come out byte for byte; `--out FOLDER` writes them elsewhere. The fits
without each source of training take minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src/eastwest/simulate/analytic/constants"


def main(arguments: list[str]) -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", type=Path, help="folder with training.yaml and collectives.yaml")
    parser.add_argument(
        "--out", type=Path, default=PACKAGE, help="folder for the constants; the package's own by default"
    )
    asked = parser.parse_args(arguments)
    missing = [name for name in ("training.yaml", "collectives.yaml") if not (asked.tables / name).is_file()]
    if missing:
        parser.error(f"{asked.tables} has no {' and no '.join(missing)}")
    from collective_constants import write_collectives

    from eastwest.plan.calibration.tables import write_shipped

    asked.out.mkdir(parents=True, exist_ok=True)
    print(write_collectives(asked.tables / "collectives.yaml", asked.out / "collectives.yaml"))
    write_shipped(asked.tables / "training.yaml", asked.out)
    print(f"wrote {asked.out}")


if __name__ == "__main__":
    main(sys.argv[1:])
