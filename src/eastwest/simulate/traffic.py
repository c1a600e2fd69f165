"""A scenario's traffic as messages between the hosts of its network, with every name and count that does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eastwest.simulate import patterns
from eastwest.simulate.collective_traffic import Run, template
from eastwest.simulate.dependencies import is_cyclic
from eastwest.simulate.flow_list import FlowList
from eastwest.simulate.messages import Messages, joined, lone, placed, repeated, waiting
from eastwest.simulate.network import Ints, Network
from eastwest.simulate.rings import members_per_domain
from eastwest.simulate.scenario import Scenario
from eastwest.simulate.scenario_traffic import CollectiveWish, PatternWish, StepWish, TrafficWish
from eastwest.simulate.sections import Mistakes
from eastwest.simulate.step_rows import StepRows
from eastwest.simulate.step_site import SiteJobs
from eastwest.simulate.step_traffic import step_messages
from eastwest.spec.document import Path
from eastwest.spec.mistakes import shown

MAX_MESSAGES = 20_000_000  # of all traffics: 2 GB of tables
MAX_SHOWN = 20  # mistakes of one list
SEED_STEP = 1_000_003  # a prime between the seeds of two traffics


@dataclass(frozen=True, eq=False)
class Traffic:
    """All messages, (n,) int64 the number of the traffic that each belongs to, and what the rows of steps are."""

    messages: Messages
    number: Ints
    steps: tuple[StepRows, ...] = ()


def traffic_of(scenario: Scenario, network: Network, jobs: SiteJobs | None = None) -> Traffic:
    """The messages of every traffic; `jobs` are those of the site, for steps. Raises InputError with every mistake at
    once.
    """
    parts: list[Messages] = []
    numbers: list[Ints] = []
    steps: list[StepRows] = []
    starts = {event.names[0]: event.at_ps for event in scenario.events if event.kind == "job_start"}
    for number, wish in enumerate(scenario.traffics):
        if isinstance(wish.what, StepWish):
            made = step_messages(wish, wish.what, scenario, network, jobs)
            found, rows = made or (None, None)
            first = sum(map(len, parts))
            steps += [replace(rows, number=number, first=first)] if rows is not None else []
        else:
            found = _messages(wish, network, scenario.seed + number * SEED_STEP, scenario.mistakes)
        if found is None:
            continue
        shift = starts.get(wish.name, wish.start_ps)
        parts.append(repeated(_shifted(found, shift), wish.repeat, wish.every_ps))
        numbers.append(np.full(len(parts[-1]), number, np.int64))
    scenario.mistakes.stop()
    return Traffic(joined(parts), np.concatenate(numbers), tuple(steps))


def _shifted(messages: Messages, by_ps: int) -> Messages:
    return replace(messages, start_ps=messages.start_ps + by_ps) if by_ps else messages


def _messages(wish: TrafficWish, network: Network, seed: int, mistakes: Mistakes) -> Messages | None:
    if isinstance(wish.what, FlowList):
        return _listed(wish.what, network, mistakes)
    if isinstance(wish.what, CollectiveWish):
        return _collective(wish, wish.what, network, mistakes)
    assert isinstance(wish.what, PatternWish)
    return _pattern(wish, wish.what, network, seed, mistakes)


def _listed(flows: FlowList, network: Network, mistakes: Mistakes) -> Messages | None:
    index = network.host_index
    src = np.array([index.get(name, -1) for name in flows.src], np.int64)
    dst = np.array([index.get(name, -1) for name in flows.dst], np.int64)
    before = len(mistakes.found)
    for names, hosts in ((flows.src, src), (flows.dst, dst)):
        for row in np.flatnonzero(hosts < 0)[:MAX_SHOWN].tolist():
            words = unknown_host(names[row], network)
            mistakes.add_at(words.pop("code"), flows.source, int(flows.lines[row]), _text(flows, row), **words)
    for row in np.flatnonzero((src == dst) & (src >= 0))[:MAX_SHOWN].tolist():
        mistakes.add_at(
            "EW-SIM-021", flows.source, int(flows.lines[row]), _text(flows, row), found=shown(flows.src[row])
        )
    messages = lone(src, dst, flows.size_bytes, flows.start_ps)
    if len(flows.after):
        messages = waiting(messages, (flows.after_first, flows.after))
        stuck = is_cyclic(messages.parent_first, messages.parents)
        if len(stuck):
            ids = ", ".join(map(str, stuck[:MAX_SHOWN].tolist()))
            row = int(stuck[0])
            mistakes.add_at("EW-SIM-024", flows.source, int(flows.lines[row]), _text(flows, row), found=ids)
    return messages if len(mistakes.found) == before else None


def _text(flows: FlowList, row: int) -> str:
    return f"{flows.src[row]},{flows.dst[row]},{flows.size_bytes[row]}"


def unknown_host(name: str, network: Network) -> dict[str, Any]:
    """Code and words for a host that the network does not have."""
    hosts = network.hosts
    known = f"{network.names[hosts[0]]} … {network.names[hosts[-1]]}"
    words: dict[str, Any] = {"code": "EW-SIM-020", "found": shown(name), "n_hosts": len(hosts), "known": known}
    return words


def _hosts(names: tuple[str, ...], network: Network, path: Path, mistakes: Mistakes) -> Ints | None:
    """(n,) hosts of names; None after a name that is unknown or twice there."""
    before = len(mistakes.found)
    for number, name in enumerate(names):
        if name not in network.host_index:
            words = unknown_host(name, network)
            mistakes.add(words.pop("code"), path, **words)
        elif name in names[:number]:
            mistakes.add("EW-SIM-014", path, found=name)
    if len(mistakes.found) > before:
        return None
    return np.array([network.host_index[name] for name in names], np.int64)


def _ranks(n: int, names: tuple[str, ...], network: Network, path: Path, mistakes: Mistakes) -> Ints | None:
    """(n,) hosts that take part: those that are named, else the first n, else all."""
    if names:
        return _hosts(names, network, (*path, "hosts"), mistakes)
    if n > network.n_hosts:
        mistakes.add("EW-SIM-025", (*path, "ranks"), found=f"{n:,}", limit=f"{network.n_hosts:,}")
        return None
    return np.arange(n or network.n_hosts, dtype=np.int64)


def _collective(wish: TrafficWish, what: CollectiveWish, network: Network, mistakes: Mistakes) -> Messages | None:
    hosts = _ranks(what.ranks, what.hosts, network, wish.path, mistakes)
    if hosts is None:
        return None
    size = what.group_size or len(hosts)
    block = size * what.stride
    if len(hosts) % block or len(hosts) < 2:
        words = {"found": f"{len(hosts):,}", "size": size, "stride": what.stride}
        mistakes.add("EW-SIM-026", (*wish.path, "ranks"), **words)
        return None
    groups = hosts.reshape(-1, size, what.stride).transpose(0, 2, 1).reshape(-1, size)
    per_domain = members_per_domain(network.domain[groups])
    if what.algorithm in ("hierarchical", "nvls") and not _fits(what.algorithm, per_domain, size, network, groups):
        code = "EW-SIM-027" if what.algorithm == "hierarchical" else "EW-SIM-028"
        mistakes.add(code, (*wish.path, "algorithm"), size=size)
        return None
    run = Run(what.collective, what.algorithm, what.size_bytes, size, max(1, per_domain), wish.channels, what.chunks)
    n = _n_messages(run) * len(groups) * wish.repeat * wish.qps
    if n > MAX_MESSAGES:
        mistakes.add("EW-SIM-017", wish.path, found=f"about {n:,}", limit=f"{MAX_MESSAGES:,}", what="messages")
        return None
    return placed(template(run), groups)


def _fits(algorithm: str, per_domain: int, size: int, network: Network, groups: Ints) -> bool:
    if algorithm == "hierarchical":
        return 1 < per_domain < size
    return per_domain == size and bool((network.domain_nodes[network.domain[groups]] >= 0).all())


def _n_messages(run: Run) -> int:
    """About how many messages one group sends."""
    rounds: dict[str, int] = {"ring": 2 * run.n, "tree": 4, "halving_doubling": 2 * run.n.bit_length(), "chain": 1}
    each = rounds.get(run.algorithm, run.n)
    if run.algorithm == "hierarchical":
        each = 2 * run.per_domain + 2 * run.n // run.per_domain
    return each * run.n * run.channels * run.chunks


def _pattern(wish: TrafficWish, what: PatternWish, network: Network, seed: int, mistakes: Mistakes) -> Messages | None:
    hosts = _ranks(what.ranks, (), network, wish.path, mistakes)
    if hosts is None:
        return None
    if len(hosts) < 2:
        mistakes.add("EW-SIM-026", wish.path, found=f"{len(hosts):,}", size=2, stride=1)
        return None
    n = len(hosts) * (len(hosts) if what.pattern == "all_to_all" else 1) * wish.repeat * wish.qps
    if n > MAX_MESSAGES:
        mistakes.add("EW-SIM-017", wish.path, found=f"{n:,}", limit=f"{MAX_MESSAGES:,}", what="messages")
        return None
    if what.pattern == "incast":
        return _incast(wish, what, network, hosts, seed, mistakes)
    if what.pattern == "stride" and what.stride % len(hosts) == 0:
        mistakes.add("EW-SIM-021", (*wish.path, "stride"), found=f"stride {what.stride}")
        return None
    made: dict[str, Callable[[], Messages]] = {
        "all_to_all": lambda: patterns.all_to_all(hosts, what.size_bytes),
        "permutation": lambda: patterns.permutation(hosts, what.size_bytes, seed),
        "stride": lambda: patterns.stride(hosts, what.size_bytes, what.stride),
    }
    return made[what.pattern]()


def _incast(
    wish: TrafficWish, what: PatternWish, network: Network, hosts: Ints, seed: int, mistakes: Mistakes
) -> Messages | None:
    path = wish.path
    receiver = _hosts((what.receiver,), network, (*path, "receiver"), mistakes) if what.receiver else hosts[:1]
    senders = _hosts(what.senders, network, (*path, "senders"), mistakes)
    if receiver is None or senders is None:
        return None
    if (senders == receiver[0]).any():
        mistakes.add("EW-SIM-021", (*path, "senders"), found=shown(network.names[network.hosts[receiver[0]]]))
        return None
    if not len(senders):
        if what.fan_in > len(hosts) - 1:
            mistakes.add("EW-SIM-025", (*path, "fan_in"), found=f"{what.fan_in:,}", limit=f"{len(hosts) - 1:,}")
            return None
        senders = patterns.drawn_senders(hosts, int(receiver[0]), what.fan_in, seed)
    return patterns.incast(senders, int(receiver[0]), what.size_bytes)
