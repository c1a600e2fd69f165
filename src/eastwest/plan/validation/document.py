"""What every `validate` document has: its head, the rows that are not judged by their reason, the rows by family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from eastwest.finding import Finding, Verdict
from eastwest.plan.validation.families import ALL

SCHEMA = "eastwest.validate/1"
Row = TypeVar("Row")


def head(table: str, verdict: Verdict, findings: Iterable[Finding], lang: str) -> dict[str, Any]:
    """The keys that begin the document of a judged table."""
    return {
        "schema": SCHEMA,
        "verdict": verdict,
        "findings": [finding.as_json(lang) for finding in findings],
        "table": table,
    }


def reason(code: str, lang: str) -> str:
    """Why a row is not judged, in words: the sentence of its code."""
    return Finding(str(code), "info", "").sentence(lang)


def by_reason(skipped: Iterable[tuple[str, str]], lang: str) -> list[dict[str, Any]]:
    """Every reason that occurs -> its sentence, how many rows, which; `skipped` (code, id) of each row."""
    groups: dict[str, list[str]] = {}
    for code, row_id in skipped:
        groups.setdefault(str(code), []).append(row_id)
    return [
        {"code": code, "reason": reason(code, lang), "n": len(ids), "ids": ids} for code, ids in sorted(groups.items())
    ]


def groups_by_family(rows: Sequence[Row], family_of: Callable[[Row], str]) -> dict[str, tuple[Row, ...]]:
    """`all`, then every family that occurs -> its rows."""
    families = dict.fromkeys(family_of(row) for row in rows)
    return {ALL: tuple(rows)} | {name: tuple(row for row in rows if family_of(row) == name) for name in families}
