"""The file of own constants (`eastwest.constants/1`): written by `calibrate --out`, read by `--constants`.

It holds the constants of the step model, of collectives, or both; what it does not hold stays as shipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eastwest.errors import UsageError
from eastwest.simulate.analytic.collective_constants import TABLE, Constants, Floats, factors_of, named, theta_of
from eastwest.simulate.analytic.step_constants import StepConstants
from eastwest.simulate.analytic.step_constants_file import ConstantsError, constants_text, parse_constants

SCHEMA = "eastwest.constants/1"
MOST_LOG = 10.0  # of a factor: e^10 is no factor of a machine
MOST_BYTES = 4 * 1_048_576
DIGITS = 6
HEAD = (
    "Constants fitted on own measurements by `eastwest calibrate`; `eastwest validate ... --constants FILE` reads it.",
    "Parts that are missing stay as shipped.",
)


@dataclass(frozen=True, slots=True)
class OwnConstants:
    """Own constants: `step` of the step model, `theta` the logarithms of those of collectives, `collective_sources` the
    files that those were fitted on; None where the file has none.
    """

    step: StepConstants | None = None
    theta: Floats | None = None
    collective_sources: tuple[str, ...] = ()

    @property
    def collectives(self) -> Constants | None:
        """Values of the constants of collectives."""
        return None if self.theta is None else factors_of(self.theta)


def own_text(own: OwnConstants) -> str:
    """The file as YAML text."""
    lines = [*(f"# {line}" for line in HEAD), f"schema: {SCHEMA}"]
    if own.step is not None:
        written = [line for line in constants_text(own.step).splitlines() if not line.startswith("#")]
        lines += ["training:", *(f"  {line}" for line in written)]
    if own.theta is not None:
        names = ", ".join(_quoted(source) for source in own.collective_sources)
        lines += ["collectives:", *_collective_lines(own.theta), f"  sources: [{names}]"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A text as YAML in double quotes (JSON is YAML)."""
    import json

    return json.dumps(text)


def _collective_lines(theta: Floats) -> Iterator[str]:
    yield "  constants:"
    for name, classes in named(theta).items():
        yield f"    {name}:"
        for of_class, entry in classes.items():
            fields = ", ".join(f"{key}: {value:.{DIGITS}g}" for key, value in entry.items())
            yield f"      {of_class}: {{{fields}}}"


def read_constants(path: Path | str) -> OwnConstants:
    """Own constants of a file. Raises UsageError that says what is wrong with it."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"--constants: {path}: {reason}", hint="`eastwest calibrate RUNS --out FILE` writes it"
        ) from error
    return parse_own(content, str(path))


def parse_own(content: bytes, source: str) -> OwnConstants:
    """Own constants of a file's bytes. Raises UsageError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        if len(content) > MOST_BYTES:
            raise ConstantsError("more than 4 MiB")
        document = YAML(typ="safe").load(content.decode("utf-8"))
        return _own(document)
    except ConstantsError as error:
        raise UsageError(
            f"--constants: {source}: {error}", hint="`eastwest calibrate RUNS --out FILE` writes it"
        ) from error
    except (YAMLError, ValueError, RecursionError, AttributeError, TypeError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"--constants: {source} is no file of constants: {first}") from error


def _own(document: Any) -> OwnConstants:
    if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
        raise ConstantsError(f"schema: expected {SCHEMA}")
    training, collectives = document.get("training"), document.get("collectives")
    if training is None and collectives is None:
        raise ConstantsError("neither training nor collectives")
    step = None if training is None else parse_constants(training)
    if collectives is None:
        return OwnConstants(step)
    sources = collectives.get("sources") if isinstance(collectives, Mapping) else None
    names = tuple(str(name) for name in sources) if isinstance(sources, list) else ()
    return OwnConstants(step, _theta(collectives), names)


def _theta(collectives: Any) -> Floats:
    constants = collectives.get("constants") if isinstance(collectives, Mapping) else None
    if not isinstance(constants, Mapping):
        raise ConstantsError("collectives.constants: expected a mapping")
    for constant in TABLE:
        for name in ("shared", *constant.classes):
            entry = (constants.get(constant.name) or {}).get(name)
            log = entry.get("log") if isinstance(entry, Mapping) else None
            where = f"collectives.constants.{constant.name}.{name}.log"
            if isinstance(log, bool) or not isinstance(log, int | float) or not abs(log) <= MOST_LOG:
                raise ConstantsError(
                    f"{where}: expected a number between -{MOST_LOG:g} and {MOST_LOG:g}, found {log!r}"
                )
    return theta_of(constants)
