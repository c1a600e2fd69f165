"""The rows of a designs table: YAML with `rows`, each with `id`, `inputs` and `outputs`; every wrong shape at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eastwest.errors import InputError
from eastwest.plan.designs.case import Row
from eastwest.plan.designs.source import flaws_found, read_yaml
from eastwest.plan.designs.written import text_of
from eastwest.spec.document import Document, Flaw, Path
from eastwest.spec.mistakes import shown


def read_rows(text: str, source: str) -> tuple[Row, ...]:
    """Every row of a table. Raises InputError when the text is no such table."""
    document = read_yaml(text, source)
    rows = document.data.get("rows")
    if not isinstance(rows, list) or not rows:
        flaw = Flaw("EW-CHK-005", None if "rows" in document.data else 1, ("rows",), {"found": shown(rows)})
        raise InputError(flaws_found([flaw], source, document))
    flaws = [flaw for index, row in enumerate(rows) for flaw in _row_flaws(index, row)]
    if flaws:
        raise InputError(flaws_found(flaws, source, document))
    return tuple(row_of(row, ("rows", index), document) for index, row in enumerate(rows))


def _row_flaws(index: int, row: Any) -> Iterator[Flaw]:
    if not isinstance(row, dict):
        yield Flaw("EW-CHK-006", None, ("rows", index), {"number": index + 1, "found": shown(row)})
        return
    for key, code in (("inputs", "EW-CHK-007"), ("outputs", "EW-CHK-008")):
        if not isinstance(row.get(key), dict):
            words = {"number": index + 1, "found": shown(row.get(key))}
            yield Flaw(code, None, ("rows", index, key) if key in row else ("rows", index), words)


def row_of(row: dict[str, Any], path: Path, document: Document) -> Row:
    """A row of plain values, with the lines of its printed counts."""
    number = int(path[-1]) + 1 if path else 1
    outputs = row.get("outputs") or {}
    lines = {str(key): document.line_numbers.get((*path, "outputs", key)) for key in outputs}
    return Row(
        id=text_of(row.get("id")) or f"row {number}",
        family=text_of(row.get("family")),
        inputs=row.get("inputs") or {},
        outputs=outputs,
        warning=text_of(row.get("warning")),
        line=document.line_numbers.get(path),
        lines={key: line for key, line in lines.items() if line is not None},
    )
