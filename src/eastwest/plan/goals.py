"""`Targets` of a plan: the limits that acceptance will use, derived from this design and nothing else."""

from __future__ import annotations

from eastwest.fabric.tables import Fabric
from eastwest.policy import Policy
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.targets import Target, Targets
from eastwest.units import BITS_PER_BYTE

ETHERNET_OVERHEAD_BYTES = 38  # preamble 8, header 14, FCS 4, inter-frame gap 12 (IEEE 802.3)
ROCE_OVERHEAD_BYTES = 44  # IPv4 20, UDP 8, BTH 12, ICRC 4 (InfiniBand annex A17)
INFINIBAND_OVERHEAD_BYTES = 26  # LRH 8, BTH 12, ICRC 4, VCRC 2 (InfiniBand volume 1)
TCP_OVERHEAD_BYTES = 52  # IPv4 20, TCP 20, time stamps 12
RDMA_MTU_BYTES = 4096
MEASURED_SHARE = 0.98  # perftest reaches 98 % of the payload rate: 48 of 49.0 GB/s at 400G, as users and maintainers accept it
COLLECTIVE_PASS = 0.90  # 90 % of the ceiling passes; large rings on healthy fabrics lie at 0.90-0.96
ICMP_OVERHEAD_BYTES = 28  # IPv4 20, ICMP 8
RECEIVE_MARGIN_DB = 1.0  # margin kept inside a data sheet's receive window


def payload_ratio(transport: str, mtu_bytes: int = RDMA_MTU_BYTES) -> float:
    """Payload bytes over bytes on the wire for full packets of one transport."""
    if transport == "infiniband":
        return mtu_bytes / (mtu_bytes + INFINIBAND_OVERHEAD_BYTES)
    headers = ROCE_OVERHEAD_BYTES if transport == "roce" else TCP_OVERHEAD_BYTES
    return mtu_bytes / (mtu_bytes + headers + ETHERNET_OVERHEAD_BYTES)


def nic_payload_bytes_per_s(server: ServerFacts, transport: str, slot_bps: float | None) -> float:
    """Bytes/s of payload that one NIC can carry: the slower of its wire and its slot."""
    wire_bytes_per_s = server.nic_rate_bps / BITS_PER_BYTE * payload_ratio(transport)
    slot_bytes_per_s = slot_bps / BITS_PER_BYTE if slot_bps else wire_bytes_per_s
    return min(wire_bytes_per_s, slot_bytes_per_s)


def derive_targets(site: Site, server: ServerFacts, fabric: Fabric, policy: Policy, slot_bps: float | None) -> Targets:
    """Every limit of this design, from single links to all nodes; `slot_bps` is the PCIe payload rate of the NIC's slot."""
    nic_bytes_per_s = nic_payload_bytes_per_s(server, site.transport, slot_bps)
    rows = [*_bandwidth(site, server, fabric, nic_bytes_per_s), *_mtu(site, policy), *_counters(policy), *_cabling(fabric)]
    return Targets(tuple(rows))


def _bandwidth(site: Site, server: ServerFacts, fabric: Fabric, nic_bytes_per_s: float) -> list[Target]:
    """perftest per NIC, nccl-tests over all nodes."""
    wire = f"min(wire, slot) payload of one {server.nic_rate_bps // 10**9}G NIC"
    rows = [
        Target(
            id="bandwidth.nic",
            kind="at_least",
            value=nic_bytes_per_s * MEASURED_SHARE,
            unit="bytes_per_s",
            test="ib_write_bw -d <NIC> -x <GID> -s 1048576 --report_gbits" if site.transport != "tcp" else "iperf3 -P 8",
            because=f"{wire} x {MEASURED_SHARE:g}, what perftest reaches on a healthy link",
            formula="nic_rate/8 x mtu/(mtu + headers) x 0.98",
        )
    ]
    if fabric.n_servers < 2:
        return rows
    server_bytes_per_s = nic_bytes_per_s * MEASURED_SHARE * server.nics
    limit = min(1.0, 1 / max(fabric.oversubscription.get("leaf", 1.0), fabric.oversubscription.get("room", 1.0), 1.0))
    for name, nodes in (("pair", "2 servers, ring"), ("all", f"all {fabric.n_servers} servers")):
        share = limit if name == "all" else 1.0
        rows.append(
            Target(
                id=f"busbw.all_reduce.{name}",
                kind="at_least",
                value=server_bytes_per_s * share * COLLECTIVE_PASS,
                unit="bytes_per_s",
                test=f"mpirun -N {server.gpus} … all_reduce_perf -b 512M -e 8G -f 2 -g 1   ({nodes})",
                because="NICs of one server x payload rate, over the oversubscription that flows between leaves meet, x 90 %",
                formula="nics x nic_payload x 0.98 / max(1, oversubscription) x 0.90",
            )
        )
    n_gpus, g = fabric.n_gpus, server.gpus
    rows.append(
        Target(
            id="busbw.all_to_all.all",
            kind="at_least",
            value=server_bytes_per_s / g * (n_gpus - 1) / (n_gpus - g) * limit * COLLECTIVE_PASS,
            unit="bytes_per_s",
            test=f"mpirun -N {g} … alltoall_perf -b 128M -e 4G -f 2 -g 1   (all servers)",
            because="(n - g)/n of each GPU's bytes leave its server through its share of the NICs; busbw counts (n - 1)/n",
            formula="nics/gpus x nic_payload x 0.98 x (n-1)/(n-g) / max(1, oversubscription) x 0.90",
        )
    )
    return rows


def _mtu(site: Site, policy: Policy) -> list[Target]:
    """The largest packet that must pass end to end without fragments."""
    if site.transport == "infiniband":
        return []
    mtu = policy.host_mtu_bytes
    return [
        Target(
            id="mtu.path",
            kind="equal",
            value=mtu - ICMP_OVERHEAD_BYTES,
            unit="bytes",
            test=f"ping -M do -s {mtu - ICMP_OVERHEAD_BYTES} <peer>",
            because="host MTU less 20 bytes of IPv4 and 8 of ICMP must pass on every path, unfragmented",
            formula="mtu - 28",
        )
    ]


def _counters(policy: Policy) -> list[Target]:
    """Counters that must stay zero, or bounded, during every run."""
    lossless = policy.loss_regime in ("lossless", "infiniband")
    why_drop = "a lossless class loses nothing" if lossless else "drops are expected in this loss regime and bounded by recovery"
    rows = [
        _counter("drops.rdma", "zero" if lossless else "bounded", why_drop),
        _counter("link_down", "zero", "a link that flaps stops every ring that crosses it"),
        _counter("fec_uncorrectable_codewords", "zero", "an uncorrectable codeword is a lost frame"),
        _counter("fcs_errors", "zero", "a damaged frame is lost; FEC hides all others"),
        _counter("local_ack_timeouts", "zero", "a timeout costs 4.096 us x 2^t of everybody's time"),
        _counter("fec_corrected_codewords", "bounded", "corrected errors are normal on PAM4; their trend is the warning"),
    ]
    if policy.loss_regime in ("lossless", "ecn-only"):
        rows.append(_counter("ecn_marked_packets", "bounded", "marks are the congestion control at work"))
    if policy.loss_regime == "lossless":
        rows.append(_counter("pfc_rx_frames", "bounded", "pauses under many-to-one traffic are expected, steady ones are not"))
    return rows


def _counter(name: str, kind: str, because: str) -> Target:
    value = 0 if kind == "zero" else None
    return Target(id=f"counter.{name}", kind="zero" if kind == "zero" else "bounded", value=value, unit="1", test=name, because=because)


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
