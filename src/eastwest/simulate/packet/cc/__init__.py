"""Congestion control of a flow: one file each, chosen by an integer.

`CONTROLS` is the explicit list; a control gives `begin`, `on_send`, `on_notice` (a congestion notification packet) and
`on_answer` (an acknowledgement with its round trip) over a row of CONTROL and the run's PARAMS.
"""

from __future__ import annotations

from enum import IntEnum


class Control(IntEnum):
    """Which control a flow has."""

    FIXED = 0
    DCQCN = 1
    DELAY = 2


CONTROLS = tuple(Control)
