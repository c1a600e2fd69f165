"""Headroom against published tables, a worked case, and what must hold for every link."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.errors import UsageError
from eastwest.policy.headroom import (
    CURRENT,
    DESIGN,
    DESIGN_19K,
    QUANTA_BY_RATE,
    cell_factor,
    response_bytes,
    sonic,
    textbook,
)
from eastwest.units import GIGA

RATES = st.sampled_from(sorted(QUANTA_BY_RATE))
LENGTHS = st.floats(1, 2000)
MTUS = st.integers(64, 9216)
CELLS = st.sampled_from([96, 144, 192, 256])


@pytest.mark.parametrize(("gbps", "length_m", "xoff"), [(100, 5, 113_664), (400, 40, 283_648), (800, 300, 1_150_976)])
def test_the_published_table_of_spectrum_4_comes_out_exactly(gbps: int, length_m: int, xoff: int) -> None:
    """SN5600 look-up table in SONiC: port MTU 9216, lossless MTU 1024, 64 B packets only, cells of 192 B."""
    assert sonic(gbps * GIGA, length_m, 192).xoff_bytes == xoff


@pytest.mark.parametrize(
    ("gbps", "length_m", "eight_lanes", "xoff", "size"),
    [
        (100, 5, False, 81_920, 100_352),
        (100, 40, False, 92_160, 110_592),
        (100, 300, False, 163_840, 182_272),
        (400, 5, False, 159_744, 178_176),
        (400, 40, False, 198_656, 217_088),
        (400, 300, False, 487_424, 505_856),
        (400, 40, True, 198_656, 243_712),
    ],
)
def test_the_design_model_gives_the_vectors_of_144_byte_cells(
    gbps: int, length_m: int, eight_lanes: bool, xoff: int, size: int
) -> None:
    found = sonic(gbps * GIGA, length_m, 144, 9100, model=DESIGN, eight_lanes=eight_lanes)
    assert (found.xoff_bytes, found.size_bytes) == (xoff, size)


def test_the_calculator_that_said_25_kb_is_refuted() -> None:
    """400G over 100 m: 126.9 KB at least; the model says 353,280 B, and 372,736 B in all."""
    least = textbook(400 * GIGA, 100, 9216)
    model = sonic(400 * GIGA, 100, 192, 9100, model=DESIGN_19K)
    assert least.xoff_bytes == pytest.approx(126.9e3, abs=50)
    assert (model.xoff_bytes, model.xon_bytes, model.size_bytes) == (353_280, 19_456, 372_736)
    assert 25_000 < least.xoff_bytes < model.size_bytes < 32_318_000


def test_the_terms_add_up_to_the_result() -> None:
    for found in (textbook(400 * GIGA, 30, 9216), sonic(400 * GIGA, 30, 144)):
        total = sum(term.size_bytes for term in found.terms)
        assert 0 <= found.xoff_bytes - total < 1024
        assert all(term.source and term.formula for term in found.terms)


@given(RATES, LENGTHS, MTUS, CELLS, st.floats(1, 100), st.integers(0, 500))
def test_headroom_grows_with_rate_length_and_mtu(
    rate: int, length: float, mtu: int, cell: int, longer: float, larger: int
) -> None:
    plain = sonic(rate, length, cell, mtu).xoff_bytes
    assert sonic(rate, length + longer, cell, mtu).xoff_bytes >= plain
    assert sonic(rate, length, cell, mtu + larger).xoff_bytes >= plain
    faster = [other for other in QUANTA_BY_RATE if other >= rate]
    assert all(sonic(other, length, cell, mtu).xoff_bytes >= plain for other in faster)


@given(RATES, LENGTHS, MTUS, CELLS, st.floats(0, 1))
def test_the_model_is_never_below_physics(rate: int, length: float, mtu: int, cell: int, small: float) -> None:
    """The model's frame of its own is the lossless MTU, so the textbook is taken with frames of that sum."""
    model = sonic(rate, length, cell, mtu, lossless_mtu_bytes=mtu, small_packets_ratio=small)
    assert model.xoff_bytes >= textbook(rate, length, mtu).xoff_bytes


@given(RATES, LENGTHS, CELLS)
def test_more_small_packets_need_more(rate: int, length: float, cell: int) -> None:
    sizes = [sonic(rate, length, cell, small_packets_ratio=share).xoff_bytes for share in (0.0, 0.5, 1.0)]
    assert sizes == sorted(sizes)


def test_a_shared_pool_sets_only_xon_aside_per_port() -> None:
    own, shared = (sonic(400 * GIGA, 40, 192, shared_pool=shared) for shared in (False, True))
    assert (shared.size_bytes, shared.xoff_bytes) == (own.xon_bytes, own.xoff_bytes)


def test_a_gearbox_adds_its_delay_both_ways() -> None:
    names = [term.name for term in sonic(100 * GIGA, 5, 96, gearbox_s=100e-9).terms]
    assert "gearbox" in names
    assert sonic(100 * GIGA, 5, 96, gearbox_s=100e-9).xoff_bytes > sonic(100 * GIGA, 5, 96).xoff_bytes


@pytest.mark.parametrize(("gbps", "expected"), [(10, 4288), (75, 25216), (1600, 115_840)])
def test_unlisted_rates_take_the_next_above_and_double_beyond(gbps: int, expected: int) -> None:
    assert response_bytes(gbps * GIGA) == expected


def test_cells_of_up_to_128_bytes_waste_less_than_half() -> None:
    assert all(1 <= cell_factor(cell, rounds=True) < 2 for cell in range(1, 129))
    assert CURRENT.rounds_cells
    assert not DESIGN.rounds_cells


@pytest.mark.parametrize(("rate", "length", "mtu"), [(0, 5, 9216), (400 * GIGA, 0, 9216), (400 * GIGA, 5, -1)])
def test_a_cable_of_zero_metres_is_refused(rate: int, length: float, mtu: int) -> None:
    with pytest.raises(UsageError, match="above zero"):
        textbook(rate, length, mtu)


@pytest.mark.parametrize(("cell", "small"), [(0, 1.0), (144, 1.5)])
def test_impossible_cells_and_shares_are_refused(cell: int, small: float) -> None:
    with pytest.raises(UsageError, match="small packets 0-1"):
        sonic(400 * GIGA, 5, cell, small_packets_ratio=small)
