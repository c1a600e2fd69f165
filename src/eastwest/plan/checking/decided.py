"""Whether a text can be judged: which sums it has to have, what is missing for them, which of its numbers were used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eastwest.plan.checking.ports import Sums
from eastwest.plan.checking.shape import Shape
from eastwest.plan.checking.sheet import Fact, Sheet
from eastwest.plan.designs.design import USUAL_NIC_RATE_BPS

OF_A_DESIGN = frozenset(
    [
        "leaves",
        "spines",
        "cores",
        "switches",
        "leaf_down",
        "leaf_up",
        "leaf_ports",
        "spine_ports",
        "spine_down",
        "spine_up",
        "core_ports",
        "switch_ports",
        "leaf_spine_cables",
        "spine_core_cables",
        "links_per_pair",
        "gpus",
        "servers",
        "nics",
        "leaves_per_rail",
        "spines_per_rail",
    ]
)
NOT_COUNTED = frozenset(
    ("hca", "workload", "device", "wished", "mtu_bytes", "pairs_in_rail", "tiers", "functions", "rooms")
)
OF_A_NIC = frozenset(("pcie_generation", "pcie_lanes", "functions", "nic_port_bps"))
WORDS = {  # what is missing, in words
    "leaves": "leaves",
    "spines": "spines",
    "leaf_down": "ports down of a leaf",
    "nic_bps": "rate of a NIC",
    "leaf_up": "uplinks of a leaf",
    "spine_ports": "ports of a spine",
    "spine_up": "uplinks of a spine",
    "core_ports": "ports of a core",
    "planes": "the design of one plane in a file of its own",
}
_WITH: dict[str, tuple[str, ...]] = {  # a number that only says how another one came about: used where that one is
    "gpus_per_server": ("gpus", "servers"),
    "nics_per_server": ("gpus", "servers", "nics"),
    "nics_per_gpu": ("gpus", "servers"),
    "rails": ("leaves", "leaves_per_rail", "nics_per_server", "nics", "gpus", "servers"),
    "leaves_per_rail": ("rails",),
    "spines_per_rail": ("rails",),
    "links_per_pair": ("leaf_up", "leaf_spine_cables", "spines"),
    "leaf_down": ("leaf_up", "leaf_ports", "links_per_pair", "leaf_spine_cables"),
    "leaf_ports": ("leaf_up", "leaf_down"),
    "ratio": ("leaf_up", "leaf_ports", "gpus"),
    "switch_ports": ("leaf_up", "leaf_down"),
    "cores": ("core_ports",),
    "modules": ("links",),
    "fibres": ("cables", "leaf_spine_cables", "server_cables", "module_ends"),
    "module_ends": ("cables", "leaf_spine_cables", "server_cables", "fibres"),
    "links": ("modules",),
    "ports_of_nic": ("nics", "servers"),
    "room_cables": ("cables", "server_cables"),
    **dict.fromkeys(
        (
            "links_in_all",
            "links_of_cables",
            "server_links",
            "leaf_spine_links",
            "spine_core_links",
            "room_links",
            "direct_links",
        ),
        ("cables", "server_cables"),
    ),
}


@dataclass(frozen=True, slots=True)
class Decided:
    """What keeps a text from being judged: names of missing numbers, and facts that no sum used."""

    missing: tuple[str, ...]
    unused: tuple[Fact, ...]

    @property
    def is_open(self) -> bool:
        """Whether anything does."""
        return bool(self.missing or self.unused)


def decide(sheet: Sheet, shape: Shape, sums: tuple[Sums, ...], is_judged_as_row: bool) -> Decided:
    """The sums that a text needs, against those that were made."""
    counts = {name: fact for name, fact in sheet.facts.items() if name not in NOT_COUNTED and "_b" not in name}
    if is_judged_as_row or not counts.keys() & OF_A_DESIGN:
        return Decided((), ())
    used = frozenset[str]().union(*(item.used for item in sums))
    missing = tuple(dict.fromkeys(_missing(sheet, shape, {item.tier for made in sums for item in made.made})))
    absent = {name for name in ("spines", "cores") if sheet.whole(name) == 0}  # nothing that a sum could use
    left = counts.keys() - absent
    unused = tuple(
        fact for name, fact in counts.items() if name in left and not _is_used(name, used, frozenset(counts))
    )
    return Decided(missing, unused if not missing else ())


def _is_used(name: str, used: frozenset[str], given: frozenset[str]) -> bool:
    return name in used or name in OF_A_NIC or bool(given & set(_WITH.get(name, ())))


def _missing(sheet: Sheet, shape: Shape, tiers: set[str]) -> Iterator[str]:
    """Names of numbers that would let the sums of each tier be made."""
    if shape.spines != 0 and "spine" not in tiers:
        yield from _names(leaves=shape.leaves, spines=shape.spines, spine_ports=shape.spine_ports)
        is_left_to_ports = shape.nic_links is not None and shape.leaf_ports is not None and shape.down is None
        if shape.up is None and shape.uplinks is None and not is_left_to_ports:
            yield "leaf_up"
    has_leaves = shape.spines != 0 or shape.leaves is not None or shape.down is not None
    if shape.nic_links is not None and "leaf" not in tiers and has_leaves:
        yield from _names(leaves=shape.leaves, leaf_down=shape.down or shape.leaf_ports)
    is_fast = max(shape.leaf_bps or 0, shape.spine_bps or 0) > USUAL_NIC_RATE_BPS  # each port may be two or more
    needed = {"leaf"} if shape.spines == 0 else {"leaf", "spine"}
    if is_fast and shape.nic_bps is None and shape.nic_links is not None and not needed <= tiers:
        yield "nic_bps"
    if shape.cores and "core" not in tiers:
        yield from _names(spine_up=shape.spine_up, core_ports=shape.core_ports)
    if max(sheet.whole("planes") or 1, sheet.whole("nic_parts") or 1) > 1:
        yield "planes"


def _names(**numbers: int | None) -> Iterator[str]:
    yield from (name for name, number in numbers.items() if number is None)
