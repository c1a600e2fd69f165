"""Which keys a site file may have where: the models of `site` as a map from path to field, for errors and reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from eastwest.spec.document import Path
from eastwest.spec.jobs import InferenceWish, TrainingWish
from eastwest.spec.quantities import Wish
from eastwest.spec.site import Site

# What people write -> the key that they mean, where spelling alone would not find it.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "bandwidth": ("rate",),
    "batch_size": ("global_batch",),
    "context_parallel": ("cp",),
    "context_parallel_size": ("cp",),
    "data_parallel": ("dp",),
    "data_parallel_size": ("dp",),
    "ecn_max": ("kmax",),
    "ecn_min": ("kmin",),
    "expert_parallel": ("ep",),
    "expert_model_parallel_size": ("ep",),
    "gbs": ("global_batch",),
    "gpu_type": ("gpu",),
    "gpus_per_node": ("gpus",),
    "gpus_per_server": ("gpus",),
    "hosts": ("servers",),
    "length": ("distance",),
    "mbs": ("micro_batch",),
    "network": ("fabric",),
    "nodes": ("servers",),
    "number": ("count",),
    "pipeline_model_parallel_size": ("pp",),
    "pipeline_parallel": ("pp",),
    "quantity": ("count",),
    "seq_len": ("sequence",),
    "seq_length": ("sequence",),
    "speed": ("rate",),
    "tensor_model_parallel_size": ("tp",),
    "tensor_parallel": ("tp",),
    "topology": ("family",),
    "type": ("kind", "model"),
}
_JOB_KINDS: Mapping[str, type[Wish]] = {"training": TrainingWish, "inference": InferenceWish}


@cache
def fields_of(model: type[Wish]) -> Mapping[str, FieldInfo]:
    """The fields of one level under the keys that people write."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def models_in(annotation: Any) -> tuple[type[Wish], ...]:
    """The mappings that a value of this type may be, whether alone, optional or in a list."""
    if isinstance(annotation, type) and issubclass(annotation, Wish):
        return (annotation,)
    return tuple(model for part in _parts(annotation) for model in models_in(part))


def choices_of(annotation: Any) -> tuple[Any, ...]:
    """The values of a Literal type, optional or not; empty when the type is no choice."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(choice for part in _parts(annotation) for choice in choices_of(part))


def _parts(annotation: Any) -> tuple[Any, ...]:
    arguments = get_args(annotation)
    return arguments[:1] if get_origin(annotation) is Annotated else arguments


def _model_for(annotation: Any, value: Any) -> type[Wish] | None:
    """The mapping type of a value; jobs are told apart by their `kind`."""
    models = models_in(annotation)
    if len(models) > 1:
        kind = value.get("kind", "training") if isinstance(value, dict) else "training"
        return _JOB_KINDS.get(str(kind), models[0])
    return models[0] if models else None


def level_at(path: Path, data: Any) -> type[Wish] | None:
    """The model of the mapping at `path` of the user's data; None when the path leads nowhere."""
    model: type[Wish] | None = Site
    annotation: Any = None
    for step in path:
        data = child(data, step)
        if isinstance(step, str):
            field = fields_of(model).get(step) if model else None
            if field is None:
                return None
            annotation = field.annotation
        model = _model_for(annotation, data)
    return model


def field_at(path: Path, data: Any) -> FieldInfo | None:
    """The field that the value at `path` belongs to (list indices at the end are left out)."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    if not path:
        return None
    model = level_at(path[:-1], data)
    return fields_of(model).get(str(path[-1])) if model else None


def child(data: Any, step: str | int) -> Any:
    """The value under one step of a path, None when there is none."""
    if isinstance(data, dict) and isinstance(step, str):
        return data.get(step)
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        return data[step]
    return None


def value_at(path: Path, data: Any) -> Any:
    """The user's value at `path`, None when there is none."""
    for step in path:
        data = child(data, step)
    return data


def dotted(path: Path) -> str:
    """`servers[0].nic.rate` of ("servers", 0, "nic", "rate")."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{_short(step)}" for step in path)
    return text.removeprefix(".")


def _short(key: str, limit: int = 40) -> str:
    key = " ".join(key.split())
    return key if len(key) <= limit else key[: limit - 1] + "…"


@cache
def places() -> Mapping[str, tuple[str, ...]]:
    """Every key of the site file -> the dotted places where it may stand, lists marked `[]`."""
    found: dict[str, list[str]] = {}
    for place, _ in walk():
        key = place.rpartition(".")[2].removesuffix("[]")
        if place not in found.setdefault(key, []):
            found[key].append(place)
    return {key: tuple(listed) for key, listed in found.items()}


def walk(model: type[Wish] = Site, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every key of the site file with its dotted place, parents first."""
    for key, field in fields_of(model).items():
        models = models_in(field.annotation)
        place = f"{prefix}{key}"
        is_list = models and get_origin(_bare(field.annotation)) is tuple
        yield place, field
        for inner in models:
            yield from walk(inner, f"{place}{'[]' if is_list else ''}.")


def _bare(annotation: Any) -> Any:
    return _bare(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation
