"""What the fabric builder makes of a published design: the one place where its counts come from.

Cables are counted as the tables do: one for each link of a NIC's rate, so a NIC split over two planes is one cable and
an 800G leaf-spine link between 400G NICs is two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from eastwest.errors import InputError
from eastwest.fabric.capacity import split_leaf
from eastwest.fabric.tables import Fabric, LinkKind
from eastwest.fabric.topology import SHORT_OF_PORTS, build
from eastwest.finding import Finding
from eastwest.plan.designs.design import MOST_TIERS, Design, Kind, SwitchSize
from eastwest.spec.resolve import resolve_switch
from eastwest.spec.site import Site
from eastwest.spec.switches import SwitchWish

MOST_LINKS = 400_000  # NIC links of a design that is built: 400,000 are 50,000 servers of 8 NICs
KEPT_BUILDS = 64


@dataclass(frozen=True, slots=True)
class FabricCounts:
    """Counts of one built design; `*_bps` are one way, over all links of that tier; `least_spines` what the ports of
    the spines alone would need, evenly spread or not.
    """

    tiers: int
    fits: bool
    leaves: int
    spines: int
    cores: int
    server_bps: int
    server_links: int
    leaf_spine_bps: int
    spine_core_bps: int
    uplinks: int
    uplink_bps: int
    servers_per_leaf: int
    least_spines: int
    max_gpus: int

    @property
    def switches(self) -> int:
        """Switches of all tiers."""
        return self.leaves + self.spines + self.cores


def counts_of(design: Design) -> FabricCounts | None:
    """The counts of a design in as many tiers as it names, else in the fewest that hold it; None when a number is
    missing, or when the design is larger than what is built.

    A design that its tiers cannot hold is answered with one tier more: `tiers` of the answer then differs. None too
    where three tiers cannot hold it: the counts of what does not fit prove nothing.
    """
    if design.nodes is None or not _is_buildable(design):
        return None
    if design.kind == "direct":
        return _built(design)
    if design.switch is None:
        return None
    grown = with_growth(design)
    found: FabricCounts | None = None
    for tiers in range(first_tiers(design), MOST_TIERS + 1):
        asked = replace(grown, tiers=tiers)
        found = _evenly_filled(with_rail_groups(asked) if tiers == MOST_TIERS else asked) or found
        if found is not None and found.fits:
            return found
    is_too_large = found is not None and (design.gpus or 0) > found.max_gpus
    return None if is_too_large else found


def first_tiers(design: Design) -> int:
    """The tiers that a design is tried in first: as said, else one for lone rails and a single switch, else two."""
    return design.tiers or (2 if design.kind == "clos" else 1)


def others_of(design: Design) -> tuple[FabricCounts, ...]:
    """Counts of the same inputs read in another way that nothing in them excludes.

    Without rails a leaf may take whole servers or single NICs: 40 ports at 1:1 are two servers of 8 NICs, or 20 NICs.
    Where nobody says the tiers and one switch has a port for every NIC, one switch may be meant. The spines of a rail
    may reach the cores half and half.
    """
    if design.nodes is None or design.kind != "clos" or design.planes > 1:
        return ()
    lone = _on_one_switch(design)
    shared = _cores_shared(design) if design.nodes_per_su else None
    return (*_by_leaf(design), *(found for found in (lone, shared) if found is not None))


def _on_one_switch(design: Design) -> FabricCounts | None:
    """The counts of a design on a single switch; None where tiers are named or its ports do not suffice."""
    switch, nics_bps = design.switch, (design.nodes or 0) * design.nics_per_node * design.nic_rate_bps
    if design.tiers or switch is None or design.nodes_per_su or nics_bps > switch.ports * switch.rate_bps:
        return None
    found = _built(replace(design, tiers=1, kind="single_switch"))
    return found if found is not None and found.fits else None


def _cores_shared(design: Design) -> FabricCounts | None:
    """Three tiers of scalable units whose spines of one rail reach the cores in turns: fewer of them suffice.

    Each leaf spreads its uplinks evenly over the spines of its rail, and these have a port up for each port down; not
    every spine reaches every core. Source: DGX SuperPOD A100 reference architecture (RA-10024, recalled): 140 servers,
    56 leaves, 80 spines, 28 cores of 40 ports.
    """
    counts = counts_of(design)
    per_unit, switch, rails = design.nodes_per_su, design.switch, design.nics_per_node
    if counts is None or counts.tiers != MOST_TIERS or switch is None or not per_unit:
        return None
    leaves = ceil((design.nodes or 0) / per_unit)
    if counts.leaves != leaves * rails or not design.rail:
        return None
    half = switch.ports // 2
    even = (n for n in range(1, counts.uplinks + 1) if counts.uplinks % n == 0 and leaves * counts.uplinks <= half * n)
    spines = next(even, None)
    cores = ceil(counts.leaves * counts.uplinks / switch.ports)
    return replace(counts, spines=spines * rails, cores=cores) if spines else None


def _by_leaf(design: Design) -> tuple[FabricCounts, ...]:
    """The counts with leaves that take whole servers, or NICs one by one."""
    if design.nodes is None or design.nodes_per_su:
        return ()
    is_open = "rail-optimized" in design.assumed
    if design.rail and not is_open:
        return ()
    singles = replace(
        design,
        nodes=design.nodes * design.nics_per_node,
        gpus_per_node=1,
        nics_per_node=1,
        rail=False,
        nodes_per_pod=None,
    )
    others = [singles, replace(design, rail=False)] if is_open else [singles]
    return tuple(counts for other in others if (counts := counts_of(other)) is not None and counts.fits)


def _evenly_filled(design: Design) -> FabricCounts | None:
    """The counts with leaves as full as they get, or with servers dealt evenly to them where that saves switches.

    128 servers in four groups of 42 places leave the last group nearly empty: 32 in each need fewer uplinks.
    """
    full = _built(design)
    if full is None or not full.fits or design.nodes is None or design.nodes_per_su is not None:
        return full
    per_leaf = ceil(design.nodes / ceil(design.nodes / full.servers_per_leaf))
    even = _built(replace(design, nodes_per_su=per_leaf)) if per_leaf < full.servers_per_leaf else None
    return even if even is not None and even.fits and even.switches < full.switches else full


def with_growth(design: Design) -> Design:
    """A design of scalable units with the spines that its growth by equal units asks for.

    Units are bought one after the other, each with the same spines: the share of a unit in the largest doubling that
    two tiers hold (A100, 40-port: 4 units need 20 spines, so the first unit brings 5 although 4 would carry it). Where
    that share is no whole number (B300 XDR: 4.5) units do not bring spines of their own, and nothing is raised.
    Source: spine counts of the DGX SuperPOD reference architectures (A100, H100, B200), which follow this rule.
    """
    units, per_unit = design.scalable_units, design.nodes_per_su
    if not units or not per_unit or design.tiers == MOST_TIERS or not design.rail or design.kind != "clos":
        return design
    one = _built(replace(design, nodes=per_unit, tiers=2, controller_links=0))
    if one is None or not one.fits:
        return design
    most_units = one.max_gpus // (per_unit * design.gpus_per_node)
    doubled = 1 << max(0, most_units.bit_length() - 1)
    full = replace(design, nodes=per_unit * doubled, tiers=2, controller_links=0)
    found = _built(full) if _is_buildable(full) else None
    if found is None or not found.fits or found.spines % (doubled * design.planes):
        return design
    return replace(design, least_spines=found.spines // doubled // design.planes * units)


def with_rail_groups(design: Design) -> Design:
    """A three-tier design of scalable units with a group of spines for each rail, as its NICs one by one.

    The leaves of one rail in all units share a group of spines (a few, where they are more than half a spine's ports);
    cores join the groups. To the builder that is one pod a group and a server a NIC. Source: DGX SuperPOD A100
    reference architecture (RA-10024, recalled), spine groups of each rail; DGX SuperPOD B200, compute fabric table.
    """
    per_unit, rails = design.nodes_per_su, design.nics_per_node
    is_meant = design.scalable_units and design.rail and design.nodes_per_pod is None and design.planes == 1
    if not is_meant or not per_unit or not design.nodes or design.switch is None or rails != design.gpus_per_node:
        return design
    leaves = ceil(design.nodes / per_unit)
    groups = ceil(leaves / (design.switch.ports // 2))
    per_pod = ceil(leaves / groups) * per_unit
    if design.nodes % per_pod:
        return design
    nics = design.nodes * rails
    return replace(design, nodes=nics, gpus_per_node=1, nics_per_node=1, nodes_per_pod=per_pod, rail=False)


def most_gpus(switch: SwitchSize, tiers: int, like: Design) -> int | None:
    """GPUs that so many tiers of a switch hold at a design's ratio and NICs; None when the builder has no answer."""
    if tiers == 1:
        kind: Kind = "rail_only" if like.rail and like.nics_per_node > 1 else "single_switch"
        lone = replace(like, switch=switch, tiers=1, nodes=1, nodes_per_su=None, least_spines=1, controller_links=0)
        found = _built(replace(lone, kind=kind if like.kind == "clos" else like.kind))
        return found.max_gpus if found else None
    full = like.nodes_per_su or servers_under_leaf(replace(like, switch=switch)) or 1
    small = replace(like, switch=switch, tiers=tiers, nodes=full, nodes_per_su=full, least_spines=1, controller_links=0)
    found = _built(small)
    return found.max_gpus if found else None


def servers_under_leaf(design: Design) -> int | None:
    """Servers under one group of leaves when it is full, at a design's ratio; None when its switch is not known."""
    if design.switch is None:
        return None
    wish = SwitchWish.model_validate({"ports": design.switch.ports, "rate": design.switch.rate_bps})
    leaf, rate = resolve_switch(wish), design.switch.rate_bps
    parts = design.planes if design.plane_by == "port" else 1
    links = 1 if design.rail else design.nics_per_node
    return split_leaf(leaf, design.nic_rate_bps // parts, rate, links, design.ratio, None, 0).servers


def _is_buildable(design: Design) -> bool:
    return design.nodes is not None and design.nodes * design.nics_per_node * design.planes <= MOST_LINKS


@lru_cache(maxsize=KEPT_BUILDS)
def _built(design: Design) -> FabricCounts | None:
    """The counts of a design as the fabric package builds it; None when its wishes cannot be a site."""
    if design.nodes is None or (design.switch is None and design.kind != "direct"):
        return None
    try:
        fabric = build(Site.model_validate(site_of(design, design.nodes, design.switch)))
    except (InputError, ValueError):
        return None
    short: tuple[Finding, ...] = tuple(f for f in fabric.findings if f.code in SHORT_OF_PORTS)
    return _read(fabric, design.switch, not short)


def site_of(design: Design, nodes: int, switch: SwitchSize | None) -> dict[str, Any]:
    """The site document of a design, in the keys of a site file."""
    fabric: dict[str, Any] = {"family": _family(design)}
    if switch is not None:
        fabric["switch"] = {"ports": switch.ports, "rate": switch.rate_bps}
    if fabric["family"] == "rail_only":
        fabric["tiers"] = design.tiers or 1
    if fabric["family"] not in ("direct", "single_switch", "rail_only"):
        fabric |= {"oversubscription": design.ratio, "planes": design.planes}
    if design.tiers == MOST_TIERS:
        fabric["rail_optimized"] = design.rail
        if design.nodes_per_pod:
            fabric["servers_per_pod"] = design.nodes_per_pod
    if design.nodes_per_su:
        fabric["servers_per_leaf"] = design.nodes_per_su
    if design.controller_links:
        fabric["controllers"] = [{"name": "controller", "links": design.controller_links}]
    if design.least_spines > 1:
        fabric["spines"] = design.least_spines
    if design.planes > 1:
        fabric["plane_by"] = design.plane_by
    ports = design.planes if design.plane_by == "port" else 1
    nic = {"count": design.nics_per_node, "rate": design.nic_rate_bps, "ports": ports}
    server = {"name": "server", "count": nodes, "gpus": design.gpus_per_node, "nic": nic}
    return {"name": "published", "servers": [server], "fabric": fabric}


def _family(design: Design) -> str:
    if design.tiers == MOST_TIERS:
        return "three_tier"
    if design.kind == "direct":
        return "direct"
    if design.tiers == 1:
        return "rail_only" if design.kind == "rail_only" else "single_switch"
    if design.kind == "rail_only":
        return "rail_only"
    return "rail_optimized" if design.rail and design.plane_by == "port" else "leaf_spine"


def _read(fabric: Fabric, switch: SwitchSize | None, fits: bool) -> FabricCounts:
    counts = fabric.as_json()
    links = {kind: fabric.links[fabric.links["kind"] == kind] for kind in LinkKind}
    sums = {kind: int(found["rate_bps"].sum()) for kind, found in links.items()}
    up_bps = int(fabric.facts.get("leaf_up_rate_bps") or 0)
    switch_bps = switch.ports * switch.rate_bps if switch else 1
    tiers = int(counts["tiers"])
    down_share = 2 if tiers == MOST_TIERS else 1  # with cores half of a spine's ports look up
    return FabricCounts(
        tiers=tiers,
        fits=fits,
        leaves=int(counts["leaves"]),
        spines=int(counts["spines"]),
        cores=int(counts["cores"]),
        server_bps=sums[LinkKind.SERVER_LEAF] + sums[LinkKind.DIRECT],
        server_links=len(links[LinkKind.SERVER_LEAF]) + len(links[LinkKind.DIRECT]),
        leaf_spine_bps=sums[LinkKind.LEAF_SPINE],
        spine_core_bps=sums[LinkKind.SPINE_CORE],
        uplinks=int(np.max(fabric.facts.get("leaf_uplinks") or 0)),
        uplink_bps=up_bps,
        servers_per_leaf=int(fabric.facts.get("servers_per_leaf_group") or 0),
        least_spines=ceil(sums[LinkKind.LEAF_SPINE] * down_share / switch_bps),
        max_gpus=fabric.max_gpus,
    )
