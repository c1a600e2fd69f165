"""Quantities as people write them in a site file, as pydantic types: "400G", "25MB", "30m", "2:1" become numbers in base units.

A value that cannot be read raises the custom error `ew_unit`, which `spec.load` turns into a Finding with file and line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from eastwest import units


def _reader(parse: Callable[[object], Any]) -> Callable[[Any], Any]:
    """A pydantic validator around one parser of `units`."""

    def read(value: Any) -> Any:
        try:
            return parse(value)
        except units.UnitError as error:
            reason = f" ({error.reason})" if error.reason else ""
            context = {"kind": error.kind, "expected": error.expected, "reason": reason}
            raise PydanticCustomError("ew_unit", "not a {kind}: expected {expected}{reason}", context) from error

    return read


def _quantity(parse: Callable[[object], Any], written: str) -> Any:
    return BeforeValidator(_reader(parse), json_schema_input_type=str | int | float) if written else None


Rate = Annotated[int, _quantity(units.parse_rate, "400G"), Field(gt=0, description="rate in bit/s, written 400G")]
Size = Annotated[int, _quantity(units.parse_size, "25MB"), Field(gt=0, description="size in bytes, written 25MB or 25MiB")]
Length = Annotated[float, _quantity(units.parse_length, "30m"), Field(gt=0, le=10_000_000, description="length, written 30m or 10km")]
Duration = Annotated[float, _quantity(units.parse_time, "30min"), Field(gt=0, description="time, written 200ms or 30min")]
Power = Annotated[float, _quantity(units.parse_power, "40kW"), Field(gt=0, description="power, written 700W or 40kW")]
Count = Annotated[int, _quantity(units.parse_count, "70B"), Field(gt=0, description="count, written 70B or 128000")]
Ratio = Annotated[float, _quantity(units.parse_ratio, "2:1"), Field(gt=0, le=1000, description="down:up, written 2:1")]
Share = Annotated[float, Field(gt=0, le=1, description="share between 0 and 1")]
Whole = Annotated[int, Field(gt=0, le=10_000_000, strict=True)]
Natural = Annotated[int, Field(ge=0, le=10_000_000, strict=True)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$", description="letters, digits, dot, dash, underscore")]


class Wish(BaseModel):
    """A part of a site file: frozen, unknown keys refused, keys written as the aliases say."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False, hide_input_in_errors=True)
