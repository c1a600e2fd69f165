"""`check`: designs, bills and optics lists in our own words, each with the verdict that its arithmetic gives."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from eastwest.cli.main import app
from eastwest.errors import InputError
from eastwest.fabric.sizing import size
from eastwest.plan.check import check_text
from eastwest.plan.checking.words import read_line
from eastwest.plan.document import plan_document, plan_files
from eastwest.plan.plan import make_plan
from eastwest.spec.load import parse_site
from eastwest.spec.resolve import resolve_switch
from eastwest.spec.switches import SwitchWish
from tests.plan.sites import pretrain_site

GUIDE = """synthetic sizing guide for 1,024 GPUs
8 rails x 4 leaves = 32 leaves
leaf: 32x400G down + 16x400G up
8 spines, one spine = 32x400G, built on a 25.6T switch
oversubscription 2:1
"""


def run(text, *options):
    return CliRunner().invoke(app, ["check", "-", *options], input=text)


def codes(text):
    return [finding.code for finding in check_text(text, "t").findings]


@pytest.mark.parametrize(("switch", "servers"), [(("64", "400G"), 32), (("64", "800G"), 64)])
def test_p01_a_stripe_has_half_of_the_leaf_ports_in_servers(switch, servers):
    """Half of 64 x 400G faces servers: 32 of them; 64 x 800G broken out are 128 ports of 400G: 64 servers."""
    wish = SwitchWish.model_validate({"ports": int(switch[0]), "rate": switch[1]})
    sizing = size(servers * 8, 8, 400 * 10**9, resolve_switch(wish), rail_optimized=True)
    counts = sizing.fabric.as_json()
    assert (counts["leaves"], counts["gpus"]) == (8, servers * 8)
    assert sizing.fabric.facts["servers_per_leaf_group"] == servers


def test_p03_leaf_uplinks_without_spine_ports():
    """32 leaves x 16 uplinks are 512; 8 spines x 32 ports are 256."""
    result = run(GUIDE, "--json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["verdict"]) == (1, "fail")
    short = {key: document["short"][0][key] for key in ("what", "needed", "have", "short")}
    assert short == {"what": "spine ports", "needed": 512, "have": 256, "short": 256}
    keys = ("spines", "spine_ports", "links_per_leaf_spine_pair", "leaf_up_ports", "uplinks", "oversubscription_ratio")
    assert [tuple(repair[key] for key in keys) for repair in document["repairs"]] == [
        (8, 64, 2, 16, 512, 2.0),
        (16, 32, 1, 16, 512, 2.0),
        (16, 64, 2, 32, 1024, 1.0),
    ]
    evidence = {line["text"] for finding in document["findings"] for line in finding["evidence"]}
    assert "8 spines, one spine = 32x400G, built on a 25.6T switch" in evidence
    assert "a 25.6T chip is 64 ports of 400G, not 32" in {finding["message"] for finding in document["findings"]}


def test_p03_the_verdict_stands_in_the_first_line():
    lines = run(GUIDE).stdout.splitlines()
    assert lines[0] == "FAIL: 512 leaf uplinks vs 256 spine ports (short 256): 256 cables have no port"
    assert "512 条 leaf 上行对 256 个 spine 端口（缺 256）" in run(GUIDE, "--lang", "zh").stdout


@pytest.mark.parametrize(
    "text",
    [
        "id: a\nleaf: 32\nleaf_down_ports: 32x400G\nleaf_up_ports: 16x400G\nspine: 8\nspine_ports: 32x400G\n",
        "leaf: {count: 32, down: 32x400G, up: 16x400G}\nleaves: 32\nspines: 8\nspine: {ports: 32x400G}\n",
        "rows:\n- id: a\n  inputs: {gpus: 1024}\n  outputs: {leaf: 32, leaf_up: 16, spine: 8, spine_ports: 32}\n",
        "- {leaves: 32, leaf_down: 32, uplinks_per_leaf: 16, spines: 8, ports_per_spine: 32}\n",
        "32 leaves\neach leaf has 16 uplinks\n8 spines of 32x400G\n",
        "1024 H100\n - 32 leaf switches (64x400G): 32 ports down, 16 up\n - 8 spine switches with 32 ports each\n",
        '{"leaves": 32, "leaf_up": "16x400G", "spines": 8, "spine_ports": "32x400G"}',
    ],
    ids=["flat", "nested", "row", "list", "words", "bullets", "json"],
)
def test_p03_in_other_shapes(text):
    checked = check_text(text, "t")
    assert [(short.needed, short.have) for short in checked.designs[0].short if short.what == "spine ports"] == [
        (512, 256)
    ]


def test_links_of_a_pair_that_do_not_make_the_uplinks():
    text = GUIDE + "each spine takes 4 uplinks from every leaf in its rail\n"
    finding = next(finding for finding in check_text(text, "t").findings if finding.code == "EW-CHK-036")
    assert (finding.expected, finding.observed) == (4, 16)  # a rail has one of the 8 spines


def test_a_design_that_adds_up_passes():
    sound = GUIDE.replace("one spine = 32x400G", "one spine = 64x400G")
    result = run(sound)
    assert result.exit_code == 0
    assert result.stdout.startswith("PASS: what the text gives adds up")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("512 GPUs\n8 leaves\nleaf 32x400G down, 32x400G up\n4 spines of 64x400G\n", "EW-CHK-030"),
        ("leaf 40x400G down + 32x400G up\nleaf switch 64x400G\n", "EW-CHK-032"),
        ("leaf 32x400G down + 16x400G up, oversubscription 1:1\n8 leaves\n2 spines of 64x400G", "EW-CHK-033"),
        ("8 rails x 4 leaves = 16 leaves\n", "EW-CHK-034"),
        ("8 leaves\nleaf 32x400G down + 16x400G up\n5 spines of 64x400G", "EW-CHK-037"),
        ("spines: 4\nspine_up: 32\ncores: 1\ncore_ports: 64\n", "EW-CHK-038"),
        ("gpus: 512\nradix: 64\nswitches: 8\nnic_gbps: 400\n", "EW-CHK-045"),
    ],
)
def test_each_contradiction_has_its_finding(text, code):
    assert code in codes(text)


def test_leaves_that_are_short_are_repaired_with_their_spines():
    """512 links over 32 ports down are 16 leaves; 16 x 32 uplinks over 64 ports are 8 spines."""
    text = "512 GPUs\n8 leaves\nleaf 32x400G down, 32x400G up\n4 spines of 64x400G\n"
    repair = check_text(text, "t").designs[0].repairs[0]
    assert (repair.kind, repair.leaves, repair.spines, repair.per_pair) == ("more_leaves", 16, 8, 4)


def test_p06_rails_that_nothing_joins():
    result = run("two NICs, 8 GPUs per server\nrails: 2\nspine: none\nworkload: any process groups\n")
    assert result.exit_code == 1
    assert result.stdout.startswith("FAIL: RISK: 2 rails are isolated (no spine)")
    assert "9 GPUs over two servers of 8" in " ".join(result.stdout.split())
    assert "2 spines with 2 ports each" in result.stdout
    aligned = check_text("rails=2, spines=0, workload=rail-aligned groups only", "t")
    assert aligned.verdict == "warn"


def test_p06_leaves_of_one_rail_need_a_spine_too():
    assert "EW-CHK-041" in codes("4 rails x 2 leaves = 8 leaves, no spines, workload=any")


def test_p08_a_port_behind_two_functions():
    """200G over two functions are 100 Gb/s each: 12.5 GB/s; Gen5 x4 carries 126 Gb/s raw."""
    text = "QSFP port 200G, shown as two PCIe functions, gen5 x4 each\nNCCL_IB_HCA not set\nMTU 1500\nbusbw 3 GB/s\n"
    result = run(text)
    assert result.exit_code == 0
    first = result.stdout.splitlines()[0]
    assert first.startswith("WARN: port 200G is backed by 2 x Gen5 x4 (126 Gb/s raw each)")
    assert "single-function ceiling ~12.5 GB/s" in first
    assert "~25 GB/s" in first
    assert codes(text) == ["EW-CHK-042", "EW-CHK-062", "EW-CHK-064"]


def test_p08_half_of_the_port_is_no_cable_fault():
    text = "port 200G, 2 x gen5 x4, MTU 9000, busbw 12.1 GB/s"
    assert codes(text) == ["EW-CHK-042", "EW-CHK-063"]
    assert codes("port 200G, 2 x gen5 x4, NCCL_IB_HCA=a0,b0, MTU 9000") == ["EW-CHK-044"]
    assert codes("port 400G on gen4 x16") == ["EW-CHK-043"]


FIVE = """(a) 400G single-port OSFP module into the twin-port cage of a leaf switch
(b) twin-port module with a straight fibre and a 1:2 splitter
(c) SR4 over multimode, 70 m
(d) 50G-PAM4 optic (HDR) facing an NDR one
(e) finned twin-port OSFP module for a ConnectX-7 adapter
"""


def test_p11_five_lines_five_rules():
    result = run(FIVE, "--json")
    document = json.loads(result.stdout)
    errors = [finding for finding in document["findings"] if finding["severity"] == "error"]
    assert result.exit_code == 1
    assert [(finding["subject"], finding["code"]) for finding in errors] == [
        ("(a)", "EW-CHK-050"),
        ("(b)", "EW-CHK-051"),
        ("(c)", "EW-CHK-052"),
        ("(d)", "EW-CHK-053"),
        ("(e)", "EW-CHK-054"),
    ]
    assert all(finding["hint"] for finding in errors)
    assert [finding["evidence"][0]["line"] for finding in errors] == [1, 2, 3, 4, 5]
    assert "500 m" in errors[2]["hint"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("MMA4Z00-NS400 in the switch", "EW-CHK-050"),
        ("MMS4X00-NS400 DR4, 300 m", "EW-CHK-052"),
        ("DAC 400G 5 m", "EW-CHK-052"),
        ("MMA4Z00-NS in a ConnectX-7 NIC", "EW-CHK-054"),
        ("MPO-12 fibre, APC at one end and UPC at the other", "EW-CHK-055"),
        ("NDR SR4 with MPO-12/UPC fibre", "EW-CHK-055"),
        ("OSFP module for BlueField-3", "EW-CHK-056"),
        ("XDR AOC 10 m", "EW-CHK-057"),
        ("XDR multimode SR4", "EW-CHK-057"),
        ("400G SR4 over single-mode fibre", "EW-CHK-058"),
        ("DR4 over OM4", "EW-CHK-058"),
    ],
)
def test_each_optics_rule_has_its_finding(line, code):
    assert codes(line)[0] == code


@pytest.mark.parametrize(
    "line",
    [
        "MMA4Z00-NS400 for the ConnectX-7 adapter, 30 m",
        "MMA4Z00-NS in the leaf switch, 50 m",
        "MMS4X00-NM 2xDR4 in the spine switch, 480 m",
        "AOC HDR to NDR, backward compatible, 10 m",
        "200G SR4 HDR over OM4, 90 m",
        "QSFP112 SR4 in BlueField-3, MPO-12/APC",
        "two straight fibres in a twin-port module",
        "MCP7Y00-N splitter DAC, 3 m, switch to NIC",
    ],
)
def test_sound_optics_have_none(line):
    assert [code for code in codes(line) if code not in ("EW-CHK-060", "EW-CHK-061")] == []


def test_one_twin_port_module_for_two_links():
    table = "part,quantity\nMMA4Z00-NS400 adapter side,64\nMMA4Z00-NS switch side,{n}\n"
    short = check_text(table.format(n=30), "bom.csv").findings[0]
    assert (short.code, short.expected, short.observed) == ("EW-CHK-059", 32, 30)
    assert codes(table.format(n=32)) == ["EW-CHK-060"]
    totals = check_text(table.format(n=32), "bom.csv").as_json()["totals"]
    assert [(total["part"], total["quantity"]) for total in totals] == [
        ("MMA4Z00-NS400 adapter side", 64),
        ("MMA4Z00-NS switch side", 32),
    ]


BILL = """item;qty;length
DGX H100 server, 8 x 400G NICs;{servers};
QM9700 leaf switch;{leaves};
QM9700 spine switch;{spines};
MPO-12 fibre;{fibres};30
"""


def test_a_bill_that_adds_up_and_bills_that_do_not():
    """32 servers x 8 NICs: 256 links down, 256 up; 8 leaves and 4 spines of 64 ports."""
    assert check_text(BILL.format(servers=32, leaves=8, spines=4, fibres=512), "b").verdict == "pass"
    assert "EW-CHK-031" in codes(BILL.format(servers=32, leaves=8, spines=2, fibres=512))
    assert "EW-CHK-039" in codes(BILL.format(servers=72, leaves=8, spines=4, fibres=1000))
    assert "EW-CHK-047" in codes(BILL.format(servers=32, leaves=8, spines=4, fibres=200))


def test_p03_as_a_bill_gets_the_same_repairs():
    bill = (
        "part,qty\nleaf switch 64x400G,32\nspine switch 32x400G,8\n400G NIC,1024\nleaf-spine DAC,512\nserver AOC,1024\n"
    )
    design = check_text(bill, "bom.csv").designs[0]
    assert [(short.what, short.needed, short.have) for short in design.short] == [("spine ports", 512, 256)]
    assert [(r.spines, r.spine_ports, r.ratio) for r in design.repairs] == [(8, 64, 2.0), (16, 32, 2.0), (16, 64, 1.0)]


def test_p11_as_a_table_with_places_and_lengths():
    table = """line,module,cage,fibre,length_m,qty
a,400G SR4 single-port OSFP,leaf switch,MPO-12/APC,20,4
b,2xSR4 twin-port OSFP,leaf switch,1 straight + 1 splitter 1:2,20,2
c,MMA4Z00-NS,switch,MPO-12/APC OM4,70,8
d,HDR 200G SR4 against NDR 400G SR4,,MPO-12,20,1
e,MMS4X00-NS finned,ConnectX-7 OSFP,,,4
"""
    errors = [finding for finding in check_text(table, "t").findings if finding.severity == "error"]
    assert [(finding.subject, finding.code) for finding in errors] == [
        (name, f"EW-CHK-{50 + index:03d}") for index, name in enumerate("abcde")
    ]


def test_our_own_bill_and_cable_list_pass():
    plan = make_plan(parse_site(pretrain_site(64), "site.yaml"))
    files = plan_files(plan, plan_document(plan, "en"), "")
    for name in ("bom.csv", "cables.csv"):
        checked = check_text(str(files[name]), name)
        assert checked.verdict == "pass", [finding.sentence() for finding in checked.findings]


def test_text_without_two_numbers_cannot_be_judged():
    result = run("our cluster is large and fast\nit has 32 leaves\n", "--json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["verdict"]) == (3, "unknown")
    assert {"spines", "uplinks of a leaf", "ports of a spine"} <= set(document["missing"])
    assert document["unknown_lines"][0]["text"] == "our cluster is large and fast"
    assert "cannot tell" in run("hello\n").stdout


def test_pasted_text_with_colours_and_carriage_returns():
    text = GUIDE.replace("8 spines", "\x1b[1m8 spines\x1b[0m").replace("\n", "\r\n")
    assert check_text(text, "t").verdict == "fail"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("2 x gen5x4", {"functions": 2, "pcie_generation": 5, "pcie_lanes": 4}),
        ("128 servers (8 GPUs per server)", {"servers": 128, "gpus_per_server": 8}),
        ("16 spines of 64x400G", {"spines": 16, "spine_ports": 64, "spine_ports_bps": 400 * 10**9}),
        ("leaf_up: 16 x 400 Gb/s", {"leaf_up": 16, "leaf_up_bps": 400 * 10**9}),
        ("1.67:1", {"ratio": 1.67}),
        ("512 张卡", {"gpus": 512}),
        ("", {}),
    ],
)
def test_lines_are_read_as_people_write_them(line, found):
    assert read_line(line) == pytest.approx(found) if found else read_line(line) == {}


BROKEN = [
    ("", "t: the file holds nothing: expected a design, a table of parts, or rows"),
    (" \n\n", "t: the file holds nothing: expected a design, a table of parts, or rows"),
    ("rows: 7\n", "t:1: rows is 7: expected a list of rows, each with id, inputs and outputs"),
    ("rows:\n- a\n", 't:2: row 1 is "a": expected keys id, inputs and outputs'),
    ("leaf: many\n", 't:1: leaf is "many": expected a number such as 32, or ports such as 32x400G'),
    (
        "leaves: 4\nspine_ports: [x]\n",
        't:2: spine_ports[0] is "x": expected a number such as 32, or ports such as 32x400G',
    ),
    ("gpus: -8\nspines: 4\n", "t:1: gpus is -8: expected a number such as 32, or ports such as 32x400G"),
    ("a: {b: 1\n", "t:1: a bracket or a quote is not closed before the text goes on"),
    ("leaf: 4\nleaf: 5\n", "t:2: leaf: the key leaf is given a second time; the first is in line 1"),
    ("part,qty\n", "t:1: the table has a header and no lines of parts"),
    ("part,qty\nDAC,ten\n", 't:2: qty is "ten": expected a whole number of pieces'),
    ("part,qty\nDAC,-4\n", 't:2: qty is "-4": expected a whole number of pieces'),
    ("part,qty\nDAC,2.5\n", 't:2: qty is "2.5": expected a whole number of pieces'),
    ("part;quantity\nDAC;99999999999\n", 't:2: quantity is "99999999999": expected a whole number of pieces'),
    ("part,qty\nDAC,1,2,3\n", "t:2: the line has 4 cells, the header 2"),
    ("# list\nitem\tcount\nDAC\tx\n", 't:3: count is "x": expected a whole number of pieces'),
]


@pytest.mark.parametrize(("text", "sentence"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_text_is_refused_with_its_line(text, sentence):
    with pytest.raises(InputError) as caught:
        check_text(text, "t")
    assert caught.value.findings[0].sentence().startswith(sentence)
    assert caught.value.findings[0].sentence("zh")


def test_files_that_are_no_text(tmp_path):
    binary, folder = tmp_path / "b.xlsx", tmp_path
    binary.write_bytes(b"PK\x03\x04\xff\xfe\x00")
    for path, words in (
        (binary, "is no character of a text file"),
        (folder, "cannot be read"),
        ("no.csv", "cannot be read"),
    ):
        result = CliRunner().invoke(app, ["check", str(path)])
        assert result.exit_code == 2
        assert words in result.stderr


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *GUIDE.splitlines(),
                *FIVE.splitlines(),
                "part,qty",
                "a,1",
                "leaf: 4",
                "rows:",
                "- id: x",
                "spines: 0",
                "0:0",
            ]
        ),
        st.sampled_from(
            ["99999999x99999G", "gen9 x99", "0 leaves 0 spines", "4 spines of 0x0G", "port 0G 0 x gen5x4", "\t|"]
        ),
        st.text(max_size=20),
    ),
    max_size=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pieces=PIECES)
def test_any_text_is_judged_or_refused(pieces):
    try:
        document = check_text("\n".join(pieces), "t").as_json("zh")
    except InputError:
        return
    assert document["verdict"] in ("pass", "warn", "fail", "unknown")
