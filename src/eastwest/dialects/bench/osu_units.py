"""OSU collectives in the terms of nccl-tests: total size and bus bandwidth from the size of a part and the time."""

from __future__ import annotations

from dataclasses import replace

from eastwest.dialects.readings import Benchmark, Row, Side

PART_SIZED = frozenset({"all_to_all", "all_gather", "gather", "scatter"})  # OSU's size is that of one rank's part
_TOP = {"all_reduce": 2.0, "broadcast": 0.0, "reduce": 0.0}  # 0: busbw is algbw


def as_nccl_rows(benchmark: Benchmark, ranks: int | None) -> Benchmark:
    """The benchmark with busbw in each row of an OSU collective; others, and without the number of ranks, unchanged."""
    if benchmark.tool != "osu" or benchmark.kind != "collective" or not ranks or ranks < 2:
        return benchmark
    return replace(benchmark, rows=tuple(_row(row, benchmark.test, ranks) for row in benchmark.rows))


def _row(row: Row, test: str, ranks: int) -> Row:
    if not row.size_bytes or not row.out.time_s:
        return row
    size = row.size_bytes * (ranks if test in PART_SIZED else 1)
    top = _TOP.get(test, 1.0)
    algbw = size / row.out.time_s
    busbw = algbw * (top * (ranks - 1) / ranks if top else 1.0)
    return replace(row, size_bytes=size, out=Side(row.out.time_s, algbw, busbw))
