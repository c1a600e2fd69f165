"""Goodput under loss: what go-back-0, go-back-N and selective repeat leave of the line rate.

Each packet is lost alone with probability p. Go-back-N sends the window after a lost packet again, so a packet costs
1 + w p / (1 - p) transmissions; selective repeat only the lost one. It stops being true for bursts of loss and when a
time-out, not a NAK, finds the loss.

Source: Bertsekas and Gallager 1992, section 2.4.2; Guo et al. 2016, section 4.1 (go-back-0).
"""

from __future__ import annotations

from math import exp, expm1, log1p


def go_back_0_ratio(loss_ratio: float, message_packets: float) -> float:
    """Goodput over line rate when every loss starts the message again: (1-p)^k k p / (1 - (1-p)^k) for k packets.

    >>> round(go_back_0_ratio(1 / 256, 4000), 9)
    2.481e-06
    """
    if loss_ratio <= 0:
        return 1.0
    if loss_ratio >= 1:
        return 0.0
    exponent = message_packets * log1p(-loss_ratio)  # of (1-p)^k; expm1 keeps it exact for the smallest rates
    sent = -expm1(exponent) / loss_ratio  # (1-p)^k times the packets that are sent until k in a row arrive
    return min(1.0, exp(exponent) * message_packets / sent) if sent > 0 else 1.0


def go_back_n_ratio(loss_ratio: float, window_packets: float) -> float:
    """Goodput over line rate: (1 - p) / (1 - p + w p), with a window of w packets in flight.

    >>> round(go_back_n_ratio(0.01, 200), 2)
    0.33
    """
    if loss_ratio >= 1:
        return 0.0
    return (1 - loss_ratio) / (1 - loss_ratio + window_packets * loss_ratio)


def selective_repeat_ratio(loss_ratio: float) -> float:
    """Goodput over line rate when only the lost packet is sent again: 1 - p."""
    return max(0.0, 1 - loss_ratio)


def window_packets(rate_bps: float, rtt_s: float, packet_bytes: float) -> float:
    """Packets in flight of a flow that fills its path: rate x RTT, at least one."""
    return max(1.0, rate_bps * rtt_s / 8 / packet_bytes)
