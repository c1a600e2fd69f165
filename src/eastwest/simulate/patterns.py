"""Patterns of traffic: permutation, incast, all-to-all, stride; what is drawn is drawn from the scenario's seed."""

from __future__ import annotations

import numpy as np

from eastwest.simulate.messages import Messages, lone
from eastwest.simulate.network import Ints


def permutation(hosts: Ints, size_bytes: int, seed: int) -> Messages:
    """Every host sends to one other and receives from one other, itself excepted: a derangement, all equally likely."""
    draw = np.random.default_rng(seed)
    places = np.arange(len(hosts))
    while True:
        order = draw.permutation(len(hosts))
        if not (order == places).any():
            return lone(hosts, hosts[order], size_bytes)


def incast(senders: Ints, receiver: int, size_bytes: int) -> Messages:
    """All senders to one receiver at once."""
    return lone(senders, np.full(len(senders), receiver, np.int64), size_bytes)


def drawn_senders(hosts: Ints, receiver: int, fan_in: int, seed: int) -> Ints:
    """(fan_in,) different senders, in order, the receiver not among them."""
    others = hosts[hosts != receiver]
    return np.sort(np.random.default_rng(seed).choice(others, fan_in, replace=False)).astype(np.int64)


def all_to_all(hosts: Ints, size_bytes: int) -> Messages:
    """Every host to every other, all at once."""
    n = len(hosts)
    step, place = np.divmod(np.arange(n * (n - 1), dtype=np.int64), n)
    return lone(hosts[place], hosts[(place + step + 1) % n], size_bytes)


def stride(hosts: Ints, size_bytes: int, by: int) -> Messages:
    """Host i to host i + `by`, round the end."""
    return lone(hosts, np.roll(hosts, -by), size_bytes)
