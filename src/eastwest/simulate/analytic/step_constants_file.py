"""Step constants as a YAML file: read, written, and the ones that the package ships.

Values stand by scope: shared ones, those of an architecture, and for each GPU type and class of precision its factor
with the residuals and the number of rows behind it. `training_without.yaml` holds, for each source of the fit, the
constants fitted without that source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from eastwest.simulate.analytic.assumptions import ARCHITECTURES
from eastwest.simulate.analytic.step_constants import Residual, StepConstants
from eastwest.simulate.analytic.step_priors import BY_ARCHITECTURE, CLASSES, SHARED, Prior

SCHEMA = "eastwest.step_constants/1"
SHIPPED, SHIPPED_WITHOUT = "training.yaml", "training_without.yaml"
DIGITS = 5  # significant, of a written value
IDS_PER_LINE = 4
_HEADER = (
    "Constants of the step model, fitted by eastwest.plan.calibration.tables; do not edit by hand.",
    "value / prior as in step_priors.py; residuals are those of the fit (predicted / measured - 1).",
)
_WITHOUT_HEADER = (
    "Constants of the step model fitted without one source each (source: name: value), for validation.",
    "Written by eastwest.plan.calibration.tables; do not edit by hand.",
)


class ConstantsError(ValueError):
    """A file of constants that cannot be used; the message says where and what was expected."""


def constants_text(constants: StepConstants) -> str:
    """The constants as YAML."""
    lines = [f"# {line}" for line in _HEADER]
    lines += [f"schema: {SCHEMA}", "shared:", *_lines(SHARED, constants, "")]
    for kind in ARCHITECTURES:
        priors = [prior for prior in BY_ARCHITECTURE if prior.name.endswith(f".{kind}")]
        lines += [*(["architectures:"] if kind == ARCHITECTURES[0] else []), f"  {kind}:"]
        lines += _lines(priors, constants, "  ", f".{kind}")
    lines += ["gpus:", *_gpu_lines(constants), "groups:"]
    groups = {name: found for name, found in constants.residuals.items() if " " not in name}
    lines += [f"  {name}: {_residual(found)}" for name, found in groups.items()]
    lines += [f"at_bound: [{', '.join(constants.at_bound)}]", "sources:"]
    lines += [f'- "{source}"' for source in constants.sources]
    lines += ["rows:", *(f"- {_quoted(row)}" for row in constants.rows)]
    return "\n".join(lines) + "\n"


def without_text(without: Mapping[str, StepConstants]) -> str:
    """Constants fitted without each source as YAML."""
    lines = [f"# {line}" for line in _WITHOUT_HEADER]
    lines.append(f"schema: {SCHEMA}")
    lines.append("without:")
    for source, constants in without.items():
        lines.append(f'  "{source}":')
        lines += [f"    {name}: {_number(value)}" for name, value in constants.values.items()]
    return "\n".join(lines) + "\n"


def parse_constants(document: Any) -> StepConstants:
    """Constants from a document in the shape that `constants_text` writes. Raises ConstantsError."""
    _check(document)
    values: dict[str, float] = {}
    for prior in SHARED:
        _take(values, prior, document.get("shared") or {}, prior.name)
    for prior in BY_ARCHITECTURE:
        name, kind = prior.name.rsplit(".", 1)
        _take(values, prior, (document.get("architectures") or {}).get(kind) or {}, name)
    residuals: dict[str, Residual] = {}
    for gpu, kinds in (document.get("gpus") or {}).items():
        for kind, entry in kinds.items():
            if str(kind) not in CLASSES:
                raise ConstantsError(f"gpus.{gpu}.{kind}: expected a class of precision ({', '.join(CLASSES)})")
            values[f"gemm.{gpu}.{kind}"] = _positive(entry.get("gemm"), f"gpus.{gpu}.{kind}.gemm")
            residuals[f"{gpu} {kind}"] = _residual_of(entry)
    residuals |= {str(name): _residual_of(entry) for name, entry in (document.get("groups") or {}).items()}
    return StepConstants(
        values=values,
        at_bound=tuple(document.get("at_bound") or ()),
        sources=tuple(document.get("sources") or ()),
        rows=tuple(str(row) for row in document.get("rows") or ()),
        residuals=residuals,
    )


def parse_without(document: Any) -> dict[str, StepConstants]:
    """Source -> constants fitted without it. Raises ConstantsError."""
    _check(document)
    return {
        str(source): StepConstants({str(name): _positive(value, f"{source}.{name}") for name, value in values.items()})
        for source, values in (document.get("without") or {}).items()
    }


@cache
def shipped_constants() -> StepConstants:
    """The constants of the package."""
    return parse_constants(_read(SHIPPED))


@cache
def shipped_without() -> Mapping[str, StepConstants]:
    """Source -> the constants of the package fitted without it."""
    return parse_without(_read(SHIPPED_WITHOUT))


def _read(name: str) -> Any:
    from ruamel.yaml import YAML

    folder = files("eastwest.simulate.analytic").joinpath("constants")
    return YAML(typ="safe").load(folder.joinpath(name).read_text(encoding="utf-8"))


def _lines(priors: Iterable[Prior], constants: StepConstants, indent: str, suffix: str = "") -> Iterator[str]:
    for prior in priors:
        name = prior.name.removesuffix(suffix) if suffix else prior.name
        value, usual = _number(constants.value(prior.name)), _number(prior.value)
        yield f"{indent}  {name}: {{value: {value}, prior: {usual}, unit: {prior.unit}}}"


def _gpu_lines(constants: StepConstants) -> Iterator[str]:
    shared = {prior.name for prior in (*SHARED, *BY_ARCHITECTURE)}
    own = [name for name in constants.values if name not in shared]
    last = ""
    for name in sorted(own):
        _, gpu, kind = name.split(".", 2)
        if gpu != last:
            yield f"  {gpu}:"
        last = gpu
        found = constants.residuals.get(f"{gpu} {kind}")
        rest = f", {_fields(found)}" if found else ""
        yield f'    "{kind}": {{gemm: {_number(constants.values[name])}{rest}}}'


def _fields(found: Residual) -> str:
    return ", ".join(f"{key}: {_number(value)}" for key, value in asdict(found).items())


def _residual(found: Residual) -> str:
    return f"{{{_fields(found)}}}"


def _residual_of(entry: Mapping[str, Any]) -> Residual:
    fields = ("median_ratio", "p90_ratio", "bias_ratio", "spread_log")
    return Residual(int(entry.get("rows", 0)), *(float(entry.get(name, 0.0)) for name in fields))


def _number(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def _quoted(text: str) -> str:
    return f'"{text}"' if text[:1].isdigit() else text


def _take(values: dict[str, float], prior: Prior, entries: Mapping[str, Any], name: str) -> None:
    entry = entries.get(name)
    if entry is not None:
        values[prior.name] = _positive(entry.get("value") if isinstance(entry, Mapping) else entry, name)


def _positive(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ConstantsError(f"{where}: expected a positive number, found {value!r}")
    return float(value)


def _check(document: Any) -> None:
    if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
        raise ConstantsError(f"schema: expected {SCHEMA}")
