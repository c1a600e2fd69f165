"""Figures draw what the plan says: bytes are conserved from ledger to Sankey, and Plotly accepts each figure."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.report.blocks import FigureData
from eastwest.report.document import plan_document
from eastwest.report.figures import TIERS, account_figures, memory_figure, tiers_figure
from eastwest.report.wording import words_of
from tests.report import synthetic_plan

EN = words_of("en")
tier_sizes = st.dictionaries(st.sampled_from(TIERS), st.integers(0, 10**15), max_size=len(TIERS))
ledgers = st.lists(
    st.builds(
        synthetic_plan.ledger_row,
        st.sampled_from(["pretrain", "serve", "<b>x</b>"]),
        st.sampled_from(["gradients", "tensor", "experts"]),
        tier_sizes,
        st.sampled_from(["step", "token", "checkpoint"]),
    ),
    max_size=12,
)


def _flows(trace: dict[str, Any]) -> tuple[dict[int, float], dict[int, float]]:
    into: dict[int, float] = defaultdict(float)
    out: dict[int, float] = defaultdict(float)
    links = trace["link"]
    for source, target, value in zip(links["source"], links["target"], links["value"], strict=True):
        out[source] += value
        into[target] += value
    return into, out


@given(ledgers)
def test_bytes_are_conserved_from_the_ledger_to_the_sankey(ledger: list[dict[str, Any]]) -> None:
    figures = {figure.key: figure for figure in account_figures({"ledger": ledger}, EN)}
    for per in ("step", "token", "checkpoint"):
        expected = sum(sum(row["tier_bytes"].values()) for row in ledger if row["per"] == per)
        if not expected:
            assert f"account-{per}" not in figures
            continue
        assert figures[f"account-{per}"].plotly is not None
        into, out = _flows(figures[f"account-{per}"].plotly["data"][0])
        # Jobs only send, tiers only receive, and a traffic class passes on what it gets. Sums of floats up to
        # 12 x 6 x 10**15 < 2**57 can be off by a few units in the last place: relative 1e-12.
        assert sum(out[node] for node in out if node not in into) == pytest.approx(expected, rel=1e-12)
        assert sum(into[node] for node in into if node not in out) == pytest.approx(expected, rel=1e-12)
        assert all(into[node] == pytest.approx(out[node], rel=1e-12) for node in into if node in out)


def test_network_traffic_that_the_scale_up_domain_dwarfs_gets_a_picture_of_its_own() -> None:
    ledger = [
        synthetic_plan.ledger_row("pretrain", "tensor", {"scale_up": 99}),
        synthetic_plan.ledger_row("pretrain", "gradients", {"leaf": 1}),
    ]
    whole, network = account_figures({"ledger": ledger}, EN)
    assert sum(row[3] for row in whole.data.rows) == 100
    assert network.data.rows == (("pretrain", "gradients", "leaf", 1),)
    tiny = account_figures({"ledger": [synthetic_plan.ledger_row("a", "b", {"scale_up": 10**6, "leaf": 1})]}, EN)[0]
    assert "leaf 1 B (< 0.1 %)" in tiny.alt


def test_a_sankey_never_adds_bytes_of_a_step_to_bytes_of_a_checkpoint() -> None:
    assert [figure.key for figure in account_figures(synthetic_plan.plan(), EN)] == [
        "account-step",
        "account-checkpoint",
    ]


def test_the_text_alternative_of_the_account_names_total_tiers_and_largest_flow() -> None:
    alt = account_figures(synthetic_plan.plan(), EN)[0].alt
    # 0.9 + 0.7 + 2.0 + 2.4 TB = 6 TB; the tensor traffic inside the scale-up domain is 2.4 of them.
    assert "6 TB" in alt
    assert "scale-up 2.4 TB (40 %)" in alt
    assert "between rooms 2 TB (33.3 %)" in alt
    assert "tensor of pretrain with 2.4 TB" in alt


def test_the_bars_of_memory_add_up_to_the_total() -> None:
    figure = memory_figure(synthetic_plan.plan(), EN)
    assert figure is not None
    assert figure.plotly is not None
    bars = [trace["x"][0] for trace in figure.plotly["data"] if trace["type"] == "bar"]
    assert sum(bars) == 59_000_000_000
    assert figure.plotly["data"][-1]["x"] == [80_000_000_000]


def test_a_term_that_one_job_lacks_is_no_bar_of_another() -> None:
    job = synthetic_plan.training_job()
    other = job | {"name": "serve", "memory": {"terms": [{"name": "KV cache", "size_bytes": 5, "formula": ""}]}}
    figure = memory_figure({"jobs": [job, other]}, EN)
    assert figure is not None
    assert figure.plotly is not None
    cache = next(trace for trace in figure.plotly["data"] if trace["name"] == "KV cache")
    assert cache["x"] == [0, 5]
    assert "serve: the memory of a GPU is not given." in figure.alt


def test_tiers_are_drawn_from_near_to_far() -> None:
    plan = {"tiers": [{"tier": "room", "bytes": 1}, {"tier": "scale_up", "bytes": 3}, {"tier": "leaf", "bytes": None}]}
    figure = tiers_figure(plan, EN)
    assert figure is not None
    assert figure.data.rows == (("scale_up", 3), ("room", 1))


@pytest.mark.parametrize("make", [synthetic_plan.plan, synthetic_plan.large_plan, synthetic_plan.hostile_plan])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_plotly_accepts_every_figure(make: Any, lang: Any) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    drawn = [figure for figure in plan_document(make(), lang).figures if figure.plotly is not None]
    assert drawn
    for figure in drawn:
        assert graph_objects.Figure(figure.plotly).to_dict()["data"]
        assert json.loads(json.dumps(figure.plotly, allow_nan=False)) == figure.plotly
        assert figure.alt


def test_a_hostile_name_is_no_markup_for_plotly() -> None:
    labels = account_figures(synthetic_plan.hostile_plan(), EN)[0].plotly["data"][0]["node"]["label"]
    assert not any("<" in label for label in labels)


def test_data_of_a_figure_is_csv_that_no_spreadsheet_takes_for_a_formula() -> None:
    text = FigureData(("name", "size_bytes"), (('=cmd|"x"', -5), ("a,b", 2), ("@x", None))).csv()
    assert list(csv.reader(io.StringIO(text))) == [
        ["name", "size_bytes"],
        ['\'=cmd|"x"', "-5"],
        ["a,b", "2"],
        ["'@x", ""],
    ]
