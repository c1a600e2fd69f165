"""Addresses: unique, private, inside their subnets; /31 pairs; AS numbers that keep routes valley-free."""

from ipaddress import ip_address, ip_network
from itertools import pairwise

import numpy as np
import pytest

from eastwest.errors import UsageError
from eastwest.fabric.addressing import address_rows, plan_addresses
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from tests.fabric.sites import fabric_of, two_rooms


@pytest.mark.parametrize("server_links", ["subnet", "p2p"])
@pytest.mark.parametrize("fabric", [fabric_of("rail_optimized", 40), two_rooms(16)], ids=["rails", "rooms"])
def test_addresses_are_unique_and_in_their_subnet(fabric: Fabric, server_links: str) -> None:
    rows = list(address_rows(fabric, plan_addresses(fabric, server_links=server_links)))
    addresses = [row.address for row in rows]
    assert len(set(addresses)) == len(addresses)
    for row in rows:
        assert ip_address(row.address).is_private
        if row.subnet:
            net = ip_network(row.subnet)
            assert ip_address(row.address) in net
            assert net.prefixlen == row.prefix
            assert row.gateway == "" or ip_address(row.gateway) in net


def test_one_subnet_a_leaf_and_no_overlap() -> None:
    fabric = fabric_of("rail_optimized", 40)
    rows = [row for row in address_rows(fabric, plan_addresses(fabric)) if row.purpose == "server"]
    assert len({row.subnet for row in rows}) == 16
    assert len(rows) == 320
    nets = sorted({ip_network(row.subnet) for row in rows})
    assert not any(a.overlaps(b) for a, b in pairwise(nets))
    first = [row for row in rows if row.device == "server-01"]
    assert len({row.subnet for row in first}) == 8


def test_as_numbers_are_one_a_leaf_and_one_for_the_spines_of_a_room() -> None:
    fabric = two_rooms(16)
    asns = plan_addresses(fabric).asns
    leaves, spines = fabric.nodes_of(NodeKind.LEAF), fabric.nodes_of(NodeKind.SPINE)
    assert len(set(asns[leaves])) == len(leaves)
    assert len(set(asns[spines])) == 2
    assert not set(asns[leaves]) & set(asns[spines])


def test_switch_links_are_slash_31_pairs() -> None:
    fabric = fabric_of("leaf_spine", 9)
    pairs = plan_addresses(fabric).link_addresses[fabric.links_of(LinkKind.LEAF_SPINE)]
    assert (pairs[:, 0] % 2 == 0).all()
    assert (np.diff(pairs, axis=1) == 1).all()


def test_a_public_or_small_block_is_refused() -> None:
    fabric = fabric_of("leaf_spine", 128)
    with pytest.raises(UsageError, match="not a private block"):
        plan_addresses(fabric, "9.0.0.0/8")
    with pytest.raises(UsageError, match="too small"):
        plan_addresses(fabric, "192.168.0.0/24")
