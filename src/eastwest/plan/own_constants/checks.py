"""What is wrong with a file of own constants: keys that nothing reads, and values outside what a machine can have."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeGuard

from eastwest.plan.own_constants.reach import readable
from eastwest.simulate.analytic.assumptions import ARCHITECTURES
from eastwest.simulate.analytic.collective_constants import TABLE, Constant
from eastwest.simulate.analytic.step_constants_file import SCHEMA as STEP_SCHEMA
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from eastwest.simulate.analytic.step_priors import BY_ARCHITECTURE, CLASSES, SHARED
from eastwest.spec import catalogue

MOST_LOG = 3.0  # of a factor of a collective: 20 times its prior is no machine
MOST_RESIDUAL = 10.0  # of a median or spread of predicted over measured
MOST_ROWS = 1_000_000
VALUE_RATIO = 1e-3  # value and logarithm of a collective's constant say the same within it
RESIDUALS = ("median_ratio", "p90_ratio", "bias_ratio", "spread_log")
TOP = ("schema", "training", "collectives", "sha256")
TRAINING = ("schema", "shared", "architectures", "gpus", "groups", "at_bound", "sources", "rows")

Path = tuple[str | int, ...]
Flaw = tuple[Path, str]  # where, and what was expected and found


def flaws_of(document: Mapping[str, Any]) -> Iterator[Flaw]:
    """Every flaw of the file's values, with the path of each."""
    yield from _unknown(document, TOP, ())
    if document.get("training") is not None:
        yield from _of_training(document["training"])
    if document.get("collectives") is not None:
        yield from _of_collectives(document["collectives"])


def _of_training(training: Any) -> Iterator[Flaw]:
    path: Path = ("training",)
    if not isinstance(training, Mapping):
        yield path, f"expected a mapping, found {shown(training)}"
        return
    if training.get("schema") != STEP_SCHEMA:
        yield (*path, "schema"), f"expected {STEP_SCHEMA}, found {shown(training.get('schema'))}"
    yield from _unknown(training, TRAINING, path)
    yield from _values(training.get("shared"), {prior.name: prior.name for prior in SHARED}, (*path, "shared"))
    architectures = training.get("architectures")
    yield from _unknown(architectures, ARCHITECTURES, (*path, "architectures"))
    for kind in ARCHITECTURES:
        names = {p.name.removesuffix(f".{kind}"): p.name for p in BY_ARCHITECTURE if p.name.endswith(f".{kind}")}
        own = architectures.get(kind) if isinstance(architectures, Mapping) else None
        yield from _values(own, names, (*path, "architectures", kind))
    yield from _gpus(training.get("gpus"), (*path, "gpus"))
    groups = training.get("groups")
    yield from _unknown(groups, (*ARCHITECTURES, "moe"), (*path, "groups"))
    for name, entry in groups.items() if isinstance(groups, Mapping) else ():
        yield from _residual(entry, (*path, "groups", name), ())
    for key in ("at_bound", "sources", "rows"):
        if not isinstance(training.get(key) or [], list):
            yield (*path, key), f"expected a list, found {shown(training[key])}"


def _gpus(gpus: Any, path: Path) -> Iterator[Flaw]:
    yield from _unknown(gpus, catalogue.names("gpu"), path)
    for gpu, kinds in gpus.items() if isinstance(gpus, Mapping) else ():
        yield from _missing(kinds, (*path, gpu))
        yield from _unknown(kinds, CLASSES, (*path, gpu))
        for kind, entry in kinds.items() if isinstance(kinds, Mapping) else ():
            at = (*path, gpu, kind)
            yield from _residual(entry, at, ("gemm",))
            if isinstance(entry, Mapping) and str(kind) in CLASSES:
                yield from _in_bounds(entry.get("gemm"), f"gemm.{gpu}.{kind}", (*at, "gemm"))


def _values(entries: Any, names: Mapping[str, str], path: Path) -> Iterator[Flaw]:
    """Flaws of constants under their short names; `names` are their full ones."""
    yield from _unknown(entries, names, path)
    for short, entry in entries.items() if isinstance(entries, Mapping) else ():
        if short in names:
            value = entry.get("value") if isinstance(entry, Mapping) else entry
            yield from _in_bounds(value, names[short], (*path, short))


def _in_bounds(value: Any, name: str, path: Path) -> Iterator[Flaw]:
    low, high = readable(name, shipped_constants())
    if not _is_number(value) or not low <= value <= high:
        yield path, f"expected a number from {low:.3g} to {high:.3g}, found {shown(value)}"


def _residual(entry: Any, path: Path, more: tuple[str, ...]) -> Iterator[Flaw]:
    yield from _missing(entry, path)
    yield from _unknown(entry, ("rows", *RESIDUALS, *more), path)
    if not isinstance(entry, Mapping):
        return
    rows = entry.get("rows", 0)
    if isinstance(rows, bool) or not isinstance(rows, int) or not 0 <= rows <= MOST_ROWS:
        yield (*path, "rows"), f"expected a count of rows, found {shown(rows)}"
    for key in RESIDUALS:
        value = entry.get(key, 0.0)
        if not _is_number(value) or not (key == "bias_ratio" or value >= 0) or not abs(value) <= MOST_RESIDUAL:
            yield (*path, key), f"expected a number up to {MOST_RESIDUAL:g}, found {shown(value)}"


def _of_collectives(collectives: Any) -> Iterator[Flaw]:
    path: Path = ("collectives",)
    yield from _unknown(collectives, ("constants", "sources"), path)
    constants = collectives.get("constants") if isinstance(collectives, Mapping) else None
    if not isinstance(constants, Mapping):
        yield (*path, "constants"), f"expected a mapping, found {shown(constants)}"
        return
    path = (*path, "constants")
    yield from _unknown(constants, [constant.name for constant in TABLE], path)
    for constant in TABLE:
        if constant.name in constants:
            yield from _of_constant(constants[constant.name], constant, (*path, constant.name))


def _of_constant(classes: Any, constant: Constant, path: Path) -> Iterator[Flaw]:
    yield from _unknown(classes, ("shared", *constant.classes), path)
    logs: dict[str, float] = {}
    for name, entry in classes.items() if isinstance(classes, Mapping) else ():
        yield from _unknown(entry, ("log", "value"), (*path, name))
        log = entry.get("log") if isinstance(entry, Mapping) else None
        if not _is_number(log) or not abs(log) <= MOST_LOG:
            yield (*path, name, "log"), f"expected a number from -{MOST_LOG:g} to {MOST_LOG:g}, found {shown(log)}"
        else:
            logs[name] = log
    for name, prior in zip(constant.classes, constant.prior, strict=True):
        if name not in logs or "shared" not in logs or "value" not in classes[name]:
            continue
        value, said = classes[name]["value"], prior * math.exp(logs["shared"] + logs[name])
        if not _is_number(value) or not abs(value / said - 1) <= VALUE_RATIO:
            yield (*path, name, "value"), f"expected {said:.6g}, as shared.log and log say, found {shown(value)}"


def _missing(found: Any, path: Path) -> Iterator[Flaw]:
    """A name with nothing behind it."""
    if found is None:
        yield path, f"expected a mapping, found {shown(found)}"


def _unknown(found: Any, known: Collection[str], path: Path) -> Iterator[Flaw]:
    """Names that nobody reads; a value that is no mapping at all."""
    if found is None:
        return
    if not isinstance(found, Mapping):
        yield path, f"expected a mapping, found {shown(found)}"
        return
    for name in found:
        if str(name) not in known:
            from difflib import get_close_matches

            near = get_close_matches(str(name), known, 1)
            yield (*path, name), "this name is not known" + (f"; did you mean {near[0]}?" if near else "")


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def shown(value: Any) -> str:
    """A value of a file in a sentence, at most 40 letters of it."""
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
