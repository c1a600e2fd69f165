"""`check` of bills: those of our own plans, and hand-made ones (synthetic) with splitters, mixed rates and titles."""

import csv
import io

import pytest
from typer.testing import CliRunner

from eastwest.cli.init import template_names, template_text
from eastwest.cli.main import app
from eastwest.cli.reading import read_input
from eastwest.errors import InputError
from eastwest.plan.check import check_text
from eastwest.plan.document import plan_document, plan_files
from tests.plan.wishes import plan_of

TEMPLATES = [name for name in template_names() if name not in ("full", "three-tier")]  # a minute less


@pytest.fixture(scope="module")
def bills():
    found = {}
    for name in TEMPLATES:
        plan = plan_of(template_text(name))
        found[name] = (plan, str(plan_files(plan, plan_document(plan, "en"), "")["bom.csv"]))
    return found


def codes(text):
    return [finding.code for finding in check_text(text, "bom.csv").findings]


def facts(text):
    return {name: fact.value for name, fact in check_text(text, "bom.csv").designs[0].subject.sheet.facts.items()}


def sums(text):
    return [(item.links, item.needed, item.have) for d in check_text(text, "bom.csv").designs for item in d.sums]


def without(bill, part):
    """The bill with half the pieces of one part."""
    rows = list(csv.DictReader(io.StringIO(bill)))
    row = next(row for row in rows if row["part"].startswith(part))
    row["quantity"] = str(int(row["quantity"]) // 2)
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_bill_of_every_template_adds_up(bills, name):
    """Two ports a NIC, splitters, 800G cables between switches, room links, no switch at all: none is short."""
    _, bill = bills[name]
    checked = check_text(bill, "bom.csv")
    assert checked.verdict in ("pass", "warn"), [finding.sentence() for finding in checked.findings]
    assert [finding.code for finding in checked.findings if finding.severity != "info"] in ([], ["EW-CHK-040"])


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_cable_counts_as_the_links_that_it_makes(bills, name):
    """`DAC 800G` between switches is two links of 400G, a 1:2 splitter too (990 against 1,152 in nvl72)."""
    plan, bill = bills[name]
    links = int(plan.fabric.links.size)
    assert facts(bill)["cables"] >= links
    if name in ("nvl72", "two-tier", "rail-only", "direct", "two-rooms"):
        assert facts(bill)["cables"] == links


@pytest.mark.parametrize("name", ["nvl72", "dual-plane", "rail-only", "two-rooms", "direct"])
def test_our_own_bill_with_half_of_a_cable_is_short(bills, name):
    _, bill = bills[name]
    part = max(
        (row for row in csv.DictReader(io.StringIO(bill)) if row["unit"] == "cable" and row["where"] == "fabric"),
        key=lambda row: int(row["quantity"]),
    )["part"]
    assert {"EW-CHK-077", "EW-CHK-047"} & set(codes(without(bill, part)))


MIXED = """Model,Quantity,Role
Dell Z9864F-ON,16,Leaf
Dell Z9864F-ON,{spines},Spine
Unheard-of server,128,Compute
DAC 800G,512,leaf-spine
800G to 2x400G breakout DAC,512,server-leaf
"""


def test_splitters_to_servers_and_whole_cables_between_switches():
    """512 cages broken out and 512 whole ones are the 1,024 of 16 leaves: nothing is short."""
    checked = check_text(MIXED.format(spines=8), "bom.csv")
    assert checked.verdict == "pass"
    assert sums(MIXED.format(spines=8)) == [
        ("links that end on leaves", 2048, 2048),
        ("leaf uplinks", 1024, 1024),
    ]
    assert codes(MIXED.format(spines=4)) == ["EW-CHK-031"]


def test_an_800g_cable_to_a_server_is_one_link():
    bill = "part,qty\nDGX H100 server,64\nleaf 64x800G,8\nspine 64x800G,4\nDAC 800G server-leaf,256\n"
    assert "EW-CHK-077" in codes(bill)


ORDER_NUMBERS = """part,qty
DGX B200,32
QM9700 leaf,8
QM9700 spine,4
MCP7Y00-N002 (server-leaf),128
MCP4Y10-N002 (leaf-spine),128
UFM appliance,2
"""


def test_order_numbers_with_their_length():
    """A splitter to two NICs, and 800G between switches: 256 links of 400G each; -N002 is 2 m."""
    assert check_text(ORDER_NUMBERS, "bom.csv").verdict == "pass"
    assert [facts(ORDER_NUMBERS)[name] for name in ("server_cables", "leaf_spine_cables")] == [256, 256]
    totals = check_text(ORDER_NUMBERS, "bom.csv").as_json()["totals"]
    assert {total["length_m"] for total in totals} == {2.0}


THREE_TIERS = """part,qty
"server, 8 GPUs, 8 x 400G NICs",512
leaf 64x400G,128
spine 64x400G,{spines}
core 64x400G,{cores}
AOC 400G,{cables}
"""


def test_cables_of_three_tiers_counted_together():
    """4,096 to NICs, 4,096 to spines, 4,096 to cores; and 1,024 to cores at 4:1, which is nobody's mistake."""
    assert check_text(THREE_TIERS.format(spines=128, cores=64, cables=12288), "b").verdict == "pass"
    assert check_text(THREE_TIERS.format(spines=128, cores=16, cables=9216), "b").verdict == "pass"
    assert "EW-CHK-065" in codes(THREE_TIERS.format(spines=96, cores=64, cables=12288))
    assert "EW-CHK-066" in codes(THREE_TIERS.format(spines=128, cores=32, cables=12288))


def test_cores_without_cables_are_asked_for_at_one_to_one_and_that_is_said():
    bill = "part,qty\nDGX H100,512\nleaf QM9700,128\nspine QM9700,128\ncore QM9700,16\n"
    found = next(f for f in check_text(bill, "b").findings if f.code == "EW-CHK-067")
    assert (found.expected, found.observed) == (4096, 1024)
    assert "as it stands 4:1" in found.sentence()


def test_a_bill_without_spines_is_rails_or_islands():
    """A bill is whole: cables for the NICs only, and no spine. One leaf a NIC is rails, any other number is not."""
    bill = "part,qty\nDGX H100,{servers}\nleaf QM9700,{leaves}\nDAC 400G,{cables}\n"
    assert codes(bill.format(servers=64, leaves=8, cables=512)) == ["EW-CHK-040"]
    assert codes(bill.format(servers=16, leaves=2, cables=128)) == ["EW-CHK-068"]
    assert check_text(bill.format(servers=8, leaves=1, cables=64), "b").verdict == "pass"


def test_two_servers_without_a_switch_share_their_cables():
    assert check_text("part,qty\nDGX H100,2\nDAC 400G,8\n", "b").verdict == "pass"
    assert check_text("part,qty\nDGX H100,2\nDAC 400G,7\n", "b").verdict == "fail"


def test_cables_of_the_nics_only_leave_none_for_the_spines():
    bill = "part,qty\nDGX H100,64\nleaf QM9700,16\nspine QM9700,8\nDAC 400G,512\n"
    assert codes(bill) == ["EW-CHK-069"]


def test_rooms_may_hold_some_of_the_cables_between_them():
    """144 cables: 64 to NICs, 64 up, 16 between the rooms; nobody says which, so no leaf port is missing."""
    bill = 'part,where,qty\nDGX H100,"room-a, room-b",8\nleaf QM9700,,2\nspine QM9700,,2\nAOC 400G,,144\n'
    assert check_text(bill, "b").verdict != "fail"


def test_modules_for_uplinks_are_not_twice_too_many():
    """1,024 links of NICs and 1,024 between leaves and spines take 1,536 twin-port modules, not 512."""
    bill = (
        "part,qty\nDGX H100,128\nleaf QM9700,32\nspine QM9700,16\nMMA4Z00-NS,{twins}\nMMA4Z00-NS400,1024\n"
        "MFP7E10-N010,2048\n"
    )
    assert codes(bill.format(twins=1536)) == ["EW-CHK-060"]
    assert codes(bill.format(twins=1024)) == ["EW-CHK-048", "EW-CHK-060"]
    finding = check_text(bill.format(twins=1536), "b").findings[0]
    assert (finding.expected, finding.observed) == (1536, 1536)


SPREADSHEET = """BILL OF MATERIALS - Cluster A,,,
Prepared for: somebody,,,
,,,
Part Number,Description,Qty,Unit Price
X1,"QM9700 64-port NDR, leaf",16,"$38,000.00"
X2,"QM9700 64-port NDR, spine",8,"$38,000.00"
X3,"DGX H100 system, 8 GPU",64,"$300,000.00"
Total,,88,"$20,000,000"
"""


@pytest.mark.parametrize(
    "text",
    [
        SPREADSHEET,
        SPREADSHEET.replace("\n", "\r\n"),
        "\ufeff" + SPREADSHEET,
        "Pos.;Bezeichnung;Menge;Einheit;Preis\n1;DGX H100;64;Stk;300.000,00\n2;QM9700 Leaf;16;Stk;1,00\n"
        "3;QM9700 Spine;8;Stk;1,00\n",
        "序号,物料名称,规格型号,数量（台）,单位\n1,GPU服务器,8卡 H100 8×400G,64台,台\n2,接入交换机,64×400G,16,台\n"
        "3,汇聚交换机,64×400G,8,台\n合计,,,88,\n",
    ],
    ids=["titles", "crlf", "bom", "german", "chinese"],
)
def test_bills_out_of_spreadsheets(text):
    assert sums(text) == [("links that end on leaves", 512, 1024), ("leaf uplinks", 512, 512)]
    assert check_text(text, "b").verdict == "pass"


def test_a_second_quantity_that_differs_is_not_passed_over():
    bill = "Part,Qty Needed,Qty Ordered\nDGX H100,64,64\nleaf QM9700,16,16\nspine QM9700,8,4\n"
    checked = check_text(bill, "b")
    assert checked.verdict == "unknown"
    assert [unused.text for unused in checked.designs[0].unused] == ["qty_ordered 4"]


def test_ports_of_800g_without_a_rate_of_the_nics_are_not_short():
    """32 servers x 8 NICs on 4 leaves of 64 x 800G: sound when each port is broken out into two."""
    bill = "item,qty\n8-GPU server,32\nleaf 64x800G,4\nspine 64x800G,2\nMPO fibre,512\n"
    checked = check_text(bill, "b")
    assert checked.verdict == "unknown"
    assert "nic_bps" in checked.missing


def test_racks_of_nvl72_are_eighteen_servers():
    bill = "Item,Quantity\nNVL72 GB200 rack,8\nQM9700 leaf,32\nQM9700 spine,9\n"
    assert sums(bill) == [("links that end on leaves", 576, 2048), ("leaf uplinks", 576, 576)]


def test_totals_name_the_part_and_not_its_kind_or_vendor():
    bill = "Type,Vendor,Model,Qty\ncable,Acme,AOC 400G 10 m,4\noptic,Acme,SR4 400G,8\n"
    totals = check_text(bill, "b").as_json()["totals"]
    assert [(total["part"], total["length_m"]) for total in totals] == [("AOC 400G 10 m", 10.0), ("SR4 400G", None)]


def test_a_chinese_spreadsheet_in_its_own_encoding(tmp_path):
    file = tmp_path / "bill.csv"
    file.write_bytes("物料,数量\nDGX H100 服务器,64\n叶交换机 QM9700,16\n脊交换机 QM9700,8\n".encode("gb18030"))
    assert check_text(read_input(str(file)), "b").verdict == "pass"
    file.write_bytes("Stück;Größe\n".encode("cp1252"))
    with pytest.raises(InputError):
        read_input(str(file))


@pytest.mark.parametrize(
    "text",
    [
        "leaf = 64x800G, each broken out 2x400G; 8 leaves, 4 spines of 64x800G; 512 NICs of 400G",
        "8 leaves of 64x800G split into 128x400G, 4 spines 64x800G, 512 NICs of 400G",
        "leaf: {count: 8, model: SN5600, breakout: 2x400G}\nspine: {count: 4, model: SN5600}\nnics: 512\nnic: 400G\n",
    ],
)
def test_ports_that_are_broken_out(text):
    assert facts(text)["leaf_ports"] == 128
    assert check_text(text, "t").verdict == "pass"


def test_findings_that_repeat_are_counted_not_printed():
    bill = "part,qty\n" + "".join(f"DAC 400G {9 + n} m server-leaf,1\n" for n in range(60))
    text = CliRunner().invoke(app, ["check", "-"], input=bill).stdout
    assert text.count("error EW-CHK-052") == 20
    assert "… and 40 more of EW-CHK-052" in text


@pytest.mark.parametrize(
    "text",
    [
        "rails=2, spine=none, workload=arbitrary process groups",
        "8 rails x 2 leaves = 16 leaves; spine=none; workload=any",
        "leaf 48x200G down + 8x400G up, 12 leaves, 3 spines 32x400G, 576 NICs 200G",
    ],
)
def test_every_verdict_has_its_numbers(text):
    for finding in check_text(text, "t").findings:
        assert finding.expected is not None, finding.code
        assert finding.observed is not None, finding.code


def test_no_repair_is_what_stands_there_already():
    bill = "item,qty\n8x 400G server,256\nleaf 128x400G,8\nspine 64x400G,8\nleaf-spine AOC 400G,512\n"
    for design in check_text(bill, "b").designs:
        assert all((repair.leaves, repair.spines) != (8, 8) for repair in design.repairs)


def test_an_optic_for_the_adapter_side_is_no_nic():
    bill = (
        "item,qty,length_m\nDGX H100,64,\nleaf QM9700,16,\nspine QM9700,8,\nMPO-12 fibre OM4 SR4,1024,30\n"
        "2xSR4 twin port,768,\nSR4 400G single-port adapter,512,\n"
    )
    assert "nics" not in facts(bill)
    assert check_text(bill, "b").verdict == "pass"
