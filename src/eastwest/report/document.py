"""`plan_document`: the plan's JSON document as a format-neutral report, in the order in which it is read: verdict
first, sources last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from eastwest.report.blocks import Document, Section
from eastwest.report.chapters import bill, failures, growth, network, prediction, promise, traffic, verdict
from eastwest.report.values import Json, at, clean
from eastwest.report.wording import Words, words_of

Chapter = Callable[[Json, Words], Section]

CHAPTERS: tuple[Chapter, ...] = (
    verdict.findings_section,
    verdict.answer_section,
    traffic.account_section,
    traffic.memory_section,
    traffic.profile_section,
    network.fabric_section,
    traffic.placement_section,
    network.policy_section,
    prediction.prediction_section,
    promise.targets_section,
    bill.bill_section,
    growth.growth_section,
    failures.failures_section,
    promise.decisions_section,
    promise.sources_section,
)


def plan_document(plan: Json, lang: Literal["en", "zh"] = "en") -> Document:
    """The report of one plan (schema `eastwest.plan/1`) in English or Chinese.

    The report's own texts are in `lang`; sentences of the plan (findings, reasons, names) stay in the language the
    plan was written in.
    A missing part is said to be missing. Raises InternalError for another language.
    """
    words, safe = words_of(lang), clean(plan)
    name = at(safe, "site", "name")
    code, word = verdict.verdict_word(safe, words)
    return Document(
        lang=lang,
        title=words("document.title", site=name or words("document.unnamed")),
        subtitle=words(
            "document.subtitle",
            version=at(safe, "version") or words("not_given"),
            source=at(safe, "site", "source") or words("not_given"),
        ),
        verdict=code,
        verdict_word=word,
        verdict_text=verdict.verdict_sentence(safe, words) if "findings" in safe else words("findings.missing"),
        facts=verdict.headline_facts(safe, words),
        sections=tuple(chapter(safe, words) for chapter in CHAPTERS),
    )
