"""Optics, cables, lane rate, FEC and reach of each tier: what both ends of a link must agree on."""

from __future__ import annotations

import numpy as np

from eastwest.decision import Decision
from eastwest.fabric.media import MEDIA, WHOLE_CABLES, reach_m
from eastwest.fabric.tables import LinkKind
from eastwest.plan.advice.case import Advice, Case
from eastwest.units import GIGA, format_length, format_port_rate

SOURCE = "IEEE 802.3bj, cd, ck, dj: FEC by lane rate; reach: medium's clause or data sheet"
FEC_OF_LANE = {
    10 * GIGA: "none",
    25 * GIGA: "RS(528,514) (KR4); BASE-R or none on short copper only",
    50 * GIGA: "RS(544,514) (KP4)",
    100 * GIGA: "RS(544,514) (KP4)",
    200 * GIGA: "RS(544,514) with inner code",
}


def advise(case: Case) -> Advice:
    """One decision for each tier and medium; what does not match is EW-FAB-006 (lanes) and EW-FAB-024 (reach)."""
    found = []
    links = case.fabric.links
    for kind in LinkKind:
        mine = links[links["kind"] == kind]
        for medium in np.unique(mine["medium"]).tolist():
            found.append(_link(case, kind, MEDIA[medium], mine[mine["medium"] == medium]))
    return Advice(tuple(found))


def fec_of(lane_rate_bps: int) -> str:
    """The FEC that both ends of a link with such lanes run.

    >>> fec_of(100 * 10**9)
    'RS(544,514) (KP4)'
    """
    return FEC_OF_LANE.get(lane_rate_bps, "as the data sheets of both ends say")


def _link(case: Case, kind: LinkKind, medium: str, mine: np.ndarray[tuple[int], np.dtype[np.void]]) -> Decision:
    lane = int(case.fabric.ports["lane_rate_bps"][mine["b_port"][0]])
    rate, longest = int(mine["rate_bps"].max()), float(mine["length_m"].max())
    reach = reach_m(medium, lane)
    lanes = max(1, rate // lane) if lane else 1
    ends = "one cable with both its ends" if medium in WHOLE_CABLES else f"{medium.upper()} modules at both ends"
    because = (
        f"{lanes} x {format_port_rate(lane)} at both ends, FEC {fec_of(lane)}; {ends}; the longest of {len(mine)} is "
        f"{format_length(longest)} of {format_length(reach)} reach"
    )
    return Decision(
        f"link.{kind.name.lower()}.{medium}",
        f"{format_port_rate(rate)} {medium.upper()}",
        "",
        because,
        "same lane rate, lanes, FEC and fibre at both ends; length <= reach",
        {
            "rate_bps": rate,
            "lane_rate_bps": lane,
            "lanes": lanes,
            "fec": fec_of(lane),
            "longest_m": longest,
            "reach_m": reach,
            "margin_m": reach - longest,
            "links": len(mine),
        },
        SOURCE,
    )
