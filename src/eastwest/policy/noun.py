"""`Policy`: how every device must behave: a template per role, from which one device's settings are made when somebody
asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.decision import Decision
from eastwest.errors import UsageError
from eastwest.fabric.addressing import asn_plan
from eastwest.fabric.cabling import port_names
from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.finding import Finding
from eastwest.policy.classes import TrafficClass, lossless_priorities
from eastwest.policy.ecn import Thresholds
from eastwest.policy.faces import PORT_FACES, ROLE_OF_KIND, ROOM_LOSSY, Face, face_numbers, role_of
from eastwest.policy.settings import DeviceSettings, PfcSettings, PortSettings, PriorityGroup, Role
from eastwest.policy.settings_host import HostSettings
from eastwest.policy.settings_subnet import SubnetSettings
from eastwest.policy.underlay import bgp_for
from eastwest.spec.qos import LoadBalancing, LossRegime
from eastwest.units import format_port_rate

PortKey = tuple[Face, int]


@dataclass(frozen=True, slots=True)
class PortRule:
    """How a port of one face and rate behaves: the names of its queue plan and lossless profile, and its planned
    cable.
    """

    queue_plan: str | None
    profile: str | None
    cable_length_m: float | None
    headroom_bytes: int | None
    xoff_bytes: int | None


@dataclass(frozen=True, slots=True)
class RoleTemplate:
    """One role of switches: everything of `DeviceSettings` that all its members share, and the rule of each kind of
    port.
    """

    role: Role
    settings: DeviceSettings
    rules: Mapping[PortKey, PortRule]


@dataclass(frozen=True, eq=False)
class Policy:
    """How every device must behave, vendor-neutral.

    `templates` by role, `host` the template of a server, `thresholds` ECN by rate in bit/s, `subnet` for InfiniBand,
    `without_pfc` (n_links,) the links of a lossless fabric that PFC does not cross. `device(name)` and `host_of(name)`
    make one device's settings on demand: two thousand switches cost nothing until somebody asks.
    """

    loss_regime: LossRegime
    load_balancing: LoadBalancing
    classes: tuple[TrafficClass, ...]
    templates: Mapping[Role, RoleTemplate]
    host: HostSettings
    host_mtu_bytes: int
    rdma_mtu_bytes: int
    switch_mtu_bytes: int | None
    rtt_s: float
    thresholds: Mapping[int, Thresholds]
    subnet: SubnetSettings | None
    fabric: Fabric
    without_pfc: NDArray[np.bool_] | None = None
    decisions: tuple[Decision, ...] = ()
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def lossless_priorities(self) -> frozenset[int]:
        """Wire priorities that pause."""
        return lossless_priorities(self.classes)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return port_names(self.fabric)

    @cached_property
    def _asns(self) -> NDArray[np.int64]:
        return asn_plan(self.fabric)

    def switch_names(self) -> tuple[str, ...]:
        """Every switch, in the order of the fabric."""
        kinds = self.fabric.nodes["kind"]
        return tuple(self.fabric.names[i] for i in np.flatnonzero(np.isin(kinds, list(ROLE_OF_KIND))).tolist())

    def server_names(self) -> tuple[str, ...]:
        """Every server, in the order of the fabric."""
        return tuple(self.fabric.names[i] for i in self.fabric.nodes_of(NodeKind.SERVER).tolist())

    def device(self, name: str) -> DeviceSettings:
        """The settings of one switch. Raises UsageError when the fabric has no switch of that name."""
        node = self.fabric.index.get(name)
        role = role_of(self.fabric, node) if node is not None else "unknown"
        if node is None or role not in self.templates:
            raise UsageError(f"no switch {name!r} in this fabric", hint="Policy.switch_names() lists them")
        template = self.templates[role]
        ports = tuple(self._ports(node, template))
        bgp = None if self.loss_regime == "infiniband" else bgp_for(int(self._asns[node]), tuple(self._sessions(node)))
        return replace(template.settings, name=name, ports=ports, bgp=bgp)

    def devices(self) -> Iterator[DeviceSettings]:
        """The settings of every switch, one at a time."""
        return (self.device(name) for name in self.switch_names())

    def host_of(self, name: str) -> HostSettings:
        """The settings of one server. Raises UsageError when the fabric has no server of that name."""
        node = self.fabric.index.get(name)
        if node is None or int(self.fabric.nodes["kind"][node]) != NodeKind.SERVER:
            raise UsageError(f"no server {name!r} in this fabric", hint="Policy.server_names() lists them")
        return replace(self.host, name=name)

    def _ports(self, node: int, template: RoleTemplate) -> Iterator[PortSettings]:
        first, count = (int(self.fabric.nodes[key][node]) for key in ("first_port", "n_ports"))
        for row in range(first, first + count):
            yield self._port(row, node, template)

    def _port(self, row: int, node: int, template: RoleTemplate) -> PortSettings:
        ports, links = self.fabric.ports, self.fabric.links
        rate, link = int(ports["rate_bps"][row]), int(ports["link"][row])
        plain = PortSettings(self._names[row], rate, template.settings.mtu_bytes)
        if link < 0:
            return replace(plain, enabled=False)
        side, far = ("a", "b") if int(links["a_port"][link]) == row else ("b", "a")
        face = PORT_FACES[int(face_numbers(links[link : link + 1], "a" if side == "a" else "b")[0])]
        peer, peer_port = self.fabric.names[int(links[far][link])], self._names[int(links[f"{far}_port"][link])]
        plain = replace(
            plain, enabled=True, faces=face, peer=peer, peer_port=peer_port, description=f"{peer} {peer_port}"
        )
        lossy = self.without_pfc is not None and bool(self.without_pfc[link])
        return self._with_classes(plain, template, ROOM_LOSSY if lossy else face, rate)

    def _with_classes(self, port: PortSettings, template: RoleTemplate, face: Face, rate: int) -> PortSettings:
        rule = template.rules.get((face, rate))
        if rule is None or self.loss_regime == "infiniband":
            return port
        lossless = self.lossless_priorities if face != ROOM_LOSSY else frozenset()
        groups = tuple(PriorityGroup(row.pg, rule.profile) for row in self.classes if row.lossless and lossless)
        return replace(
            port,
            pfc=PfcSettings("on", lossless, lossless) if lossless else PfcSettings("off"),
            link_pause_rx=False,
            link_pause_tx=False,
            watched=lossless,
            qos_map=template.settings.qos_maps[0].name,
            queue_plan=rule.queue_plan,
            priority_groups=groups,
            cable_length_m=rule.cable_length_m,
        )

    def _sessions(self, node: int) -> Iterator[tuple[str, int, str]]:
        """(interface, AS of the peer, name of the peer) of every link to another switch."""
        ports, links = self.fabric.ports, self.fabric.links
        first, count = (int(self.fabric.nodes[key][node]) for key in ("first_port", "n_ports"))
        for row in range(first, first + count):
            link = int(ports["link"][row])
            if link < 0:
                continue
            peer = int(links["b" if int(links["a_port"][link]) == row else "a"][link])
            if self._asns[peer]:
                yield self._names[row], int(self._asns[peer]), self.fabric.names[peer]

    def as_json(self) -> dict[str, Any]:
        """The policy in the shape of the plan's document."""
        return {
            "loss_regime": self.loss_regime,
            "load_balancing": self.load_balancing,
            "classes": [row.as_json() for row in self.classes],
            "lossless_priorities": sorted(self.lossless_priorities),
            "mtu": {
                "host_bytes": self.host_mtu_bytes,
                "rdma_bytes": self.rdma_mtu_bytes,
                "switch_bytes": self.switch_mtu_bytes,
            },
            "rtt_s": self.rtt_s,
            "ecn": {format_port_rate(rate): _threshold(row) for rate, row in self.thresholds.items()},
            "headroom": {role: _headrooms(row) for role, row in self.templates.items()},
            "watchdog": {role: _watchdog(row.settings) for role, row in self.templates.items()},
            "hash_seed": {role: row.settings.hash.seed for role, row in self.templates.items() if row.settings.hash},
            "nccl": {row.name: row.value for row in self.host.nccl},
            "routing_engine": self.subnet.routing_engine if self.subnet else None,
        }


def _threshold(row: Thresholds) -> dict[str, Any]:
    return {"kmin_bytes": row.kmin_bytes, "kmax_bytes": row.kmax_bytes, "pmax_ratio": row.pmax_ratio, "rule": row.rule}


def _headrooms(template: RoleTemplate) -> dict[str, Any]:
    return {
        f"{face}.{format_port_rate(rate)}": {
            "size_bytes": rule.headroom_bytes,
            "xoff_bytes": rule.xoff_bytes,
            "length_m": rule.cable_length_m,
        }
        for (face, rate), rule in template.rules.items()
        if rule.headroom_bytes is not None
    }


def _watchdog(settings: DeviceSettings) -> dict[str, Any] | None:
    if settings.watchdog is None:
        return None
    return {"detect_s": settings.watchdog.detect_s, "restore_s": settings.watchdog.restore_s}
