"""`validate effects` as text: totals first, then a line a row with what was published and what a formula expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from eastwest.report.formats.text_layout import wrap

Lang = Literal["en", "zh"]
Row = Mapping[str, Any]
INDENT = 11  # columns
WORDS = {
    "en": {
        "head": "{n} effects, {judged} judged: {match} agree, {direction} agree in direction only, {mismatch} differ; "
        "{skipped} not judged",
        "match": "match",
        "direction": "direction",
        "mismatch": "MISMATCH",
        "line": "published {measured}, predicted {predicted}: {formula}",
        "skipped": "not judged",
        "factor": "factors: performance under the condition over performance at the baseline",
        "assumed": "assumed",
    },
    "zh": {
        "head": "{n} 项效应，判定 {judged} 项：{match} 项相符，{direction} 项仅方向相符，"
        "{mismatch} 项不符；{skipped} 项未判定",
        "match": "相符",
        "direction": "仅方向",
        "mismatch": "不符",
        "line": "发表值 {measured}，预测值 {predicted}：{formula}",
        "skipped": "未判定",
        "factor": "系数：条件下性能与基线性能之比",
        "assumed": "假设",
    },
}


def effects_text(document: Row, lang: Lang, width: int) -> str:
    """The whole answer for people, from the JSON document of the contract."""
    words = WORDS[lang]
    lines = wrap(f"{document['verdict'].upper()}: {words['head'].format_map(document['summary']['all'])}", width)
    lines += [f"  {words['factor']}", ""]
    for row in document["rows"]:
        if row["status"] != "skipped":
            lines += _row(row, words, width)
    lines += ["", words["skipped"], *_skipped(document["skipped"], width)]
    return "\n".join(lines)


def _row(row: Row, words: Mapping[str, str], width: int) -> Iterator[str]:
    yield f"{words[row['status']]:<{INDENT}}{row['id']} ({row['family']})"
    spans = {key: _span(row[key]) for key in ("measured", "predicted")}
    said = words["line"].format_map({**spans, "formula": row["formula"]})
    yield from (" " * INDENT + line for line in wrap(said, width - INDENT))
    if row["assumed"]:
        assumed = f"{words['assumed']}: {'; '.join(row['assumed'])}"
        yield from (" " * INDENT + line for line in wrap(assumed, width - INDENT))


def _span(span: Row) -> str:
    low, high = span["low"], span["high"]
    if high is None:
        return f">= {low:.3g}"
    return f"{low:.3g}" if low == high else f"{low:.3g}-{high:.3g}"


def _skipped(groups: list[Row], width: int) -> Iterator[str]:
    for group in groups:
        yield from (f"  {line}" for line in wrap(f"{group['n']}: {group['reason']}", width - 2))
        yield from (f"      {line}" for line in wrap(", ".join(group["ids"]), width - 6))
