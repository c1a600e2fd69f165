"""`HostSettings`: how one server's network side behaves or must behave: NIC QoS, kernel, NCCL environment, PCIe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from eastwest.policy.settings import ClassTable, Mode, PfcSettings, Trust

HostSection = Literal[
    "nics", "qos", "rdma", "dcqcn", "mtu", "addresses", "sysctl", "nccl", "pcie", "firmware", "persistence"
]
HOST_SECTIONS: frozenset[HostSection] = frozenset(get_args(HostSection))
Persistence = Literal["systemd", "netplan", "ifupdown", "networkmanager", "runtime"]
Offload = Literal["none", "dpu", "supernic"]


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """One variable of a job's environment; `value` None means left unset on purpose; `because` is the reason."""

    name: str
    value: str | None
    because: str = ""


@dataclass(frozen=True, slots=True)
class DcqcnSettings:
    """DCQCN of one NIC port: the priorities on which it notifies (`np`) and reacts (`rp`), and CNP marks; `parameters`
    by their device names.
    """

    np_priorities: frozenset[int] | None = None
    rp_priorities: frozenset[int] | None = None
    cnp_dscp: int | None = None
    cnp_priority: int | None = None
    min_time_between_cnps_s: float | None = None
    parameters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NicSettings:
    """One east-west NIC port.

    `device` is the RDMA device (mlx5_0), `netdev` its interface, `traffic_class` the ToS byte of RDMA traffic (106
    = DSCP 26 with ECT(0)), `cma_tos` the same byte for RDMA-CM connections, `roce_mtu_bytes` the RDMA path MTU,
    `gid_index` None when NCCL chooses, `dscp_to_priority` (64,) and `priority_to_tc` (8,), `ets_ratio` (8,)
    bandwidth shares by TC, `dcbx` who decides: os, firmware, off.
    """

    device: str
    netdev: str | None = None
    rail: int | None = None
    driver: str | None = None
    rate_bps: int | None = None
    mtu_bytes: int | None = None
    roce_mtu_bytes: int | None = None
    trust: Trust | None = None
    pfc: PfcSettings | None = None
    link_pause: bool | None = None
    dscp_to_priority: ClassTable = ()
    priority_to_tc: ClassTable = ()
    priority_to_buffer: ClassTable = ()
    ets_ratio: tuple[float, ...] = ()
    strict_tcs: frozenset[int] = frozenset()
    cable_length_m: float | None = None
    traffic_class: int | None = None
    cma_tos: int | None = None
    roce_version: int | None = None
    gid_index: int | None = None
    dcqcn: DcqcnSettings | None = None
    dcbx: Literal["os", "firmware", "off"] | None = None
    firmware_lldp: Mode | None = None
    addresses: tuple[str, ...] = ()
    gateway: str | None = None
    route_table: int | None = None
    firmware: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PcieSettings:
    """PCIe as RDMA needs it: ACS redirect off between GPU and NIC, relaxed ordering, read request size, IOMMU mode."""

    acs_disabled: bool | None = None
    relaxed_ordering: bool | None = None
    max_read_request_bytes: int | None = None
    max_payload_bytes: int | None = None
    iommu: Literal["off", "passthrough", "translate"] | None = None
    peer_memory: Literal["dmabuf", "nvidia_peermem", "none"] | None = None


@dataclass(frozen=True, slots=True)
class HostSettings:
    """One server; `seen` names the sections that a text showed, as in `DeviceSettings`."""

    name: str
    os: str | None = None
    nics: tuple[NicSettings, ...] = ()
    sysctl: Mapping[str, str] = field(default_factory=dict)
    nccl: tuple[EnvironmentVariable, ...] = ()
    pcie: PcieSettings | None = None
    persistence: Persistence | None = None
    offload: Offload | None = None
    seen: frozenset[HostSection] = HOST_SECTIONS

    def nic(self, device: str) -> NicSettings | None:
        """The NIC of that RDMA device name, or None."""
        return next((nic for nic in self.nics if nic.device == device), None)

    def variable(self, name: str) -> EnvironmentVariable | None:
        """The NCCL variable of that name, or None when it is not mentioned."""
        return next((row for row in self.nccl if row.name == name), None)
