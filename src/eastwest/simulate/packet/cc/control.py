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
        ("threshold", np.float64),  # TCP: slow start below it
        ("smooth_ps", np.int64),  # round trip, smoothed
        ("deviation_ps", np.int64),
        ("recover_seq", np.int32),  # no second cut before all up to here is acknowledged
        ("mark_seq", np.int32),  # the present window of marks ends here
        ("n_seen", np.int32),
        ("n_marked", np.int32),
        ("top", np.float64),  # CUBIC: window at the last cut
        ("friendly", np.float64),  # window of a Reno flow
        ("origin_s", np.float64),  # from the cut to the inflection
        ("epoch_ps", np.int64),  # first growth after the cut; 0: none yet
        ("rtt_ps", np.int64),  # of the last answer
        ("n_acked", np.int32),  # packets that it acknowledged for the first time
        ("is_marked", np.int8),  # its data packet was marked
        ("kind", np.int8),
        ("control", np.int8),  # which TCP
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
        ("answers_with_data", np.int64),  # in the class of the data
        ("least_timeout_ps", np.int64),  # of TCP
        ("initial_packets", np.float64),
        ("most_packets", np.float64),
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
