"""A key of a hand-made or published design with its value, as numbers by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from eastwest.plan.checking.words import read_line
from eastwest.plan.designs.design import catalogue_switch
from eastwest.plan.designs.written import port_groups, rate_of, ratio_of, text_of, whole_of

_COUNT_TAIL = r"(?:_switches|_count|s_count)?"
COUNTS: Mapping[str, str] = {  # name of a number: keys that give it
    "gpus": r"(?:n_|total_)?gpus",
    "servers": r"(?:n_)?(?:servers|nodes|hosts)",
    "gpus_per_server": r"gpus_per_(?:server|node|host)",
    "nics_per_server": r"nics_per_(?:server|node|host)",
    "rails": r"(?:n_)?rails",
    "leaves_per_rail": r"(?:leaf|leaves|leafs)_per_rail",
    "leaves": rf"(?:n_)?(?:leaf|leaves|leafs|tor|tors){_COUNT_TAIL}",
    "spines": rf"(?:n_)?(?:spine|spines){_COUNT_TAIL}",
    "cores": rf"(?:n_)?(?:core|cores|super_spines?){_COUNT_TAIL}",
    "switches": r"total_switches|switches",
    "links_per_pair": r"(?:up)?links_per_leaf_per_spine|links_per_(?:leaf_spine_)?pair",
    "server_cables": r"(?:node|server|nic)_(?:leaf_)?(?:cables|links)|compute_and_ufm_cables",
    "leaf_spine_cables": r"leaf_spine_(?:cables|links)",
    "spine_core_cables": r"spine_core_(?:cables|links)",
    "mtu_bytes": r"mtu",
    "functions": r"(?:pcie_)?functions",
    "pcie_lanes": r"pcie_lanes",
    "pcie_generation": r"pcie_gen(?:eration)?",
}
PORTS: Mapping[str, str] = {
    "leaf_down": r"(?:leaf_|tor_)?(?:down_ports|downlinks|down)(?:_per_leaf)?",
    "leaf_up": r"(?:leaf_|tor_)?(?:up_ports|uplinks|up)(?:_per_leaf)?",
    "leaf_ports": r"(?:leaf_|tor_)ports",
    "spine_ports": r"spine_(?:ports|radix)(?:_each)?|ports_per_spine",
    "spine_down": r"spine_down(?:_ports|links)?",
    "spine_up": r"spine_(?:up_ports|uplinks|up)",
    "core_ports": r"core_(?:ports|radix)|ports_per_core",
    "switch_ports": r"radix|switch_radix|switch_ports|ports_per_switch",
}
RATES: Mapping[str, str] = {
    "nic_port_bps": r"(?:nic_)?port(?:_rate)?",
    "nic_bps": r"nic_(?:gbps|rate|speed)|nic",
    "uplink_bps": r"uplink_(?:gbps|rate)",
}
_SWITCH = re.compile(r"switch|switch_model|(?P<tier>leaf|spine|core)(?:_switch|_model|_switch_model)?")
_RATIO = re.compile(r"oversub(?:scription)?(?:_ratio)?|ratio|leaf_oversubscription")


def read_key(words: Sequence[str], value: Any) -> dict[str, Any] | None:
    """Numbers by name of a key (its path in words) and its value; None when a count is no number.

    A key that nothing is known of gives what the words of its value say, which may be nothing.
    """
    path = [re.sub(r"[\s-]+", "_", word.strip().lower()) for word in words]
    for key in dict.fromkeys(("_".join(path[-2:]), path[-1] if path else "")):
        found = _known(key, value)
        if found is not None:
            return found or None
    if isinstance(value, str):
        return read_line(f"{path[-1] if path else ''}: {value}")
    return {}


def _known(key: str, value: Any) -> dict[str, Any] | None:
    """Numbers of a key that is known; {} when its value is none; None when the key is not known."""
    text = text_of(value)
    if _RATIO.fullmatch(key):
        ratio = ratio_of(value)
        return {"ratio": ratio} if ratio else {"wished": text}
    match = _SWITCH.fullmatch(key)
    is_model = key not in ("leaf", "spine", "core") or re.search(r"\d|^\s*none\s*$", text, re.IGNORECASE)
    if match and is_model and isinstance(value, str) and whole_of(value) is None:
        return _switch(f"{match['tier'] or 'switch'}_ports", text)
    for name, pattern in RATES.items():
        if re.fullmatch(pattern, key):
            rate = rate_of(value)
            return {name: rate} if rate else read_line(text) or {"device": text}
    for name, pattern in PORTS.items():
        if re.fullmatch(pattern, key):
            return _ports(name, value)
    for name, pattern in COUNTS.items():
        if re.fullmatch(pattern, key):
            return _count(name, value)
    return None


def _switch(name: str, text: str) -> dict[str, Any]:
    """Ports of a switch from its text: written, or its data sheet's; its words when nobody knows them."""
    groups, model = port_groups(text), catalogue_switch(text)
    if groups:
        return {name: groups[0][0], f"{name}_bps": groups[0][1]}
    if text.strip().lower() in ("none", "no"):
        return {"spines": 0} if name.startswith("spine") else {"wished": text}
    return {name: model.ports, f"{name}_bps": model.rate_bps} if model else {"wished": text}


def _ports(name: str, value: Any) -> dict[str, Any]:
    groups = port_groups(value)
    if groups:
        return {name: groups[0][0], f"{name}_bps": groups[0][1]}
    count = whole_of(value)
    return {name: count} if count is not None else _zero(name, value)


def _count(name: str, value: Any) -> dict[str, Any]:
    count = whole_of(value)
    if count is not None:
        return {name: count}
    return {name: 0} if text_of(value).strip().lower() in ("none", "no", "n/a") else _zero(name, value)


def _zero(name: str, value: Any) -> dict[str, Any]:
    """A count of zero is one; anything else that is no number is none."""
    return {name: 0} if value == 0 and not isinstance(value, bool) else {}
