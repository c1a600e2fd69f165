"""The name of the number that a key or a table's cell stands for, by the nouns in it in any order: `leaf_ports_down`,
`down_ports_per_leaf` and `leaf.down` are one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from eastwest.plan.checking.phrases import PLURALS, kind_of_cable
from eastwest.plan.checking.tokens import TIERS, noun_of
from eastwest.plan.designs.terms import plain

KEPT_KEYS = 1024  # different keys whose names are kept: a long table asks for those of its columns on every line
_FILLERS = frozenset(
    [
        "n",
        "num",
        "number",
        "count",
        "counts",
        "total",
        "of",
        "the",
        "qty",
        "quantity",
        "switches",
        "switch",
        "in",
        "and",
        "all",
        "needed",
        "physical",
        "size",
        "by",
        "to",
        "from",
        "network",
        "compute",
        "fabric",
        "cluster",
        "design",
        "topology",
        "leafs",
    ]
)
_RATES = frozenset(("gbps", "rate", "speed", "bps", "gbit", "bandwidth"))
_EACH = frozenset(("per", "each", "every", "a", "one"))
_PLAIN = {"server": "servers", "gpu": "gpus", "nic": "nics", "rail": "rails", "plane": "planes", "tier": "tiers"}
_SPECIAL = {
    "links per pair": "links_per_pair",
    "compute and ufm cables": "server_cables",
    "mtu": "mtu_bytes",
    "functions": "functions",
    "pcie functions": "functions",
    "pcie lanes": "pcie_lanes",
    "pcie gen": "pcie_generation",
    "pcie generation": "pcie_generation",
    "radix": "switch_ports",
    "port": "nic_port_bps",
    "nic port": "nic_port_bps",
    "port rate": "nic_port_bps",
    "nic ports": "nic_parts",
    "ports per nic": "nic_parts",
}


@lru_cache(maxsize=KEPT_KEYS)
def key_name(key: str) -> str:
    """The name of the number that a key stands for; "" when it is not known.

    >>> key_name("leaf_ports_down"), key_name("ports_per_spine"), key_name("per_pod leaf")
    ('leaf_down', 'spine_ports', '')
    """
    words = [word for word in re.split(r"[\W_]+", re.sub(r"super[ _-]spine", "superspine", plain(key).lower())) if word]
    special = _SPECIAL.get(" ".join(words))
    if special:
        return special
    cut = next((i for i, word in enumerate(words) if word in _EACH), len(words))
    head, scope = _nouns(words[:cut]), _nouns([word for word in words[cut:] if word not in _EACH])
    if head is None or scope is None or "group" in (*head, *scope):
        return ""
    if _RATES & set(words):
        return _rate(head)
    return _scoped(head, scope, "total" in words) or ""


def _nouns(words: Sequence[str]) -> list[str] | None:
    """The nouns of some words; None with a word that could mean anything."""
    found: list[str] = []
    for word in words:
        noun = "pair" if word == "pair" else noun_of(word)
        if noun == "switch" or (word in _FILLERS or word in _RATES):
            found += ["switch"] if noun == "switch" else []
        elif noun:
            found.append(noun)
        else:
            return None
    return found


def _rate(head: list[str]) -> str:
    if "nic" in head or head == []:
        return "nic_bps" if head else ""
    if "up" in head:
        return "uplink_bps"
    tier = next((noun for noun in head if noun in TIERS), "")
    return f"{tier or 'switch'}_ports_bps" if "port" in head or tier or "switch" in head else ""


def _scoped(head: list[str], scope: list[str], is_total: bool) -> str:
    """The name by what is counted and the device that it is one of."""
    nouns, tiers = set(head), [noun for noun in (*head, *scope) if noun in TIERS]
    devices = [noun for noun in scope if noun != "switch"]
    if "pair" in nouns | set(scope) or ({"up", "cable"} & nouns and {"leaf", "spine"} <= set(devices)):
        return "links_per_pair"
    if {"down", "up"} & nouns:
        side = "down" if "down" in nouns else "up"
        if is_total:
            return "leaf_spine_cables" if side == "up" else ""
        return f"{tiers[0] if tiers else 'leaf'}_{side}" if set(devices) <= set(TIERS) else ""
    if {"cable", "leafspine", "serverleaf", "spinecore"} & nouns:
        return "" if devices else kind_of_cable(nouns) or "cables"
    if "port" in nouns:
        is_of_nic = "nic" in nouns or bool({"server", "nic"} & set(devices))
        return "" if is_of_nic else f"{tiers[0] if tiers else 'switch'}_ports"
    return _counted(head, devices)


def _counted(head: list[str], devices: list[str]) -> str:
    things = [noun for noun in head if noun != "switch"]
    if not things:
        return "switches" if head and not devices else ""
    thing = things[-1]
    if thing in TIERS:
        return PLURALS[thing] if not devices else f"{PLURALS[thing]}_per_rail" if devices == ["rail"] else ""
    if devices == ["server"]:
        return {"gpu": "gpus_per_server", "nic": "nics_per_server", "rail": "nics_per_server"}.get(thing, "")
    if devices == ["gpu"] and thing == "nic":
        return "nics_per_gpu"
    return "" if devices else _PLAIN.get(thing, "")
