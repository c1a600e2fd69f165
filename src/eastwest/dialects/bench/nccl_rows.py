"""One row of an nccl-tests table: of any version, with or without the table's header, whole or cut.

`size count type [redop] [root]`, then one or two blocks `time algbw busbw #wrong` (`error` before NCCL-tests 2.12).
A row counts only when it agrees with itself: size over time is algbw, and size is a whole number of counts.
Source: NVIDIA/nccl-tests, src/common.cu and the collectives' files.
"""

from __future__ import annotations

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
MOST_RANKS = 1_000_000  # more GPUs than any job has
PRINT_STEP = 0.0051  # GB/s: half of the last printed digit, and the sum's rounding
TIME_STEP_RATIO = 0.012  # time is printed with 4 to 5 digits, least as 1.34
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$|-?nan$|inf$")
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


def find_row(line: Line, source: str, has_node_column: bool = False) -> Found | None:
    """The row in a line, or None when it holds none that can be trusted."""
    words = line.text.split()
    at = _start(words)
    if at is None:
        return None
    size, count, element = int(words[at]), int(words[at + 1]), ELEMENT_BYTES[words[at + 2]]
    if not _sizes_agree(size, count * element):
        return None
    rest = words[at + 3 :]
    redop = rest.pop(0) if rest and rest[0] in REDUCTIONS else ""
    root, blocks, is_cut = _blocks(rest, size)
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


def _start(words: Sequence[str]) -> int | None:
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


def _blocks(words: Sequence[str], size: int) -> tuple[int | None, list[Side], bool]:
    """Root, the whole blocks that agree with the size, and whether one is missing. With and without the root column
    both are tried: a time printed as a whole number looks like a root.
    """
    for has_root in _root_guesses(words):
        root = int(words[0]) if has_root else None
        rest = words[1:] if has_root else words
        blocks = [_block(rest[at : at + BLOCK_COLUMNS], size) for at in range(0, len(rest), BLOCK_COLUMNS)][:2]
        whole = [block for block in blocks if block is not None]
        if whole and blocks[0] is not None:
            return root, whole, len(whole) < len(blocks) or len(rest) < 2 * BLOCK_COLUMNS
    return None, [], False


def _root_guesses(words: Sequence[str]) -> tuple[bool, ...]:
    """Whether the first word may be the root's rank; the likelier reading first."""
    if not words or not re.fullmatch(r"-1|\d{1,7}", words[0]):
        return (False,)
    return (True, False) if len(words) % BLOCK_COLUMNS == 1 or words[0] == "-1" else (False, True)


def _block(words: Sequence[str], size: int) -> Side | None:
    """Time, algbw, busbw and wrong of four words; None when they are not such four or contradict each other."""
    if len(words) < BLOCK_COLUMNS or not all(_NUMBER.match(word) for word in words[:3]):
        return None
    if not (_NUMBER.match(words[3]) or words[3] == "N/A"):
        return None
    time_us, algbw, busbw = (float(word) for word in words[:3])
    if not (time_us > 0 and algbw >= 0 and busbw >= 0) or not _rates_agree(size, time_us, algbw, busbw):
        return None
    return Side(time_us / US_PER_S, algbw * GIGA, busbw * GIGA, _wrong(words[3]))


def _rates_agree(size: int, time_us: float, algbw: float, busbw: float) -> bool:
    """Whether algbw is size over time and busbw at most twice algbw, within what printing rounds."""
    exact = size / (time_us / US_PER_S) / GIGA
    return abs(exact - algbw) <= PRINT_STEP + TIME_STEP_RATIO * exact and busbw <= 2 * algbw + 2 * PRINT_STEP


def _wrong(word: str) -> int | None:
    """Wrong elements; None for N/A and for the error column of old versions, which is a difference, not a count."""
    return int(word) if _WHOLE.match(word) else None
