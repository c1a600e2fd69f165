"""A change solved where it reaches gives the rates of a solve of everything, on networks with many flows a link."""

import numpy as np
import pytest

from eastwest.simulate.flow.build import event_table, flow_table
from eastwest.simulate.flow.engine import Run
from eastwest.simulate.flow.tables import FlowOutcome, RecordWish
from tests.simulate.flow.leaf_spine import LeafSpine

N_FLOWS = 400
EXACT = 1e-9


def outcome(seed: int, *, solves_all: bool) -> FlowOutcome:
    """A run of random flows; with `solves_all` every batch solves all flows that are connected."""
    random = np.random.default_rng(seed)
    network = LeafSpine(4, 4, 3, 100 * 10**9)
    src = random.integers(0, network.n, N_FLOWS)
    dst = (src + random.integers(1, network.n, N_FLOWS)) % network.n
    paths = network.paths(list(zip(src.tolist(), dst.tolist(), strict=True)), is_sprayed=bool(seed % 2))
    flows = flow_table(
        random.integers(10**5, 10**7, N_FLOWS),
        range(N_FLOWS),
        start_ps=random.integers(0, 10**10, N_FLOWS),
        weight=random.choice([0.5, 1, 3], N_FLOWS),
        cap_bps=random.choice([2 * 10**9, 10**11], N_FLOWS),
    )
    run = Run(network.links, paths, flows, event_table(), RecordWish())
    run.world.state["has_priorities"] = solves_all
    run.advance(10**9)
    return run.outcome()


@pytest.mark.parametrize("seed", range(4))
def test_ends_are_those_of_runs_that_solve_everything_every_time(seed: int) -> None:
    local, whole = outcome(seed, solves_all=False), outcome(seed, solves_all=True)
    assert local.end_ps == pytest.approx(whole.end_ps, rel=EXACT)
    assert local.n_rates < whole.n_rates / 2
