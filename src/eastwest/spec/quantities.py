"""Quantities as people write them, as pydantic types: "400G", "25MB", "30m", "2:1" become numbers in base units.

A value that cannot be read raises the custom error `ew_unit`, which `spec.mistakes` turns into a Finding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from eastwest import units

MIN_RATE_BPS = 10**6  # 1 Mb/s: below it a bare number was meant in another unit
MAX_RATE_BPS = 10**16  # 10 Pb/s: a hundred times the largest switch of 2025 (102.4T)
MAX_SIZE_BYTES = 10**18  # 1 EB
MAX_LENGTH_M = 10_000_000.0  # 10,000 km: a quarter of the equator
MAX_TIME_S = 10 * 365 * units.DAY_S  # ten years
MAX_POWER_W = 10e9  # 10 GW
MAX_COUNT = 10**15
MIN_RATIO, MAX_RATIO = 0.01, 1000.0  # down:up from 1:100 to 1000:1
MAX_PER_SERVER = 1_024  # GPUs or NICs; a rack of NVL576 sold as one server has 576
MAX_PORTS = 4_096  # of one switch; the largest chassis of 2025 has 1,152
MAX_PLANES = 64
MAX_PARALLEL = 10_000  # equal things side by side: cables of one room link, racks of one row
MAX_LAYERS = 10_000  # of a model; the deepest published has about 1,000


def _reader(parse: Callable[[object], Any]) -> Callable[[Any], Any]:
    """A pydantic validator around one parser of `units`."""

    def read(value: Any) -> Any:
        try:
            return parse(value)
        except units.UnitError as error:
            reason = f" ({error.reason})" if error.reason else ""
            context = {"kind": error.kind, "expected": error.expected, "reason": reason}
            raise PydanticCustomError("ew_unit", "not a {kind}: expected {expected}{reason}", context) from error

    read.kind = parse.__name__.removeprefix("parse_")  # type: ignore[attr-defined]
    return read


def _quantity(parse: Callable[[object], Any]) -> BeforeValidator:
    return BeforeValidator(_reader(parse), json_schema_input_type=str | int | float)


def sized() -> BeforeValidator:
    """The reader of a size, for a field with bounds of its own."""
    return _quantity(units.parse_size)


Rate = Annotated[
    int,
    _quantity(units.parse_rate),
    Field(ge=MIN_RATE_BPS, le=MAX_RATE_BPS, description="rate in bit/s, written 400G", examples=["400G"]),
]
Size = Annotated[
    int,
    _quantity(units.parse_size),
    Field(gt=0, le=MAX_SIZE_BYTES, description="size in bytes, written 9216, 25MB or 25MiB", examples=["25MB"]),
]
Length = Annotated[
    float,
    _quantity(units.parse_length),
    Field(gt=0, le=MAX_LENGTH_M, description="length, written 30m or 10km", examples=["30m"]),
]
Duration = Annotated[
    float,
    _quantity(units.parse_time),
    Field(gt=0, le=MAX_TIME_S, description="time, written 200ms or 30min", examples=["30min"]),
]
Power = Annotated[
    float,
    _quantity(units.parse_power),
    Field(gt=0, le=MAX_POWER_W, description="power, written 700W or 40kW", examples=["40kW"]),
]
Count = Annotated[
    int,
    _quantity(units.parse_count),
    Field(gt=0, le=MAX_COUNT, description="count, written 70B or 128000", examples=["70B"]),
]
Ratio = Annotated[
    float,
    _quantity(units.parse_ratio),
    Field(
        ge=MIN_RATIO,
        le=MAX_RATIO,
        description="bandwidth down : up, written 2:1; 1:1 is non-blocking",
        examples=["1:1"],
    ),
]
Share = Annotated[float, Field(gt=0, le=1, description="share above 0, at most 1", examples=["0.5"])]
Whole = Annotated[int, Field(gt=0, le=10_000_000, strict=True, examples=["8"])]
PerServer = Annotated[int, Field(gt=0, le=MAX_PER_SERVER, strict=True, examples=["8"])]
PortCount = Annotated[int, Field(gt=0, le=MAX_PORTS, strict=True, examples=["64"])]
FreePorts = Annotated[int, Field(ge=0, le=MAX_PORTS, strict=True, examples=["0"])]
PlaneCount = Annotated[int, Field(gt=0, le=MAX_PLANES, strict=True, examples=["1"])]
Parallel = Annotated[int, Field(gt=0, le=MAX_PARALLEL, strict=True, examples=["16"])]
LayerCount = Annotated[int, Field(gt=0, le=MAX_LAYERS, strict=True, examples=["32"])]
Natural = Annotated[int, Field(ge=0, le=10_000_000, strict=True, examples=["0"])]
Name = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
        description="letters, digits, dot, dash, underscore",
        examples=["a1"],
    ),
]


_WRITTEN_BOUNDS: Mapping[str, Mapping[float, str]] = {  # kind of quantity -> bound -> as it is written
    "rate": {MIN_RATE_BPS: "1M", MAX_RATE_BPS: "10000T"},
    "size": {MAX_SIZE_BYTES: "1000PB"},
    "length": {MAX_LENGTH_M: "10000km"},
    "time": {MAX_TIME_S: "3650d"},
    "power": {MAX_POWER_W: "10000MW"},
    "count": {MAX_COUNT: "1000T"},
}


def written_bound(bound: float, kind: str = "") -> str:
    """A bound of a value as people would write it in the site file: `10000T` of a rate of 10**16 bit/s, `63` of a DSCP;
    `kind` is the kind of quantity, empty for a plain number.

    >>> written_bound(10_000_000, "length"), written_bound(10_000_000)
    ('10000km', '10000000')
    """
    return _WRITTEN_BOUNDS.get(kind, {}).get(bound, str(bound) if isinstance(bound, int) else f"{bound:g}")


def kind_of(annotation: Any, metadata: Sequence[Any] = ()) -> str:
    """The kind of quantity that a field reads: `rate`, `length`, …; empty for a plain number."""
    for mark in metadata:
        if isinstance(mark, BeforeValidator) and (kind := getattr(mark.func, "kind", "")):
            return str(kind)
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return kind_of(parts[0], parts[1:])
    return next((kind for part in parts if (kind := kind_of(part))), "")


class Wish(BaseModel):
    """A part of a site file: frozen, unknown keys refused, keys written as the aliases say."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False, hide_input_in_errors=True)
