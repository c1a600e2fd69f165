"""Family `nvl72`: servers are compute trays of one rack-sized NVLink domain (18 trays of 4 GPUs: 72), so the rack is
the domain, and leaf groups hold whole racks.

A leaf takes as many servers as make whole domains (18 of the 32 ports down of 64 x 400G at 1:1, 54 of 64 on
64 x 800G), and generated racks hold one domain each; ports left over serve nothing until larger leaves come. The first
rail of every tray is one rail of the fabric. What stays inside a domain does not load the network: rings hand over
between racks only. `tiers` are the fewest that hold, one leaf a rail unless `rail_optimized: false`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from eastwest.fabric.clos import build_clos, open_tiers
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.shape import THREE_TIERS, TWO_TIERS
from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.fabric.transfers import where
from eastwest.finding import Finding


def build(inputs: FabricInputs) -> Fabric:
    """The fabric of racks that are scale-up domains, with findings about domains that are cut or not full.

    Source: NVIDIA DGX GB200 User Guide, hardware: 18 compute trays of 4 GPUs in one NVLink domain of 72.
    """
    trays = max(1, inputs.server.scale_up_domain // inputs.server.gpus)
    inputs = replace(inputs, servers_per_rack=trays)
    is_railed = inputs.rail_optimized is not False
    fabric = build_clos(inputs, is_railed, open_tiers(inputs, TWO_TIERS, THREE_TIERS), trays)
    return replace(fabric, findings=(*fabric.findings, *_judge_domains(fabric, trays)))


def _judge_domains(fabric: Fabric, trays: int) -> Iterator[Finding]:
    """Servers that are their own domain, domains whose trays stand in several racks, domains that lack trays."""
    if trays == 1:
        path = "servers[0].scale_up_domain"
        observed, gpus = fabric.scale_up_domain, fabric.gpus_per_server
        yield Finding("EW-FAB-049", "error", "servers", gpus + 1, observed, "GPUs", {"gpus": gpus}, path=path)
        return
    domain = where(fabric).domain_of
    rack = fabric.nodes["rack"][fabric.nodes_of(NodeKind.SERVER)].astype(np.int64)
    pairs = np.unique(np.stack([domain, rack], axis=1), axis=0)
    cut = int(np.count_nonzero(np.bincount(pairs[:, 0]) > 1))
    args = {"trays": trays, "domain": fabric.scale_up_domain}
    if cut:
        yield Finding("EW-FAB-035", "error", "racks", 0, cut, "domains", args, path="rooms")
    sizes = np.bincount(domain)
    partial = int(np.count_nonzero(sizes < trays))
    if partial:
        words = args | {"least": int(sizes.min())}
        yield Finding("EW-FAB-039", "warning", "racks", 0, partial, "domains", words, path="servers")
