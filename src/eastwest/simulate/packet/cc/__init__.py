"""Congestion control of a flow: one file each, chosen by an integer.

A control is a member of `Control`, a file with hooks over its row of CONTROL and the run's PARAMS, and a branch for
each hook in `hooks`: `begin`, `on_send`, `on_notice` (a congestion notification packet), `on_answer` (an
acknowledgement with its round trip), `on_loss`,
`on_timeout`.
"""

from __future__ import annotations

from enum import IntEnum


class Control(IntEnum):
    """Which control a flow has."""

    FIXED = 0
    DCQCN = 1
    DELAY = 2
    TCP = 3


CONTROLS = tuple(Control)
