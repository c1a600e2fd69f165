"""Names of parts that are no catalogue model: cables by medium, rate and length, modules by medium, rate and ports a
cage, devices by their ports.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from eastwest.fabric.parts import COUPLER
from eastwest.units import UnitError, parse_length, parse_rate

CABLE_LABEL = "cable label"
CAPTURE_SERVER, COLLECTOR = "capture server", "monitoring collector"
OPTICAL_POWER_METER = "optical power meter"
OUT_OF_BAND_CABLE = "Cat 6 patch cord"
FIXED_NAMES = (CABLE_LABEL, COUPLER, CAPTURE_SERVER, COLLECTOR, OPTICAL_POWER_METER)

_RATE = r"(?P<rate>\d+(?:\.\d+)?G)"
_LENGTH = r"(?P<length>[\d.,]+ k?m)"
_MEDIUM = r"(?P<medium>DAC|ACC|AOC|SR|DR|FR|LR|ZR)"
_CABLE = re.compile(rf"^{_MEDIUM} {_RATE}(?: {_LENGTH})?(?: \(.*\))?$")
_FIBRE = re.compile(
    rf"^(?P<medium>MPO-12|MPO-16|LC duplex) (?:(?P<fibre>OM4|OS2) )?(?:1:\d+ splitter )?fibre(?: {_LENGTH})?$"
)
_CORD = re.compile(rf"^{OUT_OF_BAND_CABLE}(?: {_LENGTH})?$")
_OF_LENGTH = re.compile(rf" {_LENGTH}(?= \(|$)")
_OF_FIBRE = re.compile(r" (?:OM4|OS2)(?= )")
_SINGLE = re.compile(rf"^{_MEDIUM} {_RATE} single-port(?: \((?P<lanes>\d+) lanes?\))?$")
_MODULE = re.compile(rf"^(?P<ports>\d+)x{_RATE} {_MEDIUM} module(?: \(.*\))?$")
_DEVICE = re.compile(rf"^(?:\d+x{_RATE}|\d+G NIC|\d+ x [\w.-]+, .+)$")

Kind = Literal["cable", "fibre", "module", "device", "other"]


@dataclass(frozen=True, slots=True)
class PartName:
    """What a part's name says: `medium` in lower case, bit/s of one port, ports a cage, metres of a cable, `fibre` OM4
    or OS2, `lanes` when they are more than usual.
    """

    kind: Kind
    medium: str = ""
    rate_bps: int = 0
    ports: int = 1
    length_m: float | None = None
    fibre: str = ""
    lanes: int = 0


def read_part(name: str) -> PartName | None:
    """What the name of a part says; None when it follows no pattern of ours.

    >>> read_part("2x400G DR module (2 ports a cage)")
    PartName(kind='module', medium='dr', rate_bps=400000000000, ports=2, length_m=None, fibre='', lanes=0)
    """
    try:
        return _read(name)
    except UnitError:
        return None


def wider_names(name: str) -> Iterator[str]:
    """The name of a part, then the names that hold for parts of any length, and of either fibre.

    >>> list(wider_names("MPO-12 OM4 fibre 30 m"))
    ['MPO-12 OM4 fibre 30 m', 'MPO-12 OM4 fibre', 'MPO-12 fibre']
    """
    any_length = _OF_LENGTH.sub("", name)
    yield from dict.fromkeys((name, any_length, _OF_FIBRE.sub("", any_length)))


def _read(name: str) -> PartName | None:
    if name in FIXED_NAMES:
        return PartName("other")
    for kind, pattern in _PATTERNS:
        match = pattern.match(name)
        if match:
            found = match.groupdict()
            rate, length = found.get("rate"), found.get("length")
            return PartName(
                kind,
                (found.get("medium") or "").lower(),
                parse_rate(rate) if rate else 0,
                int(found.get("ports") or 1),
                parse_length(length.replace(",", "")) if length else None,
                found.get("fibre") or "",
                int(found.get("lanes") or 0),
            )
    return None


_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("cable", _CABLE),
    ("fibre", _FIBRE),
    ("cable", _CORD),
    ("module", _SINGLE),
    ("module", _MODULE),
    ("device", _DEVICE),
)
