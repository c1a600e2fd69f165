"""The network of a site's `Fabric`: GPUs, NICs behind PCIe slots, scale-up domains, switches, rooms and boxes.

GPU g of a server is the host `{server}/gpu{g}`, and `{server}` alone means its GPU 0; NIC n is `{server}/nic{n}`. PCIe
carries its raw rate times `PCIE_SHARE`. It stops being true where NICs share one slot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eastwest.errors import UsageError
from eastwest.fabric.routing import server_links
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.fabric.transfers import Where, where
from eastwest.policy.headroom import SIGNAL_SPEED_M_PER_S
from eastwest.policy.rtt import HOST_LATENCY_S, SWITCH_LATENCY_S
from eastwest.simulate.network import Draft, Ints, Level, Network, Place
from eastwest.spec import catalogue
from eastwest.spec.resolve import ServerFacts
from eastwest.units import BITS_PER_BYTE, GIGA, PS_PER_S

PCIE_GT_PER_S = {3: 8, 4: 16, 5: 32, 6: 64, 7: 128}  # PCI-SIG base specifications, a lane
PCIE_SHARE = 0.85  # of the raw rate that 256 B payloads leave: 256 / (256 + 24..28) x line code, with flow control
SCALE_UP_DELAY_S = 0.5e-6  # GPU to GPU over one switch of the domain, both halves together; assumed
UNKNOWN_SCALE_UP_BYTES_PER_S = 450e9  # of a GPU whose data sheet gives none: eight H100 in one server
_PLACES = {
    NodeKind.LEAF: Place.LEAF,
    NodeKind.SPINE: Place.SPINE,
    NodeKind.CORE: Place.CORE,
    NodeKind.BOX: Place.BOX,
}
_LEVELS = {LinkKind.LEAF_SPINE: Level.LEAF_SPINE, LinkKind.SPINE_CORE: Level.SPINE_CORE, LinkKind.ROOM: Level.ROOM}


@dataclass(frozen=True, slots=True)
class _Hosts:
    """Nodes and numbers of GPUs and NICs: `nodes` (n_gpus,), `nics` (n_nics,) nodes, `nic` (n_gpus,)."""

    nodes: Ints
    nics: Ints
    nic: Ints


def network_of_fabric(fabric: Fabric, server: ServerFacts) -> Network:
    """The network of a fabric; `server` is the kind of its servers. Raises UsageError for one without switches."""
    if fabric.tiers == 0:
        raise UsageError("a fabric of cables from server to server is not simulated", hint="use a family with switches")
    places, draft = where(fabric), Draft()
    hosts = _add_hosts(draft, fabric, server)
    domain_nodes, domain = _add_domains(draft, fabric, server, hosts, places)
    nodes = _add_switches(draft, fabric)
    up, down = _add_nic_links(draft, fabric, hosts, nodes)
    _add_switch_links(draft, fabric, nodes)
    gpus = np.arange(fabric.n_gpus, dtype=np.int64)
    return Network(
        fabric.family,
        tuple(draft.names),
        draft.all_kinds(),
        draft.links(),
        hosts.nodes,
        gpus // fabric.gpus_per_server,
        domain,
        domain_nodes,
        hosts.nic,
        np.searchsorted(hosts.nic, np.arange(len(hosts.nics), dtype=np.int64)),
        up,
        down,
        np.arange(len(hosts.nics), dtype=np.int64) % fabric.nics_per_server,
        fabric.nics_per_server,
        keeps_rail=places.rail_aligned and fabric.gpus_per_server > 1,
        aliases={fabric.names[number]: number * fabric.gpus_per_server for number in range(fabric.n_servers)},
    )


def pcie_bps(server: ServerFacts) -> int:
    """Bit/s that the slot of one NIC carries; 8 PCIe 7 lanes when the generation is not known.

    Source: PCI-SIG; PCIe 5 x16 carries 512 Gb/s raw, about 435 Gb/s of payload.
    """
    if server.pcie_generation is None:
        return 2 * server.nic_rate_bps
    raw = PCIE_GT_PER_S[server.pcie_generation] * GIGA * server.pcie_lanes
    return int(raw * PCIE_SHARE)


def scale_up_bps(server: ServerFacts) -> int:
    """Bit/s of one GPU into its scale-up domain, one way, by its data sheet."""
    found = catalogue.get("gpu", server.gpu).scale_up_bytes_per_s if server.gpu else None
    return int((found or UNKNOWN_SCALE_UP_BYTES_PER_S) * BITS_PER_BYTE)


def _add_hosts(draft: Draft, fabric: Fabric, server: ServerFacts) -> _Hosts:
    gpus, nics = fabric.gpus_per_server, fabric.nics_per_server
    names = [fabric.names[node] for node in fabric.nodes_of(NodeKind.SERVER).tolist()]
    nodes = draft.add_nodes(Place.HOST, [f"{name}/gpu{g}" for name in names for g in range(gpus)])
    cards = draft.add_nodes(Place.NIC, [f"{name}/nic{n}" for name in names for n in range(nics)])
    gpu = np.arange(len(nodes), dtype=np.int64)
    nic = gpu // gpus * nics + gpu % gpus * nics // gpus
    delay_ps = round(HOST_LATENCY_S * PS_PER_S)
    draft.add_cables(nodes, cards[nic], pcie_bps(server), delay_ps, Level.PCIE)
    return _Hosts(nodes, cards, nic)


def _add_domains(draft: Draft, fabric: Fabric, server: ServerFacts, hosts: _Hosts, places: Where) -> tuple[Ints, Ints]:
    """(n_domains,) switch node of each scale-up domain, -1 of a domain of one GPU, and (n_gpus,) domain of each GPU."""
    domain = places.domain_of[np.arange(fabric.n_gpus) // fabric.gpus_per_server].astype(np.int64)
    if places.domain <= 1:
        return np.full(fabric.n_gpus, -1, np.int64), np.arange(fabric.n_gpus, dtype=np.int64)
    switches = draft.add_nodes(
        Place.SCALE_UP, [f"scaleup{number}" for number in range(int(domain.max(initial=-1)) + 1)]
    )
    half_ps = round(SCALE_UP_DELAY_S * PS_PER_S / 2)
    draft.add_cables(hosts.nodes, switches[domain], scale_up_bps(server), half_ps, Level.SCALE_UP)
    return switches, domain


def _add_switches(draft: Draft, fabric: Fabric) -> tuple[Ints, Ints]:
    """(n_nodes of the fabric,) the node that links into it end at, and the one that links out of it begin at: two nodes
    of a box, -1 of what is no switch.
    """
    into = np.full(len(fabric.nodes), -1, np.int64)
    out = into.copy()
    limits = {box.name: box.rate_limit_bps for link in fabric.room_links for box in link.boxes if box.rate_limit_bps}
    for kind, place in _PLACES.items():
        found = fabric.nodes_of(kind)
        names = [fabric.names[node] for node in found.tolist()]
        into[found] = out[found] = draft.add_nodes(place, names)
        boxes = zip(found.tolist(), names, strict=True) if place == Place.BOX else ()
        for node, name in boxes:
            (far,) = draft.add_nodes(place, [f"{name}:out"])
            out[node] = far
            ends = (fabric.links["a"] == node) | (fabric.links["b"] == node)
            wire = int(fabric.links["rate_bps"][ends].sum())
            draft.add_one_way(into[[node]], out[[node]], limits.get(name) or wire, Level.ROOM)
    return into, out


def _delay_ps(fabric: Fabric, links: Ints) -> Ints:
    found: Ints = np.round(fabric.links["length_m"][links] / SIGNAL_SPEED_M_PER_S * PS_PER_S).astype(np.int64)
    return found


def _add_nic_links(draft: Draft, fabric: Fabric, hosts: _Hosts, nodes: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """(n_nics, n_ports) links from each NIC port to its leaf, and back; -1 where there is none."""
    table = server_links(fabric).reshape(len(hosts.nics), -1)
    up, down = np.full(table.shape, -1, np.int64), np.full(table.shape, -1, np.int64)
    nic, port = np.nonzero(table >= 0)
    links = table[nic, port]
    leaf = nodes[0][fabric.links["b"][links]]
    rate = fabric.links["rate_bps"][links]
    delay = _delay_ps(fabric, links)
    up[nic, port], down[nic, port] = draft.add_cables(
        hosts.nics[nic], leaf, rate, delay, Level.NIC, back_delay_ps=delay + _switch_ps()
    )
    return up, down


def _add_switch_links(draft: Draft, fabric: Fabric, nodes: tuple[Ints, Ints]) -> None:
    """Cables between switches, one direction each, as boxes have an entry and an exit."""
    into, out = nodes
    for kind, level in _LEVELS.items():
        links = fabric.links_of(kind)
        a, b = fabric.links["a"][links], fabric.links["b"][links]
        rate, delay = fabric.links["rate_bps"][links], _delay_ps(fabric, links) + _switch_ps()
        draft.add_pairs((out[a], into[b]), (out[b], into[a]), rate, delay, level)


def _switch_ps() -> int:
    return round(SWITCH_LATENCY_S * PS_PER_S)
