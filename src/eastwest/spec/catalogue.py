"""The hardware catalogue: `get("switch", "qm9700")` yields the data sheet of one model, opening only that model's file.

A model is called by its file's name or one of its aliases, in any case; `names(kind)` lists the files' names. Each
value of a model has its source in `entry.sources[field]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal, overload

from pydantic import ValidationError

from eastwest.errors import InternalError, UsageError
from eastwest.registry import nearest
from eastwest.spec.catalogue_models import (
    CLASSES,
    Asic,
    Cable,
    Entry,
    Gpu,
    Kind,
    Nic,
    Optic,
    Pcie,
    Preset,
    Server,
    Switch,
)
from eastwest.spec.catalogue_values import Source, unit_of

__all__ = [
    "KINDS",
    "Asic",
    "Cable",
    "Entry",
    "Gpu",
    "Kind",
    "Nic",
    "Optic",
    "Pcie",
    "Preset",
    "Server",
    "Source",
    "Switch",
    "canonical",
    "find",
    "get",
    "names",
    "parse",
    "unit_of",
]

KINDS: tuple[Kind, ...] = tuple(sorted(CLASSES))
PLAIN_KEYS = ("name", "aliases", "vendor", "notes")
BY_PRECISION = ("peak_flops", "measured_matmul_flops")
_ALIASES = re.compile(r"^aliases: \[(.*)\]$", re.MULTILINE)


def canonical(model: str) -> str:
    """The catalogue's spelling of a model: lower case, dashes for blanks and underscores.

    >>> canonical(" H100_SXM5 80GB ")
    'h100-sxm5-80gb'
    """
    return re.sub(r"[\s_]+", "-", model.strip().lower())


@cache
def names(kind: Kind) -> tuple[str, ...]:
    """The models of one kind in alphabetical order. Raises UsageError for an unknown kind."""
    if kind not in CLASSES:
        raise UsageError(f"unknown kind of hardware {kind!r}", hint=f"known: {', '.join(KINDS)}")
    found = (item.name for item in _folder(kind).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


@overload
def get(kind: Literal["asic"], model: str) -> Asic: ...
@overload
def get(kind: Literal["cable"], model: str) -> Cable: ...
@overload
def get(kind: Literal["gpu"], model: str) -> Gpu: ...
@overload
def get(kind: Literal["model"], model: str) -> Preset: ...
@overload
def get(kind: Literal["nic"], model: str) -> Nic: ...
@overload
def get(kind: Literal["optic"], model: str) -> Optic: ...
@overload
def get(kind: Literal["pcie"], model: str) -> Pcie: ...
@overload
def get(kind: Literal["server"], model: str) -> Server: ...
@overload
def get(kind: Literal["switch"], model: str) -> Switch: ...
@overload
def get(kind: Kind, model: str) -> Entry: ...
def get(kind: Kind, model: str) -> Entry:
    """The data sheet of one model, by name or alias. Raises UsageError with the nearest name when there is none."""
    found = _resolve(kind, canonical(model))
    if found is None:
        known = (*names(kind), *_aliases(kind))
        near = nearest(canonical(model), known)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(names(kind))}"
        raise UsageError(f"unknown {kind} {model!r}", hint=hint)
    return _load(kind, found)


def find(model: str) -> tuple[Kind, Entry]:
    """The kind and data sheet of a model whose kind is not said. Raises UsageError with the nearest name."""
    for kind in KINDS:
        found = _resolve(kind, canonical(model))
        if found is not None:
            return kind, _load(kind, found)
    known = [name for kind in KINDS for name in (*names(kind), *_aliases(kind))]
    near = nearest(canonical(model), known)
    raise UsageError(
        f"unknown model {model!r}", hint=f"did you mean {near}?" if near else "`eastwest hardware` lists all models"
    )


def parse(kind: Kind, model: str, text: str) -> Entry:
    """The data sheet written in one YAML text. Raises InternalError when it breaks the schema: the file is ours."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        raw = YAML(typ="safe").load(text)
        return CLASSES[kind].model_validate({"id": model, **_split(kind, raw)})
    except (YAMLError, ValidationError, TypeError, AttributeError, KeyError) as error:
        raise InternalError(f"catalogue file {kind}/{model}.yaml: {error}") from error


def _folder(kind: Kind) -> Traversable:
    spec = files("eastwest.spec")
    return spec / "models" if kind == "model" else spec / "hardware" / kind


def _read(kind: Kind, model: str) -> str:
    return (_folder(kind) / f"{model}.yaml").read_text(encoding="utf-8")


@cache
def _load(kind: Kind, model: str) -> Entry:
    return parse(kind, model, _read(kind, model))


def _resolve(kind: Kind, model: str) -> str | None:
    """The file's name for a name or alias; aliases are looked up only when no file has that name."""
    return model if model in names(kind) else _aliases(kind).get(model)


@cache
def _aliases(kind: Kind) -> Mapping[str, str]:
    """Alias -> file's name, read from the `aliases:` line of each file without parsing the rest."""
    found: dict[str, str] = {}
    for model in names(kind):
        match = _ALIASES.search(_read(kind, model))
        words = (word.strip(" '\"") for word in match[1].split(",")) if match else ()
        found.update({word: model for word in words if word})
    return found


def _split(kind: Kind, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Values and sources apart: `memory: {value: 80GB, source: …}` gives `memory` and `sources["memory_bytes"]`."""
    fields = {info.alias or name: name for name, info in CLASSES[kind].model_fields.items()}
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for key, item in raw.items():
        if key in PLAIN_KEYS:
            values[key] = item
        elif key in BY_PRECISION:
            values[key] = {precision: fact["value"] for precision, fact in item.items()}
            sources.update({f"{key}.{precision}": _source(fact) for precision, fact in item.items()})
        else:
            values[key] = item["value"]
            sources[fields.get(key, key)] = _source(item)
    return {**values, "sources": sources}


def _source(fact: Mapping[str, Any]) -> Source:
    return Source.model_validate({key: value for key, value in fact.items() if key != "value"})
