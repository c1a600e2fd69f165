"""One large L2 segment against a subnet for each leaf."""

from __future__ import annotations

from eastwest.decision import Alternative, Decision
from eastwest.fabric.tables import LinkKind, NodeKind
from eastwest.plan.advice.case import Advice, Case

SOURCE = "Guo et al. 2016, SIGCOMM, section 4.2 (deadlock by flooding); linux Documentation/networking/ip-sysctl, arp_*"


def advise(case: Case) -> Advice:
    """Why the addresses of the plan are routed at every leaf, with what the flat segment of the seed text would
    bring.
    """
    if case.site.transport == "infiniband":
        return Advice()
    fabric = case.fabric
    hosts = int(fabric.links_of(LinkKind.SERVER_LEAF).size)
    leaves = int(fabric.nodes_of(NodeKind.LEAF).size)
    if not leaves:
        return Advice()
    flat = (
        f"seed text 001, section 4.3: one segment of {hosts} ports. A frame to an address whose MAC entry expired is "
        "flooded to all ports, breaks the up-down order and can close a cycle of PFC pauses (deadlock); "
        f"{fabric.nics_per_server} NICs of a server in one subnet answer each other's ARP (ARP flux) unless arp_ignore "
        "and arp_announce are set; spanning tree or MLAG take the place of ECMP over all spines"
    )
    vlan = (
        "a VLAN crossing rewrites priority only where a port trusts PCP, or where DSCP is rewritten; ports that trust "
        "DSCP keep the class, so the seed text's remapping is a matter of trust, not of routing"
    )
    decision = Decision(
        "segment.subnets",
        leaves,
        "subnets",
        "routed to the leaf: ECMP over every spine, no flooding beyond a leaf, ARP for one leaf's ports only",
        "one subnet a leaf",
        {"hosts": hosts, "leaves": leaves, "hosts_per_leaf": -(-hosts // leaves)},
        SOURCE,
        (Alternative("one L2 segment", flat), Alternative("VLANs between leaves", vlan)),
    )
    return Advice((decision,))
