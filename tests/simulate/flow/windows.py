"""Windows for the tests, and a naive oracle: all rates found anew, in fractions, at each end of a round trip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from eastwest.simulate.flow.build import flow_table, link_table, path_table
from eastwest.simulate.flow.engine import run_flows
from eastwest.simulate.flow.tables import EventTable, FlowOutcome
from eastwest.simulate.flow.transport_table import TransportTable, WindowTable, windowed_links, windowed_paths
from tests.simulate.flow.naive import NaiveFlow, naive_rates

PS_PER_S, BITS = 10**12, 8
INFINITE = float("inf")


def window_table(
    first_link: int,
    rtt_ps: Sequence[float],
    *,
    initial: float = 40_000,
    segment: float = 4000,
    most: float = INFINITE,
    loss: float = INFINITE,
    until_loss: float = INFINITE,
    idle_ps: float = INFINITE,
    halves: bool = False,
) -> WindowTable:
    """The same window for every connection, over its own round trip."""
    n = len(rtt_ps)

    def column(value: float) -> np.ndarray:
        return np.full(n, float(value))

    return WindowTable(
        first_link,
        np.array(rtt_ps, float),
        column(initial),
        column(segment),
        column(most),
        column(loss),
        column(until_loss),
        column(idle_ps),
        halves,
        column(1),
    )


def run_windows(
    rates_bps: Sequence[int],
    ways: Sequence[Sequence[int]],
    delays_ps: Sequence[int],
    flows: Sequence[tuple[int, int, int]],
    events: EventTable | None = None,
    **windows: float,
) -> FlowOutcome:
    """Run flows (connection, bytes, start in ps); connection c takes way c, its round trip is twice its delay."""
    real = link_table(list(rates_bps))
    table = window_table(len(rates_bps), [2 * delay for delay in delays_ps], **windows)  # type: ignore[arg-type]
    paths = path_table(ways, real, delay_ps=list(delays_ps))
    connections = np.arange(len(ways), dtype=np.int64)
    number, size, start = zip(*flows, strict=True)
    return run_flows(
        windowed_links(real, table),
        windowed_paths(paths, connections, len(rates_bps)),
        flow_table(size, number, start_ps=start),
        events,
        transport=TransportTable(windows=table),
    )


@dataclass
class NaiveConnection:
    """One connection with one flow: its window and the round trip that it counts."""

    way: Sequence[int]
    rtt_ps: int
    left: Fraction  # bytes
    start_ps: int
    window: Fraction
    segment: int
    threshold: Fraction | None = None  # None: slow start has not ended
    round_ps: Fraction | None = None
    round_sent: Fraction = Fraction(0)
    rate: Fraction = Fraction(0)
    end_ps: Fraction | None = None
    is_held: bool = False

    @property
    def allowed_bps(self) -> Fraction:
        """What the window allows."""
        return self.window * BITS * PS_PER_S / self.rtt_ps

    def end_round(self, initial: int) -> None:
        """Another window after a round trip."""
        if self.threshold is None or self.window < self.threshold:
            grown = self.window + min(self.round_sent, self.window)
            self.window = grown if self.threshold is None else min(grown, self.threshold)
            if not self.is_held:
                in_flight = 2 * self.rate * self.rtt_ps / (BITS * PS_PER_S)
                self.window = self.threshold = max(min(self.window, in_flight), Fraction(initial))
        elif self.round_sent >= self.window:
            self.window += self.segment


def naive_windows(rates_bps: Sequence[int], connections: Sequence[NaiveConnection], initial: int) -> list[int]:
    """End of each flow without propagation, whole ps. Holds while windows stay below 128 segments."""
    now = Fraction(0)
    while True:
        live = [item for item in connections if item.start_ps <= now and item.end_ps is None]
        _share(rates_bps, live)
        for item in live:
            is_slow = item.threshold is None or item.window < item.threshold
            if item.round_ps is None and (item.is_held or is_slow):
                item.round_ps, item.round_sent = now, Fraction(0)
        times = [now + item.left * BITS * PS_PER_S / item.rate for item in live]
        times += [item.round_ps + item.rtt_ps for item in live if item.round_ps is not None]
        times += [Fraction(item.start_ps) for item in connections if item.start_ps > now]
        if not times:
            return [round(item.end_ps) for item in connections if item.end_ps is not None]
        instant = min(times)
        for item in live:
            sent = item.rate * (instant - now) / (BITS * PS_PER_S)
            item.left -= sent
            item.round_sent += sent
            if item.left == 0:
                item.end_ps = instant
        for item in live:
            if item.end_ps is None and item.round_ps is not None and item.round_ps + item.rtt_ps == instant:
                item.round_ps = None
                item.end_round(initial)
        now = instant


def _share(rates_bps: Sequence[int], live: Sequence[NaiveConnection]) -> None:
    """Max-min rates of now; a window is a link of its own."""
    n = len(rates_bps)
    all_rates = [*map(Fraction, rates_bps), *(item.allowed_bps for item in live)]
    flows = [NaiveFlow([(link, Fraction(1)) for link in (*item.way, n + number)]) for number, item in enumerate(live)]
    found = naive_rates(all_rates, flows)  # type: ignore[arg-type]
    for item, rate in zip(live, found, strict=True):
        item.rate, item.is_held = rate, rate == item.allowed_bps
