"""`eastwest validate TABLE FILE`: published rows against what the product predicts, every number singly."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, exit_code_of, run, text_width
from eastwest.cli.reading import read_input

if TYPE_CHECKING:
    from eastwest.plan.designs.judge import Count, Judged
    from eastwest.plan.validate_designs import ValidatedDesigns

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


class Table(StrEnum):
    """Tables of published rows that can be judged."""

    designs = "designs"


def validate(
    table: Annotated[Table, typer.Argument(help="What the rows are.")],
    file: Annotated[str, typer.Argument(help="Table in YAML; - for standard input.")],
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Judge published rows against the product: every printed count singly, and why it differs."""
    run("validate", json, lang.value, lambda: _answer(file, lang.value))


def _answer(file: str, lang: Literal["en", "zh"]) -> Answer:
    from eastwest.plan.validate_designs import validate_designs

    validated = validate_designs(read_input(file), file)
    return Answer(validated.as_json(lang), _text(validated, lang), exit_code_of(validated.verdict))


def _text(validated: ValidatedDesigns, lang: Literal["en", "zh"]) -> str:
    """Totals first, then a line a row, with what differs and why below it."""
    words, total, width = WORDS[lang], validated.summary()["all"], text_width()
    head = f"{validated.verdict.upper()}: {words['rows'].format_map(total)}"
    lines = [head, "  " + words["counts"].format_map(total), ""]
    for row in validated.rows:
        lines += _row(row, lang, width)
    return "\n".join(lines)


def _row(row: Judged, lang: Literal["en", "zh"], width: int) -> list[str]:
    from eastwest.report.formats.text_why import wrap

    said = row.skipped.sentence(lang) if row.skipped else "; ".join(_count(count, lang) for count in row.counts)
    lines = [f"{WORDS[lang][row.status]:<10}{row.row.id}", *(f"          {line}" for line in wrap(said, width - 10))]
    for finding in (*row.findings, *row.notes):
        lines += [f"          {line}" for line in wrap(finding.sentence(lang), width - 10)]
    return lines


def _count(count: Count, lang: Literal["en", "zh"]) -> str:
    if count.match is None:
        return f"{count.name} {count.published} ({WORDS[lang]['open']})"
    if count.match:
        shown = "" if str(count.predicted) == str(count.published) else f" ({count.predicted})"
        return f"{count.name} {count.published}{shown}"
    return f"{count.name} {count.published} != {count.predicted}"
