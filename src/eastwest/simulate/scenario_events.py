"""The timeline of a scenario: what happens to links, devices, jobs and settings, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.simulate.sections import Mistakes, Section
from eastwest.spec.document import Path
from eastwest.spec.mistakes import shown

LINK_KINDS = ("link_down", "link_up", "link_degraded")
DEVICE_KINDS = ("nic_slow", "pcie_limit", "middlebox_rate")
NIC_KINDS = ("nic_down", "nic_up")
TRAFFIC_KINDS = ("job_start", "job_stop")
KINDS = (*LINK_KINDS, *DEVICE_KINDS, *NIC_KINDS, *TRAFFIC_KINDS, "config")
WITH_RATE = ("link_degraded", *DEVICE_KINDS)
CONFIG_KEYS = ("load_balancing",)


@dataclass(frozen=True, slots=True)
class EventWish:
    """One event: `kind` one of KINDS, `names` the link's two ends, the device or the traffic; `rate_bps` where it sets
    one; `count` of parallel cables or of a NIC's ports (0: all of them); `config` new settings.
    """

    at_ps: int
    kind: str
    names: tuple[str, ...]
    rate_bps: int
    count: int
    config: Mapping[str, str]
    path: Path


def read_events(data: Any, balancings: tuple[str, ...], mistakes: Mistakes) -> tuple[EventWish, ...]:
    """Every event, in the order of time."""
    if not isinstance(data, list):
        mistakes.add("EW-SIM-004", ("events",), found=shown(data), expected="a list of events, each with at")
        return ()
    found = [_read(item, ("events", number), balancings, mistakes) for number, item in enumerate(data)]
    return tuple(sorted((event for event in found if event is not None), key=lambda event: event.at_ps))


def _read(data: Any, path: Path, balancings: tuple[str, ...], mistakes: Mistakes) -> EventWish | None:
    section = Section(data, path, mistakes)
    kinds = [kind for kind in KINDS if kind in section]
    if len(kinds) != 1:
        if isinstance(data, dict):
            mistakes.add("EW-SIM-015", path, found=", ".join(kinds) or "none", choices=", ".join(KINDS))
        return None
    kind = kinds[0]
    at_ps = section.time_ps("at", None)
    config = _config(section, balancings, mistakes) if kind == "config" else {}
    names = () if kind == "config" else section.names(kind)
    wanted = 2 if kind in LINK_KINDS else 1
    if kind != "config" and len(names) != wanted:
        expected = "the two ends of the link, [leaf1, spine2]" if wanted == 2 else "one name"
        mistakes.add("EW-SIM-004", section.at(kind), found=shown(section.raw(kind)), expected=expected)
        return None
    rate_bps = section.rate("rate", None) if kind in WITH_RATE else 0
    event = EventWish(at_ps, kind, names, rate_bps, section.whole("count", 0), config, path)
    section.close()
    return event


def _config(section: Section, balancings: tuple[str, ...], mistakes: Mistakes) -> dict[str, str]:
    inner = Section(section.raw("config"), section.at("config"), mistakes)
    found = {"load_balancing": inner.choice("load_balancing", balancings, None)}
    inner.close()
    return found
