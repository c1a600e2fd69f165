"""Classes: every mark in exactly one, one lossless priority, control never paused, clashes named."""

from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eastwest.errors import UsageError
from eastwest.policy.classes import (
    RESERVED_PRIORITIES,
    clashes,
    class_of_dscp,
    classes_of,
    lossless_priorities,
    map_of,
    roce_marks,
)
from eastwest.policy.judge import judge_marks
from eastwest.spec.qos import LossRegime, QosWish

REGIMES = [regime for regime in get_args(LossRegime) if regime != "infiniband"]


def wish(**keys: object) -> QosWish:
    return QosWish.model_validate(keys)


@given(
    st.sampled_from(REGIMES),
    st.integers(0, 63),
    st.integers(0, 63),
    st.integers(0, 63),
    st.integers(1, 5),
    st.booleans(),
)
def test_every_dscp_is_in_exactly_one_class(
    regime: LossRegime, dscp: int, cnp: int, inference: int, priority: int, separate: bool
) -> None:
    wished = wish(dscp=dscp, cnp_dscp=cnp, inference_dscp=inference, priority=priority)
    assume(not clashes(wished, separate, regime))
    rows = classes_of(regime, wished, separate)
    counts = [sum(key in row.dscps for row in rows) for key in range(64)]
    assert counts == [1] * 64
    table = map_of(rows)
    for key, row in class_of_dscp(rows).items():
        assert table.dscp_to_tc[key] == row.tc
        assert table.tc_to_queue[row.tc] == row.queue
        assert table.tc_to_pg[row.tc] == row.pg
        assert table.tc_to_priority[row.tc] == row.priority


def test_the_default_is_the_fields_usual_one() -> None:
    rows = {row.name: row for row in classes_of("lossless", wish(), separate_inference=False)}
    assert list(rows) == ["roce", "cnp", "control", "best-effort"]
    assert (rows["roce"].dscps, rows["roce"].priority, rows["roce"].queue, rows["roce"].pg) == ({26}, 3, 3, 3)
    assert (rows["cnp"].dscps, rows["cnp"].priority, rows["cnp"].scheduler) == ({48}, 6, "strict")
    assert lossless_priorities(tuple(rows.values())) == {3}
    assert "BGP and BFD share" in rows["cnp"].because
    assert sum(row.weight or 0 for row in rows.values()) == 100


def test_a_cnp_with_its_own_mark_leaves_control_alone() -> None:
    rows = {row.name: row for row in classes_of("lossless", wish(cnp_dscp=50), separate_inference=False)}
    assert (rows["cnp"].dscps, rows["control"].dscps) == ({50}, {48, 56})
    assert "share" not in rows["cnp"].because


def test_separate_inference_has_its_own_priority() -> None:
    rows = {row.name: row for row in classes_of("lossless", wish(), separate_inference=True)}
    assert (rows["inference"].dscps, rows["inference"].priority) == ({34}, 4)
    assert lossless_priorities(tuple(rows.values())) == {3, 4}
    moved = {row.name: row for row in classes_of("lossless", wish(priority=4), separate_inference=True)}
    assert (moved["roce"].priority, moved["inference"].priority) == (4, 5)


@pytest.mark.parametrize(
    ("regime", "lossless", "ecn"),
    [("lossless", {3}, True), ("ecn-only", set(), True), ("spray-trim", set(), True), ("tcp", set(), False)],
)
def test_what_each_regime_pauses_and_marks(regime: LossRegime, lossless: set[int], ecn: bool) -> None:
    rows = classes_of(regime, wish(), separate_inference=False)
    assert lossless_priorities(rows) == lossless
    assert any(row.ecn for row in rows) is ecn
    assert all(not row.lossless for row in rows if row.priority in RESERVED_PRIORITIES)
    assert any(row.trims for row in rows) is (regime == "spray-trim")


def test_infiniband_has_lanes_instead_of_marks() -> None:
    rows = classes_of("infiniband", wish(), separate_inference=True)
    assert [(row.name, row.service_level, row.virtual_lane) for row in rows] == [
        ("rdma", 0, 0),
        ("inference", 1, 1),
        ("management", 15, 15),
    ]
    assert lossless_priorities(rows) == frozenset()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [({"dscp": 34}, (34, 4)), ({"dscp": 8}, (8, 1)), ({"dscp": 4}, (4, 3)), ({"priority": 5}, (26, 5))],
)
def test_a_wished_dscp_takes_its_natural_priority(keys: dict[str, int], expected: tuple[int, int]) -> None:
    assert roce_marks(wish(**keys)) == expected


@pytest.mark.parametrize(
    ("keys", "separate", "codes"),
    [
        ({}, True, []),
        ({"dscp": 48}, False, ["EW-POL-005", "EW-POL-005"]),
        ({"dscp": 34}, True, ["EW-POL-005"]),
        ({"dscp": 34}, False, []),
        ({"priority": 6}, False, ["EW-POL-006"]),
        ({"priority": 7}, False, ["EW-POL-006"]),
        ({"priority": 0}, False, ["EW-POL-007"]),
    ],
)
def test_clashes_are_named(keys: dict[str, int], separate: bool, codes: list[str]) -> None:
    found = judge_marks(wish(**keys), separate)
    assert [row.code for row in found] == codes
    assert all(row.sentence("en") and row.sentence("zh") for row in found)


def test_classes_that_share_a_mark_are_refused() -> None:
    with pytest.raises(UsageError, match="share a DSCP"):
        classes_of("lossless", wish(dscp=50, cnp_dscp=50), separate_inference=False)
