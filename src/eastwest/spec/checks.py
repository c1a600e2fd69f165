"""What the schema cannot see in a site file: names that the catalogue does not have, wishes that contradict each other.

Only contradictions are judged here. A design that is legal but poor (blocking, TP across rooms, a firewall in the path)
loads well and gets its findings from the packages that know why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from eastwest.spec import catalogue, keys
from eastwest.spec.catalogue_models import Kind
from eastwest.spec.checks_jobs import JOB_CHECKS
from eastwest.spec.document import Flaw, Path
from eastwest.spec.hosts import ServerWish
from eastwest.spec.qos import REGIMES_OF_TRANSPORT
from eastwest.spec.resolve import gpus_of_servers, resolve_server, servers_of
from eastwest.spec.site import Site
from eastwest.spec.switches import FAMILIES, SwitchWish, is_ports_by_rate
from eastwest.units import format_port_rate

MAX_LATER_NIC_PORTS = 1_000_000  # of a growth step, for which ports are counted and kept
MAX_NIC_PORTS = 131_072  # of a plan, which draws every cable; the largest cluster of 2025 has about as many GPUs
SWITCH_KEYS = ("switch", "leaf", "spine", "core")
# Tiers that need a switch, where they are not a leaf and a spine.
SWITCHES_OF_FAMILY: Mapping[str, tuple[str, ...]] = {
    "direct": (),
    "rail_only": ("leaf",),
    "single_switch": ("leaf",),
    "three_tier": ("leaf", "spine", "core"),
}
# Tiers that a family can have, where they are not two or three.
TIERS_OF_FAMILY: Mapping[str, tuple[int, ...]] = {
    "direct": (),
    "multi_plane": (1, 2, 3),
    "rail_only": (1, 2),
    "single_switch": (1,),
    "three_tier": (3,),
}
_CODE_OF_KIND: Mapping[Kind, str] = {
    "server": "EW-SITE-061",
    "gpu": "EW-SITE-062",
    "nic": "EW-SITE-063",
    "switch": "EW-SITE-064",
    "model": "EW-SITE-065",
}
_OFFERS = 3  # nearest models that a sentence names
_LISTED = 8  # models that a sentence names when none is near


def unknown_models(data: Any) -> list[Flaw]:
    """Flaws for names of hardware and model presets in the user's data that the catalogue does not have."""
    flaws = []
    for path, kind in _named_models(data):
        name = keys.value_at(path, data)
        if isinstance(name, str) and not _is_known(kind, name):
            words = {"found": name[:60], "offers": ", ".join(_offers(kind, name))}
            flaws.append(Flaw(_CODE_OF_KIND[kind], None, path, words | {"expected": list(catalogue.names(kind))}))
    return flaws


def _named_models(data: Any) -> Iterator[tuple[Path, Kind]]:
    """The paths where the user's data may name a model of the catalogue."""
    for index, _ in _items(data, "servers"):
        yield ("servers", index, "model"), "server"
        yield ("servers", index, "gpu"), "gpu"
        yield ("servers", index, "nic", "model"), "nic"
    for path in (*(("fabric", key) for key in SWITCH_KEYS), ("storage", "switch")):
        wish = keys.value_at(path, data)
        if isinstance(wish, str) and not is_ports_by_rate(wish):
            yield path, "switch"
        yield (*path, "model"), "switch"
    for index, job in _items(data, "jobs"):
        model = keys.child(job, "model")
        if isinstance(model, str) and not model.endswith(".json"):
            yield ("jobs", index, "model"), "model"
        yield ("jobs", index, "model", "preset"), "model"


def _items(data: Any, key: str) -> Iterator[tuple[int, Any]]:
    listed = keys.child(data, key)
    yield from enumerate(listed if isinstance(listed, list) else ())


def _is_known(kind: Kind, name: str) -> bool:
    from eastwest.errors import UsageError

    try:
        catalogue.get(kind, name)
    except UsageError:
        return False
    return True


def _offers(kind: Kind, name: str) -> list[str]:
    """The catalogue's nearest names, else those with the same beginning, else the first ones."""
    names, wanted = catalogue.names(kind), catalogue.canonical(name[:60])
    close = get_close_matches(wanted, names, n=_OFFERS, cutoff=0.55)
    close = close or [known for known in names if len(wanted) > 1 and known.startswith(wanted[:2])][:_OFFERS]
    return close or [*names[:_LISTED], *(["…"] if len(names) > _LISTED else [])]


def contradictions(site: Site) -> list[Flaw]:
    """Flaws for wishes of one site that cannot all hold."""
    flaws = [flaw for check in (*_SITE_CHECKS, *_HOST_CHECKS) for flaw in check(site)]
    if any(flaw.code == "EW-SITE-082" for flaw in flaws):
        return flaws  # the number of GPUs is not known
    gpus = gpus_of_servers(servers_of(site))
    return flaws + [flaw for job_check in JOB_CHECKS for flaw in job_check(site, gpus)]


def repeated(names: Sequence[str], path: Callable[[int], Path], code: str) -> Iterator[Flaw]:
    """A flaw for each name that stands a second time; `path` gives the place of the index-th name."""
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in first:
            yield Flaw(code, None, path(index), {"found": name, "first": keys.dotted(path(first[name]))})
        first.setdefault(name, index)


def _room_names(site: Site) -> Iterator[Flaw]:
    yield from repeated([room.name for room in site.rooms], lambda index: ("rooms", index, "name"), "EW-SITE-070")
    known = [room.name for room in site.rooms]
    words = {"known": ", ".join(known) or "-", "expected": known}
    for index, server in enumerate(site.servers):
        if server.room is not None and server.room not in known:
            yield Flaw("EW-SITE-072", None, ("servers", index, "room"), words | {"found": server.room})
    for index, link in enumerate(site.room_links):
        path: Path = ("room_links", index, "between")
        for end in dict.fromkeys(link.between):
            if end not in known:
                yield Flaw("EW-SITE-072", None, path, words | {"found": end})
        if link.between[0] == link.between[1]:
            yield Flaw("EW-SITE-074", None, path, {"found": link.between[0]})


def _rooms_joined(site: Site) -> Iterator[Flaw]:
    """Rooms with servers that no chain of room links joins to the first of them."""
    known = [room.name for room in site.rooms]
    everywhere = any(server.room is None for server in site.servers)
    used = known if everywhere else [name for name in known if any(s.room == name for s in site.servers)]
    if len(used) < 2:
        return
    reached, n_before = {used[0]}, 0
    while len(reached) > n_before:
        n_before = len(reached)
        reached |= {end for link in site.room_links if reached & set(link.between) for end in link.between}
    for name in used:
        if name not in reached:
            yield Flaw("EW-SITE-075", None, ("rooms", known.index(name)), {"found": name, "other": used[0]})


def _rack_places(site: Site) -> Iterator[Flaw]:
    """Racks that would stand where others already stand."""
    for room_index, room in enumerate(site.rooms):
        taken: list[tuple[int, int, int, int]] = []
        for index, rack in enumerate(room.racks):
            first, last = rack.position, rack.position + rack.count - 1
            clash = next((t for t in taken if t[0] == rack.row and t[1] <= last and first <= t[2]), None)
            if clash:
                words = {"row": rack.row, "place": max(first, clash[1]), "first": f"racks[{clash[3]}]"}
                yield Flaw("EW-SITE-100", None, ("rooms", room_index, "racks", index), words)
            taken.append((rack.row, first, last, index))


def _switches(site: Site) -> Iterator[Flaw]:
    wishes = {key: getattr(site.fabric, key) for key in SWITCH_KEYS}
    needed = SWITCHES_OF_FAMILY.get(site.fabric.family, ("leaf", "spine"))
    if wishes["switch"] is None and any(wishes[tier] is None for tier in needed):
        yield Flaw("EW-SITE-080", None, ("fabric",), {"example": "switch: 64x400G"})
    for key, wish in wishes.items():
        if wish is not None and wish.model is None and (wish.ports is None or wish.rate_bps is None):
            yield Flaw("EW-SITE-079", None, ("fabric", key), {"missing": _missing_of_switch(wish)})


def _tiers(site: Site) -> Iterator[Flaw]:
    """A number of tiers that the family does not have."""
    tiers, family = site.fabric.tiers, site.fabric.family
    allowed = TIERS_OF_FAMILY.get(family, (2, 3))
    if tiers is not None and tiers not in allowed:
        fitting = [name for name in FAMILIES if tiers in TIERS_OF_FAMILY.get(name, (2, 3))]
        words = {"found": tiers, "family": family, "fitting": ", ".join(fitting), "expected": list(allowed)}
        choices = " or ".join(map(str, allowed)) or "no tiers"
        yield Flaw("EW-SITE-113", None, ("fabric", "tiers"), words | {"choices": choices})


def _missing_of_switch(wish: SwitchWish) -> str:
    return ", ".join(name for name, value in (("ports", wish.ports), ("rate", wish.rate_bps)) if value is None)


def _transport(site: Site) -> Iterator[Flaw]:
    allowed = REGIMES_OF_TRANSPORT[site.transport]
    if site.loss_regime is not None and site.loss_regime not in allowed:
        words = {"found": site.loss_regime, "transport": site.transport, "choices": ", ".join(allowed)}
        yield Flaw("EW-SITE-090", None, ("loss_regime",), words | {"expected": list(allowed)})


def _qos(site: Site) -> Iterator[Flaw]:
    qos = site.qos
    if qos.kmin_bytes is not None and qos.kmax_bytes is not None and qos.kmin_bytes > qos.kmax_bytes:
        words = {"found": f"{qos.kmin_bytes:,}", "kmax": f"{qos.kmax_bytes:,}", "unit": "B", "expected": qos.kmax_bytes}
        yield Flaw("EW-SITE-081", None, ("qos", "kmin"), words)
    if qos.dscp is not None and qos.dscp == qos.cnp_dscp:
        yield Flaw("EW-SITE-088", None, ("qos", "cnp_dscp"), {"found": qos.cnp_dscp})
    if qos.separate_inference is not False and qos.inference_dscp is not None and qos.inference_dscp == qos.dscp:
        yield Flaw("EW-SITE-089", None, ("qos", "inference_dscp"), {"found": qos.inference_dscp})


def _growth(site: Site) -> Iterator[Flaw]:
    """Growth steps that do not grow."""
    before, since = sum(server.count for server in site.servers), "servers"
    for index, step in enumerate(site.growth.steps):
        path: Path = ("growth", "steps", index, "servers")
        if step.servers <= before:
            words = {"found": step.servers, "before": before, "since": since, "expected": before + 1}
            yield Flaw("EW-SITE-086", None, path, words)
        before, since = step.servers, keys.dotted(path)


def _servers(site: Site) -> Iterator[Flaw]:
    """Server groups that do not say which GPUs they hold."""
    for index, wish in enumerate(site.servers):
        if wish.model is None and (wish.gpu is None or wish.gpus is None):
            missing = [key for key, value in (("gpu", wish.gpu), ("gpus", wish.gpus)) if value is None]
            yield Flaw("EW-SITE-082", None, ("servers", index), {"missing": ", ".join(missing)})
        elif wish.scale_up_domain is not None:
            yield from _scale_up(wish, index)


def _amounts(site: Site) -> Iterator[Flaw]:
    """More NIC ports than a plan can hold, and planes that do not divide the rate of a NIC."""
    facts = [resolve_server(wish) for wish in site.servers if wish.model or (wish.gpu and wish.gpus)]
    by_port = site.fabric.planes if site.fabric.planes and site.fabric.plane_by == "port" else 1
    total = sum(group.count * group.nics for group in facts) * by_port
    sizes: list[tuple[Path, int, int]] = [(("servers",), total, MAX_NIC_PORTS)]
    for index, step in enumerate(site.growth.steps if facts else ()):
        later = step.servers * facts[0].nics * by_port
        sizes.append((("growth", "steps", index, "servers"), later, MAX_LATER_NIC_PORTS))
    for path, ports, most in sizes:
        if ports > most:
            words = {"found": f"{ports:,}", "limit": f"{most:,}", "expected": most}
            yield Flaw("EW-SITE-111", None, path, words)
    for group in facts:
        if group.nic_rate_bps % by_port:
            words = {"found": by_port, "rate": format_port_rate(group.nic_rate_bps)}
            yield Flaw("EW-SITE-112", None, ("fabric", "planes"), words)
            return


def _scale_up(wish: ServerWish, index: int) -> Iterator[Flaw]:
    domain, gpus = wish.scale_up_domain or 1, resolve_server(wish).gpus
    if domain % gpus and gpus % domain:
        words = {"found": domain, "gpus": gpus}
        yield Flaw("EW-SITE-091", None, ("servers", index, "scale_up_domain"), words)


_SITE_CHECKS: tuple[Callable[[Site], Iterator[Flaw]], ...] = (_switches, _tiers, _transport, _qos, _growth, _amounts)
_HOST_CHECKS: tuple[Callable[[Site], Iterator[Flaw]], ...] = (_room_names, _rooms_joined, _rack_places, _servers)
