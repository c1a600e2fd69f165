"""What a scenario says of switches and NICs for the packet engine, read from `packet:`; every key has a default."""

from __future__ import annotations

from eastwest.simulate.packet.params import (
    PFC_CLASSES,
    QUEUES,
    TCP_CONTROLS,
    WATCHDOG_ACTIONS,
    DeviceWish,
    PacketParams,
    StormWish,
    TransportOfTraffic,
    WatchdogWish,
)
from eastwest.simulate.sections import Mistakes, Section
from eastwest.spec.mistakes import shown
from eastwest.units import PS_PER_S

MOST_ALPHA = 128.0  # dynamic_th 7 of SAI
MOST_TIMEOUT = 31  # five bits, InfiniBand specification
MOST_RETRIES = 7
MOST_HEAD_OF_QUEUE = 20  # no lifetime (InfiniBand specification 14.2.5.6)
LONG_PS = 1_000_000_000_000  # a storm without an end: a second
TRANSPORTS = ("dcqcn", "roce", "swift", "tcp")  # of single traffics
RECOVERIES = ("go_back_n", "selective_repeat")


def read_packet(top: Section, mistakes: Mistakes) -> PacketParams:
    """The section, or defaults without it; what contradicts itself is a mistake with its line."""
    usual = PacketParams()
    if "packet" not in top:
        top.raw("packet")
        return usual
    section = Section(top.raw("packet"), ("packet",), mistakes)
    found = PacketParams(
        buffer_bytes=section.size("buffer", usual.buffer_bytes),
        cell_bytes=section.size("cell", usual.cell_bytes),
        alpha=_alpha(section, "alpha", usual.alpha),
        lossy_alpha=_alpha(section, "lossy_alpha", usual.lossy_alpha),
        reserved_bytes=section.size("reserved", usual.reserved_bytes, least=0),
        xoff_bytes=section.size("xoff", 0, least=0),
        xon_offset_bytes=section.size("xon_offset", usual.xon_offset_bytes, least=0),
        headroom_bytes=section.size("headroom", 0, least=0) if "headroom" in section else usual.headroom_bytes,
        pfc=_classes(section, usual.pfc),
        ecn=section.flag("ecn", default=usual.ecn),
        kmin_bytes=section.size("kmin", 0, least=0),
        kmax_bytes=section.size("kmax", 0, least=0),
        pmax=section.number("pmax", usual.pmax),
        response=section.flag("pause_response", default=usual.response),
        cut_through_bytes=section.size("cut_through", 0, least=0),
        nic_buffer_bytes=section.size("nic_buffer", usual.nic_buffer_bytes),
        timeout=section.whole("timeout", usual.timeout, most=MOST_TIMEOUT),
        retries=section.whole("retries", usual.retries, least=0, most=MOST_RETRIES),
        recovery=section.choice("recovery", RECOVERIES, usual.recovery),
        credit_bytes=section.size("credits", 0, least=0),
        head_of_queue=section.whole("head_of_queue", usual.head_of_queue, least=0, most=MOST_HEAD_OF_QUEUE),
        tcp=section.choice("tcp", TCP_CONTROLS, usual.tcp),
        target_delay_ps=section.time_ps("target_delay", usual.target_delay_ps),
        window_packets=section.whole("window", usual.window_packets, most=usual.window_packets),
        answers_with_data=section.flag("acks_with_data", default=usual.answers_with_data),
        jitter_ps=section.time_ps("jitter", 0),
        drops_non_ect=section.flag("drop_non_ect", default=usual.drops_non_ect),
        transports=_transports(section, mistakes),
        devices=_devices(section, mistakes),
        storms=_storms(section, mistakes),
        watchdog=_watchdog(section, mistakes),
    )
    return _judged(found, section)


def _classes(section: Section, usual: str) -> str:
    """`off`, `rdma`, `all`; true and false stand for the first two."""
    value = section.raw("pfc", usual)
    if isinstance(value, bool):
        return "rdma" if value else "off"
    return section.choice("pfc", PFC_CLASSES, usual)


def _devices(section: Section, mistakes: Mistakes) -> tuple[DeviceWish, ...]:
    """`devices: {leaf1: {pfc: off, …}}`."""
    value = section.raw("devices")
    if value is None:
        return ()
    outer = Section(value, section.at("devices"), mistakes)
    return tuple(_device(str(name), Section(outer.raw(name), outer.at(name), mistakes)) for name in value)


def _device(name: str, section: Section) -> DeviceWish:
    def size(key: str) -> int | None:
        return section.size(key, 0, least=0) if key in section else section.raw(key)

    found = DeviceWish(
        name,
        size("buffer"),
        _alpha(section, "alpha", 1.0) if "alpha" in section else section.raw("alpha"),
        size("headroom"),
        size("xoff"),
        _classes(section, "rdma") if "pfc" in section else section.raw("pfc"),
        section.flag("ecn", default=True) if "ecn" in section else section.raw("ecn"),
        size("kmin"),
        size("kmax"),
        section.flag("misclassified", default=False),
        size("mtu"),
    )
    section.close()
    if found.kmin_bytes is not None and found.kmax_bytes is not None and found.kmin_bytes > found.kmax_bytes:
        words = {"found": f"{found.kmin_bytes:,} B", "expected": f"at most kmax, {found.kmax_bytes:,} B"}
        section.mistakes.add("EW-SIM-004", section.at("kmin"), **words)
    return found


def _transports(section: Section, mistakes: Mistakes) -> tuple[TransportOfTraffic, ...]:
    """`transports: {storage: {transport: tcp, class: rdma}}`."""
    value = section.raw("transports")
    if value is None:
        return ()
    outer = Section(value, section.at("transports"), mistakes)
    found = []
    for name in value if isinstance(value, dict) else ():
        inner = Section(outer.raw(name), outer.at(name), mistakes)
        transport = inner.choice("transport", TRANSPORTS, "tcp")
        queue = inner.choice("class", QUEUES, "best_effort" if transport == "tcp" else "rdma")
        found.append(TransportOfTraffic(str(name), transport, queue))
        inner.close()
    return tuple(found)


def _storms(section: Section, mistakes: Mistakes) -> tuple[StormWish, ...]:
    """`storms: [{host: h1, at: 1ms, for: 5ms}]`."""
    value = section.raw("storms")
    if not isinstance(value, list):
        if value is not None:
            words = {"found": shown(value), "expected": "a list of {host: …, at: …, for: …}"}
            mistakes.add("EW-SIM-004", section.at("storms"), **words)
        return ()
    rows = [Section(row, (*section.at("storms"), number), mistakes) for number, row in enumerate(value)]
    found = []
    for row in rows:
        found.append(StormWish(row.text("host", None), row.time_ps("at"), row.time_ps("for", LONG_PS)))
        row.close()
    return tuple(found)


def _watchdog(section: Section, mistakes: Mistakes) -> WatchdogWish | None:
    if "watchdog" not in section:
        section.raw("watchdog")
        return None
    inner, usual = Section(section.raw("watchdog"), section.at("watchdog"), mistakes), WatchdogWish()
    found = WatchdogWish(
        inner.choice("action", WATCHDOG_ACTIONS[1:], usual.action),
        inner.time_ps("detect", usual.detect_ps),
        inner.time_ps("restore", usual.restore_ps),
        inner.time_ps("poll", usual.poll_ps),
    )
    inner.close()
    if not 0 < found.poll_ps <= min(found.detect_ps, found.restore_ps):
        expected = "above 0 and at most the detection and the restoration time"
        mistakes.add("EW-SIM-004", inner.at("poll"), found=f"{found.poll_ps / PS_PER_S:g} s", expected=expected)
    return found


def _alpha(section: Section, key: str, usual: float) -> float:
    value = section.number(key, usual)
    if not 0 < value <= MOST_ALPHA:
        words = {"found": shown(value), "expected": f"above 0 and at most {MOST_ALPHA:g} (dynamic_th -8 to 7 are 2^n)"}
        section.mistakes.add("EW-SIM-004", section.at(key), **words)
        return usual
    return value


def _judged(found: PacketParams, section: Section) -> PacketParams:
    """The same; keys that there are not, and thresholds that contradict each other or the memory, are mistakes."""
    mistakes = section.mistakes
    section.raw("headroom")
    section.close()
    if found.kmin_bytes and found.kmax_bytes and found.kmin_bytes > found.kmax_bytes:
        words = {"found": f"{found.kmin_bytes:,} B", "expected": f"at most kmax, {found.kmax_bytes:,} B"}
        mistakes.add("EW-SIM-004", section.at("kmin"), **words)
    if not 0 <= found.pmax <= 1:
        mistakes.add("EW-SIM-004", section.at("pmax"), found=shown(found.pmax), expected="a probability, 0 to 1")
    if found.xoff_bytes >= found.buffer_bytes:
        words = {"found": f"{found.xoff_bytes:,} B", "expected": f"below the buffer, {found.buffer_bytes:,} B"}
        mistakes.add("EW-SIM-004", section.at("xoff"), **words)
    return found
