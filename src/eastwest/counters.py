"""The canonical counters: one row each, whatever device or tool prints them; and `Observation` and `Event`, one
reading and one happening.

The simulator writes the same names as the readers of real devices, so diagnosis cannot tell them apart. Direction
is always that of the port in the row: `pfc_rx_frames` were received, so the *peer* pauses *us* and the congestion
is downstream of this port; `pfc_tx_frames` were sent, so *we* pause the peer because *we* cannot drain. A counter
that a source does not print is absent, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from eastwest.registry import Registry

CounterKind = Literal["counter", "gauge", "watermark"]
Layer = Literal["physical", "link", "transport", "host", "application"]


@dataclass(frozen=True, slots=True)
class Counter:
    """One canonical counter.

    `unit` is a base unit ("packets", "bytes", "s", "ratio", "dbm" …), `kind` says whether it only grows (counter),
    is a state (gauge) or a maximum since somebody cleared it (watermark: never take its rate); `per_priority`
    whether it is told apart by priority or queue; `view` whose side it tells, `look` where to look when it rises.
    """

    name: str
    meaning: str
    unit: str
    kind: CounterKind
    layer: Layer
    view: str
    look: str = ""
    per_priority: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """One reading: `time` in Unix seconds (simulated: seconds since the start; None when the text has none), `source`
    file or command, `line` from 1.
    """

    time: float | None
    device: str
    port: str | None
    priority: int | None
    counter: str
    value: float
    unit: str
    source: str = ""
    line: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The observation in the shape of the command line's contract."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Event:
    """One happening: `kind` is a canonical word (link_down, storm_detected, nccl_timeout …), `subject` who it is
    about, `text` the line as found.
    """

    time: float | None
    subject: str
    kind: str
    text: str
    device: str = ""
    port: str | None = None
    priority: int | None = None
    source: str = ""
    line: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The event in the shape of the command line's contract."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


_TX, _RX, _PORT, _NIC, _JOB = "this port sends", "this port receives", "this port", "this NIC", "this job"
_DOWN = "downstream of this port: its peer cannot drain"
_HERE = "this device: it cannot drain (on a NIC: PCIe, memory, GPU; on a switch: the egress ports that the traffic leaves by)"
_SIGNAL = "the cable, its optics and both ends' FEC"
_LOSSY = "which hop dropped: a class or headroom mistake when the priority should be lossless"


def _rows() -> list[Counter]:
    return [*_volume(), *_pause(), *_queue(), *_loss(), *_transport(), *_physical(), *_host(), *_application()]


def _volume() -> list[Counter]:
    return [
        Counter("rx_bytes", "bytes received", "bytes", "counter", "link", _RX, per_priority=True),
        Counter("tx_bytes", "bytes sent", "bytes", "counter", "link", _TX, per_priority=True),
        Counter("rx_packets", "packets received", "packets", "counter", "link", _RX, per_priority=True),
        Counter("tx_packets", "packets sent", "packets", "counter", "link", _TX, per_priority=True),
        Counter("rx_rate_bps", "rate received, averaged by the device", "bps", "gauge", "link", _RX),
        Counter("tx_rate_bps", "rate sent, averaged by the device", "bps", "gauge", "link", _TX),
        Counter("link_rate_bps", "negotiated rate of the port", "bps", "gauge", "link", _PORT),
        Counter("link_up", "1 when the link is up", "ratio", "gauge", "link", _PORT, _SIGNAL),
        Counter("mtu_bytes", "MTU in force", "bytes", "gauge", "link", _PORT),
    ]


def _pause() -> list[Counter]:
    paused_by_peer, pauses_peer = "the peer pauses us", "we pause the peer"
    return [
        Counter("pfc_rx_frames", "PFC frames received", "frames", "counter", "link", paused_by_peer, _DOWN, True),
        Counter("pfc_tx_frames", "PFC frames sent", "frames", "counter", "link", pauses_peer, _HERE, True),
        Counter("paused_s", "time that the peer kept us paused", "s", "counter", "link", paused_by_peer, _DOWN, True),
        Counter("pausing_s", "time that we kept the peer paused", "s", "counter", "link", pauses_peer, _HERE, True),
        Counter(
            "pfc_rx_transitions",
            "Xoff to Xon changes received",
            "events",
            "counter",
            "link",
            paused_by_peer,
            _DOWN,
            True,
        ),
        Counter(
            "pause_rx_frames", "link pause (802.3x) frames received", "frames", "counter", "link", paused_by_peer, _DOWN
        ),
        Counter("pause_tx_frames", "link pause (802.3x) frames sent", "frames", "counter", "link", pauses_peer, _HERE),
        Counter(
            "storm_warnings", "the NIC paused the network for long", "events", "counter", "host", pauses_peer, _HERE
        ),
        Counter(
            "storm_errors",
            "the NIC paused so long that it gave up pausing",
            "events",
            "counter",
            "host",
            pauses_peer,
            _HERE,
        ),
        Counter(
            "storms_detected", "watchdog acted on a queue", "events", "counter", "link", paused_by_peer, _DOWN, True
        ),
        Counter(
            "storms_restored",
            "watchdog gave a queue back",
            "events",
            "counter",
            "link",
            paused_by_peer,
            per_priority=True,
        ),
        Counter(
            "storm_drops", "packets dropped by the watchdog", "packets", "counter", "link", paused_by_peer, _DOWN, True
        ),
        Counter(
            "xmit_wait_ticks",
            "InfiniBand: ticks without credits while data waited",
            "ticks",
            "counter",
            "link",
            paused_by_peer,
            _DOWN,
            True,
        ),
    ]


def _queue() -> list[Counter]:
    egress, ingress = "this port's egress queue", "this port's ingress priority group"
    return [
        Counter(
            "ecn_marked_packets",
            "packets marked CE by this queue",
            "packets",
            "counter",
            "link",
            egress,
            "who sends through it",
            True,
        ),
        Counter(
            "ecn_marked_bytes",
            "bytes marked CE by this queue",
            "bytes",
            "counter",
            "link",
            egress,
            "who sends through it",
            True,
        ),
        Counter("queue_bytes", "bytes that wait now", "bytes", "gauge", "link", egress, "who sends through it", True),
        Counter(
            "peak_queue_bytes",
            "most bytes that waited",
            "bytes",
            "watermark",
            "link",
            egress,
            "bursts that averages hide",
            True,
        ),
        Counter("pg_bytes", "bytes held now for this priority group", "bytes", "gauge", "link", ingress, _HERE, True),
        Counter("peak_pg_bytes", "most shared bytes held", "bytes", "watermark", "link", ingress, _HERE, True),
        Counter(
            "peak_headroom_bytes",
            "most headroom used; near its size is danger of loss",
            "bytes",
            "watermark",
            "link",
            ingress,
            _HERE,
            True,
        ),
        Counter("pool_bytes", "bytes of the pool in use", "bytes", "gauge", "link", "the chip's memory"),
        Counter("peak_pool_bytes", "most bytes of the pool in use", "bytes", "watermark", "link", "the chip's memory"),
        Counter(
            "trimmed_packets",
            "packets cut to their header",
            "packets",
            "counter",
            "link",
            egress,
            "who sends through it",
            True,
        ),
    ]


def _loss() -> list[Counter]:
    return [
        Counter("drops", "packets dropped, by any cause", "packets", "counter", "link", _PORT, _LOSSY, True),
        Counter(
            "rx_drops", "packets dropped on arrival for lack of buffer", "packets", "counter", "link", _RX, _LOSSY, True
        ),
        Counter("tx_drops", "packets dropped before sending", "packets", "counter", "link", _TX, _LOSSY, True),
        Counter(
            "pg_drops",
            "packets that found no headroom",
            "packets",
            "counter",
            "link",
            _RX,
            "headroom against cable length",
            True,
        ),
        Counter(
            "wred_drops",
            "packets dropped by WRED",
            "packets",
            "counter",
            "link",
            _TX,
            "ECN switch of the queue, ECT bits",
            True,
        ),
        Counter(
            "oversize_frames", "frames longer than the port's MTU", "frames", "counter", "link", _RX, "MTU of both ends"
        ),
        Counter("rx_errors", "frames received with any error", "frames", "counter", "link", _RX, _SIGNAL),
        Counter("tx_errors", "frames that could not be sent", "frames", "counter", "link", _TX),
    ]


def _transport() -> list[Counter]:
    receiver, sender = "this NIC as receiver", "this NIC as sender"
    return [
        Counter(
            "ecn_received_packets",
            "CE-marked RoCE packets received",
            "packets",
            "counter",
            "transport",
            receiver,
            "queues on the way",
        ),
        Counter(
            "cnp_tx_packets", "CNPs sent to senders", "packets", "counter", "transport", receiver, "queues on the way"
        ),
        Counter("cnp_rx_packets", "CNPs acted on", "packets", "counter", "transport", sender, "queues on the way"),
        Counter(
            "cnp_ignored_packets",
            "CNPs ignored",
            "packets",
            "counter",
            "transport",
            sender,
            "DCQCN switched on for the priority",
        ),
        Counter(
            "out_of_sequence_packets",
            "gaps seen: loss, or reordering by spray",
            "packets",
            "counter",
            "transport",
            receiver,
            _LOSSY,
        ),
        Counter(
            "sequence_naks",
            "NAKs for a gap: real loss or reordering",
            "packets",
            "counter",
            "transport",
            sender,
            _LOSSY,
        ),
        Counter(
            "ack_timeouts",
            "no acknowledgement in time",
            "events",
            "counter",
            "transport",
            sender,
            "path loss or a dead peer",
        ),
        Counter("implied_naks", "gaps found by a later response", "events", "counter", "transport", sender, _LOSSY),
        Counter("duplicate_requests", "requests received twice", "packets", "counter", "transport", receiver, _LOSSY),
        Counter("rnr_naks", "receiver not ready", "packets", "counter", "transport", sender, "the receiving software"),
        Counter(
            "receive_queue_empty",
            "no receive work request posted",
            "packets",
            "counter",
            "transport",
            receiver,
            "the receiving software",
        ),
        Counter("retransmitted_packets", "packets sent again", "packets", "counter", "transport", sender, _LOSSY),
        Counter(
            "retries_exceeded",
            "queue pairs that failed after all retries",
            "events",
            "counter",
            "transport",
            sender,
            "path loss or a dead peer",
        ),
        Counter(
            "completion_errors",
            "work requests completed with an error",
            "events",
            "counter",
            "transport",
            _NIC,
            "the first error on any rank",
        ),
        Counter("slow_restarts", "restarts at low rate after loss", "events", "counter", "transport", sender, _LOSSY),
        Counter(
            "icrc_errors",
            "RoCE packets with a bad invariant CRC",
            "packets",
            "counter",
            "transport",
            receiver,
            "a device that changes headers",
        ),
        Counter("tcp_retransmits", "TCP segments sent again", "packets", "counter", "transport", "this host", _LOSSY),
    ]


def _physical() -> list[Counter]:
    return [
        Counter("crc_errors", "frames with a bad check sum", "frames", "counter", "physical", _RX, _SIGNAL),
        Counter("symbol_errors", "symbols that no FEC could correct", "symbols", "counter", "physical", _RX, _SIGNAL),
        Counter("fec_corrected", "code words that FEC corrected", "codewords", "counter", "physical", _RX, _SIGNAL),
        Counter("fec_corrected_bits", "bits that FEC corrected", "bits", "counter", "physical", _RX, _SIGNAL),
        Counter(
            "fec_uncorrected", "code words that FEC could not correct", "codewords", "counter", "physical", _RX, _SIGNAL
        ),
        Counter("pre_fec_ber_ratio", "bit error ratio before FEC", "ratio", "gauge", "physical", _RX, _SIGNAL),
        Counter("post_fec_ber_ratio", "bit error ratio after FEC", "ratio", "gauge", "physical", _RX, _SIGNAL),
        Counter("link_downs", "times that the link went down", "events", "counter", "physical", _PORT, _SIGNAL),
        Counter(
            "rx_power_dbm",
            "light received, per lane",
            "dbm",
            "gauge",
            "physical",
            _RX,
            "fibre, connectors, the peer's laser",
        ),
        Counter("tx_power_dbm", "light sent, per lane", "dbm", "gauge", "physical", _TX, "this module's laser"),
        Counter("laser_bias_a", "laser bias current, per lane", "a", "gauge", "physical", _TX, "this module's laser"),
        Counter("module_temperature_c", "temperature of the module", "c", "gauge", "physical", _PORT, "air flow"),
        Counter("module_voltage_v", "supply of the module", "v", "gauge", "physical", _PORT),
    ]


def _host() -> list[Counter]:
    server = "this server"
    return [
        Counter(
            "buffer_passed_threshold",
            "times that the NIC's port buffer was nearly full",
            "events",
            "counter",
            "host",
            _RX,
            _HERE,
        ),
        Counter(
            "pcie_read_stalled_ratio",
            "share of time that NIC reads waited for PCIe",
            "ratio",
            "gauge",
            "host",
            _NIC,
            "slot, payload, ACS, IOMMU",
        ),
        Counter(
            "pcie_write_stalled_ratio",
            "share of time that NIC writes waited for PCIe",
            "ratio",
            "gauge",
            "host",
            _NIC,
            "slot, payload, ACS, IOMMU",
        ),
        Counter("pcie_errors", "PCIe replays and signal errors", "events", "counter", "host", server, "slot and riser"),
        Counter("pcie_width_lanes", "negotiated PCIe lanes", "lanes", "gauge", "host", server, "slot and riser"),
        Counter(
            "gpu_utilization_ratio",
            "share of time with a kernel running; a waiting collective counts",
            "ratio",
            "gauge",
            "host",
            server,
        ),
        Counter(
            "gpu_power_w",
            "power drawn by the GPU; low with full utilisation means waiting",
            "w",
            "gauge",
            "host",
            server,
        ),
        Counter("tensor_active_ratio", "share of time with tensor cores busy", "ratio", "gauge", "host", server),
    ]


def _application() -> list[Counter]:
    return [
        Counter(
            "busbw_bytes_per_s",
            "bus bandwidth of a collective",
            "bytes_per_s",
            "gauge",
            "application",
            _JOB,
            "acceptance targets",
        ),
        Counter(
            "algbw_bytes_per_s", "algorithm bandwidth of a collective", "bytes_per_s", "gauge", "application", _JOB
        ),
        Counter("step_time_s", "time of one training step", "s", "gauge", "application", _JOB),
        Counter(
            "exposed_communication_s", "communication of a step that nothing hides", "s", "gauge", "application", _JOB
        ),
        Counter(
            "nccl_timeouts",
            "NCCL or process group timeouts in the log",
            "events",
            "counter",
            "application",
            _JOB,
            "the first rank that stopped",
        ),
        Counter(
            "nccl_retries",
            "transport retries and warnings in the NCCL log",
            "events",
            "counter",
            "application",
            _JOB,
            _LOSSY,
        ),
        Counter("iteration_tokens_per_s", "tokens per second", "per_s", "gauge", "application", _JOB),
    ]


CANONICAL: Registry[Counter] = Registry(
    "counter", [(row.name, row) for row in sorted(_rows(), key=lambda row: row.name)]
)
# The seeds' two lists (text 000: port utilisation, queue depth, PFC, retransmission, ECN; text 001, section 5.2), in canonical names. Text 000 lost its
# table in extraction: its list is our reconstruction.
SEED_INDICATORS: Mapping[str, tuple[str, ...]] = {
    "PFC trigger count": ("pfc_rx_frames", "pfc_tx_frames"),
    "PFC duration": ("paused_s", "pausing_s"),
    "NIC drops": ("rx_drops", "drops", "receive_queue_empty"),
    "NIC retransmissions": ("retransmitted_packets", "sequence_naks", "ack_timeouts", "out_of_sequence_packets"),
    "ECN share and trend": ("ecn_marked_packets", "ecn_received_packets", "cnp_tx_packets"),
    "buffer occupancy of the RoCE queue": ("queue_bytes", "peak_queue_bytes", "peak_headroom_bytes"),
    "NCCL timeouts and retries": ("nccl_timeouts", "nccl_retries"),
    "port rate": ("tx_bytes", "rx_bytes"),
    "bit errors": ("crc_errors", "fec_uncorrected", "pre_fec_ber_ratio"),
    "optical power": ("rx_power_dbm", "tx_power_dbm"),
}


def counter(name: str) -> Counter:
    """The canonical counter of that name. Raises UsageError with the nearest name when there is none.

    >>> counter("paused_s").unit
    's'
    """
    return CANONICAL.get(name)
