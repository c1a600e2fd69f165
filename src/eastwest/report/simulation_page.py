"""A simulated scenario as a document: what happened, pictures, tiers, the busiest links, findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

import eastwest
from eastwest.report.blocks import Block, Column, Document, Fact, Paragraph, Section, Table
from eastwest.report.chapters.verdict import findings_section, verdict_sentence, verdict_word
from eastwest.report.simulation_charts import completion_times, load_map, step_picture
from eastwest.report.values import Json, clean
from eastwest.report.wording import Words, words_of
from eastwest.simulate.judged import link_name
from eastwest.simulate.result import SimResult
from eastwest.units import BITS_PER_BYTE, PS_PER_S, format_percent, format_rate, format_size, format_time

MOST_LINKS = 40


def simulation_document(result: SimResult, document: Json, lang: Literal["en", "zh"]) -> Document:
    """The document of one result (its JSON `document`) in English or Chinese."""
    words, safe = words_of(lang), clean(document)
    code, word = verdict_word(safe, words)
    return Document(
        lang=lang,
        title=words("simulated.title", name=clean(result.scenario)),
        subtitle=words("sheet.subtitle", version=eastwest.__version__),
        verdict=code,
        verdict_word=word,
        verdict_text=verdict_sentence(safe, words),
        facts=tuple(_facts(result, words)),
        sections=tuple(_sections(result, safe, words)),
    )


def _facts(result: SimResult, words: Words) -> Iterator[Fact]:
    seconds = result.time_ps / PS_PER_S
    yield Fact(words("simulated.time"), format_time(seconds, 3), words("simulated.engine", name=result.engine))
    done = result.flows.fct_ps[result.flows.fct_ps > 0] / PS_PER_S
    if len(done):
        middle, last = np.percentile(done, (50, 99))
        remark = words("simulated.p99", time=format_time(float(last), 3))
        yield Fact(words("simulated.median"), format_time(float(middle), 3), remark)
    yield Fact(words("simulated.flows"), f"{len(result.flows):,}", words("simulated.ended", n=f"{len(done):,}"))
    if result.queues is not None:
        dropped, frames = int(result.queues.dropped.sum()), int(result.queues.pfc_tx.sum())
        yield Fact(words("simulated.dropped"), f"{dropped:,}", words("simulated.frames", n=f"{frames:,}"))


def _sections(result: SimResult, document: Json, words: Words) -> Iterator[Section]:
    steps = document.get("steps") or ()
    figures = (
        completion_times(result, words),
        load_map(result, words),
        *(step_picture(step, words) for step in steps),
    )
    pictures: list[Block] = [figure for figure in figures if figure is not None]
    if result.links.series_bytes is None:
        pictures.append(Paragraph(words("simulated.no_series"), note=True))
    yield Section("pictures", words("sheet.pictures"), tuple(pictures))
    yield findings_section(document, words)
    yield Section("tiers", words("simulated.tiers"), (_tiers(result, words),))
    yield Section("links", words("simulated.links"), (_links(result, words),))


def _tiers(result: SimResult, words: Words) -> Table:
    sizes = result.tier_bytes
    total = max(1, sum(sizes.values()))
    rows = tuple(
        (words.name("tier", tier), format_size(size), format_percent(size / total)) for tier, size in sizes.items()
    )
    columns = (
        Column(words("simulated.tier")),
        Column(words("simulated.bytes"), numeric=True),
        Column(words("simulated.part"), numeric=True),
    )
    return Table("tiers", words("simulated.tiers"), columns, rows)


def _links(result: SimResult, words: Words) -> Table:
    """The links that carried the most for their rate."""
    load = result.links.carried_bytes * BITS_PER_BYTE / np.maximum(result.links.rate_bps, 1)
    seconds = max(result.time_ps / PS_PER_S, 1e-12)
    rows = tuple(
        (
            link_name(result.network, link),
            format_size(int(result.links.carried_bytes[link])),
            format_rate(int(result.links.rate_bps[link])),
            format_percent(float(load[link]) / seconds),
        )
        for link in np.argsort(-load, kind="stable")[:MOST_LINKS].tolist()
        if load[link] > 0
    )
    columns = (
        Column(words("simulated.link")),
        Column(words("simulated.bytes"), numeric=True),
        Column(words("simulated.rate"), numeric=True),
        Column(words("simulated.mean"), numeric=True),
    )
    return Table("links", words("simulated.links"), columns, rows)
