"""Plateau, dips, collapse, cold calls and latency of curves with known shapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.accept.curve import curve_of
from eastwest.dialects.readings import Row, Side
from eastwest.finding import Evidence

MEBI = 2**20


def row(size: int, busbw: float, in_place: float | None = None, time_s: float | None = None) -> Row:
    inside = Side(busbw_bytes_per_s=in_place * 1e9) if in_place is not None else None
    return Row(size, Side(time_s, None, busbw * 1e9), Evidence("-", size, ""), in_place=inside)


def curve(*levels: float, first: int = MEBI):
    return curve_of([row(first * 2**step, level, level) for step, level in enumerate(levels)])


@pytest.mark.parametrize(
    ("levels", "is_flat"),
    [
        ((10, 20, 40, 80, 90, 95, 96), True),
        ((10, 20, 40, 80, 95), False),  # largest size 16 MiB, still rising by 19 %
        ((10, 20, 40, 80, 160, 300), False),
        ((10, 20, 40, 90, 95, 40), False),  # one low point alone
        ((10, 20, 40, 90, 95, 40, 41), True),
    ],
)
def test_a_plateau_needs_little_growth_at_the_end(levels, is_flat) -> None:
    assert curve(*levels).is_flat == is_flat


def test_one_size_alone_stands_for_the_plateau_when_it_is_large() -> None:
    assert curve_of([row(2**30, 90.0)]).is_flat
    assert not curve_of([row(2**25, 90.0)]).is_flat


def test_the_plateau_begins_where_all_larger_sizes_keep_90_percent() -> None:
    assert curve(50, 91, 80, 92, 95, 100).start_bytes == 8 * MEBI


def test_a_collapse_is_low_at_every_larger_size() -> None:
    found = curve(1.24, 1.73, 12.91, 16.2, 24.09, 29.5, 5.27, 5.22, 4.09, 5.31)
    assert found.collapse is not None
    assert found.collapse.size_bytes == 32 * MEBI
    assert found.dips == ()


def test_a_dip_recovers() -> None:
    found = curve(11.9, 16.59, 32.57, 19.1, 30.73, 42.61, first=8 * MEBI)
    assert found.collapse is None
    assert [dip.size_bytes for dip in found.dips] == [64 * MEBI]


def test_a_slow_out_of_place_block_alone_is_a_cold_call() -> None:
    rows = [row(MEBI, 20, 20), row(2 * MEBI, 3, 24), row(4 * MEBI, 30, 30)]
    found = curve_of(rows)
    assert [point.size_bytes for point in found.cold] == [2 * MEBI]
    assert found.dips == ()


def test_latency_is_the_middle_of_the_small_sizes() -> None:
    rows = [row(2**step, 0.0, time_s=(99 if step == 3 else 40) * 1e-6) for step in range(3, 13)]
    assert curve_of(rows).latency_s == pytest.approx(40e-6)
    assert curve_of(rows[-1:]).latency_s is None


def test_a_size_that_is_printed_again_counts_with_its_median() -> None:
    found = curve_of([row(2**30, level) for level in (90, 10, 95)])
    assert [point.bandwidth_bytes_per_s for point in found.points] == [90e9]


@given(st.lists(st.tuples(st.integers(0, 2**40), st.floats(0, 1000)), max_size=40))
def test_any_rows_make_a_curve(pairs) -> None:
    found = curve_of([row(size, level, level) for size, level in pairs])
    sizes = [point.size_bytes for point in found.points]
    assert sizes == sorted(set(sizes))
    assert found.start_bytes is None or found.start_bytes in sizes
