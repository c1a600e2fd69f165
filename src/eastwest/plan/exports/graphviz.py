"""The fabric as a Graphviz drawing: `graphviz/fabric.dot`, for `dot -Tsvg`.

Up to 200 nodes every device is a node and every pair of devices one edge with its number of cables. Above, devices of
one kind, room and plane are one node with their count. Left out: ports, lengths, media and racks (`cables.csv` has
them). Size: a few kilobytes to about 1 MB.

Source: Graphviz documentation, "DOT Language".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.plan.plan import Plan

MOST_NODES = 200  # a drawing with more is unreadable and takes dot minutes
COLOURS = {
    NodeKind.SERVER: "#e8f1fa",
    NodeKind.LEAF: "#d9ead3",
    NodeKind.SPINE: "#fff2cc",
    NodeKind.CORE: "#f9cb9c",
    NodeKind.BOX: "#ead1dc",
    NodeKind.CONTROLLER: "#e8f1fa",
}
WORDS = {
    NodeKind.SERVER: "servers",
    NodeKind.LEAF: "leaves",
    NodeKind.SPINE: "spines",
    NodeKind.CORE: "cores",
    NodeKind.BOX: "boxes",
    NodeKind.CONTROLLER: "controllers",
}


def files(plan: Plan) -> dict[str, str]:
    """The files of the format."""
    fabric = plan.fabric
    if len(fabric.nodes) <= MOST_NODES:
        group = np.arange(len(fabric.nodes), dtype=np.int64)
        texts = list(fabric.names)
    else:
        group, texts = classes(fabric)
    return {"graphviz/fabric.dot": "\n".join(_lines(plan.site.name, fabric, group, texts)) + "\n"}


def classes(fabric: Fabric) -> tuple[NDArray[np.int64], list[str]]:
    """(n_nodes,) int64 the class of each node, and a text for each class: its count, kind, room and plane."""
    keys = np.stack([fabric.nodes["kind"], fabric.nodes["room"], fabric.nodes["plane"]], axis=1).astype(np.int64)
    values, inverse, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    texts = []
    for (kind, room, plane), count in zip(values.tolist(), counts.tolist(), strict=True):
        room_text = f", {fabric.rooms[room]}" if len(fabric.rooms) > 1 else ""
        plane_text = f", plane {plane + 1}" if fabric.planes > 1 and kind in (NodeKind.LEAF, NodeKind.SPINE) else ""
        texts.append(f"{count} {WORDS[NodeKind(kind)]}{room_text}{plane_text}")
    return inverse.reshape(-1).astype(np.int64), texts


def _lines(title: str, fabric: Fabric, group: NDArray[np.int64], texts: list[str]) -> Iterator[str]:
    _, first = np.unique(group, return_index=True)
    kinds = fabric.nodes["kind"][first].tolist()
    yield f"graph {_quoted(title)} {{"
    yield "  rankdir=BT;"
    yield '  node [shape=box, style=filled, fontname="sans-serif"];'
    for kind in sorted(set(kinds)):
        yield f'  {{ rank=same; node [fillcolor="{COLOURS[NodeKind(kind)]}"];'
        for number, own in enumerate(kinds):
            if own == kind:
                yield f"    n{number} [label={_quoted(texts[number])}];"
        yield "  }"
    for a, b, count in edges(fabric, group):
        yield f"  n{a} -- n{b}" + (f' [label="×{count}"];' if count > 1 else ";")
    yield "}"


def edges(fabric: Fabric, group: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """(lower, upper, cables) of every pair of classes that a cable joins."""
    n_classes = int(group.max(initial=0)) + 1
    pairs = group[fabric.links["a"]] * n_classes + group[fabric.links["b"]]
    found, counts = np.unique(pairs, return_counts=True)
    return [(*divmod(pair, n_classes), count) for pair, count in zip(found.tolist(), counts.tolist(), strict=True)]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
