"""MTU end to end: what each OS counts, what RoCE needs, what passes; an oversize frame vanishes, RoCE is never
fragmented.
"""

from __future__ import annotations

from dataclasses import dataclass

ROCE_HEADERS_BYTES = (
    96  # GRH 40 + UDP 8 + BTH 12 + XRC 4 + AtomicETH 28 + ICRC 4; linux include/rdma/ib_addr.h, iboe_get_mtu
)
ROCE_MTUS_BYTES = (256, 512, 1024, 2048, 4096)  # InfiniBand architecture, volume 1, PMTU field
HOST_MTU_BYTES = 9000  # IP packet; the usual jumbo frame of servers, seed text 001 section 3.2
IP_AND_ICMP_HEADERS_BYTES = 28  # IPv4 20 + ICMP 8, so `ping -s 8972` fills 9000
ETHERNET_HEADER_BYTES, VLAN_TAG_BYTES, FCS_BYTES = 14, 4, 4  # IEEE 802.3
ETHERNET_OVERHEAD_BYTES = ETHERNET_HEADER_BYTES + FCS_BYTES
PREAMBLE_AND_GAP_BYTES = 20  # preamble 8, inter-frame gap 12: on the wire, not in any MTU
VXLAN_OVERHEAD_BYTES = 50  # outer Ethernet 14 + IPv4 20 + UDP 8 + VXLAN 8; RFC 7348


@dataclass(frozen=True, slots=True)
class OsMtu:
    """What the MTU number of one OS means: `default_bytes` is what we configure, `counts` which header bytes the
    number includes.
    """

    default_bytes: int
    max_bytes: int
    includes_bytes: int
    source: str


OS_MTU = {
    "sonic": OsMtu(9100, 9216, 0, "SONiC templates use 9100, YANG sonic-port allows 68-9216"),
    "eos": OsMtu(9214, 9214, 0, "Arista EOS routed interface"),
    "cumulus": OsMtu(9216, 9216, 0, "NVIDIA Cumulus RoCE guide"),
    "nxos": OsMtu(9216, 9216, 0, "Cisco NX-OS interface and network-qos class"),
    "junos": OsMtu(9216, 9216, 14, "Junos interface MTU counts the Ethernet header; Juniper AI JVD"),
    "huawei": OsMtu(9216, 9600, 0, "Huawei CloudEngine; jumboframe limit model dependent"),
    "h3c": OsMtu(9216, 9416, 0, "H3C data centre switches; model dependent"),
    "onyx": OsMtu(9216, 9216, 0, "NVIDIA Onyx"),
    "os10": OsMtu(9216, 9216, 14, "Dell OS10 counts the Ethernet header"),
    "frr": OsMtu(9216, 9216, 0, "Linux interface behind FRR"),
}
DEFAULT_OS_MTU = OsMtu(9216, 9216, 0, "the usual data-centre maximum; OS not known")


def os_mtu(os: str | None) -> OsMtu:
    """What an OS's MTU number means; the usual data-centre value when the OS is not known.

    >>> os_mtu("sonic").default_bytes, os_mtu(None).default_bytes
    (9100, 9216)
    """
    return OS_MTU.get(os or "", DEFAULT_OS_MTU)


def ip_mtu(written_bytes: int, os: str | None) -> int:
    """The largest IP packet that a port with that written MTU passes.

    >>> ip_mtu(9216, "junos"), ip_mtu(9216, "cumulus")
    (9202, 9216)
    """
    return written_bytes - os_mtu(os).includes_bytes


def roce_mtu(netdev_mtu_bytes: int) -> int | None:
    """The RoCE path MTU that a netdev MTU allows: the largest of 256 … 4096 that fits with 96 B of headers; None when
    none fits.

    Source: linux include/rdma/ib_addr.h (iboe_get_mtu).

    >>> roce_mtu(9000), roce_mtu(4200), roce_mtu(1500)
    (4096, 4096, 1024)
    """
    return max((mtu for mtu in ROCE_MTUS_BYTES if mtu + ROCE_HEADERS_BYTES <= netdev_mtu_bytes), default=None)


def roce_packet_bytes(roce_mtu_bytes: int) -> int:
    """The largest IP packet that RoCE of that path MTU sends: payload and at most 96 B of headers."""
    return roce_mtu_bytes + ROCE_HEADERS_BYTES


def passes(host_mtu_bytes: int, switch_mtu_bytes: int) -> bool:
    """Whether every packet of the host fits: a host at 9000 under a switch at 9216 is right, not a mismatch.

    >>> passes(9000, 9216), passes(9000, 1500)
    (True, False)
    """
    return host_mtu_bytes <= switch_mtu_bytes


def ping_payload(mtu_bytes: int) -> int:
    """The `ping -M do -s` payload that fills an MTU exactly.

    >>> ping_payload(9000)
    8972
    """
    return mtu_bytes - IP_AND_ICMP_HEADERS_BYTES
