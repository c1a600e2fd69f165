"""Derived ceilings: the most that a result can be, each with its formula and source.

`NIC_RATIO` of the wire is what NCCL gets through a healthy NIC: 12, 24 and 48 GB/s for 100G, 200G and 400G. Published
rings of four servers and more reach 0.90 to 0.97 of the wire.

| ceiling | busbw at most | holds for |
|---|---|---|
| ring | NICs x rate x 0.96 | any collective that leaves the server through all NICs |
| tree over k servers | NICs x rate x 0.92 x (n-1)/n x k/(k-1) | all-reduce; two servers: x 2(n-1)/n |
| in-network reduction | NICs x rate x 0.96 x 2(n-1)/n | all-reduce with SHARP |
| all-to-all | NICs/GPUs x rate x 0.96 x (n-1)/(n-g) | (n-g)/n of the bytes cross the fabric |
| single NIC | rate x 0.96 | send/receive: one pair crosses at a time |
| scale-up ring, NVLS | see `gpus` | one server |
| wire less headers | rate x MTU / (MTU + headers) | perftest |

Where they stop being true: oversubscribed fabrics (the site's plan has its own targets), NICs that share a PCIe slot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from eastwest.accept.gpus import ScaleUp, nvls_bytes_per_s, nvls_ranks
from eastwest.units import BITS_PER_BYTE, GIGA, format_port_rate

NIC_RATIO = 0.96  # NVIDIA/nccl-tests#119 and others: 24 GB/s through a 200G NIC
TREE_RATIO = 0.92  # NVIDIA/nccl, tuning.cc: bandwidth of a tree against a ring
ROCE_HEADER_BYTES = 82  # preamble and gap 20, Ethernet 14 + 4, IPv4 20, UDP 8, BTH 12, ICRC 4 (IEEE 802.3, IBTA A17)
IB_HEADER_BYTES = 26  # LRH 8, BTH 12, ICRC 4, VCRC 2 (IBTA volume 1, chapter 5)
USUAL_MTU_BYTES = 4096
MEASURED = "NVIDIA/nccl-tests#119: 12, 24, 48 GB/s for 100G, 200G, 400G"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that a result can be: `name` which one, `formula` with its numbers, `wire_bytes_per_s` the bare wire
    where the ceiling is a part of it, `limit` what sets it (nic, pcie, scale-up).
    """

    name: str
    bytes_per_s: float
    formula: str
    source: str
    limit: str = "nic"
    wire_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """How bytes leave one server: NICs of one rate, each behind a PCIe slot of `pcie_bytes_per_s` (None: wide
    enough).
    """

    nics: int
    rate_bps: int
    pcie_bytes_per_s: float | None = None

    @property
    def wire_bytes_per_s(self) -> float:
        """Bytes/s of all NICs together."""
        return self.nics * self.rate_bps / BITS_PER_BYTE

    @property
    def is_pcie_limited(self) -> bool:
        """Whether the slot carries less than the NIC would."""
        return self.pcie_bytes_per_s is not None and self.pcie_bytes_per_s < self.rate_bps / BITS_PER_BYTE * NIC_RATIO

    def nic_bytes_per_s(self, ratio: float = NIC_RATIO) -> float:
        """Bytes/s of one NIC after what NCCL or the slot leave."""
        wire = self.rate_bps / BITS_PER_BYTE
        slot = self.pcie_bytes_per_s if self.pcie_bytes_per_s is not None else wire
        return min(slot, wire * ratio)

    def text(self, ratio: float = NIC_RATIO) -> str:
        """`4 NICs x 200G / 8 x 0.96`, as formulas begin."""
        nics = f"{self.nics} NIC{'s' if self.nics > 1 else ''}"
        if self.is_pcie_limited:
            return f"{nics} x PCIe slot {_gb(self.pcie_bytes_per_s or 0.0)}"
        return f"{nics} x {format_port_rate(self.rate_bps)} / 8 x {ratio:g}"


def ring(way: Exit, scale_up: ScaleUp | None, gpus_per_server: int | None) -> Ceiling:
    """A ring over several servers: each server's NICs carry every byte of the ring once; inside, a GPU passes on the
    (g-1)/g of the channels that do not leave at it.
    """
    value = way.nics * way.nic_bytes_per_s()
    name = "pcie" if way.is_pcie_limited else "ring"
    found = Ceiling(
        name, value, f"{way.text()} = {_gb(value)}", MEASURED, name.replace("ring", "nic"), way.wire_bytes_per_s
    )
    if scale_up is None or not gpus_per_server or gpus_per_server < 2:
        return found
    inside = scale_up.ring_bytes_per_s * gpus_per_server / (gpus_per_server - 1)
    if inside >= value:
        return found
    formula = (
        f"scale-up ring {_gb(scale_up.ring_bytes_per_s)} x {gpus_per_server}/{gpus_per_server - 1} = {_gb(inside)}, "
        f"less than the NICs' {_gb(value)}"
    )
    return Ceiling("ring", inside, formula, f"{scale_up.label}; NVIDIA/nccl, topo.h", "scale-up", way.wire_bytes_per_s)


def tree(way: Exit, scale_up: ScaleUp | None, nodes: int, n_ranks: int) -> Ceiling:
    """A tree (or NVLSTree) over k servers: a server sends and receives 2(k-1)/k of the message, while busbw counts
    2(n-1)/n; with two servers the NICs carry half of what busbw says.
    """
    factor = (n_ranks - 1) / n_ranks * nodes / (nodes - 1)
    network = way.nics * way.nic_bytes_per_s(TREE_RATIO) * factor
    name = "two-node tree" if nodes == 2 else "tree"
    shown = "2(n-1)/n" if nodes == 2 else "(n-1)/n x k/(k-1)"
    formula = f"{way.text(TREE_RATIO)} x {shown} = {_gb(network)}, n = {n_ranks}, k = {nodes}"
    found = Ceiling(
        name, network, formula, "NVIDIA/nccl, tuning.cc; bytes per server counted", "nic", way.wire_bytes_per_s
    )
    return _inside(found, scale_up, max(2, n_ranks // nodes))


def in_network(way: Exit, scale_up: ScaleUp | None, n_ranks: int, gpus_per_server: int) -> Ceiling:
    """Reduction in the switches (SHARP): a server sends the message once and receives it once."""
    value = way.nics * way.nic_bytes_per_s() * 2 * (n_ranks - 1) / n_ranks
    formula = f"{way.text()} x 2(n-1)/n = {_gb(value)}, n = {n_ranks}"
    found = Ceiling("in-network reduction", value, formula, "bytes per server counted", "nic", way.wire_bytes_per_s)
    return _inside(found, scale_up, max(2, gpus_per_server))


def _inside(found: Ceiling, scale_up: ScaleUp | None, gpus_per_server: int) -> Ceiling:
    """The ceiling, or that of the scale-up links inside the server when these give less."""
    if scale_up is None:
        return found
    ring_inside = scale_up.ring_bytes_per_s
    inside = max(nvls_bytes_per_s(scale_up, gpus_per_server) or 0.0, ring_inside)
    if inside >= found.bytes_per_s:
        return found
    formula = f"inside the server {_gb(inside)} ({scale_up.label}), less than {found.formula}"
    return replace(found, bytes_per_s=inside, formula=formula, limit="scale-up")


def all_to_all(way: Exit, nodes: int, gpus_per_server: int) -> Ceiling:
    """Equal parts to everybody: (n-g)/n of a GPU's bytes cross the fabric, busbw counts (n-1)/n. An upper bound."""
    n_ranks = nodes * gpus_per_server
    share = (n_ranks - 1) / (n_ranks - gpus_per_server)
    value = way.nics * way.nic_bytes_per_s() / gpus_per_server * share
    formula = (
        f"{way.text()} / {gpus_per_server} GPUs x (n-1)/(n-g) = {_gb(value)}, n = {n_ranks}, g = {gpus_per_server}"
    )
    return Ceiling(
        "all-to-all", value, formula, "bytes that leave the server counted; a bound", "nic", way.wire_bytes_per_s
    )


def single_nic(way: Exit, gpus_per_server: int | None) -> Ceiling:
    """One pair of GPUs across the fabric (send/receive, one root): the NICs of one GPU."""
    nics = max(1, way.nics // gpus_per_server) if gpus_per_server else 1
    one = replace(way, nics=nics)
    value = nics * way.nic_bytes_per_s()
    return Ceiling("single NIC", value, f"{one.text()} = {_gb(value)}", MEASURED, "nic", one.wire_bytes_per_s)


def scale_up_ring(scale_up: ScaleUp) -> Ceiling:
    """A ring (or all-to-all through the switch) inside one scale-up domain."""
    value = scale_up.ring_bytes_per_s
    formula = f"links of one {scale_up.label} as NCCL counts them = {_gb(value)}"
    return Ceiling("scale-up ring", value, formula, "NVIDIA/nccl, topo.h", "scale-up")


def nvls(scale_up: ScaleUp, n_ranks: int) -> Ceiling | None:
    """NVLS all-reduce inside one scale-up domain; None where it is not there or gives less than a ring."""
    value = nvls_bytes_per_s(scale_up, n_ranks)
    if value is None or value <= scale_up.ring_bytes_per_s:
        return None
    n = nvls_ranks(n_ranks)
    shown = f"n = {n}" if n == n_ranks else f"n = {n}: {n_ranks} GPUs show no more"
    formula = f"{_gb(scale_up.ring_bytes_per_s)} x {scale_up.nvls_ratio:g} x 2(n-1)/(n+1) = {_gb(value)}, {shown}"
    return Ceiling("NVLS", value, formula, "NVIDIA/nccl, topo.h and tuning.cc; S + S/n per GPU", "scale-up")


def wire_less_headers(rate_bps: int, mtu_bytes: int, is_roce: bool, ways: int = 1) -> Ceiling:
    """Payload of one port at full frames: what `ib_write_bw` can show. `ways` 2 for a bidirectional test.

    >>> round(wire_less_headers(100 * 10**9, 4096, True).bytes_per_s * 8 / 1e9, 2)
    98.04
    """
    headers = ROCE_HEADER_BYTES if is_roce else IB_HEADER_BYTES
    value = ways * rate_bps / BITS_PER_BYTE * mtu_bytes / (mtu_bytes + headers)
    ends = "2 x " if ways > 1 else ""
    kind = "RoCEv2" if is_roce else "InfiniBand"
    formula = (
        f"{ends}{format_port_rate(rate_bps)} / 8 x {mtu_bytes}/({mtu_bytes}+{headers}) = {_gb(value)} "
        f"({value * BITS_PER_BYTE / GIGA:.1f} Gb/s), {kind} headers"
    )
    return Ceiling("wire less headers", value, formula, "IEEE 802.3, IBTA", "nic", ways * rate_bps / BITS_PER_BYTE)


def pcie_slot(bytes_per_s: float, generation: int) -> Ceiling:
    """What a slot of 16 lanes carries after its own headers: the limit of a loopback through one NIC."""
    formula = f"PCIe {generation} x16 usable = {_gb(bytes_per_s)}"
    return Ceiling("pcie", bytes_per_s, formula, "catalogue, pcie", "pcie")


def _gb(bytes_per_s: float) -> str:
    return f"{bytes_per_s / GIGA:.4g} GB/s"
