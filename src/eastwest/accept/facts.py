"""What is known of the system that a result was measured on: each value with where it comes from.

A flag wins over the site file, the site file over the text, the text over an assumption; every assumption is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from eastwest.accept.gpus import gpu_of_name, is_board_open, product_of
from eastwest.dialects.readings import Readings

Origin = Literal["flag", "site", "text", "assumed"]
_STRENGTH: Mapping[Origin, int] = {"flag": 3, "site": 2, "text": 1, "assumed": 0}

# Settings of `dialects` that are facts here, and whether they are whole numbers.
FROM_TEXT: Mapping[str, tuple[str, bool]] = {
    "adapters": ("adapters", True),
    "algorithm": ("algorithm", False),
    "gpu": ("gpu", False),
    "gpu direct": ("gpu_direct", False),
    "local ranks": ("gpus_per_server", True),
    "nic rate": ("nic_rate_bps", True),
    "nics": ("nics_per_server", True),
    "nodes": ("nodes", True),
    "nvls": ("nvls", False),
    "ranks": ("ranks", True),
    "target": ("target_bytes_per_s", False),
    "transport": ("transport", False),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One value, where it comes from, and why in words (the flag, the line, the reason of an assumption)."""

    value: Any
    origin: Origin
    why: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Values by name: collective, ranks, nodes, gpus_per_server, nics_per_server, nic_rate_bps, gpu, gpu_printed,
    board, pcie_bytes_per_s, algorithm, nvls, transport, mtu_bytes, link_type, target_bytes_per_s,
    oversubscription_ratio.
    """

    by_name: Mapping[str, Fact] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """The value, or None when it is not known."""
        fact = self.by_name.get(name)
        return fact.value if fact else None

    def origin(self, name: str) -> Origin | None:
        """Where the value comes from."""
        fact = self.by_name.get(name)
        return fact.origin if fact else None

    def with_fact(self, name: str, value: Any, origin: Origin, why: str) -> Facts:
        """These facts with one more, unless a stronger one is there already or the value is None."""
        known = self.by_name.get(name)
        if value is None or (known and _STRENGTH[known.origin] >= _STRENGTH[origin]):
            return self
        return Facts({**self.by_name, name: Fact(value, origin, why)})

    def without(self, name: str) -> Facts:
        """These facts less one."""
        return Facts({key: fact for key, fact in self.by_name.items() if key != name})

    def joined(self, other: Facts) -> Facts:
        """Both, the stronger origin winning."""
        facts = self
        for name, fact in other.by_name.items():
            facts = facts.with_fact(name, fact.value, fact.origin, fact.why)
        return facts

    def assumed(self) -> tuple[str, ...]:
        """Every assumption in words: `gpus_per_server = 8 (why)`."""
        return tuple(
            f"{name} = {fact.value} ({fact.why})" for name, fact in self.by_name.items() if fact.origin == "assumed"
        )


def facts_of_flags(flags: Mapping[str, Any]) -> Facts:
    """Facts of command line options; None is an option that was not given."""
    return Facts({name: Fact(value, "flag", "flag") for name, value in flags.items() if value is not None})


def facts_of_text(readings: Readings) -> Facts:
    """Facts that the settings of a text state. A name with two different values is left out: the text describes more
    than one system.
    """
    values: dict[str, dict[Any, int | None]] = {}
    for setting in readings.settings:
        if setting.name in FROM_TEXT:
            name, is_whole = FROM_TEXT[setting.name]
            value: Any = int(setting.value) if is_whole else setting.value
            values.setdefault(name, {}).setdefault(value, setting.line.line)
    facts = Facts()
    for name, found in values.items():
        if name == "adapters":
            facts = _of_adapters(facts, found)
        elif name == "gpu":
            facts = facts_of_gpus(facts, found)
        elif len(found) == 1:
            ((value, line),) = found.items()
            facts = facts.with_fact(name, value, "text", f"line {line}")
    return facts


def facts_of_gpus(facts: Facts, told: Mapping[str, int | None]) -> Facts:
    """The GPU of a text from the names that it has (name -> line): `gpu` of the catalogue with whether its `board` is
    open, or `gpu_printed` where there is no ceiling for it. A text with two GPUs tells none.
    """
    known = {gpu_of_name(name) for name in told}
    line = next(iter(told.values()), None)
    if len(known) != 1:
        return facts
    gpu = known.pop()
    if gpu is None:
        product = product_of(next(iter(told))) if len(told) == 1 else None
        return facts.with_fact("gpu_printed", product, "text", f"line {line}")
    board = "open" if all(map(is_board_open, told)) else "known"
    return facts.with_fact("gpu", gpu, "text", f"line {line}").with_fact("board", board, "text", f"line {line}")


def _of_adapters(facts: Facts, found: Mapping[Any, int | None]) -> Facts:
    """East-west NICs from the adapters that NCCL lists: believed, as an assumption, when all servers list one power of
    two. Another number has storage or management adapters in it.
    """
    ((number, line), *others) = found.items()
    if others or number & (number - 1):
        return facts
    return facts.with_fact("nics_per_server", number, "assumed", f"line {line} lists {number} adapters")


def facts_of_site(servers: Iterable[Any], source: str, oversubscription_ratio: float = 1.0) -> Facts:
    """Facts of a site's server groups (`spec.resolve.ServerFacts`), and the down:up ratio that its fabric accepts over
    all tiers; a value in which groups differ is left out.
    """
    groups = list(servers)
    names = {
        "gpus_per_server": "gpus",
        "nics_per_server": "nics",
        "nic_rate_bps": "nic_rate_bps",
        "gpu": "gpu",
    }
    facts = Facts()
    for name, attribute in names.items():
        found = {getattr(group, attribute) for group in groups}
        if len(found) == 1:
            facts = facts.with_fact(name, found.pop(), "site", source)
    if oversubscription_ratio > 1:
        facts = facts.with_fact("oversubscription_ratio", oversubscription_ratio, "site", source)
    return facts
