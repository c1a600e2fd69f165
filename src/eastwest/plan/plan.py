"""The main job: from a site to a plan that can be defended line by line. Data flows one way; each step is one call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from eastwest.decision import Decision
from eastwest.errors import InputError
from eastwest.fabric.placement import Placement, place
from eastwest.fabric.tables import Fabric
from eastwest.fabric.topology import build
from eastwest.finding import Finding, Verdict, sort_findings, verdict_of
from eastwest.plan.advice import Case
from eastwest.plan.advise import advise
from eastwest.plan.bill_totals import BillTotals, bill_totals
from eastwest.plan.bom import BomRow, bill_of_materials, with_power
from eastwest.plan.failure_report import FailureReport, report_failures
from eastwest.plan.goals import derive_targets
from eastwest.plan.growth_report import GrowthReport, report_growth
from eastwest.plan.own_constants.file import AS_SHIPPED, OwnConstants
from eastwest.plan.predict import Prediction, model_of, predicted
from eastwest.plan.price_book import apply_prices, book_of, judge_prices
from eastwest.plan.prices import PriceFile
from eastwest.plan.side_networks import side_networks
from eastwest.policy import Policy, derive
from eastwest.spec.load import LoadedSite
from eastwest.spec.resolve import ServerFacts, resolve_server
from eastwest.spec.site import Site
from eastwest.targets import Targets
from eastwest.workload import account
from eastwest.workload.account import Account
from eastwest.workload.ledger import Ledger

UNREADABLE = ("EW-WORK-012",)  # a file that the site names and that cannot be read: an input error, not a bad design


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
    bill: BillTotals
    growth: GrowthReport
    failures: FailureReport
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]
    constants: OwnConstants = AS_SHIPPED

    @property
    def verdict(self) -> Verdict:
        """`fail` with an error, `warn` with a warning, else `pass`."""
        return verdict_of(self.findings)


class _Reasoned(Protocol):
    """A part of the plan that gives its reasons."""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What it chose."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What does not hold."""


def make_plan(
    loaded: LoadedSite | Site, prices: PriceFile | None = None, constants: OwnConstants | None = None
) -> Plan:
    """The plan of a site; `prices` are put into its bill of materials, `constants` replace those of the package.

    Raises InputError when the wishes contradict each other so that nothing can be built, when a file that the site
    names cannot be read, or when a price is given for a part that nobody knows; a design that can be built but is bad
    comes back as a plan with findings. Deterministic: the same site gives the same plan.
    """
    try:
        return _make_plan(loaded, prices, constants or AS_SHIPPED)
    except InputError as error:
        if not isinstance(loaded, LoadedSite):
            raise
        quoted = [quote(flaw, loaded) if isinstance(flaw, Finding) else flaw for flaw in error.findings]
        raise InputError(quoted) from error


def _make_plan(loaded: LoadedSite | Site, prices: PriceFile | None, own: OwnConstants) -> Plan:
    site = loaded.site if isinstance(loaded, LoadedSite) else loaded
    source = loaded.source if isinstance(loaded, LoadedSite) else "site"
    server = resolve_server(site.servers[0])
    folder = Path(loaded.source).parent if isinstance(loaded, LoadedSite) else None
    ledger, ledger_findings, ledger_decisions = _readable(account(site, folder=folder))
    growth = report_growth(site, build(site), book_of(prices) if prices else None)
    fabric = growth.fabric
    placement = place(fabric, ledger)
    policy = derive(site, fabric, ledger)
    models = tuple(model_of(site, server, fabric, placement, job, own) for job in ledger.jobs)
    predictions = tuple(predicted(model) for model in models)
    side = side_networks(site, fabric, ledger)
    bom = _priced((*bill_of_materials(site, server, fabric), *map(with_power, side.bom)), prices)
    bill = bill_totals(site, fabric, bom)
    advice = advise(Case(site, server, ledger, fabric, placement, policy, predictions, bill, own))
    failures = report_failures(site, server, fabric, placement, models, policy.load_balancing)
    parts: tuple[_Reasoned, ...] = (fabric, growth, placement, policy, side, failures, advice)
    findings = [*ledger_findings, *(finding for part in parts for finding in part.findings)]
    findings += judge_prices(bom, prices) if prices else ()
    if isinstance(loaded, LoadedSite):
        findings = [quote(finding, loaded) for finding in findings]
    return Plan(
        site=site,
        source=source,
        server=server,
        ledger=ledger,
        fabric=fabric,
        placement=placement,
        policy=policy,
        predictions=predictions,
        targets=derive_targets(site, server, fabric, policy),
        bom=bom,
        bill=bill,
        growth=growth,
        failures=failures,
        decisions=(*ledger_decisions, *(decision for part in parts for decision in part.decisions)),
        findings=sort_findings(findings),
        constants=own,
    )


def _readable(made: Account) -> Account:
    """The account, when every file that it needed could be read. Raises InputError."""
    unread = [finding for finding in made[1] if finding.code in UNREADABLE]
    if unread:
        raise InputError(unread)
    return made


def _priced(bom: tuple[BomRow, ...], prices: PriceFile | None) -> tuple[BomRow, ...]:
    """The bill with the prices of the file, when there is one."""
    return apply_prices(bom, prices) if prices else bom


def quote(finding: Finding, loaded: LoadedSite) -> Finding:
    """The same finding with the user's own line as evidence, when it is about a key of the site file and has none
    yet.
    """
    if finding.evidence or not finding.path:
        return finding
    return replace(finding, evidence=loaded.evidence(finding.path))
