"""Complaints of pydantic and of the YAML reader as Findings: where, what was found, what was expected, what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic_core import ErrorDetails

from eastwest.errors import InputError
from eastwest.finding import Evidence, Finding
from eastwest.registry import nearest
from eastwest.spec import keys
from eastwest.spec.document import Document, Flaw, Path
from eastwest.spec.jobs import TrainingWish
from eastwest.spec.quantities import MIN_RATE_BPS, kind_of, written_bound

_HINT = {"en": "hint: ", "zh": "提示："}
MAX_SHOWN = 60  # characters of a found value that a sentence repeats
CHOICE_LIKENESS = 0.7  # difflib ratio from which a choice is offered: dragonfly is not meant to be rail_only (0.67)
MAX_QUOTED = 110  # characters of a line that is quoted
MAX_MISTAKES = 100  # more than that is one mistake many times over
_PLACES_SHOWN = 3

_QUANTITY_CODES = {
    "rate": "EW-SITE-040",
    "size": "EW-SITE-042",
    "length": "EW-SITE-044",
    "time": "EW-SITE-045",
    "power": "EW-SITE-046",
    "count": "EW-SITE-047",
    "ratio": "EW-SITE-048",
}
_BYTES_FOR_BITS = re.compile(r"^\s*(?P<number>[\d._]+)\s*(?P<prefix>[KMGTkmgt]?)i?B(?:/s|ps)?\s*$")
_BITS_FOR_BYTES = re.compile(r"^\s*(?P<number>[\d._]+)\s*(?P<prefix>[KMGTkmgt]?)i?b\s*$")
_BARE_NUMBER = re.compile(r"^\s*[+-]?[\d._]+(?:[eE][+-]?\d+)?\s*$")
_BARE_PREFIX = re.compile(r"^\s*(?P<number>[\d._]+)\s*(?P<prefix>[KMGTkmgt])\s*$")
_LEADING_NUMBER = re.compile(r"^\s*(\d{1,7})(?:\.0+)?(?:\s*\D.*)?$")
_UNIT_OF_KIND = {"length": "m", "time": "s", "power": "W"}
_MISSING_CODES = ("EW-SITE-023", "EW-SITE-028")
_TYPE_CODES = {
    "model_type": "EW-SITE-030",
    "model_attributes_type": "EW-SITE-030",
    "dict_type": "EW-SITE-030",
    "tuple_type": "EW-SITE-031",
    "list_type": "EW-SITE-031",
    "string_type": "EW-SITE-032",
    "int_type": "EW-SITE-033",
    "int_parsing": "EW-SITE-033",
    "int_from_float": "EW-SITE-033",
    "float_type": "EW-SITE-034",
    "float_parsing": "EW-SITE-034",
    "finite_number": "EW-SITE-034",
    "bool_type": "EW-SITE-035",
    "bool_parsing": "EW-SITE-035",
}
_BOUNDS = {
    "greater_than": ("EW-SITE-050", "gt"),
    "greater_than_equal": ("EW-SITE-051", "ge"),
    "less_than_equal": ("EW-SITE-052", "le"),
}


def shown(value: Any) -> str:
    """A value as a sentence repeats it: text in quotes, lists and mappings in short."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def listed(choices: Iterable[Any]) -> str:
    """`a, b, c`: choices in one line."""
    return ", ".join(str(choice) for choice in choices)


def findings_of_flaws(
    flaws: Iterable[Flaw], source: str, document: Document | None, lines: Sequence[str]
) -> tuple[Finding, ...]:
    """One Finding of severity error per flaw, in the order of the file, without repetition."""
    by_place: dict[tuple[Any, ...], Finding] = {}
    for flaw in flaws:
        line = flaw.line or (nearest_line(flaw.path, document) if document else None)
        by_place.setdefault((line or 0, flaw.code, flaw.path), _finding(flaw, line, source, lines))
    ordered = sorted(by_place.items(), key=lambda item: (item[0][0], item[0][1], keys.dotted(item[0][2])))
    return tuple(finding for _, finding in ordered[:MAX_MISTAKES])


def nearest_line(path: Path, document: Document) -> int | None:
    """The line of a path, or of the nearest mapping above it that is written."""
    while path and path not in document.line_numbers:
        path = path[:-1]
    return document.line_numbers.get(path) if path else None


def _finding(flaw: Flaw, line: int | None, source: str, lines: Sequence[str]) -> Finding:
    where = f"{source}:{line}" if line else source
    text = lines[line - 1] if line and line <= len(lines) else ""
    words = dict(flaw.args)
    return Finding(
        code=flaw.code,
        severity="error",
        subject=keys.dotted(flaw.path) or source,
        expected=words.pop("expected", None),
        observed=words.get("found"),
        unit=words.pop("unit", ""),
        args={"where": where, **words},
        evidence=(Evidence(source, line, quoted(text)),) if line else (),
    )


def quoted(line: str) -> str:
    """A line of the user's text as evidence repeats it: without blanks around it, cut when it is long."""
    return line.strip()[:MAX_QUOTED]


def flaws_of_schema(errors: Iterable[ErrorDetails], data: Any) -> list[Flaw]:
    """Flaws for what pydantic found wrong with the plain values of a site file."""
    flaws = [_flaw(error, data) for error in errors if not _is_echo(error)]
    misspelt = {(*flaw.path[:-1], flaw.args["near"]) for flaw in flaws if flaw.code == "EW-SITE-021"}
    return [flaw for flaw in flaws if flaw.code not in _MISSING_CODES or flaw.path not in misspelt]


def _is_echo(error: ErrorDetails) -> bool:
    """Whether a list only seems too short because its items are wrong, which is said of them."""
    if error["type"] != "too_short":
        return False
    return isinstance(error["input"], list) and len(error["input"]) >= error["ctx"]["min_length"]


def _flaw(error: ErrorDetails, data: Any) -> Flaw:
    kind, path = error["type"], _path_of(error["loc"], data)
    raw = keys.value_at(path, data)
    is_short = len(path) < len(_path_of(error["loc"], data, cut=False))  # `switch: 64x400G` instead of its keys
    value = error["input"] if raw is None or is_short or isinstance(raw, dict | list) else raw
    if kind == "extra_forbidden":
        return _unknown_key(path, data)
    if kind == "missing":
        return _missing(path, data)
    if kind == "union_tag_invalid":
        return unknown_choice((*path, "kind"), keys.value_at((*path, "kind"), data), ("training", "inference"))
    if value is None:
        return Flaw("EW-SITE-036", None, path, {"example": _example(path, data), "found": None})
    if kind == "ew_unit":
        return _quantity(path, value, str(error["ctx"]["kind"]))
    if kind == "literal_error":
        field = keys.field_at(path, data)
        return unknown_choice(path, value, keys.choices_of(field.annotation) if field else ())
    if kind in _BOUNDS:
        code, bound = _BOUNDS[kind]
        if error["ctx"][bound] == MIN_RATE_BPS and _BARE_NUMBER.match(str(error["input"])):
            words = {"found": shown(error["input"]), "unit": "Gb/s", "suggestion": f"{str(error['input']).strip()}G"}
            return Flaw("EW-SITE-049", None, path, words)
        field, limit = keys.field_at(path, data), error["ctx"][bound]
        kind = kind_of(field.annotation, field.metadata) if field else ""
        words = {"found": shown(value), "limit": written_bound(limit, kind), "expected": limit}
        return Flaw(code, None, path, words)
    return _shape(kind, path, value, data, error)


def _path_of(loc: tuple[int | str, ...], data: Any, *, cut: bool = True) -> Path:
    """The path in the user's own data: without union tags, list indices and keys that are not written."""
    path: list[str | int] = []
    for step in loc:
        if isinstance(step, str) and step in ("training", "inference") and path[:1] == ["jobs"] and len(path) == 2:
            continue
        if isinstance(step, int) and not isinstance(data, list):
            continue
        if cut and path and data is not None and not isinstance(data, dict | list):
            break
        path.append(step)
        data = keys.child(data, step)
    return tuple(path)


def _unknown_key(path: Path, data: Any) -> Flaw:
    """An unknown key: the nearest of its level, or the place where it belongs."""
    key, level = str(path[-1]), keys.level_at(path[:-1], data)
    known = list(keys.fields_of(level)) if level else []
    words: dict[str, Any] = {
        "key": keys.dotted((key,)),
        "known": listed(known),
        "expected": known,
        "found": keys.dotted((key,)),
    }
    fold = key.lower().replace("-", "_")
    if fold in known:
        return Flaw("EW-SITE-021", None, path, words | {"near": fold})
    here = [meant for meant in keys.SYNONYMS.get(fold, ()) if meant in known]
    if here:
        return Flaw("EW-SITE-021", None, path, words | {"near": here[0]})
    places = _places_of(fold, path)
    if level and path[:1] == ("jobs",) and f"jobs[].{fold}" in places:
        kind = "inference" if level is TrainingWish else "training"
        return Flaw("EW-SITE-056", None, path, words | {"kind": kind})
    if places:
        return Flaw("EW-SITE-022", None, path, words | {"places": listed(places[:_PLACES_SHOWN])})
    near = nearest(key[:MAX_SHOWN], known)
    if near:
        return Flaw("EW-SITE-021", None, path, words | {"near": near})
    return Flaw("EW-SITE-020", None, path, words)


def _places_of(key: str, path: Path) -> list[str]:
    """Where a key may stand, places below the level where it was found first."""
    meant = (key, *keys.SYNONYMS.get(key, ()))
    places = [place for name in meant for place in keys.places().get(name, ())]
    here = re.sub(r"\[\d+\]", "[]", keys.dotted(path[:-1]))
    below = [place for place in places if here and place.startswith(f"{here}.")]
    return sorted(dict.fromkeys(below or places), key=lambda place: place.count("."))


def _missing(path: Path, data: Any) -> Flaw:
    if isinstance(path[-1], int):
        return Flaw(
            "EW-SITE-054", None, path[:-1], {"found": shown(keys.value_at(path[:-1], data)), "limit": 2, "expected": 2}
        )
    line_path = path[:-1]
    example = _example(path, data)
    if not line_path:
        return Flaw("EW-SITE-028", None, path, {"key": path[-1], "example": example, "expected": example})
    words = {"key": path[-1], "parent": keys.dotted(line_path), "example": example, "expected": example}
    return Flaw("EW-SITE-023", None, path, words)


def _example(path: Path, data: Any) -> str:
    """A line that would be right: `rate: 400G`."""
    field, key = keys.field_at(path, data), path[-1] if path else ""
    examples = (field.examples if field else None) or ()
    if examples:
        return f"{key}: {examples[0]}"
    choices = keys.choices_of(field.annotation) if field else ()
    return f"{key}: {choices[0]}" if choices else f"{key}: …"


def unknown_choice(path: Path, value: Any, choices: Sequence[Any]) -> Flaw:
    """A value that is none of the choices: the list, and the nearest."""
    words = {"found": shown(value), "choices": listed(choices), "expected": list(choices)}
    named = [str(choice) for choice in choices]
    near = nearest(value[:MAX_SHOWN], named, CHOICE_LIKENESS) if isinstance(value, str) else None
    return Flaw("EW-SITE-024", None, path, words | {"near": near}) if near else Flaw("EW-SITE-025", None, path, words)


def _quantity(path: Path, value: Any, kind: str) -> Flaw:
    """A quantity that cannot be read, under the code of its commonest cause."""
    text, words = str(value), {"found": shown(value), "unit": _UNIT_OF_KIND.get(kind, "")}
    in_bytes, in_bits, prefix = _BYTES_FOR_BITS.match(text), _BITS_FOR_BYTES.match(text), _BARE_PREFIX.match(text)
    if kind == "rate" and in_bytes:
        return Flaw("EW-SITE-041", None, path, words | {"suggestion": in_bytes["number"] + in_bytes["prefix"].upper()})
    if kind == "size" and in_bits:
        return Flaw(
            "EW-SITE-043", None, path, words | {"suggestion": in_bits["number"] + in_bits["prefix"].upper() + "B"}
        )
    if kind == "size" and prefix:
        decimal = prefix["number"] + prefix["prefix"].upper()
        return Flaw("EW-SITE-039", None, path, words | {"decimal": f"{decimal}B", "binary": f"{decimal}iB"})
    if kind in _UNIT_OF_KIND and _BARE_NUMBER.match(text):
        return Flaw("EW-SITE-049", None, path, words | {"suggestion": f"{text.strip()}{_UNIT_OF_KIND[kind]}"})
    if isinstance(value, bool | list | dict):
        return Flaw("EW-SITE-038", None, path, words | {"example": _QUANTITY_EXAMPLES[kind]})
    return Flaw(_QUANTITY_CODES[kind], None, path, words)


_QUANTITY_EXAMPLES = {
    "rate": "400G",
    "size": "25MB",
    "length": "30m",
    "time": "30min",
    "power": "40kW",
    "count": "70B",
    "ratio": "2:1",
}


def _shape(kind: str, path: Path, value: Any, data: Any, error: ErrorDetails) -> Flaw:
    """A value of the wrong shape: a list for a mapping, text for a number, a name with spaces."""
    words: dict[str, Any] = {"found": shown(value)}
    if kind == "string_pattern_mismatch":
        return Flaw("EW-SITE-053", None, path, words)
    if kind in ("too_short", "too_long"):
        bound = error["ctx"]["min_length" if kind == "too_short" else "max_length"]
        code = "EW-SITE-054" if kind == "too_short" else "EW-SITE-055"
        return Flaw(code, None, path, words | {"limit": bound, "expected": bound})
    code = _TYPE_CODES.get(kind, "EW-SITE-029")
    if code == "EW-SITE-030":
        level = keys.level_at(path, data)
        known = list(keys.fields_of(level)) if level else []
        code = "EW-SITE-057" if isinstance(value, list) else code
        return Flaw(code, None, path, words | {"known": listed(known), "expected": known})
    if code == "EW-SITE-033" and isinstance(value, str | float) and (match := _LEADING_NUMBER.match(str(value))):
        return Flaw("EW-SITE-037", None, path, words | {"suggestion": match[1]})
    return Flaw(code, None, path, words | ({"problem": error["msg"]} if code == "EW-SITE-029" else {}))


def render_mistakes(error: InputError, lang: str = "en") -> str:
    """Every mistake as the terminal shows it: the sentence with its code, the quoted line, the hint."""
    blocks: list[str] = []
    for finding in error.findings:
        lines = [f"{finding.sentence(lang)} [{finding.code}]"]
        lines += [f"    {evidence.line} | {evidence.text}" for evidence in finding.evidence if evidence.text]
        hint = finding.hint(lang)
        lines += [f"    {_HINT[lang]}{hint}"] if hint else []
        blocks.append("\n".join(lines))
    return "\n".join(blocks) + "\n"
