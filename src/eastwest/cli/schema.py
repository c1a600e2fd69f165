"""`eastwest schema NOUN`: JSON Schema of the site file and of the documents that the verbs print."""

from __future__ import annotations

import json as json_text
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, run

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Mapping[str, Any] = {"type": "string"}
WHOLE: Mapping[str, Any] = {"type": "integer", "minimum": 0}
NUMBER: Mapping[str, Any] = {"type": "number"}
ANY: Mapping[str, Any] = {}
Schema = dict[str, Any]


def schema(
    noun: Annotated[str | None, typer.Argument(help="Noun such as site; all are listed without one.")] = None,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Print the JSON Schema of the site file, or of a document that a verb prints with --json."""
    run("schema", json, lang.value, lambda: _answer(noun))


def nouns() -> tuple[str, ...]:
    """The nouns that have a schema, in alphabetical order."""
    return tuple(_DOCUMENTS)


def document(noun: str) -> Schema:
    """The JSON Schema of one noun. Raises UsageError with the nearest noun when there is none."""
    from eastwest.errors import UsageError
    from eastwest.registry import nearest

    if noun not in _DOCUMENTS:
        near = nearest(noun, _DOCUMENTS)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(_DOCUMENTS)}"
        raise UsageError(f"no schema of {noun!r}", hint=hint)
    return {"$schema": DIALECT, "$id": f"eastwest.{noun}/1", **_DOCUMENTS[noun]()}


def _answer(noun: str | None) -> Answer:
    frame = {"schema": "eastwest.schema/1", "verdict": "pass", "findings": []}
    if noun is None:
        return Answer({**frame, "nouns": list(nouns())}, "\n".join(nouns()))
    found = document(noun)
    return Answer({**frame, "noun": noun, "document": found}, json_text.dumps(found, ensure_ascii=False, indent=1))


def _site() -> Schema:
    from eastwest.spec.site import Site

    made: Schema = _without_bounds(Site.model_json_schema(by_alias=True, mode="validation"))
    return made


def _without_bounds(part: Any) -> Any:
    """The schema without the bounds of quantities: they hold for the number in base units, not for the text `400G`."""
    if isinstance(part, list):
        return [_without_bounds(item) for item in part]
    if not isinstance(part, dict):
        return part
    bounds = ("gt", "ge", "lt", "le")
    return {key: _without_bounds(value) for key, value in part.items() if key not in bounds or isinstance(value, dict)}


def _or_null(kind: Mapping[str, Any]) -> Schema:
    return {"anyOf": [dict(kind), {"type": "null"}]}


def _list_of(items: Mapping[str, Any]) -> Schema:
    return {"type": "array", "items": dict(items)}


def _counts(*names: str, optional: tuple[str, ...] = ()) -> Schema:
    return _object(dict.fromkeys((*names, *optional), WHOLE), optional=optional)


def _object(properties: Mapping[str, Any], *, optional: tuple[str, ...] = (), closed: bool = False) -> Schema:
    """An object whose properties are required but for the optional ones; other keys may follow unless it is closed."""
    required = [name for name in properties if name not in optional]
    made: Schema = {"type": "object", "properties": dict(properties), "required": required}
    return made | {"additionalProperties": False} if closed else made


def _finding() -> Schema:
    evidence = _object({"source": TEXT, "line": _or_null(WHOLE), "text": TEXT}, closed=True)
    properties = {
        "code": {"type": "string", "pattern": "^EW-[A-Z]+-[0-9]{3}$"},
        "severity": {"enum": ["error", "warning", "info"]},
        "subject": TEXT,
        "message": TEXT,
        "expected": ANY,
        "observed": ANY,
        "unit": TEXT,
        "hint": TEXT,
        "waived": _or_null(TEXT),
        "evidence": _list_of(evidence),
    }
    return {"title": "Finding", "description": "one verdict on one subject"} | _object(properties, closed=True)


def _decision() -> Schema:
    properties = {
        "id": TEXT,
        "value": ANY,
        "unit": TEXT,
        "because": TEXT,
        "formula": TEXT,
        "inputs": {"type": "object"},
        "source": TEXT,
        "alternatives": _list_of(_object({"value": ANY, "rejected_because": TEXT}, closed=True)),
    }
    return {"title": "Decision", "description": "one chosen value and its reason"} | _object(properties, closed=True)


def _target() -> Schema:
    properties = {
        "id": TEXT,
        "kind": {"enum": ["at_least", "at_most", "equal", "zero", "bounded", "ignored", "window"]},
        "value": _or_null(NUMBER),
        "upper": _or_null(NUMBER),
        "unit": TEXT,
        "test": TEXT,
        "because": TEXT,
        "formula": TEXT,
        "source": TEXT,
    }
    return {"title": "Target", "description": "one limit of acceptance"} | _object(properties, closed=True)


def _fabric() -> Schema:
    ports = _counts("used", "free")
    properties = {
        "family": TEXT,
        **dict.fromkeys(("tiers", "planes", "servers", "gpus", "leaves", "spines", "cores"), WHOLE),
        "links": _counts("server_leaf", "leaf_spine", "spine_core", optional=("room",)),
        "oversubscription_ratio": {"type": "object", "additionalProperties": _or_null(NUMBER)},
        "ports": {"type": "object", "additionalProperties": ports},
        "max_gpus": WHOLE,
    }
    return _object(properties)


def _document_of(verb: str, properties: Mapping[str, Any], description: str) -> Schema:
    frame = {
        "schema": {"const": f"eastwest.{verb}/1"},
        "verdict": {"enum": ["pass", "warn", "fail", "unknown"]},
        "findings": _list_of(_finding()),
    }
    return {"title": verb, "description": description} | _object({**frame, **properties})


def _ledger_row() -> Schema:
    words = ("traffic", "group", "collective", "per")
    numbers = ("group_size", "bytes_per_gpu", "messages", "message_bytes")
    properties = dict.fromkeys(words, TEXT) | dict.fromkeys(numbers, NUMBER)
    return _object({**properties, "tier": _or_null(TEXT), "overlaps": ANY})


def _prediction() -> Schema:
    predicted = ("step_time_s", "compute_s", "exposed_communication_s", "communication_share_ratio", "mfu_ratio")
    interval = _object(dict.fromkeys(("low", "high", "level"), NUMBER), closed=True)
    sensitivity = {"input": TEXT, "change_ratio": NUMBER, "delta_s": NUMBER, "traffic": TEXT, "text": TEXT}
    sensitivity |= dict.fromkeys(("exposed_s", "half_width_s"), _or_null(NUMBER))
    point = {"cut": TEXT, "is_built": {"type": "boolean"}}
    point |= dict.fromkeys(("value", "message_bytes", "messages", "exposed_s", "step_time_s"), NUMBER)
    points = _list_of(_object(point, closed=True))
    curve = {"cut": TEXT, "unit": TEXT, "crossover": NUMBER, "points": points}
    more = {
        "interval": {"type": "object", "additionalProperties": interval},
        "sensitivities": _list_of(_object(sensitivity, closed=True)),
        "slicing": _list_of(_object(curve, closed=True)),
        "assumed": _list_of(TEXT),
        "invalid": _list_of(TEXT),
    }
    numbers = {name: _or_null(NUMBER) for name in (*predicted, "tokens_per_s_per_gpu")}
    return _object({**numbers, **more}, optional=tuple(more))


def _constants() -> Schema:
    part = _object(
        {"from": {"enum": ["own", "shipped"]}, "values_read": WHOLE, "values": WHOLE},
        optional=("values_read", "values"),
    )
    changed = {"type": "boolean"}
    return _object({"source": _or_null(TEXT), "changed_by_hand": changed, "training": part, "collectives": part})


def _predict() -> Schema:
    own = _prediction()["properties"]
    job = _object({"name": TEXT, "kind": TEXT, "gpus": WHOLE, "prediction": _prediction()})
    words = "what `eastwest predict --json` prints: the first job's prediction, then every job; SI base units"
    return _document_of("predict", {**own, "constants": _constants(), "jobs": _list_of(job)}, words)


def _plan() -> Schema:
    properties = {
        "ledger": _list_of(_ledger_row()),
        "fabric": _fabric(),
        "prediction": _prediction(),
        "constants": _constants(),
        "targets": _list_of(_target()),
        "decisions": _list_of(_decision()),
        "bom": _list_of(_object({"part": TEXT, "description": TEXT, "quantity": NUMBER, "unit": TEXT})),
    }
    return _document_of("plan", properties, "what `eastwest plan --json` prints; SI base units, named by the keys")


def _size() -> Schema:
    properties = {"fabric": _fabric(), "offers": _list_of({"type": "object"})}
    return _document_of("size", properties, "what `eastwest size --json` prints; SI base units, named by the keys")


_DOCUMENTS: Mapping[str, Callable[[], Schema]] = {
    "decision": _decision,
    "finding": _finding,
    "plan": _plan,
    "predict": _predict,
    "site": _site,
    "size": _size,
    "target": _target,
}
