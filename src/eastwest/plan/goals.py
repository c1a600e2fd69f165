"""`Targets` of a plan: the limits that acceptance will use, derived from this design and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eastwest.fabric.bottleneck import bottleneck
from eastwest.fabric.slots import nic_slot_payload_bps
from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.policy import Policy, mtu
from eastwest.spec.qos import Transport
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.targets import Target, Targets
from eastwest.units import BITS_PER_BYTE, GIGA
from eastwest.workload.ledger import Grid, LedgerRow

WIRE_OVERHEAD_BYTES = mtu.ETHERNET_OVERHEAD_BYTES + mtu.PREAMBLE_AND_GAP_BYTES  # of a frame, in no MTU: 38
ROCE_OVERHEAD_BYTES = 44  # IPv4 20, UDP 8, BTH 12, ICRC 4 (InfiniBand annex A17)
INFINIBAND_OVERHEAD_BYTES = 26  # LRH 8, BTH 12, ICRC 4, VCRC 2 (InfiniBand volume 1)
TCP_OVERHEAD_BYTES = 52  # IPv4 20, TCP 20, time stamps 12
MEASURED_SHARE = (
    0.98  # perftest reaches 98 % of the payload rate: 48 of 49.0 GB/s at 400G, as users and maintainers accept it
)
COLLECTIVE_PASS = 0.90  # 90 % of the ceiling passes; large rings on healthy fabrics lie at 0.90-0.96
MIN_SERVERS_OF_A_FABRIC = 2
RING_BYTES = 10**9  # any size: the rate does not depend on it


def payload_ratio(transport: Transport, mtu_bytes: int) -> float:
    """Payload bytes over bytes on the wire for full packets of one transport.

    `mtu_bytes` is the RDMA path MTU (payload of a packet), for TCP the IP MTU (payload and headers).
    """
    if transport == "infiniband":
        return mtu_bytes / (mtu_bytes + INFINIBAND_OVERHEAD_BYTES)
    if transport == "tcp":
        return (mtu_bytes - TCP_OVERHEAD_BYTES) / (mtu_bytes + WIRE_OVERHEAD_BYTES)
    return mtu_bytes / (mtu_bytes + ROCE_OVERHEAD_BYTES + WIRE_OVERHEAD_BYTES)


def nic_payload_bytes_per_s(nic_rate_bps: int, ratio: float, slot_bps: float | None) -> float:
    """Bytes/s of payload that one NIC can carry: the slower of its wire, of which `ratio` is payload, and its slot."""
    wire_bytes_per_s = nic_rate_bps / BITS_PER_BYTE * ratio
    slot_bytes_per_s = slot_bps / BITS_PER_BYTE if slot_bps else wire_bytes_per_s
    return min(wire_bytes_per_s, slot_bytes_per_s)


def derive_targets(site: Site, server: ServerFacts, fabric: Fabric, policy: Policy) -> Targets:
    """Every limit of this design, from single links to all nodes."""
    mtu_bytes = policy.host_mtu_bytes if site.transport == "tcp" else policy.rdma_mtu_bytes
    ratio = payload_ratio(site.transport, mtu_bytes)
    nic_bytes_per_s = nic_payload_bytes_per_s(server.nic_rate_bps, ratio, nic_slot_payload_bps(server))
    rows = [
        *_bandwidth(site, server, fabric, nic_bytes_per_s),
        *_mtu(site, policy),
        *_counters(policy),
        *_cabling(fabric),
    ]
    return Targets(tuple(rows))


def _bandwidth(site: Site, server: ServerFacts, fabric: Fabric, nic_bytes_per_s: float) -> list[Target]:
    """perftest per NIC, nccl-tests over pairs and over all nodes."""
    tool = "iperf3 -P 8" if site.transport == "tcp" else "ib_write_bw -d <NIC> -s 1048576 --report_gbits"
    nic = Target(
        id="bandwidth.nic",
        kind="at_least",
        value=round(nic_bytes_per_s * MEASURED_SHARE),
        unit="bytes_per_s",
        test=tool,
        because=f"the lesser of wire and slot of a {server.nic_rate_bps // GIGA}G NIC, x {MEASURED_SHARE:g} (perftest)",
        formula="min(nic_rate/8 x mtu/(mtu + headers), slot) x 0.98",
    )
    if fabric.n_servers < MIN_SERVERS_OF_A_FABRIC:
        return [nic]
    # Links between switches are derated like NICs: to the payload that perftest measures.
    derating = nic_bytes_per_s * MEASURED_SHARE * BITS_PER_BYTE / fabric.nic_rate_bps
    rings = (("pair", 2, "2 servers"), ("all", fabric.n_servers, f"all {fabric.n_servers} servers"))
    rates = [(name, _ring_rate(fabric, n_servers), nodes) for name, n_servers, nodes in rings]
    return [
        nic,
        *(
            _all_reduce(name, server, f"{nodes}, NCCL_ALGO=Ring", rate * derating)
            for name, rate, nodes in rates
            if rate
        ),
        *_all_to_all(server, fabric, nic_bytes_per_s * MEASURED_SHARE),
    ]


def _ring_rate(fabric: Fabric, n_servers: int) -> float | None:
    """busbw (bytes/s at line rate) of a ring over the first `n_servers`: bytes sent per GPU over the busiest link's
    time.

    A ring in server order crosses each leaf and each room link once each way, so oversubscription costs it only where
    one server's share does not fit. None when the servers share a scale-up domain: then the network carries nothing.
    """
    n_gpus = n_servers * fabric.gpus_per_server
    row = LedgerRow("acceptance", "ring", "dp", "all GPUs", n_gpus, "all_reduce", RING_BYTES, 1, RING_BYTES, "step")
    found = bottleneck(fabric, Grid(dp=n_gpus), np.arange(n_gpus, dtype=np.int64), row)
    return RING_BYTES / found.network_s if found.network_s else None


def _all_reduce(name: str, server: ServerFacts, nodes: str, ceiling_bytes_per_s: float) -> Target:
    return Target(
        id=f"busbw.all_reduce.{name}",
        kind="at_least",
        value=round(ceiling_bytes_per_s * COLLECTIVE_PASS),
        unit="bytes_per_s",
        test=f"mpirun -N {server.gpus} … all_reduce_perf -b 512M -e 8G -f 2 -g 1   ({nodes})",
        because="a ring leaves a server through all its NICs; the busiest link of the ring sets its ceiling, x 90 %",
        formula="bytes per GPU / time of the busiest link x nic_payload / nic_rate x 0.98 x 0.90",
    )


def _all_to_all(server: ServerFacts, fabric: Fabric, nic_bytes_per_s: float) -> Iterator[Target]:
    """All GPUs send equal parts to all others; what leaves a leaf or a room must fit its uplinks."""
    n_gpus, slowdown = fabric.n_gpus, _all_to_all_slowdown(fabric)
    inside = max(server.gpus, fabric.scale_up_domain)
    if n_gpus <= inside:
        return
    own_bytes_per_s = nic_bytes_per_s * server.nics / server.gpus
    ceiling_bytes_per_s = own_bytes_per_s * (n_gpus - 1) / (n_gpus - inside) / slowdown
    yield Target(
        id="busbw.all_to_all.all",
        kind="at_least",
        value=round(ceiling_bytes_per_s * COLLECTIVE_PASS),
        unit="bytes_per_s",
        test=f"mpirun -N {server.gpus} … alltoall_perf -b 128M -e 4G -f 2 -g 1   (all servers)",
        because="(n - g)/n of a GPU's bytes leave its scale-up domain of g GPUs; busbw counts (n - 1)/n",
        formula="nics/gpus x nic_payload x 0.98 x (n-1)/(n-g) / slowdown x 0.90, "
        "slowdown = max(1, oversubscription x share that crosses it)",
    )


def _all_to_all_slowdown(fabric: Fabric) -> float:
    """How much longer uniform all-to-all takes than the NICs need: oversubscription x the share of a server's bytes
    that crosses, at least 1.
    """
    nodes, servers = fabric.nodes, fabric.nodes_of(NodeKind.SERVER)
    others = max(1, servers.size - 1)
    largest_group = int(np.bincount(nodes["group"][servers] - nodes["group"][servers].min()).max(initial=1))
    smallest_room = int(np.bincount(nodes["room"][servers]).min(initial=servers.size))
    over_leaf = fabric.oversubscription.get("leaf", 1.0) * (servers.size - largest_group) / others
    largest_pod = int(np.bincount(nodes["pod"][servers] + 1).max(initial=1))
    ratio_of_pods = fabric.oversubscription.get("leaf", 1.0) * fabric.oversubscription.get("spine", 1.0)
    over_pod = ratio_of_pods * (servers.size - largest_pod) / others
    over_room = fabric.oversubscription.get("room", 0.0) * (servers.size - smallest_room) / others
    return max(1.0, over_leaf, over_pod, over_room)


def _mtu(site: Site, policy: Policy) -> list[Target]:
    """The largest packet that must pass end to end without fragments."""
    if site.transport == "infiniband":
        return []
    payload_bytes = mtu.ping_payload(policy.host_mtu_bytes)
    return [
        Target(
            id="mtu.path",
            kind="equal",
            value=payload_bytes,
            unit="bytes",
            test=f"ping -M do -s {payload_bytes} <peer>",
            because="host MTU less 20 bytes of IPv4 and 8 of ICMP must pass on every path, unfragmented",
            formula="mtu - 28",
        )
    ]


def _counters(policy: Policy) -> list[Target]:
    """Counters that must stay zero, or bounded, during every run."""
    lossless = policy.loss_regime in ("lossless", "infiniband")
    why_drop = (
        "a lossless class loses nothing"
        if lossless
        else "drops are expected in this loss regime and bounded by recovery"
    )
    rows = [
        _counter("drops", "zero" if lossless else "bounded", why_drop),
        _counter("link_downs", "zero", "a link that flaps stops every ring that crosses it"),
        _counter("fec_uncorrected", "zero", "an uncorrectable codeword is a lost frame"),
        _counter("crc_errors", "zero", "a damaged frame is lost; FEC hides all others"),
        _counter("ack_timeouts", "zero", "a timeout costs 4.096 us x 2^t of everybody's time"),
        _counter("fec_corrected", "bounded", "corrected errors are normal on PAM4; their trend is the warning"),
    ]
    if policy.loss_regime in ("lossless", "ecn-only"):
        rows.append(_counter("ecn_marked_packets", "bounded", "marks are the congestion control at work"))
    if policy.loss_regime == "lossless":
        rows.append(
            _counter("pfc_rx_frames", "bounded", "pauses under many-to-one traffic are expected, steady ones are not")
        )
    return rows


def _counter(name: str, kind: str, because: str) -> Target:
    value = 0 if kind == "zero" else None
    return Target(
        id=f"counter.{name}",
        kind="zero" if kind == "zero" else "bounded",
        value=value,
        unit="1",
        test=name,
        because=because,
    )


def _cabling(fabric: Fabric) -> list[Target]:
    """Every cable where the plan puts it."""
    return [
        Target(
            id="cabling.links",
            kind="equal",
            value=int(fabric.links.size),
            unit="1",
            test="LLDP (or ibnetdiscover) against cables.csv",
            because="every planned link is up between the planned ports",
        )
    ]
