"""The document of a plan: verdict first, nothing invented, nothing lost."""

from __future__ import annotations

from typing import Any

import pytest

from eastwest.report.blocks import Derivation, Notice, Table
from eastwest.report.document import plan_document
from tests.report import synthetic_plan

LANGS: list[Any] = ["en", "zh"]


def _tables(plan: dict[str, Any]) -> dict[str, Table]:
    document = plan_document(plan, "en")
    return {block.key: block for section in document.sections for block in section.blocks if isinstance(block, Table)}


def _all_text(plan: dict[str, Any], lang: Any = "en") -> str:
    return repr(plan_document(plan, lang))


def test_findings_come_first_and_errors_before_warnings() -> None:
    document = plan_document(synthetic_plan.plan(), "en")
    assert document.sections[0].key == "findings"
    notices = [block for block in document.sections[0].blocks if isinstance(block, Notice)]
    assert [notice.code for notice in notices] == ["EW-FAB-031", "EW-FAB-020", "EW-MEM-002"]
    assert notices[0].evidence == ("site.yaml:31:   boxes: [{name: fw-1, kind: firewall, rate_limit: 100G}]",)
    assert notices[0].measured == "expected 3.2T, observed 100G"
    assert document.verdict_text == "1 error, 1 warning, 1 waived"


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("part", list(synthetic_plan.plan()))
@pytest.mark.parametrize("value", ["absent", None, {}, [], "text"])
def test_every_part_may_be_missing(part: str, value: Any, lang: Any) -> None:
    plan = synthetic_plan.plan()
    if value == "absent":
        del plan[part]
    else:
        plan[part] = value
    assert plan_document(plan, lang).sections


@pytest.mark.parametrize(
    "part", ["jobs", "ledger", "tiers", "bom", "cables_summary", "targets", "decisions", "findings"]
)
def test_rows_without_values_are_shown_as_not_given(part: str) -> None:
    plan = synthetic_plan.plan()
    plan[part] = [dict.fromkeys(row) for row in plan[part]] + [{}, None, "odd"]
    assert "not given" in _all_text(plan)


def test_a_plan_without_verdict_or_findings_is_no_pass() -> None:
    document = plan_document({}, "en")
    assert (document.verdict, document.verdict_word) == ("unknown", "Cannot tell")
    assert "No finding" not in _all_text({})
    assert plan_document({"verdict": "splendid"}, "en").verdict == "unknown"


def test_missing_numbers_are_not_zero() -> None:
    plan = synthetic_plan.plan() | {"fabric": {"family": "leaf_spine", "ports": {"leaf": {"used": 0, "free": None}}}}
    leaf = _tables(plan)["tier-table"].rows[0]
    assert leaf == ("leaf", "not given", "not given", "0", "not given", "not given")


def test_an_inference_site_without_steps_has_no_step_time() -> None:
    empty = dict.fromkeys(synthetic_plan.prediction())
    document = plan_document(synthetic_plan.plan() | {"jobs": [], "prediction": empty}, "en")
    assert [fact.label for fact in document.facts] == ["GPUs", "Switches", "Oversubscription"]


def test_limits_say_how_they_limit() -> None:
    limits = [row[1] for row in _tables(synthetic_plan.plan())["targets-table"].rows]
    assert limits == ["≥ 48 GB/s", "= 0", "bounded (no fixed number)", "-8 dBm … 4 dBm"]


def test_each_decision_has_an_anchor_and_what_was_rejected() -> None:
    section = next(s for s in plan_document(synthetic_plan.plan(), "en").sections if s.key == "decisions")
    derivation = next(b for b in section.blocks if isinstance(b, Derivation) and b.name == "policy.mtu")
    assert derivation.anchor == "why-policy.mtu"
    assert derivation.value == "9,216 B"
    assert ("port_rate_bps", "400G") in derivation.inputs
    assert derivation.alternatives == (("16 B", "would double the oversubscription"),)


def test_policy_settings_keep_their_path_and_unit() -> None:
    rows = dict(_tables(synthetic_plan.plan())["settings-table"].rows)
    assert rows["mtu_bytes"] == "9,216 B"
    assert rows["ecn.kmin_bytes"] == "1 MB"
    assert rows["devices"] == "2 entries, see plan.json"


def test_sources_are_counted_where_they_are_used() -> None:
    rows = dict(_tables(synthetic_plan.plan())["sources-table"].rows)
    assert rows == {"derived": "account 3, targets 4", "site.yaml:12": "decisions 9"}


def test_both_languages_have_the_same_shape() -> None:
    english, chinese = (plan_document(synthetic_plan.plan(), lang) for lang in LANGS)
    shape = [[(s.key, [type(b) for b in s.blocks]) for s in document.sections] for document in (english, chinese)]
    assert shape[0] == shape[1]
    assert chinese.title == "synthetic-two-rooms 的规划"
    assert {section.title for section in english.sections}.isdisjoint(section.title for section in chinese.sections)


def test_the_same_plan_gives_the_same_document() -> None:
    assert plan_document(synthetic_plan.plan(), "en") == plan_document(synthetic_plan.plan(), "en")
