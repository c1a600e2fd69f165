"""`check` of cable lists (synthetic): every port takes one cable, whole or broken out."""

import pytest

from eastwest.plan.check import check_text

LIST = """A Device,A Port,B Device,B Port,Cable,Length
leaf-01,1/1,server-01,nic0,DAC 400G,2m
leaf-01,{port},server-02,nic0,{part},2m
leaf-01,3,spine-01,1,AOC 800G,20m
"""


def codes(text):
    return [finding.code for finding in check_text(text, "cables.csv").findings]


@pytest.mark.parametrize(
    ("port", "part", "found"),
    [
        ("1/2", "DAC 400G", []),
        ("1/1", "DAC 400G", ["EW-CHK-091"]),
        ("3", "DAC 400G", ["EW-CHK-091"]),
        ("3/1", "DAC 400G", ["EW-CHK-092"]),
        ("1", "DAC 400G", ["EW-CHK-092"]),
        ("13/1", "DAC 400G", []),
    ],
)
def test_a_port_takes_one_cable_whole_or_broken_out(port, part, found):
    checked = check_text(LIST.format(port=port, part=part), "cables.csv")
    assert [finding.code for finding in checked.findings] == found
    assert checked.verdict == ("fail" if found else "pass")


def test_legs_of_a_splitter_share_a_port():
    text = LIST.format(port="1/1", part="DAC 800G (1:2 splitter)").replace(
        "nic0,DAC 400G,", "nic0,DAC 800G 1:2 splitter,"
    )
    assert codes(text) == []


SAME_PORT = [
    "from,to,medium,length\nleaf1:1,spine1:1,AOC,20\nleaf1:1,spine2:1,AOC,20\n",
    "Source;Source Port;Destination;Destination Port;Typ;Länge (m)\nleaf1;1;spine1;1;AOC;20\nleaf1;1;spine2;1;AOC;20\n",
    "本端设备,本端端口,对端设备,对端端口,线缆\nleaf1,1,spine1,1,AOC\nleaf1,1,spine2,1,AOC\n",
    "device_a,port_a,device_b,port_b\nleaf1,1,spine1,1\nleaf1,1,spine2,1\n",
    "leaf1 port 1 <-> spine1 port 1, AOC 20m\nleaf1 port 1 <-> spine2 port 1, AOC 20m\n",
]


@pytest.mark.parametrize("text", SAME_PORT, ids=range(len(SAME_PORT)))
def test_a_list_under_any_header(text):
    assert codes(text) == ["EW-CHK-091"]
    finding = check_text(text, "t").findings[0]
    assert (finding.expected, finding.observed, len(finding.evidence)) == (1, 2, 2)
    assert codes(text.replace("leaf1", "leaf9", 1)) == []


def test_reach_is_judged_where_the_ends_head_the_table():
    text = "from,to,medium,length\nleaf1:1,spine1:1,OM4 SR4,120\nleaf1:2,spine1:2,DAC,5\n"
    assert codes(text) == ["EW-CHK-052", "EW-CHK-052"]


def test_lines_of_several_cables_name_no_port():
    text = "from,to,cable,qty\nleaf 1-16,spine 1-8,AOC 400G,512\nleaf 1-16,server 1-64,DAC 400G,512\n"
    assert not {"EW-CHK-091", "EW-CHK-092"} & set(codes(text))
