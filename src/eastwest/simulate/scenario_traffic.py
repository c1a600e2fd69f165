"""What a scenario's traffic may be: a list of flows, a collective, a pattern, or a job's step; read from `traffic:`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from eastwest.simulate.flow_list import FlowList, load_flows
from eastwest.simulate.sections import Mistakes, Section
from eastwest.spec.document import Path

MAX_CHANNELS = 64  # NCCL uses at most 64 (MAXCHANNELS)
MAX_QPS = 128  # NCCL_IB_QPS_PER_CONNECTION, at most
MAX_PRIORITY = 7
KINDS = ("flows", "collective", "pattern", "step")
PATTERNS = ("all_to_all", "incast", "permutation", "stride")
ALGORITHMS_OF = {
    "all_gather": ("ring", "pat"),
    "all_reduce": ("ring", "tree", "halving_doubling", "hierarchical", "nvls"),
    "all_to_all": ("pairwise", "direct", "hierarchical"),
    "broadcast": ("ring",),
    "reduce_scatter": ("ring", "pat"),
    "send_recv": ("chain",),
}


@dataclass(frozen=True, slots=True)
class CollectiveWish:
    """A collective of `size_bytes` (nccl-tests' S) over groups of `group_size` of the first `ranks` hosts, `stride`
    hosts apart; `chunks` go through a tree or chain one after another.
    """

    collective: str
    algorithm: str
    size_bytes: int
    ranks: int
    group_size: int
    stride: int
    chunks: int
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PatternWish:
    """A pattern of flows of `size_bytes` each: who sends to whom is drawn or counted."""

    pattern: str
    size_bytes: int
    fan_in: int
    stride: int
    ranks: int
    receiver: str
    senders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepWish:
    """One training step of a job of the site."""

    job: str


What = FlowList | CollectiveWish | PatternWish | StepWish


@dataclass(frozen=True, eq=False)
class TrafficWish:
    """One traffic: what it is, when it starts, and what each of its flows is worth.

    `channels` copies of a collective run side by side on a part of the bytes each, `qps` queue pairs share one message;
    it is repeated `repeat` times, `every_ps` apart.
    """

    name: str
    what: What
    start_ps: int
    priority: int
    weight: float
    cap_bps: int
    channels: int
    qps: int
    repeat: int
    every_ps: int
    path: Path


def read_traffics(data: Any, folder: FilePath, mistakes: Mistakes) -> tuple[TrafficWish, ...]:
    """Every traffic: a mapping, or a list of mappings."""
    listed: list[tuple[Path, Any]] = [(("traffic",), data)]
    if isinstance(data, list):
        listed = [(("traffic", number), item) for number, item in enumerate(data)]
        if not data:
            mistakes.add("EW-SIM-009", ("traffic",), missing="flows, collective, pattern or step")
    found = [_read(item, path, folder, mistakes, number) for number, (path, item) in enumerate(listed)]
    names: dict[str, Path] = {}
    for wish in found:
        if wish is not None and wish.name in names:
            mistakes.add("EW-SIM-014", (*wish.path, "name"), found=wish.name)
        elif wish is not None:
            names[wish.name] = wish.path
    return tuple(wish for wish in found if wish is not None)


def _read(data: Any, path: Path, folder: FilePath, mistakes: Mistakes, number: int) -> TrafficWish | None:
    section = Section(data, path, mistakes)
    kinds = [kind for kind in KINDS if kind in section]
    if len(kinds) != 1:
        if isinstance(data, dict):
            mistakes.add("EW-SIM-015", path, found=", ".join(kinds) or "none", choices=", ".join(KINDS))
        return None
    what = _READERS[kinds[0]](section, folder)
    wish = TrafficWish(
        section.text("name", f"traffic{number}"),
        what,  # type: ignore[arg-type]
        section.time_ps("start"),
        section.whole("priority", 0, least=0, most=MAX_PRIORITY),
        section.number("weight", 1.0),
        section.rate("cap", 0),
        section.whole("channels", 1, most=MAX_CHANNELS),
        section.whole("qps", 1, most=MAX_QPS),
        section.whole("repeat", 1, most=100_000),
        section.time_ps("every"),
        path,
    )
    section.close()
    return wish if what is not None else None


def _flows(section: Section, folder: FilePath) -> FlowList | None:
    return load_flows(section.text("flows"), folder, section.at("flows"), section.mistakes)


def _collective(section: Section, _folder: FilePath) -> CollectiveWish:
    collective = section.choice("collective", tuple(ALGORITHMS_OF), None)
    algorithms = ALGORITHMS_OF[collective]
    hosts = section.names("hosts")
    ranks = section.whole("ranks", len(hosts))
    return CollectiveWish(
        collective,
        section.choice("algorithm", algorithms, algorithms[0]),
        section.size("size", None),
        ranks,
        section.whole("group_size", 0, least=2),
        section.whole("stride", 1),
        section.whole("chunks", 1, most=100_000),
        hosts,
    )


def _pattern(section: Section, _folder: FilePath) -> PatternWish:
    pattern = section.choice("pattern", PATTERNS, None)
    senders = section.names("senders")
    return PatternWish(
        pattern,
        section.size("size", None),
        section.whole("fan_in", len(senders) or None) if pattern == "incast" else 0,
        section.whole("stride", None) if pattern == "stride" else 0,
        section.whole("ranks", 0),
        section.text("receiver"),
        senders,
    )


def _step(section: Section, _folder: FilePath) -> StepWish:
    return StepWish(section.text("step"))


_READERS = {"flows": _flows, "collective": _collective, "pattern": _pattern, "step": _step}
