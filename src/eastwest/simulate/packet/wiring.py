"""The links of a run: what is at their other end, how fast, and who may pass on what has not all come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.network import Ints, Network, Place
from eastwest.simulate.packet.kernel import NONE, Records, table
from eastwest.simulate.packet.link import LINK
from eastwest.simulate.packet.params import PacketParams, response_ps
from eastwest.simulate.packet.ports import PortRows
from eastwest.simulate.packet.queues import RDMA
from eastwest.simulate.prepared import Prepared


def backs_of(network: Network) -> Ints:
    """(n_links,) link of the other direction of the same cable; itself where there is none."""
    order = np.lexsort((np.arange(len(network.links)), network.links["cable"]))
    cable = network.links["cable"][order]
    back = np.arange(len(network.links), dtype=np.int64)
    pair = np.flatnonzero(cable[1:] == cable[:-1])
    back[order[pair]], back[order[pair + 1]] = order[pair + 1], order[pair]
    return back


def may_cut_through(network: Network) -> NDArray[np.bool_]:
    """(n_links,) whether the node that a link leads to may pass on what has not all come: no host, and no port of it is
    faster than the link (a packet would leave before it has come).
    """
    links = network.links
    fastest = np.zeros(len(network.names), np.int64)
    np.maximum.at(fastest, links["src"], links["rate_bps"])
    is_fast = links["rate_bps"] >= fastest[links["dst"]]
    found: NDArray[np.bool_] = is_fast & (network.kinds[links["dst"]] != Place.HOST)
    return found


def links_of(prepared: Prepared, ports: PortRows, params: PacketParams) -> Records:
    """(n_links,) LINK, nothing sent."""
    network = prepared.network
    rows = table(len(network.links), LINK)
    rows["rate_bps"], rows["delay_ps"] = prepared.links.rate_bps, prepared.links.delay_ps
    rows["wire_first"] = rows["wire_last"] = rows["mac_first"] = rows["ring"] = NONE
    rows["obey_first"], rows["back"] = NONE, backs_of(network)
    rows["turn"] = RDMA
    rows["mtu_bytes"], rows["lane_of_rdma"] = ports.mtu_bytes, ports.lane_of_rdma
    if params.response:
        rates, number = np.unique(network.links["rate_bps"], return_inverse=True)
        rows["response_ps"] = np.array([response_ps(int(rate)) for rate in rates], np.int64)[number.reshape(-1)]
    rows["cut_bytes"] = np.where(may_cut_through(network), params.cut_through_bytes, 0)
    if prepared.drops is not None:
        rows["error_ratio"], rows["has_errors"] = prepared.drops.ratio, prepared.drops.ratio > 0
    return rows
