"""The HTML page: valid, self-contained, in two languages, and no text of a plan can act in it."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

import pytest

from eastwest.report.formats import html
from tests.report import synthetic_plan

LARGEST_BYTES = 8 * 10**6  # the promise of a report: it can be mailed
VOID = frozenset({"meta", "link", "input", "img", "br", "hr", "col"})
LOADING = frozenset({"src", "href", "xlink:href", "action", "data", "poster", "srcset", "formaction", "background"})


class Page(HTMLParser):
    """Every element with its attributes, the text of scripts and styles, and whether tags nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.stack: list[str] = []
        self.unbalanced: list[str] = []
        self.inline: dict[str, list[str]] = {"script": [], "style": []}
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] in self.inline:
            self.inline[self.stack[-1]].append(data)
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(html.render(synthetic_plan.plan(), "en"))


@pytest.fixture(scope="module")
def hostile() -> Page:
    return Page(html.render(synthetic_plan.hostile_plan(), "en"))


@pytest.mark.parametrize("make", [synthetic_plan.plan, synthetic_plan.large_plan, synthetic_plan.hostile_plan, dict])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_tags_nest_and_the_page_can_be_mailed(make: Any, lang: Any) -> None:
    text = html.render(make(), lang)
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert (page.stack, page.unbalanced) == ([], [])
    assert len(text.encode()) < LARGEST_BYTES


def test_nothing_is_loaded_from_outside(hostile: Page) -> None:
    loads = [str(value) for _, attrs in hostile.elements for key, value in attrs.items() if key in LOADING]
    assert loads
    assert [value for value in loads if not value.startswith(("#", "data:"))] == []
    styles = " ".join(hostile.inline["style"]) + " ".join(str(attrs.get("style")) for _, attrs in hostile.elements)
    assert "url(" not in styles
    assert "@import" not in styles


def test_only_our_scripts_may_run_and_nothing_may_be_fetched(hostile: Page) -> None:
    policy = next(str(m["content"]) for m in hostile.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "unsafe-inline" not in policy.split("script-src", 1)[1].split(";", 1)[0]
    executable = [
        text
        for attrs, text in zip(hostile.all("script"), hostile.inline["script"], strict=True)
        if attrs.get("type") != "application/json"
    ]
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in executable}
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == hashes


def test_a_hostile_text_is_shown_and_does_nothing(hostile: Page) -> None:
    assert hostile.all("img") == []
    assert "<script>alert(1)</script>" in hostile.text
    assert "{{7*7}}" in hostile.text
    assert not [key for _, attrs in hostile.elements for key in attrs if key.startswith("on")]
    assert "\x1b" not in hostile.text
    assert "\u202e" not in hostile.text


def test_an_embedded_figure_cannot_end_its_element() -> None:
    text = html.embedded_json({"label": "</script><!--\u2028&"})
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text) == {"label": "</script><!--\u2028&"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_both_languages_are_inside_and_the_chosen_one_is_first_shown(lang: Any) -> None:
    page = Page(html.render(synthetic_plan.plan(), lang))
    checked = [attrs["value"] for attrs in page.all("input") if "checked" in attrs]
    assert checked == [lang]
    assert page.all("html")[0]["lang"] == html.HTML_LANG[lang]
    assert [attrs["lang"] for attrs in page.all("main")] == ["en", "zh-CN"]
    assert "Communication account" in page.text
    assert "通信账本" in page.text


def test_findings_follow_the_language_when_the_plan_is_given_in_both() -> None:
    chinese = synthetic_plan.plan()
    chinese["findings"][0]["message"] = "leaf 层收敛比为 2:1。"
    page = Page(html.render(synthetic_plan.plan(), "en", {"zh": chinese}))
    assert "leaf 层收敛比为 2:1。" in page.text
    assert "The leaf tier is oversubscribed 2:1" in page.text


def test_identifiers_are_unique_and_every_link_inside_the_page_has_its_target(page: Page) -> None:
    ids = [str(attrs["id"]) for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = [str(attrs["href"])[1:] for attrs in page.all("a") if str(attrs["href"]).startswith("#")]
    assert targets
    assert set(targets) <= set(ids)
    assert "en-why-fabric.leaf.uplinks" in ids


def test_headings_step_by_one_level(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_headers_with_scope_and_figures_a_text_alternative(page: Page) -> None:
    assert all(attrs.get("scope") in {"row", "col"} for attrs in page.all("th"))
    pictures = [attrs for _, attrs in page.elements if attrs.get("role") == "img"]
    assert len(pictures) == 2 * 6  # account per step and checkpoint, memory, fabric, tiers, growth; in two languages
    assert all(attrs.get("aria-label") for attrs in pictures)


def test_each_figure_gives_its_data_as_csv(page: Page) -> None:
    links = [attrs for attrs in page.all("a") if "download" in attrs]
    assert len(links) == 2 * 6
    link = next(attrs for attrs in links if attrs["download"] == "account-step.csv")
    text = unquote(str(link["href"]).split(",", 1)[1]).removeprefix("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert sum(float(row["bytes_per_step"]) for row in rows) == 6e12


def test_long_tables_are_folded() -> None:
    page = Page(html.render(synthetic_plan.large_plan(), "en"))
    folded = [attrs for attrs in page.all("details") if attrs.get("class") == "long"]
    # The account and its formulas, 40 rows each, the facts of the job, and what each phase buys; in two languages.
    assert len(folded) == 2 * 4
