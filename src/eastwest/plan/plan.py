"""The main job: from a site to a plan that can be defended line by line. Data flows one way; each step is one call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from eastwest.decision import Decision
from eastwest.fabric.placement import Placement, place
from eastwest.fabric.tables import Fabric
from eastwest.fabric.topology import build
from eastwest.finding import Finding, Verdict, sort_findings, verdict_of
from eastwest.plan.bom import BomRow, bill_of_materials
from eastwest.plan.goals import derive_targets
from eastwest.plan.predict import Prediction, predict
from eastwest.policy import Policy, derive
from eastwest.spec.load import LoadedSite
from eastwest.spec.resolve import ServerFacts, resolve_server
from eastwest.spec.site import Site
from eastwest.targets import Targets
from eastwest.workload import account
from eastwest.workload.ledger import Ledger


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that follows from one site."""

    site: Site
    source: str
    server: ServerFacts
    ledger: Ledger
    fabric: Fabric
    placement: Placement
    policy: Policy
    predictions: tuple[Prediction, ...]
    targets: Targets
    bom: tuple[BomRow, ...]
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """`fail` with an error, `warn` with a warning, else `pass`."""
        return verdict_of(self.findings)


def make_plan(loaded: LoadedSite | Site) -> Plan:
    """The plan of a site.

    Raises InputError when the wishes contradict each other so that nothing can be built; a design that can be built but
    is bad comes back as a plan with findings. Deterministic: the same site gives the same plan.
    """
    site = loaded.site if isinstance(loaded, LoadedSite) else loaded
    source = loaded.source if isinstance(loaded, LoadedSite) else "site"
    server = resolve_server(site.servers[0])
    folder = Path(loaded.source).parent if isinstance(loaded, LoadedSite) else None
    ledger, ledger_findings, ledger_decisions = account(site, folder=folder)
    fabric = build(site)
    placement = place(fabric, ledger)
    policy = derive(site, fabric, ledger)
    predictions = tuple(predict(site, server, fabric, placement, job) for job in ledger.jobs)
    targets = derive_targets(site, server, fabric, policy)
    findings = [
        *ledger_findings,
        *fabric.findings,
        *placement.findings,
        *policy.findings,
    ]
    if isinstance(loaded, LoadedSite):
        findings = [quote(finding, loaded) for finding in findings]
    decisions = (*ledger_decisions, *fabric.decisions, *placement.decisions, *policy.decisions)
    return Plan(
        site=site,
        source=source,
        server=server,
        ledger=ledger,
        fabric=fabric,
        placement=placement,
        policy=policy,
        predictions=predictions,
        targets=targets,
        bom=bill_of_materials(site, server, fabric),
        decisions=decisions,
        findings=sort_findings(findings),
    )


def quote(finding: Finding, loaded: LoadedSite) -> Finding:
    """The same finding with the user's own line as evidence, when it is about a key of the site file and has none
    yet.
    """
    if finding.evidence or not finding.path:
        return finding
    return replace(finding, evidence=loaded.evidence(finding.path))
