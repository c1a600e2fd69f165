"""One row of a designs table: its inputs under known keys, its printed counts one by one, and its design."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from eastwest.plan.designs.design import Design, read_design, spelled
from eastwest.plan.designs.fabric_counts import FabricCounts, counts_of, others_of
from eastwest.plan.designs.terms import plain
from eastwest.plan.designs.written import MOST_PRINTED, port_groups, ratio_of, text_of, whole_of

UFM_LINKS = 4  # leaf ports of the fabric manager; DGX SuperPOD H100 table: 252, 508, 1020 cables of 248, 504, 1016 GPUs
_NO_COUNT = re.compile(
    r"_pct$|percent|throughput|packet_loss|price|usd|cost|saving|latency|power|_s$|date|year|note|utilisation|utilization"
)
_NUMBER = re.compile(r"\s*-?\d+(?:\.\d+)?\s*")


@dataclass(frozen=True)
class Row:
    """A row as the file has it; `line` is that of the row, `lines` those of its printed counts."""

    id: str
    family: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    warning: str
    line: int | None
    lines: Mapping[str, int]

    @cached_property
    def given(self) -> Mapping[str, Any]:
        """The inputs under known keys."""
        return spelled(self.inputs)

    @cached_property
    def printed(self) -> Mapping[str, Any]:
        """Printed counts by name, those of a group as `per_pod.leaf`; what is no count is left out."""
        return dict(_counts(self.outputs, ""))

    @cached_property
    def unread(self) -> Mapping[str, Any]:
        """Printed values by name that are no number and no ratio."""
        return {
            str(key): value
            for key, value in self.outputs.items()
            if isinstance(value, str) and not _NO_COUNT.search(str(key)) and not _is_count(value)
        }

    @cached_property
    def design(self) -> Design:
        """The design that the inputs describe."""
        design = read_design(self.inputs, self.family)
        if any("ufm" in name for name in self.printed):
            design = replace(design, controller_links=UFM_LINKS)
        ratio = self._printed_ratio() if "1:1" in design.assumed else None
        if ratio is None:
            return design
        return replace(design, ratio=ratio, assumed=tuple(text for text in design.assumed if text != "1:1"))

    def _printed_ratio(self) -> float | None:
        """Down:up of the ports that the row prints for a leaf, where its inputs name no ratio."""
        for tier in ("tor", "leaf"):
            sides = [port_groups(self.printed.get(f"{tier}_{side}_ports")) for side in ("down", "up")]
            if all(sides):
                down, up = (ports * rate for ports, rate in (sides[0][0], sides[1][0]))
                return down / up
        return None

    @cached_property
    def counts(self) -> FabricCounts | None:
        """What the fabric builder makes of the design; None when it cannot be built."""
        return counts_of(self.design)

    @cached_property
    def others(self) -> tuple[FabricCounts, ...]:
        """Counts of the same inputs read in another way; empty where there is one way only."""
        return others_of(self.design)

    def number(self, name: str) -> int | None:
        """A whole number that the inputs give."""
        return whole_of(self.given.get(name))


def _counts(outputs: Mapping[str, Any], front: str) -> Iterator[tuple[str, Any]]:
    for key, value in outputs.items():
        name = f"{front}{str(key).strip().lower().replace('-', '_').replace(' ', '_')}"
        if isinstance(value, dict) and not front:
            yield from _counts(value, f"{name}.")
        elif not _NO_COUNT.search(name) and _is_count(value):
            yield name, _in_digits(value)


def _is_count(value: Any) -> bool:
    """Whether a printed value is meant as a count: any number, and a text that has one or is a number word."""
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return False
    if isinstance(value, int | float):
        return True
    text = text_of(_in_digits(value))
    return whole_of(text, MOST_PRINTED) is not None or ratio_of(text) is not None or bool(_NUMBER.fullmatch(text))


def _in_digits(value: Any) -> Any:
    """A number word as a number: 8 of `eight`."""
    return plain(value).strip() if isinstance(value, str) and value.strip().isalpha() else value
