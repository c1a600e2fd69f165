"""Monitoring: collectors from ports x counters / interval, mirror ports with their capture servers, optical power
meters; in the bill when the site file asks for it, and what it would take when it does not.
"""

from __future__ import annotations

import math

import numpy as np

from eastwest.counters import CANONICAL
from eastwest.decision import Decision
from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.finding import Finding
from eastwest.plan.bom import BomRow
from eastwest.plan.part_names import CAPTURE_SERVER, COLLECTOR, OPTICAL_POWER_METER
from eastwest.plan.side_network import SideNetwork
from eastwest.spec.site import MonitoringWish, Site
from eastwest.units import DAY_S, format_bandwidth, format_count, format_port_rate, format_size

PRIORITIES = 8  # a counter by priority is read for each
SAMPLE_BYTES = 100  # one sample on the wire as a line of text exposition, uncompressed; assumed
STORED_SAMPLE_BYTES = 2  # one sample on disk; Prometheus documentation, storage: 1 to 2 bytes
COLLECTOR_SAMPLES_PER_S = 200_000  # what one server takes in without strain; assumed, far below published maxima
COLLECTOR_POWER_W, CAPTURE_POWER_W = 500.0, 500.0  # a two-socket server at moderate load; assumed
MIRROR_CABLE_M = 20.0  # assumed
SEED_BUDGET = "seed text 000, section 5.2: the monitoring budget belongs into the architecture's total"


def counters_per_port() -> int:
    """Canonical counters of one port: physical and link layer, those by priority for all eight.

    Those of transport and host belong to the NIC, not to the port.
    """
    rows = [row for _, row in CANONICAL if row.layer in ("physical", "link")]
    return sum(PRIORITIES if row.per_priority else 1 for row in rows)


def samples_per_s(n_ports: int, counters: int, interval_s: float) -> float:
    """Readings a second: ports x counters / interval.

    >>> samples_per_s(1024, 100, 10.0)
    10240.0
    """
    return n_ports * counters / interval_s


def monitored_ports(fabric: Fabric) -> int:
    """Ports with a cable, of switches and of NICs."""
    return int(np.count_nonzero(fabric.ports["link"] >= 0))


def monitoring_network(site: Site, fabric: Fabric) -> SideNetwork:
    """Collectors, mirror ports and power meters, as wished; without a wish one decision that says what it would
    take.
    """
    wish = site.monitoring or MonitoringWish()
    n_ports, counters = monitored_ports(fabric), wish.counters_per_port or counters_per_port()
    rate = samples_per_s(n_ports, counters, wish.interval_s)
    collectors = max(1, math.ceil(rate / COLLECTOR_SAMPLES_PER_S))
    decision = _decision(site, wish, n_ports, counters, rate, collectors)
    if site.monitoring is None:
        return SideNetwork((), (decision,))
    leaves = int(fabric.nodes_of(NodeKind.LEAF).size)
    captures = len(fabric.rooms) if leaves * wish.mirror_ports_per_leaf else 0
    rows = _bill(wish, fabric, leaves, collectors, captures)
    return SideNetwork(rows, (decision,), tuple(_short_of_ports(wish, fabric)), collectors + captures)


def _decision(site: Site, wish: MonitoringWish, n_ports: int, counters: int, rate: float, collectors: int) -> Decision:
    stored = rate * wish.retention_s * STORED_SAMPLE_BYTES
    kept = f"{format_count(wish.retention_s / DAY_S)} d need {format_size(stored)}"
    because = f"{format_count(round(rate))} samples/s, {format_bandwidth(rate * SAMPLE_BYTES)} on the wire; {kept}"
    if site.monitoring is None:
        because += "; not in the bill, because the site file has no `monitoring`"
    inputs = {
        "ports": n_ports,
        "counters": counters,
        "interval_s": wish.interval_s,
        "samples_per_s": rate,
        "bytes_per_s": rate * SAMPLE_BYTES,
        "stored_bytes": stored,
        "samples_per_s_of_a_collector": COLLECTOR_SAMPLES_PER_S,
    }
    formula = "ceil(ports x counters / interval / samples_per_s_of_a_collector)"
    source = f"{SEED_BUDGET}; bytes a sample: Prometheus documentation"
    return Decision("monitoring.collectors", collectors, "servers", because, formula, inputs, source)


def _short_of_ports(wish: MonitoringWish, fabric: Fabric) -> list[Finding]:
    """Leaves without a free port for mirrored traffic."""
    if not wish.mirror_ports_per_leaf:
        return []
    free = np.bincount(fabric.ports["node"][fabric.ports["link"] < 0], minlength=len(fabric.nodes))
    leaves = fabric.nodes_of(NodeKind.LEAF)
    short = leaves[free[leaves] < wish.mirror_ports_per_leaf]
    if not short.size:
        return []
    args = {"leaves": int(short.size), "of": int(leaves.size), "wished": wish.mirror_ports_per_leaf}
    path = "monitoring.mirror_ports_per_leaf"
    least = int(free[short].min())
    first = fabric.names[int(short[0])]
    return [Finding("EW-ADV-025", "warning", first, wish.mirror_ports_per_leaf, least, "ports", args, path=path)]


def _bill(wish: MonitoringWish, fabric: Fabric, leaves: int, collectors: int, captures: int) -> tuple[BomRow, ...]:
    where = "monitoring"
    note = "power assumed"
    power_w = COLLECTOR_POWER_W * collectors
    rows = [BomRow(COLLECTOR, "reads counters", collectors, "server", where, power_w, note, "monitoring")]
    mirrors = leaves * wish.mirror_ports_per_leaf
    if mirrors:
        power_w = CAPTURE_POWER_W * captures
        rows.append(BomRow(CAPTURE_SERVER, "records mirrors", captures, "server", where, power_w, note, "monitoring"))
        cable = f"AOC {format_port_rate(fabric.nic_rate_bps)} {MIRROR_CABLE_M:g} m"
        rows.append(BomRow(cable, "mirror port", mirrors, "link", where, None, "length assumed", "monitoring"))
    meters = wish.optical_power_meters * len(fabric.rooms)
    if meters:
        what = "measures each new link's receive power"
        rows.append(BomRow(OPTICAL_POWER_METER, what, meters, "meter", where, None, "one room each", "monitoring"))
    return tuple(rows)
