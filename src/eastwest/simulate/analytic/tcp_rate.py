"""How fast TCP is, in closed forms: slow start by round trips, and the mean rate under random loss.

They hold for Reno in steady state with losses that come one by one. SACK, RACK and tail probes wait less for time-outs
than the PFTK formula says (`mathis_window` leaves them out); CUBIC is faster only where its window passes Reno's, at
long round trips and losses below about 1e-6.

Source: Cardwell, Savage, Anderson 2000, section 3.1 (slow start); Mathis, Semke, Mahdavi, Ott 1997, eq. 3; Padhye,
Firoiu, Towsley, Kurose 1998, the approximate model (also RFC 5348, section 3.1).
"""

from __future__ import annotations

from math import inf, sqrt


def slow_start_s(size_bytes: float, initial_bytes: float, rtt_s: float, rate_bps: float) -> float:
    """Seconds until the last byte leaves: a window each round trip, twice as large every time, until the path is full.

    >>> round(slow_start_s(1e8, 40_000, 0.01, 100e9), 6)
    0.112212
    """
    window, passed_s = initial_bytes, 0.0
    while window * 8 / rtt_s < rate_bps and size_bytes > window:
        size_bytes -= window
        passed_s += rtt_s
        window *= 2
    return passed_s + size_bytes * 8 / min(rate_bps, window * 8 / rtt_s)


def mathis_window(loss_ratio: float, segments_per_ack: float = 1.0) -> float:
    """Mean window in segments under random loss, without time-outs: sqrt(3 / (2 b p)).

    >>> round(mathis_window(1e-4), 1)
    122.5
    """
    return sqrt(3 / (2 * segments_per_ack * loss_ratio)) if loss_ratio > 0 else inf


def pftk_window(loss_ratio: float, rtt_s: float, rto_s: float, segments_per_ack: float = 2.0) -> float:
    """Mean window in segments under random loss, time-outs included: the rate of the PFTK formula times the round trip.

    rate = 1 / (RTT sqrt(2bp/3) + T0 min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2))

    >>> round(pftk_window(0.01, 0.1, 0.4, 1), 2)
    11.23
    """
    if loss_ratio <= 0:
        return inf
    b = segments_per_ack
    recovering_s = rtt_s * sqrt(2 * b * loss_ratio / 3)
    waiting_s = rto_s * min(1.0, 3 * sqrt(3 * b * loss_ratio / 8)) * loss_ratio * (1 + 32 * loss_ratio**2)
    return rtt_s / (recovering_s + waiting_s)


def policed_ratio(n_flows: int, in_flight_segments: float, burst_segments: float) -> float:
    """Part of a policer's rate that n synchronised flows use, whose windows fall to a half when the bucket is empty.

    Together the windows grow by n segments a round trip. Without tokens the peak is the rate and the mean three
    quarters of it; tokens let the peak rise by sqrt(2 n burst) above rate x RTT, until the mean is the whole rate.
    Derived from the sawtooth of Mathis et al. 1997; one round trip of all flows.

    >>> policed_ratio(1, 1000, 0), policed_ratio(1, 1000, 1e6)
    (0.75, 1.0)
    """
    if in_flight_segments <= 0:
        return 1.0
    return min(1.0, 0.75 * (1 + sqrt(2 * n_flows * burst_segments) / in_flight_segments))
