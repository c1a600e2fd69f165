"""`Draft`: a fabric while it is being drawn: blocks of nodes and of links, in the order in which they take ports.
Lives inside `build` only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.tables import LINK_DTYPE, NODE_DTYPE, LinkKind, NodeKind
from eastwest.spec.resolve import SwitchFacts

Ints = NDArray[np.int64]
NO_SWITCH = -1  # a server, controller or box: it has exactly the ports that its links take


@dataclass(slots=True)
class Draft:
    """Blocks of nodes and links; links take the ports of a node in the order in which they are added."""

    switches: list[SwitchFacts] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    node_blocks: list[NDArray[np.void]] = field(default_factory=list)
    switch_blocks: list[Ints] = field(default_factory=list)
    link_blocks: list[NDArray[np.void]] = field(default_factory=list)

    def add_nodes(self, kind: NodeKind, names: list[str], switch: SwitchFacts | None = None, **columns: Any) -> Ints:
        """(n,) int64 the new nodes; `columns` are fields of a node: a value for all or one each."""
        nodes = np.zeros(len(names), NODE_DTYPE)
        nodes["kind"] = kind
        for name in ("group", "pod", "rail", "rack", "unit"):
            nodes[name] = -1
        for name, value in columns.items():
            nodes[name] = value
        first = len(self.names)
        self.names += names
        self.node_blocks.append(nodes)
        self.switch_blocks.append(np.full(len(names), self._switch_number(switch), np.int64))
        return np.arange(first, first + len(names), dtype=np.int64)

    def _switch_number(self, switch: SwitchFacts | None) -> int:
        if switch is None:
            return NO_SWITCH
        if switch not in self.switches:
            self.switches.append(switch)
        return self.switches.index(switch)

    def add_links(self, kind: LinkKind, a: Ints, b: Ints, rate_bps: int, **columns: Any) -> None:
        """Adds one link for each pair of `a` (the lower node) and `b`, all of one rate."""
        links = np.zeros(len(a), LINK_DTYPE)
        links["kind"], links["a"], links["b"], links["rate_bps"] = kind, a, b, rate_bps
        links["a_port"] = links["b_port"] = links["rail"] = -1
        for name, value in columns.items():
            links[name] = value
        self.link_blocks.append(links)

    def nodes(self) -> NDArray[np.void]:
        """(n_nodes,) all nodes so far; their ports are not numbered yet."""
        return np.concatenate(self.node_blocks)

    def links(self) -> NDArray[np.void]:
        """(n_links,) all links so far; their ports are not given yet."""
        return np.concatenate(self.link_blocks) if self.link_blocks else np.zeros(0, LINK_DTYPE)

    def switch_of(self) -> Ints:
        """(n_nodes,) int64 index into `switches`, `NO_SWITCH` for a server, controller or box."""
        return np.concatenate(self.switch_blocks)
