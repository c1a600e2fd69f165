"""A training step as messages that wait for each other: passes of every pipeline stage, sends between stages,
collectives that leave the scale-up domain, and bucketed exchanges of gradients and weights.

A computation is a row of no bytes that starts its own duration after what it waits for. All ranks of a cell share their
computations; a bucket travels as one flow over each hop of its rings, which the slowest hop ends, plus the delay of the
steps behind the first. Sends do not hold their sender up, and the buckets of one stage follow each other over all its
replicas. It stops being true for programs that wait for their own sends, and where hops of one ring differ in rate:
then the faster hops finish early here, and would not there.

Source: Narayanan et al. 2021 (schedules); Rajbhandari et al. 2020 (ZeRO).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np

from eastwest.simulate.messages import Messages
from eastwest.simulate.network import Ints
from eastwest.simulate.rings import Hops, all_pairs, ring_hops
from eastwest.simulate.step_rows import Part, StepDraft, StepRows
from eastwest.simulate.step_schedule import Pass, passes_of
from eastwest.simulate.step_work import Buckets, Exchange, StepWork

Delays = Callable[[Ints, Ints], Ints]  # hosts (n,) and hosts (n,) -> picoseconds of the last byte on the way (n,)
Position = tuple[int, Fraction]  # chunk, and how far through its pass


def step_graph(work: StepWork, domain: Ints, delays: Delays) -> tuple[Messages, StepRows]:
    """The messages of one step, and what each is; `domain` (n_hosts,) is each host's scale-up domain."""
    return _Maker(work, domain, delays).make()


class _Maker:
    """The draft of one step, and the rows that others wait for."""

    def __init__(self, work: StepWork, domain: Ints, delays: Delays) -> None:
        self.work, self.domain, self.delays = work, domain, delays
        self.draft = StepDraft()
        self.first: dict[tuple[int, Pass], Ints] = {}  # (dp,) first and last row of each pass of each stage
        self.last: dict[tuple[int, Pass], Ints] = {}
        self.begins: dict[tuple[int, Position], Ints] = {}  # (dp,) rows of the first micro-batch's forward passes
        self.ends: dict[tuple[int, Position], Ints] = {}  # (dp,) rows of the last micro-batch's backward passes
        self.cuts = {is_weights: _cuts(work, is_weights) for is_weights in (True, False)}

    def make(self) -> tuple[Messages, StepRows]:
        work, pp = self.work, self.work.grid.pp
        finals = [self._stage(stage) for stage in range(pp)]
        for stage in range(pp):
            self._sends(stage)
            for buckets in work.buckets:
                self._exchange_buckets(buckets, stage, finals[stage])
        facts: dict[str, str | int] = {
            "job": work.job,
            "schedule": "interleaved" if work.virtual_stages > 1 else work.schedule,
            "micro_batches": work.n_micro_batches,
            "gpus": work.grid.n_ranks,
        }
        return self.draft.made(pp * work.grid.dp, facts)

    def _cells(self, stage: int) -> tuple[Ints, Ints]:
        """(dp,) number of each cell of a stage, and the host of its first rank."""
        dp = self.work.grid.dp
        return np.arange(dp, dtype=np.int64) + stage * dp, self.work.hosts[self.work.cell_ranks(stage)[:, 0]]

    def _stage(self, stage: int) -> Ints:
        """All passes of a stage in order, and (dp,) the row at its end."""
        work = self.work
        exchanges = [(one, self._hops(one.groups, stage, one.is_ring)) for one in work.exchanges]
        before: Ints | None = None
        chunks, n = work.virtual_stages, work.n_micro_batches
        for one in passes_of(work.schedule, stage, work.grid.pp, chunks, n):
            self.first[stage, one], after = self._pass(stage, one)
            if before is not None:
                self.draft.wait(self.first[stage, one], before)
            for exchange, hops in exchanges:
                after = self._exchange(exchange, hops, stage, one.is_forward, after)
            self.last[stage, one] = before = after
        cells, hosts = self._cells(stage)
        final = self.draft.marks(hosts, Part.COMPUTE, work.end_ps, cells)
        assert before is not None
        self.draft.wait(final, before)
        return final

    def _pass(self, stage: int, one: Pass) -> tuple[Ints, Ints]:
        """(dp,) first and last computation of a pass, cut where a bucket waits or is ready."""
        work = self.work
        is_cut = one.micro_batch == (0 if one.is_forward else work.n_micro_batches - 1)
        edges = [Fraction(0), *(self.cuts[one.is_forward][one.chunk] if is_cut else ()), Fraction(1)]
        total = int((work.forward_ps if one.is_forward else work.backward_ps)[stage, one.chunk])
        cells, hosts = self._cells(stage)
        rows: list[Ints] = []
        for low, high in pairwise(edges):
            rows.append(self.draft.marks(hosts, Part.COMPUTE, int(total * high) - int(total * low), cells))
            if len(rows) > 1:
                self.draft.wait(rows[-1], rows[-2])
            if is_cut and one.is_forward:
                self.begins[stage, (one.chunk, low)] = rows[-1]
            elif is_cut:
                self.ends[stage, (one.chunk, high)] = rows[-1]
        return rows[0], rows[-1]

    def _sends(self, stage: int) -> None:
        """Activations to the next stage and gradients to the one before, from every rank of a stage."""
        work, pp = self.work, self.work.grid.pp
        for one in [key[1] for key in self.last if key[0] == stage]:
            to, chunk = stage + (1 if one.is_forward else -1), one.chunk
            if not 0 <= to < pp:
                to, chunk = to % pp, chunk + (1 if one.is_forward else -1)
            if not 0 <= chunk < work.virtual_stages or to == stage:
                continue
            src, dst = (work.hosts[work.cell_ranks(place)].ravel() for place in (stage, to))
            rows = self.draft.flows(src, dst, work.stage_bytes, Part.PP)
            self.draft.wait(rows, np.repeat(self.last[stage, one], work.ranks_per_cell))
            self.draft.wait(np.repeat(self.first[to, one._replace(chunk=chunk)], work.ranks_per_cell), rows)

    def _hops(self, groups: Ints, stage: int, is_ring: bool) -> Hops:
        """The hops of a stage's groups, between ranks."""
        mine = groups[self.work.stage_of(groups[:, 0]) == stage]
        return ring_hops(mine, self.work.hosts, self.domain) if is_ring else all_pairs(mine)

    def _late_ps(self, hops: Hops, n_steps: int) -> int:
        """Delay of the steps behind the first."""
        if not len(hops.src) or n_steps < 2:
            return 0
        hosts = self.work.hosts
        return (n_steps - 1) * int(self.delays(hosts[hops.src], hosts[hops.dst]).max())

    def _exchange(self, exchange: Exchange, hops: Hops, stage: int, is_forward: bool, after: Ints) -> Ints:
        """A collective behind a pass, and (dp,) the rows at its end."""
        work, part = self.work, Part[exchange.traffic.upper()]
        size = exchange.forward_bytes if is_forward else exchange.backward_bytes
        if not size or not len(hops.src):
            return after
        late_ps = self._late_ps(hops, exchange.forward_steps if is_forward else exchange.backward_steps)
        flows = self._flows(hops, size, part)
        self.draft.wait(flows, after[work.replica_of(hops.src)])
        done = self.draft.marks(self._cells(stage)[1], part, late_ps, since=after)
        self.draft.wait(done, after)
        self.draft.wait(done[work.replica_of(hops.dst)], flows)
        return done

    def _flows(self, hops: Hops, size_bytes: int, part: Part) -> Ints:
        """One flow for each hop, of its part of what a rank sends."""
        hosts = self.work.hosts
        low, high = (turn * size_bytes // hops.n_turns for turn in (hops.turn, hops.turn + 1))
        return self.draft.flows(hosts[hops.src], hosts[hops.dst], high - low, part, channel=hops.turn)

    def _exchange_buckets(self, buckets: Buckets, stage: int, final: Ints) -> None:
        """All buckets of one kind of a stage, one behind the other."""
        hops = self._hops(buckets.groups, stage, is_ring=True)
        size = buckets.stage_bytes[stage]
        if not len(hops.src) or not size:
            return
        late_ps, host = self._late_ps(hops, buckets.n_steps), self.work.hosts[hops.src[:1]]
        before, begin = None, None
        for position in _positions(buckets, self.work.virtual_stages):
            gate = self.draft.marks(host, Part.MARK)
            begin = gate if begin is None else begin
            if before is not None:
                self.draft.wait(gate, before)
            if not buckets.is_weights:
                self.draft.wait(gate, self.ends[stage, position])
            flows = self._flows(hops, size, Part.DP)
            self.draft.wait(flows, gate)
            before = self.draft.marks(host, Part.DP, late_ps, since=begin)
            self.draft.wait(before, flows)
            if buckets.is_weights:
                self.draft.wait(self.begins[stage, position], before)
        if before is not None:
            self.draft.wait(final, before)


def _positions(buckets: Buckets, n_chunks: int) -> list[Position]:
    """Where in the passes of a stage each bucket is ready, or is needed."""
    found: list[Position] = []
    for number in range(buckets.n_buckets):
        if buckets.is_weights:
            place = Fraction(number * n_chunks, buckets.n_buckets) if buckets.overlaps else Fraction(0)
            found.append((int(place), place - int(place)))
        else:
            place = Fraction((number + 1) * n_chunks, buckets.n_buckets) if buckets.overlaps else Fraction(n_chunks)
            turn = ceil(place) - 1
            found.append((n_chunks - 1 - turn, place - turn))
    return found


def _cuts(work: StepWork, is_weights: bool) -> dict[int, list[Fraction]]:
    """Chunk -> places inside its pass at which a bucket waits (weights) or is ready (gradients), in order."""
    found: dict[int, set[Fraction]] = defaultdict(set)
    for buckets in work.buckets:
        if buckets.is_weights == is_weights:
            for chunk, place in _positions(buckets, work.virtual_stages):
                found[chunk].add(place)
    chunks = range(work.virtual_stages)
    return {chunk: sorted(place for place in found[chunk] if 0 < place < 1) for chunk in chunks}
