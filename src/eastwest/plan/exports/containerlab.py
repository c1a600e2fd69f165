"""A containerlab topology: `topology.clab.yml`, every switch and server as a container and every cable as a link.

The kind follows the switch's operating system (SONiC when the site file names none); servers, controllers and boxes
are Linux containers. Interfaces are `eth1`, `eth2`, … by port number, since `eth0` is the management interface. Left
out: images to pull from (give your own tags under `kinds`), addresses, configuration, cable lengths and rates. Size:
about 60 bytes a cable. The whole fabric is always written; one machine carries some hundreds of containers at most,
so a larger file says that it must be cut to the part under test.

Source: containerlab manual, "Topology definition", "Kinds" and the page of kind sonic-vs.
"""

from __future__ import annotations

from collections.abc import Iterator

from eastwest.fabric.tables import TIER_OF_KIND, NodeKind
from eastwest.plan.exports.names import dns_labels, host_names
from eastwest.plan.plan import Plan
from eastwest.spec.resolve import switch_of_tier

HOST_KIND, HOST_IMAGE = "linux", "alpine:3"
DEFAULT_OS = "sonic"
KINDS = {  # operating system of the site file -> kind, image tag, stem of a data interface
    "cumulus": ("cvx", "cumulus-vx:latest", "swp"),
    "eos": ("arista_ceos", "ceos:latest", "eth"),
    "nxos": ("cisco_n9kv", "n9kv:latest", "eth"),
    "sonic": ("sonic-vs", "docker-sonic-vs:latest", "eth"),
}
MANY_CONTAINERS = 200  # containers that one 64 GB machine starts; a switch container takes 0.3 GB or more


def files(plan: Plan) -> dict[str, str]:
    """The files of the format."""
    return {"topology.clab.yml": "\n".join(_lines(plan)) + "\n"}


def _lines(plan: Plan) -> Iterator[str]:
    fabric = plan.fabric
    n_nodes = len(fabric.nodes)
    kinds = _kinds(plan)
    node_kinds = [kinds[NodeKind(kind)] for kind in fabric.nodes["kind"].tolist()]
    hosts = host_names(fabric)
    yield f"# {n_nodes} containers, {len(fabric.links)} links"
    if n_nodes > MANY_CONTAINERS:
        yield f"# More than {MANY_CONTAINERS} containers: too many for one machine; keep what is under test."
    yield f'name: "{dns_labels([plan.site.name])[0]}"'
    yield "topology:"
    yield "  kinds:"
    for kind, image, _ in sorted(set(node_kinds)):
        yield f"    {kind}:"
        yield f'      image: "{image}"'
    yield "  nodes:"
    for host, (kind, _, _) in zip(hosts, node_kinds, strict=True):
        yield f'    "{host}": {{kind: {kind}}}'
    yield "  links:"
    ends = [_interfaces(plan, hosts, node_kinds, side) for side in ("a", "b")]
    for a, b in zip(*ends, strict=True):
        yield f'    - endpoints: ["{a}", "{b}"]'


def _kinds(plan: Plan) -> dict[NodeKind, tuple[str, str, str]]:
    """Kind, image and interface stem for each kind of node."""
    kinds = dict.fromkeys(NodeKind, (HOST_KIND, HOST_IMAGE, "eth"))
    for node_kind, tier in TIER_OF_KIND.items():
        switch = switch_of_tier(plan.site, tier)
        os = (switch.os if switch else None) or DEFAULT_OS
        kinds[node_kind] = KINDS.get(os.lower(), KINDS[DEFAULT_OS])
    return kinds


def _interfaces(plan: Plan, hosts: list[str], kinds: list[tuple[str, str, str]], side: str) -> Iterator[str]:
    """`node:interface` of one side of every link."""
    links, ports = plan.fabric.links, plan.fabric.ports
    for node, number in zip(links[side].tolist(), ports["number"][links[f"{side}_port"]].tolist(), strict=True):
        yield f"{hosts[node]}:{kinds[node][2]}{number + 1}"
