"""What an oversubscribed tier costs a training step: the closed form, what share of the step it takes, and its growth
with the number of GPUs.

A step computes for C and communicates for T over the tier, and computation can hide O of that, so it lasts
S = C + max(0, T - O) without oversubscription. At a ratio r the same bytes take r T, and the step grows by
(max(0, r T - O) - max(0, T - O)) / S. Stops being true where other traffic shares the tier, where the tier is not what
limits the transfer at 1:1 (bytes that stay under one leaf belong to C), or where O itself grows with T.
"""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.errors import UsageError

ROUNDING = 1e-12  # a share of exactly one, in double precision


@dataclass(frozen=True, slots=True)
class StepParts:
    """One step at 1:1: computation, communication over the tier, and how much of that computation can hide."""

    compute_s: float
    communication_s: float
    hidden_s: float = 0.0

    @property
    def exposed_s(self) -> float:
        """Communication that computation does not hide, s."""
        return max(0.0, self.communication_s - self.hidden_s)

    @property
    def step_s(self) -> float:
        """The step at 1:1, s."""
        return self.compute_s + self.exposed_s

    @property
    def share_ratio(self) -> float:
        """Communication over the tier, hidden or not, as a share of the step."""
        return self.communication_s / self.step_s if self.step_s else 0.0


def growth_ratio(parts: StepParts, oversubscription: float) -> float:
    """By how much of itself the step grows on a tier of `oversubscription` (2.0 for 2:1).

    >>> round(growth_ratio(StepParts(0.6, 0.4), 2.0), 9)
    0.4
    >>> round(growth_ratio(StepParts(0.6, 0.4, hidden_s=0.4), 2.0), 9)
    0.666666667
    """
    slower = max(0.0, oversubscription * parts.communication_s - parts.hidden_s)
    return (slower - parts.exposed_s) / parts.step_s if parts.step_s else 0.0


def share_needed_ratio(growth: float, oversubscription: float, hidden_ratio: float = 0.0) -> float | None:
    """Communication as a share of the step at 1:1 that makes the step grow by `growth`; None when no share does.

    `hidden_ratio` is what computation can hide as a share of that communication. It cannot hide more than it lasts
    (O <= C), so that the share never passes 1: no step grows by more than `oversubscription` - 1.

    >>> round(share_needed_ratio(0.4, 2.0), 9), share_needed_ratio(1.0, 5 / 3)
    (0.4, None)
    """
    if oversubscription <= 1 or growth <= 0:
        raise UsageError(
            f"growth {growth:g} at {oversubscription:g}:1", hint="expected a growth above 0 and more than 1:1"
        )
    per_share = max(0.0, oversubscription - hidden_ratio) - max(0.0, 1 - hidden_ratio)
    share = growth / per_share if per_share > 0 else float("inf")
    return share if share * max(1.0, hidden_ratio) <= 1 + ROUNDING else None


@dataclass(frozen=True, slots=True)
class CurveRow:
    """The step at one size: seconds at 1:1 and the growth."""

    gpus: int
    parts: StepParts
    growth_ratio: float


def growth_curve(
    first: StepParts, gpus: int, most_gpus: int, oversubscription: float, *, fixed_batch: bool = True
) -> tuple[CurveRow, ...]:
    """The growth from `gpus` to `most_gpus`, doubling each time.

    With a fixed global batch computation shrinks with the number of GPUs while the bytes of data parallelism stay
    (a ring moves 2 (n - 1) / n of the gradients of a GPU: constant for many); what can be hidden stays the same share
    of computation. Without, each GPU keeps its work and nothing changes with size.
    """
    rows, count = [], gpus
    while count <= most_gpus:
        size = gpus / count if fixed_batch else 1.0
        parts = StepParts(first.compute_s * size, first.communication_s, first.hidden_s * size)
        rows.append(CurveRow(count, parts, growth_ratio(parts, oversubscription)))
        count *= 2
    return tuple(rows)
