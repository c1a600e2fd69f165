"""Point to point: what perftest and copies between two GPUs take, closed forms with constants of other sources.

A queue pair posts messages at a fixed rate at most; above that rate's size the wire counts. It stops being true for
several queue pairs, inline sends, and when the slot is slower than the NIC.
"""

from __future__ import annotations

MESSAGES_PER_S = 2.8e6  # one queue pair: SuperBench, ib_write_bw loopback of ConnectX-6, 2.79 Mpps from 2 B to 1 KiB
WIRE_SHARE = 0.98  # payload of RDMA over line rate: 98.01 of 100 Gb/s, OCI, ib_write_bw over RoCE
POST_S = 8e-8  # between messages above 4 KiB: 8 KiB take 0.44 us where the wire needs 0.33
READ_LATENCY_S = 5.0e-6  # read of a few bytes over one switch: two trips of 1.3 us and two PCIe reads of 1.2 us
WRITE_LATENCY_S = 3.0e-6  # write of a few bytes over one switch: OCI's limit for a healthy pair


def write_s(size_bytes: float, nic_bytes_per_s: float) -> float:
    """Seconds a message of a stream of RDMA writes over one queue pair.

    >>> round(write_s(4194304, 25e9) * 1e6)
    171
    """
    wire_s = size_bytes / (nic_bytes_per_s * WIRE_SHARE) + POST_S
    return max(1 / MESSAGES_PER_S, wire_s)


def read_latency_s(size_bytes: float, nic_bytes_per_s: float) -> float:
    """Seconds of one RDMA read, alone."""
    return READ_LATENCY_S + size_bytes / (nic_bytes_per_s * WIRE_SHARE)


def write_latency_s(size_bytes: float, nic_bytes_per_s: float) -> float:
    """Seconds of one RDMA write (half of a ping-pong), alone."""
    return WRITE_LATENCY_S + size_bytes / (nic_bytes_per_s * WIRE_SHARE)
