"""Tables of a layout search and series of GPU counts, with predictions made up so that the answer is known."""

import numpy as np
import pytest

from eastwest.plan.validation import ranking, scaling
from eastwest.plan.validation.cases import cases_of
from eastwest.plan.validation.training_table import read_rows
from tests.plan.validation.rows import changed, table


def search(*pps, **more):
    """Rows of one section that differ in PP."""
    section = {"section": "search", "params_b": 0.13, "tp": 1, "gpus": 16, "global_batch": 64}
    return [changed(id=f"pp{pp}", pp=pp, **{**section, **more}) for pp in pps]


def cases(*rows):
    return cases_of(read_rows(table(*rows), "t.yaml"))


def test_a_table_is_one_section_size_gpus_and_batch_with_three_rows():
    rows = [
        *search(1, 2, 4),
        *search(1, 2, 4, global_batch=128),
        *search(1, 2, params_b=0.2),
        *search(1, 2, 4, section=None),
        *search(8, 16, suspect="slow"),
    ]
    found = ranking.tables_of(cases(*rows))
    assert [(table.section, table.global_batch, table.rows) for table in found] == [
        ("search", 64, (0, 1, 2)),
        ("search", 128, (3, 4, 5)),
    ]


def test_knowing_which_table_is_slow_is_worth_nothing_inside_tables():
    found = ranking.tables_of(cases(*search(1, 2, 4), *search(1, 2, 4, global_batch=128)))
    measured = np.array([10.0, 11.0, 12.0, 20.0, 24.0, 22.0])
    right = ranking.rank(found, 3 * measured, measured).as_json()
    assert [right[name] for name in ("spearman", "spearman_inside_tables")] == pytest.approx([1.0, 1.0])
    assert (right["pair_order_ratio"], right["low_regret_ratio"]) == (1.0, 1.0)
    between = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])  # knows the tables, not the layouts
    blind = ranking.rank(found, between, measured).as_json()
    assert blind["spearman_inside_tables"] is None
    assert blind["spearman"] > 0.8
    assert (blind["pairs"], blind["pair_order_ratio"]) == (6, 0.0)


def test_ranks_inside_tables_are_pooled_over_tables():
    found = ranking.tables_of(cases(*search(1, 2, 4), *search(1, 2, 4, global_batch=128)))
    measured = np.array([1.0, 2.0, 3.0, 10.0, 20.0, 30.0])
    figures = ranking.rank(found, np.array([1.0, 2.0, 3.0, 7.0, 9.0, 8.0]), measured).as_json()
    # centred ranks -1 0 1 of each table: (2 + 1) of the 4 that perfect order would give
    assert figures["spearman_inside_tables"] == pytest.approx(0.75)
    assert figures["spearman"] == pytest.approx(1 - 6 * 2 / (6 * 35))  # 1 - 6 sum d^2 / n (n^2 - 1), two ranks off by 1


def test_a_pick_that_is_6_percent_slower_is_counted():
    found = ranking.tables_of(cases(*search(1, 2, 4)))
    figures = ranking.rank(found, np.array([2.0, 1.0, 3.0]), np.array([100.0, 106.0, 102.0])).as_json()
    assert figures["regret_ratios"] == [pytest.approx(0.06)]
    assert figures["low_regret_ratio"] == 0.0
    assert (figures["pairs"], figures["pair_order_ratio"]) == (2, 0.0)  # 100 and 102 do not differ by more than 3 %


def test_no_table_gives_no_figures():
    figures = ranking.rank((), np.empty(0), np.empty(0)).as_json()
    assert (figures["tables"], figures["spearman"], figures["pair_order_ratio"]) == (0, None, None)
    assert figures["spearman_inside_tables"] is None


def test_efficiency_is_relative_to_the_smallest_run_of_the_series():
    rows = [
        changed(id="w16"),
        changed(id="w32", gpus=32, global_batch=128),
        changed(id="s32", gpus=32),
        changed(id="other-layout", gpus=64, global_batch=256, tp=4),
        changed(id="best-of", gpus=64, global_batch=256, selection="best of a sweep"),
    ]
    measured = np.array([1.0, 1.25, 0.6, 1.0, 1.0])
    predicted = np.array([2.0, 2.0, 1.0, 1.0, 1.0])
    points = scaling.points_of(cases(*rows), predicted, measured)
    assert [(point.id, point.kind, point.gpus, point.base_gpus) for point in points] == [
        ("s32", "strong", 32, 16),
        ("w32", "weak", 32, 16),
    ]
    # weak: twice the batch on twice the GPUs in 1.25 times the time; strong: 1 / (0.6 x 2)
    assert points[0].measured == pytest.approx(1 / 1.2)
    assert points[1].measured == pytest.approx(0.8)
    assert [point.predicted for point in points] == pytest.approx([1.0, 1.0])
    assert scaling.summary(points)["max_abs_error_ratio"] == pytest.approx(0.2)
    assert scaling.summary(())["median_abs_error_ratio"] is None
