"""A training step on a fabric as built: the step model on an ideal network, and what this network adds to it.

The step model knows NICs and scale-up domains. A fabric stretches the network time of each class of traffic (TP, CP,
EP, PP, gradients) by a factor: time of the class over this fabric / time that the servers' NICs alone would need.
The model's own communication functions, with the class's network rate divided by its factor, give what grows. Where
every factor is 1 (a network that blocks nothing) the step is exactly the validated model's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.analytic.communication import (
    HIDDEN_EXCHANGE,
    context_parallel,
    expert_exchange,
    stage_transfer_s,
    tensor_parallel,
    visible_tp,
    visible_transfer_s,
)
from eastwest.simulate.analytic.compute import attention
from eastwest.simulate.analytic.gemm import Pair
from eastwest.simulate.analytic.pipeline import ZERO_BUBBLE_RAMP, overlap_ratio
from eastwest.simulate.analytic.sharding import Windows, visible_data_parallel_s
from eastwest.simulate.analytic.step import StepTimes, step_times
from eastwest.simulate.analytic.step_constants import Seen, StepConstants, see
from eastwest.simulate.analytic.step_table import Table

Floats = NDArray[np.float64]
Factors = Mapping[str, float | Floats]  # class of traffic -> factor on its network time, () or (n,)
TERM_OF = {
    "tp": "tensor parallel",
    "cp": "context parallel",
    "ep": "expert exchange",
    "pp": "pipeline transfers",
    "dp": "data parallel",
}
CLASSES = tuple(TERM_OF)
IN_LAYERS = ("tp", "cp", "ep")
IDLE_TERMS = ("idle stages", "pipeline bubble")
PER_STEP = (*IDLE_TERMS, "pipeline transfers", "data parallel", "optimizer", "step overhead", "straggling")
FORWARD_RATIO = 1 / 3  # of a layer's time


@dataclass(frozen=True, eq=False)
class StepOnFabric:
    """Runs of a step table whose network may be slower than its NICs, and the constants of the step model.

    `ep_inside` ranks of one expert group share a scale-up domain as placed; None: as many as the domain holds.
    """

    table: Table
    constants: StepConstants
    ep_inside: float | None = None

    @cached_property
    def ideal(self) -> StepTimes:
        """The step on a network that blocks nothing."""
        return step_times(self.table, self.constants)

    @cached_property
    def seen(self) -> Seen:
        """The constants as the runs see them."""
        return see(self.table, self.constants)

    @cached_property
    def windows(self) -> Windows:
        """Computation that runs beside gradients and weights, as the ideal step has it (n,) s."""
        table, terms = self.table, self.ideal.terms
        steps = table["micro_batches"]
        layers = np.sum([seconds for name, seconds in terms.items() if name not in (*PER_STEP, "output head")], axis=0)
        slowest = (layers + terms["output head"] + terms["idle stages"] + terms["pipeline transfers"]) / steps
        window, layer = slowest * overlap_ratio(table), layers / (steps * table["layers"] / table["pp"])
        backward = 1 - FORWARD_RATIO
        return Windows(window * backward, window * FORWARD_RATIO, layer * FORWARD_RATIO, layer * backward)

    @cached_property
    def _ideal_raw(self) -> dict[str, Floats]:
        own = {name: _raw(self, name, self.seen, self.windows) for name in CLASSES}
        return {**own, "ep": _sum(expert_exchange(self.table, self.seen))}

    @cached_property
    def exchange_table(self) -> Table:
        """The runs with scale-up domains as expert groups find them."""
        if self.ep_inside is None:
            return self.table
        table = self.table.copy()
        table["domain"] = np.minimum(table["domain"], self.ep_inside)
        return table

    def step(self, factors: Factors) -> StepTimes:
        """The step when the network time of each class is `factors[class]` times that of the NICs (1 where none)."""
        terms, table = dict(self.ideal.terms), self.table
        grown = {name: self._grown(name, factors[name]) for name in CLASSES if self._differs(name, factors[name])}
        for name, seconds in grown.items():
            terms[TERM_OF[name]] = terms.get(TERM_OF[name], 0.0) + seconds
        steps, pp = table["micro_batches"], table["pp"]
        left = np.where(table["zero_bubble"] > 0, ZERO_BUBBLE_RAMP, 1.0) / (table["chunks"] * steps)
        zero = np.zeros(len(table))
        in_layers = np.sum([grown.get(name, zero) for name in IN_LAYERS], axis=0)
        ramp = (in_layers * np.maximum(pp - 1, 0) + grown.get("pp", zero) * np.maximum(pp - 2, 0)) * left
        terms["pipeline bubble"] = np.maximum(terms["pipeline bubble"] + ramp, 0.0)
        rest = np.sum([seconds for name, seconds in terms.items() if name != "straggling"], axis=0)
        ideal = self.ideal.terms["straggling"] / (self.ideal.step_s - self.ideal.terms["straggling"])
        terms["straggling"] = rest * ideal
        return StepTimes(rest + terms["straggling"], terms)

    def alone(self, factors: Factors) -> dict[str, Floats]:
        """Class -> seconds of its traffic in a step with nothing to hide behind (n,)."""
        found = {}
        for name in CLASSES:
            seen, shown = slower(self.seen, factors[name]), self._ideal_raw[name]
            term = self.ideal.terms.get(TERM_OF[name], np.zeros(len(self.table)))
            each = np.divide(term, shown, out=np.zeros(len(self.table)), where=shown > 0)
            found[name] = each * _unhidden(self, name, seen)
        return found

    def gradients_s(self, factor: float | Floats, window_ratio: float | Floats) -> Floats:
        """Seconds of gradient traffic that show when computation is `window_ratio` times the model's (n,)."""
        own = self.windows
        fields = (own.gradients_s, own.weights_s, own.layer_forward_s, own.layer_backward_s)
        return _raw(self, "dp", slower(self.seen, factor), Windows(*(field * window_ratio for field in fields)))

    def _differs(self, name: str, factor: float | Floats) -> bool:
        """Whether a class is not as on the ideal network."""
        return bool(np.any(np.not_equal(factor, 1))) or (name == "ep" and self.ep_inside is not None)

    def _grown(self, name: str, factor: float | Floats) -> Floats:
        """Seconds that the factor adds to the term of one class."""
        term, before = self.ideal.terms.get(TERM_OF[name]), self._ideal_raw[name]
        if term is None:
            return np.zeros(len(self.table))
        after = _raw(self, name, slower(self.seen, factor), self.windows)
        ratio = np.divide(after, before, out=np.ones(len(self.table)), where=before > 0)
        seconds: Floats = term * (ratio - 1)
        return seconds


def slower(seen: Seen, factor: float | Floats) -> Seen:
    """The constants with a network that takes `factor` times as long; 0: the class never leaves the scale-up links."""
    factors = np.broadcast_to(np.asarray(factor, dtype=np.float64), seen.network_rate.shape)
    rate = np.divide(seen.network_rate, factors, out=seen.scale_up_rate.copy(), where=factors > 0)
    return replace(seen, network_rate=rate)


def _raw(step: StepOnFabric, name: str, seen: Seen, windows: Windows) -> Floats:
    """Seconds of one class that show, in the unit of the model's own function: a layer, a boundary or a step."""
    table = step.table
    if name == "tp":
        return _sum(tensor_parallel(table, seen))
    if name == "cp":
        return _sum(context_parallel(table, seen, attention(table, seen)))
    if name == "ep":
        return _sum(expert_exchange(step.exchange_table, seen))
    if name == "pp":
        return visible_transfer_s(table, seen)
    return visible_data_parallel_s(table, seen, windows)


def _unhidden(step: StepOnFabric, name: str, seen: Seen) -> Floats:
    """The same with nothing to hide behind."""
    table, zero = step.table, np.zeros(len(step.table))
    if name == "tp":
        return _raw(step, name, seen, step.windows) / visible_tp(table, seen)
    if name == "cp":
        return _sum(context_parallel(table, seen, Pair(zero, zero)))
    if name == "ep":
        overlapped = np.where(table["overlap_ep"] > 0, HIDDEN_EXCHANGE, 1.0)
        seconds: Floats = _raw(step, name, seen, step.windows) / (seen.one("visible_ep") * overlapped)
        return seconds
    if name == "pp":
        both: Floats = 2 * stage_transfer_s(table, seen) * table["chunks"]
        return both
    return visible_data_parallel_s(table, seen, Windows(zero, zero, zero, zero))


def _sum(pair: Pair) -> Floats:
    return pair.forward + pair.backward
