"""A scenario's `{step: job}` as messages: the job looked up, its work counted, its graph made."""

from __future__ import annotations

import numpy as np

from eastwest.simulate.choice import HashWish, Requests
from eastwest.simulate.messages import Messages, Way
from eastwest.simulate.network import Ints, Network
from eastwest.simulate.routing_paths import Router
from eastwest.simulate.scenario import Scenario
from eastwest.simulate.scenario_traffic import StepWish, TrafficWish
from eastwest.simulate.step_graph import step_graph
from eastwest.simulate.step_rows import StepRows
from eastwest.simulate.step_site import MOST_ZERO, SiteJobs, step_work
from eastwest.spec.mistakes import shown


def step_messages(
    wish: TrafficWish, what: StepWish, scenario: Scenario, network: Network, jobs: SiteJobs | None
) -> tuple[Messages, StepRows] | None:
    """The messages of one step and what they are; None after a mistake: no such training job, weights that are
    sharded, or a step that is repeated.
    """
    known = jobs.training if jobs is not None else ()
    path = (*wish.path, "step")
    if jobs is None or what.job not in known:
        scenario.mistakes.add("EW-SIM-018", path, found=shown(what.job), known=", ".join(known) or "-")
        return None
    zero = int(jobs.job(what.job).facts["zero"])
    if zero > MOST_ZERO:
        scenario.mistakes.add("EW-SIM-019", path, found=shown(what.job), zero=zero)
        return None
    if wish.repeat > 1:
        scenario.mistakes.add("EW-SIM-004", (*wish.path, "repeat"), found=str(wish.repeat), expected="1 beside `step`")
        return None
    router = Router(network, scenario.load_balancing, scenario.hashes or HashWish(), scenario.seed, scenario.transport)

    def delays(src: Ints, dst: Ints) -> Ints:
        pairs = np.unique(src * network.n_hosts + dst)
        src, dst = pairs // network.n_hosts, pairs % network.n_hosts
        way = np.full(len(pairs), Way.THROUGH, np.int8)
        return router.paths(Requests(src, dst, np.zeros_like(src), way)).delay_ps

    return step_graph(step_work(jobs, what.job, network), network.domain, delays)
