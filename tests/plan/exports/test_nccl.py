"""Rank order: every launcher's file puts each rank where the placement puts it."""

import csv
import io

import numpy as np
import pytest

from eastwest.fabric.placement import ORDERS
from eastwest.plan.exports import nccl
from eastwest.plan.plan import make_plan
from eastwest.spec.site import Site
from tests.plan.exports.plans import JOB, SITES, plan_of


def plan_with(parallel, servers=16):
    site = {**SITES["leaf_spine"], "jobs": [{**JOB, "parallel": parallel}]}
    site["servers"] = [{**site["servers"][0], "count": servers}]
    return make_plan(Site.model_validate(site))


def tables(plan):
    files = nccl.files(plan)
    ranks = list(csv.DictReader(io.StringIO(files["nccl/pretrain/rank-order.csv"])))
    nodes = list(csv.DictReader(io.StringIO(files["nccl/pretrain/torchrun.csv"])))
    return files, ranks, nodes


@pytest.mark.parametrize("parallel", [{"tp": 8}, {"tp": 8, "pp": 4}, {"tp": 2, "pp": 4}, {"tp": 1, "pp": 2}])
def test_hosts_by_rank_is_the_placement(parallel):
    plan = plan_with(parallel)
    files, ranks, _ = tables(plan)
    gpus = plan.placement.gpus["pretrain"]
    lines = files["nccl/pretrain/hosts-by-rank"].splitlines()
    assert [int(row["rank"]) for row in ranks] == list(range(len(gpus)))
    assert lines == [row["host"] for row in ranks] == [f"gpu-{gpu // 8 + 1:02d}" for gpu in gpus.tolist()]
    assert [int(row["gpu"]) for row in ranks] == (gpus % 8).tolist()
    assert all(row["nic"] == row["gpu"] for row in ranks)  # eight NICs for eight GPUs
    seen: dict[str, int] = {}
    for row in ranks:
        assert int(row["local_rank"]) == seen.get(row["host"], 0)
        seen[row["host"]] = seen.get(row["host"], 0) + 1


@pytest.mark.parametrize("parallel", [{"tp": 8}, {"tp": 8, "pp": 4}])
def test_torchrun_and_hostfile_fill_hosts_in_the_order_of_the_ranks(parallel):
    files, ranks, nodes = tables(plan_with(parallel))
    by_node = [row["host"] for row in nodes for _ in range(int(row["nproc_per_node"]))]
    assert by_node == [row["host"] for row in ranks]
    assert [int(row["local_rank"]) for row in ranks] == [int(row["gpu"]) for row in ranks]
    slots = [line.split(" slots=") for line in files["nccl/pretrain/hostfile"].splitlines() if line[0] != "#"]
    assert [host for host, n in slots for _ in range(int(n))] == by_node
    assert {row["megatron_argument"] for row in nodes} == {""}


def test_interleaved_ranks_are_named_with_the_argument_that_gives_the_same_order():
    """Megatron's tp-pp-dp order on hosts in a row puts (tp, dp, pp) of each rank where the plan has it."""
    site = {**SITES["rooms"], "jobs": [{**JOB, "parallel": {"tp": 2, "pp": 2}}]}
    plan = make_plan(Site.model_validate(site))
    assert plan.placement.orders["pretrain"] == ORDERS[1]
    files, ranks, nodes = tables(plan)
    tp, dp, pp = 2, 96, 2
    inner, replica, stage = np.meshgrid(np.arange(tp), np.arange(dp), np.arange(pp), indexing="ij")
    rank = (inner + tp * (replica + dp * stage)).ravel()  # tp, dp, pp: Megatron's own order, that of the ledger
    launched = (inner + tp * (stage + pp * replica)).ravel()  # tp, pp, dp: with the argument
    by_node = [(row["host"], gpu) for row in nodes for gpu in range(int(row["nproc_per_node"]))]
    assert [(ranks[r]["host"], int(ranks[r]["gpu"])) for r in rank] == [by_node[n] for n in launched]
    assert {row["megatron_argument"] for row in nodes} == {"--use-tp-pp-dp-mapping"}
    assert "do not follow each other" in files["nccl/pretrain/hostfile"]


def test_fewer_nics_than_gpus_are_shared():
    ranks = nccl.rank_order(np.arange(16), gpus_per_server=8, nics_per_server=4)
    assert ranks.nic.tolist() == [0, 0, 1, 1, 2, 2, 3, 3] * 2


def test_host_names_are_those_of_the_other_files():
    plan = plan_of("hostile")
    assert set(nccl.files(plan)["nccl/pretrain/hosts-by-rank"].split()) <= {
        f"gpu-node-v2-{n:02d}" for n in range(2, 9)
    } | {
        "gpu-node-v2-01-2"  # the controller already has gpu-node-v2-01
    }
