"""One predicted count against one printed count: its kind, how it is written, whether the two agree."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from eastwest.plan.designs.case import Row
from eastwest.plan.designs.written import MOST_PRINTED, port_groups, rate_of, ratio_of, ratio_text, text_of, whole_of
from eastwest.units import format_port_rate, format_rate

Kind = Literal["count", "ratio", "rate", "ports"]
ROUNDING = 0.005  # relative: tables print ratios and bandwidths with three digits
MORE_THAN = (">", "over", "at least", "≥")


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the arithmetic gives, and the arithmetic in words.

    `value` is a count, down:up, bit/s, or bit/s of `parts` ports (kind `ports`); with `is_bound` the printed value may
    be lower: the inputs give its upper limit only. `is_printed` says that another printed number was needed, `also` are
    other values that the same inputs allow (cables counted at the NICs' rate or the ports', servers whole or NIC by
    NIC), `is_on_switch` says that the value rests on the ports of a switch.
    """

    value: float
    because: str
    kind: Kind = "count"
    parts: int = 0
    is_bound: bool = False
    is_printed: bool = False
    also: tuple[int, ...] = ()
    is_on_switch: bool = False

    @property
    def shown(self) -> int | str:
        """The predicted value as the tables write it: 24, `2:1`, `12.8T`, `128x200G`, `<=64x400G`."""
        if self.kind == "count":
            return f"<={round(self.value)}" if self.is_bound else round(self.value)
        if self.kind == "ratio":
            text = ratio_text(self.value)
        elif self.kind == "rate":
            text = format_rate(self.value)
        else:
            text = f"{self.parts}x{format_port_rate(round(self.value / self.parts))}"
        return f"<={text}" if self.is_bound else text


Rule = Callable[[Row, re.Match[str]], Prediction | None]  # row and matched name of a count -> what the inputs give


def nearest(prediction: Prediction, printed: Any) -> Prediction:
    """The prediction, with the one of its values that a row prints where there are several."""
    found = _read(prediction, printed)
    return replace(prediction, value=found) if found is not None and found in prediction.also else prediction


def agrees(prediction: Prediction, printed: Any) -> bool | None:
    """Whether the printed value is the predicted one, or inside its bound; None when it cannot be read as its kind."""
    found = _read(prediction, printed)
    if found is None:
        return None
    if str(text_of(printed)).strip().lower().startswith(MORE_THAN):
        return prediction.value >= found
    if prediction.is_bound:
        return found <= prediction.value
    if prediction.kind == "count":
        return found == prediction.value
    return abs(found - prediction.value) <= ROUNDING * prediction.value


def _read(prediction: Prediction, printed: Any) -> float | None:
    """A printed value in the base unit of the prediction."""
    if prediction.kind == "ratio":
        return ratio_of(printed)
    if prediction.kind == "rate":
        return rate_of(printed)
    if prediction.kind == "ports":
        groups = port_groups(printed)
        if groups:
            return groups[0][0] * groups[0][1]
        count = whole_of(printed)
        return None if count is None else count * prediction.value / prediction.parts
    if isinstance(printed, int | float) and not isinstance(printed, bool):
        return printed
    return whole_of(printed, MOST_PRINTED)
