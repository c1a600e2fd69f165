"""The router of a scenario: its load balancing, hash, seed and NIC failover over one state of the network."""

from __future__ import annotations

from eastwest.simulate.choice import HashWish
from eastwest.simulate.network import Network
from eastwest.simulate.routing_paths import Router
from eastwest.simulate.scenario import Scenario


def router_of(scenario: Scenario, network: Network, how: str = "") -> Router:
    """The ways through one state of the network, by the scenario's load balancing or by `how`."""
    return Router(
        network,
        how or scenario.load_balancing,
        scenario.hashes or HashWish(),
        scenario.seed,
        scenario.transport,
        uses_partner=scenario.wish.failover == "rail",
    )
