"""Why a row of a collectives table is listed and not scored: a fixed list, each with its sentence in both languages."""

from __future__ import annotations

from enum import StrEnum


class Unscored(StrEnum):
    """One reason; its value is the code of its sentence in the messages."""

    calibration_table = "EW-VAL-201"  # ratios of another simulator
    issue_tracker = "EW-VAL-202"  # mostly unhealthy systems: for explaining shortfalls
    no_address = "EW-VAL-203"  # the citation is incomplete
    defect = "EW-VAL-204"  # a misconfiguration or a defect is what the row reports
    no_hardware = "EW-VAL-205"  # neither GPU nor NIC is named
    unknown_collective = "EW-VAL-206"
    no_points = "EW-VAL-207"  # no size and time, and no plateau, that can be read
    no_ranks = "EW-VAL-208"  # how many GPUs took part, in how many servers
    not_measured = "EW-VAL-209"  # simulation, specification, arithmetic
    not_computable = "EW-VAL-210"
