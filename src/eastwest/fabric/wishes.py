"""Wishes that a family cannot follow: keys that it does not have, NIC ports that it does not cable, and numbers that it
had to lower. What a site file asks for is built or named, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding
from eastwest.spec import catalogue
from eastwest.spec.catalogue_models import Nic
from eastwest.spec.hosts import ServerWish
from eastwest.spec.site import Site
from eastwest.spec.switches import FAMILIES, FabricWish
from eastwest.units import format_port_rate

TIERS_OF_FAMILY: Mapping[str, tuple[int, ...]] = {
    "direct": (),
    "dual_plane": (2, 3),
    "dual_tor": (2, 3),
    "leaf_spine": (2, 3),
    "multi_plane": (1, 2, 3),
    "nvl72": (2, 3),
    "rail_only": (1, 2),
    "rail_optimized": (2, 3),
    "single_switch": (1,),
    "three_tier": (3,),
}
USUALLY_TWO = ("leaf_spine", "rail_optimized")  # three tiers only when the site file says so
ALWAYS_RAILED, NEVER_RAILED = ("rail_only", "rail_optimized"), ("leaf_spine", "single_switch", "direct")
BY_PLANES = ("dual_plane", "multi_plane")
Rule = Callable[[FabricWish, str], bool]


def most_tiers(wish: FabricWish, family: str) -> int:
    """Tiers of switches that a fabric of the family may come to have."""
    if wish.tiers is not None and wish.tiers in TIERS_OF_FAMILY[family]:
        return wish.tiers
    return 2 if family in USUALLY_TWO else max(TIERS_OF_FAMILY[family], default=0)


def _has_three(wish: FabricWish, family: str) -> bool:
    return most_tiers(wish, family) > 2


def _has_spines(wish: FabricWish, family: str) -> bool:
    return most_tiers(wish, family) > 1


def _has_leaves(_: FabricWish, family: str) -> bool:
    return bool(TIERS_OF_FAMILY[family])


RULES: Mapping[str, Rule] = {  # field of the fabric's wish -> whether the family follows it
    "controllers": _has_leaves,
    "core": _has_three,
    "cross_rail_ratio": lambda _, family: family == "rail_only",
    "leaf": _has_leaves,
    "link_rate_bps": _has_spines,
    "plane_by": lambda wish, family: family in BY_PLANES or (family != "rail_only" and bool(wish.planes)),
    "planes": _has_leaves,
    "rail_optimized": lambda wish, family: family not in (NEVER_RAILED if wish.rail_optimized else ALWAYS_RAILED),
    "servers_per_leaf": _has_leaves,
    "servers_per_pod": _has_three,
    "spine": _has_spines,
    "spines": _has_spines,
    "tiers": lambda wish, family: wish.tiers in TIERS_OF_FAMILY[family],
}


def judge_wishes(site: Site, inputs: FabricInputs, fabric: Fabric) -> list[Finding]:
    """All findings about wishes that the fabric does not follow."""
    return [*_unknown_keys(site), *_nic_ports(site, inputs), *_lowered(inputs, fabric)]


def _unknown_keys(site: Site) -> Iterator[Finding]:
    """Keys that the family does not have, and the families that have them."""
    wish = site.fabric
    fields = type(wish).model_fields
    for name in sorted(wish.model_fields_set & RULES.keys()):
        value = getattr(wish, name)
        if value is None or value == () or RULES[name](wish, wish.family):
            continue
        key = fields[name].alias or name
        words = f"{key}: {str(value).lower() if isinstance(value, bool) else value}" if name in SHOWN else key
        yield _no_such_key(wish, name, words, f"fabric.{key}")
    for number, room in enumerate(site.rooms):
        if room.pods and not _has_three(wish, wish.family):
            yield _no_such_key(wish, "servers_per_pod", "pods", f"rooms[{number}].pods")


SHOWN = ("rail_optimized", "tiers")  # keys of which some values are followed


def _no_such_key(wish: FabricWish, name: str, words: str, path: str) -> Finding:
    others = ", ".join(family for family in FAMILIES if RULES[name](wish, family))
    args = {"family": wish.family, "others": others or "-"}
    return Finding("EW-FAB-047", "error", words, others, wish.family, "", args, path=path)


def _nic_ports(site: Site, inputs: FabricInputs) -> Iterator[Finding]:
    """NICs whose ports, as the site file or the data sheet gives them, are not those that the family cables."""
    links = inputs.links_per_nic
    for number, (wish, facts) in enumerate(zip(site.servers, inputs.server_facts, strict=True)):
        stated = wish.nic.ports if wish.nic and "ports" in wish.nic.model_fields_set else None
        sold = _sold_as(wish, facts.nic_rate_bps) if stated is None else (stated,)
        if sold and links not in sold:
            each = format_port_rate(facts.nic_rate_bps // links)
            args = {"nic": facts.nic_label, "family": inputs.family, "each": each, "sold": " or ".join(map(str, sold))}
            path = f"servers[{number}].nic.ports"
            yield Finding("EW-FAB-045", "error", facts.name, links, sold[0], "ports", args, path=path)


def _sold_as(wish: ServerWish, rate_bps: int) -> tuple[int, ...]:
    """Numbers of ports with which the data sheet's NIC has that rate in all; empty without a data sheet for it."""
    model = catalogue.get("server", wish.model) if wish.model else None
    name = (wish.nic.model if wish.nic else None) or (model.nic if model else None)
    if name is None:
        return ()
    nic: Nic = catalogue.get("nic", name)
    kinds = ((nic.ports, nic.port_rate_bps), *nic.breakouts)
    return tuple(sorted({ports for ports, rate in kinds if ports * rate == rate_bps}))


def _lowered(inputs: FabricInputs, fabric: Fabric) -> Iterator[Finding]:
    """Servers of a leaf or pod that are fewer than wished, since the ports or whole leaf groups do not give more."""
    for key, wish, fact in (
        ("servers_per_leaf", inputs.servers_per_leaf, "servers_per_leaf_group"),
        ("servers_per_pod", inputs.servers_per_pod, "servers_per_full_pod"),
    ):
        built = fabric.facts.get(fact)
        if wish is not None and built is not None and built < wish:
            yield Finding("EW-FAB-048", "info", key, wish, built, "servers", {}, path=f"fabric.{key}")
