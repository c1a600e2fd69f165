"""Synthetic sites and ledgers for the tests of the fabric: a few arguments instead of a site file."""

from typing import Any

from eastwest.fabric.tables import Fabric
from eastwest.fabric.topology import build
from eastwest.spec.site import Site
from eastwest.workload.ledger import Grid, JobLedger, Ledger, LedgerRow, Memory, Profile


def site(family: str, servers: int, switch: str = "64x400G", nic: str = "400G", nics: int = 8, **more: Any) -> Site:
    """A site of equal 8-GPU servers; keyword arguments are keys of `fabric`, `top` further keys of the site."""
    top = more.pop("top", {})
    server = {"count": servers, "gpus": 8, "nic": {"count": nics, "rate": nic}}
    fabric = {"family": family, "switch": switch, **more}
    return Site.model_validate({"name": "synthetic", "servers": [server], "fabric": fabric, **top})


def fabric_of(family: str, servers: int, **more: Any) -> Fabric:
    """The fabric of such a site."""
    return build(site(family, servers, **more))


def two_rooms(servers: int = 8, boxes: tuple[dict[str, Any], ...] = (), links: int = 8, **more: Any) -> Fabric:
    """Servers in two rooms with links between them."""
    link = {"between": ["a", "b"], "distance": "2km", "count": links, "rate": "400G", "boxes": list(boxes)}
    top = {"rooms": [{"name": "a"}, {"name": "b"}], "room_links": [link], **more.pop("top", {})}
    return fabric_of("leaf_spine", servers, top=top, **more)


def row(dimension: str, size: int, collective: str, sent: int, **inputs: Any) -> LedgerRow:
    """A ledger row in which every GPU sends `sent` bytes a step."""
    name = f"{dimension}_{collective}"
    return LedgerRow(
        "job", name, dimension, f"{dimension}{size}", size, collective, sent, 1, sent, "step", inputs=inputs
    )  # type: ignore[arg-type]


def ledger(grid: Grid, *rows: LedgerRow, gpus: int | None = None, kind: str = "training") -> Ledger:
    """A ledger of one job."""
    profile = Profile("job", "dp", 1.0, None, None, None, 1, "low")
    job = JobLedger("job", kind, grid, gpus or grid.n_ranks, 1, rows, Memory((), 1), 0.0, "step", profile)  # type: ignore[arg-type]
    return Ledger((job,))


def codes(fabric: Fabric) -> dict[str, str]:
    """Finding codes of a fabric and their severities."""
    return {finding.code: finding.severity for finding in fabric.findings}
