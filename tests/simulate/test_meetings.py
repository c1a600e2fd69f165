"""Elephants that meet on one link every step: how often, how long, how long alone; and when they do not."""

import pytest

from eastwest.simulate.meetings import meetings_of
from eastwest.simulate.prepared import prepare
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import Scenario, parse_scenario

MS = 10**9  # ps


def scenario(starts: tuple[str, str, str], balancing: str = "pinned") -> Scenario:
    """Three senders under one leaf, whose destinations are pinned to one spine."""
    jobs = [
        f"  - {{name: {name}, collective: send_recv, hosts: [{src}, {dst}], size: 1GB, repeat: 10, every: 400ms,"
        f" start: {start}}}"
        for name, src, dst, start in zip("abc", ("h0", "h1", "h2"), ("h8", "h16", "h24"), starts, strict=True)
    ]
    head = "fabric: {family: leaf-spine, leaves: 4, spines: 4, hosts_per_leaf: 8, rate: 400G, delay: 0s}\noverhead: 0\n"
    text = head + f"load_balancing: {balancing}\ntraffic:\n" + "\n".join(jobs)
    return parse_scenario(text, "meet.yaml")


def test_three_elephants_meet_every_step_and_take_three_times_as_long() -> None:
    found = scenario(("0s", "0s", "0s"))
    result = run_scenario(found)
    (meetings,) = meetings_of(prepare(found), result)
    network = result.network
    ends = (network.names[network.links[meetings.link]["src"]], network.names[network.links[meetings.link]["dst"]])
    assert ends == ("leaf0", "spine0")
    assert meetings.pairs == ((0, 8), (1, 16), (2, 24))
    assert meetings.start_ps == tuple(400 * MS * step for step in range(10))
    assert meetings.alone_ps == 20 * MS
    assert meetings.length_ps == (60 * MS,) * 10
    assert (meetings.period_ps, meetings.stretch) == (400 * MS, pytest.approx(3))
    said = [finding for finding in result.findings if finding.code == "EW-SIM-100"]
    assert [finding.subject for finding in said] == ["leaf0 -> spine0"]
    assert "meet 10 times, every 400 ms, for 60 ms where the longest alone takes 20 ms" in said[0].sentence("en")


@pytest.mark.parametrize(
    ("starts", "balancing"),
    [(("0s", "30ms", "60ms"), "pinned"), (("0s", "0s", "0s"), "adaptive")],
    ids=["at-other-times", "on-other-links"],
)
def test_what_never_overlaps_or_has_room_does_not_meet(starts: tuple[str, str, str], balancing: str) -> None:
    found = scenario(starts, balancing)
    assert list(meetings_of(prepare(found), run_scenario(found))) == []


def test_two_that_overlap_by_half_meet_for_as_long_as_both_take() -> None:
    found = scenario(("0s", "10ms", "200ms"))
    (meetings,) = meetings_of(prepare(found), run_scenario(found))
    assert meetings.pairs == ((0, 8), (1, 16))
    assert meetings.length_ps == (40 * MS,) * 10
