"""Which collective an nccl-tests table is of, and of how many ranks, from its columns.

busbw over algbw is 2(n-1)/n for all-reduce, (n-1)/n for all-gather, reduce-scatter, all-to-all, gather and scatter, 1
for broadcast, reduce and send/receive; the count of a rank is size/n elements where each rank holds 1/n.
Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from statistics import median

from eastwest.dialects.bench.nccl_rows import Found
from eastwest.dialects.readings import Row, Side

LEAST_PRINTED_BYTES_PER_S = 1e9  # below 1 GB/s two printed digits say nothing about a ratio
PRINTED_STEP_BYTES_PER_S = 0.005e9  # half of the last digit of a bandwidth
TIME_STEP_RATIO = 5e-5  # half of the last of four digits of a time
RATIO_STEP = 0.012  # what rounding leaves of busbw / algbw at 1 GB/s
LEAST_RATIO_STEP = 3e-4  # and at any bandwidth

_NAMES = (
    ("reduce_scatter", r"reduce[-_ ]?scatter"),
    ("all_reduce", r"all[-_ ]?reduce"),
    ("all_gather", r"all[-_ ]?gather"),
    ("all_to_all", r"all[-_ ]?to[-_ ]?all|\ba2a\b"),
    ("sendrecv", r"send[-_ ]?recv"),
    ("hypercube", r"hypercube"),
    ("broadcast", r"broadcast(?=_perf|\b)|\bbcast"),
    ("gather", r"(?<![a-z])gather"),
    ("scatter", r"(?<![a-z])scatter"),
    ("reduce", r"(?<![a-z_])reduce(?=_perf|\b)"),
)
_PATTERNS = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _NAMES)
_OF_FACTOR = {
    "two": ("all_reduce",),
    "part": ("all_gather", "all_to_all", "gather", "scatter"),
    "part reduced": ("reduce_scatter",),
    "one": ("broadcast", "sendrecv"),
    "one rooted": ("broadcast",),
    "one reduced": ("reduce",),
}


def named_collective(text: str) -> str:
    """The collective that a command line, a file's name or a sentence names; "" when it names none or several.

    >>> named_collective("mpirun -np 16 ./build/alltoall_perf -b 8 -e 8G"), named_collective("reduce_scatter_perf")
    ('all_to_all', 'reduce_scatter')
    """
    names = {name for _, name in collectives_in(text)}
    return names.pop() if len(names) == 1 else ""


def collectives_in(text: str) -> tuple[tuple[int, str], ...]:
    """Every collective that a text names, with where it stands.

    >>> collectives_in("all_reduce, then sendrecv")
    ((0, 'all_reduce'), (17, 'sendrecv'))
    """
    found: list[tuple[int, str]] = []
    for name, pattern in _PATTERNS:  # the longer names first: "gather" is no part of "all_gather"
        places = [match.span() for match in pattern.finditer(text)]
        found += [(start, name) for start, _ in places]
        for start, end in places:
            text = text[:start] + " " * (end - start) + text[end:]
    return tuple(sorted(found))


def factor_of(rows: Iterable[Row]) -> float | None:
    """busbw over algbw, by the rows of 1 GB/s and more; None when there is none. Size over time is printed with more
    digits than algbw.
    """
    ratios = [ratio for row in rows for side in (row.out, row.in_place) if side and (ratio := _ratio(row, side))]
    return median(ratios) if ratios else None


def _ratio(row: Row, side: Side) -> float | None:
    if not side.algbw_bytes_per_s or not side.busbw_bytes_per_s or side.algbw_bytes_per_s < LEAST_PRINTED_BYTES_PER_S:
        return None
    exact = row.size_bytes / side.time_s if row.size_bytes and side.time_s else side.algbw_bytes_per_s
    return side.busbw_bytes_per_s / exact


def candidates_of(found: Sequence[Found]) -> tuple[str, ...]:
    """The collectives that the columns allow; () when nothing is measured at 1 GB/s or more.

    (n-1)/n comes near 1 with many ranks: what rounding hides of the distance is left open, and the count of a rank
    (1/n of the size) tells.
    """
    factor, step = factor_of(each.row for each in found), _step(found)
    if factor is None:
        return _by_redop(found)
    is_reduced, is_shared = _is_reduced(found), _is_shared(found)
    is_rooted = any(each.root is not None and each.root >= 0 for each in found)
    if factor > 1 + RATIO_STEP:
        return _OF_FACTOR["two"]
    if is_shared or factor < 1 - step:
        return _OF_FACTOR["part reduced" if is_reduced else "part"]
    if is_reduced:
        # 2(n-1)/n is 1 for two ranks.
        return ("reduce",) if is_rooted else ("all_reduce", "reduce")
    return _OF_FACTOR["one rooted" if is_rooted else "one"]


def is_possible(name: str, found: Sequence[Found]) -> bool:
    """Whether the columns allow the collective that a command line or a file's name gives: it is believed unless busbw
    over algbw, or the column of the reduction, rules it out.
    """
    redops = {each.redop for each in found} - {""}
    is_reducing = name in ("all_reduce", "reduce_scatter", "reduce")
    if (is_reducing and redops == {"none"}) or (not is_reducing and redops - {"none"}):
        return False
    factor = factor_of(each.row for each in found)
    if factor is None:
        return True
    if name == "all_reduce":
        return factor > 1 - RATIO_STEP
    if name in (*_OF_FACTOR["part"], *_OF_FACTOR["part reduced"]):
        return factor < 1 + RATIO_STEP
    return abs(factor - 1) <= RATIO_STEP


def _step(found: Sequence[Found]) -> float:
    """How far busbw over algbw may be from the exact ratio: half of the last digits, at the middle bandwidth."""
    levels = [level for each in found if (level := each.row.out.busbw_bytes_per_s or 0.0) >= LEAST_PRINTED_BYTES_PER_S]
    if not levels:
        return RATIO_STEP / 2
    return min(RATIO_STEP / 2, max(LEAST_RATIO_STEP, PRINTED_STEP_BYTES_PER_S / median(levels) + TIME_STEP_RATIO))


def _is_reduced(found: Sequence[Found]) -> bool:
    return any(each.redop not in ("", "none") for each in found)


def _is_shared(found: Sequence[Found]) -> bool:
    """Whether a rank holds 1/n of the size in every row."""
    held = [n for each in found if each.row.size_bytes and (n := _holders(each.row)) is not None]
    return bool(held) and min(held) > 1


def _by_redop(found: Sequence[Found]) -> tuple[str, ...]:
    reduced = [each for each in found if each.redop not in ("", "none")]
    if not reduced:
        return ()
    is_shared = any(_holders(each.row) == 1 and each.row.size_bytes for each in reduced)
    return ("all_reduce", "reduce") if is_shared else ("reduce_scatter",)


def _holders(row: Row) -> int | None:
    """Size over what one rank holds: n where each rank holds 1/n."""
    if not (row.size_bytes and row.count and row.element_bytes):
        return None
    return row.size_bytes // (row.count * row.element_bytes)


def ranks_of(rows: Sequence[Row], test: str) -> int | None:
    """The number of ranks that the numbers of a table imply; None when they leave it open."""
    held = [n for row in rows if (n := _holders(row)) is not None and n > 1]
    if held and len(set(held)) == 1:
        return held[0]
    factor = factor_of(rows)
    if factor is None or test not in ("all_reduce", "all_gather", "all_to_all", "reduce_scatter", "gather", "scatter"):
        return None
    top = 2.0 if test == "all_reduce" else 1.0
    return _nearest_ranks(factor, top, rows)


def _nearest_ranks(factor: float, top: float, rows: Sequence[Row]) -> int | None:
    """n of factor = top (n-1)/n, when printing rounds it less than half a rank; None beyond that."""
    rest = top - factor
    if rest <= 0:
        return None
    largest = max((row.out.busbw_bytes_per_s or 0.0) for row in rows)
    n = top / rest
    uncertainty = n * top * (PRINTED_STEP_BYTES_PER_S / largest + TIME_STEP_RATIO) / rest if largest else n
    nearest = round(n)
    return nearest if nearest >= 2 and uncertainty < 0.5 and abs(n - nearest) <= max(uncertainty, 0.02) else None
