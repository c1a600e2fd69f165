"""Kubernetes topology labels: `kubernetes/labels.yaml`, a partial Node object for each server, and the kubectl
commands that set the same labels as comments.

The well-known keys get the site (region) and the room (zone); the others stand below `topology.eastwest/`: the leaf
or leaf group, pod, core and room that join servers, scale-up domain, rack and unit. Left out: labels that another
tool owns (the kubelet's host name, those of a discovery tool), and every node that is no server. Size: about 700
bytes a server.

Source: Kubernetes documentation, "Labels and Selectors" and "Well-Known Labels, Annotations and Taints".
"""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.fabric.tables import NodeKind
from eastwest.plan.exports.locality import locality, scale_up_domains
from eastwest.plan.exports.names import host_names, label_value
from eastwest.plan.plan import Plan

REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
PREFIX = "topology.eastwest"
KEYS = {"leaf": "leaf-group", "spine": "pod", "core": "core", "room": "room-group"}  # level -> name after the prefix


def files(plan: Plan) -> dict[str, str]:
    """The files of the format."""
    rows = list(node_labels(plan))
    head = [
        "# Labels of every server, nearest level first: leaf-group, pod, core, room-group. Two ways to set them:",
        "#   kubectl apply --server-side -f labels.yaml",
        "# or, for nodes that exist already, one command each:",
    ]
    head += [
        f"#   kubectl label node {host} --overwrite " + " ".join(f"{key}={value}" for key, value in labels.items())
        for host, labels in rows
    ]
    return {"kubernetes/labels.yaml": "\n".join([*head, *_list(rows)]) + "\n"}


def node_labels(plan: Plan) -> Iterator[tuple[str, dict[str, str]]]:
    """The host name and labels of each server."""
    fabric = plan.fabric
    hosts = host_names(fabric)
    levels = locality(fabric, plan.site.name)
    domains = scale_up_domains(fabric)
    groups = [(f"{PREFIX}/{KEYS[level.joined_by]}", level.names, level.group.tolist()) for level in levels]
    region = label_value(plan.site.name)
    for i, node in enumerate(fabric.nodes_of(NodeKind.SERVER).tolist()):
        row = fabric.nodes[node]
        labels = {REGION: region, ZONE: label_value(fabric.rooms[int(row["room"])])}
        labels |= {key: label_value(names[group[i]]) for key, names, group in groups}
        if domains is not None:
            labels[f"{PREFIX}/scale-up-domain"] = f"block-{int(domains[i]) + 1}"
        if row["rack"] >= 0:
            labels[f"{PREFIX}/rack"] = label_value(fabric.racks[int(row["rack"])].name)
            labels[f"{PREFIX}/rack-unit"] = str(int(row["unit"]))
        yield hosts[node], labels


def _list(rows: list[tuple[str, dict[str, str]]]) -> Iterator[str]:
    yield "apiVersion: v1"
    yield "kind: List"
    yield "items:"
    for host, labels in rows:
        yield "- apiVersion: v1"
        yield "  kind: Node"
        yield "  metadata:"
        yield f'    name: "{host}"'
        yield "    labels:"
        for key, value in labels.items():
            yield f'      {key}: "{value}"'
