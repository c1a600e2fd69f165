"""What links lose: random losses by level, cable or box, and policers, looked up by name in the network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.network import Ints, Level, Network, Place
from eastwest.simulate.scenario import Scenario
from eastwest.simulate.sections import Mistakes
from eastwest.spec.document import Path
from eastwest.spec.mistakes import shown

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drops:
    """(n_links,) part of the packets lost at random, rate of the policer (infinite: none) and bytes that it lets
    through at once.
    """

    ratio: Floats
    police_bps: Floats
    burst_bytes: Floats

    @property
    def policed(self) -> Ints:
        """(n,) links with a policer."""
        return np.flatnonzero(np.isfinite(self.police_bps)).astype(np.int64)


def drops_of(scenario: Scenario, network: Network) -> Drops | None:
    """The drops of a scenario; None when nothing is lost. Notes names that are not there as mistakes."""
    wish = scenario.wish
    if wish.loss is None and not wish.policers:
        return None
    n = len(network.links)
    ratio, police, burst = np.zeros(n), np.full(n, np.inf), np.zeros(n)
    if wish.loss is not None:
        for level, lost in wish.loss.levels:
            _lose_more(ratio, np.flatnonzero(network.links["level"] == Level[level.upper()]), lost)
        for item in wish.loss.links:
            _lose_more(ratio, _links_named(item.names, network, item.path, scenario.mistakes), item.ratio)
    for policer in wish.policers:
        links = _links_named(policer.names, network, policer.path, scenario.mistakes)
        police[links] = policer.rate_bps or network.links["rate_bps"][links]
        burst[links] = policer.burst_bytes
    return Drops(ratio, police, burst)


def _lose_more(ratio: Floats, links: Ints, lost: float) -> None:
    """Another loss, independent of those before."""
    ratio[links] = 1 - (1 - ratio[links]) * (1 - lost)


def _links_named(names: tuple[str, ...], network: Network, path: Path, mistakes: Mistakes) -> Ints:
    """(n,) links both ways between two nodes, or the inside of a box."""
    if len(names) == 1:
        found = network.links_between(names[0], f"{names[0]}:out")
        if not len(found):
            boxes = [network.names[node] for node in np.flatnonzero(network.kinds == Place.BOX)]
            known = ", ".join(box for box in boxes if not box.endswith(":out")) or "-"
            mistakes.add("EW-SIM-023", path, found=shown(names[0]), known=known)
        return found
    if len(names) != 2:
        return np.zeros(0, np.int64)  # said when it was read
    found = network.links_between(*names)
    if not len(found):
        mistakes.add("EW-SIM-029", path, found=f"{names[0]} - {names[1]}")
    return found
