"""PFC watchdog timing: long enough for a real pause, short enough that routing does not notice the storm first."""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.policy.settings import WatchdogSettings
from eastwest.policy.settings_routing import BfdSettings

BASE_S = 0.2  # detection, restoration and poll of SONiC's `pfcwd start_default`
PORTS_PER_STEP = 32  # its scaling step
MAX_POLL_S = 1.0  # its cap on the poll interval
DETECT_RANGE_S = (0.1, 5.0)  # YANG sonic-pfcwd detection_time
RESTORE_RANGE_S = (0.1, 60.0)  # YANG sonic-pfcwd restoration_time
BFD = BfdSettings(interval_s=1.0, multiplier=3)  # Juniper JVD: slow enough that a pause storm does not take peers down
BGP_HOLD_S, BGP_KEEPALIVE_S = 10.0, 3.0  # SONiC BGP_NEIGHBOR defaults of the templates
DETECT_SOURCE = "SONiC pfcwd start_default: 200 ms x max(1, (ports-1)//32+1); poll at most 1000 ms (sonic-utilities)"


@dataclass(frozen=True, slots=True)
class Timing:
    """Watchdog times in seconds and the steps of 32 ports that scale them."""

    detect_s: float
    restore_s: float
    poll_s: float
    steps: int


def timing(n_ports: int) -> Timing:
    """Watchdog times of a switch with that many logical ports.

    Source: SONiC `pfcwd start_default`. Other OSs: EOS 0.01-60 s, Cumulus poll 100 ms x robustness 3, NX-OS poll
    100 ms.

    >>> timing(64).detect_s, timing(512).poll_s
    (0.4, 1.0)
    """
    steps = max(1, (n_ports - 1) // PORTS_PER_STEP + 1)
    return Timing(BASE_S * steps, BASE_S * steps, min(MAX_POLL_S, BASE_S * steps), steps)


def settings_for(n_ports: int, detect_s: float | None = None) -> WatchdogSettings:
    """Watchdog of a lossless switch: drop while the storm lasts; `detect_s` overrides the rule, restore and poll
    follow it.
    """
    rule = timing(n_ports)
    detect = rule.detect_s if detect_s is None else detect_s
    return WatchdogSettings(True, detect, max(detect, rule.restore_s), min(rule.poll_s, detect), "drop")


def conflicts(watchdog: WatchdogSettings, bfd: BfdSettings | None) -> tuple[str, ...]:
    """Relations that the times break, in words: poll <= detect, detect < BFD detection; empty when they hold or cannot
    be judged.

    >>> conflicts(WatchdogSettings(True, 0.05, 0.05, 10.0, "drop"), None)
    ('poll 10 s is longer than detection 0.05 s',)
    """
    found = []
    if watchdog.detect_s is not None and watchdog.poll_s is not None and watchdog.poll_s > watchdog.detect_s:
        found.append(f"poll {watchdog.poll_s:g} s is longer than detection {watchdog.detect_s:g} s")
    if watchdog.detect_s is not None and bfd is not None and watchdog.detect_s >= bfd.detection_s:
        found.append(f"detection {watchdog.detect_s:g} s is not shorter than BFD detection {bfd.detection_s:g} s")
    return tuple(found)
