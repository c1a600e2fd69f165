"""Rooms and distance in closed form: round trip of the fibre, PFC headroom by distance and where PFC must end, and what
NCCL's buffers let through.
"""

from __future__ import annotations

import math

from eastwest.policy.headroom import Headroom, cable_bytes, cell_factor, textbook
from eastwest.policy.roles import UNKNOWN_PACKING
from eastwest.units import BITS_PER_BYTE, KIBI, MEBI, NS_PER_S

FIBRE_DELAY_S_PER_M = 5 / NS_PER_S  # group index 1.468 of single-mode fibre: 4.9 ns/m, rounded up
NCCL_BUFFER_BYTES = 4 * MEBI  # NCCL_BUFFSIZE, of one channel, Simple protocol
NCCL_CHUNK_BYTES = 512 * KIBI  # buffer / NCCL_STEPS (8): what one network message carries
CHANNELS_PER_NIC = 2  # 16 channels over 8 NICs, the search's usual end on 8-GPU servers; assumed
# One-way delays of the fibre that a collective's message pays when its group spans two rooms: a ring crosses twice a
# revolution, an all-reduce makes two revolutions.
CROSSINGS = {"all_reduce": 4, "all_gather": 2, "reduce_scatter": 2, "broadcast": 1, "send_recv": 1, "all_to_all": 1}


def fibre_rtt_s(distance_m: float) -> float:
    """Seconds of the fibre there and back: 2 L x 5 ns/m.

    >>> round(fibre_rtt_s(10_000) * 1e6)
    100
    """
    return 2 * distance_m * FIBRE_DELAY_S_PER_M


def room_headroom(rate_bps: int, distance_m: float, mtu_bytes: int) -> Headroom:
    """The least PFC headroom of one port and priority over that distance, term by term (IEEE 802.1Qbb).

    >>> round(room_headroom(400 * 10**9, 10_000, 9216).xoff_bytes / 1e6, 1)
    5.1
    """
    return textbook(rate_bps, distance_m, mtu_bytes)


def packing_of(cell_bytes: int | None) -> float:
    """Memory taken over bytes received in the worst case of small packets: by the chip's cell, 2 when it is not
    known.
    """
    return float(UNKNOWN_PACKING) if cell_bytes is None else cell_factor(cell_bytes, True)


def pfc_reach_m(share_bytes: float, known_bytes: float, known_m: float, rate_bps: int, packing: float) -> float:
    """Metres at which the headroom of one port and priority fills its share: L0 + (share - h(L0)) / (packing x 2 C /
    8 v). Headroom is linear in length. Zero when not even a short cable fits.

    >>> round(pfc_reach_m(5_050_505, 0, 0.0, 400 * 10**9, 1.0))
    5000
    """
    slope = cable_bytes(rate_bps, 1.0) * packing
    return max(0.0, known_m + (share_bytes - known_bytes) / slope)


def nccl_bytes_per_s(channels: int, rtt_s: float, buffer_bytes: int = NCCL_BUFFER_BYTES) -> float:
    """The most that NCCL keeps in flight towards one peer NIC: channels x buffer / RTT, bytes/s.

    >>> round(nccl_bytes_per_s(1, 100e-6) / 1e9, 1)
    41.9
    """
    return channels * buffer_bytes / rtt_s


def channels_for(rate_bps: int, rtt_s: float, buffer_bytes: int = NCCL_BUFFER_BYTES) -> int:
    """Channels that fill a rate over that round trip: ceil(rate/8 x RTT / buffer).

    >>> channels_for(400 * 10**9, 100e-6)
    2
    """
    return max(1, math.ceil(round(rate_bps / BITS_PER_BYTE * rtt_s / buffer_bytes, 9)))


def nccl_reach_m(rate_bps: int, channels: int, base_rtt_s: float) -> float:
    """Metres of fibre up to which that many channels fill the rate: (channels x buffer x 8 / rate - base RTT) / 10
    ns/m; 0 when they never do.

    >>> round(nccl_reach_m(400 * 10**9, 2, 0.0))
    16777
    """
    rtt_s = channels * NCCL_BUFFER_BYTES * BITS_PER_BYTE / rate_bps
    return max(0.0, (rtt_s - base_rtt_s) / (2 * FIBRE_DELAY_S_PER_M))
