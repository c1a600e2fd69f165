"""`validate designs` as text: totals first, then a line a row with what differs and why below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from eastwest.report.formats.text_layout import wrap

if TYPE_CHECKING:
    from eastwest.plan.designs.judge import Count, Judged
    from eastwest.plan.validate_designs import ValidatedDesigns

Lang = Literal["en", "zh"]
WORDS = {
    "en": {
        "match": "match",
        "explained": "explained",
        "mismatch": "MISMATCH",
        "skipped": "skipped",
        "rows": "{n} rows: {match} match, {explained} differ with a reason, {mismatch} differ, {skipped} skipped",
        "counts": "{counts_judged} of {counts} printed counts judged, {counts_match} match",
        "open": "left open by the inputs",
    },
    "zh": {
        "match": "相符",
        "explained": "有解释",
        "mismatch": "不符",
        "skipped": "跳过",
        "rows": "{n} 行：{match} 行相符，{explained} 行有理由地不同，{mismatch} 行不符，{skipped} 行跳过",
        "counts": "{counts} 个印出的数量中判定 {counts_judged} 个，相符 {counts_match} 个",
        "open": "输入不能确定",
    },
}


def designs_text(validated: ValidatedDesigns, lang: Lang, width: int) -> str:
    """Totals first, then a line a row, with what differs and why below it."""
    words, total = WORDS[lang], validated.summary()["all"]
    head = f"{validated.verdict.upper()}: {words['rows'].format_map(total)}"
    lines = [head, "  " + words["counts"].format_map(total), ""]
    for row in validated.rows:
        lines += _row(row, lang, width)
    return "\n".join(lines)


def _row(row: Judged, lang: Lang, width: int) -> list[str]:
    said = row.skipped.sentence(lang) if row.skipped else "; ".join(_count(count, lang) for count in row.counts)
    lines = [f"{WORDS[lang][row.status]:<10}{row.row.id}", *(f"          {line}" for line in wrap(said, width - 10))]
    for finding in (*row.findings, *row.notes):
        lines += [f"          {line}" for line in wrap(finding.sentence(lang), width - 10)]
    return lines


def _count(count: Count, lang: Lang) -> str:
    if count.match is None:
        return f"{count.name} {count.published} ({WORDS[lang]['open']})"
    if count.match:
        shown = "" if str(count.predicted) == str(count.published) else f" ({count.predicted})"
        return f"{count.name} {count.published}{shown}"
    return f"{count.name} {count.published} != {count.predicted}"
