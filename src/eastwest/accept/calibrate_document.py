"""The JSON document of `calibrate`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eastwest.finding import Finding
from eastwest.plan.own_constants.collectives import LEAST_POINTS, OwnCollectives
from eastwest.plan.own_constants.training import LEAST_ROWS, OwnStep
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from eastwest.simulate.analytic.step_priors import BY_ARCHITECTURE, SHARED

if TYPE_CHECKING:
    from eastwest.accept.calibrate import Calibrated

MOVED_RATIO = 5e-4  # a constant that moved less did not move
RULES = {
    "shrinking": "every constant starts at its shipped value; its prior is as wide as the published runs leave it",
    "level": f"a GPU type and precision with fewer than {LEAST_ROWS} rows moves its level only",
    "share": f"a GPU generation or transport with fewer than {LEAST_POINTS} points moves shares of bandwidth only",
    "leave_one_out": "constants without the run's group: its source, else its model and GPUs, else itself; runs of the "
    "same inputs share a group; 3 groups or more",
    "joined": "measurements of the same inputs count once, with their median time",
    "impossible": "a row with more FLOP/s than its GPUs have, or a curve faster than its links, is left out",
}


def document_of(calibrated: Calibrated, lang: str) -> dict[str, Any]:
    """The whole document, in the shape of the command line's contract."""
    skipped = [
        {"subject": case.row.id, "line": case.row.line, "reason": _reason(str(case.skip), case.row.id, lang)}
        for case in calibrated.cases
        if case.skip is not None
    ]
    skipped += [
        {"subject": case.row.id, "line": case.row.line, "reason": case.suspect}
        for case in calibrated.cases
        if case.skip is None and case.suspect
    ]
    skipped += [
        {
            "subject": item.subject,
            "line": None,
            "reason": Finding(item.code, "info", item.subject, args=dict(item.args)).sentence(lang),
        }
        for item in calibrated.texts.left_out
    ]
    return {
        "schema": "eastwest.calibrate/1",
        "verdict": calibrated.verdict,
        "findings": [finding.as_json(lang) for finding in calibrated.findings],
        "training": _training(calibrated.step) if calibrated.step else None,
        "collectives": _collectives(calibrated.collectives) if calibrated.collectives else None,
        "logs": [
            {"source": source, "says": [{"name": name, "value": value} for name, value in said]}
            for source, said in calibrated.texts.logs.items()
        ],
        "assumed": list(calibrated.texts.assumed),
        "left_out": skipped,
        "joined": [{"subject": found.subject, "measurements": list(found.names)} for found in calibrated.repeated],
        "rules": RULES,
    }


def _reason(code: str, subject: str, lang: str) -> str:
    return Finding(code, "info", subject).sentence(lang)


def _training(step: OwnStep) -> dict[str, Any]:
    shipped = shipped_constants()
    units = {prior.name: prior.unit for prior in (*SHARED, *BY_ARCHITECTURE)}
    constants = [
        {
            "name": name,
            "unit": units.get(name, "ratio"),
            "shipped": shipped.value(name),
            "value": step.constants.values[name],
            "at_bound": name in step.constants.at_bound,
        }
        for name in step.moved
        if abs(math.log(step.constants.values[name] / shipped.value(name))) > MOVED_RATIO
    ]
    return {
        "rows_used": len(step.runs),
        "free_constants": len(step.moved),
        "level_only": [{"gpu": gpu, "class": kind, "rows": rows} for (gpu, kind), rows in step.level_only.items()],
        "constants": constants,
        "errors": _errors(step.shipped_ratios, step.ratios, step.left_out_ratios),
        "groups": len(set(step.groups)),
        "residuals": {
            name: {"rows": found.rows, "median_abs_error_ratio": found.median_ratio, "bias_ratio": found.bias_ratio}
            for name, found in step.constants.residuals.items()
            if name in {f"{run.gpu} {kind}" for run in step.runs for kind in (name.split(" ")[-1],)}
        },
        "rows": [
            {
                "id": run.id,
                "group": group,
                "shipped_ratio": float(before),
                "ratio": float(after),
                "left_out_ratio": _number(without),
            }
            for run, group, before, after, without in zip(
                step.runs, step.groups, step.shipped_ratios, step.ratios, step.left_out_ratios, strict=True
            )
        ],
    }


def _collectives(own: OwnCollectives) -> dict[str, Any]:
    return {
        "runs_used": len(own.runs),
        "points_used": sum(len(run.sizes_bytes) for run in own.runs),
        "share_only": [{"class": name, "points": points} for name, points in own.share_only.items()],
        "constants": [
            {
                "name": constant.name,
                "class": constant.of_class,
                "shipped": constant.shipped,
                "value": constant.value,
                "at_bound": constant.is_at_bound,
            }
            for constant in own.moved
        ],
        "errors": _errors(*(np.concatenate(found) for found in (own.shipped_ratios, own.ratios, own.left_out_ratios))),
        "groups": len(set(own.groups)),
        "runs": [
            {
                "id": run.id,
                "source": run.source,
                "group": group,
                "collective": run.run.collective,
                "gpus": run.run.ranks,
                "domains": run.run.domains,
                "generation": run.run.generation,
                "transport": run.run.transport if run.run.domains > 1 else None,
                "algorithm": run.run.algorithm,
                "protocol": run.run.protocol,
                "points": len(run.sizes_bytes),
                "shipped_ratio": float(np.median(before)),
                "ratio": float(np.median(after)),
                "left_out_ratio": _number(float(np.median(without))),
            }
            for run, group, before, after, without in zip(
                own.runs, own.groups, own.shipped_ratios, own.ratios, own.left_out_ratios, strict=True
            )
        ],
    }


def _errors(shipped: Any, own: Any, left_out: Any) -> dict[str, float | None]:
    """Median and 90th percentile of the absolute error: shipped, own, and without the run's group."""
    named = {"shipped": shipped, "own": own, "left_out": left_out}
    return {
        f"{name}_{word}_abs_error_ratio": _quantile(ratios, share)
        for name, ratios in named.items()
        for word, share in (("median", 0.5), ("p90", 0.9))
    }


def _quantile(ratios: Any, share: float) -> float | None:
    known: Sequence[float] = np.abs(ratios[np.isfinite(ratios)] - 1)
    return float(np.quantile(known, share)) if len(known) else None


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
