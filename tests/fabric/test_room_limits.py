"""Where two rooms end: ports that room links take, and servers that they carry at the wished ratio."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.fabric.bottleneck import bottleneck
from eastwest.fabric.tables import Fabric
from eastwest.workload.ledger import Grid
from tests.fabric.sites import fabric_of, row, two_rooms

GPUS = 8


def joined(servers: int = 8, count: int = 8, ratio: str | None = None, **more) -> Fabric:
    link = {"between": ["a", "b"], "distance": "2km", "count": count, "rate": "400G"}
    link |= {"oversubscription": ratio} if ratio else {}
    return fabric_of("leaf_spine", servers, top={"rooms": [{"name": "a"}, {"name": "b"}], "room_links": [link]}, **more)


def test_ports_of_room_links_are_in_the_formula() -> None:
    """64 links over 32 spines of a full room take 2 ports each: 2 x (64 - 2) leaves of 4 servers."""
    fabric = joined(count=64)
    decision = next(row for row in fabric.decisions if row.id == "fabric.max_gpus")
    assert fabric.max_gpus == decision.value == 2 * (64 - 2) * 4 * GPUS
    assert decision.inputs["kept_ports"] == 2
    assert "kept_ports" in decision.formula


@pytest.mark.parametrize(("ratio", "most"), [("1:1", 8), ("2:1", 16), ("4:1", 32)])
def test_the_wished_ratio_ends_the_smaller_room(ratio: str, most: int) -> None:
    """64 x 400G carry 8 servers of 8 NICs at 1:1, 16 at 2:1; the other room ends at its ports."""
    fabric = joined(count=64, ratio=ratio)
    decision = next(row for row in fabric.decisions if row.id == "fabric.max_gpus")
    assert fabric.max_gpus == ((64 - 2) * 4 + most) * GPUS
    assert decision.inputs["most_servers_b"] == most
    assert "wished ratio" in decision.because


@given(st.integers(2, 30), st.integers(1, 64), st.integers(1, 4))
def test_what_is_planned_is_never_above_where_it_ends(servers: int, count: int, ratio: int) -> None:
    fabric = joined(servers, count, f"{ratio}:1")
    assert fabric.n_gpus <= fabric.max_gpus <= joined(servers, count).max_gpus


def twice(ratio: str | None = None, counts: tuple[int, ...] = (8, 8), **more) -> Fabric:
    links = [
        {"between": between, "distance": "2km", "count": count, "rate": "400G"}
        | ({"oversubscription": ratio} if ratio else {})
        for between, count in zip((["a", "b"], ["b", "a"]), counts, strict=False)
    ]
    links[0] |= more.pop("first", {})
    return fabric_of("leaf_spine", 8, top={"rooms": [{"name": "a"}, {"name": "b"}], "room_links": links}, **more)


def test_two_links_between_the_same_rooms_carry_together() -> None:
    """4 servers x 8 x 400G a room over 2 x 8 x 400G: 2:1, not the 4:1 of either link."""
    fabric = twice()
    assert fabric.oversubscription["room"] == 2.0 == joined(count=16).oversubscription["room"]
    assert "EW-FAB-003" not in {finding.code for finding in twice("2:1").findings}
    short = [finding for finding in twice("1:1").findings if finding.code == "EW-FAB-003"]
    assert [(finding.observed, finding.path) for finding in short] == [(2.0, "room_links[0].oversubscription")]


def test_two_links_end_the_room_together() -> None:
    one = joined(count=64, ratio="2:1")
    assert twice("2:1", (32, 32)).max_gpus == one.max_gpus


def test_a_box_in_one_of_two_links_limits_the_share_of_that_link() -> None:
    """200G on 8 of 16 cables hold back half of the bytes, as 400G on all 16 hold back all."""
    grid, gpus, moved = Grid(tp=8, dp=8), np.arange(64), row("dp", 8, "all_reduce", 10**9)
    box = {"name": "fw", "kind": "firewall"}
    one_of_two = bottleneck(twice(first={"boxes": [box | {"rate_limit": "200G"}]}), grid, gpus, moved)
    only = bottleneck(two_rooms(8, (box | {"rate_limit": "400G"},), 16), grid, gpus, moved)
    assert one_of_two.link == only.link == "room"
    assert one_of_two.network_s == pytest.approx(only.network_s)
