"""The networks beside the east-west fabric: storage, out-of-band, monitoring; each sized, cabled and in the bill."""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.decision import Decision
from eastwest.fabric.tables import Fabric
from eastwest.finding import Finding
from eastwest.plan.bom import BomRow
from eastwest.plan.monitoring import monitoring_network
from eastwest.plan.out_of_band import out_of_band_network
from eastwest.plan.side_network import SideNetwork
from eastwest.plan.storage_network import storage_network
from eastwest.spec.site import Site
from eastwest.workload.ledger import Ledger


@dataclass(frozen=True, slots=True)
class SideNetworks:
    """All of them, in the order of the bill."""

    storage: SideNetwork
    out_of_band: SideNetwork
    monitoring: SideNetwork

    @property
    def all(self) -> tuple[SideNetwork, ...]:
        """Every side network."""
        return (self.storage, self.out_of_band, self.monitoring)

    @property
    def bom(self) -> tuple[BomRow, ...]:
        """Their lines of the bill."""
        return tuple(row for network in self.all for row in network.bom)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Their decisions."""
        return tuple(row for network in self.all for row in network.decisions)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Their findings."""
        return tuple(row for network in self.all for row in network.findings)


def side_networks(site: Site, fabric: Fabric, ledger: Ledger) -> SideNetworks:
    """Storage first, since the out-of-band network manages its switches and the monitoring hosts as well."""
    storage = storage_network(site, fabric, ledger)
    monitoring = monitoring_network(site, fabric)
    managed = storage.managed + monitoring.managed
    return SideNetworks(storage, out_of_band_network(site, fabric, managed), monitoring)
