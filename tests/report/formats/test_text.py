"""The terminal summary: what an engineer reads in a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.report.formats import text, text_layout
from tests.report import synthetic_plan

GOLDEN = Path(__file__).parent


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_summary_reads_as_agreed(lang: Any) -> None:
    golden = (GOLDEN / f"synthetic_summary.{lang}.txt").read_text(encoding="utf-8")
    assert text.render(synthetic_plan.plan(), lang) == golden


@pytest.mark.parametrize("make", [synthetic_plan.plan, synthetic_plan.large_plan, synthetic_plan.hostile_plan, dict])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_at_most_60_lines_and_never_wider_than_the_terminal(make: Any, lang: Any, width: int) -> None:
    plan = make()
    plan["findings"] = [*plan.get("findings", []), *synthetic_plan.findings() * 10]
    lines = text.render(plan, lang, width=width).splitlines()
    assert len(lines) <= text.MAX_LINES
    assert max(text.display_width(line) for line in lines) <= width
    assert not any(character < " " or character == "\u202e" for line in lines for character in line)


def test_the_verdict_is_the_first_line_and_errors_come_before_warnings() -> None:
    lines = text.render(synthetic_plan.plan()).splitlines()
    assert lines[0].startswith("FAIL  synthetic-two-rooms")
    shown = [line for line in lines if "EW-" in line and "explain" not in line]
    assert [line.split()[0] for line in shown] == ["error", "warning"]


def test_findings_that_do_not_fit_are_counted() -> None:
    plan = synthetic_plan.plan() | {"findings": synthetic_plan.findings()[:2] * 20}
    lines = text.render(plan).splitlines()
    n_shown = sum(line.startswith(("  error", "  warning")) for line in lines)
    assert any(f"{40 - n_shown} more" in line for line in lines)
    assert len(lines) <= text.MAX_LINES


def test_colours_only_when_asked_and_they_add_nothing_else() -> None:
    plain, coloured = (text.render(synthetic_plan.plan(), colour=colour) for colour in (False, True))
    assert "\x1b" not in plain
    codes = (text.BOLD, text.RED, text.YELLOW, text.GREEN, text.CYAN, text.RESET)
    for code in codes:
        coloured = coloured.replace(code, "")
    assert coloured == plain


def test_missing_parts_are_said_to_be_missing() -> None:
    summary = text.render({})
    assert summary.startswith("CANNOT TELL  an unnamed site")
    for part in ("fabric", "communication account", "prediction", "bill of materials"):
        assert f"The {part} is not given." in summary


def test_decisions_are_taken_from_each_area() -> None:
    decisions = [synthetic_plan.decision(f"fabric.{n}", n) for n in range(9)]
    decisions += [synthetic_plan.decision("policy.mtu", 1), synthetic_plan.decision("policy.regime", "lossless")]
    assert [row["id"] for row in text.key_decisions(decisions, 4)] == [
        "policy.regime",
        "fabric.0",
        "policy.mtu",
        "fabric.1",
    ]


def test_an_inference_job_is_summed_up_by_its_tokens() -> None:
    serving = dict.fromkeys(synthetic_plan.prediction()) | {"time_to_first_token_s": 0.2, "time_per_token_s": 0.03}
    summary = text.render({"jobs": [{"name": "serve", "prediction": serving}]})
    assert "serve: first token 200 ms, each token 30 ms; not given tokens/s per GPU" in summary


def test_a_line_breaks_no_number_from_its_unit() -> None:
    lines = text.render({"jobs": [synthetic_plan.training_job()]}, width=60).splitlines()
    assert not [line for line in lines if line.strip().startswith(("GB", "%", "ms"))]


@given(st.text(max_size=200), st.integers(10, 80))
def test_folded_text_fits_whatever_it_holds(value: str, width: int) -> None:
    lines = text_layout.fold(value.replace("\n", " "), width)
    assert 1 <= len(lines) <= 2
    assert all(text.display_width(line) <= width for line in lines)


def test_without_jobs_the_prediction_is_missing_not_a_sum_of_missing_terms() -> None:
    summary = text.render({"prediction": dict.fromkeys(synthetic_plan.prediction())})
    assert "step not given" not in summary
