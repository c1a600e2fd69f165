"""A server's network side: NIC trust and PFC, marks, DCQCN, MTU, kernel settings for many NICs, PCIe."""

from __future__ import annotations

from dataclasses import replace

from eastwest.policy import mtu, tc
from eastwest.policy.classes import (
    CONTROL_PRIORITY,
    TrafficClass,
    class_of_dscp,
    cnp_dscp,
    lossless_priorities,
    roce_marks,
)
from eastwest.policy.settings import N_DSCP, N_PRIORITIES, PfcSettings, table_of
from eastwest.policy.settings_host import DcqcnSettings, EnvironmentVariable, HostSettings, NicSettings, PcieSettings
from eastwest.spec.qos import LossRegime, QosWish

ROCE_VERSION = 2
MIN_CNP_INTERVAL_S = 4e-6  # ConnectX-4 and later, MIN_TIME_BETWEEN_CNPS
MAX_READ_REQUEST_BYTES = 4096  # PCIe, fewer and larger reads; NIC vendors' performance guides
# Several NICs in one host: answer ARP only for the NIC's own address, use it as source, accept asymmetric paths.
SYSCTL = {
    "net.ipv4.conf.all.arp_announce": "2",
    "net.ipv4.conf.all.arp_ignore": "1",
    "net.ipv4.conf.all.rp_filter": "2",
}
LOSSLESS_FIRMWARE = {"LLDP_NB_DCBX_P1": "0", "LLDP_NB_RX_MODE_P1": "0", "LLDP_NB_TX_MODE_P1": "0"}


def nic_for(
    regime: LossRegime, wish: QosWish, classes: tuple[TrafficClass, ...], mtu_bytes: int, rate_bps: int
) -> NicSettings:
    """One NIC port of the regime, without names and addresses: the host end of the same class path as every switch."""
    if regime in ("infiniband", "tcp"):
        return NicSettings("", rate_bps=rate_bps, mtu_bytes=None if regime == "infiniband" else mtu_bytes)
    dscp, _ = roce_marks(wish)
    byte = tc.encode(dscp)
    by_dscp = {key: row.priority for key, row in class_of_dscp(classes).items()}
    lossless = lossless_priorities(classes)
    rdma = frozenset(row.priority for row in classes if row.ecn)
    return NicSettings(
        "",
        rate_bps=rate_bps,
        mtu_bytes=mtu_bytes,
        roce_mtu_bytes=mtu.roce_mtu(mtu_bytes),
        trust="dscp",
        pfc=PfcSettings("on", lossless, lossless) if lossless else PfcSettings("off"),
        link_pause=False,
        dscp_to_priority=table_of(N_DSCP, by_dscp, 0),
        priority_to_tc=table_of(N_PRIORITIES, {key: key for key in range(N_PRIORITIES)}),
        ets_ratio=_ets(classes),
        strict_tcs=frozenset({CONTROL_PRIORITY}),
        traffic_class=byte,
        cma_tos=byte,
        roce_version=ROCE_VERSION,
        gid_index=None,
        dcqcn=DcqcnSettings(rdma, rdma, cnp_dscp(wish), CONTROL_PRIORITY, MIN_CNP_INTERVAL_S),
        dcbx="os",
        firmware_lldp="off",
        firmware=dict(LOSSLESS_FIRMWARE),
    )


def _ets(classes: tuple[TrafficClass, ...]) -> tuple[float, ...]:
    """(8,) bandwidth shares by traffic class; strict classes have none."""
    shares = [0.0] * N_PRIORITIES
    for row in classes:
        if row.weight is not None:
            shares[row.tc] += row.weight / 100
    return tuple(shares)


def host_for(regime: LossRegime, nic: NicSettings, n_nics: int, nccl: tuple[EnvironmentVariable, ...]) -> HostSettings:
    """A server with `n_nics` equal NICs, named mlx5_0 … in rail order; netdevs and addresses come with the address
    plan.
    """
    nics = tuple(replace(nic, device=device, rail=rail) for rail, device in enumerate(device_names(n_nics)))
    pcie = PcieSettings(
        acs_disabled=True,
        relaxed_ordering=True,
        max_read_request_bytes=MAX_READ_REQUEST_BYTES,
        iommu="passthrough",
        peer_memory="dmabuf",
    )
    sysctl = {} if regime == "infiniband" else dict(SYSCTL)
    return HostSettings("", "linux", nics, sysctl, nccl, pcie, persistence="systemd", offload="none")


def device_names(n_nics: int) -> tuple[str, ...]:
    """RDMA device names of the east-west NICs; assumed to be numbered in rail order, which `audit` checks on the real
    host.

    >>> device_names(2)
    ('mlx5_0', 'mlx5_1')
    """
    return tuple(f"mlx5_{number}" for number in range(n_nics))
