"""How far a medium reaches: the reach on the data sheet of its usual part, where nobody names the part itself."""

from __future__ import annotations

from collections.abc import Mapping

from eastwest.spec import catalogue

USUAL_CABLES: Mapping[str, str] = {  # medium of a cable with fixed ends -> catalogue model
    "dac": "mcp7y00-n",  # passive, 100G lanes
    "acc": "mca7j60-n",  # active copper, 100G lanes
    "aoc": "aoc-400g",
}
USUAL_OPTICS: Mapping[str, str] = {  # medium of a module -> catalogue model
    "sr": "mma4z00-ns",  # 100G lanes over OM4; those of 25G and 50G lanes reach twice as far
    "dr": "mms4x00-nm",
    "fr": "mms4x50-nm",
    "lr": "400g-lr4-10",
    "zr": "400g-zr",
}
USUAL_OLD_SR = "400g-sr8"  # 50G lanes over OM4; those of 25G lanes reach as far


def reach_of_medium_m(medium: str) -> float:
    """Metres that the usual part of a medium reaches; a part of another maker or lane rate may reach less.

    Raises UsageError for a medium without a usual part. Source: the data sheet named in the catalogue's file.

    >>> reach_of_medium_m("dr"), reach_of_medium_m("aoc")
    (500.0, 100.0)
    """
    if medium in USUAL_CABLES:
        return catalogue.get("cable", USUAL_CABLES[medium]).reach_m or 0.0
    return reach_of_optic_m(USUAL_OPTICS.get(medium, medium))


def reach_of_optic_m(model: str) -> float:
    """Metres that a catalogue module reaches. Raises UsageError for one that the catalogue has not."""
    return catalogue.get("optic", model).reach_m or 0.0
