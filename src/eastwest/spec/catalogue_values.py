"""How the catalogue writes one value, its unit and its source, as pydantic types over `units`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from eastwest import units

Provenance = Literal["read", "recalled", "derived", "defined"]
PER_SECOND = "/s"
_SPLIT = re.compile(r"^(\d+)x(\S+)$")
_UNITS = (  # the suffix of a field tells its unit; longer suffixes first
    ("_bytes_per_s", "byte/s"),
    ("_bytes", "byte"),
    ("_bps", "bit/s"),
    ("_flops", "FLOP/s"),
    ("_dbm", "dBm"),
    ("_ratio", "1"),
    ("_s", "s"),
    ("_w", "W"),
    ("_m", "m"),
)


class Source(BaseModel):
    """Where one value comes from.

    `provenance`: `read` in the named source, `recalled` (not at hand: check it), `derived` by arithmetic from
    other values, `defined` by us for a typical device. `disputed`: what another source says.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Annotated[str, Field(min_length=1)]
    provenance: Provenance
    note: str = ""
    disputed: str = ""

    @property
    def checked(self) -> bool:
        """Whether the value needs no further look into its source."""
        return self.provenance != "recalled"


def unit_of(field: str) -> str:
    """The base unit of a field by its suffix; empty for counts, words and yes or no.

    >>> unit_of("memory_bytes_per_s"), unit_of("ports")
    ('byte/s', '')
    """
    return next((unit for suffix, unit in _UNITS if field.endswith(suffix)), "")


def _bandwidth(value: Any) -> int:
    """Byte/s of "3.35TB/s"."""
    text = str(value)
    if not text.endswith(PER_SECOND):
        raise ValueError(f"{value!r} is not a bandwidth in bytes per second such as 900GB/s")
    return units.parse_size(text.removesuffix(PER_SECOND))


def _splits(value: Any) -> tuple[tuple[int, int], ...]:
    """(count, bit/s) of each of ["2x400G", "4x200G"]."""
    found = [_SPLIT.match(str(item)) for item in value]
    if not all(found):
        raise ValueError(f"{value!r} is not a list such as [2x400G, 4x200G]")
    return tuple((int(match[1]), units.parse_rate(match[2])) for match in found if match)


def _flops(value: Mapping[str, Any]) -> dict[str, float]:
    """FLOP/s by precision of {"bf16": "989T"}."""
    return {precision: float(units.parse_count(text)) for precision, text in value.items()}


def _quantity(parse: Callable[[Any], Any]) -> BeforeValidator:
    return BeforeValidator(parse)


Rate = Annotated[int, _quantity(units.parse_rate), Field(gt=0)]
Size = Annotated[int, _quantity(units.parse_size), Field(gt=0)]
Length = Annotated[float, _quantity(units.parse_length), Field(gt=0)]
Duration = Annotated[float, _quantity(units.parse_time), Field(gt=0)]
Power = Annotated[float, _quantity(units.parse_power), Field(gt=0)]
Count = Annotated[int, _quantity(units.parse_count), Field(gt=0)]
Bandwidth = Annotated[int, _quantity(_bandwidth), Field(gt=0)]
Splits = Annotated[tuple[tuple[int, int], ...], _quantity(_splits)]
Flops = Annotated[Mapping[str, float], _quantity(_flops)]
Whole = Annotated[int, Field(gt=0, strict=True)]
Generation = Annotated[int, Field(ge=3, le=7, strict=True)]
Lanes = Annotated[int, Field(gt=0, le=72, strict=True)]
Window = tuple[float, float]
