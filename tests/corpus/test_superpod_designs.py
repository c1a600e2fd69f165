"""SuperPOD rows of the shared table of published designs: every printed switch and cable count comes out."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from eastwest.fabric.topology import build
from eastwest.spec.site import Site

DESIGNS = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation" / "designs.yaml"
ROWS = ("superpod-h100-1su", "superpod-h100-2su", "superpod-h100-4su", "superpod-b200-2su", "superpod-b200-4su")
UFM_LINKS = 4  # of an H100 SuperPOD: one server position less, its ports to UFM


def _site_of(inputs: dict[str, Any], controllers: list[dict[str, Any]]) -> Site:
    nic = {"count": inputs["nics_per_node"], "rate": f"{inputs['nic_gbps']}G"}
    server = {"count": inputs["nodes"], "gpus": inputs["gpus_per_node"], "nic": nic}
    fabric = {
        "family": "rail_optimized",
        "switch": f"{inputs['radix']}x{inputs['nic_gbps']}G",
        "oversubscription": inputs["oversubscription"],
        "controllers": controllers,
    }
    return Site.model_validate({"name": "published", "servers": [server], "fabric": fabric})


@pytest.mark.parametrize("name", ROWS)
def test_published_counts_come_out(name: str) -> None:
    if not DESIGNS.exists():
        pytest.skip("the shared validation data is not beside the project")
    rows = YAML(typ="safe").load(DESIGNS.read_text(encoding="utf-8"))["rows"]
    row = next(row for row in rows if row["id"] == name)
    printed = row["outputs"]
    controllers = [{"name": "ufm", "links": UFM_LINKS}] if "compute_and_ufm_cables" in printed else []
    counts = build(_site_of(row["inputs"], controllers)).as_json()
    cables = printed.get("compute_and_ufm_cables", printed.get("node_leaf_cables"))
    assert (counts["leaves"], counts["spines"], counts["cores"]) == (printed["leaf"], printed["spine"], printed["core"])
    assert counts["links"]["server_leaf"] == cables
    assert counts["links"]["leaf_spine"] == printed["leaf_spine_cables"]
