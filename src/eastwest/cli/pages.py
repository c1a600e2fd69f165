"""`--out DIR` of verbs that judge: report.html in both languages, the JSON document, charts as files of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from eastwest.cli.output import note
from eastwest.errors import UsageError

if TYPE_CHECKING:
    from eastwest.report.blocks import Document

PAGE = "report.html"
MARK = '<meta http-equiv="Content-Security-Policy"'  # in every page of ours


def check_page(folder: Path) -> None:
    """Refuse a place where nothing can be written, and a report.html that is not ours. Raises UsageError."""
    page = folder / PAGE
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder} is a file", hint="name a folder")
    if page.exists() and MARK not in page.read_bytes()[:4096].decode("utf-8", errors="replace"):
        raise UsageError(f"--out {folder} holds a {PAGE} of another program", hint="name another folder")


def write_page(
    folder: Path,
    json_name: str,
    document: dict[str, Any],
    pages: Mapping[Literal["en", "zh"], Document],
    lang: Literal["en", "zh"],
) -> None:
    """Write the page, the JSON document under `json_name`, and each chart as an SVG file. Raises UsageError."""
    from eastwest.plan.write import json_text
    from eastwest.report.formats.html import page_of

    charts = {f"{figure.key}.svg": figure.svg for figure in pages[lang].figures if figure.svg}
    files = {PAGE: page_of(pages, lang), json_name: json_text(document), **charts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {folder}: {error.strerror or error}", hint="choose another folder") from error
    note(f"wrote {folder}/: {', '.join(files)}")
