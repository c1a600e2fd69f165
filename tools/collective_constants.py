"""Fit the shipped constants of collectives to a table of measured collectives, for `tools/constants.py`.

The published runs of the package are always part of the fit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from ruamel.yaml import YAML

from eastwest.plan.validation.collectives_cases import case_of
from eastwest.plan.validation.collectives_judged import measured_runs
from eastwest.plan.validation.collectives_table import read_collectives
from eastwest.simulate.analytic.collective_constants import TABLE, named
from eastwest.simulate.analytic.collective_fit import FittedCollectives, fit_collectives

DIGITS = 6
HEAD = (
    "# Constants of collectives, fitted: one value a GPU generation or transport class. Written by\n"
    "# tools/collective_constants.py; `log` is the logarithm of the shared or the class factor, `value` the constant.\n"
)


def document(fitted: FittedCollectives) -> dict[str, object]:
    """The constants file as plain values: constants, and of every run its points and its residuals."""
    means = {constant.name: constant.means for constant in TABLE}
    constants = {
        name: {cls: {key: float(f"{v:.{DIGITS}g}") for key, v in entry.items()} for cls, entry in classes.items()}
        for name, classes in named(fitted.theta).items()
    }
    residuals = [
        {
            "id": run.id,
            "source": run.source,
            "points": len(run.sizes_bytes),
            "median_error_ratio": round(float(np.median(np.expm1(found))), 4),
            "median_abs_error_ratio": round(float(np.median(np.abs(np.expm1(found)))), 4),
        }
        for run, found in zip(fitted.runs, fitted.residuals, strict=True)
    ]
    return {"means": means, "constants": constants, "runs": residuals}


def write_collectives(table: Path, target: Path) -> str:
    """Fit to the rows of a table and write the constants file; what was fitted, in a line."""
    cases = [case_of(row) for row in read_collectives(table.read_text(encoding="utf-8"), table.name)]
    fitted = fit_collectives(measured_runs(cases))
    yaml = YAML(typ="safe")
    yaml.default_flow_style = None
    yaml.width = 120
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    with target.open("w", encoding="utf-8") as file:
        file.write(HEAD)
        yaml.dump(document(fitted), file)
    errors = np.concatenate(fitted.residuals)
    return f"{len(fitted.runs)} runs, {len(errors)} points, median error {np.median(np.abs(np.expm1(errors))):.1%}"
