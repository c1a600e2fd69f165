"""Family `rail_only`: every rail is a network of its own, and no spine joins the rails.

NIC i of every server goes to leaf i, all of whose ports face servers: 64 servers of 8 NICs stand on eight switches of
64 x 400G. More servers make each rail a leaf-spine of its own (`tiers: 2`). In the words of the glossary each rail is a
plane of one NIC index, so `planes` is the number of rails.

What works: groups inside one server; groups with the same GPUs of each of their servers (data and pipeline parallel of
rail-aligned ranks, whole servers). What does not: GPU 0 of one server with GPU 6 of another, 9 GPUs over two servers:
NCCL gives no guarantee never to cross rails then. `cross_rail: 16:1` adds a thin spine that joins the rails at that
down:up ratio: everything works, what crosses rails slowly.
"""

from __future__ import annotations

from dataclasses import replace

from eastwest.fabric.clos import build_clos, open_tiers
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.rails import lone_rails
from eastwest.fabric.shape import ONE_TIER, TWO_TIERS
from eastwest.fabric.tables import Fabric


def build(inputs: FabricInputs) -> Fabric:
    """The fabric of lone rails, or of rails with a thin spine.

    Source: Wang and others, arXiv:2307.12169 (rail-only networks for LLM training); NVIDIA/nccl issue 836 (why rails
    that do not meet are a risk).
    """
    if inputs.cross_rail_ratio is not None:
        thin = replace(inputs, ratios={**inputs.ratios, "leaf": inputs.cross_rail_ratio})
        return build_clos(thin, True, open_tiers(inputs, TWO_TIERS))
    fabric = build_clos(inputs, True, open_tiers(inputs, ONE_TIER, TWO_TIERS))
    return lone_rails(fabric, inputs, "warning")
