"""The tree of schedulers says what the cabling says."""

import numpy as np

from eastwest.fabric.tables import NodeKind
from eastwest.plan.exports.locality import locality, members, parents, scale_up_domains
from tests.plan.exports.plans import plan_of


def levels_of(name):
    plan = plan_of(name)
    return plan, locality(plan.fabric, plan.site.name)


def test_one_leaf_keeps_its_own_name():
    plan, levels = levels_of("leaf_spine")
    assert [level.joined_by for level in levels] == ["leaf", "spine"]
    assert set(levels[0].names) == {plan.fabric.names[i] for i in plan.fabric.nodes_of(NodeKind.LEAF)}
    assert levels[1].names == ("room-1",)


def test_rails_make_one_group_of_eight_leaves():
    _, levels = levels_of("rails")
    # 64-port leaves at 1:1: 32 servers a group, so 40 servers make two groups of 8 leaves
    assert [len(below) for below in members(levels[0].group)] == [32, 8]
    assert levels[0].names == ("group-1", "group-2")
    assert [len(leaves) for leaves in levels[0].leaves] == [8, 8]
    assert parents(levels[0], levels[1]) == [0, 0]


def test_planes_are_no_groups():
    _, levels = levels_of("planes")
    assert len(levels[0].names) == 1
    assert len(levels[0].leaves[0]) == 16  # 8 rails in 2 planes


def test_rooms_stand_below_the_link_that_joins_them():
    plan, levels = levels_of("rooms")
    assert [level.joined_by for level in levels] == ["leaf", "spine", "room"]
    assert [len(level.names) for level in levels] == [12, 2, 1]  # 32 of 64 ports down: 4 servers a leaf
    assert levels[1].names == ("Room.A", "room_b")
    assert levels[2].names == (plan.site.name,)
    rooms = plan.fabric.nodes["room"][plan.fabric.nodes_of(NodeKind.SERVER)]
    assert np.array_equal(levels[1].group, rooms)


def test_a_controller_in_both_rooms_joins_nothing():
    plan, levels = levels_of("hostile")
    controller = plan.fabric.links[plan.fabric.nodes["kind"][plan.fabric.links["a"]] == NodeKind.CONTROLLER]
    assert len(set(plan.fabric.nodes["room"][controller["b"]].tolist())) == 2
    assert [level.joined_by for level in levels] == ["leaf", "room"]  # one leaf a room


def test_a_domain_of_several_servers_is_a_block():
    domains = scale_up_domains(plan_of("domains").fabric)
    assert domains is not None
    assert np.bincount(domains).tolist() == [18, 18]  # 72 GPUs in servers of 4
    assert scale_up_domains(plan_of("rails").fabric) is None
