"""The bandwidths that a sentence tells, each with its unit, its size and what names it; what is no figure for certain.

>>> [(figure.bytes_per_s / 1e9, figure.kind) for figure in figures_of("algbw 259 busbw 486 GB/s at 8 GB")]
[(259.0, 'alg'), (486.0, 'bus')]
>>> [figure.bytes_per_s for figure in figures_of("busbw 2.9 T")]
[None]

A number is a figure with a unit of bandwidth, or behind the word busbw or algbw, which nccl-tests prints in GB/s. One
whose unit, sign or decimal mark leaves it open is kept with no value: it is neither read as something else nor lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from eastwest.units import BITS_PER_BYTE, GIBI, GIGA, KIBI, MEBI, MEGA, TEBI

Kind = Literal["bus", "alg", "plain"]
BITS, TERA = 1 / BITS_PER_BYTE, 1000 * GIGA
_PER_S = r"(?:/s(?:ec(?:ond)?)?|ps)"
# Case tells bits from bytes; what is written in neither way (gb/s, GBPS) is not guessed.
_UNITS: tuple[tuple[str, float], ...] = (
    (rf"GB(?:yte|ytes)?{_PER_S}", GIGA),
    (rf"G(?:b|bit|bits){_PER_S}|gbps", GIGA * BITS),
    (rf"MB(?:yte|ytes)?{_PER_S}", MEGA),
    (rf"M(?:b|bit|bits){_PER_S}", MEGA * BITS),
    (rf"TB(?:yte|ytes)?{_PER_S}", TERA),
    (rf"T(?:b|bit|bits){_PER_S}", TERA * BITS),
    (rf"GiB{_PER_S}", GIBI),
    (rf"MiB{_PER_S}", MEBI),
    (rf"TiB{_PER_S}", TEBI),
)
_BANDWIDTH_UNITS = tuple((re.compile(rf"(?:{pattern})$"), factor) for pattern, factor in _UNITS)
_AMOUNT = re.compile(
    r"(?<![\w.,])(?P<number>\d(?:[\d.,]*\d)?(?:[eE][+-]?\d{1,2}(?![\w.]))?)(?!\d)"
    r"(?P<gap>\s?)(?P<unit>[A-Za-z][A-Za-z0-9]*(?:/[A-Za-z]+)?)?"
)
_NAMES = r"bus\s?bw|bus\s?bandwidth|alg\s?bw|algo(?:rithm)?\s?(?:bw|bandwidth)|总线带宽|算法带宽"
_BEFORE = re.compile(
    rf"(?P<name>{_NAMES})[^\w\n]{{0,4}}(?:(?:is|of|was|at|about|only|for|just|reaches|around|approx|只有|仅有|仅|为|是|约"
    r"|达到|大约)[^\w\n]{0,3}){0,2}$",
    re.IGNORECASE,
)
_BEHIND = re.compile(rf"\s*(?:\w+\s+)?(?P<name>{_NAMES})(?![^\w\n]{{0,4}}\d)", re.IGNORECASE)
_COUNTED = re.compile(
    r"[\s-]?\s*(?:(?:[x×*]\s*\d|台|卡|张|块|个|节点)"
    r"|(?-i:(?:DGX|HGX|NVIDIA|AMD|[A-Z]{1,2}\d{2,3}\w{0,2})\s+){0,3}"
    r"(?:nodes?|servers?|hosts?|machines?|GPUs?|NICs?|HCAs?|ranks?|cards?|ports?|QPs?|DGXs?|HGXs?)\b)",
    re.IGNORECASE,
)
_SHARE_OF = re.compile(r"%\s*(?:of|的)\s*(?:the\s+)?(?:\w+\s+)?$", re.IGNORECASE)  # what it is a share of is no result
_UNIT_LIKE = re.compile(r"[KMGTkmgt](?:i?[Bb](?:its?|ytes?)?)?$|.*/s|[KMGTkmgt]\w*ps$|[Bb]$")
_SIZE = re.compile(
    r"(?:\bat|@|for|size|消息大小)\s*(?:=|:)?\s*(\d{1,6})\s*([KMG])(?:i?B)?\b(?!/s|bps|b/s)"
    r"|(\d{1,6})\s*([KMG])(?:i?B)?\s*(?:messages?|消息)"
)
_SIZE_FACTOR = {"K": KIBI, "M": MEBI, "G": GIBI}
LARGEST_NUMBER = 10_000_000.0


@dataclass(frozen=True, slots=True)
class Figure:
    """One bandwidth of a sentence: None where its number or unit leaves it open; `kind` bus, alg, or plain where no
    word names it; `size_bytes` the message size told with it.
    """

    bytes_per_s: float | None
    kind: Kind
    start: int
    end: int
    size_bytes: int | None = None


def figures_of(text: str) -> tuple[Figure, ...]:
    """The figures of one line that tell the result: of bus bandwidth and of those without a name, else of algorithm
    bandwidth.
    """
    found = [figure for amount in _AMOUNT.finditer(text) if (figure := _figure(text, amount))]
    return tuple(_with_sizes(text, found))


def number_of(text: str) -> float | None:
    """A number as people write it; None where thousands and decimals cannot be told apart.

    >>> number_of("340.5"), number_of("340,5"), number_of("340,000"), number_of("1,048,576"), number_of("3.4.1")
    (340.5, 340.5, None, 1048576.0, None)
    >>> number_of("3.7e2"), number_of("3,7e2")
    (370.0, None)
    """
    if re.fullmatch(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?", text):
        value = float(text)
    elif re.fullmatch(r"\d+,\d{1,2}", text):
        value = float(text.replace(",", "."))
    elif re.fullmatch(r"\d{1,3}(?:,\d{3}){2,}(?:\.\d+)?|\d{1,3},\d{3}\.\d+", text):
        value = float(text.replace(",", ""))
    else:
        return None
    return value if value <= LARGEST_NUMBER else None


def factor_of_unit(unit: str) -> float | None:
    """Bytes/s of one of that unit; None for a word that is no unit of bandwidth.

    >>> factor_of_unit("Gb/s"), factor_of_unit("gb/s")
    (125000000.0, None)
    """
    return next((factor for pattern, factor in _BANDWIDTH_UNITS if pattern.match(unit)), None)


def _figure(text: str, amount: re.Match[str]) -> Figure | None:
    unit = amount["unit"] or ""
    factor = factor_of_unit(unit)
    before = _BEFORE.search(text[max(0, amount.start() - 48) : _sign_start(text, amount.start())])
    is_rate = factor is not None or re.search(r"(?i)[a-z]i?b(?:ytes?|its?)?(?:/s|ps)", unit)
    if not (is_rate or before) or (not is_rate and _is_other(text, amount)):
        return None
    end = amount.end() if is_rate else amount.end("number")
    behind = None if before else _BEHIND.match(text[end : end + 48])
    name = (before or behind or {"name": ""})["name"].lower()
    kind: Kind = "alg" if name.startswith(("alg", "算法")) else "bus" if name else "plain"
    if is_rate:
        is_open = factor is None
    else:
        factor, is_open = GIGA, bool(_UNIT_LIKE.match(unit)) or (bool(unit) and not amount["gap"])
    number = number_of(amount["number"])
    is_open = is_open or _is_signed(text, amount.start()) or bool(_SHARE_OF.search(text[: amount.start()]))
    if is_open or number is None or factor is None:
        return Figure(None, kind, amount.start(), end)
    return Figure(number * factor, kind, amount.start(), end)


def _is_other(text: str, amount: re.Match[str]) -> bool:
    """Whether a number without a unit of bandwidth counts things, or is a message size."""
    size = any(found.start() < amount.end() and amount.start() < found.end() for found in _SIZE.finditer(text))
    return size or _COUNTED.match(text, amount.end("number")) is not None


def _sign_start(text: str, start: int) -> int:
    """Where the text before a number ends: before its sign, which is no dash of a sentence."""
    return start - 1 if text[start - 1 : start] in ("-", "−", "–", "~") and start else start


def _is_signed(text: str, start: int) -> bool:
    """Whether a minus stands right before the number: a negative value, or the end of a range."""
    return (start > 0 and text[start - 1] in "-−–") or re.search(r"\d\s*[-−–~]\s+$", text[:start]) is not None


def _with_sizes(text: str, found: Sequence[Figure]) -> Iterator[Figure]:
    """The figures with their sizes: one figure has the line's size, of several each the size behind it."""
    for index, figure in enumerate(found):
        end = found[index + 1].start if index + 1 < len(found) else len(text)
        size = _SIZE.search(text) if len(found) == 1 else _SIZE.search(text, figure.end, end)
        yield replace(figure, size_bytes=_bytes(size)) if size else figure


def _bytes(size: re.Match[str]) -> int:
    return int(size[1] or size[3]) * _SIZE_FACTOR[size[2] or size[4]]
