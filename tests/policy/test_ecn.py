"""ECN thresholds: published figures, the order of ECN and PFC, and the seeds' numbers judged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.errors import UsageError
from eastwest.policy import ecn
from eastwest.policy.buffers import congested_until, dynamic_limit, fit, memory_of
from eastwest.units import GIGA

RTT_S = 10e-6


def test_the_arithmetic_of_the_dcqcn_paper_comes_out() -> None:
    """Zhu et al. 2015: 12 MB, 32 ports, 8 priorities, 22.4 KB of headroom, beta 8: 24.47 KB and 21.75 KB."""
    assert ecn.dcqcn_static_xoff_bytes(12e6, 32, 22.4e3) == pytest.approx(24.47e3, abs=10)
    assert ecn.dcqcn_dynamic_kmin_bytes(12e6, 32, 22.4e3, 8) == pytest.approx(21.75e3, abs=10)
    assert ecn.dcqcn_static_xoff_bytes(12e6, 32, 22.4e3) / 32 < 1000  # less than a packet: static thresholds fail


@pytest.mark.parametrize(
    ("alpha", "shares"), [(1 / 8, (0.111, 0.083, 0.042)), (1, (0.5, 0.2, 0.059)), (8, (0.889, 0.242, 0.062))]
)
def test_dynamic_threshold_shares(alpha: float, shares: tuple[float, ...]) -> None:
    found = [dynamic_limit(alpha, 1.0, n) for n in (1, 4, 16)]
    assert found == pytest.approx(shares, abs=6e-4)  # the published table has three digits


@given(st.floats(1 / 128, 8), st.floats(1e6, 2e8), st.floats(1e3, 1e8))
def test_the_number_of_queues_is_where_the_limit_crosses(alpha: float, pool: float, depth: float) -> None:
    n = congested_until(alpha, pool, depth)
    assert dynamic_limit(alpha, pool, n) <= depth * (1 + 1e-9)
    assert n == 1 or dynamic_limit(alpha, pool, n - 1) >= depth * (1 - 1e-9)


@given(st.sampled_from([25, 50, 100, 200, 400, 800]), st.floats(2e-6, 2e-4), st.floats(1 / 16, 4), st.floats(4e6, 3e8))
def test_applied_thresholds_are_in_order_and_behind_pfc(gbps: int, rtt: float, alpha: float, shared: float) -> None:
    """Kmin < Kmax <= Xoff with four congested queues, unless the floor of a few packets rules."""
    found = ecn.apply(gbps * GIGA, rtt, alpha, shared, 1500)
    assert 0 < found.kmin_bytes < found.kmax_bytes
    assert found.kmax_bytes <= max(dynamic_limit(alpha, shared, 4), 4 * 4 * 1500 + 4 * 1024)


def test_memory_that_cannot_hold_a_packet_is_refused() -> None:
    with pytest.raises(UsageError, match="no room for marking"):
        ecn.apply(400 * GIGA, RTT_S, 1 / 8, 10_000, 9000)


def test_small_bdp_leaves_a_few_packets_unmarked() -> None:
    assert ecn.apply(10 * GIGA, 2e-6, 1.0, 60e6, 9000).kmin_bytes >= 4 * 9000


def test_every_published_rule_is_there_and_has_a_source() -> None:
    rules = {rule.name: rule for rule in ecn.rules(400 * GIGA, RTT_S, 6e6)}
    assert len(rules) == 16
    assert all(rule.source for rule in rules.values())
    assert (rules["hpcc"].kmin_bytes, rules["hpcc"].kmax_bytes) == (1_600_000, 6_400_000)
    assert (rules["simai"].kmin_bytes, rules["simai"].kmax_bytes) == (800_000, 3_200_000)
    assert (rules["sonic-azure"].kmin_bytes, rules["sonic-azure"].kmax_bytes) == (1_048_576, 2_097_152)
    assert rules["huawei"].kmax_bytes == 3_000_000
    assert rules["h3c"].kmin_bytes is None


def test_a_speed_without_a_row_has_no_value() -> None:
    assert next(rule for rule in ecn.rules(800 * GIGA, RTT_S) if rule.name == "simai").kmin_bytes is None


def test_the_seeds_share_of_the_port_buffer_needs_a_chip() -> None:
    name = "seed-30-50-percent"
    without = next(rule for rule in ecn.rules(400 * GIGA, RTT_S) if rule.name == name)
    with_chip = next(rule for rule in ecn.rules(400 * GIGA, RTT_S, 6e6) if rule.name == name)
    assert without.kmin_bytes is None
    assert (with_chip.kmin_bytes, with_chip.kmax_bytes) == (1_800_000, 3_000_000)


@pytest.mark.parametrize(
    ("gbps", "rtt_us", "expected"),
    [(400, 20, "shallow"), (400, 10, "shallow"), (100, 20, "plausible"), (25, 20, "plausible")],
)
def test_the_seeds_50_and_100_kb_are_judged_by_speed(gbps: int, rtt_us: float, expected: str) -> None:
    bdp = ecn.bdp_bytes(gbps * GIGA, rtt_us / 1e6)
    assert ecn.judge(50_000, 100_000, bdp) == expected
    assert expected in ecn.judge_depth_note(gbps * GIGA, rtt_us / 1e6)


def test_very_deep_thresholds_are_deep() -> None:
    assert ecn.judge(1_000_000, 18_000_000, 1_000_000) == "deep"


@pytest.mark.parametrize(
    ("kmin", "kmax", "pool", "first", "safe"),
    [
        (500_000, 2_000_000, 60e6, True, True),
        (500_000, 6_000_000, 60e6, True, False),
        (7_000_000, 9_000_000, 60e6, False, False),
    ],
)
def test_the_order_of_ecn_and_pfc(kmin: int, kmax: int, pool: float, first: bool, safe: bool) -> None:
    found = ecn.order(kmin, kmax, 1 / 8, pool)
    assert (found.ecn_first, found.safe) == (first, safe)
    assert found.queues_below_kmax <= found.queues_below_kmin


def test_wishes_override_one_by_one() -> None:
    rule = ecn.apply(400 * GIGA, RTT_S, 1 / 8, 60e6, 9000)
    assert ecn.override(rule, None, None, None) is rule
    assert ecn.override(rule, 3_000_000, None, None).kmax_bytes == 12_000_000
    assert ecn.override(rule, None, 100_000, None).kmin_bytes == 25_000
    kept = ecn.override(rule, None, None, 1.0)
    assert (kept.kmin_bytes, kept.pmax_ratio, kept.rule) == (rule.kmin_bytes, 1.0, "site")


def test_64_ports_of_800g_at_300_m_take_most_of_165_mb() -> None:
    """The reference's example: about 73 MB of headroom before sharing."""
    found = fit(165_200_000, [(64, 1_150_976)])
    assert found.headroom_bytes == pytest.approx(73.7e6, rel=0.01)
    assert found.fits
    assert not fit(50_000_000, [(64, 1_150_976)]).fits


def test_memory_is_assumed_only_when_unknown() -> None:
    known, unknown = memory_of(64_000_000, 144, 32, 400 * GIGA), memory_of(None, None, 32, 400 * GIGA)
    assert (known.assumed, unknown.assumed) == (False, True)
    assert unknown.total_bytes == pytest.approx(3.2e6 * 12.8)


def test_the_working_is_printable() -> None:
    rule = ecn.apply(400 * GIGA, RTT_S, 1 / 8, 60e6, 9000)
    acts = ecn.order(rule.kmin_bytes, rule.kmax_bytes, 1 / 8, 60e6)
    shown = ecn.as_json(ecn.rules(400 * GIGA, RTT_S), rule, acts)
    assert (len(shown["rules"]), shown["applied"]["rule"], shown["order"]["ecn_first"]) == (16, "bdp", True)
    assert ecn.as_json((), rule, None)["order"] is None


@pytest.mark.parametrize(("alpha", "n"), [(0.0, 1), (1.0, 0)])
def test_alpha_and_queues_out_of_range_are_refused(alpha: float, n: int) -> None:
    with pytest.raises(UsageError, match="alpha"):
        dynamic_limit(alpha, 1e6, n)


def test_a_depth_of_zero_is_refused() -> None:
    with pytest.raises(UsageError, match="depth"):
        congested_until(1.0, 1e6, 0)
