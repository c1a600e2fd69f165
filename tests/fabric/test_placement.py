"""Where ranks sit and which tier each row crosses, by hand-counted cases."""

import numpy as np
import pytest

from eastwest.fabric.placement import ORDERS, loads, place
from eastwest.fabric.tables import LinkKind
from eastwest.workload.ledger import Grid, Ledger
from tests.fabric.sites import fabric_of, ledger, row, two_rooms

FIREWALL = {"name": "fw", "kind": "firewall"}
LIMITER = {"name": "wan", "kind": "wan", "rate_limit": "100G"}


def _tiers(placement: object) -> dict[str, str]:
    return {r.traffic: r.tier for r in placement.rows}  # type: ignore[attr-defined]


def test_tp_stays_in_the_server_and_dp_on_its_rail() -> None:
    account = ledger(Grid(tp=8, dp=4), row("tp", 8, "all_reduce", 700), row("dp", 4, "all_reduce", 900))
    leaf = place(fabric_of("rail_optimized", 4), account)
    assert _tiers(leaf) == {"tp_all_reduce": "scale_up", "dp_all_reduce": "leaf"}
    assert leaf.rows[1].tier_bytes == {"leaf": 900 * 32}
    assert leaf.findings == ()


def test_dp_beyond_one_leaf_crosses_a_spine_on_its_edges_only() -> None:
    # leaf_spine, 4 servers a leaf: a ring over 8 servers in two leaves has 2 of its 8 edges between the leaves
    account = ledger(Grid(tp=8, dp=8), row("dp", 8, "all_reduce", 1000))
    placement = place(fabric_of("leaf_spine", 8), account)
    assert placement.rows[0].tier == "spine"
    assert placement.rows[0].tier_bytes == {"leaf": 6 * 8 * 1000, "spine": 2 * 8 * 1000}


def test_a_ring_over_servers_hands_over_on_all_nics() -> None:
    # 16 GPUs in 2 servers: 8 rings; each GPU sends 1/8 of its bytes to its like in the other server
    fabric = fabric_of("rail_optimized", 2)
    account = ledger(Grid(dp=16), row("dp", 16, "all_reduce", 800))
    placement = place(fabric, account)
    assert placement.rows[0].tier_bytes == {"scale_up": 16 * 700, "leaf": 16 * 100}
    load = loads(fabric, placement, account)
    assert (load[fabric.links_of(LinkKind.SERVER_LEAF)] == 100).all()
    assert (load[fabric.links_of(LinkKind.LEAF_SPINE)] == 0).all()


def test_all_to_all_keeps_its_rail_by_nvlink() -> None:
    account = ledger(Grid(dp=16, ep=16), row("ep", 16, "all_to_all", 1500))
    placement = place(fabric_of("rail_optimized", 2), account)
    assert placement.rows[0].tier_bytes == {"scale_up": 16 * 700, "leaf": 16 * 800}


def test_pipeline_directions_and_ends() -> None:
    rows = (row("pp", 4, "send_recv", 10, direction="forward"), row("pp", 4, "send_recv", 10, direction="backward"))
    fabric = fabric_of("leaf_spine", 4)
    account = ledger(Grid(tp=8, pp=4), *rows)
    placement = place(fabric, account)
    assert [r.tier_bytes for r in placement.rows] == [{"leaf": 240}, {"leaf": 240}]
    up = loads(fabric, placement, account)[fabric.links_of(LinkKind.SERVER_LEAF), 0].reshape(4, 8)
    assert up.tolist() == [[10] * 8, [20] * 8, [20] * 8, [10] * 8]
    wrapped = place(fabric, ledger(Grid(tp=8, pp=4), row("pp", 4, "send_recv", 10, wraps=True)))
    assert wrapped.rows[0].tier_bytes == {"leaf": 320}


def test_only_data_parallel_crosses_rooms() -> None:
    rows = (row("dp", 4, "all_reduce", 1000), row("pp", 2, "send_recv", 10, direction="forward"))
    placement = place(two_rooms(8), ledger(Grid(tp=8, pp=2, dp=4), *rows))
    assert placement.orders["job"] == ORDERS[1]
    assert _tiers(placement) == {"dp_all_reduce": "room", "pp_send_recv": "leaf"}
    assert placement.findings == ()
    assert placement.decisions[0].alternatives[0].value == ORDERS[0]


def test_a_job_that_fits_stays_in_one_room() -> None:
    fabric = two_rooms(8)
    one = ledger(Grid(tp=8, dp=3), row("dp", 3, "all_reduce", 1000)).jobs[0]
    placement = place(fabric, Ledger((one, _renamed(one, "second"))))
    assert placement.gpus["job"].tolist() == list(range(24))
    assert placement.gpus["second"].tolist() == list(range(32, 56))
    assert {r.tier for r in placement.rows} == {"leaf"}


def _renamed(job: object, name: str) -> object:
    from dataclasses import replace

    return replace(job, name=name)  # type: ignore[type-var]


def test_small_jobs_share_a_server_without_crossing_one() -> None:
    from dataclasses import replace

    job = ledger(Grid(tp=3), row("tp", 3, "all_reduce", 9)).jobs[0]
    jobs = tuple(replace(job, name=name) for name in ("a", "b", "c"))
    placement = place(fabric_of("leaf_spine", 2), Ledger(jobs))
    assert [placement.gpus[name].tolist() for name in "abc"] == [[0, 1, 2], [3, 4, 5], [8, 9, 10]]
    assert {r.tier for r in placement.rows} == {"scale_up"}


def test_tp_across_servers_is_an_error() -> None:
    account = ledger(Grid(tp=16, dp=2), row("tp", 16, "all_reduce", 1600))
    placement = place(fabric_of("leaf_spine", 4), account)
    assert [(f.code, f.severity, f.observed) for f in placement.findings] == [("EW-FAB-013", "error", 2)]
    assert placement.rows[0].tier == "leaf"


def test_tp_across_rooms_is_an_error() -> None:
    account = ledger(Grid(tp=16), row("tp", 16, "all_reduce", 1600))
    placement = place(two_rooms(2), account)
    assert [(f.code, f.severity) for f in placement.findings] == [("EW-FAB-014", "error")]


@pytest.mark.parametrize(("box", "code"), [(FIREWALL, "EW-FAB-011"), (LIMITER, "EW-FAB-012")])
def test_boxes_in_a_training_path(box: dict[str, object], code: str) -> None:
    rows = (row("dp", 8, "all_reduce", 1000),)
    fabric = two_rooms(8, (box,))
    assert [(f.code, f.severity) for f in place(fabric, ledger(Grid(tp=8, dp=8), *rows)).findings] == [(code, "error")]
    inside = ledger(Grid(tp=8, dp=4), row("dp", 4, "all_reduce", 1000))
    assert place(fabric, inside).findings == ()
    serving = ledger(Grid(tp=8, dp=8), *rows, kind="inference")
    assert place(fabric, serving).findings[0].severity == "warning"


def test_more_gpus_than_there_are() -> None:
    placement = place(fabric_of("leaf_spine", 1), ledger(Grid(dp=16), row("dp", 16, "all_reduce", 1000)))
    assert [(f.code, f.expected, f.observed) for f in placement.findings] == [("EW-FAB-020", 8, 16)]


def test_checkpoint_writes_leave_for_storage() -> None:
    placement = place(fabric_of("leaf_spine", 1), ledger(Grid(dp=8), row("all", 8, "write", 1000)))
    assert placement.rows[0].tier == "storage"
    assert placement.rows[0].tier_bytes == {"storage": 8000}


def test_fewer_nics_than_gpus_share_them() -> None:
    fabric = fabric_of("leaf_spine", 2, nics=4)
    account = ledger(Grid(tp=8, dp=2), row("dp", 2, "all_reduce", 1000))
    load = loads(fabric, place(fabric, account), account)
    assert np.array_equal(load[fabric.links_of(LinkKind.SERVER_LEAF), 0], np.full(8, 2000.0))


def test_a_job_that_fits_stays_in_one_pod() -> None:
    fabric = fabric_of("three_tier", 64, rail_optimized=True, servers_per_pod=32)
    one = ledger(Grid(tp=8, dp=20), row("dp", 20, "all_reduce", 1000)).jobs[0]
    placement = place(fabric, Ledger((one, _renamed(one, "second"))))
    assert placement.gpus["job"].tolist() == list(range(160))
    assert placement.gpus["second"].tolist() == list(range(256, 416))
    assert {r.tier for r in placement.rows} == {"leaf"}


def test_a_job_larger_than_a_pod_crosses_cores_once_each_way() -> None:
    fabric = fabric_of("three_tier", 64, rail_optimized=True, servers_per_pod=32)
    account = ledger(Grid(tp=8, dp=64), row("dp", 64, "all_reduce", 1000))
    placement = place(fabric, account)
    assert placement.rows[0].tier_bytes == {"leaf": 62 * 8 * 1000, "core": 2 * 8 * 1000}
    assert loads(fabric, placement, account)[fabric.links_of(LinkKind.SPINE_CORE), 0].sum() == 2 * 8 * 1000


def test_an_all_to_all_of_thousands_is_not_listed_pair_by_pair() -> None:
    fabric = fabric_of("three_tier", 512, rail_optimized=True)
    account = ledger(Grid(dp=4096, ep=4096), row("ep", 4096, "all_to_all", 4095))
    placement = place(fabric, account)
    # one byte to each other GPU: 7 in the server, 31 other servers under the leaf, 96 more in the pod, 384 beyond
    assert placement.rows[0].tier_bytes == {
        "scale_up": 4096 * 7,
        "leaf": 4096 * 31 * 8,
        "spine": 4096 * 96 * 8,
        "core": 4096 * 384 * 8,
    }
    load = loads(fabric, placement, account)
    assert np.allclose(load[fabric.links_of(LinkKind.SERVER_LEAF)], 4088)
    assert np.allclose(load[fabric.links_of(LinkKind.SPINE_CORE)], 384 * 8)
