"""The subnet manager's part of the policy: routing engine by family, service levels, virtual lanes, adaptive routing,
standby.
"""

from __future__ import annotations

from eastwest.policy.classes import TrafficClass
from eastwest.policy.settings_subnet import Partition, RoutingEngine, SubnetSettings, VlWeight

N_SERVICE_LEVELS = 16  # InfiniBand architecture, four bits
ENGINE_OF_FAMILY: dict[str, RoutingEngine] = {
    "fat_tree": "ftree",
    "dual_plane": "ftree",  # one subnet manager a plane
    "leaf_spine": "ftree",
    "multi_plane": "ftree",
    "nvl72": "ftree",
    "rail_optimized": "ftree",
    "rail_only": "updn",
    "three_tier": "ftree",
    "dragonfly_plus": "dfp",
    "torus": "torus-2QoS",
}
DEFAULT_ENGINE: RoutingEngine = "updn"
MASTER_PRIORITY, STANDBY_PRIORITY = 14, 13  # 0-15, the highest wins; two managers may not be equal
SWEEP_INTERVAL_S = 10.0  # OpenSM default
DEFAULT_PKEY = 0x7FFF  # OpenSM default partition; full membership sets the top bit
HIGH_LIMIT = 4  # in units of 4096 B: high-priority lanes may not starve the others
VL_WEIGHT_STEP = 2  # a class's percent weight, times this, stays below the table's 255


def engine_for(family: str, regular: bool) -> tuple[RoutingEngine, str]:
    """The routing engine of a topology family and why; `regular` says whether all leaves have the same uplinks.

    ftree needs a regular tree; updn only needs to know the roots, and is free of credit loops on any graph.
    """
    engine = ENGINE_OF_FAMILY.get(family, DEFAULT_ENGINE)
    if engine == "ftree" and not regular:
        return "updn", "ftree needs equal uplinks on every leaf; updn is free of credit loops on any tree"
    why = {
        "ftree": "balances shift patterns of all-to-all on a regular tree, free of credit loops",
        "updn": "free of credit loops by never going down and up again",
        "dfp": "made for dragonfly+, with its virtual lanes",
        "torus-2QoS": "made for a torus, with its virtual lanes",
    }
    return engine, why[engine]


def subnet_for(
    family: str, regular: bool, roots: tuple[str, ...], classes: tuple[TrafficClass, ...], adaptive: bool
) -> SubnetSettings:
    """What the subnet manager is told; `roots` are the topmost switches, which up/down routing hangs the tree from."""
    engine, _ = engine_for(family, regular)
    lanes = {
        row.service_level: row
        for row in classes
        if row.service_level is not None and row.service_level < N_SERVICE_LEVELS - 1
    }
    arbitration = tuple(VlWeight(row.virtual_lane or 0, VL_WEIGHT_STEP * (row.weight or 1)) for row in lanes.values())
    to_lane = tuple((lanes[level].virtual_lane or 0) if level in lanes else 0 for level in range(N_SERVICE_LEVELS))
    fallbacks: tuple[RoutingEngine, ...] = ("updn", "minhop") if engine == "ftree" else ("minhop",)
    return SubnetSettings(
        routing_engine=engine,
        fallback_engines=fallbacks,
        root_nodes=roots,
        sl_to_vl=to_lane,
        max_operational_vls=max(1, len(lanes)),
        high_limit=HIGH_LIMIT if len(lanes) > 1 else 0,
        vl_low=arbitration,
        partitions=(Partition("Default", DEFAULT_PKEY, ipoib=True),),
        adaptive_routing=adaptive,
        sharp=False,
        priority=MASTER_PRIORITY,
        standby_priority=STANDBY_PRIORITY,
        sweep_interval_s=SWEEP_INTERVAL_S,
    )
