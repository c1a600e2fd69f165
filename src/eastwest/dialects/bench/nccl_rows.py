"""One row of an nccl-tests table: of any version, with or without the table's header, whole or cut.

`size count type [redop] [root]`, then one or two blocks `time algbw busbw #wrong` (`error` before NCCL-tests 2.12).
A row counts only when it agrees with itself: size over time is algbw, and size is a whole number of counts.
Source: NVIDIA/nccl-tests, src/common.cu and the collectives' files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eastwest.dialects.lines import Line
from eastwest.dialects.readings import Row, Side
from eastwest.units import GIGA, US_PER_S

ELEMENT_BYTES = {
    "int8": 1,
    "uint8": 1,
    "char": 1,
    "f8e4m3": 1,
    "f8e5m2": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "half": 2,
    "float16": 2,
    "bfloat16": 2,
    "bf16": 2,
    "int32": 4,
    "uint32": 4,
    "int": 4,
    "float": 4,
    "float32": 4,
    "int64": 8,
    "uint64": 8,
    "double": 8,
    "float64": 8,
}
REDUCTIONS = frozenset({"sum", "prod", "max", "min", "avg", "mulsum", "all", "none"})
BLOCK_COLUMNS = 4  # time, algbw, busbw, #wrong or error
SHORT_COLUMNS = 3  # the same without the last, as people copy it
MOST_RANKS = 1_000_000  # more GPUs than any job has
PRINT_STEP = 0.0051  # GB/s: half of the last printed digit, and the sum's rounding
TIME_STEP_RATIO = 0.012  # time is printed with 4 to 5 digits, least as 1.34
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$|-?nan$|inf$")
NONSENSE = re.compile(r"-?(?:\d[\d.]*(?:e[+-]?\d+)?|nan(?:\(\w*\))?|inf(?:inity)?|-+|n/a)$", re.IGNORECASE)
_TYPES = "|".join(sorted(ELEMENT_BYTES, key=len, reverse=True))
_CSV = re.compile(rf"[,;]\s*\"?(?:{_TYPES})\"?\s*[,;]")
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$")  # 1,048,576
_WHOLE = re.compile(r"\d{1,18}$")


@dataclass(frozen=True, slots=True)
class Found:
    """A row with what its text says beside the numbers: `redop` ("" when there is none), `root` (None: no column),
    `is_cut` whether a block that was begun is missing.
    """

    row: Row
    redop: str
    root: int | None
    is_cut: bool


def words_of(text: str) -> list[str]:
    """The words of a row: of a Markdown table, of comma-separated values, with separators of thousands taken out.

    >>> words_of("| 1,048,576 | 262,144 | float |"), words_of("1048576,262144,float,sum")
    (['1048576', '262144', 'float'], ['1048576', '262144', 'float', 'sum'])
    """
    if "|" in text:
        text = text.replace("|", " ")
    if "," not in text and ";" not in text:
        return text.split()
    if _CSV.search(text):
        return re.sub(r"[,;\"]", " ", text).split()
    return [word.replace(",", "") if _GROUPED.match(word) else word for word in text.split()]


def row_size(line: Line) -> int | None:
    """The size of a line that begins as a row does, whatever follows; None for any other line."""
    words = words_of(line.text)
    at = row_start(words)
    if at is None:
        return None
    size, count = int(words[at]), int(words[at + 1])
    return size if size and _sizes_agree(size, count * ELEMENT_BYTES[words[at + 2]]) else None


def is_nonsense(line: Line) -> bool:
    """Whether the columns of a row are all there and hold what no run prints: nan, a negative or an impossible value.
    A row that another line broke is none.
    """
    words = words_of(line.text)
    at = row_start(words)
    rest = [word for word in words[(at or 0) + 3 :] if word not in REDUCTIONS]
    return at is not None and len(rest) >= SHORT_COLUMNS and all(NONSENSE.match(word) for word in rest)


def find_row(line: Line, source: str, has_node_column: bool = False) -> Found | None:
    """The row in a line, or None when it holds none that can be trusted."""
    words = words_of(line.text)
    at = row_start(words)
    if at is None:
        return None
    size, count, element = int(words[at]), int(words[at + 1]), ELEMENT_BYTES[words[at + 2]]
    if not _sizes_agree(size, count * element):
        return None
    rest = words[at + 3 :]
    redop = rest.pop(0) if rest and rest[0] in REDUCTIONS else ""
    root, blocks, is_cut = _blocks(rest, size, line.is_ended)
    if not blocks:
        return None
    ends_in_block = (len(rest) - (root is not None)) % BLOCK_COLUMNS == 0
    if not line.is_ended and ends_in_block:  # the last word may be the head of a longer one: 5 of 5e-07
        blocks[-1] = replace(blocks[-1], wrong=None)
    nodes = int(words[at - 1]) if has_node_column and at and _WHOLE.match(words[at - 1]) else None
    row = Row(
        size_bytes=size,
        out=blocks[0],
        line=line.evidence(source),
        in_place=blocks[1] if len(blocks) > 1 else None,
        count=count,
        element_bytes=element,
        nodes=nodes,
    )
    return Found(row, redop, root, is_cut)


def row_start(words: Sequence[str]) -> int | None:
    """Where size, count and type stand in the words of a line."""
    for at in range(len(words) - 2):
        if words[at + 2] in ELEMENT_BYTES and _WHOLE.match(words[at]) and _WHOLE.match(words[at + 1]):
            return at
    return None


def _sizes_agree(size: int, counted: int) -> bool:
    """Whether the size is that of one to a million ranks' counts: a number that lost its head does not fit."""
    if size == 0 or counted == 0:
        return size == counted == 0
    return size % counted == 0 and size // counted <= MOST_RANKS


def _blocks(words: Sequence[str], size: int, is_ended: bool) -> tuple[int | None, list[Side], bool]:
    """Root, the whole blocks that agree with the size, and whether one is missing. With and without the root column
    both are tried: a time printed as a whole number looks like a root. Blocks of three columns, without the last one,
    count in a line that is not cut.
    """
    for columns in (BLOCK_COLUMNS, SHORT_COLUMNS) if is_ended else (BLOCK_COLUMNS,):
        for has_root in _root_guesses(words):
            rest = words[1:] if has_root else words
            if columns == SHORT_COLUMNS and len(rest) not in (SHORT_COLUMNS, 2 * SHORT_COLUMNS):
                continue
            blocks = [_block(rest[at : at + columns], size, columns) for at in range(0, len(rest), columns)][:2]
            whole = [block for block in blocks if block is not None]
            if whole and blocks[0] is not None:
                is_cut = len(whole) < len(blocks) or len(rest) < 2 * columns
                return int(words[0]) if has_root else None, whole, is_cut
    return None, [], False


def _root_guesses(words: Sequence[str]) -> tuple[bool, ...]:
    """Whether the first word may be the root's rank; the likelier reading first."""
    if not words or not re.fullmatch(r"-1|\d{1,7}", words[0]):
        return (False,)
    return (True, False) if len(words) % BLOCK_COLUMNS == 1 or words[0] == "-1" else (False, True)


def _block(words: Sequence[str], size: int, columns: int) -> Side | None:
    """Time, algbw, busbw and wrong of four words, or of three; None when they are not such or contradict each other."""
    if len(words) < columns or not all(_NUMBER.match(word) for word in words[:3]):
        return None
    last = words[3] if columns > SHORT_COLUMNS else "N/A"
    if not (_NUMBER.match(last) or last == "N/A"):
        return None
    time_us, algbw, busbw = (float(word) for word in words[:3])
    if not (0 < time_us < math.inf and 0 <= algbw < math.inf and busbw >= 0) or not _rates_agree(
        size, time_us, algbw, busbw
    ):
        return None
    return Side(time_us / US_PER_S, algbw * GIGA, busbw * GIGA, _wrong(last))


def _rates_agree(size: int, time_us: float, algbw: float, busbw: float) -> bool:
    """Whether algbw is size over time and busbw at most twice algbw, within what printing rounds."""
    exact = size / (time_us / US_PER_S) / GIGA
    return abs(exact - algbw) <= PRINT_STEP + TIME_STEP_RATIO * exact and busbw <= 2 * algbw + 2 * PRINT_STEP


def _wrong(word: str) -> int | None:
    """Wrong elements; None for N/A and for the error column of old versions, which is a difference, not a count."""
    return int(word) if _WHOLE.match(word) else None
