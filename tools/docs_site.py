"""docs/reference/site.md: every key of the site file, read from the pydantic models that read the file."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from eastwest import units
from eastwest.spec import quantities as q
from eastwest.spec.qos import Dscp, Priority
from eastwest.spec.site import Site

INTRODUCTION = """\
# The site file, key by key

One YAML 1.2 file describes a cluster; `eastwest init` writes a commented one, `eastwest schema site` prints the JSON
Schema for editors. Unknown keys are refused. A list that may hold one thing takes that thing alone too where the type
says so. Generated from the models that read the file.

Quantities are written with their unit: rates in bit/s (`400G`), sizes in bytes (`25MB` = 25,000,000 B, `25MiB` =
26,214,400 B), lengths (`30m`), times (`200ms`), power (`40kW`). A ratio is down:up (`2:1` = the servers may send twice
what the uplinks carry). A server (台) holds several GPUs (卡); each has its own keys.
"""
WORDS: tuple[tuple[Any, str], ...] = (
    (q.Rate, "rate, bit/s (`400G`)"),
    (q.Size, "size, bytes (`25MB`)"),
    (q.Length, "length (`30m`)"),
    (q.Duration, "time (`30min`)"),
    (q.Power, "power (`40kW`)"),
    (q.Count, "count (`70B`)"),
    (q.Ratio, "ratio down:up (`2:1`)"),
    (q.Share, "share above 0, at most 1"),
    (q.Whole, "whole number from 1"),
    (q.Natural, "whole number from 0"),
    (q.Name, "name (letters, digits, `.`, `-`, `_`)"),
    (Dscp, "DSCP, 0 to 63"),
    (Priority, "priority, 0 to 7"),
)
WRITTEN = (
    (q.Rate, lambda value: units.format_port_rate(int(value))),
    (q.Power, units.format_power),
    (q.Ratio, lambda value: units.format_ratio(value)),
)
BARE: Mapping[Any, str] = {str: "text", bool: "true or false", int: "whole number", float: "number"}


@dataclass(frozen=True)
class Section:
    """One model and every path under which the file may hold it."""

    model: type[BaseModel]
    paths: list[str]


def site_page() -> str:
    """The whole page."""
    sections: dict[type[BaseModel], Section] = {}
    _collect(Site, "", sections)
    parts = [INTRODUCTION, *(_section(section) for section in sections.values())]
    return "\n".join(parts)


def _collect(model: type[BaseModel], path: str, sections: dict[type[BaseModel], Section]) -> None:
    """Walk the models in the order of the file; a model met again only gains a path."""
    if model in sections:
        sections[model].paths.append(path)
        return
    sections[model] = Section(model, [path])
    for key, hint in _hints(model).items():
        inner = f"{path}.{_written_key(model, key)}".removeprefix(".")
        for child in _models_in(hint):
            _collect(child, inner + ("[]" if _is_list(hint) else ""), sections)


def _hints(model: type[BaseModel]) -> dict[str, Any]:
    """The annotations of a model's fields, with everything that pydantic would fold away, parents' fields first."""
    hints = get_type_hints(model, include_extras=True)
    return {key: hints[key] for key in model.model_fields}


def _written_key(model: type[BaseModel], key: str) -> str:
    return model.model_fields[key].alias or key


def _bare(hint: Any) -> tuple[Any, ...]:
    """The parts of a type: unions opened, annotations taken off unless they are one of our quantities."""
    if any(hint == known for known, _ in WORDS):
        return (hint,)
    if get_origin(hint) is Annotated:
        return _bare(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(part for each in get_args(hint) for part in _bare(each) if part is not type(None))
    return (hint,)


def _is_list(hint: Any) -> bool:
    return any(get_origin(part) is tuple and get_args(part)[-1] is Ellipsis for part in _bare(hint))


def _models_in(hint: Any) -> Iterator[type[BaseModel]]:
    for part in _bare(hint):
        if get_origin(part) is tuple:
            yield from _models_in(get_args(part)[0])
        elif isinstance(part, type) and issubclass(part, BaseModel):
            yield part


def _section(section: Section) -> str:
    model = section.model
    where = ", ".join(f"`{path}`" for path in section.paths if path) or "The file"
    about = " ".join((model.__doc__ or "").split())
    head = [f"## {where}", "", f'<a id="{_anchor(model)}"></a>{about}', ""]
    table = ["| key | type and unit | default | meaning |", "|---|---|---|---|"]
    for key, hint in _hints(model).items():
        info = model.model_fields[key]
        meaning = (info.description or "").replace("|", "\\|")
        row = (f"`{_written_key(model, key)}`", _kind(hint, _short_form(hint)), _default(hint, info), meaning)
        table.append("| " + " | ".join(row) + " |")
    return "\n".join([*head, *table, ""])


def _anchor(model: type[BaseModel]) -> str:
    return model.__name__.removesuffix("Wish").lower()


def _kind(hint: Any, also_text: bool) -> str:
    """A type in words; choices in full, models as links."""
    words = [_one_kind(part) for part in _bare(hint)]
    return ("text, or " if also_text else "") + " or ".join(dict.fromkeys(words))


def _one_kind(part: Any) -> str:
    for known, word in WORDS:
        if part == known:
            return word
    if get_origin(part) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(part))
    if get_origin(part) is tuple:
        first, last = get_args(part)[0], get_args(part)[-1]
        inner = _kind(first, False)
        return f"list of {inner}" if last is Ellipsis else f"list of {len(get_args(part))}: {inner}"
    if isinstance(part, type) and issubclass(part, BaseModel):
        return f"[{_anchor(part)}](#{_anchor(part)})"
    return BARE.get(part, str(part))


def _short_form(hint: Any) -> bool:
    """Whether a mapping may also be written as one text, such as `64x400G` for a switch."""
    annotations: list[Any] = []
    for part in (hint, *(each for each in get_args(hint) if get_origin(each) is Annotated)):
        if get_origin(part) is Annotated:
            annotations += get_args(part)[1:]
    written = [getattr(each, "json_schema_input_type", None) for each in annotations]
    has_model = any(isinstance(part, type) and issubclass(part, BaseModel) for part in _bare(hint))
    return has_model and any(str in get_args(each) for each in written)


def _default(hint: Any, info: FieldInfo) -> str:
    """The default as people would write it."""
    value = info.default
    if info.is_required():
        return "**required**"
    if value is None or value == ():
        return "none" if value == () else "–"
    if isinstance(value, BaseModel):
        return "its own defaults"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    for known, write in WRITTEN:
        if known in _bare(hint):
            return f"`{write(value)}`"
    return f"`{value}`" if value != "" else "empty"
