"""Distance: what a window of bytes in flight reaches over a round trip, and what waiting for it costs a training step.

Rate <= window / RTT for one sender that waits for acknowledgements. It stops being true under loss.
"""

from __future__ import annotations

FIBRE_M_PER_S = 2.04e8  # light in G.652 fibre, group index 1.468 (ITU-T G.652)
EQUIPMENT_S = 20e-6  # transponders and two switches each way: 10 us with FEC


def rtt_s(distance_m: float) -> float:
    """Round trip over a fibre.

    >>> round(rtt_s(120_000) * 1e3, 2)
    1.2
    """
    return 2 * distance_m / FIBRE_M_PER_S + EQUIPMENT_S


def reached_ratio(window_bytes: float, rate_bytes_per_s: float, distance_m: float) -> float:
    """Rate over line rate that a window reaches over a distance: window / (rate x RTT), 1 at most."""
    return min(1.0, window_bytes / (rate_bytes_per_s * rtt_s(distance_m)))


def step_ratio(distance_m: float, step_s: float, round_trips: float) -> float:
    """Step rate over that at no distance when a step waits `round_trips` times for the far site and has the bandwidth.

    >>> round(step_ratio(120_000, 10.0, 16), 3)
    0.998
    """
    return step_s / (step_s + round_trips * rtt_s(distance_m))
