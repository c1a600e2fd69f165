"""Units of the product: parse what people write, print what they read; the only place with powers of ten.

Inside eastwest every quantity is in a base unit and its name says so: `_bps`, `_bytes`, `_bytes_per_s`, `_s`, `_ps`,
`_m`, `_w`, `_dbm`. Text keeps the field's habits: `400G` is a rate in bit/s, `25MB` a size (10**6), `25MiB` a size
(2**20), `30m` a length, `2:1` down:up.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

KILO, MEGA, GIGA, TERA, PETA = 10**3, 10**6, 10**9, 10**12, 10**15
KIBI, MEBI, GIBI, TEBI = 2**10, 2**20, 2**30, 2**40
BITS_PER_BYTE = 8
PS_PER_S = 10**12
NS_PER_S = 10**9
US_PER_S = 10**6
MS_PER_S = 10**3
MINUTE_S = 60
HOUR_S = 3600
DAY_S = 86400
M_PER_KM = 1000

LONGEST_QUANTITY = 40  # characters: no quantity needs more, and an endless number would cost memory

_NUMBER = r"(?P<number>[+-]?(?:\d[\d_]*(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,2})?)"
_TEXT = re.compile(rf"^\s*{_NUMBER}\s*(?P<unit>.*?)\s*$")

_RATE = {"": 1, "K": KILO, "M": MEGA, "G": GIGA, "T": TERA}
_RATE_TAILS = ("", "b", "b/s", "bps", "bit/s", "bits/s")
_SIZE = {
    "B": 1,
    "KB": KILO,
    "MB": MEGA,
    "GB": GIGA,
    "TB": TERA,
    "PB": PETA,
    "KIB": KIBI,
    "MIB": MEBI,
    "GIB": GIBI,
    "TIB": TEBI,
}
_LENGTH = {"m": 1.0, "km": 1000.0, "cm": 0.01, "mm": 0.001}
_TIME = {
    "ps": 1 / PS_PER_S,
    "ns": 1 / NS_PER_S,
    "us": 1 / US_PER_S,
    "µs": 1 / US_PER_S,
    "μs": 1 / US_PER_S,
    "ms": 1 / MS_PER_S,
    "s": 1.0,
    "min": float(MINUTE_S),
    "h": float(HOUR_S),
    "d": float(DAY_S),
}
_POWER = {"W": 1.0, "KW": 1e3, "MW": 1e6}
_COUNT = {"": 1, "K": KILO, "M": MEGA, "B": GIGA, "G": GIGA, "T": TERA}
_MONEY = {"": 1.0, "K": 1e3, "M": 1e6}


class UnitError(ValueError):
    """A quantity that cannot be read: what kind it is, what was found, what was expected, and why it is refused."""

    def __init__(self, kind: str, found: object, expected: str, reason: str = "") -> None:
        self.kind, self.found, self.expected, self.reason = kind, found, expected, reason
        super().__init__(f"{found!r} is not a {kind}: expected {expected}" + (f" ({reason})" if reason else ""))


def _split(text: object, kind: str, expected: str) -> tuple[Decimal, str]:
    """The number and the unit of a text; UnitError when there is no number."""
    if isinstance(text, bool) or text is None:
        raise UnitError(kind, text, expected)
    match = _TEXT.match(str(text)) if len(str(text)) <= LONGEST_QUANTITY else None
    if not match:
        raise UnitError(kind, text, expected)
    try:
        return Decimal(match["number"].replace("_", "")), match["unit"]
    except InvalidOperation as error:
        raise UnitError(kind, text, expected) from error


def _whole(value: Decimal, text: object, kind: str, expected: str) -> int:
    if value != value.to_integral_value():
        raise UnitError(kind, text, expected, "not a whole number of the base unit")
    return int(value)


def parse_rate(text: object) -> int:
    """Bit/s of "400G", "25.6T", "100Gb/s" or a plain number of bit/s.

    A size such as "400GB" is refused, since byte and bit differ eightfold. Raises UnitError.
    """
    expected = "a rate in bit/s such as 400G, 25.6T or 100Gbps"
    number, unit = _split(text, "rate", expected)
    if re.fullmatch(r"[KMGT]?i?B(/s|ps)?", unit):
        raise UnitError("rate", text, expected, "B is bytes; rates of links are in bits")
    for tail in sorted(_RATE_TAILS, key=len, reverse=True):
        prefix = unit[: len(unit) - len(tail)] if tail else unit
        if unit.endswith(tail) and prefix.upper() in _RATE:
            return _whole(number * _RATE[prefix.upper()], text, "rate", expected)
    raise UnitError("rate", text, expected)


def parse_size(text: object) -> int:
    """Bytes of "25MB" (10**6), "25MiB" (2**20), "9216" or "9216B". Raises UnitError.

    "400Gb" is refused because a small b is a bit; a bare prefix ("4M") is refused because it does not say 10**6 or
    2**20.
    """
    expected = "a size in bytes such as 9216, 25MB (10^6) or 25MiB (2^20)"
    number, unit = _split(text, "size", expected)
    if unit == "":
        return _whole(number, text, "size", expected)
    if re.fullmatch(r"[KMGTkmgt]i?b", unit):
        raise UnitError("size", text, expected, "b is bits; sizes are in bytes")
    if unit.upper() in _SIZE:
        return _whole(number * _SIZE[unit.upper()], text, "size", expected)
    raise UnitError("size", text, expected)


def parse_length(text: object) -> float:
    """Metres of "30m", "10km", "50cm". A bare number is refused. Raises UnitError."""
    expected = "a length such as 30m or 10km"
    number, unit = _split(text, "length", expected)
    if unit.lower() not in _LENGTH:
        raise UnitError("length", text, expected, "a length needs its unit" if unit == "" else "")
    return float(number) * _LENGTH[unit.lower()]


def parse_time(text: object) -> float:
    """Seconds of "10us", "200ms", "22min", "4s". A bare number is refused. Raises UnitError."""
    expected = "a time such as 10us, 200ms, 4s or 22min"
    number, unit = _split(text, "time", expected)
    if unit not in _TIME:
        raise UnitError("time", text, expected, "a time needs its unit" if unit == "" else "")
    return float(number) * _TIME[unit]


def parse_power(text: object) -> float:
    """Watts of "10kW", "700W". A bare number is refused. Raises UnitError."""
    expected = "a power such as 700W or 40kW"
    number, unit = _split(text, "power", expected)
    if unit.upper() not in _POWER or unit.startswith("m"):
        raise UnitError("power", text, expected, "a power needs its unit" if unit == "" else "")
    return float(number) * _POWER[unit.upper()]


def parse_count(text: object) -> int:
    """A count such as "50B" (parameters), "1.5T" or 128000. Raises UnitError."""
    expected = "a count such as 70B, 1.5T or 128000"
    number, unit = _split(text, "count", expected)
    if unit.upper() not in _COUNT:
        raise UnitError("count", text, expected)
    return _whole(number * _COUNT[unit.upper()], text, "count", expected)


def parse_ratio(text: object) -> float:
    """Down : up of "2:1", "1.67:1", "1:1" or a number; 2.0 is twice as much down as up. Raises UnitError."""
    expected = "a down:up ratio such as 1:1 or 2:1"
    if isinstance(text, str) and ":" in text:
        try:
            (down, down_unit), (up, up_unit) = (_split(side, "ratio", expected) for side in text.split(":", 1))
        except UnitError as error:
            raise UnitError("ratio", text, expected) from error
        if down_unit or up_unit:
            raise UnitError("ratio", text, expected)
        if up <= 0 or down <= 0:
            raise UnitError("ratio", text, expected, "both sides must be above zero")
        return float(down / up)
    number, unit = _split(text, "ratio", expected)
    if unit or number <= 0:
        raise UnitError("ratio", text, expected)
    return float(number)


def _trim(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scaled(value: float, steps: tuple[tuple[float, str], ...], digits: int, joiner: str = " ") -> str:
    for factor, name in steps:
        if abs(value) >= factor:
            return f"{_trim(value / factor, digits)}{joiner}{name}"
    factor, name = steps[-1]
    return f"{_trim(value / factor, digits)}{joiner}{name}"


def format_rate(rate_bps: float, digits: int = 2) -> str:
    """ "400G", "25.6T", "1.5M": a line rate in the field's short form (bit/s)."""
    return _scaled(rate_bps, ((TERA, "T"), (GIGA, "G"), (MEGA, "M"), (KILO, "K"), (1, "b/s")), digits, "")


def format_port_rate(rate_bps: int) -> str:
    """ "800G", "1600G": a port's rate in whole Gb/s, as port names write it."""
    return f"{_trim(rate_bps / GIGA, 1)}G"


def format_bandwidth(bytes_per_s: float, digits: int = 2) -> str:
    """ "48.5 GB/s": a bandwidth in decimal bytes per second."""
    steps = ((TERA, "TB/s"), (GIGA, "GB/s"), (MEGA, "MB/s"), (KILO, "KB/s"), (1, "B/s"))
    return _scaled(bytes_per_s, steps, digits)


def format_size(size_bytes: float, digits: int = 2) -> str:
    """ "200 GB", "1.6 TB": a size in decimal units."""
    steps = ((PETA, "PB"), (TERA, "TB"), (GIGA, "GB"), (MEGA, "MB"), (KILO, "KB"), (1, "B"))
    return _scaled(size_bytes, steps, digits)


def format_time(time_s: float, digits: int = 2) -> str:
    """ "9 min", "4 s", "85 ms", "10 µs": a duration in its natural unit."""
    steps = (
        (DAY_S, "d"),
        (HOUR_S, "h"),
        (2 * MINUTE_S, "min"),
        (1, "s"),
        (1 / MS_PER_S, "ms"),
        (1 / US_PER_S, "µs"),
        (1 / NS_PER_S, "ns"),
    )
    for factor, name in steps:
        if abs(time_s) >= factor:
            base = MINUTE_S if name == "min" else factor
            return f"{_trim(time_s / base, digits)} {name}"
    return "0 s" if time_s == 0 else f"{_trim(time_s * PS_PER_S, digits)} ps"


def format_length(length_m: float) -> str:
    """ "30 m", "10 km"."""
    return f"{_trim(length_m / M_PER_KM, 2)} km" if length_m >= M_PER_KM else f"{_trim(length_m, 1)} m"


def format_power(power_w: float) -> str:
    """ "10.2 kW", "700 W"."""
    return _scaled(power_w, ((MEGA, "MW"), (KILO, "kW"), (1, "W")), 1)


def format_count(count: float) -> str:
    """ "70B", "1.6T", "8,192": a count of parameters or tokens."""
    if count < MEGA:
        return _trim(count, 2)
    return _scaled(count, ((TERA, "T"), (GIGA, "B"), (MEGA, "M")), 2, "")


def format_ratio(ratio: float) -> str:
    """ "1:1", "1.67:1": oversubscription as down:up."""
    return f"{_trim(ratio, 3)}:1"


def format_percent(share_ratio: float) -> str:
    """ "38 %", "2.1 %"."""
    return f"{_trim(share_ratio * 100, 1)} %"
