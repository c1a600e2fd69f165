"""Queues and packet memory of every node: as the scenario says for all switches, and for single ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.errors import UsageError
from eastwest.simulate.network import Ints, Network, Place
from eastwest.simulate.packet.buffer import INGRESS, NODE
from eastwest.simulate.packet.kernel import NONE, Records, table
from eastwest.simulate.packet.params import (
    MOST_QUANTA,
    QUANTUM_BITS,
    DeviceWish,
    PacketParams,
    ecn_limits,
    headroom_of,
)
from eastwest.simulate.packet.queues import CONTROL, N_LANES, QUEUE, RDMA, TCP
from eastwest.spec.mistakes import shown

PS_PER_S = 1_000_000_000_000
SWITCHES = (Place.LEAF, Place.SPINE, Place.CORE)
LOSSLESS_TRANSPORTS = ("dcqcn", "infiniband", "roce", "swift")
PRIORITY = {CONTROL: 6, RDMA: 3, TCP: 0}  # on the wire; 3 and 6 as NVIDIA's and SONiC's defaults
TURN_BYTES = 8192  # of deficit round robin: two packets of 4096
CONTROL_ALPHA = 8.0  # answers and notices are small and few: dynamic_th 3
ETHERNET_BYTES = 38  # preamble, gap, header and check sequence around an IP packet
NO_MARK = int(np.iinfo(np.int64).max)


def _devices(network: Network, params: PacketParams) -> list[tuple[int, DeviceWish]]:
    """Node and wish of each switch that differs. Raises UsageError for a name that is no switch."""
    found = []
    for device in params.devices:
        node = network.index.get(device.name, NONE)
        if node == NONE or network.kinds[node] not in SWITCHES:
            known = [name for name, kind in zip(network.names, network.kinds, strict=True) if kind in SWITCHES]
            words = f"packet.devices: no switch {shown(device.name)}"
            raise UsageError(words, hint=f"switches: {', '.join(known[:8])}")
        found.append((node, device))
    return found


def queues_of(network: Network, params: PacketParams) -> Records:
    """(n_links * N_LANES,) QUEUE of the transmitters, empty."""
    n_links, links = len(network.links), network.links
    rows = table(n_links * N_LANES, QUEUE)
    rows["first"] = rows["last"] = NONE
    lane = np.tile(np.arange(N_LANES), n_links)
    rows["priority"] = np.array([PRIORITY[number] for number in range(N_LANES)])[lane]
    rows["quantum_bytes"] = np.where(lane == CONTROL, 0, TURN_BYTES)
    rows["alpha"] = np.where(lane == CONTROL, CONTROL_ALPHA, params.lossy_alpha)
    rows["kmin_bytes"] = rows["kmax_bytes"] = NO_MARK
    rows["pmax"] = params.pmax
    limits = _by_rate(links["rate_bps"], params)
    ecn, kmin, kmax = np.full(n_links, params.ecn), limits[:, 0].copy(), limits[:, 1].copy()
    for node, device in _devices(network, params):
        ports = links["src"] == node
        if device.ecn is not None:
            ecn[ports] = device.ecn
        if device.kmin_bytes is not None:
            kmin[ports] = device.kmin_bytes
        if device.kmax_bytes is not None:
            kmax[ports] = device.kmax_bytes
    marks = np.flatnonzero(ecn & np.isin(network.kinds[links["src"]], SWITCHES))
    rows["kmin_bytes"][marks * N_LANES + RDMA], rows["kmax_bytes"][marks * N_LANES + RDMA] = kmin[marks], kmax[marks]
    return rows


def _by_rate(rate_bps: Ints, params: PacketParams) -> Ints:
    """(n, 2) Kmin and Kmax of each rate."""
    rates, number = np.unique(rate_bps, return_inverse=True)
    return np.array([ecn_limits(params, int(rate)) for rate in rates], np.int64).reshape(-1, 2)[number.reshape(-1)]


def memory_of(network: Network, transport: str, params: PacketParams, packet_bytes: int) -> tuple[Records, Records]:
    """(n_links * N_LANES,) INGRESS where each link ends, and (n_nodes,) NODE. Raises UsageError when headroom leaves
    nothing to share.
    """
    links, n_nodes = network.links, len(network.names)
    n_links = len(links)
    ingress, nodes = table(n_links * N_LANES, INGRESS), np.zeros(n_nodes, NODE)
    lane = np.tile(np.arange(N_LANES), n_links)
    at = np.repeat(links["dst"].astype(np.int64), N_LANES)
    place = network.kinds[at]
    ingress["node"] = at
    ingress["alpha"], ingress["limit_bytes"] = params.alpha, params.xoff_bytes
    ingress["xon_offset_bytes"] = params.xon_offset_bytes
    pause_ps = MOST_QUANTA * (QUANTUM_BITS * PS_PER_S // np.maximum(links["rate_bps"], 1))
    ingress["pause_ps"] = np.repeat(pause_ps, N_LANES)
    ingress["is_lossless"] = _lossless(place, lane, transport, params.pfc)
    room = np.repeat(_headroom(links, params, packet_bytes), N_LANES)
    total = np.where(np.isin(network.kinds, SWITCHES), params.buffer_bytes, 0)
    for node, device in _devices(network, params):
        here = at == node
        if device.pfc is not None:
            ingress["is_lossless"][here] = _lossless(place[here], lane[here], transport, device.pfc)
        for field, value in (("alpha", device.alpha), ("limit_bytes", device.xoff_bytes)):
            if value is not None:
                ingress[field][here] = value
        room[here] = room[here] if device.headroom_bytes is None else device.headroom_bytes
        total[node] = total[node] if device.buffer_bytes is None else device.buffer_bytes
    ingress["headroom_bytes"] = np.where(ingress["is_lossless"] > 0, room, 0)
    ingress["reserved_bytes"] = np.where((place != Place.HOST) & (lane == RDMA), params.reserved_bytes, 0)
    taken = np.bincount(at, ingress["headroom_bytes"] + ingress["reserved_bytes"], n_nodes).astype(np.int64)
    total = np.where(np.isin(network.kinds, SWITCHES), total, params.nic_buffer_bytes + taken)
    nodes["shared_bytes"], nodes["cell_bytes"] = total - taken, params.cell_bytes
    short = np.flatnonzero(nodes["shared_bytes"] <= packet_bytes)
    if len(short):
        node = int(short[0])
        raise UsageError(
            f"{network.names[node]}: headroom and reserved bytes of its ports take {taken[node]:,} of its "
            f"{total[node]:,} bytes",
            hint="give `packet: buffer` more, or `packet: headroom` less",
        )
    return ingress, nodes


def _lossless(place: NDArray[np.int8], lane: Ints, transport: str, pfc: str) -> NDArray[np.bool_]:
    """(n,) whether a group at such a place is lossless; NICs and scale-up switches always hold back what they cannot
    pass on, boxes never do.
    """
    holds = {"off": np.zeros(len(lane), np.bool_), "rdma": lane == RDMA, "all": np.ones(len(lane), np.bool_)}[pfc]
    is_switch = np.isin(place, SWITCHES)
    wanted = holds if transport in LOSSLESS_TRANSPORTS or pfc == "all" else np.zeros(len(lane), np.bool_)
    found: NDArray[np.bool_] = np.where(
        is_switch, wanted, np.isin(place, (Place.NIC, Place.SCALE_UP)) & (lane != CONTROL)
    )
    return found


def _headroom(links: NDArray[np.void], params: PacketParams, packet_bytes: int) -> Ints:
    """(n_links,) bytes of headroom of a group behind each link."""
    keys, number = np.unique(np.stack([links["rate_bps"], links["delay_ps"]]), axis=1, return_inverse=True)
    found = [headroom_of(params, int(rate), int(delay), packet_bytes) for rate, delay in keys.T.tolist()]
    return np.array(found, np.int64)[number.reshape(-1)]


def set_devices(rows: Records, network: Network, params: PacketParams) -> None:
    """What single switches do to the links that lead to them (classes) and from them (MTU)."""
    for node, device in _devices(network, params):
        if device.misclassified:
            rows["lane_of_rdma"][network.links["dst"] == node] = TCP
        if device.mtu_bytes is not None:
            rows["mtu_bytes"][network.links["src"] == node] = device.mtu_bytes + ETHERNET_BYTES
