"""How every port behaves: as the run's parameters say for all, then as its device's settings say, then as the scenario
says for single switches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.errors import UsageError
from eastwest.simulate.network import Ints, Level, Network, Place
from eastwest.simulate.packet.kernel import NONE
from eastwest.simulate.packet.params import DeviceWish, PacketParams, credits_of, ecn_limits, headroom_of
from eastwest.simulate.packet.queues import CONTROL, N_LANES, RDMA, TCP
from eastwest.spec.mistakes import shown

Bools = NDArray[np.bool_]
SWITCHES = (Place.LEAF, Place.SPINE, Place.CORE)
LOSSLESS_TRANSPORTS = ("dcqcn", "roce", "swift")
INSIDE = (Level.PCIE, Level.SCALE_UP)  # where a server holds back by its own means
TURN_BYTES = 8192  # of deficit round robin: two packets of 4096
ETHERNET_BYTES = 38  # preamble, gap, header and check sequence around an IP packet
NO_MTU = (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class PortRows:
    """The ports at both ends of every link; arrays of (n_links,), of (n_links, N_LANES) where a class has its own.

    Of the port that sends: `marks` and the ramp of its queue of the class `marked_lane`, `quantum_bytes` a class, the
    largest packet, the classes whose pauses it `obeys`. Of the port that receives: which classes are `lossless`, their
    headroom, reserved bytes and threshold, and the class that RDMA packets are put into; `credit_bytes` is its buffer
    of a virtual lane (0: no credits). Of each node (n_nodes,): its memory and the size of its cells.
    """

    marks: Bools
    drops_non_ect: Bools
    marked_lane: int
    kmin_bytes: Ints
    kmax_bytes: Ints
    pmax: NDArray[np.float64]
    quantum_bytes: Ints
    mtu_bytes: Ints
    obeys: Bools
    lossless: Bools
    headroom_bytes: Ints
    reserved_bytes: Ints
    alpha: NDArray[np.float64]
    limit_bytes: Ints
    xon_offset_bytes: Ints
    lane_of_rdma: Ints
    credit_bytes: Ints
    buffer_bytes: Ints
    cell_bytes: Ints


def port_rows(network: Network, transport: str, params: PacketParams, packet_bytes: int) -> PortRows:
    """Every port as the run's parameters say. Boxes neither mark nor pause."""
    links = network.links
    n = len(links)
    limits = _by_rate(links["rate_bps"], params)
    place = network.kinds[links["dst"]].astype(np.int64)
    reserved = np.zeros((n, N_LANES), np.int64)
    reserved[place != Place.HOST, RDMA] = params.reserved_bytes
    quantum = np.full((n, N_LANES), TURN_BYTES, np.int64)
    quantum[:, CONTROL] = 0
    return PortRows(
        has_marks(transport, params) & np.isin(network.kinds[links["src"]], SWITCHES),
        np.full(n, params.drops_non_ect),
        TCP if transport == "tcp" else RDMA,
        limits[:, 0].copy(),
        limits[:, 1].copy(),
        np.full(n, params.pmax),
        quantum,
        np.full(n, NO_MTU, np.int64),
        obeyed_classes(network.kinds[links["src"]].astype(np.int64), transport, params.pfc),
        lossless_classes(place, transport, params.pfc),
        _headroom(network, params, packet_bytes),
        reserved,
        np.full(n, params.alpha),
        np.full(n, params.xoff_bytes, np.int64),
        np.full(n, params.xon_offset_bytes, np.int64),
        np.full(n, RDMA, np.int64),
        _credits(network, params, packet_bytes) if transport == "infiniband" else np.zeros(n, np.int64),
        np.where(np.isin(network.kinds, SWITCHES), params.buffer_bytes, 0).astype(np.int64),
        np.full(len(network.names), params.cell_bytes, np.int64),
    )


def has_marks(transport: str, params: PacketParams) -> bool:
    """Whether switches mark packets of that transport: InfiniBand and a TCP without ECN are not marked."""
    return params.ecn and transport != "infiniband" and (transport != "tcp" or params.tcp == "dctcp")


def lossless_classes(place: Ints, transport: str, pfc: str) -> Bools:
    """(n, N_LANES) whether groups at such places are lossless; inside servers and scale-up domains what cannot go on is
    always held back, in boxes never.
    """
    lane = np.arange(N_LANES)[None, :]
    holds = {"off": lane < 0, "rdma": lane == RDMA, "all": lane >= 0}[pfc]
    wanted = holds & (transport in LOSSLESS_TRANSPORTS or pfc == "all")
    is_inside = np.isin(place, (Place.HOST, Place.NIC, Place.SCALE_UP))[:, None]
    found: Bools = np.where(np.isin(place, SWITCHES)[:, None], wanted, is_inside & (lane != CONTROL))
    return found


def obeyed_classes(place: Ints, transport: str, pfc: str) -> Bools:
    """(n, N_LANES) whether transmitters at such places obey pauses: a switch those of its own lossless classes."""
    found: Bools = lossless_classes(place, transport, pfc) | ~np.isin(place, SWITCHES)[:, None]
    return found


def set_devices(rows: PortRows, network: Network, transport: str, params: PacketParams) -> None:
    """What the scenario says of single switches."""
    for node, device in _devices(network, params):
        out, into = network.links["src"] == node, network.links["dst"] == node
        _set_sending(rows, device, out)
        if device.pfc is not None:
            place = network.kinds[network.links["dst"][into]].astype(np.int64)
            rows.lossless[into] = lossless_classes(place, transport, device.pfc)
            place = network.kinds[network.links["src"][out]].astype(np.int64)
            rows.obeys[out] = obeyed_classes(place, transport, device.pfc)
        for column, value in (
            (rows.alpha, device.alpha),
            (rows.limit_bytes, device.xoff_bytes),
            (rows.headroom_bytes, device.headroom_bytes),
            (rows.lane_of_rdma, TCP if device.misclassified else None),
        ):
            if value is not None:
                column[into] = value
        if device.buffer_bytes is not None:
            rows.buffer_bytes[node] = device.buffer_bytes


def _set_sending(rows: PortRows, device: DeviceWish, out: Bools) -> None:
    mtu = None if device.mtu_bytes is None else device.mtu_bytes + ETHERNET_BYTES
    for column, value in (
        (rows.marks, device.ecn),
        (rows.kmin_bytes, device.kmin_bytes),
        (rows.kmax_bytes, device.kmax_bytes),
        (rows.mtu_bytes, mtu),
    ):
        if value is not None:
            column[out] = value


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


def _by_rate(rate_bps: Ints, params: PacketParams) -> Ints:
    """(n, 2) Kmin and Kmax of each rate."""
    rates, number = np.unique(rate_bps, return_inverse=True)
    return np.array([ecn_limits(params, int(rate)) for rate in rates], np.int64).reshape(-1, 2)[number.reshape(-1)]


def _headroom(network: Network, params: PacketParams, packet_bytes: int) -> Ints:
    """(n_links,) bytes of headroom of a group behind each link."""
    return _of_cable(network, lambda rate, delay: headroom_of(params, rate, delay, packet_bytes))


def _credits(network: Network, params: PacketParams, packet_bytes: int) -> Ints:
    """(n_links,) buffer of a virtual lane behind each link; none inside servers, and none into or out of a box."""
    links = network.links
    found = _of_cable(network, lambda rate, delay: credits_of(params, rate, delay, packet_bytes))
    is_box = (network.kinds[links["src"]] == Place.BOX) | (network.kinds[links["dst"]] == Place.BOX)
    return np.where(np.isin(links["level"], INSIDE) | is_box, 0, found).astype(np.int64)


def _of_cable(network: Network, rule: Callable[[int, int], int]) -> Ints:
    """(n_links,) what a rule says of each link's rate and delay."""
    links = network.links
    keys, number = np.unique(np.stack([links["rate_bps"], links["delay_ps"]]), axis=1, return_inverse=True)
    found = [rule(int(rate), int(delay)) for rate, delay in keys.T.tolist()]
    return np.array(found, np.int64)[number.reshape(-1)]
