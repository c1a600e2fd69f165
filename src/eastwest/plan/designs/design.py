"""One published design in the words of the fabric: what a row's inputs say, under whatever key, and what is assumed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, Literal

from eastwest.plan.designs.written import port_groups, rate_of, ratio_of, text_of, whole_of
from eastwest.spec import catalogue
from eastwest.units import GIGA, TERA, format_port_rate

USUAL_GPUS = 8  # of a server without a word about it (HGX and DGX class)
USUAL_NIC_RATE_BPS = 400 * GIGA  # of a design without a word about it (ConnectX-7 class, 2022 to 2025)
USUAL_UNIT = 32  # servers under one group of such leaves: half the ports, so that 1:1 stays possible
PORTS_OF_A_SPLIT_NIC = 2  # the commonest split; more planes than that may be one for each NIC
USUAL_RADIX = 64  # ports of a switch without a word about it (25.6T at 400G)
MOST_TIERS = 3
MOST_RADIX = 4096  # logical ports of one switch; more is taken for no switch
NVL72 = re.compile(r"\bG[BH]\s?[23]00\b|NVL\s?72", re.I)
NVL72_GPUS_PER_RACK = 72  # NVIDIA GB200/GB300 NVL72: 18 trays of 4 GPUs
NVL72_GPUS_PER_SERVER = 4  # GPUs of one compute tray
RAIL_ONLY = re.compile(r"rail[- _]?only", re.I)
SINGLE_SWITCH = re.compile(r"(?:single|one)[- _]switch", re.I)
DIRECT = re.compile(
    r"direct[- _]?(?:cabl|connect|attach)|back[- _]to[- _]back|switch-?less|(?:without|no) (?:a )?switch", re.I
)
Kind = Literal["clos", "rail_only", "single_switch", "direct"]
KEYS: Mapping[str, tuple[str, ...]] = {  # the key of this file: the spellings that tables use
    "gpus": ("n_gpus", "gpu_count", "total_gpus", "accelerators"),
    "nodes": ("servers", "hosts", "n_nodes", "n_servers", "node_count"),
    "gpus_per_node": ("gpus_per_server", "gpus_per_host"),
    "nics_per_node": ("nics_per_server", "rails", "nics", "nics_per_host"),
    "nic_gbps": ("nic_rate", "nic_speed", "nic_rate_gbps", "nic_speed_gbps", "port_gbps", "link_gbps"),
    "radix": ("switch_radix", "switch_ports", "ports_per_switch", "k"),
    "switch": ("leaf_switch", "switch_model", "leaf_model", "rtsw"),
    "oversubscription": ("oversub", "leaf_oversubscription", "oversubscription_ratio", "ratio"),
    "rail_optimised": ("rail_optimized",),
    "nodes_per_su": ("servers_per_su", "nodes_per_scalable_unit", "nodes_per_group", "nodes_per_stripe"),
    "nodes_per_pod": ("servers_per_pod",),
    "scalable_units": ("su", "sus", "units"),
    "tiers": ("n_tiers", "levels", "topology"),
    "planes": ("n_planes",),
    "nic_ports": ("ports_per_nic",),
    "ports": ("endpoints", "host_ports"),
    "stripes": ("n_stripes",),
    "leaf_per_stripe": ("leaves_per_stripe", "leafs_per_stripe"),
    "spines": ("spine", "n_spines"),
    "uplinks_per_leaf_per_spine": ("links_per_leaf_spine_pair", "links_per_leaf_per_spine"),
    "uplink_gbps": ("uplink_rate", "uplink"),
}


@dataclass(frozen=True, slots=True)
class SwitchSize:
    """A switch by its ports: `label` as the row names it, None for ports when only nothing but a name is known."""

    label: str
    ports: int
    rate_bps: int


@dataclass(frozen=True, slots=True)
class Design:
    """What decides the counts of a published design; None where the row says nothing and nothing usual helps.

    `assumed` says in words what the row left open; `parts` are the network ports that share a NIC's rate.
    """

    nodes: int | None = None
    gpus_per_node: int = USUAL_GPUS
    nics_per_node: int = USUAL_GPUS
    nic_rate_bps: int = USUAL_NIC_RATE_BPS
    parts: int = 1
    planes: int = 1
    plane_by: Literal["port", "nic"] = "port"
    switch: SwitchSize | None = None
    tiers: int | None = None
    kind: Kind = "clos"
    ratio: float = 1.0
    rail: bool = True
    nodes_per_su: int | None = None
    nodes_per_pod: int | None = None
    scalable_units: int | None = None
    controller_links: int = 0
    least_spines: int = 1
    assumed: tuple[str, ...] = ()

    @property
    def is_on_assumed_switch(self) -> bool:
        """Whether nobody names the switch, so that counts that rest on its ports prove nothing against a row."""
        return any(text.startswith("switch ") for text in self.assumed)

    @property
    def gpus(self) -> int | None:
        """GPUs of all servers."""
        return self.nodes * self.gpus_per_node if self.nodes else None


def spelled(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs under this file's keys; a key that is known under no name stays as it is."""
    names = {other: key for key, others in KEYS.items() for other in others}
    folded = {str(key).strip().lower().replace("-", "_").replace(" ", "_"): value for key, value in inputs.items()}
    renamed = {names.get(key, key): value for key, value in folded.items() if names.get(key, key) not in folded}
    return {**renamed, **folded}


def read_design(inputs: Mapping[str, Any], family: str = "") -> Design:
    """The design that a row's inputs describe; `family` is the row's own heading."""
    given = spelled(inputs)
    assumed: list[str] = []
    is_rack_scale = bool(NVL72.search(f"{family} {text_of(given.get('gpu'))}"))
    switch = _switch(given)
    rate, parts = _nic(given, switch)
    nodes, gpus_per_node = _size(given, is_rack_scale)
    nics = _nics(given, gpus_per_node, rate)
    ratio, rail = ratio_of(given.get("oversubscription")), given.get("rail_optimised")
    planes = max(whole_of(given.get("planes")) or 1, parts if given.get("dual_tor") is True else 1)
    plane_by = _plane_by(given, planes, nics)
    per_unit = whole_of(given.get("nodes_per_su"))
    tiers = _tiers(given.get("tiers"))
    kind = _kind(f"{family} {text_of(given.get('fabric'))} {text_of(given.get('tiers'))}")
    if kind == "clos" and tiers == 1:
        kind = _one_tier(switch, (nodes or 0) * nics * rate, rail)
    if kind != "direct" and switch is None and nodes and not _needs_switch(given):
        switch = SwitchSize(f"{USUAL_RADIX}x{format_port_rate(rate)}", USUAL_RADIX, rate)
        per_unit = per_unit or USUAL_UNIT
        assumed += [f"switch {switch.label}", f"at most {per_unit} servers a group of leaves"]
    assumed += _untold(given, gpus_per_node, nics, rate)
    return Design(
        nodes=nodes,
        gpus_per_node=gpus_per_node,
        nics_per_node=nics,
        nic_rate_bps=rate,
        parts=max(parts, planes) if rate % max(parts, planes) == 0 else 1,
        planes=planes if rate % planes == 0 or plane_by == "nic" else 1,
        plane_by=plane_by,
        switch=switch,
        tiers=tiers,
        kind=kind,
        ratio=ratio or 1.0,
        rail=rail is not False,
        nodes_per_su=per_unit,
        nodes_per_pod=whole_of(given.get("nodes_per_pod")),
        scalable_units=whole_of(given.get("scalable_units")),
        assumed=tuple(assumed),
    )


def _untold(given: Mapping[str, Any], gpus_per_node: int, nics: int, rate_bps: int) -> list[str]:
    """What the row does not say of its servers and ratio, in words."""
    rail = given.get("rail_optimised")
    told = {
        f"{gpus_per_node} GPUs a server": given.get("gpus_per_node") or (given.get("nodes") and given.get("gpus")),
        f"{nics} NICs a server": given.get("nics_per_node") or given.get("node_bandwidth_gbps"),
        f"NICs of {format_port_rate(rate_bps)}": given.get("nic_gbps") or given.get("nic_ports"),
        "1:1": ratio_of(given.get("oversubscription")),
        "rail-optimized": None if rail is None else True,
    }
    return [words for words, value in told.items() if not value]


def _kind(words: str) -> Kind:
    """What joins the servers, as a row's heading says it: a Clos where it does not."""
    for pattern, kind in ((DIRECT, "direct"), (RAIL_ONLY, "rail_only"), (SINGLE_SWITCH, "single_switch")):
        if pattern.search(words):
            return kind  # type: ignore[return-value]
    return "clos"


def _one_tier(switch: SwitchSize | None, server_bps: int, rail: Any) -> Kind:
    """One switch where all NICs fit on it, or where rails are denied; else a switch a rail."""
    is_enough = switch is not None and 0 < server_bps <= switch.ports * switch.rate_bps
    return "single_switch" if is_enough or rail is False else "rail_only"


def _needs_switch(given: Mapping[str, Any]) -> bool:
    """Whether the row names a switch or chassis whose ports nobody knows: then none may be assumed for it."""
    return any(text_of(given.get(key)).strip() for key in ("switch", "radix", "fabric", "ctsw"))


def _size(given: Mapping[str, Any], is_rack_scale: bool) -> tuple[int | None, int]:
    """Servers and GPUs of one server."""
    nodes, gpus = whole_of(given.get("nodes")), whole_of(given.get("gpus"))
    units, per_unit = whole_of(given.get("scalable_units")), whole_of(given.get("nodes_per_su"))
    usual = NVL72_GPUS_PER_SERVER if is_rack_scale else USUAL_GPUS
    even = gpus // nodes if nodes and gpus and gpus % nodes == 0 else None
    per_node = whole_of(given.get("gpus_per_node")) or even or usual
    if nodes is None and gpus is not None:
        nodes = ceil(gpus / per_node)
    if nodes is None and units and per_unit:
        nodes = whole_of(units * per_unit)
    return nodes or _of_parts(given, per_node), per_node


def _of_parts(given: Mapping[str, Any], per_node: int) -> int | None:
    """Servers of a design that names its parts only: 15 segments of 1,024 GPUs."""
    for parts, singular in (("segments", "segment"), ("pods", "pod"), ("stripes", "stripe")):
        n = whole_of(given.get(parts))
        nodes, gpus = whole_of(given.get(f"nodes_per_{singular}")), whole_of(given.get(f"gpus_per_{singular}"))
        if n and (nodes or gpus):
            return whole_of(n * nodes if nodes else ceil(n * (gpus or 0) / per_node))
    return None


def _plane_by(given: Mapping[str, Any], planes: int, nics: int) -> Literal["port", "nic"]:
    """What a plane holds: as said, else a NIC index where there are as many planes as NICs and no NIC is split."""
    said = text_of(given.get("plane_by")).lower()
    if said:
        return "nic" if re.search(r"nic|index|rail", said) and "port" not in said else "port"
    is_split = given.get("nic_ports") or given.get("dual_tor")
    return "nic" if planes > PORTS_OF_A_SPLIT_NIC and planes == nics and not is_split else "port"


def _nics(given: Mapping[str, Any], gpus_per_node: int, rate: int) -> int:
    """NICs of one server: as said, else its bandwidth over a NIC's rate, else one a GPU."""
    said, total = whole_of(given.get("nics_per_node")), rate_of(given.get("node_bandwidth_gbps"))
    return said or (max(1, total // rate) if total else gpus_per_node)


def _nic(given: Mapping[str, Any], switch: SwitchSize | None) -> tuple[int, int]:
    """Rate of a NIC, and the network ports that share it: `2x200G` is 400G in two."""
    groups = port_groups(given.get("nic_ports"))
    parts = groups[0][0] if groups else whole_of(given.get("nic_ports")) or 1
    rate = rate_of(given.get("nic_gbps")) or (groups[0][0] * groups[0][1] if groups else None)
    if rate is None:
        rate = rate_of(given.get("nic"))
    usual = min(USUAL_NIC_RATE_BPS, switch.rate_bps) if switch else USUAL_NIC_RATE_BPS
    return rate or usual, parts


def _tiers(value: Any) -> int | None:
    """Tiers of switches: 2 of `2`, `two-tier` or `2-tier Clos`; None for anything else."""
    number = whole_of(value)
    if number is not None:
        return number if number <= MOST_TIERS else None
    words = {"one": 1, "single": 1, "two": 2, "leaf-spine": 2, "three": 3}
    text = text_of(value).lower()
    return next((tiers for word, tiers in words.items() if word in text), None)


def _switch(given: Mapping[str, Any]) -> SwitchSize | None:
    """The switch of a row: its ports as written, else a catalogue model, else its radix or its capacity at NIC rate."""
    text = text_of(given.get("switch"))
    groups = port_groups(text) or port_groups(given.get("leaf"))
    radix = whole_of(given.get("radix"))
    rate = rate_of(given.get("nic_gbps")) or USUAL_NIC_RATE_BPS
    if groups:
        return _sized(text, *groups[0])
    model = catalogue_switch(text) or catalogue_switch(text_of(given.get("leaf")))
    if model:
        return model if radix is None else _sized(text, radix, model.rate_bps)
    if radix is not None:
        return _sized(f"{radix}x{format_port_rate(rate)}", radix, rate)
    capacity = rate_of(text)
    if capacity is not None and capacity >= TERA:
        return _sized(text, capacity // USUAL_NIC_RATE_BPS, USUAL_NIC_RATE_BPS)
    return _sized(text, USUAL_RADIX, rate) if re.search(r"spectrum-?4", text, re.I) else None


def _sized(label: str, ports: int, rate_bps: int) -> SwitchSize | None:
    return SwitchSize(label, ports, rate_bps) if 2 <= ports <= MOST_RADIX else None


def catalogue_switch(text: str) -> SwitchSize | None:
    """The first catalogue switch that a text names: `Arista 7060X6-64PE` by its model, name or alias."""
    words = {catalogue.canonical(word) for word in re.findall(r"[A-Za-z0-9][\w-]*", text)}
    for name, facts in _models():
        if words & facts or catalogue.canonical(text) in facts:
            model = catalogue.get("switch", name)
            return SwitchSize(model.name, model.ports, model.port_rate_bps)
    return None


@cache
def _models() -> tuple[tuple[str, frozenset[str]], ...]:
    """Each catalogue switch and the words that name it."""
    return tuple((name, frozenset(_words(name))) for name in catalogue.names("switch"))


def _words(name: str) -> Iterator[str]:
    model = catalogue.get("switch", name)
    yield name
    yield from model.aliases
    yield catalogue.canonical(model.name)
    short = catalogue.canonical(model.name).removeprefix(f"{catalogue.canonical(model.vendor)}-")
    yield short
    yield short.removesuffix("-ra")
