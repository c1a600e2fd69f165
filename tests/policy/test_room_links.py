"""PFC that ends at a room link: no pause, no headroom, the same class; inside the rooms nothing changes."""

import pytest

from eastwest.policy import class_path, dangling
from eastwest.policy.settings import DeviceSettings, PortSettings
from tests.plan.wishes import decision, plan_of, rooms
from tests.policy.sites import policy_of

ROOMS = [{"name": "east"}, {"name": "west"}]
SERVERS = [{"name": n, "model": "hgx-h100", "count": 4, "room": room} for n, room in (("e", "east"), ("w", "west"))]


def link(**more):
    return {"between": ["east", "west"], "distance": "10km", "count": 8, "rate": "400G", **more}


def ports(*links) -> list[tuple[DeviceSettings, PortSettings]]:
    policy = policy_of(servers=SERVERS, rooms=ROOMS, room_links=list(links))
    return [(device, port) for device in policy.devices() for port in device.ports if port.enabled]


@pytest.mark.parametrize("boxes", [[], [{"name": "mux", "kind": "wan"}]])
def test_where_pfc_ends_both_ends_stop_pausing_and_keep_no_headroom(boxes) -> None:
    seen = {"room": set(), "inside": set()}
    for device, port in ports(link(pfc=False, boxes=boxes)):
        path = class_path(device, port, 26)
        assert port.pfc is not None
        assert dangling(device) == ()
        assert path.ecn is not None
        kind = "room" if port.faces == "room" else "inside"
        seen[kind].add((path.priority, path.pauses, bool(port.watched), port.pfc.mode, bool(port.priority_groups)))
        if kind == "room":
            assert path.headroom is None or not path.headroom.lossless
    assert seen["inside"] == {(3, True, True, "on", True)}
    assert seen["room"] == {(3, False, False, "off", False)}


@pytest.mark.parametrize("pfc", [None, True])
def test_without_the_wish_pfc_crosses_as_before(pfc) -> None:
    assert all(class_path(device, port, 26).pauses for device, port in ports(link(pfc=pfc)))


def test_one_link_of_two_may_end_pfc() -> None:
    """Rooms in a row, 300 m and 10 km apart: only the far link ends PFC, though both run at 400G."""
    three = [*ROOMS, {"name": "far"}]
    servers = [*SERVERS, {"name": "f", "model": "hgx-h100", "count": 4, "room": "far"}]
    near, far = link(distance="300m"), link(between=["west", "far"], pfc=False)
    policy = policy_of(servers=servers, rooms=three, room_links=[near, far])
    pauses = {
        (device.name.split("-")[0], (port.peer or "").split("-")[0]): class_path(device, port, 26).pauses
        for device in policy.devices()
        for port in device.ports
        if port.enabled and port.faces == "room"
    }
    assert pauses == {("east", "west"): True, ("west", "east"): True, ("west", "far"): False, ("far", "west"): False}


def test_the_plan_says_so_and_no_longer_warns() -> None:
    before = plan_of(rooms("10km"))
    after = plan_of(rooms("10km").replace("distance:", "pfc: false, distance:"))
    codes = [{f.code for f in plan.findings} for plan in (before, after)]
    assert {"EW-ADV-001", "EW-ADV-012"} <= codes[0]
    assert not {"EW-ADV-001", "EW-ADV-012"} & codes[1]
    made = decision(after, "policy.pfc.east-west")
    assert (made.value, made.source) == ("off", "site file: room_links[0].pfc")
    assert decision(before, "policy.pfc.east-west").value == "on"
    domain, whole = decision(after, "pfc.domain"), decision(before, "pfc.domain")
    assert domain.value == (whole.value - 2 * 16) // 2  # one of two equal rooms, without its 16 room ports
    assert "1 room:" in domain.because
    assert not any(d.id == "distance.east-west.pfc_ends_at" for d in after.decisions)
