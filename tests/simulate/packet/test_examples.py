"""The packet examples of the documentation: each shows what its page says."""

from pathlib import Path

import numpy as np
import pytest

from eastwest.simulate.result import SimResult
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import load_scenario

SCENARIOS = Path(__file__).parents[3] / "examples" / "scenarios"


def run(name: str) -> SimResult:
    return run_scenario(load_scenario(SCENARIOS / f"packet-{name}.yaml"), "packet")


def test_an_incast_with_pauses_is_lossless_and_without_them_waits_for_timers() -> None:
    pauses, lossy, kept = run("incast-pfc"), run("incast-lossy"), run("incast-selective")
    line_ps = 16 * (244 * 4160 + 576 + 64) * 80  # 1 MB: 244 full packets and one of 576 bytes
    assert pauses.time_ps == 5 * (4160 * 80 + 1_000_000) + line_ps + 1_000_000
    timer_ps = 4_096_000 << 14
    assert min(lossy.time_ps, kept.time_ps) > timer_ps
    assert pauses.flows.sent_again is not None
    assert lossy.flows.sent_again is not None
    assert kept.flows.sent_again is not None
    assert pauses.flows.sent_again.sum() == 0
    assert kept.flows.sent_again.sum() < lossy.flows.sent_again.sum() / 2


def test_two_to_one_without_pauses_is_far_below_the_line() -> None:
    result = run("two-to-one")
    assert 2 * 20e6 * 8 / (result.time_ps / 1e12) < 0.2 * 25e9


def test_the_victim_waits_as_long_as_the_incast() -> None:
    result = run("victim")
    fct = result.flows.fct_ps
    assert fct[3] > 0.9 * fct[:3].max()
    assert fct[3] > 2.5 * 5e6 * 80


def test_the_storm_costs_the_neighbour_one_detection_time() -> None:
    result = run("storm")
    alone_ps = 20_000_000 / 4096 * 4178 * 80
    assert result.flows.fct_ps[1] < alone_ps + 3e9


def test_the_deadlock_is_an_error_that_names_all_five_switches() -> None:
    result = run("deadlock")
    (finding,) = [row for row in result.findings if row.code == "EW-SIM-070"]
    assert result.verdict == "fail"
    assert all(f"leaf{number}" in finding.sentence("en") for number in range(5))


def test_all_drops_are_at_the_switch_that_the_policy_missed() -> None:
    result = run("missed-switch")
    assert result.queues is not None
    rows = np.flatnonzero(result.queues.dropped)
    devices = {result.network.names[result.network.links["src"][result.queues.link[row]]] for row in rows.tolist()}
    assert devices == {"leaf1"}


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("packet: {kmin: 2MB, kmax: 1MB}", "packet.kmin"),
        ("packet: {xoff: 64MB}", "packet.xoff"),
        ("packet: {alpha: 0}", "packet.alpha"),
        ("packet: {pmax: 1.5}", "packet.pmax"),
        ("packet: {watchdog: {poll: 200ms, detect: 100ms}}", "packet.watchdog.poll"),
        ("packet: {pfc: some}", "packet.pfc"),
        ("packet: {devices: {leaf0: {colour: red}}}", "colour"),
    ],
)
def test_settings_that_contradict_themselves_name_file_line_and_key(line: str, key: str) -> None:
    from eastwest.errors import InputError
    from eastwest.simulate.scenario import parse_scenario

    text = f"fabric: {{family: fat-tree, k: 4}}\ntraffic: {{pattern: permutation, size: 1MB}}\n{line}\n"
    with pytest.raises(InputError) as caught:
        parse_scenario(text, "mine.yaml")
    assert any(
        "mine.yaml:3" in row.sentence("en") and key in f"{row.sentence('en')} {row.subject}"
        for row in caught.value.findings
    )


@pytest.mark.parametrize(
    "line",
    ["packet: {devices: {leaf99: {pfc: off}}}", "packet: {storms: [{host: h99}]}", "packet: {headroom: 20MB}"],
)
def test_what_the_network_does_not_have_is_refused(line: str) -> None:
    from eastwest.errors import UsageError
    from eastwest.simulate.scenario import parse_scenario

    text = f"fabric: {{family: fat-tree, k: 4}}\ntraffic: {{pattern: permutation, size: 1MB}}\n{line}\n"
    with pytest.raises(UsageError):
        run_scenario(parse_scenario(text, "mine.yaml"), "packet")
