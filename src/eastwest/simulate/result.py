"""`SimResult`, the one noun that every engine yields: when each message ended, what each link carried, which tier the
bytes crossed.

What an engine does not know is None, never zero: the fluid engine has no queues, marks, pauses or drops.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eastwest.finding import Finding, Verdict, verdict_of
from eastwest.simulate.network import TIER_OF_LEVEL, TIERS, Ints, Level, Network
from eastwest.units import BITS_PER_BYTE, PS_PER_S

Status = Literal["complete", "stalled", "interrupted"]
SCHEMA = "eastwest.simulate/1"
MAX_FLOW_ROWS = 20_000  # flows of the JSON document; more are summed up only
MAX_PORT_ROWS = 20_000  # links of the JSON document
MAX_SERIES = 64  # links of the JSON document whose bytes in time are listed
NOT_YET_PS = -1
PERCENTILES = (0, 50, 90, 99, 100)


@dataclass(frozen=True, eq=False)
class FlowRows:
    """(n,) columns of all messages: hosts, payload and wire bytes, wire bytes sent (fewer than `wire_bytes` of what was
    broken off), start and end (NOT_YET_PS: not yet), the number of their traffic, and the tier (index into TIERS) that
    they cross.
    """

    src: Ints
    dst: Ints
    size_bytes: Ints
    wire_bytes: Ints
    sent_bytes: Ints
    start_ps: Ints
    end_ps: Ints
    traffic: Ints
    tier: NDArray[np.int8]
    sent_again: Ints | None = None  # packets, by engines that know packets

    def __len__(self) -> int:
        return len(self.src)

    def only(self, rows: NDArray[np.bool_]) -> FlowRows:
        """The rows that are marked."""
        taken: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        taken = {name: None if column is None else column[rows] for name, column in taken.items()}
        return FlowRows(**taken)

    @property
    def fct_ps(self) -> Ints:
        """(n,) int64 completion times, NOT_YET_PS of what has not ended."""
        return np.where(self.end_ps >= 0, self.end_ps - self.start_ps, NOT_YET_PS).astype(np.int64)


@dataclass(frozen=True, eq=False)
class LinkRows:
    """(n_links,) columns: bytes carried, time with something to send, the highest rate; None where an engine does not
    know. `rate_bps` is the highest that a link had, `series_bytes` (n_links, n_bins) in bins of `bin_ps`.
    """

    carried_bytes: Ints
    rate_bps: Ints
    busy_ps: Ints | None = None
    peak_bps: NDArray[np.float64] | None = None
    series_bytes: NDArray[np.float64] | None = None
    bin_ps: int = 0


@dataclass(frozen=True, eq=False)
class QueueRows:
    """(n,) columns of the queues of transmitters, one for each class of each link in order, and of the ingress groups
    beside them: what only an engine with packets knows. `pfc_rx`, `pfc_tx` are frames that the device of the queue got
    and sent for it. `dropped` is the sum of `drop_causes`: overflow of memory, early by the ramp (what
    cannot be marked), the line (down, bit error, MTU), the PFC
    watchdog, the lifetime at the head of a queue.
    """

    link: Ints
    priority: Ints
    tx_bytes: Ints
    tx_packets: Ints
    marked: Ints
    pfc_rx: Ints
    pfc_tx: Ints
    paused_ps: Ints
    dropped: Ints
    peak_bytes: Ints
    drop_causes: Mapping[str, Ints]

    def __len__(self) -> int:
        return len(self.link)


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What the run cost: packets times links, events, CPU seconds, memory."""

    packet_hops: int
    events: int
    cpu_s: float
    peak_memory_bytes: int


@dataclass(frozen=True, eq=False)
class SimResult:
    """What one engine says of one scenario; `time_ps` is the end of the last message, or how far a broken run came."""

    scenario: str
    engine: str
    status: Status
    time_ps: int
    network: Network
    traffics: tuple[str, ...]
    flows: FlowRows
    links: LinkRows
    facts: EngineFacts
    findings: tuple[Finding, ...]
    queues: QueueRows | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """`fail` with an error, `warn` with a warning, else `pass`."""
        return verdict_of(self.findings)

    @property
    def tier_bytes(self) -> Mapping[str, int]:
        """Wire bytes that were sent, by the highest tier that they cross; the tiers that the network has."""
        sums = np.zeros(len(TIERS), np.int64)
        np.add.at(sums, self.flows.tier, self.flows.sent_bytes)
        levels = {TIER_OF_LEVEL[Level(level)] for level in np.unique(self.network.links["level"]).tolist()}
        return {tier: int(size) for tier, size in zip(TIERS, sums, strict=True) if tier in levels or size}

    def digest(self) -> str:
        """A fingerprint of what came out (not of what it cost): equal for equal runs on any machine."""
        found = hashlib.sha256()
        for column in (self.flows.start_ps, self.flows.end_ps, self.flows.wire_bytes, self.links.carried_bytes):
            found.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
        return found.hexdigest()

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The document of the command line's contract."""
        facts, used = self.facts, self._used_links()
        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "findings": [finding.as_json(lang) for finding in self.findings],
            "scenario": self.scenario,
            "status": self.status,
            "time_s": self.time_ps / PS_PER_S,
            "digest": self.digest(),
            "summary": summary_of(self),
            "flows": [self._flow(row) for row in range(min(len(self.flows), MAX_FLOW_ROWS))],
            "flows_left_out": max(0, len(self.flows) - MAX_FLOW_ROWS),
            "ports": [row for link in used[:MAX_PORT_ROWS].tolist() for row in self._ports(link)],
            "ports_left_out": max(0, len(used) - MAX_PORT_ROWS),
            "tiers": [{"tier": tier, "bytes": size} for tier, size in self.tier_bytes.items()],
            "engine": {
                "name": self.engine,
                "packet_hops": facts.packet_hops,
                "events": facts.events,
                "cpu_s": facts.cpu_s,
                "peak_memory_bytes": facts.peak_memory_bytes,
            },
            **({} if self.links.series_bytes is None else {"series": self._series()}),
            **self.details,
        }

    def _used_links(self) -> Ints:
        """(n,) links that carried something: in order, or the busiest first when not all are listed."""
        used = np.flatnonzero(self.links.carried_bytes)
        if len(used) > MAX_PORT_ROWS:
            load = self.links.carried_bytes[used] / np.maximum(self.links.rate_bps[used], 1)
            used = used[np.argsort(-load, kind="stable")]
        return used.astype(np.int64)

    def _series(self) -> dict[str, Any]:
        """Bytes in time of the links that carried the most for their rate."""
        rows = self.links
        series = rows.series_bytes if rows.series_bytes is not None else np.zeros((0, 0))
        load = rows.carried_bytes / np.maximum(rows.rate_bps, 1)
        n_bins = -(-self.time_ps // max(1, rows.bin_ps))
        busiest = [link for link in np.argsort(-load, kind="stable")[:MAX_SERIES].tolist() if load[link]]
        names, links = self.network.names, self.network.links
        return {
            "bin_s": rows.bin_ps / PS_PER_S,
            "ports": [
                {
                    "device": names[links["src"][link]],
                    "port": names[links["dst"][link]],
                    "rate_bps": int(rows.rate_bps[link]),
                    "bytes": [round(float(size)) for size in series[link, :n_bins]],
                }
                for link in busiest
            ],
        }

    def _flow(self, row: int) -> dict[str, Any]:
        flows, names = self.flows, self.network.names
        hosts = self.network.hosts
        done = int(flows.end_ps[row]) >= 0
        started = int(flows.start_ps[row]) >= 0
        return {
            "id": row,
            "traffic": self.traffics[int(flows.traffic[row])],
            "src": names[hosts[flows.src[row]]],
            "dst": names[hosts[flows.dst[row]]],
            "bytes": int(flows.size_bytes[row]),
            "wire_bytes": int(flows.wire_bytes[row]),
            "sent_bytes": int(flows.sent_bytes[row]),
            "tier": TIERS[int(flows.tier[row])],
            "start_s": int(flows.start_ps[row]) / PS_PER_S if started else None,
            "fct_s": (int(flows.end_ps[row]) - int(flows.start_ps[row])) / PS_PER_S if done else None,
            "retransmitted_packets": int(flows.sent_again[row]) if flows.sent_again is not None else None,
        }

    def _ports(self, link: int) -> list[dict[str, Any]]:
        """The port of a link as one row; with queues one for each class that was used."""
        port, queues = self._port(link), self.queues
        if queues is None:
            return [port]
        rows = range(*np.searchsorted(queues.link, (link, link + 1)).tolist())
        return [
            port
            | {
                "priority": int(queues.priority[row]),
                "tx_bytes": int(queues.tx_bytes[row]),
                "ecn_marked_packets": int(queues.marked[row]),
                "pfc_rx_frames": int(queues.pfc_rx[row]),
                "pfc_tx_frames": int(queues.pfc_tx[row]),
                "paused_s": int(queues.paused_ps[row]) / PS_PER_S,
                "drops": int(queues.dropped[row]),
                "drops_by_cause": {cause: int(n[row]) for cause, n in queues.drop_causes.items() if n[row]},
                "peak_queue_bytes": int(queues.peak_bytes[row]),
            }
            for row in rows
        ]

    def _port(self, link: int) -> dict[str, Any]:
        rows, carried = self.network.links[link], int(self.links.carried_bytes[link])
        rate, seconds = int(self.links.rate_bps[link]), self.time_ps / PS_PER_S
        peak, busy = self.links.peak_bps, self.links.busy_ps
        found: dict[str, Any] = {
            "device": self.network.names[rows["src"]],
            "port": self.network.names[rows["dst"]],
            "cable": int(rows["cable"]),
            "level": Level(int(rows["level"])).name.lower(),
            "priority": None,
            "rate_bps": rate,
            "tx_bytes": carried,
            "mean_load_ratio": carried * BITS_PER_BYTE / (rate * seconds) if rate and seconds else None,
            "peak_load_ratio": float(peak[link]) / rate if peak is not None and rate else None,
            "busy_s": int(busy[link]) / PS_PER_S if busy is not None else None,
        }
        unknown = (
            "ecn_marked_packets",
            "pfc_rx_frames",
            "pfc_tx_frames",
            "paused_s",
            "drops",
            "drops_by_cause",
            "peak_queue_bytes",
        )
        return found | dict.fromkeys(unknown)


def summary_of(result: SimResult) -> dict[str, Any]:
    """Counts and percentiles of the completion times, in all and of each traffic."""
    return {
        **_summary(result, np.arange(len(result.flows))),
        "traffics": {
            name: _summary(result, np.flatnonzero(result.flows.traffic == number))
            for number, name in enumerate(result.traffics)
        },
    }


def _summary(result: SimResult, rows: Ints) -> dict[str, Any]:
    flows = result.flows
    fct, end, start = flows.fct_ps[rows], flows.end_ps[rows], flows.start_ps[rows]
    done = fct[fct >= 0]
    found: dict[str, Any] = {
        "n_flows": len(rows),
        "n_done": len(done),
        "bytes": int(flows.size_bytes[rows].sum()),
        "wire_bytes": int(flows.wire_bytes[rows].sum()),
    }
    if len(done):
        values = np.percentile(done, PERCENTILES, method="lower")
        found |= {f"fct_p{p}_s": int(value) / PS_PER_S for p, value in zip(PERCENTILES, values, strict=True)}
    if len(done) and len(done) == len(rows):
        found["time_s"] = int(end.max() - start.min()) / PS_PER_S
    return found
