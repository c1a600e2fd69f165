"""Seconds of the communication of one layer, one stage boundary or one step, and how much of it stays visible.

Rings over tiers: a group's collective runs at the scale-up links' rate inside a domain, and across domains at the rate
of all the NICs that its ranks in one domain own, whichever is lower, plus a latency for each step of the ring. Overlap
is by dependency: what has a window of computation beside it hides behind it, less what both cost each other.

Source: Narayanan et al. 2021, section 3 (TP, PP); Korthikanti et al. 2022 (sequence parallelism); Liu et al. 2023 (ring
attention); DeepSeek-V3 2024, section 3 (expert exchange). Not true under incast, collisions of flows, loss and pauses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.compute import WIDTH_BYTES, expert_tokens, tokens_of
from eastwest.simulate.analytic.gemm import Pair
from eastwest.simulate.analytic.step_constants import Seen
from eastwest.simulate.analytic.step_table import Table

Floats = NDArray[np.float64]
REGATHER = 0.3  # sequence parallelism gathers each input again in the backward pass, mostly behind a weight's gradient
RING_WINDOW = 0.8  # share of the scores' time that a ring of keys and values hides behind
RING_COST = 0.15  # slow-down of the scores by the ring beside them, over its time
UP_AND_DOWN = 2.0  # passes of a tree
STAGE_STEPS = 0.3  # latency of a send between stages over a ring's network step
HIDDEN_STAGE = 0.1  # share of transfers between stages that stays visible with overlap
HIDDEN_EXCHANGE = 0.5  # share of the visible expert exchange left where a program overlaps it


def ring_s(
    table: Table, seen: Seen, size_bytes: Floats, ranks: Floats, stride: Floats, pieces: Floats | float = 1.0
) -> Floats:
    """Seconds to gather (or reduce and scatter) `size_bytes` over `ranks` that lie `stride` apart, in `pieces`."""
    inside = np.clip(table["domain"] / np.maximum(stride, 1.0), 1.0, np.maximum(ranks, 1.0))
    crosses = ranks > inside
    nics = seen.network_rate * inside
    rate = np.where(crosses, np.where(inside > 1, np.minimum(seen.scale_up_rate, nics), nics), seen.scale_up_rate)
    across = np.where(crosses, seen.one("network_step") * network_steps(ranks / inside), 0.0)
    steps = seen.one("scale_up_step") + across
    moved = size_bytes * (ranks - 1) / np.maximum(ranks, 1.0) / rate
    behind = np.maximum(steps - moved / pieces, 0.0)  # a piece's latency hides behind the bytes of the one before
    seconds: Floats = np.where(ranks > 1, moved + steps + (pieces - 1) * behind, 0.0)
    return seconds


def network_steps(domains: Floats) -> Floats:
    """Steps over the network that a collective over `domains` waits for, one after the other (n,): a ring's, one for
    each domain, or a tree's, up and down, whichever are fewer; libraries choose so (NCCL: tree, NVLSTree and PAT).

    >>> network_steps(np.array([2.0, 4.0, 1024.0])).tolist()
    [2.0, 4.0, 20.0]
    """
    steps: Floats = np.minimum(domains, UP_AND_DOWN * np.log2(np.maximum(domains, 2.0)))
    return steps


def tensor_parallel(table: Table, seen: Seen) -> Pair:
    """One layer's collectives over tensor ranks: two pairs of gather and scatter each way, one for a parallel block."""
    once = activation_ring_s(table, seen) * visible_tp(table, seen)
    pairs = np.where(table["parallel_block"] > 0, 1.0, 2.0)
    again = np.where(table["sequence_parallel"] > 0, REGATHER, 0.0)
    return Pair(2 * pairs * once, (2 + again) * pairs * once)


def activation_ring_s(table: Table, seen: Seen) -> Floats:
    """Seconds to gather or scatter a micro-batch's activations over the tensor ranks."""
    size = tokens_of(table) * table["hidden"] * WIDTH_BYTES
    return ring_s(table, seen, size, table["tp"], np.ones_like(size))


def visible_tp(table: Table, seen: Seen) -> Floats:
    """Share of TP communication that stays visible (n,)."""
    share: Floats = np.where(table["overlap_tp"] > 0, seen.one("visible_tp"), 1.0)
    return share


def context_parallel(table: Table, seen: Seen, scores: Pair) -> Pair:
    """What a ring of keys and values adds to the attention scores (`scores`, s), forward and backward."""
    cp = table["cp"]
    size = tokens_of(table) * table["kv_width"] / table["tp"] * WIDTH_BYTES
    rate = np.where(table["tp"] * cp <= table["domain"], seen.scale_up_rate, seen.network_rate)
    ring = np.where(cp > 1, (cp - 1) * (size / rate + seen.one("scale_up_step")), 0.0)
    forward = np.maximum(ring - RING_WINDOW * scores.forward, 0.0) + RING_COST * ring
    backward = np.maximum(2 * ring - RING_WINDOW * scores.backward, 0.0) + 2 * RING_COST * ring
    return Pair(forward, backward)


def expert_exchange(table: Table, seen: Seen) -> Pair:
    """Dispatch and combine of one expert layer: what leaves the domain over the NICs, the rest over its links.

    Every copy of a token counts. Programs that send a token once for each server (DeepEP) move less: the fitted
    `exchange_network` holds that, and stands above what NICs alone would allow.
    """
    ep = table["ep"]
    size = expert_tokens(table) / table["expert_tp"] * table["hidden"] * WIDTH_BYTES
    inside = np.minimum(ep, table["domain"])
    out, near = (ep - inside) / ep, (inside - 1) / ep
    network = size * out / (seen.network_rate * seen.one("exchange_network"))
    links = size * near / (table["scale_up_rate"] * seen.one("exchange_scale_up"))
    latency = seen.one("scale_up_step") + np.where(out > 0, seen.one("network_step"), 0.0)
    once = np.where(ep > 1, np.maximum(network, links) + latency, 0.0)
    visible = seen.one("visible_ep") * np.where(table["overlap_ep"] > 0, HIDDEN_EXCHANGE, 1.0)
    return Pair(2 * once * visible, 2 * once * visible)


def stage_transfer_s(table: Table, seen: Seen) -> Floats:
    """Seconds to send a micro-batch's activations to the next stage (n,); 0 without a pipeline."""
    parts = np.where(table["scatter"] > 0, table["tp"], 1.0)
    size = tokens_of(table) * table["hidden"] * WIDTH_BYTES / parts
    rate = np.where(table["gpus"] <= table["domain"], seen.scale_up_rate, seen.network_rate)
    seconds: Floats = np.where(table["pp"] > 1, size / rate + STAGE_STEPS * seen.one("network_step"), 0.0)
    return seconds


def visible_transfer_s(table: Table, seen: Seen) -> Floats:
    """Seconds that the transfers of one micro-batch add to a middle stage, both directions, all chunks."""
    share = np.where(table["overlap_pp"] > 0, HIDDEN_STAGE, seen.one("visible_pp"))
    seconds: Floats = 2 * stage_transfer_s(table, seen) * table["chunks"] * share
    return seconds
