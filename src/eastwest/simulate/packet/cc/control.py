"""What every congestion control keeps for a flow, and the parameters of a run."""

from __future__ import annotations

import numpy as np

CONTROL = np.dtype(
    [
        ("rate_bps", np.int64),  # what the flow is paced at
        ("line_bps", np.int64),  # the most: of its NIC, or its cap
        ("target_bps", np.int64),
        ("alpha", np.float64),
        ("alpha_ps", np.int64),  # up to here alpha has been let decay
        ("raise_ps", np.int64),  # up to here the timer has raised the rate
        ("cut_ps", np.int64),  # last decrease
        ("counted_bytes", np.int64),  # since the byte counter last raised the rate
        ("time_stage", np.int32),
        ("byte_stage", np.int32),
        ("n_cuts", np.int64),
        ("window_packets", np.float64),  # of a window-based control; below one it is a pace
        ("base_rtt_ps", np.int64),  # of the empty path
        ("kind", np.int8),
        ("is_cut", np.int8),  # had its first decrease: before it, nothing decays and nothing rises
    ],
    align=True,
)
PARAMS = np.dtype(
    [
        ("g", np.float64),  # gain of alpha
        ("alpha_period_ps", np.int64),
        ("cut_period_ps", np.int64),  # decreases are at least so far apart
        ("raise_period_ps", np.int64),
        ("raise_bytes", np.int64),  # byte counter
        ("recovery_stages", np.int64),  # F
        ("additive_bps", np.int64),  # R_AI
        ("hyper_bps", np.int64),  # R_HAI
        ("least_bps", np.int64),
        ("notice_period_ps", np.int64),  # between two notices of one flow
        ("target_delay_ps", np.int64),  # of a delay-based control, above the base
        ("beta", np.float64),
        ("additive_window", np.float64),  # packets a round trip
        ("most_cut", np.float64),
        ("payload_bytes", np.int64),
        ("overhead_bytes", np.int64),
        ("answer_bytes", np.int64),
        ("answer_lane", np.int64),
        ("timeout_ps", np.int64),
        ("retries", np.int64),
        ("nak_period_ps", np.int64),
        ("head_of_queue_ps", np.int64),  # lifetime at the head of a queue without room ahead (InfiniBand)
        ("flowlet_gap_ps", np.int64),
        ("jitter_ps", np.int64),  # most that a sender adds between two packets
        ("watchdog", np.int64),  # its action; 0: none
        ("poll_ps", np.int64),
        ("detect_ps", np.int64),
        ("restore_ps", np.int64),
    ],
    align=True,
)
