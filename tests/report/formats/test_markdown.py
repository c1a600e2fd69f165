"""The Markdown report: the same document, and no text of a plan starts markup."""

from __future__ import annotations

import re

from eastwest.report.formats import markdown
from tests.report import synthetic_plan


def test_the_report_has_every_section_and_whole_tables() -> None:
    text = markdown.render(synthetic_plan.plan(), "en")
    assert text.startswith("# Plan of synthetic-two-rooms\n")
    assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE)[:3] == ["Findings", "The answer", "Communication account"]
    for block in re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1


def test_a_hostile_text_starts_no_markup() -> None:
    text = markdown.render(synthetic_plan.hostile_plan(), "zh")
    assert not re.search(r"(?<!\\)<", text)
    assert "\x1b" not in text
    assert "\u202e" not in text
