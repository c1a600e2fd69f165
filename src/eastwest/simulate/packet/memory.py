"""Queues and packet memory of every node, from the behaviour of its ports."""

from __future__ import annotations

import numpy as np

from eastwest.errors import UsageError
from eastwest.simulate.network import Network
from eastwest.simulate.packet.buffer import INGRESS, NODE
from eastwest.simulate.packet.kernel import NONE, Records, table
from eastwest.simulate.packet.params import MOST_QUANTA, QUANTUM_BITS, PacketParams
from eastwest.simulate.packet.ports import SWITCHES, PortRows
from eastwest.simulate.packet.queues import CONTROL, N_LANES, QUEUE, RDMA, TCP

PS_PER_S = 1_000_000_000_000
PRIORITY = {CONTROL: 6, RDMA: 3, TCP: 0}  # on the wire; 3 and 6 as NVIDIA's and SONiC's defaults
CONTROL_ALPHA = 8.0  # answers and notices are small and few: dynamic_th 3
NO_MARK = int(np.iinfo(np.int64).max)


def queues_of(ports: PortRows, params: PacketParams) -> Records:
    """(n_links * N_LANES,) QUEUE of the transmitters, empty."""
    n_links = len(ports.marks)
    rows = table(n_links * N_LANES, QUEUE)
    rows["first"] = rows["last"] = NONE
    lane = np.tile(np.arange(N_LANES), n_links)
    rows["priority"] = np.array([PRIORITY[number] for number in range(N_LANES)])[lane]
    rows["obeys"] = ports.obeys.reshape(-1)
    rows["quantum_bytes"] = ports.quantum_bytes.reshape(-1)
    rows["alpha"] = np.where(lane == CONTROL, CONTROL_ALPHA, params.lossy_alpha)
    rows["credit_bytes"] = np.repeat(ports.credit_bytes, N_LANES)
    rows["is_credited"] = rows["credit_bytes"] > 0
    rows["credit_first"] = NONE
    rows["kmin_bytes"] = rows["kmax_bytes"] = NO_MARK
    marks = np.flatnonzero(ports.marks)
    at = marks * N_LANES + ports.marked_lane
    rows["kmin_bytes"][at], rows["kmax_bytes"][at] = ports.kmin_bytes[marks], ports.kmax_bytes[marks]
    rows["pmax"][at], rows["drops_non_ect"][at] = ports.pmax[marks], ports.drops_non_ect[marks]
    return rows


def memory_of(network: Network, ports: PortRows, params: PacketParams, packet_bytes: int) -> tuple[Records, Records]:
    """(n_links * N_LANES,) INGRESS where each link ends, and (n_nodes,) NODE. Raises UsageError when headroom leaves
    nothing to share.
    """
    links, n_nodes = network.links, len(network.names)
    ingress, nodes = table(len(links) * N_LANES, INGRESS), np.zeros(n_nodes, NODE)
    at = np.repeat(links["dst"].astype(np.int64), N_LANES)
    ingress["node"] = at
    for field, column in (
        ("alpha", ports.alpha),
        ("limit_bytes", ports.limit_bytes),
        ("xon_offset_bytes", ports.xon_offset_bytes),
        ("pause_ps", MOST_QUANTA * (QUANTUM_BITS * PS_PER_S // np.maximum(links["rate_bps"], 1))),
    ):
        ingress[field] = np.repeat(column, N_LANES)
    ingress["is_credited"] = np.repeat(ports.credit_bytes > 0, N_LANES)
    ingress["is_lossless"] = ports.lossless.reshape(-1) & ~ingress["is_credited"].astype(np.bool_)
    ingress["headroom_bytes"] = np.where(ports.lossless, ports.headroom_bytes[:, None], 0).reshape(-1)
    ingress["reserved_bytes"] = ports.reserved_bytes.reshape(-1)
    taken = np.bincount(at, ingress["headroom_bytes"] + ingress["reserved_bytes"], n_nodes).astype(np.int64)
    total = np.where(np.isin(network.kinds, SWITCHES), ports.buffer_bytes, params.nic_buffer_bytes + taken)
    nodes["shared_bytes"], nodes["cell_bytes"] = total - taken, ports.cell_bytes
    short = np.flatnonzero(nodes["shared_bytes"] <= packet_bytes)
    if len(short):
        node = int(short[0])
        raise UsageError(
            f"{network.names[node]}: headroom and reserved bytes of its ports take {taken[node]:,} of its "
            f"{total[node]:,} bytes",
            hint="give `packet: buffer` more, or `packet: headroom` less",
        )
    return ingress, nodes
