"""TCP's closed forms against other forms of the same and against limits."""

from math import ceil, inf, log2, sqrt

import pytest

from eastwest.simulate.analytic.tcp_rate import mathis_window, pftk_window, policed_ratio, slow_start_s


@pytest.mark.parametrize("segments", [10, 30, 1000, 12_345])
def test_slow_start_takes_the_round_trips_of_cardwells_formula(segments: int) -> None:
    """Number of round trips: log2(S / IW + 1), begun ones counted (Cardwell et al. 2000, eq. 14 with factor 2)."""
    seconds = slow_start_s(segments * 1000, 10_000, 1.0, inf)
    assert ceil(seconds) == ceil(log2(segments / 10 + 1))


def test_slow_start_on_a_full_path_is_the_line_rate() -> None:
    assert slow_start_s(1e6, 1e6, 0.001, 8e6) == 1.0


@pytest.mark.parametrize("loss", [1e-6, 1e-4, 1e-2])
def test_mathis_is_the_known_constant_over_the_root_of_the_loss(loss: float) -> None:
    """1.22 with an acknowledgement for every segment, 0.87 with one for two (Mathis et al. 1997, table 1)."""
    assert mathis_window(loss) * sqrt(loss) == pytest.approx(1.22, abs=0.005)
    assert mathis_window(loss, 2) * sqrt(loss) == pytest.approx(0.87, abs=0.005)
    assert mathis_window(0) == inf


@pytest.mark.parametrize(("loss", "rtt_s", "rto_s"), [(1e-5, 0.01, 0.2), (1e-3, 0.1, 0.4), (0.02, 0.05, 1.0)])
def test_pftk_is_the_throughput_equation_of_rfc_5348(loss: float, rtt_s: float, rto_s: float) -> None:
    """X = s / (R sqrt(2bp/3) + t_RTO 3 sqrt(3bp/8) p (1 + 32 p^2)), b = 1, where the minimum of PFTK does not bind."""
    waiting = rto_s * 3 * sqrt(3 * loss / 8) * loss * (1 + 32 * loss**2)
    rate = 1 / (rtt_s * sqrt(2 * loss / 3) + waiting)
    assert pftk_window(loss, rtt_s, rto_s, 1) == pytest.approx(rate * rtt_s, rel=1e-12)


def test_without_time_outs_pftk_is_mathis() -> None:
    assert pftk_window(1e-4, 0.01, 0.0, 1) == pytest.approx(mathis_window(1e-4), rel=1e-12)
    assert pftk_window(0, 0.01, 0.2) == inf


def sawtooth_ratio(n: int, pipe: int, burst: float) -> float:
    """What a policer lets through of its rate, round trip by round trip, over many teeth: a window a round trip."""
    window, tokens, sent, rounds = pipe / 2, burst, 0.0, 0
    for step in range(400_000):
        tokens = min(tokens + pipe - window, burst)
        if tokens < 0:
            window, tokens = window / 2, 0.0
        if step > 100_000:
            sent, rounds = sent + window, rounds + 1
        window += n
    return sent / rounds / pipe


@pytest.mark.parametrize(("n", "burst"), [(1, 0), (1, 2000), (4, 2000), (4, 60_000), (1, 100_000)])
def test_a_policer_leaves_what_a_stepped_sawtooth_leaves(n: int, burst: float) -> None:
    """Steps of whole segments against the smooth tooth: 1 % at windows of 1,000 segments."""
    assert policed_ratio(n, 1000, burst) == pytest.approx(sawtooth_ratio(n, 1000, burst), rel=0.01)


def test_a_bucket_of_pipe_squared_over_18_n_is_enough() -> None:
    assert policed_ratio(3, 900, 900**2 / 18 / 3) == pytest.approx(1.0)
    assert policed_ratio(3, 900, 900**2 / 18 / 3 * 0.99) < 1
    assert policed_ratio(1, 0, 0) == 1.0
