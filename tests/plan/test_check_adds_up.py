"""`check`: which texts add up, which do not, and which cannot be told; each case in words of our own (synthetic)."""

import json

import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from eastwest.errors import InputError
from eastwest.plan.check import check_text
from eastwest.plan.checking.functions import ceilings_of
from eastwest.plan.checking.optics import longer_than
from eastwest.plan.checking.rails import fate_of
from eastwest.plan.checking.words import read_words
from eastwest.plan.designs.terms import plain

LEAVES = "16 leaves with 32 downlinks and 32 uplinks; 8 spines with 64 ports"


def codes(text):
    return [finding.code for finding in check_text(text, "t").findings]


def short(text):
    return [(item.what, item.needed, item.have) for design in check_text(text, "t").designs for item in design.short]


def read(text):
    return {name: fact.value for name, fact in check_text(text, "t").designs[0].subject.sheet.facts.items()}


SHORT_OF_SPINES = [("spine ports", 512, 256)]  # 16 leaves x 32 uplinks against 4 spines x 64 ports
SAME_DESIGN = [
    "16 leaf switches, 64 ports each: 32 ports down, 32 ports up. 4 spine switches, 64 ports each.",
    "Leaf: 16 x 64-port 400G switches (32 down / 32 up)\nSpine: 4 x 64-port 400G switches",
    "16 ToR switches, each with 32 downlinks and 32 uplinks\n4 aggregation switches with 64x400G",
    "- leaves: 16\n- each leaf has 32 ports to the servers and 32 ports to the spines\n- 4 64-port spines",
    "接入交换机 16 台（下行32口 上行32口），汇聚交换机 4 台，每台64口",
    "叶交换机十六台，每台32口下行、32口上行；脊交换机四台，每台六十四口",
    "leaves: 16\nleaf: {down: 32x400G, up: 32x400G}\nspines: 4\nspine: 64x400G\n",
    "leaves: 16\nleaf_ports_down: 32\nleaf_ports_up: 32\nspine_count: 4\nports_per_spine: 64\n",
    "leaf: 32x400G down + 32x400G up, 16 leaves\nspine: 4 spines with 64x400G\n",
    "fabric:\n  leaf: {count: 16, model: QM9700, down: 32, up: 32}\n  spine: {count: 4, model: QM9700}\n",
    "item,count\nleaf switches,16\ndownlinks per leaf,32\nuplinks per leaf,32\nspine switches,4\nports per spine,64\n",
    "16 leaves of 64x400G, 4 spines of 64x400G, 512 leaf-spine cables, 512 GPUs",
    "物料,数量\n接入交换机 (下行32口 上行32口),16\n汇聚交换机 QM9700,4\n",
]


@pytest.mark.parametrize("text", SAME_DESIGN, ids=range(len(SAME_DESIGN)))
def test_one_design_in_many_words_is_short_of_the_same_ports(text):
    assert short(text) == SHORT_OF_SPINES


BILLS = [
    (
        "part,qty\nleaf switch 64x400G,32\nspine switch 64x400G,8\nleaf-spine cable,1024\nserver-leaf cable,1024\n"
        "NIC,1024\n",
        [("spine ports", 1024, 512)],
    ),
    (
        "part,qty\nleaf switch 64x400G,16\nspine switch 64x400G,8\nDGX H100,128\nserver-leaf cable,1024\n"
        "leaf-spine cable,512\n",
        [("leaf ports", 1536, 1024)],
    ),
    ("kind,what,count\nserver,DGX H100,64\nleaf,QM9700,16\nspine,QM9700,4\n", SHORT_OF_SPINES),  # 64 x 8 NICs at 1:1
    ("kind,what,count\nserver,DGX H100,64\nleaf,QM9700,16\nspine,QM9700,8\n", []),
    ("物料,数量\nDGX H100 服务器,六十四\n叶交换机 QM9700,十六\n脊交换机 QM9700,八\n", []),
]


@pytest.mark.parametrize(("bill", "wanted"), BILLS, ids=range(len(BILLS)))
def test_bills(bill, wanted):
    assert short(bill) == wanted
    assert check_text(bill, "t").verdict == ("fail" if wanted else "pass")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "32 leaves with 40 downlinks and 40 uplinks, 64-port leaf switches; 20 spines with 64 ports each.",
            "EW-CHK-032",
        ),
        ("130 servers with 8 GPUs each, 1024 GPUs", "EW-CHK-076"),
        ("64 servers; 16 GPUs per server; 512 GPUs", "EW-CHK-076"),
        ("130台服务器，每台8卡，共1024卡", "EW-CHK-076"),
        (f"{LEAVES}; 500 leaf-spine cables", "EW-CHK-077"),
        (f"{LEAVES}; 100 servers with 8 NICs", "EW-CHK-030"),
        (f"{LEAVES}; 25 switches in all", "EW-CHK-081"),
        ("1024 GPUs with 16 leaves and 8 spines, all 64x400G", "EW-CHK-079"),
        ("512 GPUs, 10 leaves, 8 spines, all 64x400G, oversubscription 1:1", "EW-CHK-083"),
    ],
)
def test_numbers_that_do_not_agree_fail(text, code):
    checked = check_text(text, "t")
    assert checked.verdict == "fail"
    assert code in codes(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{LEAVES}",
        f"{LEAVES}; 64 servers with 8 NICs; 512 leaf-spine cables; 512 server cables; 24 switches",
        f"{LEAVES}; 512 GPUs in 64 servers, 8 GPUs a server, non-blocking",
        "16 leaves of 64x800G; 32x800G down, 32x800G up; 8 spines of 64x800G; 1024 NICs of 400G",  # 1:2 on every port
        "16 leaf switches, 8 spine switches, 512 GPUs, all switches 64x400G",
        "512 servers with 8 NICs, 128 leaves with 32 down 32 up, 128 spines (32 down, 32 up), 64 cores with 64 ports",
        "three tiers: 128 leaves, 128 spines, 64 cores, all 64x400G, 4096 GPUs",
        "Each leaf (QM9700, 64 x 400G) uses 32 ports for servers and 32 for spines. 32 leaves, 16 spines of 64 ports.",
        "Spines: 16 (64 ports). Leaves: 32 (64 ports, 32 up). Servers: 128 x 8 GPUs.",
        "- 64 nodes x 8 H100\n- 16 leaf switches, QM9700\n- 8 spine switches, QM9700\n- 512 leaf-spine cables, 30 m\n",
        "4 leaves, 2 spines; each leaf connects to each spine with 8 links; 16 downlinks a leaf; spine: 32 ports",
        "32 leaf switches, each with 32 downlink ports and 32 uplink ports; sixteen 64-port spine switches",
        "16 台 leaf，32 下行 32 上行；spine 8 台 64 口；服务器 64 台 8 卡",
        "16 台 leaf（32下32上）；spine 8 台 64 口；服务器 64 台 8 卡",
        "16 leaves with 32 ports down; each leaf has 4 uplinks to each spine; 8 spines of 64 ports; 512 GPUs",
        "| Tier | Count | Ports | Uplinks |\n|---|---|---|---|\n| Leaf | 16 | 64 | 32 |\n| Spine | 8 | 64 | 0 |\n",
    ],
)
def test_sound_designs_pass(text):
    assert (check_text(text, "t").verdict, short(text)) == ("pass", [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("16 leaves. 24 leaves with 40 downlinks and 24 uplinks; 8 spines with 64 ports", "EW-CHK-075"),
        (f"{LEAVES}; 42 widgets", "42 (line 1)"),
        ("leaves: 16\nleaf_up: 32\nspines: 8\nspine_ports: 64\nwidgets: 42\n", "widgets: 42"),
        (f"{LEAVES}; 2 planes", "one plane"),
        ("16 leaves with 32 downlinks and 32 uplinks", "missing: spines; ports of a spine"),
        ("gpus: 512\nleaves: 16\nleaf_down: 32\n", "missing: spines"),
        (
            "物料,数量\n接入交换机 (下行32口 上行32口),16\n汇聚交换机,4\n线缆,一千五百三十六\n",
            "missing: ports of a spine",
        ),
        (f"{LEAVES}; 24k GPUs", "24k (line 1)"),
    ],
)
def test_what_cannot_be_told_is_unknown_and_says_what_it_needs(text, why):
    """A pass would say that every number fits; a number that was not used may be the one that does not."""
    result = CliRunner().invoke(app, ["check", "-"], input=text)
    assert result.exit_code == 3
    assert result.stdout.startswith("UNKNOWN: cannot tell")
    assert why in " ".join(result.stdout.split())
    assert "next" in result.stdout
    assert "无法判断" in CliRunner().invoke(app, ["check", "-", "--lang", "zh"], input=text).stdout


def test_p01_points_to_size():
    result = CliRunner().invoke(app, ["check", "-"], input="gpus_per_server=8, nic=400G, oversub=1:1, leaf = 64x800G")
    assert result.exit_code == 3
    assert (
        "eastwest size --gpus 512 --gpus-per-server 8 --nics-per-server 8 --nic 400G --switch 64x800G" in result.stdout
    )


def test_what_was_read_and_summed_is_printed():
    text = f"{LEAVES}; 64 servers with 8 NICs"
    printed = " ".join(CliRunner().invoke(app, ["check", "-"], input=text).stdout.split())
    assert "read: leaves 16; ports down of a leaf 32; uplinks of a leaf 32; spines 8; ports of a spine 64" in printed
    assert "512 NIC links against 512 leaf ports down; 512 leaf uplinks against 512 spine ports" in printed
    document = check_text(text, "t").as_json()
    assert document["unused"] == []
    assert {"links": "leaf uplinks", "needed": 512, "against": "spine ports", "have": 512} in document["designs"][0][
        "sums"
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("64台8卡服务器，每台8张400G网卡", {"servers": 64, "gpus_per_server": 8, "nics_per_server": 8}),
        ("一千五百三十六 根线缆", {"cables": 1536}),
        ("16 leaf switches with 64 400G ports", {"leaves": 16, "leaf_ports": 64}),
        ("64 8-GPU servers", {"servers": 64, "gpus_per_server": 8}),
        ("8 GPU servers", {"servers": 8}),
        ("2 links between each leaf and each spine", {"links_per_pair": 2}),
        ("32*16 = 512 uplinks", {"leaf_spine_cables": 512}),
        ("1,024 GPUs in 128 nodes", {"gpus": 1024, "servers": 128}),
        ("汇聚交换机四台", {"spines": 4}),
        ("交换机 24 台", {"switches": 24}),
    ],
)
def test_numbers_and_what_they_count(text, found):
    words = read_words(text)
    assert {name: value for name, value in words.found if not name.endswith("_bps")} == found
    assert words.left == ()


@pytest.mark.parametrize(
    ("text", "digits"), [("十六", "16"), ("两百五十六", "256"), ("一万零二十四", "10024"), ("千兆", "千兆")]
)
def test_chinese_numerals(text, digits):
    assert plain(text).strip() == digits


@pytest.mark.parametrize(
    ("workload", "fate"),
    [
        ("data parallel only, same rail groups", "works"),
        ("EP 64 all-to-all over all GPUs", "works"),  # whole servers: PXN relays
        ("TP 8", "works"),
        ("EP 12", "fails"),
        ("groups of 9 GPUs", "fails"),
        ("arbitrary process groups", "fails"),
        ("no arbitrary groups, whole servers only", "works"),
        ("graph partitioning", "open"),
    ],
)
def test_groups_on_rails_that_nothing_joins(workload, fate):
    """Groups of whole servers, of one rail, or inside a server work; any other shape does not."""
    assert fate_of(workload, 8) == fate
    verdict = check_text(f"8 rails, no spines, 64 servers of 8 GPUs, workload={workload}", "t").verdict
    assert verdict == ("fail" if fate == "fails" else "warn")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("port 200G, 2 x gen5 x4, NCCL_IB_HCA=a0,b0, MTU 9000, busbw 23.7 GB/s", ["EW-CHK-044", "EW-CHK-084"]),
        ("port 200G, 2 x gen5 x4, MTU 9000, busbw 20 GB/s", ["EW-CHK-044", "EW-CHK-084"]),
        ("port 200G, 2 x gen5 x4, NCCL_IB_HCA=a0,b0, MTU 9000, busbw 12 GB/s", ["EW-CHK-088", "EW-CHK-044"]),
        ("port 400G, one function gen5 x16, MTU 9000, busbw 47 GB/s", ["EW-CHK-044", "EW-CHK-085"]),
        ("port 400G on gen4 x16, MTU 9000, busbw 25 GB/s", ["EW-CHK-043", "EW-CHK-085"]),
        ("port 400G, gen5 x16, MTU 9000, busbw 12 GB/s", ["EW-CHK-064", "EW-CHK-044"]),
        ("port 200G, gen5 x16, MTU 9000, busbw 90 GB/s", ["EW-CHK-089", "EW-CHK-044"]),
    ],
)
def test_p08_a_measured_rate_is_said_of_the_right_ceiling(text, wanted):
    assert codes(text) == wanted


@pytest.mark.parametrize(("slot", "gbytes"), [("2 x gen5 x4", 12.5), ("2 x gen5 x8", 25.0), ("gen5 x8", 25.0)])
def test_p08_one_function_is_bounded_by_its_slot_or_its_share(slot, gbytes):
    """Gen5 x8 carries all of 200G, so each of two functions can fill the port; Gen5 x4 cannot."""
    found = ceilings_of(check_text(f"port 200G, {slot}", "t").designs[0].subject.sheet)
    assert found.one_bps / 8e9 == pytest.approx(gbytes)


ENDS = """end_a,end_b,optic_a,optic_b,fibre,length_m
leaf-01,server-01,400G SR4 single-port OSFP,400G SR4 flat-top single-port OSFP,MPO-12/APC,20
leaf-02,server-02,2xSR4 twin-port,MMA4Z00-NS400,MPO-12/APC OM4,70
leaf-03,server-03,2xSR4 twin-port,2xSR4 twin-port finned OSFP,MPO-12/APC,20
leaf-04,server-04,2xSR4 twin-port,MMA4Z00-NS400,MPO-12/APC OM4,30
"""


def test_p11_a_list_with_both_ends_of_each_link():
    errors = [finding for finding in check_text(ENDS, "t").findings if finding.severity == "error"]
    assert [(finding.code, finding.evidence[0].line) for finding in errors] == [
        ("EW-CHK-050", 2),
        ("EW-CHK-052", 3),
        ("EW-CHK-054", 4),
    ]


@pytest.mark.parametrize(("modules", "code"), [(64, "EW-CHK-086"), (32, "EW-CHK-060"), (30, "EW-CHK-059")])
def test_p11_modules_in_prose(modules, code):
    """64 links end in 32 twin-port modules."""
    assert code in codes(f"{modules} twin-port OSFP modules 2xSR4 in the leaf switches for 64 links")


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("LR4, 12 km", "ZR (80 km)"),
        ("DAC 5 m", "ACC (5 m)"),
        ("AOC 150 m", "DR4 MMS4X00-NM (500 m)"),
        ("FR4 3 km", "LR4"),
    ],
)
def test_the_replacement_reaches_the_length(line, instead):
    finding = next(finding for finding in check_text(line, "t").findings if finding.code == "EW-CHK-052")
    assert instead in finding.hint()


@pytest.mark.parametrize("length_m", [0.5, 3, 4, 51, 101, 501, 2_001, 10_001, 80_001])
def test_nothing_that_is_named_instead_is_too_short(length_m):
    for name in longer_than(length_m):
        number, _, unit = name.partition("(")[2].rstrip(")").partition(" ")
        if number:
            assert float(number) * (1000 if unit == "km" else 1) >= length_m


def test_a_site_file_is_sent_to_plan():
    text = "name: x\nservers:\n- {name: s, count: 8, gpus: 8}\nfabric: {family: leaf_spine, switch: 64x400G}\n"
    result = CliRunner().invoke(app, ["check", "-", "--json"], input=text)
    assert result.exit_code == 2
    assert json.loads(result.stdout)["findings"][0]["code"] == "EW-CHK-082"


def test_too_much_prose_is_refused():
    line = "word " * 100 + "\n"
    for text in (line * 9000, "".join(f"{'w' * (n % 997)} of {line}" for n in range(2200))):
        with pytest.raises(InputError) as caught:
            check_text(text, "t")
        assert caught.value.findings[0].code == "EW-CHK-003"
