"""Growth: closed forms of what recabling moves, phases that never move a cable, ids and ports that stay, what falls
short later.
"""

import csv
import io
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eastwest
from eastwest.fabric.cabling import cable_rows
from eastwest.fabric.phases import restrict
from eastwest.fabric.tables import LinkKind, NodeKind
from eastwest.fabric.topology import build
from eastwest.plan.document import plan_document, plan_files
from eastwest.plan.growth import plan_growth, site_with
from eastwest.plan.growth_cables import diff_cables
from eastwest.plan.growth_rows import growth_json
from eastwest.plan.price_book import book_of
from eastwest.plan.prices import parse_prices
from tests.fabric.sites import fabric_of, site
from tests.plan.sites import pretrain_site


def grown(family, servers, *steps, prices=None, **more):
    wish = {"growth": {"steps": [{"name": f"phase{i}", "servers": n} for i, n in enumerate(steps, 2)]}}
    one = site(family, servers, top=wish | more.pop("top", {}), **more)
    return plan_growth(one, build(one), prices)


def test_without_steps_there_is_no_growth():
    one = site("leaf_spine", 8)
    assert plan_growth(one, build(one)) is None


def test_one_unit_to_four_keeps_two_of_eight_links_a_pair():
    """64 x 400G rails: 1 unit has 8 leaves x 4 spines x 8 links, 4 units have 32 leaves x 16 spines x 2 links. A leaf
    keeps 2 links to each of the 4 spines it has and moves 6 of 8: 8 leaves x 4 spines x 6 = 192 of 256.
    """
    growth = grown("rail_optimized", 32, 128)
    alone, last = (phase.recable.totals.switches for phase in growth.phases)
    assert (alone["leaf"], alone["spine"]) == (8, 4)
    assert (last["leaf"], last["spine"]) == (32, 16)
    assert growth.moved == 8 * 4 * (8 - 2) == 192
    assert growth.strategy == "reserve_now"
    assert growth.extra_switches == 16 - 4
    today = growth.today
    assert today.nodes_of(NodeKind.SPINE).size == 16
    up = today.links[today.links_of(LinkKind.LEAF_SPINE)]
    pairs = Counter(zip(up["a"].tolist(), up["b"].tolist(), strict=True))
    assert set(pairs.values()) == {2}
    assert len(pairs) == 8 * 16


def test_growing_in_two_steps_moves_cables_twice():
    """1 -> 2 units: 8 leaves x 4 spines x (8 - 4) = 128; 2 -> 4 units: 16 leaves x 8 spines x (4 - 2) = 256."""
    growth = grown("rail_optimized", 32, 64, 128)
    moved = [len(phase.recable.diff.moved) for phase in growth.phases[1:]]
    assert moved == [128, 256]
    outage = growth.phases[2].recable.outage
    assert (outage.leaves, outage.servers_behind, outage.servers) == (16, 64, 0)


def book(**prices):
    lines = "".join(f'  "{part}": {price}\n' for part, price in prices.items())
    return book_of(parse_prices(f"currency: EUR\nprices:\n{lines}", "p.yaml"))


def test_prices_say_what_both_ways_cost_and_how_much_has_no_price():
    growth = grown("rail_optimized", 32, 128, prices=book(**{"64x400G": 100.0}))
    assert [spent.price for spent in growth.costs.reserve_now] == [(8 + 16) * 100.0, (32 + 16) * 100.0]
    assert [spent.price for spent in growth.costs.recable_later] == [(8 + 4) * 100.0, (32 + 16) * 100.0]
    assert (growth.costs.early, growth.costs.over_all) == (12 * 100.0, 0.0)
    assert growth.costs.unpriced > 0
    rows = growth_json(growth)
    assert rows[0]["cost"]["so_far"] == 2400.0
    assert rows[0]["alternative"]["cost"]["so_far"] == 1200.0
    assert growth_json(grown("rail_optimized", 32, 128))[0]["cost"] is None


def test_parts_that_recabling_bought_and_uses_no_more_are_paid_for():
    names = {name for phase in grown("rail_optimized", 32, 128).phases for name in phase.recable.totals.pieces}
    growth = grown("rail_optimized", 32, 128, prices=book(**dict.fromkeys(names, 1)))
    first, last = (phase.recable.totals.pieces for phase in growth.phases)
    left_over = (first - last).total()
    assert left_over > 0
    assert growth.costs.left_over.price == left_over
    assert growth.costs.recable_later[1].price == last.total() + left_over


def naive_diff(before, after):
    """Kept and moved cables counted pair by pair, devices named by kind, room, plane and number."""

    def named(fabric):
        seen, names = Counter(), []
        for node in fabric.nodes:
            key = int(node["kind"]), int(node["room"]), int(node["plane"])
            names.append((*key, seen[key]))
            seen[key] += 1
        return Counter(
            (int(link["kind"]), int(link["rate_bps"]), names[link["a"]], names[link["b"]]) for link in fabric.links
        )

    old, new = named(before), named(after)
    kept = old & new
    gone, come = Counter(), Counter()
    for (kind, _, a, _), n in (old - kept).items():
        gone[kind, a] += n
    for (kind, _, a, _), n in (new - kept).items():
        come[kind, a] += n
    moved = gone & come
    return kept.total(), moved.total(), (come - moved).total(), (gone - moved).total()


@pytest.mark.parametrize("family", ["leaf_spine", "rail_optimized", "three_tier", "dual_plane", "rail_only"])
@pytest.mark.parametrize(("few", "many"), [(3, 9), (8, 8), (9, 30)])
def test_the_diff_counts_what_a_plain_count_counts(family, few, many):
    before, after = (fabric_of(family, n, switch="16x400G", nics=2) for n in (few, many))
    diff = diff_cables(before, after)
    counts = tuple(len(part) for part in (diff.kept, diff.moved, diff.added, diff.removed))
    assert counts == naive_diff(before, after)
    old = np.concatenate([diff.kept[:, 0], diff.moved[:, 0], diff.removed])
    new = np.concatenate([diff.kept[:, 1], diff.moved[:, 1], diff.added])
    assert sorted(old) == list(range(len(before.links)))
    assert sorted(new) == list(range(len(after.links)))


@settings(max_examples=20, deadline=None)
@given(
    family=st.sampled_from(["leaf_spine", "rail_optimized", "three_tier", "dual_plane", "dual_tor"]),
    servers=st.integers(1, 20),
    factor=st.integers(2, 4),
    nics=st.sampled_from([2, 4]),
    ratio=st.sampled_from(["1:1", "2:1"]),
)
def test_a_reserved_design_never_moves_a_cable_or_a_port(family, servers, factor, nics, ratio):
    growth = grown(
        family, servers, servers * factor, servers * factor + 5, switch="32x400G", nics=nics, oversubscription=ratio
    )
    inside = [phase.reserve for phase in growth.phases if phase.reserve]
    for before, step in pairwise(inside):
        assert len(step.diff.moved) == len(step.diff.removed) == 0
        assert len(step.diff.added) == len(step.fabric.links) - len(before.fabric.links)
        ends = [_ends(one.fabric) for one in (before, step)]
        assert ends[0] <= ends[1]
        assert before.totals.n_switches <= step.totals.n_switches


def _ends(fabric):
    return {(c.a_device, c.a_port, c.b_device, c.b_port, c.length_m, c.medium) for c in cable_rows(fabric)}


@settings(max_examples=20, deadline=None)
@given(
    family=st.sampled_from(["leaf_spine", "rail_optimized", "three_tier", "dual_plane", "dual_tor", "rail_only"]),
    servers=st.integers(2, 40),
    share=st.floats(0.1, 1.0),
)
def test_a_phase_is_a_sound_fabric(family, servers, share):
    whole = fabric_of(family, servers, switch="32x400G", nics=2)
    part = restrict(whole, [max(1, int(servers * share))])
    assert part.n_servers == max(1, int(servers * share))
    for side in ("a", "b"):
        port = part.ports[part.links[f"{side}_port"]]
        assert (port["node"] == part.links[side]).all()
        assert (port["link"] == np.arange(len(part.links))).all()
    first = part.nodes["first_port"]
    assert (np.bincount(part.ports["node"], minlength=len(part.nodes)) == part.nodes["n_ports"]).all()
    assert (part.ports["node"][first] == np.arange(len(part.nodes))).all()
    for tier, count in part.tier_ports.items():
        assert count.used <= whole.tier_ports[tier].used
    leaves = part.links[part.links["kind"] == LinkKind.LEAF_SPINE]
    assert set(np.bincount(leaves["a"])[part.nodes_of(NodeKind.LEAF)].tolist() if len(leaves) else []) <= set(
        np.bincount(whole.links["a"][whole.links_of(LinkKind.LEAF_SPINE)]).tolist()
    )


def test_cores_wait_for_the_second_pod():
    whole = fabric_of("three_tier", 64, switch="16x400G", nics=2)
    per_pod = whole.facts["servers_per_pod"]
    assert whole.pods > 1
    assert restrict(whole, [per_pod]).nodes_of(NodeKind.CORE).size == 0
    both = restrict(whole, [per_pod + 1])
    assert both.nodes_of(NodeKind.CORE).size == whole.nodes_of(NodeKind.CORE).size


def test_groups_of_servers_grow_in_proportion():
    text = pretrain_site(8).replace("count: 8}", "count: 6}\n  - {model: dgx-h100, name: late, count: 2}")
    one = eastwest.parse_site(text, "site.yaml").site
    assert [group.count for group in site_with(one, 16).servers] == [12, 4]
    assert [group.count for group in site_with(one, 9).servers] == [7, 2]
    assert sum(group.count for group in site_with(one, 101).servers) == 101


def growing_site(*steps, servers=32, family="rail_optimized", more=""):
    rows = "".join(f"    - {{name: phase{i}, servers: {n}}}\n" for i, n in enumerate(steps, 2))
    return pretrain_site(servers, family=family) + f"growth:\n  steps:\n{rows}{more}"


def plan_of(text):
    return eastwest.make_plan(eastwest.parse_site(text, "site.yaml"))


def test_the_plan_builds_today_inside_the_last_phase():
    plan = plan_of(growing_site(64, 128))
    document = plan_document(plan)
    assert (document["fabric"]["leaves"], document["fabric"]["spines"]) == (8, 16)
    assert next(d for d in plan.decisions if d.id == "fabric.spines").value == 16
    assert next(d for d in plan.decisions if d.id == "fabric.leaves").value == 8
    strategy = next(d for d in plan.decisions if d.id == "growth.strategy")
    assert strategy.value == "reserve_now"
    assert "384" in strategy.alternatives[0].rejected_because
    assert [f.severity for f in plan.findings if f.code == "EW-GRO-003"] == ["info"]
    assert not [f for f in plan.findings if f.code == "EW-GRO-002"]
    rows = document["growth"]
    assert [row["phase"] for row in rows] == ["today", "phase2", "phase3"]
    assert all(row["cables"]["moved"] == 0 for row in rows)
    assert [row["alternative"]["cables"]["moved"] for row in rows] == [0, 128, 256]
    reserved = rows[0]["reserved"]
    assert reserved["ports_now"]["spine"] == 16 * 64 - 8 * 32
    assert reserved["switches_later"] == {"leaf": 24, "spine": 0}
    assert reserved["power_now_w"] > 96 * 10_000  # 96 servers of 10.2 kW


def test_growth_csv_continues_the_ids_of_cables_csv():
    plan = plan_of(growing_site(64, 128))
    files = plan_files(plan, plan_document(plan), "")
    today, later = (list(csv.DictReader(io.StringIO(files[name]))) for name in ("cables.csv", "growth.csv"))
    ids = [row["cable_id"] for row in today] + [row["cable_id"] for row in later]
    assert ids == [f"C{number:04d}" for number in range(1, len(ids) + 1)]
    assert {row["action"] for row in later} == {"added"}
    ends = [(row[f"{side}_device"], row[f"{side}_port"]) for row in (*today, *later) for side in "ab"]
    assert len(ends) == len(set(ends))
    assert len(ids) == 128 * 8 * 2


def test_recabling_is_said_with_its_outage_when_nothing_can_be_reserved():
    racks = "rooms: [{name: a, racks: [{count: 13, servers: 4, power: 60kW}]}]\n"
    plan = plan_of(growing_site(128, more=racks))
    assert plan.growth.growth.strategy == "recable_later"
    codes = {f.code: f for f in plan.findings}
    assert codes["EW-GRO-004"].observed > 0
    assert codes["EW-GRO-002"].observed == 192
    assert codes["EW-GRO-002"].args["servers_behind"] == 32
    assert codes["EW-GRO-002"].severity == "warning"
    later = list(csv.DictReader(io.StringIO(plan_files(plan, plan_document(plan), "")["growth.csv"])))
    moved = [row for row in later if row["action"] == "moved"]
    assert len(moved) == 192
    assert all(row["from_device"] and row["from_device"] != row["b_device"] for row in moved)
    assert len({row["cable_id"] for row in later}) == len(later)


def test_a_step_beyond_the_design_is_said_and_the_others_are_planned():
    plan = plan_of(growing_site(128, 4000, family="rail_optimized"))
    rows = plan_document(plan)["growth"]
    if all(row["fits"] for row in rows):
        pytest.fail("4,000 servers must not fit 64-port switches in two tiers")
    assert [row["fits"] for row in rows] == [True, True, False]
    assert [f.subject for f in plan.findings if f.code == "EW-GRO-001"] == ["phase3"]
    assert plan.growth.growth.strategy == "reserve_now"


def test_growth_is_deterministic():
    first, second = (growth_json(grown("rail_optimized", 32, 64, 128)) for _ in range(2))
    assert first == second


def test_direct_cables_use_every_nic_today_and_are_laid_anew_later():
    growth = grown("direct", 2, 4, switch=None)
    assert growth.strategy == "recable_later"
    assert len(growth.today.links) == 8


def _pairs_by_hand(before, after):
    """Dictionaries of devices and of cables, first with first: what `diff_cables` does with arrays."""

    def devices(fabric):
        seen: Counter = Counter()
        for row in fabric.nodes:
            key = (int(row["kind"]), int(row["room"]), int(row["plane"]))
            yield (*key, seen[key])
            seen[key] += 1

    def cables(fabric):
        names = list(devices(fabric))
        return [(int(r["kind"]), names[r["a"]], int(r["rate_bps"]), names[r["b"]]) for r in fabric.links]

    old, new = cables(before), cables(after)
    left = [dict(enumerate(old)), dict(enumerate(new))]
    found = []
    for cut in (slice(None), slice(2)):
        waiting: dict = {}
        for number, cable in left[1].items():
            waiting.setdefault(cable[cut], []).append(number)
        pairs = [(i, waiting[cable[cut]].pop(0)) for i, cable in left[0].items() if waiting.get(cable[cut])]
        for i, j in pairs:
            del left[0][i], left[1][j]
        found.append(set(pairs))
    return (*found, set(left[1]), set(left[0]))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 80), st.sampled_from(["leaf_spine", "rail_optimized", "multi_plane"]))
def test_arrays_pair_cables_as_dictionaries_do(today, later, family):
    before, after = build(site(family, today)), build(site(family, later))
    diff = diff_cables(before, after)
    kept, moved, added, removed = _pairs_by_hand(before, after)
    assert set(map(tuple, diff.kept.tolist())) == kept
    assert set(map(tuple, diff.moved.tolist())) == moved
    assert (set(diff.added.tolist()), set(diff.removed.tolist())) == (added, removed)


def test_no_leaf_is_bought_today_for_a_controller_that_another_leaf_can_take():
    growth = grown("leaf_spine", 8, 32, servers_per_leaf=3, controllers=[{"name": "monitor", "links": 1}])
    assert growth.phases[0].reserve.totals.switches["leaf"] == 3
    assert growth.phases[0].reserve.totals.switches["leaf"] == growth.phases[0].recable.totals.switches["leaf"]


def test_a_controller_on_a_leaf_that_is_there_for_it_alone_does_not_seem_to_move():
    """Leaves 0 and 1 hold today's servers and have no free port; the controller's leaf is the eighth of the last
    phase and the third of today.
    """
    growth = grown("leaf_spine", 8, 31, controllers=[{"name": "monitor", "links": 1}])
    inside = [phase.reserve for phase in growth.phases]
    assert inside[0].totals.switches["leaf"] == 3
    assert (len(inside[1].diff.moved), len(inside[1].diff.removed)) == (0, 0)


def test_a_step_that_does_not_fit_fails_the_plan():
    plan = plan_of(growing_site(4000))
    assert [f.severity for f in plan.findings if f.code == "EW-GRO-001"] == ["error"]
    assert plan.verdict == "fail"


def test_the_reason_does_not_promise_what_the_steps_do_not_keep():
    plan = plan_of(growing_site(64, 128))
    strategy = next(d for d in plan.decisions if d.id == "growth.strategy")
    assert strategy.because.startswith("no live cable moves")
    assert plan.growth.growth.touched == 0
