"""Slurm's topology: `slurm/topology.conf` (topology/tree), `slurm/topology.yaml` (the same for Slurm 25.05 and later)
and, with scale-up domains of several servers, `slurm/topology-block.conf` (topology/block).

A Slurm switch is a group of servers, not a device: a server may hang below one only, so the leaves of a rail group or
of several planes appear as one switch, named in a comment. Left out: `LinkSpeed` (Slurm does not use it), controllers
and boxes (no compute nodes), and node definitions (`slurm.conf` owns them). Sizes: two lines a leaf group; host names
are compacted, so 16,384 servers take some kilobytes.

Source: Slurm manual pages topology.conf(5) and topology.yaml(5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from eastwest.fabric.tables import NodeKind
from eastwest.plan.exports.locality import Level, locality, members, parents, scale_up_domains
from eastwest.plan.exports.names import dns_labels, host_names, hostlist
from eastwest.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Switch:
    """A Slurm switch: its children are `nodes` or other `switches` (a host list), `leaves` the devices behind it."""

    name: str
    nodes: str
    switches: str
    leaves: tuple[str, ...]


def files(plan: Plan) -> dict[str, str]:
    """The files of the format."""
    switches = tuple(tree(plan))
    blocks = scale_up_blocks(plan)
    made = {"slurm/topology.conf": _tree_conf(switches), "slurm/topology.yaml": _yaml(switches, blocks)}
    if blocks:
        made["slurm/topology-block.conf"] = _block_conf(blocks)
    return made


def tree(plan: Plan) -> Iterator[Switch]:
    """Slurm's switches from the leaves upwards."""
    fabric = plan.fabric
    hosts = host_names(fabric)
    levels = locality(fabric, plan.site.name)
    names = _switch_names(hosts, levels)
    servers = [hosts[node] for node in fabric.nodes_of(NodeKind.SERVER).tolist()]
    for name, below, leaves in zip(names[0], members(levels[0].group), levels[0].leaves, strict=True):
        yield Switch(name, hostlist(servers[i] for i in below), "", leaves)
    for depth in range(1, len(levels)):
        upper = parents(levels[depth - 1], levels[depth])
        for number, name in enumerate(names[depth]):
            below_names = [child for child, parent in zip(names[depth - 1], upper, strict=True) if parent == number]
            yield Switch(name, "", hostlist(below_names), ())


def _switch_names(hosts: list[str], levels: tuple[Level, ...]) -> list[list[str]]:
    """Names of each level's switches, different from each other; a leaf that stands for itself keeps its own."""
    flat = dns_labels(name for level in levels for name in level.names)
    found, at = [], 0
    for level in levels:
        found.append(flat[at : at + len(level.names)])
        at += len(level.names)
    return found


def scale_up_blocks(plan: Plan) -> list[tuple[str, str, int]]:
    """(name, host list, servers) of each scale-up domain; empty when a domain is one server."""
    domain = scale_up_domains(plan.fabric)
    if domain is None:
        return []
    hosts = host_names(plan.fabric)
    servers = [hosts[node] for node in plan.fabric.nodes_of(NodeKind.SERVER).tolist()]
    return [
        (f"block-{i + 1}", hostlist(servers[server] for server in below), len(below))
        for i, below in enumerate(members(domain))
    ]


def _tree_conf(switches: tuple[Switch, ...]) -> str:
    lines = [
        "# topology/tree: in slurm.conf set TopologyPlugin=topology/tree and SelectType=select/cons_tres.",
        "# Slurm ignores this file when a topology.yaml stands beside slurm.conf: install one of the two.",
    ]
    for switch in switches:
        if len(switch.leaves) > 1:
            lines.append(f"# {switch.name}: {', '.join(switch.leaves)}")
        children = f"Nodes={switch.nodes}" if switch.nodes else f"Switches={switch.switches}"
        lines.append(f"SwitchName={switch.name} {children}")
    return "\n".join(lines) + "\n"


def _block_conf(blocks: list[tuple[str, str, int]]) -> str:
    lines = [
        "# topology/block: one block a scale-up domain; in slurm.conf set TopologyPlugin=topology/block.",
        "# Install it as topology.conf beside slurm.conf, instead of the tree.",
        *(f"BlockName={name} Nodes={nodes}" for name, nodes, _ in blocks),
        f"BlockSizes={','.join(map(str, block_sizes(blocks)))}",
    ]
    return "\n".join(lines) + "\n"


def block_sizes(blocks: list[tuple[str, str, int]]) -> list[int]:
    """Servers of the smallest block, then doubled while they fit; each is a power of two times the first."""
    base = min(size for _, _, size in blocks)
    sizes = [base]
    while sizes[-1] * 2 <= base * len(blocks):
        sizes.append(sizes[-1] * 2)
    return sizes


def _yaml(switches: tuple[Switch, ...], blocks: list[tuple[str, str, int]]) -> str:
    lines = [
        "# Slurm 25.05 and later; install it beside slurm.conf and set no TopologyPlugin.",
        "- topology: tree",
        "  cluster_default: true",
        "  tree:",
        "    switches:",
    ]
    for switch in switches:
        lines.append(f'    - switch: "{switch.name}"')
        lines.append(f'      nodes: "{switch.nodes}"' if switch.nodes else f'      children: "{switch.switches}"')
    if blocks:
        lines += ["- topology: block", "  cluster_default: false", "  block:", "    block_sizes:"]
        lines += [f"    - {size}" for size in block_sizes(blocks)]
        lines.append("    blocks:")
        for name, nodes, _ in blocks:
            lines += [f'    - block: "{name}"', f'      nodes: "{nodes}"']
    return "\n".join(lines) + "\n"
