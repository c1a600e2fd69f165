"""A small leaf-spine network as index tables, and traffic on it: the closed forms are tried on these."""

from collections.abc import Sequence

import numpy as np

from eastwest.simulate.flow.build import flow_table, link_table, path_table
from eastwest.simulate.flow.tables import FlowTable, LinkTable, PathTable

DELAY_PS = 10**6


class LeafSpine:
    """`n_leaves` leaves of `n_hosts` hosts and as many uplinks as `n_spines`; host h is on leaf h // n_hosts."""

    def __init__(self, n_leaves: int, n_hosts: int, n_spines: int, rate_bps: int) -> None:
        self.n_leaves, self.n_hosts, self.n_spines = n_leaves, n_hosts, n_spines
        self.n = n_leaves * n_hosts
        self.links: LinkTable = link_table([rate_bps] * (2 * self.n + 2 * n_leaves * n_spines), DELAY_PS)

    def way(self, src: int, dst: int, spine: int) -> list[int]:
        """Links from host to host through a spine, or under one leaf."""
        up, down = src // self.n_hosts, dst // self.n_hosts
        first = 2 * self.n
        if up == down:
            return [src, self.n + dst]
        spines = [first + up * self.n_spines + spine, first + (self.n_leaves + down) * self.n_spines + spine]
        return [src, *spines, self.n + dst]

    def paths(self, pairs: Sequence[tuple[int, int]], *, is_sprayed: bool = False) -> PathTable:
        """One path a pair: by the source's place under its leaf, or an equal part over every spine."""
        if not is_sprayed:
            return path_table([self.way(src, dst, src % self.n_spines) for src, dst in pairs], self.links)
        rows, shares, delays = [], [], []
        for src, dst in pairs:
            ways = [self.way(src, dst, spine) for spine in range(self.n_spines)]
            found = {link: sum(link in way for way in ways) / self.n_spines for way in ways for link in way}
            rows.append(list(found))
            shares.append(list(found.values()))
            delays.append(len(ways[0]) * DELAY_PS)
        return path_table(rows, self.links, shares=shares, delay_ps=delays)


def ring(n_ranks: int, chunk_bytes: int, *, n_steps: int | None = None) -> FlowTable:
    """Ring all-reduce: 2(n - 1) steps of n transfers, each after what its sender received and sent before."""
    steps = 2 * (n_ranks - 1) if n_steps is None else n_steps
    flow = np.arange(n_ranks, steps * n_ranks)
    before = flow - n_ranks
    received = before - flow % n_ranks + (flow - 1) % n_ranks
    parents: list[list[int]] = [[]] * n_ranks + np.stack([received, before], axis=1).tolist()
    return flow_table([chunk_bytes] * (steps * n_ranks), np.tile(np.arange(n_ranks), steps), parents=parents)
