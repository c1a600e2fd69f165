"""Naive oracles in exact fractions: max-min rates by filling in rounds; a run that solves all at each event."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

INFINITE = float("inf")
PS_PER_S, BITS_PER_BYTE = 10**12, 8

Way = Sequence[tuple[int, Fraction]]  # (link, share)


@dataclass
class NaiveFlow:
    """A flow of the naive run; `None` is no cap."""

    way: Way
    size_bytes: int = 0
    weight: Fraction = Fraction(1)
    cap_bps: int | None = None
    priority: int = 0
    start_ps: int = 0
    parents: Sequence[int] = ()
    parent_delay_ps: int = 0
    delay_ps: int = 0
    left_bits: Fraction = field(init=False)
    begin_ps: Fraction | None = None
    end_ps: Fraction | None = None

    def __post_init__(self) -> None:
        self.left_bits = Fraction(self.size_bytes * BITS_PER_BYTE)


def naive_rates(rates_bps: Sequence[int], flows: Sequence[NaiveFlow]) -> list[Fraction]:
    """Max-min rates: fill round by round, priority by priority."""
    free = [Fraction(rate) for rate in rates_bps]
    found = [Fraction(0)] * len(flows)
    for priority in sorted({flow.priority for flow in flows}, reverse=True):
        rising = {index for index, flow in enumerate(flows) if flow.priority == priority}
        while rising:
            level, stopped = _next_stop(free, flows, rising, found)
            for index in rising:
                grown = level * flows[index].weight
                found[index] += grown
                for link, share in flows[index].way:
                    free[link] -= grown * share
            rising -= stopped
    return found


def _next_stop(
    free: Sequence[Fraction], flows: Sequence[NaiveFlow], rising: set[int], found: Sequence[Fraction]
) -> tuple[Fraction, set[int]]:
    """By how much all rising flows rise until the first stops, and which stop then."""
    weight: dict[int, Fraction] = {}
    for index in rising:
        for link, share in flows[index].way:
            weight[link] = weight.get(link, Fraction(0)) + flows[index].weight * share
    steps = {("link", link): free[link] / total for link, total in weight.items()}
    for index in rising:
        cap = flows[index].cap_bps
        if cap is not None:
            steps["flow", index] = (cap - found[index]) / flows[index].weight
    level = min(steps.values())
    full = {name for name, step in steps.items() if step == level}
    stopped = {i for i in rising if ("flow", i) in full or any(("link", link) in full for link, _ in flows[i].way)}
    return level, stopped


def naive_run(rates_bps: Sequence[int], flows: Sequence[NaiveFlow], changes: Sequence[tuple[int, int, int]]) -> None:
    """Run all flows; `changes` are (time in ps, link, bit/s). Fills in `begin_ps` and `end_ps`; None: never."""
    rates, waiting, events = list(rates_bps), sorted(changes, key=lambda event: event[0]), 0
    ready = {i: Fraction(flow.start_ps) for i, flow in enumerate(flows) if not flow.parents}
    live: dict[int, Fraction] = {}
    now = Fraction(0)
    while True:
        finish = {i: flows[i].left_bits / rate for i, rate in live.items() if rate}
        times = [*ready.values(), *(now + spent * PS_PER_S for spent in finish.values())]
        if events < len(waiting):
            times.append(Fraction(waiting[events][0]))
        if not times:
            return
        instant = min(times)
        done = {i for i, spent in finish.items() if now + spent * PS_PER_S == instant}
        for i, rate in live.items():
            flows[i].left_bits -= rate * (instant - now) / PS_PER_S
        while events < len(waiting) and waiting[events][0] <= instant:
            rates[waiting[events][1]] = waiting[events][2]
            events += 1
        started = {i for i, at in ready.items() if at <= instant}
        for i in started:
            flows[i].begin_ps = instant
            del ready[i]
        ended = done | {i for i in started if not flows[i].size_bytes or _is_free(flows[i])}
        sending = sorted((set(live) | started) - ended)
        _end(flows, ended, ready, instant)
        live = dict(zip(sending, naive_rates(rates, [flows[i] for i in sending]), strict=True))
        now = instant


def _is_free(flow: NaiveFlow) -> bool:
    return not flow.way and flow.cap_bps is None


def _end(flows: Sequence[NaiveFlow], ended: set[int], ready: dict[int, Fraction], instant: Fraction) -> None:
    for i in ended:
        flows[i].end_ps = instant + flows[i].delay_ps
    for i, flow in enumerate(flows):
        ends = [flows[parent].end_ps for parent in flow.parents]
        if flow.parents and flow.begin_ps is None and i not in ready and all(end is not None for end in ends):
            latest = max(end for end in ends if end is not None)
            ready[i] = max(Fraction(flow.start_ps), latest + flow.parent_delay_ps)
