"""`build(site) -> Fabric`: the family that the site wishes, built and judged."""

from __future__ import annotations

from dataclasses import replace

from eastwest.fabric.families import FAMILIES
from eastwest.fabric.inputs import inputs_of
from eastwest.fabric.routing import unreachable_servers
from eastwest.fabric.spare_ports import refuse_spares
from eastwest.fabric.suitability import judge_site
from eastwest.fabric.tables import Fabric
from eastwest.fabric.wishes import judge_wishes
from eastwest.finding import Finding, sort_findings
from eastwest.spec.site import Site

# Servers without cables, or out of reach, are a consequence of these.
SHORT_OF_PORTS = ("EW-FAB-001", "EW-FAB-002", "EW-FAB-028", "EW-FAB-029", "EW-FAB-033", "EW-FAB-034")


def build(site: Site) -> Fabric:
    """What will exist: nodes, ports, cables, decisions and findings of the site's family.

    Raises UsageError for an unknown family or model, InputError when a tier has no switch or keeps more than half of
    its ports free. Ports that are short do not
    raise: the cables without ports are left out and a finding of severity error counts them.
    """
    family = FAMILIES.get(site.fabric.family)
    inputs = inputs_of(site)
    refuse_spares(inputs)
    fabric = family(inputs)
    findings = [
        *fabric.findings,
        *judge_site(site, inputs, tuple(fabric.switches)),
        *judge_wishes(site, inputs, fabric),
    ]
    findings += _islands(fabric)
    return replace(fabric, findings=sort_findings(findings))


def _islands(fabric: Fabric) -> list[Finding]:
    """The finding about servers that the first server cannot reach."""
    lost = unreachable_servers(fabric)
    if len(lost) == 0 or any(finding.code in SHORT_OF_PORTS for finding in fabric.findings):
        return []
    args = {"server": fabric.names[int(lost[0])], "from_server": fabric.names[0]}
    return [Finding("EW-FAB-019", "error", "fabric", 0, len(lost), "servers", args, path="fabric")]
