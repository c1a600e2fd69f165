"""Cable labels: two a cable, each naming both ends from where it hangs."""

import csv
import io

from eastwest.fabric.cabling import cable_rows
from eastwest.plan.exports import labels
from tests.plan.exports.plans import plan_of


def test_two_labels_a_cable_mirror_each_other():
    plan = plan_of("hostile")
    rows = list(csv.DictReader(io.StringIO(labels.files(plan)["labels.csv"])))
    cables = {cable.cable_id: cable for cable in cable_rows(plan.fabric)}
    assert len(rows) == 2 * len(cables)
    for a, b in zip(rows[::2], rows[1::2], strict=True):
        cable = cables[a["cable_id"]]
        assert (a["end"], b["end"]) == ("A", "B")
        assert a["from"] == b["to"] == f"{cable.a_device}:{cable.a_port}"
        assert a["to"] == b["from"] == f"{cable.b_device}:{cable.b_port}"
        assert (a["from_rack"], a["from_unit"]) == (b["to_rack"], b["to_unit"])
        assert a["length_m"] == b["length_m"] == str(cable.length_m)
    assert len({row["label"] for row in rows}) == len(rows)
    boxes = [row for row in rows if row["from"].startswith("MACsec_box.1")]
    assert boxes
    assert {row["from_rack"] for row in boxes} == {""}  # a box stands in no rack
