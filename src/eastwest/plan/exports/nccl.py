"""Host order of each job, so that NCCL's ranks land where the plan puts them: `nccl/<job>/rank-order.csv`,
`hostfile`, `hosts-by-rank` and `torchrun.csv`.

`rank-order.csv`: host, GPU, NIC and rank on the host of every rank. `hostfile`: for `mpirun --hostfile`, right by
itself when the ranks of a host follow each other. `hosts-by-rank`: a host a line, rank 0 first, for `srun
--distribution=arbitrary` with SLURM_HOSTFILE or for `mpirun --map-by seq`; it holds for every order. `torchrun.csv`:
the `--node_rank` of each host. Where the plan fills pipeline before data parallel, torchrun cannot interleave hosts;
the Megatron argument in the last column gives the same order with hosts in a row. Left out: an Open MPI rankfile (its
slots are processor cores, which a site file does not know), NCCL_TOPO_FILE (needs the PCIe bus numbers of the server)
and NCCL's variables (the policy has them). Size: about 40 bytes a rank.

Source: Open MPI manual mpirun(1), hostfile and sequential mapper; Slurm manual srun(1), --distribution=arbitrary;
PyTorch torchrun manual, --node_rank; Megatron-LM argument --use-tp-pp-dp-mapping.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eastwest.fabric.placement import ORDERS
from eastwest.fabric.routing import Ints
from eastwest.fabric.tables import NodeKind
from eastwest.plan.exports.names import host_names
from eastwest.plan.plan import Plan
from eastwest.plan.write import csv_text

RANK_HEADER = ("rank", "host", "gpu", "nic", "local_rank")
TORCHRUN_HEADER = ("node_rank", "host", "nproc_per_node", "first_gpu", "rank_order", "megatron_argument")
MEGATRON_ORDER = {ORDERS[0]: "", ORDERS[1]: "--use-tp-pp-dp-mapping"}


@dataclass(frozen=True, eq=False)
class RankOrder:
    """(n_ranks,) server number, GPU and NIC on the server, and rank among the server's ranks, of each rank."""

    server: Ints
    gpu: Ints
    nic: Ints
    local_rank: Ints

    @property
    def in_a_row(self) -> bool:
        """Whether the ranks of every server follow each other, on GPUs in their order."""
        turns = np.count_nonzero(self.server[1:] != self.server[:-1]) + 1
        same = self.server[1:] == self.server[:-1]
        return turns == len(np.unique(self.server)) and bool((self.gpu[1:] > self.gpu[:-1])[same].all())


def files(plan: Plan) -> dict[str, str]:
    """The files of the format."""
    hosts = host_names(plan.fabric)
    servers = [hosts[node] for node in plan.fabric.nodes_of(NodeKind.SERVER).tolist()]
    made: dict[str, str] = {}
    for job, gpus in plan.placement.gpus.items():
        if not len(gpus):
            continue
        ranks = rank_order(gpus, plan.fabric.gpus_per_server, plan.fabric.nics_per_server)
        folder, order = f"nccl/{job}", plan.placement.orders[job]
        made[f"{folder}/rank-order.csv"] = csv_text(RANK_HEADER, _rank_rows(ranks, servers))
        made[f"{folder}/hostfile"] = "\n".join(_hostfile(ranks, servers, order)) + "\n"
        made[f"{folder}/hosts-by-rank"] = "\n".join(servers[i] for i in ranks.server.tolist()) + "\n"
        made[f"{folder}/torchrun.csv"] = csv_text(TORCHRUN_HEADER, _torchrun(ranks, servers, order))
    return made


def rank_order(gpus: Ints, gpus_per_server: int, nics_per_server: int) -> RankOrder:
    """Where each rank sits; `gpus` (n_ranks,) int64 is server x GPUs per server + GPU."""
    server, gpu = gpus // gpus_per_server, gpus % gpus_per_server
    by_server = np.argsort(server, kind="stable")
    _, start, count = np.unique(server[by_server], return_index=True, return_counts=True)
    local = np.empty(len(gpus), np.int64)
    local[by_server] = np.arange(len(gpus)) - np.repeat(start, count)
    return RankOrder(server, gpu, gpu * nics_per_server // gpus_per_server, local)


def _rank_rows(ranks: RankOrder, servers: list[str]) -> Iterator[tuple[object, ...]]:
    columns = (ranks.server.tolist(), ranks.gpu.tolist(), ranks.nic.tolist(), ranks.local_rank.tolist())
    for rank, (server, gpu, nic, local_rank) in enumerate(zip(*columns, strict=True)):
        yield rank, servers[server], gpu, nic, local_rank


def _slots(ranks: RankOrder) -> list[tuple[int, int, int]]:
    """(server, ranks on it, lowest GPU) of each server: by first rank when a server's ranks follow each other, else in
    the order of the GPUs.
    """
    server, first, inverse, count = np.unique(ranks.server, return_index=True, return_inverse=True, return_counts=True)
    lowest = np.full(len(server), np.iinfo(np.int64).max)
    np.minimum.at(lowest, inverse.reshape(-1), ranks.gpu)
    order = np.argsort(first, kind="stable") if ranks.in_a_row else np.arange(len(server))
    return list(zip(server[order].tolist(), count[order].tolist(), lowest[order].tolist(), strict=True))


def _hostfile(ranks: RankOrder, servers: list[str], order: str) -> Iterator[str]:
    yield f"# rank order of the plan: {order} (fastest first)"
    if not ranks.in_a_row:
        yield "# The ranks of a host do not follow each other in this order. Either launch by hosts-by-rank, or keep"
        yield f"# this file and give Megatron-LM {MEGATRON_ORDER.get(order) or 'the order above'}."
    for server, count, _ in _slots(ranks):
        yield f"{servers[server]} slots={count}"


def _torchrun(ranks: RankOrder, servers: list[str], order: str) -> Iterator[tuple[object, ...]]:
    argument = "" if ranks.in_a_row else MEGATRON_ORDER.get(order, "")
    for node_rank, (server, count, gpu) in enumerate(_slots(ranks)):
        yield node_rank, servers[server], count, gpu, order, argument
