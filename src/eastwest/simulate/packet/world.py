"""`World`: the tables of a run, which kernels take apart; each dtype is defined by the mechanism that owns it."""

from __future__ import annotations

from typing import NamedTuple

from eastwest.simulate.packet.kernel import Bytes, Int32s, Records


class World(NamedTuple):
    """All tables; rows of `queues` and `ingress` are link x N_LANES + class."""

    heap: Records  # DUE
    clock: Records  # (1,) CLOCK
    packets: Records  # (capacity,) PACKET
    links: Records  # (n_links,) LINK
    queues: Records  # (n_links * N_LANES,) QUEUE: of the transmitter
    ingress: Records  # (n_links * N_LANES,) INGRESS: at the node that the link leads to
    nodes: Records  # (n_nodes,) NODE
    flows: Records  # (n_flows,) FLOW
    controls: Records  # (n_flows,) CONTROL
    params: Records  # (1,) PARAMS
    routes: Int32s  # links of each way, ended by -1
    ways: Int32s  # where the links of each way of a flow begin in the routes
    bits: Bytes  # what the receivers of unordered flows have, a byte a packet
    child_offsets: Int32s  # (n_flows + 1,)
    children: Int32s
