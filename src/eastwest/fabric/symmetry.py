"""Switches that are alike: classes whose members see the same neighbours, and the small graph of classes that carries
the same loads as the whole one.

Ideal ECMP splits by rate at every hop. When all members of a class have the same rates to every other class (an
equitable partition, found by colour refinement), traffic that enters the class evenly leaves it evenly, so one node may
stand for all of them and the load over rate of every member link is that of the class. Leaves stay single, because
traffic between leaves is what is asked about. The classes are exact for any fabric; they are few only in regular ones.

Source: equitable partitions and colour refinement, McKay and Piperno 2014, section 2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.routing import Floats, Ints, SwitchGraph

Words = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)  # splitmix64 (Steele, Lea, Flood 2014): 64-bit words without visible structure
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


MOST_CLASSES = 6  # classes of one kind that are looked at, the most populous first; regular fabrics have one to three


def representatives(classes: Ints, stress: Floats) -> Iterator[tuple[int, int]]:
    """Index of the most stressed member (the first of equals) and size of each class, the most populous first."""
    if len(classes) == 0:
        return
    order = np.lexsort((np.arange(len(classes)), -stress, classes))
    _, first, counts = np.unique(classes[order], return_index=True, return_counts=True)
    for at in np.argsort(-counts, kind="stable")[:MOST_CLASSES]:
        yield int(order[first[at]]), int(counts[at])


def number_values(*columns: NDArray[np.generic]) -> Ints:
    """(n,) int64 a number from 0 for each combination of values, in the order of the values."""
    number: Ints = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        _, own = np.unique(np.asarray(column, np.int64), return_inverse=True)
        own = own.reshape(-1)
        _, found = np.unique(number * (int(own.max(initial=0)) + 1) + own, return_inverse=True)
        number = found.reshape(-1).astype(np.int64)
    return number


def refine(graph: SwitchGraph, colours: Ints) -> Ints:
    """(n,) int64 the coarsest classes of the graph's nodes that split `colours` (n,) and in which every member has the
    same rate (bit/s) to every class.

    Neighbourhoods are compared by 64-bit sums: two different ones are taken for equal with a chance below 1e-12.
    """
    found = number_values(colours)
    starts = _starts(graph.u)
    rates = _mix(graph.rate_bps.astype(np.uint64))
    while True:
        before = int(found.max(initial=-1))
        around = np.zeros(len(found), np.uint64)
        if len(starts):
            seen = _mix(_mix(found[graph.v].astype(np.uint64)) ^ rates)
            around[graph.u[starts]] = np.add.reduceat(seen, starts)
        found = number_values(found, around.view(np.int64))
        if int(found.max(initial=-1)) == before:
            return found


def twins(graph: SwitchGraph) -> Ints:
    """(n,) int64 a number for each set of neighbours that nodes of the graph have, rates left aside."""
    around = np.zeros(len(graph.nodes), np.uint64)
    starts = _starts(graph.u)
    if len(starts):
        around[graph.u[starts]] = np.add.reduceat(_mix(graph.v.astype(np.uint64)), starts)
    return number_values(around.view(np.int64))


def quotient(graph: SwitchGraph, classes: Ints) -> SwitchGraph:
    """The graph of classes: one node a class, one edge a pair of classes with the rates of all its members.

    `number` maps nodes of the fabric to classes. It has no links of its own: load over rate of an edge is that of
    every link in it.
    """
    n = int(classes.max(initial=-1)) + 1
    key = classes[graph.u] * n + classes[graph.v]
    edges, inverse = np.unique(key, return_inverse=True)
    rate = np.bincount(inverse.reshape(-1), graph.rate_bps, minlength=len(edges)).astype(np.float64)
    number = np.full(len(graph.number), -1, np.int64)
    number[graph.nodes] = classes
    none, nothing = np.zeros(0, np.int64), np.zeros(0)
    safe = max(1, n)
    nodes = np.arange(n, dtype=np.int64)
    return SwitchGraph(nodes, edges // safe, edges % safe, rate, number, none, none, none, nothing)


def _starts(sorted_ids: Ints) -> Ints:
    """First index of each run of equal values."""
    return np.flatnonzero(np.r_[True, sorted_ids[1:] != sorted_ids[:-1]]) if len(sorted_ids) else np.zeros(0, np.int64)


def _mix(words: Words) -> Words:
    """(n,) uint64 words spread over all 64 bits (splitmix64's finaliser); overflow wraps and is meant."""
    word = words + _STEP
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    mixed: Words = word ^ (word >> np.uint64(31))
    return mixed
