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
from typing import Any, Literal, get_args

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


_KINDS: Mapping[str, CounterKind] = {kind: kind for kind in get_args(CounterKind)}
_LAYERS: Mapping[str, Layer] = {layer: layer for layer in get_args(Layer)}
_VIEWS = {
    "rx": "this port receives",
    "tx": "this port sends",
    "port": "this port",
    "paused": "the peer pauses us",
    "pausing": "we pause the peer",
    "queue": "this port's egress queue",
    "pg": "this port's ingress priority group",
    "pool": "the chip's memory",
    "receiver": "this NIC as receiver",
    "sender": "this NIC as sender",
    "nic": "this NIC",
    "host": "this host",
    "server": "this server",
    "job": "this job",
}
_LOOKS = {
    "downstream": "downstream of this port: its peer cannot drain",
    "here": "this device: it cannot drain (NIC: PCIe, memory, GPU; switch: the egress ports of this traffic)",
    "signal": "the cable, its optics and both ends' FEC",
    "hop": "which hop dropped: a class or headroom mistake when the priority should be lossless",
    "senders": "who sends through it",
    "bursts": "bursts that averages hide",
    "headroom": "headroom against cable length",
    "ecn": "ECN switch of the queue, ECT bits",
    "mtu": "MTU of both ends",
    "queues": "queues on the way",
    "dcqcn": "DCQCN switched on for the priority",
    "path": "path loss or a dead peer",
    "software": "the receiving software",
    "first": "the first error on any rank",
    "rewrite": "a device that changes headers",
    "light": "fibre, connectors, the peer's laser",
    "laser": "this module's laser",
    "air": "air flow",
    "pcie": "slot, payload, ACS, IOMMU",
    "slot": "slot and riser",
    "targets": "acceptance targets",
    "first_rank": "the first rank that stopped",
    "-": "",
}
# One row a counter: name (* told apart by priority or queue), unit, kind, layer, view, where to look, meaning.
_TABLE = """
rx_bytes*                bytes       counter   link        rx       -          bytes received
tx_bytes*                bytes       counter   link        tx       -          bytes sent
rx_packets*              packets     counter   link        rx       -          packets received
tx_packets*              packets     counter   link        tx       -          packets sent
rx_rate_bps              bps         gauge     link        rx       -          rate received, averaged by the device
tx_rate_bps              bps         gauge     link        tx       -          rate sent, averaged by the device
link_rate_bps            bps         gauge     link        port     -          negotiated rate of the port
link_up                  ratio       gauge     link        port     signal     1 when the link is up
mtu_bytes                bytes       gauge     link        port     -          MTU in force
pfc_rx_frames*           frames      counter   link        paused   downstream PFC frames received
pfc_tx_frames*           frames      counter   link        pausing  here       PFC frames sent
paused_s*                s           counter   link        paused   downstream time that the peer kept us paused
pausing_s*               s           counter   link        pausing  here       time that we kept the peer paused
pfc_rx_transitions*      events      counter   link        paused   downstream Xoff to Xon changes received
pause_rx_frames          frames      counter   link        paused   downstream link pause (802.3x) frames received
pause_tx_frames          frames      counter   link        pausing  here       link pause (802.3x) frames sent
storm_warnings           events      counter   host        pausing  here       the NIC paused the network for long
storm_errors             events      counter   host        pausing  here       the NIC gave up pausing after too long
storms_detected*         events      counter   link        paused   downstream watchdog acted on a queue
storms_restored*         events      counter   link        paused   -          watchdog gave a queue back
storm_drops*             packets     counter   link        paused   downstream packets dropped by the watchdog
xmit_wait_ticks*         ticks       counter   link        paused   downstream InfiniBand: ticks without credits
ecn_marked_packets*      packets     counter   link        queue    senders    packets marked CE by this queue
ecn_marked_bytes*        bytes       counter   link        queue    senders    bytes marked CE by this queue
queue_bytes*             bytes       gauge     link        queue    senders    bytes that wait now
peak_queue_bytes*        bytes       watermark link        queue    bursts     most bytes that waited
pg_bytes*                bytes       gauge     link        pg       here       bytes held now for this priority group
peak_pg_bytes*           bytes       watermark link        pg       here       most shared bytes held
peak_headroom_bytes*     bytes       watermark link        pg       here       most headroom used, full means loss
pool_bytes               bytes       gauge     link        pool     -          bytes of the pool in use
peak_pool_bytes          bytes       watermark link        pool     -          most bytes of the pool in use
trimmed_packets*         packets     counter   link        queue    senders    packets cut to their header
drops*                   packets     counter   link        port     hop        packets dropped, by any cause
rx_drops*                packets     counter   link        rx       hop        packets dropped on arrival: no buffer
tx_drops*                packets     counter   link        tx       hop        packets dropped before sending
pg_drops*                packets     counter   link        rx       headroom   packets that found no headroom
wred_drops*              packets     counter   link        tx       ecn        packets dropped by WRED
oversize_frames          frames      counter   link        rx       mtu        frames longer than the port's MTU
rx_errors                frames      counter   link        rx       signal     frames received with any error
tx_errors                frames      counter   link        tx       -          frames that could not be sent
ecn_received_packets     packets     counter   transport   receiver queues     CE-marked RoCE packets received
cnp_tx_packets           packets     counter   transport   receiver queues     CNPs sent to senders
cnp_rx_packets           packets     counter   transport   sender   queues     CNPs acted on
cnp_ignored_packets      packets     counter   transport   sender   dcqcn      CNPs ignored
out_of_sequence_packets  packets     counter   transport   receiver hop        gaps seen: loss, or reordering by spray
sequence_naks            packets     counter   transport   sender   hop        NAKs for a gap: real loss or reordering
ack_timeouts             events      counter   transport   sender   path       no acknowledgement in time
implied_naks             events      counter   transport   sender   hop        gaps found by a later response
duplicate_requests       packets     counter   transport   receiver hop        requests received twice
rnr_naks                 packets     counter   transport   sender   software   receiver not ready
receive_queue_empty      packets     counter   transport   receiver software   no receive work request posted
retransmitted_packets    packets     counter   transport   sender   hop        packets sent again
retries_exceeded         events      counter   transport   sender   path       queue pairs that failed after all retries
completion_errors        events      counter   transport   nic      first      work requests completed with an error
slow_restarts            events      counter   transport   sender   hop        restarts at low rate after loss
icrc_errors              packets     counter   transport   receiver rewrite    RoCE packets with a bad invariant CRC
tcp_retransmits          packets     counter   transport   host     hop        TCP segments sent again
crc_errors               frames      counter   physical    rx       signal     frames with a bad check sum
symbol_errors            symbols     counter   physical    rx       signal     symbols that no FEC could correct
fec_corrected            codewords   counter   physical    rx       signal     code words that FEC corrected
fec_corrected_bits       bits        counter   physical    rx       signal     bits that FEC corrected
fec_uncorrected          codewords   counter   physical    rx       signal     code words that FEC could not correct
pre_fec_ber_ratio        ratio       gauge     physical    rx       signal     bit error ratio before FEC
post_fec_ber_ratio       ratio       gauge     physical    rx       signal     bit error ratio after FEC
link_downs               events      counter   physical    port     signal     times that the link went down
rx_power_dbm             dbm         gauge     physical    rx       light      light received, per lane
tx_power_dbm             dbm         gauge     physical    tx       laser      light sent, per lane
laser_bias_a             a           gauge     physical    tx       laser      laser bias current, per lane
module_temperature_c     c           gauge     physical    port     air        temperature of the module
module_voltage_v         v           gauge     physical    port     -          supply of the module
buffer_passed_threshold  events      counter   host        rx       here       times that the buffer was nearly full
pcie_read_stalled_ratio  ratio       gauge     host        nic      pcie       share of time that reads waited
pcie_write_stalled_ratio ratio       gauge     host        nic      pcie       share of time that writes waited
pcie_errors              events      counter   host        server   slot       PCIe replays and signal errors
pcie_width_lanes         lanes       gauge     host        server   slot       negotiated PCIe lanes
gpu_utilization_ratio    ratio       gauge     host        server   -          share of time with any kernel
gpu_power_w              w           gauge     host        server   -          power of the GPU, low while waiting
tensor_active_ratio      ratio       gauge     host        server   -          share of time with tensor cores busy
busbw_bytes_per_s        bytes_per_s gauge     application job      targets    bus bandwidth of a collective
algbw_bytes_per_s        bytes_per_s gauge     application job      -          algorithm bandwidth of a collective
step_time_s              s           gauge     application job      -          time of one training step
exposed_communication_s  s           gauge     application job      -          communication that nothing hides
nccl_timeouts            events      counter   application job      first_rank NCCL or process group timeouts
nccl_retries             events      counter   application job      hop        transport retries in the NCCL log
iteration_tokens_per_s   per_s       gauge     application job      -          tokens per second
"""


def _rows() -> list[tuple[str, Counter]]:
    """Every row of the table as a Counter, by name."""
    rows = []
    for line in _TABLE.strip().splitlines():
        name, unit, kind, layer, view, look, meaning = line.split(maxsplit=6)
        bare, per_priority = name.rstrip("*"), name.endswith("*")
        row = Counter(bare, meaning, unit, _KINDS[kind], _LAYERS[layer], _VIEWS[view], _LOOKS[look], per_priority)
        rows.append((bare, row))
    return sorted(rows, key=lambda row: row[0])


CANONICAL: Registry[Counter] = Registry("counter", _rows())
# The seeds' two lists (text 000, section 5.2, whose table was lost in extraction: our reconstruction; text 001,
# section 5.2) in canonical names.
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
