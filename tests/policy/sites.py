"""Sites of our own for the policy tests, and the policy that follows from each."""

from typing import Any

from eastwest.fabric.topology import build
from eastwest.policy import Policy, derive
from eastwest.spec.site import Site
from eastwest.workload.ledger import Ledger


def site_of(**changes: Any) -> Site:
    """A small two-tier RoCE site on SN5600 switches, with changes."""
    plain: dict[str, Any] = {
        "name": "sample",
        "servers": [{"name": "s", "model": "hgx-h100", "count": 32}],
        "fabric": {"family": "leaf_spine", "switch": "sn5600"},
    }
    return Site.model_validate({**plain, **changes})


def policy_of(ledger: Ledger | None = None, **changes: Any) -> Policy:
    """The policy of `site_of(**changes)` on the fabric that its family builds."""
    site = site_of(**changes)
    return derive(site, build(site), ledger or Ledger())
