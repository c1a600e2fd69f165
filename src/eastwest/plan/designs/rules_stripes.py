"""Counts of rail-optimized stripes, as validated designs print them: so many stripes of so many leaves, so many spines,
and the down:up ratio for a number of servers in each stripe.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eastwest.plan.designs.case import Row
from eastwest.plan.designs.design import USUAL_GPUS, SwitchSize, catalogue_switch
from eastwest.plan.designs.prediction import ROUNDING, Prediction, Rule
from eastwest.plan.designs.rules_fabric import LEAF, SPINE
from eastwest.plan.designs.written import port_groups, rate_of, ratio_of, text_of
from eastwest.units import GIGA, format_port_rate, format_rate

NIC_RATES_BPS = (100 * GIGA, 200 * GIGA, 400 * GIGA, 800 * GIGA)  # one rate of these when a row gives none
OVERSUBSCRIPTION = re.compile(r"oversubscription_(?P<servers>\d+)_(?:servers|nodes)_per_stripe")


@dataclass(frozen=True, slots=True)
class Stripes:
    """Stripes of one leaf a rail; `spines` and `uplink_bps` None where the row does not say."""

    stripes: int
    leaves: int
    spines: int | None
    per_pair: int
    uplink_bps: int | None


def _stripes(row: Row) -> Stripes | None:
    stripes = row.number("stripes")
    if not stripes:
        return None
    per_stripe = row.number("leaf_per_stripe") or row.number("nics_per_node") or USUAL_GPUS
    return Stripes(
        stripes,
        stripes * per_stripe,
        row.number("spines"),
        row.number("uplinks_per_leaf_per_spine") or 1,
        rate_of(row.given.get("uplink_gbps")),
    )


def _leaves(row: Row, match: re.Match[str]) -> Prediction | None:
    found = _stripes(row)
    if found is None:
        return None
    return Prediction(found.leaves, f"{found.stripes} stripes x {found.leaves // found.stripes} leaves, one a rail")


def _spines(row: Row, match: re.Match[str]) -> Prediction | None:
    """Spines as given, else one for each uplink that a leaf needs at the wished ratio."""
    found = _stripes(row)
    if found is None:
        return None
    if found.spines:
        return Prediction(found.spines, "spines of the inputs, one port for each leaf and link of a pair")
    gpus, rails, ratio = row.number("gpus"), found.leaves // found.stripes, ratio_of(row.given.get("oversubscription"))
    if not gpus or not ratio or gpus % (found.stripes * rails):
        return None
    rate = row.design.nic_rate_bps
    uplinks = round(gpus // (found.stripes * rails) / ratio)
    switch = _spine_switch(row)
    least = -(-found.leaves * uplinks // (switch.ports * (switch.rate_bps // rate))) if switch else uplinks
    spines = next((n for n in range(least, uplinks + 1) if uplinks % n == 0), uplinks)
    because = f"{found.leaves} leaves x {uplinks} uplinks of {format_port_rate(rate)}, dealt evenly to {spines} spines"
    return Prediction(spines, because)


def _spine_switch(row: Row) -> SwitchSize | None:
    text = text_of(row.given.get("spine_model") or row.given.get("spine_switch"))
    groups = port_groups(text)
    return SwitchSize(text, *groups[0]) if groups else catalogue_switch(text)


def _ratio(row: Row, match: re.Match[str]) -> Prediction | None:
    """Down:up of a leaf with that many servers in its stripe, one NIC of each on it."""
    found, nic = _stripes(row), _nic_rate(row)
    if found is None or nic is None or not found.spines or not found.uplink_bps:
        return None
    rate, words = nic
    servers = int(match["servers"])
    up_bps = found.spines * found.per_pair * found.uplink_bps
    because = f"{servers} x {format_port_rate(rate)} down, {format_rate(up_bps)} up{words}"
    return Prediction(servers * rate / up_bps, because, kind="ratio")


def _nic_rate(row: Row) -> tuple[int, str] | None:
    """The NIC's rate, and how it is known: of the inputs, else the one usual rate that agrees with all printed ratios.

    One printed ratio alone proves nothing, since it would be explained by itself: then there is no answer.
    """
    said = rate_of(row.given.get("nic_gbps")) or rate_of(row.given.get("nic"))
    if said:
        return said, ""
    printed = list(_printed_ratios(row))
    found = _stripes(row)
    if len(printed) <= 1 or found is None or not found.spines or not found.uplink_bps:
        return None
    up_bps = found.spines * found.per_pair * found.uplink_bps
    for rate in NIC_RATES_BPS:
        if all(abs(servers * rate / up_bps - ratio) <= ROUNDING * ratio for servers, ratio in printed):
            text = f"the row gives no NIC rate; {format_port_rate(rate)} is the one usual rate that fits all its ratios"
            return rate, f" ({text})"
    servers, ratio = printed[0]
    return round(ratio * up_bps / servers), " (the row gives no NIC rate; this one follows from its first ratio)"


def _printed_ratios(row: Row) -> Iterator[tuple[int, float]]:
    for name, value in row.printed.items():
        match, ratio = OVERSUBSCRIPTION.fullmatch(name), ratio_of(value)
        if match and ratio:
            yield int(match["servers"]), ratio


def _bandwidth(row: Row, match: re.Match[str]) -> Prediction | None:
    """Bandwidth of all leaf-spine links, one way."""
    found = _stripes(row)
    if found is None:
        counts = row.counts
        return Prediction(counts.leaf_spine_bps, "all leaf-spine links, one way", kind="rate") if counts else None
    if not found.spines or not found.uplink_bps:
        return None
    total = found.leaves * found.spines * found.per_pair * found.uplink_bps
    because = f"{found.leaves} leaves x {found.spines} spines x {found.per_pair} x {format_port_rate(found.uplink_bps)}"
    return Prediction(total, because, kind="rate")


RULES: Mapping[str, Rule] = {
    LEAF: _leaves,
    SPINE: _spines,
    OVERSUBSCRIPTION.pattern: _ratio,
    r"(?:total_)?leaf_spine_bandwidth|total_uplink_bandwidth": _bandwidth,
}
