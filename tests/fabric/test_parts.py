"""What is ordered: every cage, leg, module and cord of a plan exists as a part, counted by hand and by an oracle."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

from eastwest.fabric.cabling import cable_rows
from eastwest.fabric.media import MEDIA, WHOLE_CABLES
from eastwest.fabric.parts import cord_name, link_parts, module_name, parts
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.fabric.topology import build
from eastwest.spec.site import Site
from tests.fabric.sites import codes, fabric_of

GIGA = 10**9


def counts(fabric: Fabric) -> dict[str, int]:
    return {part.part: part.count for part in parts(fabric)}


def of_model(servers: int, model: str, family: str, switch: str, **fabric: Any) -> Fabric:
    top = {"name": "synthetic", "transport": "infiniband", "servers": [{"model": model, "count": servers}]}
    return build(Site.model_validate({**top, "fabric": {"family": family, "switch": switch, **fabric}}))


FABRICS = {
    "rails on twin cages": lambda: of_model(64, "dgx-h100", "rail_optimized", "qm9700"),
    "twin cages at both ends": lambda: of_model(16, "dgx-h100", "leaf_spine", "qm9700"),
    "single server cages": lambda: of_model(64, "hgx-h100", "rail_optimized", "qm9700"),
    "whole servers a leaf": lambda: of_model(24, "hgx-h100", "leaf_spine", "qm9700"),
    "planes by NIC": lambda: of_model(32, "hgx-h100", "multi_plane", "qm9700", planes=8, plane_by="nic"),
    "three tiers": lambda: of_model(96, "dgx-h100", "three_tier", "qm9700", rail_optimized=True),
    "broken out": lambda: fabric_of("leaf_spine", 40, nic="200G"),
    "broken out in four": lambda: fabric_of("dual_plane", 64, switch="64x800G"),
    "800G": lambda: fabric_of("rail_optimized", 64, switch="64x800G"),
    "NVL72": lambda: of_model(36, "gb200-nvl72", "nvl72", "qm9700"),
}


@pytest.mark.parametrize("make", FABRICS.values(), ids=FABRICS)
def test_every_fixed_cable_fits_the_cages_at_its_ends_and_its_legs_are_equal(make) -> None:
    """Oracle: by dictionaries, cage by cage. The links of a cage are one straight cable to one like cage, or a splitter
    to cages of one port; or the cage is a leg of one.
    """
    fabric = make()
    size: Counter[tuple[int, int]] = Counter(zip(*(fabric.ports[c].tolist() for c in ("node", "cage")), strict=True))
    links_of: dict[tuple[int, int], list[tuple[tuple[int, int], float, str]]] = defaultdict(list)
    for link in fabric.links:
        ends = [tuple(int(fabric.ports[c][link[e]]) for c in ("node", "cage")) for e in ("a_port", "b_port")]
        for here, there in (ends, ends[::-1]):
            links_of[here].append((there, float(link["length_m"]), MEDIA[link["medium"]]))
    cables = 0
    for cage, ends in links_of.items():
        assert len({medium for _, _, medium in ends}) == 1, "one module or cable a cage"
        if ends[0][2] not in WHOLE_CABLES:
            continue
        far, lengths = {there for there, _, _ in ends}, {length for _, length, _ in ends}
        assert len(lengths) == 1, "legs of one cable are sold equal"
        if size[cage] == 1 and size[next(iter(far))] > 1:
            continue  # a leg
        if len(far) == 1 and size[next(iter(far))] == size[cage]:
            assert len(links_of[next(iter(far))]) == len(ends)
            cables += 0.5
        else:
            assert all(size[there] == 1 for there in far)
            cables += 1
    assert cables == sum(part.count for part in parts(fabric) if part.is_fixed)


@pytest.mark.parametrize("make", FABRICS.values(), ids=FABRICS)
def test_every_optical_cage_has_one_module(make) -> None:
    fabric = make()
    optical = ~np.isin(fabric.links["medium"], [MEDIA.index(name) for name in WHOLE_CABLES])
    ends = np.r_[fabric.links["a_port"][optical], fabric.links["b_port"][optical]]
    lit = {(int(fabric.ports["node"][port]), int(fabric.ports["cage"][port])) for port in ends}
    assert len(lit) == sum(part.count for part in parts(fabric) if part.unit == "module")


def test_two_nics_of_a_server_share_a_twin_port_cage() -> None:
    # DGX H100: 8 NICs in 4 cages. Rails go to 8 leaves, so nothing is copper: 64 x 4 modules and 64 x 8 / 2 in leaves.
    fabric = FABRICS["rails on twin cages"]()
    up = len(fabric.links_of(LinkKind.LEAF_SPINE))
    assert not any(part.is_fixed for part in parts(fabric))
    modules = [part for part in parts(fabric) if part.unit == "module"]
    assert [part.part for part in modules] == ["2x400G SR module (2 ports a cage)"]
    assert modules[0].count == 64 * 4 + 64 * 8 // 2 + up
    assert sum(part.count for part in parts(fabric) if part.unit == "cable") == 64 * 8 + up


def test_two_twin_port_cages_take_one_straight_cable() -> None:
    # 16 DGX H100, four whole servers a leaf of QM9700: 4 straight 800G cables a server where copper reaches
    fabric = FABRICS["twin cages at both ends"]()
    server = fabric.links[fabric.links_of(LinkKind.SERVER_LEAF)]
    copper = int(np.count_nonzero(server["medium"] == MEDIA.index("dac")))
    assert copper
    bought = {part.part: part.count for part in parts(fabric) if part.is_fixed}
    assert all(name.startswith("DAC 800G") and "splitter" not in name for name in bought)
    assert sum(bought.values()) == copper // 2
    assert "DAC 800G (2 x 400G)" in {row.part for row in cable_rows(fabric)}


def test_a_splitter_is_bought_once_for_its_legs() -> None:
    fabric = FABRICS["whole servers a leaf"]()
    server = fabric.links[fabric.links_of(LinkKind.SERVER_LEAF)]
    copper = int(np.count_nonzero(server["medium"] == MEDIA.index("dac")))
    bought = {part.part: part.count for part in parts(fabric) if part.is_fixed and "splitter" in part.part}
    assert copper
    assert all(name.startswith("DAC 800G") and name.endswith("(1:2 splitter)") for name in bought)
    assert sum(bought.values()) == copper // 2
    rows = [row for row in cable_rows(fabric) if row.medium == "dac" and row.kind == "server_leaf"]
    assert {row.part for row in rows} == {"DAC 800G (1:2 splitter)"}


def test_links_of_one_cage_to_two_switches_are_never_copper() -> None:
    fabric = FABRICS["three tiers"]()
    up = fabric.links[fabric.links["kind"] == LinkKind.LEAF_SPINE]
    pairs = Counter(zip(up["a"].tolist(), up["b"].tolist(), strict=True))
    if set(pairs.values()) == {1}:
        assert MEDIA.index("dac") not in up["medium"]


def test_eight_lanes_take_two_connectors_or_one_of_sixteen() -> None:
    cabling = {"cabling": {"server_leaf": "30m", "leaf_spine": "30m"}}
    fabric = fabric_of("leaf_spine", 16, switch="64x800G", nic="800G", top=cabling)
    n = len(fabric.links)
    assert counts(fabric) == {"2x400G SR module (2 ports a cage)": 2 * n, "MPO-12 OM4 fibre 30 m": 2 * n}
    assert module_name("sr", 400 * GIGA, 1, 8) == "SR 400G single-port (8 lanes)"
    assert cord_name("sr", 1, 8, "30 m") == "MPO-16 OM4 fibre 30 m"
    assert cord_name("dr", 1, 8, "30 m") == "MPO-12 OS2 fibre 30 m"  # DR4 of eight host lanes has four on the fibre


def test_ports_broken_out_take_splitter_cords_of_one_connector() -> None:
    # 800G cages as 4 x 200G: two connectors of 400G, each with a 1:2 cord to two NIC ports
    cabling = {"cabling": {"server_leaf": "30m", "leaf_spine": "30m"}}
    fabric = fabric_of("dual_plane", 64, switch="64x800G", top=cabling)
    down, up = (len(fabric.links_of(kind)) for kind in (LinkKind.SERVER_LEAF, LinkKind.LEAF_SPINE))
    found = counts(fabric)
    assert down == 64 * 8 * 2
    assert found["MPO-12 OM4 1:2 splitter fibre 30 m"] == down // 2
    assert found["SR 200G single-port (2 lanes)"] == down
    assert found["2x400G SR module (2 ports a cage)"] == down // 4 + 2 * up  # uplinks of 800G, a cage at each end
    assert found["MPO-12 OM4 fibre 30 m"] == 2 * up
    rows = {row.kind: row.part for row in cable_rows(fabric)}
    assert rows["server_leaf"] == (
        "SR 200G single-port (2 lanes) + MPO-12 OM4 1:2 splitter fibre + 2x400G SR module (2 ports a cage)"
    )


def test_links_split_at_both_ends_are_two_splitters_and_couplers() -> None:
    cabling = {"cabling": {"server_leaf": "30m", "leaf_spine": "30m"}}
    fabric = fabric_of("leaf_spine", 32, nic="200G", link_rate="200G", top=cabling)
    up = fabric.links[fabric.links_of(LinkKind.LEAF_SPINE)]
    per_pair = fabric.facts["links_per_leaf_spine_pair"]
    found = counts(fabric)
    if per_pair % 2:
        assert found["MPO-12 coupler"] == len(up)
        assert found["MPO-12 OM4 1:2 splitter fibre 15 m"] == len(up)  # half a link each at both ends, two links each
    else:
        assert found["MPO-12 OM4 fibre 30 m"] == len(up) // 2


def test_wished_copper_that_no_cable_of_that_shape_carries_is_an_error() -> None:
    wish = {"cabling": {"leaf_spine": {"length": "1m", "medium": "dac"}}}
    site = {"name": "synthetic", "transport": "infiniband", "servers": [{"model": "hgx-h100", "count": 64}], **wish}
    fabric = build(Site.model_validate({**site, "fabric": {"family": "rail_optimized", "switch": "qm9700"}}))
    pairs = {(int(link["a"]), int(link["b"])) for link in fabric.links[fabric.links_of(LinkKind.LEAF_SPINE)]}
    shared = fabric.facts["links_per_leaf_spine_pair"]
    assert len(pairs) * shared == len(fabric.links_of(LinkKind.LEAF_SPINE))
    assert ("EW-FAB-044" in codes(fabric)) == (shared % 2 == 1)


def test_parts_of_links_follow_the_links() -> None:
    fabric = FABRICS["rails on twin cages"]()
    assert len(link_parts(fabric)) == len(fabric.links)
    kinds = fabric.nodes["kind"][fabric.ports["node"]]
    mine = fabric.ports[kinds == NodeKind.SERVER][:8]
    assert mine["cage"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert mine["lane"].tolist() == [0, 4] * 4
    assert [row.a_port for row in cable_rows(fabric)[:3]] == ["nic0", "nic1", "nic2"]
