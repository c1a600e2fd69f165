"""The books of a run balance, a planted mistake is named by its place, and nothing hangs without a word."""

import numpy as np
import pytest

from eastwest.simulate.flow.tables import RunStatus
from eastwest.simulate.packet import events, run
from eastwest.simulate.packet.balance import Imbalance, imbalances
from eastwest.simulate.packet.events import CLOCK, DUE, INDEX_MASK, MAX_EVENTS, renumber
from eastwest.simulate.packet.outcome import findings_of
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import parse_scenario
from tests.simulate.flow.interpreted import interpreted
from tests.simulate.packet.runs import packet_run
from tests.simulate.packet.test_ladder import CASES, MIXED, MORE

plain_push, plain_take = (interpreted(events, kernel) for kernel in (events.push, events.take))
ONE_SWITCH = "fabric: {family: single-switch, hosts: 3, rate: 100G, delay: 1us}\ntransport: roce\n"
CHAIN = (
    ONE_SWITCH
    + "traffic: {collective: all_reduce, algorithm: ring, ranks: 3, size: 300kB}\n"
    + "packet: {timeout: 3, devices: {leaf0: {mtu: 1500}}%s}\n"
)


KINDS = [*CASES, *MORE]


@pytest.mark.parametrize("case", KINDS, ids=lambda case: "-".join(case[:2]))
def test_the_books_of_every_kind_of_run_balance(case) -> None:
    _, found = packet_run(MIXED % case)
    assert list(imbalances(found.world)) == []


def test_the_books_of_a_run_that_was_broken_off_balance(monkeypatch) -> None:
    """In the middle of everything: queues, wires, pauses and their response times."""
    looks = iter(())

    def stop(_report) -> None:
        if next(looks, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(run, "STRETCH_EVENTS", 3_001)
    for case in (("roce", "ecmp", ""), ("infiniband", "ecmp", "")):
        looks = iter(range(3))
        prepared, _ = packet_run(MIXED % case)
        found = run.run_packets(prepared, prepared.scenario.packet, stop)
        assert found.status == RunStatus.INTERRUPTED
        assert int(found.world.queues["bytes"].sum()) > 0
        assert list(imbalances(found.world)) == []


def test_a_mistake_is_named_by_its_link() -> None:
    prepared, found = packet_run(ONE_SWITCH + "traffic: {collective: send_recv, ranks: 2, size: 1MB}\n")
    in_use = len(found.world.packets) - int(found.world.clock[0]["n_free"])
    found.world.queues["bytes"][4] = 77
    found.world.ingress["bytes"][7] = -5
    found.world.clock[0]["n_free"] -= 1
    assert list(imbalances(found.world)) == [
        Imbalance("packets", -1, in_use, in_use + 1),
        Imbalance("bytes that wait", 1, 0, 77),
        Imbalance("memory of packets", 2, 0, -5),
    ]
    assert [row.code for row in findings_of(prepared, found)] == ["EW-SIM-073"]


@pytest.mark.parametrize("more", ["", ", watchdog: {action: drop, detect: 1ms, restore: 1ms, poll: 1ms}"])
def test_what_waits_for_a_failed_flow_ends_with_it(more: str) -> None:
    """Every packet is too large for the switch: the first step fails, and the run ends, also with a watchdog that looks
    for ever.
    """
    _, found = packet_run(CHAIN % more)
    assert found.status == RunStatus.COMPLETE
    states = found.world.flows["state"]
    assert (int((states == 4).sum()), int((states == 3).sum())) == (3, 9)
    assert int(found.world.clock[0]["n_open"]) == 0


def test_the_finding_of_a_failed_flow_says_so() -> None:
    result = run_scenario(parse_scenario(CHAIN % "", "synthetic.yaml"), "packet")
    assert "EW-SIM-071" in {finding.code for finding in result.findings}
    assert result.verdict == "fail"


def test_events_are_numbered_anew_in_their_order() -> None:
    for has_hole in (False, True):
        heap, clock = np.zeros(64, DUE), np.zeros(1, CLOCK)
        clock[0]["sequence"] = MAX_EVENTS - 40
        for index, at in enumerate([5, 3, 3, 9, 1, 3, 7, 1]):
            plain_push(heap, clock, at, 1, index)
        first = [plain_take(heap, clock) & INDEX_MASK] if has_hole else []
        renumber(heap, clock)
        assert int(clock[0]["sequence"]) == 8 - len(first)
        order = first + [plain_take(heap, clock) & INDEX_MASK for _ in range(8 - len(first))]
        assert order == [4, 7, 1, 2, 5, 0, 6, 3]


def test_a_run_whose_events_were_numbered_anew_is_the_same(monkeypatch) -> None:
    text = MIXED % CASES[0]
    _, found = packet_run(text)
    monkeypatch.setattr(run, "STRETCH_EVENTS", 500)
    monkeypatch.setattr(run, "LAST_NUMBER", 1_000)
    _, again = packet_run(text)
    assert int(again.world.clock[0]["sequence"]) < 3_000 < int(found.world.clock[0]["sequence"])
    assert again.end_ps.tolist() == found.end_ps.tolist()
