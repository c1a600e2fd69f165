"""`Prediction`: what one job does in a step (training) or for a token (inference), with interval, sensitivities, what
was assumed and where it does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eastwest.finding import Finding

LEVEL_RATIO = 0.8  # of measured runs of other sources lie inside an interval


@dataclass(frozen=True, slots=True)
class RowTime:
    """Time of one traffic class in one `per` with nothing to hide behind, how much of it computation does not hide, and
    what bounds it (a tier, or `scale_up`).
    """

    traffic: str
    time_s: float
    exposed_s: float
    bottleneck: str


@dataclass(frozen=True, slots=True)
class Interval:
    """Where LEVEL_RATIO of measured runs of other sources lie."""

    low: float
    high: float

    def as_json(self) -> dict[str, float]:
        """The interval in the shape of the command line's contract."""
        return {"low": self.low, "high": self.high, "level": LEVEL_RATIO}


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """One input changed and what it does to the step (or token): `change` as a factor, `delta_s` below 0 is faster;
    `traffic` is the traffic class that it moves the most ("" for computation), with the seconds of it that show.
    """

    input: str
    change: float
    delta_s: float
    traffic: str = ""
    exposed_s: float | None = None
    half_width_s: float | None = None
    text: str = ""

    def as_json(self) -> dict[str, Any]:
        """The sensitivity in the shape of the command line's contract."""
        return {
            "input": self.input,
            "change_ratio": self.change,
            "delta_s": self.delta_s,
            "traffic": self.traffic,
            "exposed_s": self.exposed_s,
            "half_width_s": self.half_width_s,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Slice:
    """One way to cut the work: a degree or a size, the bytes of one message, messages of a GPU in a step, seconds that
    show; `is_built` marks the site's own.
    """

    cut: str
    value: float
    message_bytes: float
    messages: float
    exposed_s: float
    step_time_s: float
    is_built: bool = False

    def as_json(self) -> dict[str, Any]:
        """The point in the shape of the command line's contract."""
        return {
            "cut": self.cut,
            "value": self.value,
            "message_bytes": self.message_bytes,
            "messages": self.messages,
            "exposed_s": self.exposed_s,
            "step_time_s": self.step_time_s,
            "is_built": self.is_built,
        }


@dataclass(frozen=True, slots=True)
class Curve:
    """Slices of one cut, finer to the right, and where finer stops to pay: `crossover` is the value at which the
    seconds that show are least.
    """

    cut: str
    unit: str
    crossover: float
    points: tuple[Slice, ...]

    def as_json(self) -> dict[str, Any]:
        """The curve in the shape of the command line's contract."""
        points = [point.as_json() for point in self.points]
        return {"cut": self.cut, "unit": self.unit, "crossover": self.crossover, "points": points}


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one job does in one step (training) or one token (inference); values that do not apply are None.

    step = compute + bubble + exposed communication; `terms_s` are the seconds behind them by name. `interval` holds
    what is uncertain by its JSON key, `invalid` where it does not hold. `requests_per_s` is what an inference service
    can answer at most.
    """

    job: str
    step_time_s: float | None
    compute_s: float | None
    bubble_s: float | None
    exposed_communication_s: float | None
    mfu_ratio: float | None
    tokens_per_s_per_gpu: float | None
    time_to_first_token_s: float | None
    time_per_token_s: float | None
    rows: tuple[RowTime, ...]
    assumed: tuple[str, ...]
    invalid: tuple[Finding, ...]
    terms_s: Mapping[str, float] = field(default_factory=dict)
    interval: Mapping[str, Interval] = field(default_factory=dict)
    sensitivities: tuple[Sensitivity, ...] = ()
    slicing: tuple[Curve, ...] = ()
    hfu_ratio: float | None = None
    requests_per_s: float | None = None

    @property
    def communication_share_ratio(self) -> float | None:
        """Exposed communication over step time."""
        if not self.step_time_s or self.exposed_communication_s is None:
            return None
        return self.exposed_communication_s / self.step_time_s

    @property
    def largest_exposed(self) -> RowTime | None:
        """The traffic class that shows the most, None when none shows."""
        best = max(self.rows, key=lambda row: row.exposed_s, default=None)
        return best if best is not None and best.exposed_s > 0 else None

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The prediction in the shape of the command line's contract; where it does not hold in `lang`."""
        return {
            "step_time_s": self.step_time_s,
            "compute_s": self.compute_s,
            "bubble_s": self.bubble_s,
            "exposed_communication_s": self.exposed_communication_s,
            "communication_share_ratio": self.communication_share_ratio,
            "mfu_ratio": self.mfu_ratio,
            "hfu_ratio": self.hfu_ratio,
            "tokens_per_s_per_gpu": self.tokens_per_s_per_gpu,
            "time_to_first_token_s": self.time_to_first_token_s,
            "time_per_token_s": self.time_per_token_s,
            "requests_per_s": self.requests_per_s,
            "exposed_by_traffic_s": {row.traffic: row.exposed_s for row in self.rows},
            "time_by_traffic_s": {row.traffic: row.time_s for row in self.rows},
            "bottleneck_by_traffic": {row.traffic: row.bottleneck for row in self.rows},
            "terms_s": dict(self.terms_s),
            "interval": {name: found.as_json() for name, found in self.interval.items()},
            "sensitivities": [found.as_json() for found in self.sensitivities],
            "slicing": [curve.as_json() for curve in self.slicing],
            "assumed": list(self.assumed),
            "invalid": [limit.sentence(lang) for limit in self.invalid],
        }
