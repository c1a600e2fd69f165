"""Training steps against closed forms: compute and bubble on a network that costs nothing, rings less what hides them,
sends between stages, exchanges behind every pass. Sizes and times are synthetic; results are exact to rounding (1 ps a
row), so tolerances are relative 1e-9.
"""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.simulate.dependencies import is_cyclic
from eastwest.simulate.network import Ints
from eastwest.simulate.result import SimResult
from eastwest.simulate.rings import all_pairs, ring_hops
from eastwest.simulate.step_graph import step_graph
from eastwest.simulate.step_schedule import passes_of
from eastwest.simulate.step_work import Buckets, Exchange, StepWork
from eastwest.workload.ledger import Grid
from tests.simulate.scenarios import codes, found, result

FORWARD_PS, BACKWARD_PS = 3_000_000_000, 6_000_000_000
FORWARD_S, BACKWARD_S = 0.003, 0.006
BYTES_PER_S, HOP_S = 12.5e9, 2e-6  # 100G, two cables of 1 us
EXACT = 1e-9
SWITCH = "fabric: {family: single-switch, hosts: 16, rate: 100G, delay: 1us}\noverhead: 0\n"
FREE = "fabric: {family: single-switch, hosts: 16, rate: 100G, delay: 0us}\noverhead: 0\n"
SITE = """
name: synthetic
servers: [{model: dgx-h100, count: COUNT}]
fabric: {family: leaf_spine, switch: 64x400G, oversubscription: 1:1}
jobs:
  - {name: train, model: llama3-8b, global_batch: 64, parallel: {PARALLEL}MORE}
"""


def work(grid: Grid, n_micro_batches: int = 4, virtual: int = 1, **changes: Any) -> StepWork:
    """A step of equal stages; every chunk has its part of the stage's time."""
    times = np.ones((grid.pp, virtual), np.int64)
    plain = StepWork(
        "train",
        grid,
        np.arange(grid.n_ranks, dtype=np.int64),
        "1f1b",
        virtual,
        n_micro_batches,
        times * FORWARD_PS // virtual,
        times * BACKWARD_PS // virtual,
        0,
    )
    return replace(plain, **changes)


def gradients(n: int, n_buckets: int, size_bytes: int, **changes: Any) -> Buckets:
    """An all-reduce over n ranks of one stage; each sends `size_bytes` of each bucket."""
    plain = Buckets(np.arange(n, dtype=np.int64)[None, :], 2 * (n - 1), n_buckets, (size_bytes,), False, True)
    return replace(plain, **changes)


def hop_delays(src: Ints, dst: Ints) -> Ints:
    """Every hop over the one switch: 2 us."""
    return np.full(len(src), 2_000_000, np.int64)


class Stepper:
    """Runs a step as the traffic of a scenario."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch

    def __call__(self, step: StepWork, fabric: str = SWITCH, engine: str = "flow") -> dict[str, Any]:
        made = lambda wish, what, scenario, network, jobs: step_graph(step, network.domain, hop_delays)  # noqa: E731
        self.patch.setattr("eastwest.simulate.traffic.step_messages", made)
        outcome = result(fabric + "traffic: {step: train}\n", engine)
        (report,) = outcome.details["steps"]
        parts = report["compute_s"] + report["bubble_s"] + sum(report["exposed_s"].values())
        assert parts == pytest.approx(report["step_s"], rel=EXACT)
        first = [row for row in report["timeline"] if row["cell"] == 0]
        assert all(a["end_s"] == pytest.approx(b["begin_s"]) for a, b in pairwise(first))  # no gap, no overlap
        return dict(report)


@pytest.fixture
def step_of(monkeypatch: pytest.MonkeyPatch) -> Stepper:
    return Stepper(monkeypatch)


@pytest.mark.parametrize("engine", ["flow", "analytic"])
@pytest.mark.parametrize(("pp", "m", "virtual"), [(1, 3, 1), (4, 4, 1), (4, 12, 1), (4, 8, 2), (2, 6, 3)])
def test_on_a_free_network_a_step_is_compute_and_bubble(
    step_of: Stepper, pp: int, m: int, virtual: int, engine: str
) -> None:
    # Narayanan et al. 2021, 2.2: bubble / compute = (p - 1) / (v m)
    found = step_of(work(Grid(pp=pp, dp=2), m, virtual), FREE, engine)
    compute_s = m * (FORWARD_S + BACKWARD_S)
    assert found["compute_s"] == pytest.approx(compute_s, rel=EXACT)
    assert found["step_s"] == pytest.approx(compute_s * (1 + (pp - 1) / (virtual * m)), rel=EXACT)
    assert found["bubble_s"] == pytest.approx(compute_s * (pp - 1) / (virtual * m), rel=EXACT)


def test_all_forward_then_all_backward_has_the_same_bubble(step_of: Stepper) -> None:
    found = step_of(work(Grid(pp=4), 8, schedule="gpipe"), FREE)
    assert found["step_s"] == pytest.approx((8 + 3) * (FORWARD_S + BACKWARD_S), rel=EXACT)


@pytest.mark.parametrize("n", [2, 4, 8])
def test_a_ring_that_nothing_hides_is_added_to_the_compute(step_of: Stepper, n: int) -> None:
    size = 1_000_000 * n
    sent = 2 * (n - 1) * size // n
    found = step_of(work(Grid(dp=n), buckets=(gradients(n, 1, sent, overlaps=False),)))
    ring_s = 2 * (n - 1) * (size / n / BYTES_PER_S + HOP_S)
    assert found["exposed_s"]["dp"] == pytest.approx(ring_s, rel=EXACT)
    assert found["step_s"] == pytest.approx(4 * (FORWARD_S + BACKWARD_S) + ring_s, rel=EXACT)


@pytest.mark.parametrize("sent", [2_500_000, 60_000_000])
def test_buckets_hide_behind_the_last_backward_pass(step_of: Stepper, sent: int) -> None:
    n, n_buckets = 4, 5
    found = step_of(work(Grid(dp=n), buckets=(gradients(n, n_buckets, sent),)))
    one_s = sent / BYTES_PER_S + 2 * (n - 1) * HOP_S
    hidden_s = BACKWARD_S * (n_buckets - 1) / n_buckets
    shown_s = max(one_s, n_buckets * one_s - hidden_s)  # either the last bucket alone, or all less what hides them
    assert found["exposed_s"]["dp"] == pytest.approx(shown_s, rel=EXACT)
    assert found["step_s"] == pytest.approx(4 * (FORWARD_S + BACKWARD_S) + shown_s, rel=EXACT)


def test_weights_show_their_first_bucket(step_of: Stepper) -> None:
    n, sent = 4, 2_500_000
    weights = gradients(n, 5, sent, is_weights=True, n_steps=n - 1)
    found = step_of(work(Grid(dp=n), buckets=(weights,), end_ps=1_000_000_000))
    shown_s = sent / BYTES_PER_S + (n - 1) * HOP_S
    assert found["exposed_s"]["dp"] == pytest.approx(shown_s, rel=EXACT)
    assert found["step_s"] == pytest.approx(4 * (FORWARD_S + BACKWARD_S) + shown_s + 0.001, rel=EXACT)


def test_interleaved_buckets_start_with_the_chunk_that_is_finished_first(step_of: Stepper) -> None:
    both = [gradients(2, 4, 1, groups=np.array([[0, 1], [2, 3]]), stage_bytes=(10**6, 10**6))]
    found = step_of(work(Grid(pp=2, dp=2), 4, 2, buckets=tuple(both)), FREE)
    assert 0 < found["exposed_s"]["dp"] < 4 * 10**6 / BYTES_PER_S + 1e-3


def test_a_send_between_stages_shows_once_each_way(step_of: Stepper) -> None:
    size = 25_000_000
    found = step_of(work(Grid(pp=2), 1, stage_bytes=size))
    send_s = size / BYTES_PER_S + HOP_S
    assert found["step_s"] == pytest.approx(2 * (FORWARD_S + BACKWARD_S + send_s), rel=EXACT)
    assert found["exposed_s"]["pp"] == pytest.approx(send_s, rel=EXACT)  # each stage waits for one of the two


def test_an_exchange_of_experts_follows_every_pass(step_of: Stepper) -> None:
    ranks = np.arange(4, dtype=np.int64)[None, :]
    exchange = Exchange("ep", ranks, False, 3_000_000, 6_000_000, 2, 4)
    found = step_of(work(Grid(dp=4, ep=4), exchanges=(exchange,)))
    once_s = (3_000_000 + 6_000_000) / BYTES_PER_S + (2 + 4) * HOP_S
    assert found["exposed_s"]["ep"] == pytest.approx(4 * once_s, rel=EXACT)
    assert found["step_s"] == pytest.approx(4 * (FORWARD_S + BACKWARD_S + once_s), rel=EXACT)


@given(pp=st.integers(1, 6), virtual=st.integers(1, 3), rounds=st.integers(1, 4), stage=st.integers(0, 5))
def test_a_schedule_has_every_pass_once_and_forward_first(pp: int, virtual: int, rounds: int, stage: int) -> None:
    m = pp * rounds
    found = passes_of("1f1b", stage % pp, pp, virtual, m)
    assert len(set(found)) == len(found) == 2 * m * virtual
    for number, one in enumerate(found):
        assert one.is_forward or one._replace(is_forward=True) in found[:number]


@given(pp=st.integers(1, 4), virtual=st.integers(1, 3), rounds=st.integers(1, 3), dp=st.integers(1, 3))
def test_no_step_waits_for_itself(pp: int, virtual: int, rounds: int, dp: int) -> None:
    grid = Grid(pp=pp, dp=dp, tp=2)
    step = work(grid, pp * rounds, virtual if pp > 1 else 1, stage_bytes=1)
    messages, rows = step_graph(step, np.arange(grid.n_ranks), hop_delays)
    assert len(messages) == len(rows)
    assert not len(is_cyclic(messages.parent_first, messages.parents))


def test_rings_turn_with_the_members_of_a_domain() -> None:
    hops = ring_hops(np.arange(4, dtype=np.int64)[None, :], np.arange(4), np.array([0, 0, 1, 1]))
    around = [(int(a), int(b), int(t)) for a, b, t in zip(hops.src, hops.dst, hops.turn, strict=True)]
    assert around == [(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 0, 0), (1, 0, 1), (0, 3, 1), (3, 2, 1), (2, 1, 1)]
    pairs = all_pairs(np.array([[4, 5, 6]]))
    assert sorted(zip(pairs.src.tolist(), pairs.dst.tolist(), strict=True)) == [
        (a, b) for a in (4, 5, 6) for b in (4, 5, 6) if a != b
    ]


def site_file(folder: Path, parallel: str, count: int = 4, more: str = "") -> str:
    """A scenario of one step of a synthetic site in the folder."""
    text = SITE.replace("COUNT", str(count)).replace("PARALLEL", parallel).replace("MORE", more)
    (folder / "site.yaml").write_text(text, encoding="utf-8")
    return "site: site.yaml\noverhead: 0\ntraffic: {step: train}\n"


def step_in(outcome: SimResult) -> dict[str, Any]:
    (report,) = outcome.details["steps"]
    return dict(report)


def test_a_site_s_job_runs_from_its_ledger(tmp_path: Path) -> None:
    outcome = result(site_file(tmp_path, "tp: 2, pp: 2, zero: 1", more=", compute: 2s"), folder=tmp_path)
    report = step_in(outcome)
    assert (report["gpus"], report["micro_batches"], report["schedule"]) == (32, 8, "1f1b")
    # a measured compute of 2 s, and what tensor parallelism adds to it inside the servers
    assert 2 < report["compute_s"] < 2.5
    assert report["bubble_s"] > 2 / 8 * 0.9  # (p - 1) / m of the compute, stages being unequal by the head
    assert report["exposed_s"]["dp"] > 0
    assert report["idle_ratio"] == pytest.approx(1 - report["compute_s"] / report["step_s"])
    assert (outcome.flows.size_bytes > 0).all()  # computations are no flows
    assert "EW-SIM-030" not in found(outcome)


def test_collectives_inside_servers_are_compute_and_others_are_flows(tmp_path: Path) -> None:
    inside = step_in(result(site_file(tmp_path, "tp: 8"), folder=tmp_path))
    outside = step_in(result(site_file(tmp_path, "cp: 16, tp: 1, zero: 1", more=", sequence: 8192"), folder=tmp_path))
    assert inside["exposed_s"]["tp"] == inside["exposed_s"]["cp"] == 0
    assert outside["exposed_s"]["cp"] > 0


def test_steps_that_cannot_run_are_refused_by_name(tmp_path: Path) -> None:
    text = site_file(tmp_path, "tp: 8, zero: 1")
    assert codes(SWITCH + "traffic: {step: train}\n") == ["EW-SIM-018"]
    assert codes(text.replace("train", "other"), tmp_path) == ["EW-SIM-018"]
    assert codes(text.replace("step: train", "step: train, repeat: 2"), tmp_path) == ["EW-SIM-004"]
    assert codes(site_file(tmp_path, "zero: 3"), tmp_path) == ["EW-SIM-019"]
