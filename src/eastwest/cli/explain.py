"""`eastwest explain CODE`: what a finding code means, why it matters, and where to look first."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, run

_PLACEHOLDER = re.compile(r"\{(\w+)[^}]*\}")  # a value of the case at hand; shown as <name>


def explain(
    code: Annotated[
        str | None, typer.Argument(help="Finding code such as EW-FAB-001; all are listed without one.")
    ] = None,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Explain a finding code."""
    run("explain", json, lang.value, lambda: _answer(code, lang.value))


def _answer(code: str | None, lang: str) -> Answer:
    from eastwest.errors import UsageError
    from eastwest.finding import messages
    from eastwest.registry import nearest

    known = messages(lang)
    if code is None:
        codes = [{"code": name, "title": entry["title"]} for name, entry in sorted(known.items())]
        text = "\n".join(f"{row['code']}  {row['title']}" for row in codes)
        return Answer({"schema": "eastwest.explain/1", "verdict": "pass", "findings": [], "codes": codes}, text)
    name = code.upper()
    if name not in known:
        near = nearest(name, known)
        raise UsageError(
            f"unknown finding code {code!r}", hint=f"did you mean {near}?" if near else "`eastwest explain` lists all"
        )
    entry = {field: _PLACEHOLDER.sub(r"<\1>", text.strip()) for field, text in known[name].items()}
    document = {"schema": "eastwest.explain/1", "verdict": "pass", "findings": [], "code": name, **entry}
    parts = [f"{name}: {entry['title']}", "", entry["explain"]]
    if entry.get("hint"):
        parts += ["", entry["hint"]]
    return Answer(document, "\n".join(parts))
