"""Dispatch and combine of experts by one-sided kernels (DeepEP): closed forms over the share of bytes that leaves.

Source: DeepEP, README and docs of its first version (what its figures count); the shares are arithmetic.
"""

from __future__ import annotations

START_S = 43e-6  # low-latency kernel: launch, count exchange, barrier; 118 us on 16 GPUs less 75 us of wire
WIRE_SHARE = 0.98  # one-sided writes over line rate
BUFFERED_SHARE = 0.90  # normal kernels over line rate: 43-46 of 50 GB/s
INNER_SHARE = 0.79  # over the scale-up rate of one GPU: 153-158 of 200 GB/s (H800), 726-740 of 900 (Blackwell)
LOOPED_SHARE = 1.10  # low-latency inside one server, over the scale-up rate of 200 GB/s: 34 us for 7.3 MB


def low_latency_s(
    payload_bytes: float, ranks: int, per_domain: int, nic_bytes_per_s: float, inner_bytes_per_s: float
) -> float:
    """Seconds of one low-latency exchange of `payload_bytes` a GPU over `ranks`; experts are drawn evenly, so
    (n - g)/n of the bytes leave the domain of g GPUs.
    """
    leaving = max(0.0, (ranks - per_domain) / ranks)
    inside = 1 - leaving
    wire_s = payload_bytes * leaving / (nic_bytes_per_s * WIRE_SHARE)
    return START_S + max(wire_s, payload_bytes * inside / (inner_bytes_per_s * LOOPED_SHARE))


def counted_bytes_per_s(domains: int, nic_bytes_per_s: float, inner_bytes_per_s: float) -> float:
    """Bytes/s that a normal exchange prints: it counts the tokens for its own domain, which never cross the wire.

    >>> round(counted_bytes_per_s(4, 50e9, 450e9) / 1e9)
    60
    """
    if domains <= 1:
        return inner_bytes_per_s * INNER_SHARE
    return nic_bytes_per_s * BUFFERED_SHARE * domains / (domains - 1)
