"""The behaviour of ports and hosts from the settings that a site's policy gives its devices, or that were parsed.

A value that the scenario itself gives in `packet:` goes before. What a text did not show stays as it is for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from eastwest.policy.settings import (
    BufferProfile,
    ClassTable,
    DeviceSettings,
    EcnSettings,
    PortSettings,
    QueueSettings,
    WatchdogSettings,
)
from eastwest.policy.settings_host import HostSettings
from eastwest.simulate.network import Network
from eastwest.simulate.packet.kernel import NONE
from eastwest.simulate.packet.params import WATCHDOG_ACTIONS, PacketParams, WatchdogWish
from eastwest.simulate.packet.ports import ETHERNET_BYTES, TURN_BYTES, PortRows
from eastwest.simulate.packet.queues import RDMA, TCP
from eastwest.simulate.scenario import Scenario
from eastwest.units import PS_PER_S

USUAL = PacketParams()
DEFAULT_DSCP = 26  # of RoCE data, where no host says another one
ECN_BITS = 2  # of the ToS byte, below the DSCP
TIMEOUT, RETRIES = "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT"


@dataclass(frozen=True, eq=False)
class SiteSettings:
    """The settings of a site's switches by name, and of its hosts."""

    devices: Mapping[str, DeviceSettings]
    host: HostSettings | None = None

    @property
    def dscp(self) -> int:
        """Of the RDMA packets that hosts send."""
        marks = [nic.traffic_class for nic in self.host.nics] if self.host else []
        return (marks[0] >> ECN_BITS) if marks and marks[0] is not None else DEFAULT_DSCP


def planned_settings(scenario: Scenario) -> SiteSettings | None:
    """What the policy of a scenario's site gives every device; None of an inline fabric, which has no policy."""
    if scenario.fabric is not None:
        return None
    from eastwest.fabric.topology import build
    from eastwest.policy.derive import derive
    from eastwest.spec.load import load_site
    from eastwest.workload.account import account

    path = scenario.folder / scenario.site
    site = load_site(path).site
    policy = derive(site, build(site), account(site, folder=path.parent)[0])
    return SiteSettings({device.name: device for device in policy.devices()}, policy.host)


def site_params(params: PacketParams, settings: SiteSettings) -> PacketParams:
    """Timers of the hosts and the watchdog of the switches, where the scenario gives none."""
    found, host = params, settings.host
    if host is not None:
        values = {row.name: int(row.value) for row in host.nccl if row.value and row.value.isdigit()}
        if params.timeout == USUAL.timeout:
            found = replace(found, timeout=values.get(TIMEOUT, params.timeout))
        if params.retries == USUAL.retries:
            found = replace(found, retries=values.get(RETRIES, params.retries))
        gaps = [nic.dcqcn.min_time_between_cnps_s for nic in host.nics if nic.dcqcn is not None]
        if gaps and gaps[0] is not None and params.notice_period_ps == USUAL.notice_period_ps:
            found = replace(found, notice_period_ps=round(gaps[0] * PS_PER_S))
    if params.watchdog is None:
        found = replace(found, watchdog=_watchdog(device.watchdog for device in settings.devices.values()))
    return found


def _watchdog(wishes: Iterable[WatchdogSettings | None]) -> WatchdogWish | None:
    """The first watchdog that acts, for all switches."""
    for wish in wishes:
        if wish is None or not wish.enabled or wish.action not in WATCHDOG_ACTIONS or wish.detect_s is None:
            continue
        detect_ps = round(wish.detect_s * PS_PER_S)
        restore_ps = round((wish.restore_s or wish.detect_s) * PS_PER_S)
        poll_ps = min(round((wish.poll_s or wish.detect_s) * PS_PER_S), detect_ps, restore_ps)
        return WatchdogWish(wish.action, detect_ps, restore_ps, poll_ps)
    return None


def set_settings(rows: PortRows, network: Network, params: PacketParams, settings: SiteSettings) -> None:
    """Ports and memory as the settings of their devices say."""
    pairs = _links_between(network)
    for device in settings.devices.values():
        node = network.index.get(device.name, NONE)
        if node == NONE:
            continue
        if device.cell_bytes is not None and params.cell_bytes == USUAL.cell_bytes:
            rows.cell_bytes[node] = device.cell_bytes
        if device.buffer_total_bytes is not None and params.buffer_bytes == USUAL.buffer_bytes:
            rows.buffer_bytes[node] = device.buffer_total_bytes
        for port in device.ports:
            far = _node_of(network, port)
            if far == NONE or port.enabled is False:
                continue
            for link in pairs.get((node, far), [])[:1]:
                _set_sending(rows, params, device, port, settings.dscp, link)
                pairs[node, far] = pairs[node, far][1:]
            for link in pairs.get((far, -1 - node), [])[:1]:
                _set_receiving(rows, params, device, port, settings.dscp, link)
                pairs[far, -1 - node] = pairs[far, -1 - node][1:]


def _links_between(network: Network) -> dict[tuple[int, int], list[int]]:
    """Links from a to b, in order: under (a, b) for the ports that send, under (a, -1 - b) for those that receive."""
    found: dict[tuple[int, int], list[int]] = {}
    ends = zip(network.links["src"].tolist(), network.links["dst"].tolist(), strict=True)
    for link, (src, dst) in enumerate(ends):
        found.setdefault((src, dst), []).append(link)
        found.setdefault((src, -1 - dst), []).append(link)
    return found


def _node_of(network: Network, port: PortSettings) -> int:
    """The node at the other end: a switch, or the NIC that the peer's port belongs to."""
    if port.peer is None:
        return NONE
    card = f"{port.peer}/{(port.peer_port or '').partition('p')[0]}"
    return network.index.get(card, network.index.get(port.peer, NONE))


def _row(table: ClassTable, index: int | None) -> int | None:
    """A row of a class table; None where there is none."""
    return table[index] if index is not None and 0 <= index < len(table) else None


def _queue(device: DeviceSettings, port: PortSettings, dscp: int) -> int | None:
    """Egress queue of packets with that DSCP; untrusted or unmapped ones go where the unmarked go."""
    found = device.qos_map(port.qos_map)
    if found is None:
        return None
    traffic_class = _row(found.dscp_to_tc, dscp) if found.trust in ("dscp", "both", None) else 0
    return _row(found.tc_to_queue, traffic_class or 0)


def _set_sending(
    rows: PortRows, params: PacketParams, device: DeviceSettings, port: PortSettings, dscp: int, link: int
) -> None:
    """The largest packet, pauses, marks and weights of a port that sends into a link."""
    if port.mtu_bytes is not None:
        rows.mtu_bytes[link] = port.mtu_bytes + ETHERNET_BYTES
    found = device.qos_map(port.qos_map)
    if found is not None and device.sees("pfc") and params.pfc == USUAL.pfc:
        priority = _row(found.tc_to_priority, _row(found.dscp_to_tc, dscp))
        rows.obeys[link] = False
        rows.obeys[link, RDMA] = port.pfc is not None and port.pfc.mode != "off" and priority in port.pfc.rx
    plan = device.queue_plan(port.queue_plan)
    rdma, rest = _queue(device, port, dscp), _queue(device, port, 0)
    if plan is None or rdma is None or rest is None:
        return
    queue, other = plan.get(rdma), plan.get(rest)
    _set_marks(rows, params, device, queue.ecn if queue is not None else None, link)
    _set_weights(rows, queue, other, link)


def _set_marks(
    rows: PortRows, params: PacketParams, device: DeviceSettings, ramp: EcnSettings | None, link: int
) -> None:
    """Whether the queue of RDMA marks, and its ramp."""
    if device.sees("ecn") and params.ecn:
        rows.marks[link] = ramp is not None and ramp.marks is not False and device.ecn_enabled is not False
    if ramp is None:
        return
    rows.drops_non_ect[link] = bool(ramp.drops_non_ect) or params.drops_non_ect
    if ramp.kmin_bytes is not None and ramp.kmax_bytes is not None:
        rows.kmin_bytes[link] = params.kmin_bytes or ramp.kmin_bytes
        rows.kmax_bytes[link] = params.kmax_bytes or ramp.kmax_bytes
    if ramp.pmax_ratio is not None and params.pmax == USUAL.pmax:
        rows.pmax[link] = ramp.pmax_ratio


def _set_weights(rows: PortRows, queue: QueueSettings | None, other: QueueSettings | None, link: int) -> None:
    """How the queues of RDMA and of the rest are served: turns by weight, or RDMA strictly before."""
    service = [row.scheduler for row in (queue, other) if row is not None and row.scheduler is not None]
    weights = [row.weight or 0 for row in service if row.kind != "strict"]
    if len(weights) == 2 and min(weights) > 0:
        for lane, weight in zip((RDMA, TCP), weights, strict=True):
            rows.quantum_bytes[link, lane] = 2 * TURN_BYTES * weight // sum(weights)
    elif service and service[0].kind == "strict":
        rows.quantum_bytes[link, RDMA] = 0


def _set_receiving(
    rows: PortRows, params: PacketParams, device: DeviceSettings, port: PortSettings, dscp: int, link: int
) -> None:
    """Class, pauses and memory of a port that receives from a link."""
    found = device.qos_map(port.qos_map)
    if found is None:
        return
    if _queue(device, port, dscp) == _queue(device, port, 0):
        rows.lane_of_rdma[link] = TCP
    traffic_class = _row(found.dscp_to_tc, dscp)
    group = port.group(_row(found.tc_to_pg, traffic_class) or 0)
    profile = device.profile(group.profile) if group is not None else None
    if device.sees("pfc") and params.pfc == USUAL.pfc:
        pauses = (
            port.pfc is not None and port.pfc.mode != "off" and _row(found.tc_to_priority, traffic_class) in port.pfc.tx
        )
        rows.lossless[link] = False
        rows.lossless[link, RDMA] = pauses
    if profile is not None:
        _set_memory(rows, params, profile, link)


def _set_memory(rows: PortRows, params: PacketParams, profile: BufferProfile, link: int) -> None:
    """Headroom, reserved bytes and threshold of the group that RDMA packets come in by."""
    if profile.xoff_bytes is not None and params.headroom_bytes == USUAL.headroom_bytes:
        rows.headroom_bytes[link] = profile.xoff_bytes
    if profile.reserved_bytes is not None and params.reserved_bytes == USUAL.reserved_bytes:
        own = max(0, (profile.headroom_size_bytes or 0) - (profile.xoff_bytes or 0))
        rows.reserved_bytes[link, RDMA] = max(profile.reserved_bytes, own)
    if profile.alpha is not None and params.alpha == USUAL.alpha:
        rows.alpha[link] = profile.alpha
    if profile.static_limit_bytes is not None and not params.xoff_bytes:
        rows.limit_bytes[link] = profile.static_limit_bytes
    if profile.xon_offset_bytes is not None and params.xon_offset_bytes == USUAL.xon_offset_bytes:
        rows.xon_offset_bytes[link] = profile.xon_offset_bytes
