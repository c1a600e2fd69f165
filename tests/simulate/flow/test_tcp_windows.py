"""TCP's windows against closed forms by round trips, and against a naive oracle."""

from fractions import Fraction
from math import ceil, floor, log2

import numpy as np
import pytest

from eastwest.simulate.analytic.tcp_rate import slow_start_s
from eastwest.simulate.flow.build import event_table
from eastwest.simulate.flow.tables import EventKind, RunStatus
from tests.simulate.flow.windows import NaiveConnection, naive_windows, run_windows

RATE, RTT = 100 * 10**9, 10**10  # 100 Gb/s over 10 ms: a room 1,000 km away
IW = 40_000  # bytes: ten segments of 4,000
PS = 10**12
NEVER = 10**15


def bursts(n: int, **windows: float) -> list[float]:
    """Seconds of each of n bursts of 100 MB, one every second."""
    found = run_windows([RATE], [[0]], [RTT // 2], [(0, 10**8, turn * PS) for turn in range(n)], **windows)
    return [float(value) / PS for value in found.fct_ps]


@pytest.mark.parametrize("size", [1000, IW, IW + 1, 10**6, 10**8, 3 * 10**9])
@pytest.mark.parametrize("rate", [10**9, RATE])
def test_slow_start_sends_a_window_more_each_round_trip(size: int, rate: int) -> None:
    """The closed form of round trips, as long as the window after the exit does not limit."""
    found = run_windows([rate], [[0]], [RTT // 2], [(0, size, 0)])
    assert found.end_ps[0] == pytest.approx((slow_start_s(size, IW, RTT / PS, rate) + 0.005) * PS, rel=1e-9)


@pytest.mark.parametrize("rounds", [1, 2, 5, 11])
def test_n_full_round_trips_carry_the_first_window_times_2_to_the_n_less_1(rounds: int) -> None:
    """Cardwell et al. 2000: size = IW (2^n - 1)."""
    size = IW * (2**rounds - 1)
    assert rounds == ceil(log2(size / IW + 1))
    found = run_windows([10**15], [[0]], [RTT // 2], [(0, size, 0)])
    assert found.end_ps.tolist() == [rounds * RTT + RTT // 2]


def test_a_window_that_may_not_grow_gives_window_over_round_trip() -> None:
    """4 MB in 10 ms are 3.2 Gb/s, whatever the link carries."""
    found = run_windows([RATE], [[0]], [RTT // 2], [(0, 10**9, 0)], initial=4e6, most=4e6)
    assert found.end_ps[0] == pytest.approx((1e9 / (4e6 / 0.01) + 0.005) * PS, rel=1e-9)
    assert found.windows is not None
    assert found.windows.window_bytes.tolist() == [4e6]


def test_bursts_with_pauses_begin_again_each_time() -> None:
    """One burst a second, time-out 0.2 s: each takes what the first took; kept windows reach the line rate."""
    first = slow_start_s(1e8, IW, 0.01, RATE) + 0.005
    assert bursts(3, idle_ps=2e11) == pytest.approx([first] * 3, rel=1e-9)
    kept = bursts(3)
    assert kept[0] == pytest.approx(first, rel=1e-9)
    assert kept[2] == pytest.approx(1e8 * 8 / RATE + 0.005, rel=1e-9)
    assert first > 8 * kept[2]


def test_without_the_restart_a_pause_changes_nothing() -> None:
    """Ablation: with `idle_ps` above every pause the restart is as good as switched off."""
    assert bursts(3, idle_ps=2e12) == bursts(3)


def test_linux_halves_the_window_for_each_time_out_of_the_pause() -> None:
    """After 0.9 s: 4.4 time-outs of 0.2 s, the first one counted: floor(idle / 0.2 s) halvings."""
    found = run_windows(
        [10**15], [[0]], [RTT // 2], [(0, IW * 1023, 0), (0, 1, PS)], idle_ps=2e11, halves=True, most=IW * 1024
    )
    assert found.windows is not None
    idle = PS - 10 * RTT
    after_ten = 1024 * IW
    assert found.windows.window_bytes.tolist() == [after_ten / 2 ** floor(idle / 2e11)]
    assert found.windows.n_restarts.tolist() == [1]


def test_congestion_avoidance_adds_a_segment_each_round_trip() -> None:
    """Two flows fill a link; one ends, and the other's window of a full queue covers twice its share at once."""
    found = run_windows([8 * 10**9], [[0], [0]], [RTT // 2] * 2, [(0, 10**8, 0), (1, 3 * 10**8, 0)], initial=5e6)
    assert found.windows is not None
    # 8 Gb/s x 10 ms = 10 MB on the way: half each, and as much again in the queue
    assert found.windows.window_bytes[0] == pytest.approx(1e7)
    assert found.end_ps.tolist() == [int(0.205 * PS), int(0.405 * PS)]


def test_a_window_grows_by_segments_when_the_share_more_than_doubles() -> None:
    """Four flows leave the fifth alone: its window of two shares grows by 4,000 bytes in each round trip."""
    flows = [(number, 10**6, 0) for number in range(4)] + [(4, 10**8, 0)]
    found = run_windows([8 * 10**8], [[0]] * 5, [RTT // 2] * 5, flows, initial=2e5)
    # 1 MB on the way; slow start ends after one round trip at 2 x 0.2 MB; after 5 MB in all it is alone
    window, left, at = 400_000, 99_000_000, 5_000_000 * 8 * PS // (8 * 10**8)
    while left > 0:
        bytes_per_round = min(window, 1_000_000)
        if left <= bytes_per_round or bytes_per_round == 1_000_000:
            at += left * 8 * PS // (8 * 10**8) if bytes_per_round == 1_000_000 else left * RTT // window
            break
        left, at, window = left - bytes_per_round, at + RTT, window + 4000
    # above 128 segments two and three round trips are one step: at most 1/64 of the window behind
    assert found.end_ps[4] == pytest.approx(at + RTT // 2, rel=1 / 64)
    assert found.end_ps[4] >= at + RTT // 2


def test_the_first_loss_is_expected_after_so_many_bytes_and_brings_the_mean_window() -> None:
    """Line rate until 10 MB are sent, then 100 KB in each round trip."""
    windows = {"initial": 2e8, "loss": 1e5, "until_loss": 1e7}
    found = run_windows([RATE], [[0]], [RTT // 2], [(0, 11 * 10**6, 0)], **windows)
    assert found.end_ps[0] == pytest.approx((1e7 * 8 / RATE + 1e6 / (1e5 / 0.01) + 0.005) * PS, rel=1e-9)
    assert found.windows is not None
    assert found.windows.is_lossy.all()


def test_messages_of_one_connection_share_its_window() -> None:
    """Two at once take as long as one of twice the size."""
    both = run_windows([10**15], [[0]], [RTT // 2], [(0, 3 * IW, 0), (0, 3 * IW, 0)])
    one = run_windows([10**15], [[0]], [RTT // 2], [(0, 6 * IW, 0)])
    assert both.end_ps.tolist() == one.end_ps.tolist() * 2


def test_a_dead_link_with_ticks_to_come_is_a_stall_and_not_an_endless_run() -> None:
    events = event_table([(RTT, EventKind.LINK_RATE, 0, 0)])
    found = run_windows([RATE], [[0]], [RTT // 2], [(0, 10**9, 0)], events)
    assert found.status == RunStatus.STALLED


@pytest.mark.parametrize("seed", range(24))
def test_windows_on_shared_links_are_those_of_the_naive_oracle(seed: int) -> None:
    random = np.random.default_rng(seed)
    rates = [int(rate) * 10**6 for rate in random.integers(20, 200, 3)]
    n = 6
    ways = [sorted(random.choice(3, random.integers(1, 3), replace=False).tolist()) for _ in range(n)]
    delays = [int(delay) * 10**6 for delay in random.integers(500, 3000, n)]
    flows = [(c, int(random.integers(10**4, 10**6)), int(random.integers(0, 20)) * 10**9) for c in range(n)]
    found = run_windows(rates, ways, delays, flows)
    naive = [
        NaiveConnection(ways[c], 2 * delays[c], Fraction(size), start, Fraction(IW), 4000) for c, size, start in flows
    ]
    ends = [end + delay for end, delay in zip(naive_windows(rates, naive, IW), delays, strict=True)]
    assert max(item.window for item in naive) < 128 * 4000  # one round trip is one step
    assert found.end_ps.tolist() == pytest.approx(ends, rel=1e-9)
