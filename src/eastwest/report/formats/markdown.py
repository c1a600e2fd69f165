"""The report as Markdown (GitHub's tables): the same document without pictures; each figure is its text alternative."""

from __future__ import annotations

import re
from typing import Literal

from eastwest.report.blocks import Block, Derivation, Figure, Notice, Paragraph, Table
from eastwest.report.document import plan_document
from eastwest.report.values import Json
from eastwest.report.wording import Words, words_of

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|!~])")


def render(plan: Json, lang: Literal["en", "zh"] = "en") -> str:
    """The report of one plan in Markdown, in English or Chinese. Raises InternalError for another language."""
    document, words = plan_document(plan, lang), words_of(lang)
    lines = [f"# {_escape(document.title)}", "", _escape(document.subtitle), ""]
    lines += [f"**{_escape(document.verdict_word)}**: {_escape(document.verdict_text)}", ""]
    for section in document.sections:
        lines += [f"## {_escape(section.title)}", ""]
        for block in section.blocks:
            lines += [*_block(block, words), ""]
    return "\n".join(lines).rstrip() + "\n"


def _block(block: Block, words: Words) -> list[str]:
    if isinstance(block, Paragraph):
        return [_escape(block.text)]
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return [f"**{_escape(block.title)}**", "", _escape(block.alt)]
    return _notice(block, words) if isinstance(block, Notice) else _derivation(block, words)


def _table(table: Table) -> list[str]:
    rule = " | ".join("---:" if column.numeric else "---" for column in table.columns)
    head = " | ".join(_escape(column.title) for column in table.columns)
    body = [f"| {' | '.join(_escape(cell) for cell in row)} |" for row in table.rows]
    return [f"**{_escape(table.caption)}**", "", f"| {head} |", f"| {rule} |", *body]


def _notice(notice: Notice, words: Words) -> list[str]:
    subject = f"{_escape(notice.code)} {_escape(notice.subject)}"
    lines = [f"- **{_escape(notice.severity_word)}** {subject}: {_escape(notice.text)}"]
    lines += [f"  ({_escape(notice.measured)})"] if notice.measured else []
    lines += [f"  {words('page.hint')} {_escape(notice.hint)}"] if notice.hint else []
    lines += [f"  {_escape(notice.waived)}"] if notice.waived else []
    return lines + [f"  - {_escape(line)}" for line in notice.evidence]


def _derivation(row: Derivation, words: Words) -> list[str]:
    lines = [f"- **{_escape(row.name)} = {_escape(row.value)}**: {_escape(row.because)}"]
    lines += [f"  - {words('page.formula')}: {_escape(row.formula)}"] if row.formula else []
    inputs = "; ".join(f"{name} = {value}" for name, value in row.inputs)
    lines += [f"  - {words('page.inputs')}: {_escape(inputs)}"] if inputs else []
    lines.append(f"  - {words('page.source')}: {_escape(row.source)}")
    return lines + [
        f"  - {words('page.rejected')}: {_escape(value)}: {_escape(reason)}" for value, reason in row.alternatives
    ]


def _escape(text: str) -> str:
    """A text that Markdown shows as it is: every character that could start markup or HTML is escaped."""
    return _ACTIVE.sub(r"\\\1", text)
