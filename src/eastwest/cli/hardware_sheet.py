"""The body of `eastwest hardware [MODEL]`: the catalogue as a list, or one model with every value, unit and source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from eastwest import units
from eastwest.errors import UsageError
from eastwest.registry import nearest
from eastwest.spec import catalogue
from eastwest.spec.catalogue import Entry, Kind

SCHEMA = "eastwest.hardware/1"
SPLIT_FIELDS = ("breakouts", "uplinks", "serdes", "port_layouts")
JSON_DIGITS = 12  # significant digits: hides the last bit of a decimal that binary cannot hold
_FORMATS: Mapping[str, Callable[[float], str]] = {
    "byte/s": units.format_bandwidth,
    "byte": units.format_size,
    "bit/s": units.format_rate,
    "s": units.format_time,
    "W": units.format_power,
    "m": units.format_length,
    "FLOP/s": lambda value: f"{value / units.TERA:,.6g} TFLOP/s",
}


def document(model: str | None = None, kind: str | None = None) -> dict[str, Any]:
    """The JSON document of the verb: every model of a kind (or of all), or one model with its values.

    Raises UsageError for an unknown kind or model, with the nearest name.
    """
    wanted = _kind(kind)
    if model is None:
        kinds = (wanted,) if wanted else catalogue.KINDS
        models = [_head(each, catalogue.get(each, name)) for each in kinds for name in catalogue.names(each)]
    else:
        found, entry = (wanted, catalogue.get(wanted, model)) if wanted else catalogue.find(model)
        models = [{**_head(found, entry), "notes": list(entry.notes), "values": dict(_values(entry))}]
    return {"schema": SCHEMA, "verdict": "pass", "findings": [], "models": models}


def text(answer: Mapping[str, Any]) -> str:
    """The document in plain text for a terminal."""
    return "\n".join(_sheet(answer["models"][0]) if _is_sheet(answer) else _list(answer["models"]))


def _kind(kind: str | None) -> Kind | None:
    if kind is None or kind in catalogue.KINDS:
        return kind
    near = nearest(kind, catalogue.KINDS)
    hint = f"did you mean {near}?" if near else f"known: {', '.join(catalogue.KINDS)}"
    raise UsageError(f"unknown kind of hardware {kind!r}", hint=hint)


def _head(kind: Kind, entry: Entry) -> dict[str, Any]:
    return {
        "kind": kind,
        "id": entry.id,
        "name": entry.name,
        "vendor": entry.vendor,
        "aliases": list(entry.aliases),
        "unchecked": sum(not source.checked for source in entry.sources.values()),
    }


def _values(entry: Entry) -> Iterator[tuple[str, dict[str, Any]]]:
    """(field, value with unit and source) in the order of the data sheet; `peak_flops.bf16` for values by precision."""
    for key, source in entry.sources.items():
        field, _, precision = key.partition(".")
        value = getattr(entry, field)
        yield (
            key,
            {
                "value": _plain(field, value[precision] if precision else value),
                "unit": catalogue.unit_of(field),
                **source.model_dump(),
                "checked": source.checked,
            },
        )


def _plain(field: str, value: Any) -> Any:
    """A value as JSON knows it."""
    if field in SPLIT_FIELDS:
        return [{"count": count, "rate_bps": rate_bps} for count, rate_bps in value]
    if isinstance(value, float):
        return float(f"{value:.{JSON_DIGITS}g}")
    if isinstance(value, tuple):
        return list(value)
    return value.model_dump(exclude_defaults=True) if hasattr(value, "model_dump") else value


def _is_sheet(answer: Mapping[str, Any]) -> bool:
    return len(answer["models"]) == 1 and "values" in answer["models"][0]


def _list(models: list[Mapping[str, Any]]) -> Iterator[str]:
    width = max((len(model["id"]) for model in models), default=0)
    last = None
    for model in models:
        if model["kind"] != last:
            yield from ((f"{model['kind']}:",) if last is None else ("", f"{model['kind']}:"))
            last = model["kind"]
        aliases = f"  (also {', '.join(model['aliases'])})" if model["aliases"] else ""
        yield f"  {model['id']:<{width}}  {model['name']}{aliases}"


def _sheet(model: Mapping[str, Any]) -> Iterator[str]:
    also = f"; also {', '.join(model['aliases'])}" if model["aliases"] else ""
    yield f"{model['name']}  ({model['kind']} {model['id']}{also})"
    rows = [(key, _shown(fact), _origin(fact)) for key, fact in model["values"].items()]
    wide, broad = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    for key, shown, origin in rows:
        yield f"  {key:<{wide}}  {shown:<{broad}}  {origin}"
    yield from (f"  note: {note}" for note in model["notes"])
    if model["unchecked"]:
        unchecked = f"{model['unchecked']} of {len(rows)} values"
        yield f"  {unchecked} are recalled, not read in their source: check them before you buy."


def _shown(fact: Mapping[str, Any]) -> str:
    """One value as an engineer writes it."""
    value = fact["value"]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_item(item) for item in value) + (f" {fact['unit']}" if fact["unit"] else "")
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, int | float):
        unit = fact["unit"]
        return _FORMATS[unit](value) if unit in _FORMATS else f"{value:,} {unit}".removesuffix(" 1").strip()
    return str(value)


def _item(item: Any) -> str:
    return f"{item['count']} x {units.format_port_rate(item['rate_bps'])}" if isinstance(item, dict) else str(item)


def _origin(fact: Mapping[str, Any]) -> str:
    note = f"; {fact['note']}" if fact["note"] else ""
    disputed = f"; disputed: {fact['disputed']}" if fact["disputed"] else ""
    return f"[{fact['provenance']}] {fact['source']}{note}{disputed}"
