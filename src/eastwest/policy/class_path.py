"""From a mark on a packet to what a port does with it: every table followed as configured; and names that lead
nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from eastwest.policy.settings import BufferProfile, ClassTable, DeviceSettings, EcnSettings, PortSettings, QosMap


@dataclass(frozen=True, slots=True)
class ClassPath:
    """What a port does with one mark: traffic class, queue, priority group, wire priority; None where a table has no
    row.
    """

    tc: int | None
    queue: int | None
    pg: int | None
    priority: int | None
    pauses: bool
    ecn: EcnSettings | None
    headroom: BufferProfile | None


def class_path(device: DeviceSettings, port: PortSettings, dscp: int) -> ClassPath:
    """What `port` of `device` does with a packet of that DSCP (0-63), following every table as configured.

    The wire priority follows `tc_to_priority`; where that is not configured it is the inverse of
    `pfc_priority_to_queue`, else the TC itself, which is how SONiC, EOS and NX-OS number it.
    """
    maps = device.qos_map(port.qos_map) or QosMap("")
    tc = row_of(maps.dscp_to_tc, dscp)
    queue, pg = row_of(maps.tc_to_queue, tc), row_of(maps.tc_to_pg, tc)
    priority = wire_priority(maps, tc, queue)
    plan = device.queue_plan(port.queue_plan)
    row = plan.get(queue) if plan and queue is not None else None
    group = port.group(pg) if pg is not None else None
    pauses = port.pfc is not None and priority in port.pfc.priorities
    return ClassPath(
        tc, queue, pg, priority, pauses, row.ecn if row else None, device.profile(group.profile) if group else None
    )


def row_of(table: ClassTable, key: int | None) -> int | None:
    """Row `key` of a class table; None when the key is None, the table is not configured or the row is empty."""
    return table[key] if key is not None and 0 <= key < len(table) else None


def wire_priority(maps: QosMap, tc: int | None, queue: int | None) -> int | None:
    """The 802.1p priority that pauses of this class carry."""
    if tc is None:
        return None
    if maps.tc_to_priority:
        return row_of(maps.tc_to_priority, tc)
    owners = [priority for priority, own in enumerate(maps.pfc_priority_to_queue) if own == queue and own is not None]
    return owners[0] if len(owners) == 1 else tc


def dangling(device: DeviceSettings) -> tuple[tuple[str, str, str], ...]:
    """References to names that do not exist: (who refers, kind, name), in the order of ports and profiles."""
    found: list[tuple[str, str, str]] = []
    for port in device.ports:
        found += _missing(port.name, "map", [port.qos_map], device.qos_map)
        found += _missing(port.name, "queue plan", [port.queue_plan], device.queue_plan)
        found += _missing(
            port.name, "buffer profile", [group.profile for group in port.priority_groups], device.profile
        )
    for plan in device.queue_plans:
        found += _missing(plan.name, "buffer profile", [row.buffer_profile for row in plan.queues], device.profile)
    for profile in device.profiles:
        found += _missing(profile.name, "pool", [profile.pool], device.pool)
    return tuple(found)


def _missing(
    who: str, kind: str, names: Iterable[str | None], find: Callable[[str | None], object]
) -> list[tuple[str, str, str]]:
    return [(who, kind, name) for name in names if name and find(name) is None]
