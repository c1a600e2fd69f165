"""Families besides leaf-spine, rails and pods: direct cables, one switch, lone rails, planes, two ToRs, NVL72 racks."""

from typing import Any

import numpy as np
import pytest

from eastwest.errors import InputError
from eastwest.fabric.cabling import cable_rows, port_names
from eastwest.fabric.families import FAMILIES
from eastwest.fabric.placement import loads, place
from eastwest.fabric.routing import link_loads, server_links
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.fabric.topology import build
from eastwest.spec.site import Site
from eastwest.spec.switches import FAMILIES as WRITTEN
from eastwest.workload.ledger import Grid
from tests.fabric.sites import codes, fabric_of, ledger, row


def _fabric(server: dict[str, Any], **fabric: Any) -> Fabric:
    top = {key: fabric.pop(key) for key in ("rooms", "room_links", "growth") if key in fabric}
    return build(Site.model_validate({"name": "synthetic", "servers": [server], "fabric": fabric, **top}))


def _trays(count: int, **fabric: Any) -> Fabric:
    return _fabric({"model": "gb200-nvl72", "count": count}, family="nvl72", **{"switch": "64x400G", **fabric})


def test_every_family_of_the_site_file_is_registered() -> None:
    assert FAMILIES.names() == WRITTEN


def test_two_servers_cabled_nic_to_nic() -> None:
    fabric = fabric_of("direct", 2, switch=None)
    rows = [(r.a_device, r.a_port, r.b_device, r.b_port) for r in cable_rows(fabric)]
    assert rows[0] == ("server-01", "nic0", "server-02", "nic0")
    assert len(rows) == 8
    assert all(a == b for _, a, _, b in rows)
    assert (fabric.tiers, fabric.switches, fabric.as_json()["links"]["direct"]) == (0, {}, 8)
    assert codes(fabric) == {}


def test_three_servers_in_a_triangle_use_each_port_once() -> None:
    fabric = fabric_of("direct", 3, switch=None, nics=4)
    assert len(fabric.links) == 3 * 2
    ends = np.concatenate([fabric.links["a_port"], fabric.links["b_port"]])
    assert len(np.unique(ends)) == len(ends) == 12
    assert codes(fabric_of("direct", 6, switch=None, nics=4)) == {"EW-FAB-034": "error"}


def test_direct_cables_share_the_bytes_of_their_pair() -> None:
    fabric = fabric_of("direct", 2, switch=None)
    account = ledger(Grid(tp=8, dp=2), row("dp", 2, "all_reduce", 1000))
    placement = place(fabric, account)
    assert placement.rows[0].tier_bytes == {"direct": 16_000}
    assert np.allclose(loads(fabric, placement, account), 1000.0)


def test_two_desktops_whose_port_has_two_pcie_functions() -> None:
    # one QSFP port of 200G behind two Gen5 x4 functions of 126 Gb/s raw: 98 Gb/s measured over one, about 25 GB/s over
    # both (NVIDIA/dgx-spark-playbooks issue 102)
    server = {"count": 2, "gpu": "gb200", "gpus": 1, "nic": {"count": 1, "rate": "200G"}}
    server["pcie"] = {"generation": 5, "lanes": 4, "functions": 2}
    found = {f.code: f for f in _fabric(server, family="direct").findings}
    assert set(found) == {"EW-FAB-036"}
    args = found["EW-FAB-036"].args
    assert (args["raw_gbps"], args["functions"]) == (126, 2)
    assert (args["one_gbytes"], args["all_gbytes"]) == (12.5, 25.0)


def test_one_switch_takes_a_nic_on_every_port() -> None:
    fabric = fabric_of("single_switch", 8, switch=None, leaf="64x400G")
    counts = fabric.as_json()
    assert (counts["tiers"], counts["leaves"], counts["spines"]) == (1, 1, 0)
    assert counts["ports"]["leaf"] == {"used": 64, "free": 0}
    assert fabric.switches == {"leaf": "64x400G"}
    assert codes(fabric) == {}
    broken_out = fabric_of("single_switch", 15, nic="200G")  # 120 links of 200G on ports of 2 x 200G
    assert broken_out.as_json()["ports"]["leaf"] == {"used": 60, "free": 4}
    assert codes(fabric_of("single_switch", 9)) == {"EW-FAB-029": "error"}


def test_a_family_of_one_tier_stands_in_one_room() -> None:
    link = {"between": ["a", "b"], "distance": "30m", "count": 2, "rate": "400G"}
    top = {"rooms": [{"name": "a"}, {"name": "b"}], "room_links": [link]}
    assert codes(fabric_of("single_switch", 4, top=top))["EW-FAB-033"] == "error"
    assert codes(fabric_of("direct", 2, switch=None, top=top))["EW-FAB-033"] == "error"


@pytest.mark.parametrize(
    "family", ["dual_plane", "dual_tor", "multi_plane", "rail_only", "rail_optimized", "three_tier"]
)
def test_families_with_spines_join_rooms(family: str) -> None:
    link = {"between": ["a", "b"], "distance": "2km", "count": 16, "rate": "400G"}
    top = {"rooms": [{"name": "a"}, {"name": "b"}], "room_links": [link]}
    fabric = fabric_of(family, 32, switch="64x800G", top=top)
    assert not [code for code, severity in codes(fabric).items() if severity == "error"]
    rooms = fabric.links[fabric.links_of(LinkKind.ROOM)]
    assert len(rooms) == 16
    assert (np.bincount(rooms["plane"], minlength=fabric.planes) == 16 // fabric.planes).all()
    assert fabric.oversubscription["room"] == 16 * 8 / 16
    account = ledger(Grid(tp=8, dp=32), row("dp", 32, "all_reduce", 1000))
    placement = place(fabric, account)
    # a ring over two rooms crosses between them once each way on each of 8 rails
    assert placement.rows[0].tier_bytes["room"] == 2 * 8 * 1000
    assert loads(fabric, placement, account)[fabric.links_of(LinkKind.ROOM)].sum() == pytest.approx(2 * 8 * 1000)


def test_rails_that_do_not_meet_say_what_works_and_what_cannot() -> None:
    # two NICs for eight GPUs: GPUs 0-3 on rail 0, 4-7 on rail 1
    fabric = fabric_of("rail_only", 8, nics=2)
    finding = next(f for f in fabric.findings if f.code == "EW-FAB-030")
    assert finding.severity == "warning"
    assert (fabric.as_json()["leaves"], fabric.as_json()["spines"], fabric.planes) == (2, 0, 2)
    sentence = finding.sentence("en")
    assert "GPU 0 of one server with GPU 7 of another" in sentence
    assert "9 GPUs over two servers" in sentence
    assert finding.args["spines"] >= 1


@pytest.mark.parametrize(
    ("grid", "dimension", "lost"),
    [
        (Grid(tp=8, dp=8), "dp", 0),  # the same GPU of every server
        (Grid(tp=4, dp=4, pp=4), "pp", 0),
        (Grid(dp=64), "dp", 0),  # whole servers
        (Grid(tp=2, dp=32), "dp", 0),  # GPUs 0, 2, 4, 6 of every server
        (Grid(tp=12, dp=4), "tp", 4),  # 8 GPUs of one server and 4 of the next
    ],
)
def test_groups_that_are_not_rail_aligned_are_counted(grid: Grid, dimension: str, lost: int) -> None:
    fabric = fabric_of("rail_only", 8)
    size = getattr(grid, dimension)
    placement = place(fabric, ledger(grid, row(dimension, size, "send_recv", 100)))
    found = [f for f in placement.findings if f.code == "EW-FAB-031"]
    assert sum(f.observed for f in found) == lost


def test_lone_rails_grow_to_a_spine_each_and_a_thin_spine_joins_them() -> None:
    assert fabric_of("rail_only", 64).as_json()["spines"] == 0
    two = fabric_of("rail_only", 65)
    assert (two.tiers, two.as_json()["leaves"], two.as_json()["spines"]) == (2, 8 * 3, 8 * 2)
    thin = fabric_of("rail_only", 64, cross_rail="16:1")
    assert (thin.planes, thin.tiers) == (1, 2)
    assert 8 < thin.oversubscription["leaf"] <= 16
    assert "EW-FAB-030" not in codes(thin)


def test_eight_planes_by_nic_in_two_layers() -> None:
    # DeepSeek, arXiv:2505.09343: 2,048 H800 in 8 planes; each plane has 256 ends on 64 x 400G: 8 leaves, 4 spines
    fabric = fabric_of("multi_plane", 256, planes=8, plane_by="nic")
    counts = fabric.as_json()
    assert (counts["leaves"], counts["spines"], counts["planes"], counts["plane_by"]) == (64, 32, 8, "nic")
    assert fabric.max_gpus == 16_384  # 8 planes of 64^2/2 ends
    down = fabric.links[fabric.links_of(LinkKind.SERVER_LEAF)]
    assert (down["plane"] == down["rail"]).all()
    assert (fabric.nodes["plane"][down["b"]] == down["plane"]).all()
    assert codes(fabric) == {"EW-FAB-030": "info"}


def test_four_planes_of_two_nics_each() -> None:
    fabric = fabric_of("multi_plane", 16, planes=4, plane_by="nic")
    down = fabric.links[fabric.links_of(LinkKind.SERVER_LEAF)]
    assert (down["plane"] == down["rail"] % 4).all()
    assert (server_links(fabric) >= 0).all()


def test_planes_by_nic_keep_the_destinations_rail() -> None:
    fabric = fabric_of("multi_plane", 16, plane_by="nic", nics=4)
    account = ledger(Grid(tp=8, dp=16), row("dp", 16, "all_reduce", 1000))
    load = loads(fabric, place(fabric, account), account)
    planes = fabric.links["plane"]
    assert [round(load[planes == plane, 0].sum() / load[:, 0].sum(), 6) for plane in range(4)] == [0.25] * 4


@pytest.mark.parametrize(("planes", "tiers", "switches"), [(8, 1, 8), (1, 2, 24)])
def test_planes_trade_tiers_for_ports(planes: int, tiers: int, switches: int) -> None:
    # published note: 512 NICs of 800G as 8 x 100G need 8 switches of 512 ports, 4,096 ends of one fabric need 24
    if planes == 8:
        server = {"count": 512, "gpu": "h100", "gpus": 1, "nic": {"count": 1, "rate": "800G", "ports": 8}}
        fabric = _fabric(server, family="multi_plane", tiers=tiers, switch="512x100G")
    else:
        server = {"count": 4096, "gpu": "h100", "gpus": 1, "nic": {"count": 1, "rate": "100G"}}
        fabric = _fabric(server, family="leaf_spine", switch="512x100G")
    counts = fabric.as_json()
    assert (counts["planes"], counts["leaves"] + counts["spines"]) == (planes, switches)


def test_two_planes_by_port_of_hpn_segment() -> None:
    # Alibaba HPN, SIGCOMM 2024: 16 ToRs for 128 servers, 128 x 200G down, 60 x 400G up, 1.067:1
    fabric = fabric_of("dual_plane", 128, switch="128x400G", servers_per_leaf=128, oversubscription="16:15")
    assert fabric.as_json()["leaves"] == 16
    assert fabric.facts["leaf_down_rate_bps"] == 200 * 10**9
    leaf = fabric.nodes_of(NodeKind.LEAF)[0]
    assert np.count_nonzero(fabric.links["b"] == leaf) == 128
    assert np.count_nonzero(fabric.links["a"] == leaf) == 60 == fabric.facts["leaf_uplinks"]
    assert round(fabric.oversubscription["leaf"], 3) == 1.067


def test_planes_that_do_not_fit_the_nics_are_refused() -> None:
    for wish in ({"planes": 3, "plane_by": "nic"}, {"planes": 7}):
        with pytest.raises(InputError) as caught:
            fabric_of("multi_plane", 8, **wish)
        assert [finding.code for finding in caught.value.findings] == ["EW-FAB-032"]


def test_two_tors_take_one_port_each_and_meet_at_every_spine() -> None:
    fabric = fabric_of("dual_tor", 64)
    down = fabric.links[fabric.links_of(LinkKind.SERVER_LEAF)]
    assert set(down["rate_bps"]) == {200 * 10**9}
    per_nic = down["b"].reshape(64, 8, 2)
    assert (per_nic[:, :, 0] != per_nic[:, :, 1]).all()
    assert fabric.planes == 1
    rails = fabric.nodes["rail"][per_nic]
    assert (rails == np.arange(8)[None, :, None]).all()
    # a leaf of the pair lost: the other still carries half of the rate to every server
    assert {fabric.names[leaf][-2:] for leaf in per_nic[0, 0]} == {"t1", "t2"}
    assert codes(fabric) == {}


def test_two_tors_split_a_transfer_over_both_ports() -> None:
    fabric = fabric_of("dual_tor", 4)
    zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
    load = link_loads(fabric, zero, zero, one, zero, np.array([10.0]))
    assert load[server_links(fabric)[0, 0], 0].tolist() == [5.0, 5.0]
    assert load[server_links(fabric)[1, 0], 1].tolist() == [5.0, 5.0]


def test_port_names_of_a_nic_with_two_links() -> None:
    fabric = fabric_of("dual_tor", 4)
    names = port_names(fabric)
    server = [names[i] for i in np.flatnonzero(fabric.ports["node"] == 0)]
    assert server[:4] == ["nic0p1", "nic0p2", "nic1p1", "nic1p2"]


def test_racks_are_domains_and_leaf_groups_hold_whole_racks() -> None:
    fabric = _trays(36)
    servers = fabric.nodes[fabric.nodes_of(NodeKind.SERVER)]
    assert np.bincount(servers["rack"]).tolist() == [18, 18]
    assert np.bincount(servers["group"]).tolist() == [18, 18]  # 18 of the 32 ports of a 64 x 400G leaf
    assert fabric.as_json()["leaves"] == 2 * 4
    assert np.bincount(_trays(54, switch="64x800G").nodes["group"][:54]).tolist() == [54]
    assert codes(fabric) == {}


def test_rings_hand_over_between_domains_only() -> None:
    fabric = _trays(36)
    account = ledger(Grid(dp=144), row("dp", 144, "all_reduce", 7200))
    placement = place(fabric, account)
    # 72 rings of 2 domains: each GPU passes 71/72 of its bytes inside its rack
    assert placement.rows[0].tier_bytes == {"scale_up": 144 * 7100, "spine": 144 * 100}


def test_domains_that_are_cut_or_not_full() -> None:
    assert codes(_trays(20)) == {"EW-FAB-039": "warning"}
    rooms = [{"name": "hall", "racks": [{"count": 40, "power": "40kW"}]}]
    assert codes(_trays(36, rooms=rooms))["EW-FAB-035"] == "error"


def test_forty_ports_and_five_spines() -> None:
    # NVIDIA DGX SuperPOD A100, 40 x 200G: 8 leaves and 5 spines for one unit, 32 and 20 for four. Leaves are full, so
    # the subnet manager's ports are kept on the spines.
    for servers, leaves, spines in ((20, 8, 5), (80, 32, 20)):
        wish = {"switch": "40x200G", "nic": "200G", "spare_ports": {"spine": 1}}
        counts = fabric_of("rail_optimized", servers, **wish).as_json()
        assert (counts["leaves"], counts["spines"]) == (leaves, spines)


@pytest.mark.parametrize(("servers_per_leaf", "leaves"), [(8, 2), (4, 4)])
def test_a_least_number_of_spines(servers_per_leaf: int, leaves: int) -> None:
    # published 128-GPU design on 64 x 800G: 2 or 4 leaves under 2 spines
    counts = fabric_of("leaf_spine", 16, switch="64x800G", servers_per_leaf=servers_per_leaf, spines=2).as_json()
    assert (counts["leaves"], counts["spines"]) == (leaves, 2)


@pytest.mark.parametrize(
    ("rate", "servers", "ratio"), [("200G", 4, 1.0), ("200G", 8, 2.0), ("800G", 4, 0.25), ("800G", 8, 0.5)]
)
def test_uplinks_of_a_wished_rate(rate: str, servers: int, ratio: float) -> None:
    # vendor validated design: 2 stripes of 8 leaves, 4 spines, one uplink of 200G or 800G to each, NICs of 200G
    wish = {"switch": "64x800G", "nic": "200G", "servers_per_leaf": servers, "spines": 4, "link_rate": rate}
    fabric = fabric_of("rail_optimized", 2 * servers, oversubscription=f"{max(1.0, ratio):g}:1", **wish)
    counts = fabric.as_json()
    assert (counts["leaves"], counts["spines"]) == (16, 4)
    assert fabric.facts["leaf_uplinks"] == 4
    assert fabric.oversubscription["leaf"] == ratio
    assert codes(fabric_of("rail_optimized", 16, link_rate="300G"))["EW-FAB-038"] == "error"


def test_every_new_sentence_can_be_said_in_both_languages() -> None:
    rooms = [{"name": "hall", "racks": [{"count": 40, "power": "40kW"}]}]
    fabrics = [
        fabric_of("three_tier", 512, servers_per_pod=512),
        fabric_of("three_tier", 64, oversubscription={"spine": "4:1"}),
        fabric_of("single_switch", 9),
        fabric_of("rail_only", 8),
        fabric_of("direct", 20, switch=None),
        fabric_of("rail_optimized", 16, link_rate="300G"),
        _trays(20),
        _trays(36, rooms=rooms),
    ]
    seen = set()
    for finding in (finding for fabric in fabrics for finding in fabric.findings):
        seen.add(finding.code)
        for lang in ("en", "zh"):
            assert "{" not in finding.sentence(lang) + finding.hint(lang)
    assert {f"EW-FAB-{n:03d}" for n in (28, 29, 30, 34, 35, 37, 38, 39)} <= seen
