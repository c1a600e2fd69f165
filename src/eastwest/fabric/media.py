"""Media of cables: passive and active copper, active optical, optics by reach; how far each goes and on which fibre."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.spec.reach import reach_of_medium_m
from eastwest.units import GIGA

MEDIA = ("dac", "acc", "aoc", "sr", "dr", "fr", "lr", "zr")
DAC_REACH_M = {  # passive copper by lane rate: a plan keeps to the standard, although single parts reach farther
    10 * GIGA: 7.0,  # SFF-8431
    25 * GIGA: 3.0,  # IEEE 802.3by/bj without strong FEC
    50 * GIGA: 3.0,  # IEEE 802.3cd
    100 * GIGA: 2.0,  # IEEE 802.3ck
    200 * GIGA: 1.0,  # IEEE 802.3dj (draft)
}
OTHER_DAC_REACH_M = 2.0  # at a lane rate without a standard of its own: that of 100G lanes
AUTO_OPTICS = ("sr", "dr", "fr", "lr", "zr")
WHOLE_CABLES = ("dac", "acc", "aoc")  # cable with fixed ends
MULTIMODE = ("sr",)  # the others are single mode
PARALLEL_FIBRE = ("sr", "dr")  # MPO; the others are duplex LC
ORDER_LENGTHS_M = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 70.0, 100.0)
ORDER_STEP_M = 50.0  # longer cables come in steps of this length
COHERENT = ("zr",)  # one carrier: one connector whatever the rate


def reach_m(medium: str, lane_rate_bps: int) -> float:
    """Metres that a medium reaches at a lane rate: passive copper by the standard, all else by its usual part."""
    return DAC_REACH_M.get(lane_rate_bps, OTHER_DAC_REACH_M) if medium == "dac" else reach_of_medium_m(medium)


def fibre_of(medium: str) -> str:
    """The fibre that optics of a medium need: OM4 (multimode, 50/125) for SR, OS2 (single mode, 9/125) for the others.

    Source: IEEE 802.3db (SR, multimode), 802.3bs and 802.3cu (DR, FR, LR, single mode), OIF 400ZR.
    """
    return "OM4" if medium in MULTIMODE else "OS2"


def order_lengths_m(route_m: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) m the next length that cables are sold in."""
    table = np.array(ORDER_LENGTHS_M)
    at = np.minimum(np.searchsorted(table, route_m), len(table) - 1)
    length: NDArray[np.float64] = np.where(
        route_m <= table[-1], table[at], np.ceil(route_m / ORDER_STEP_M) * ORDER_STEP_M
    )
    return length
