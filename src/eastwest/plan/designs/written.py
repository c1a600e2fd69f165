"""Numbers as published tables write them: `2048-8192`, `1,024`, `>10000`, `2x200G`, `1:4 (under-subscribed)`."""

from __future__ import annotations

import re
from typing import Any

from eastwest.units import GIGA, TERA

MOST = 10_000_000  # of anything that a design is built from; more is taken for no number
MOST_PRINTED = 10**12  # of a printed count, which is compared only
LONGEST = 400  # characters of a value that are read
MOST_RATE_BPS = 10**16  # 10 Pb/s: a hundred times the largest switch of 2025 (102.4T)
MOST_RATIO = 10_000.0
BPS_FROM = 10**7  # a bare number from here on is bit/s, below it is Gb/s

_WHOLE = re.compile(
    r"^\s*(?:about|approx\.?|up to|at least|over|~|≈|[<>≤≥=]+)?\s*(\d[\d,_]*)(?:\s*[-–]\s*(\d[\d,_]*))?", re.I
)
_RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([GT])(?![A-Za-z]*Hz)", re.I)
_RATIO = re.compile(r"(\d+(?:\.\d+)?)\s*:\s*(\d+(?:\.\d+)?)")
_PORTS = re.compile(r"(\d{1,6})\s*(?:[x×*]|[- ]?ports?(?:\s+(?:of|at))?)\s*(\d+(?:\.\d+)?)\s*([GT])", re.I)
_NON_BLOCKING = re.compile(r"non-?blocking|full bisection", re.I)
_PREFIX = {"G": GIGA, "T": TERA}


def text_of(value: Any) -> str:
    """A value as text, cut to what is read; lists and mappings joined by blanks; "" for nothing."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return " ".join(f"{key} {text_of(item)}" for key, item in value.items())[:LONGEST]
    if isinstance(value, list | tuple):
        return " ".join(text_of(item) for item in value)[:LONGEST]
    return str(value)[:LONGEST]


def whole_of(value: Any, most: int = MOST) -> int | None:
    """A count above zero, `most` at most: of a range the upper end. None when there is none.

    >>> whole_of("2048-8192"), whole_of("1,024 GPUs"), whole_of("as in sheet")
    (8192, 1024, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() and 0 < value <= most else None
    if isinstance(value, int):
        return value if 0 < value <= most else None
    match = _WHOLE.match(text_of(value))
    if not match:
        return None
    digits = (match[2] or match[1]).replace(",", "").replace("_", "")
    found = int(digits) if digits and len(digits) <= len(str(most)) else 0
    return found if 0 < found <= most else None


def rate_of(value: Any) -> int | None:
    """Bit/s: a bare number is Gb/s, a text has its G or T. None when there is none.

    >>> rate_of(400), rate_of("51.2T single chip")
    (400000000000, 51200000000000)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _rate_of_number(float(value) if isinstance(value, float) else value)
    text = text_of(value)
    match = _RATE.search(text)
    if match:
        rate = round(float(match[1][:12]) * _PREFIX[match[2].upper()])
        return rate if 0 < rate <= MOST_RATE_BPS else None
    bare = whole_of(text) if re.fullmatch(r"\s*\d[\d,_]*\s*", text) else None
    return _rate_of_number(bare) if bare else None


def _rate_of_number(number: float) -> int | None:
    rate = number if number >= BPS_FROM else number * GIGA
    return round(rate) if 0 < rate <= MOST_RATE_BPS else None


def ratio_of(value: Any) -> float | None:
    """Down:up of `1:1 (32 down / 32 up)`, `1:4 (under-subscribed)`, `non-blocking` or a number; None otherwise.

    >>> ratio_of("1:4 (under-subscribed)"), ratio_of("as in sheet")
    (0.25, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if 0 < value <= MOST_RATIO else None
    text = text_of(value)
    match = _RATIO.search(text)
    if match:
        down, up = float(match[1][:12]), float(match[2][:12])
        return down / up if up > 0 and 0 < down / up <= MOST_RATIO else None
    return 1.0 if _NON_BLOCKING.search(text) else None


def port_groups(value: Any) -> list[tuple[int, int]]:
    """Every `64x400G` or `64-port 400G` of a text as (ports, bit/s), in order.

    >>> port_groups("SN5600 (64x800G, breakout 128x400G)")
    [(64, 800000000000), (128, 400000000000)]
    """
    found = []
    for ports, number, prefix in _PORTS.findall(text_of(value)):
        rate = round(float(number[:12]) * _PREFIX[prefix.upper()])
        if 0 < int(ports) <= MOST and 0 < rate <= MOST_RATE_BPS:
            found.append((int(ports), rate))
    return found


def ratio_text(ratio: float) -> str:
    """Down:up with the smaller side 1: `2:1`, `1:4`.

    >>> ratio_text(2.0), ratio_text(0.25), ratio_text(1.0667)
    ('2:1', '1:4', '1.067:1')
    """
    return f"{round(ratio, 3):g}:1" if ratio >= 1 else f"1:{round(1 / ratio, 3):g}"
