"""The experiments of the documentation, each against its closed form."""

from pathlib import Path

import pytest

from eastwest.simulate.analytic.loss import go_back_n_ratio, window_packets
from eastwest.simulate.result import SimResult
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import load_scenario
from eastwest.units import PS_PER_S

SCENARIOS = Path(__file__).parents[2] / "examples" / "scenarios"
HEADERS = 1 + 82 / 4096  # of full packets
NIC_BYTES_PER_S, NVLINK_BYTES_PER_S = 50e9, 450e9


def result_of(name: str) -> SimResult:
    return run_scenario(load_scenario(SCENARIOS / f"{name}.yaml"))


def seconds(name: str) -> float:
    return result_of(name).time_ps / PS_PER_S


def test_oversubscription_doubles_the_time_of_what_crosses_the_spines() -> None:
    delay_s = 14 * 4e-6  # 14 ring steps over four cables of 1 us
    wire_s = 14 * (2 * 2**30 / 8) * HEADERS / NIC_BYTES_PER_S
    assert seconds("oversubscribed-1to1") == pytest.approx(wire_s + delay_s, rel=1e-5)
    assert seconds("oversubscribed-2to1") == pytest.approx(2 * wire_s + delay_s, rel=1e-5)


def test_gradients_of_50b_take_four_seconds_once_and_eight_as_a_ring() -> None:
    assert seconds("gradients-50b-once") == pytest.approx(4.0, rel=1e-5)
    assert seconds("gradients-50b-ring") == pytest.approx(2 * 63 / 64 * 4 * HEADERS, rel=1e-4)


def test_hierarchy_divides_the_gradients_by_the_nics_of_a_server() -> None:
    across = 2 * 7 / 8 * 25e9 * HEADERS / NIC_BYTES_PER_S
    inside = 2 * 7 / 8 * 200e9 * HEADERS / NVLINK_BYTES_PER_S
    assert seconds("gradients-50b-hierarchical") == pytest.approx(across + inside, rel=1e-3)


def test_of_25_buckets_only_the_last_one_shows() -> None:
    exposed = seconds("gradients-50b-buckets") - 2.0  # the last gradients are ready after 25 x 80 ms
    assert exposed == pytest.approx(seconds("gradients-50b-hierarchical") / 25, rel=1e-2)


def test_hashing_gives_a_third_of_the_line_and_three_cures_give_more() -> None:
    line_s = 1e9 * HEADERS / NIC_BYTES_PER_S
    share = {
        name: line_s / seconds(name)
        for name in ("ecmp-30-percent", "ecmp-cure-hash-fields", "ecmp-cure-queue-pairs", "ecmp-cure-adaptive")
    }
    assert share["ecmp-30-percent"] == pytest.approx(1 / 3, rel=1e-3)
    assert share["ecmp-cure-hash-fields"] == pytest.approx(1 / 2, rel=1e-3)
    assert 0.7 < share["ecmp-cure-queue-pairs"] < 0.85
    assert share["ecmp-cure-adaptive"] == pytest.approx(1, rel=1e-3)


def test_project_x_goes_from_22_minutes_to_9_without_faster_links() -> None:
    """An iteration is what the network does not touch (9 min less the exchange that is left) and 1000 exchanges."""
    exchange = {
        name: 1000 * seconds(f"project-x-{name}") for name in ("1-before", "2-no-loss", "3-no-firewall", "4-after")
    }
    untouched = 540 - exchange["4-after"]
    minutes = {name: (untouched + part) / 60 for name, part in exchange.items()}
    assert minutes["1-before"] == pytest.approx(22, rel=0.15)
    assert minutes["1-before"] / minutes["4-after"] == pytest.approx(22 / 9, rel=0.15)
    gain = exchange["1-before"] - exchange["4-after"]
    parts = [a - b for a, b in zip(list(exchange.values()), list(exchange.values())[1:], strict=False)]
    assert [part / gain for part in parts] == pytest.approx([0.26, 0.52, 0.22], abs=0.01)
    crossed = 1.5e-1 * 400e9 / 8 * 22 * 60  # 15 % of a 400G link for 22 minutes
    assert 1000 * result_of("project-x-1-before").tier_bytes["room"] == pytest.approx(crossed, rel=0.01)


@pytest.mark.parametrize(
    ("rtt_us", "worse", "ratio"), [(12, 0.1, 7.7e-4), (12, 0.2, 1.7e-3), (112, 0.1, 8.3e-5), (112, 0.2, 1.9e-4)]
)
def test_a_loss_that_is_as_bad_as_less_bandwidth(rtt_us: float, worse: float, ratio: float) -> None:
    window = window_packets(400 * 10**9, rtt_us * 1e-6, 4178)
    assert go_back_n_ratio(ratio, window) == pytest.approx(1 - worse, abs=0.01)


def test_tokens_beside_a_burst_get_a_ninth_and_with_a_priority_all_of_their_link() -> None:
    alone_ps = 41e6 * HEADERS / NIC_BYTES_PER_S * 1e12 + 4e6

    def worst(name: str) -> tuple[float, float]:
        flows = result_of(name).flows
        return float(flows.fct_ps[flows.traffic == 1].max()), float(flows.fct_ps[flows.traffic == 0].max())

    shared, isolated = worst("inference-beside-training"), worst("inference-isolated")
    assert shared[0] == pytest.approx(alone_ps * 400 / (800 / 9), rel=0.01)
    assert isolated[0] == pytest.approx(alone_ps, rel=1e-4)
    assert isolated[1] < 1.01 * shared[1]


def test_elephants_that_meet_are_named_with_their_link() -> None:
    (finding,) = [row for row in result_of("elephants-meet").findings if row.code == "EW-SIM-100"]
    assert finding.subject == "leaf0 -> spine0"
    assert "h0 -> h8, h1 -> h16, h2 -> h24" in finding.sentence("en")
