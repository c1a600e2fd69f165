"""More replicas, each with the same work, on a network that blocks nothing: MFU falls by a few percent, no more."""

import pytest

from eastwest.simulate.analytic.programs import PROGRAMS
from eastwest.simulate.analytic.step import step_seconds
from eastwest.simulate.analytic.step_constants_file import shipped_constants
from tests.simulate.analytic.training_runs import llama_run

SMALL, LARGE = 64, 8192
SEQUENCES = 4  # of one GPU and step
# 7 doublings of the GPUs at 0.4 % of straggling each, (n - 1) / n of a ring from 7/8 to 1, and latency
MOST_LOSS = 0.09


@pytest.mark.parametrize("gpu", ["a100-sxm4-80gb", "h100-sxm5-80gb", "b200-sxm-180gb"])
@pytest.mark.parametrize("framework", [None, "megatron-lm", *PROGRAMS])
@pytest.mark.parametrize(("tp", "zero"), [(8, 0), (8, 1), (1, 3)])
def test_weak_scaling(gpu, framework, tp, zero):
    runs = [
        llama_run(gpu=gpu, framework=framework, tp=tp, zero=zero, gpus=gpus, global_batch=SEQUENCES * gpus // tp)
        for gpus in (SMALL, LARGE)
    ]
    small, large = step_seconds(runs, shipped_constants())
    assert small / large > 1 - MOST_LOSS


def test_small_buckets_cost_no_more_than_a_few_latencies_at_scale():
    """25 MB buckets of PyTorch's DDP over 1,024 servers, as in the run that once took five times as long."""
    small, large = (
        step_seconds([llama_run(framework="nanotron", tp=8, zero=1, gpus=gpus, global_batch=gpus)], shipped_constants())
        for gpus in (SMALL, LARGE)
    )
    assert large[0] / small[0] < 1.1
