"""The file of own constants (`eastwest.constants/1`): written by `calibrate --out`, read by `--constants`.

It holds the constants of the step model, of collectives, or both; what it does not hold stays as shipped. Its last line
is the SHA-256 of the rest: without it the file is cut, with another one it was changed by hand.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eastwest.errors import UsageError
from eastwest.plan.own_constants.checks import Flaw, flaws_of, shown
from eastwest.simulate.analytic.collective_constants import (
    TABLE,
    Constants,
    Floats,
    factors_of,
    named,
    shipped,
    theta_of,
)
from eastwest.simulate.analytic.step_constants import StepConstants
from eastwest.simulate.analytic.step_constants_file import constants_text, parse_constants, shipped_constants

NAME, VERSION = "eastwest.constants", 1
SCHEMA = f"{NAME}/{VERSION}"
MOST_BYTES = 1_048_576
MOST_TOLD = 3  # flaws of one file in one message
DIGITS = 6
HEAD = (
    "Constants fitted on own measurements by `eastwest calibrate`, for `--constants` of plan, predict and validate.",
    "Parts that are missing stay as shipped. The last line is the SHA-256 of the others.",
)
HINT = "`eastwest calibrate RUNS --out FILE` writes it"
_LAST = re.compile(r"^sha256:[ \t]*\"?(?P<digest>[0-9a-f]{64})\"?[ \t]*$", re.M)


@dataclass(frozen=True, slots=True)
class OwnConstants:
    """Own constants: `step` of the step model, `theta` the logarithms of those of collectives, `collective_sources` the
    files that those were fitted on; None where the file has none. `source` names the file, `n_step` and `n_theta` count
    the values that it holds (the others are as shipped), `is_changed` whether it was changed after it was written.
    """

    step: StepConstants | None = None
    theta: Floats | None = None
    collective_sources: tuple[str, ...] = ()
    source: str = ""
    n_step: int = 0
    n_theta: int = 0
    is_changed: bool = False

    @property
    def collectives(self) -> Constants | None:
        """Values of the constants of collectives."""
        return None if self.theta is None else factors_of(self.theta)

    def as_json(self) -> dict[str, Any]:
        """Which constants a document rests on, in the shape of the command line's contract."""
        return {
            "source": self.source or None,
            "changed_by_hand": self.is_changed,
            "training": _part(self.step is not None, self.n_step, len(self.step.values) if self.step else 0),
            "collectives": _part(self.theta is not None, self.n_theta, N_LOGARITHMS),
        }

    @property
    def words(self) -> tuple[str, ...]:
        """The same in words, for what a prediction assumes; nothing for shipped constants."""
        if self.step is None and self.theta is None:
            return ()
        parts = (
            f"step model {self.n_step} of {len(self.step.values)} values" if self.step else "step model as shipped",
            "collectives as shipped" if self.theta is None else f"collectives {self.n_theta} of {N_LOGARITHMS} values",
        )
        changed = "; changed by hand after `calibrate` wrote it" if self.is_changed else ""
        return (f"constants of {self.source or 'own measurements'}: {', '.join(parts)}{changed}",)


AS_SHIPPED = OwnConstants()
N_LOGARITHMS = sum(1 + len(constant.classes) for constant in TABLE)


def _part(is_own: bool, n_read: int, n_all: int) -> dict[str, Any]:
    return {"from": "own", "values_read": n_read, "values": n_all} if is_own else {"from": "shipped"}


def own_text(own: OwnConstants) -> str:
    """The file as YAML text."""
    lines = [*(f"# {line}" for line in HEAD), f"schema: {SCHEMA}"]
    if own.step is not None:
        written = [line for line in constants_text(own.step).splitlines() if not line.startswith("#")]
        lines += ["training:", *(f"  {line}" for line in written)]
    if own.theta is not None:
        names = ", ".join(json.dumps(source) for source in own.collective_sources)  # JSON is YAML
        lines += ["collectives:", *_collective_lines(own.theta), f"  sources: [{names}]"]
    body = "\n".join(lines) + "\n"
    return f'{body}sha256: "{_digest(body)}"\n'


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def _collective_lines(theta: Floats) -> Iterator[str]:
    yield "  constants:"
    for name, classes in named(theta).items():
        yield f"    {name}:"
        for of_class, entry in classes.items():
            fields = ", ".join(f"{key}: {value:.{DIGITS}g}" for key, value in entry.items())
            yield f"      {of_class}: {{{fields}}}"


def is_written(content: bytes) -> bool:
    """Whether a file is as `calibrate` wrote it, so that it may be replaced."""
    text = content.decode("utf-8", errors="replace")
    return f"schema: {SCHEMA}" in text and not _is_changed(text)


def _is_changed(text: str) -> bool:
    last = _LAST.search(text)
    return last is None or _digest(text[: last.start()] + text[last.end() + 1 :]) != last["digest"]


def read_constants(path: Path | str) -> OwnConstants:
    """Own constants of a file. Raises UsageError or InputError that says what is wrong with it and in which line."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"--constants: {path}: {reason}", hint=HINT) from error
    return parse_own(content, str(path))


def parse_own(content: bytes, source: str) -> OwnConstants:
    """Own constants of a file's bytes. Raises UsageError for wrong values and InputError for what is no YAML."""
    from eastwest.plan.designs.source import decode, read_yaml

    if len(content) > MOST_BYTES:
        raise UsageError(f"--constants: {source}: more than 1 MiB", hint=HINT)
    text = decode(content, source).replace("\r\n", "\n")
    document = read_yaml(text, source)
    data = document.data
    _check_schema(data.get("schema"), source, document.line_numbers)
    if data.get("training") is None and data.get("collectives") is None:
        raise UsageError(f"--constants: {source}: neither training nor collectives", hint=HINT)
    flaws = list(flaws_of(data))
    if flaws:
        raise UsageError(_told(flaws, source, document.line_numbers), hint=HINT)
    if not _LAST.search(text):
        end = len(text.rstrip("\n").split("\n"))
        raise UsageError(
            f"--constants: {source}, line {end}: the file is cut: its last line, `sha256: ...`, is missing",
            hint="copy the whole file, or calibrate again",
        )
    return replace(_own(data), source=source, is_changed=_is_changed(text))


def _check_schema(found: Any, source: str, lines: Mapping[Any, int]) -> None:
    if found == SCHEMA:
        return
    at = f", line {lines[('schema',)]}" if ("schema",) in lines else ""
    name, _, version = found.partition("/") if isinstance(found, str) else ("", "", "")
    if name == NAME:
        message = f"schema version {version or 'none'}: this eastwest reads version {VERSION}"
        raise UsageError(f"--constants: {source}{at}: {message}", hint="calibrate again with this eastwest")
    raise UsageError(f"--constants: {source}{at}: schema: expected {SCHEMA}, found {shown(found)}", hint=HINT)


def _told(flaws: Sequence[Flaw], source: str, lines: Mapping[Any, int]) -> str:
    """The first flaws in one message, each with its line."""
    told = []
    for path, text in flaws[:MOST_TOLD]:
        line = next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)
        told.append(f"{f'line {line}: ' if line else ''}{'.'.join(map(str, path))}: {text}")
    rest = len(flaws) - len(told)
    return f"--constants: {source}: {'; '.join(told)}{f'; and {rest} more' if rest else ''}"


def _own(document: Mapping[str, Any]) -> OwnConstants:
    """The constants of a checked document, what it lacks as shipped."""
    found = OwnConstants()
    if document.get("training") is not None:
        step, whole = parse_constants(document["training"]), shipped_constants()
        values, residuals = {**whole.values, **step.values}, {**whole.residuals, **step.residuals}
        found = replace(found, step=replace(step, values=values, residuals=residuals), n_step=len(step.values))
    if document.get("collectives") is not None:
        own = document["collectives"]
        theta, n_theta = _theta(own["constants"])
        names = tuple(str(name) for name in own.get("sources") or ())
        found = replace(found, theta=theta, n_theta=n_theta, collective_sources=names)
    return found


def _theta(constants: Mapping[str, Any]) -> tuple[Floats, int]:
    """Logarithms with those that the file lacks as shipped, and how many it holds."""
    usual = shipped()["constants"]
    merged = {c.name: {**usual[c.name], **(constants.get(c.name) or {})} for c in TABLE}
    return theta_of(merged), sum(len(classes or {}) for classes in constants.values())
