"""Why a three-tier fabric has its pods, its spine uplinks and its cores: their `Decision`s."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eastwest.decision import Alternative, Decision
from eastwest.fabric import capacity
from eastwest.fabric.capacity import CoreSpread
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.shape import ClosShape
from eastwest.units import format_port_rate, format_ratio


def core_decisions(inputs: FabricInputs, shape: ClosShape, ratio: dict[str, float]) -> Iterator[Decision]:
    """Pods, links of a spine down and up, cores, and the ratio between pods as built."""
    core = shape.largest.core
    if core is None:
        return
    values = _values(inputs, shape, core)
    yield _pods(inputs, shape, values)
    down = values["leaves_of_a_pod"] * values["links_per_pair"]
    because = "a full pod's leaves, each with the same links to every spine of the pod"
    unit = f"links of {format_port_rate(shape.split.up_rate_bps)}"
    yield Decision("fabric.spine.down_ports", down, unit, because, "leaves_of_a_pod * links_per_pair", values)
    yield from _uplinks(inputs, core, values | {"spine_down_links": down})
    yield from _cores(inputs, shape, core, values)
    built = round(ratio["spine"], 6) if "spine" in ratio else None
    because = "bandwidth of a full pod's leaves against its links to cores: what crosses pods is slowed by up to this"
    formula = "spine_down_links * up_rate_bps / (spine_uplinks * core_rate_bps)"
    values = values | {"spine_down_links": down}
    yield Decision("fabric.oversubscription.spine", built, "down:up", because, formula, values)


def _values(inputs: FabricInputs, shape: ClosShape, core: CoreSpread) -> dict[str, Any]:
    """The names that the formulas use."""
    room = shape.largest
    return {
        "spine_ports": inputs.spine.ports,
        "core_ports": inputs.core.ports,
        "core_parts": capacity.parts_at(inputs.core, core.rate_bps),
        "core_rate_bps": core.rate_bps,
        "up_rate_bps": shape.split.up_rate_bps,
        "wish": inputs.spine_oversubscription,
        "groups": room.n_groups,
        "pods": len(room.groups),
        "leaves_of_a_pod": max(room.groups, default=0) * shape.leaves_per_group,
        "links_per_pair": room.spread.per_pair,
        "spines_of_a_pod": room.spread.spines,
        "spine_uplinks": core.uplinks,
        "spines_that_share_a_set": core.shared,
        "cores_of_a_set": core.per_set,
        "planes": inputs.planes,
    }


def _pods(inputs: FabricInputs, shape: ClosShape, values: dict[str, Any]) -> Decision:
    sizes = [n * shape.split.servers for room in shape.rooms for n in room.groups]
    because = f"servers by full pod: {_runs(sizes)}; the fewest switches, then the fewest pods"
    source = "derived"
    if inputs.servers_per_pod:
        because = (
            f"{inputs.servers_per_pod} servers a pod are asked for; leaf groups by pod: {_runs(shape.largest.groups)}"
        )
        source = f"{inputs.source}: servers_per_pod"
    elif any(inputs.pods):
        because = f"as many as are asked for; leaf groups by pod: {_runs(shape.largest.groups)}"
        source = f"{inputs.source}: rooms.pods"
    formula = "ceil(groups / groups of a pod), for the pod size with the fewest spines and cores"
    more = Alternative("more and smaller pods", "more of the traffic crosses cores: locality ends at the pod")
    return Decision("fabric.pods", shape.n_pods, "pods", because, formula, values, source, (more,))


def _runs(sizes: tuple[int, ...] | list[int]) -> str:
    """`4 x 128, 1 x 64` of equal neighbours."""
    runs: list[list[int]] = []
    for size in sizes:
        if runs and runs[-1][1] == size:
            runs[-1][0] += 1
        else:
            runs.append([1, size])
    return ", ".join(f"{count} x {size}" for count, size in runs)


def _uplinks(inputs: FabricInputs, core: CoreSpread, values: dict[str, Any]) -> Iterator[Decision]:
    rate = format_port_rate(core.rate_bps)
    because = "the fastest rate that both ports have and at which every pod reaches every core of a set evenly"
    rates = capacity.uplink_rates(inputs.spine, inputs.core, inputs.nic_port_rate_bps)
    others = tuple(
        Alternative(format_port_rate(r), _rate_reason(r, core.rate_bps)) for r in rates if r != core.rate_bps
    )
    formula = "min(spine_port_rate_bps, core_port_rate_bps), broken out when pods outnumber core ports"
    ends = {"spine_port_rate_bps": inputs.spine.port_rate_bps, "core_port_rate_bps": inputs.core.port_rate_bps}
    ends |= values
    yield Decision("fabric.core_link_rate", core.rate_bps, "bit/s", because, formula, ends, alternatives=others)
    wish = format_ratio(inputs.spine_oversubscription)
    because = f"carry what a full pod's leaves send at {wish}, raised where that spreads over fewer cores"
    formula = "ceil(spine_down_links * up_rate_bps / (wish * core_rate_bps)), a multiple of cores_of_a_set"
    yield Decision("fabric.spine.uplinks", core.uplinks, f"links of {rate}", because, formula, values)


def _rate_reason(rate_bps: int, chosen_bps: int) -> str:
    if rate_bps > chosen_bps:
        return "too few core ports for one link from every spine, or more switches"
    return "more cables for the same bandwidth; needed only when pods outnumber core ports"


def _cores(inputs: FabricInputs, shape: ClosShape, core: CoreSpread, values: dict[str, Any]) -> Iterator[Decision]:
    n = sum(room.cores for room in shape.rooms) * inputs.planes
    because = f"{inputs.core.label}; {core.per_set} a set, one set for every {core.shared} of a pod's spines"
    formula = (
        "planes * spines_of_a_pod / spines_that_share_a_set * cores_of_a_set, the fewest with "
        "pods * spines_that_share_a_set * spine_uplinks / cores_of_a_set <= core_ports * core_parts"
    )
    others: tuple[Alternative, ...] = ()
    if core.cores == 1:
        others = (Alternative(2, "one more switch; with one core its failure cuts every path between pods"),)
    yield Decision("fabric.cores", n, "switches", because, formula, values, alternatives=others)
    because = "equal between every spine and every core of its set"
    formula = "spine_uplinks / cores_of_a_set"
    yield Decision("fabric.links_per_pair.core", core.per_pair, "links", because, formula, values)
