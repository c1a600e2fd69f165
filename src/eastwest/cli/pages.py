"""`--out` of every verb but plan: what we wrote may be written again, anything else stays as it is.

A folder holds report.html in both languages, the JSON document, charts as files of their own, and the list of these
files with the SHA-256 of each, as a plan's folder does. A file of the list that is still as written may be replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from eastwest.cli.output import note
from eastwest.errors import UsageError

if TYPE_CHECKING:
    from eastwest.report.blocks import Document

PAGE = "report.html"
FOREIGN = "name another folder; nothing of yours is overwritten"


def check_page(folder: Path, json_name: str) -> None:
    """Refuse a place where nothing can be written, a folder of another verb's answer, and a page or document that is
    not as we wrote it. Raises UsageError.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder} is a file", hint="name a folder")
    _check_files(folder, json_name, (PAGE, json_name))


def _check_files(folder: Path, json_name: str, names: Iterable[str]) -> None:
    from eastwest.plan.write import digest_of, files_in

    written = files_in(folder)
    if written and json_name not in written:
        raise UsageError(f"--out {folder} holds the answer of another verb", hint=FOREIGN)
    for name in names:
        path = folder / name
        if path.exists() and (path.is_dir() or written.get(name) != digest_of(path)):
            what = "which was changed after it was written" if name in written else "which eastwest did not write"
            raise UsageError(f"--out {folder} holds {name}, {what}", hint=FOREIGN)


def write_page(
    folder: Path,
    json_name: str,
    document: dict[str, Any],
    pages: Mapping[Literal["en", "zh"], Document],
    lang: Literal["en", "zh"],
    more: Mapping[str, str] | None = None,
) -> None:
    """Write the page, the JSON document under `json_name`, each chart as an SVG file, and `more` files by name. Raises
    UsageError.
    """
    from eastwest.plan.write import LIST, files_in, json_text, listing
    from eastwest.report.formats.html import page_of

    charts = {f"{figure.key}.svg": figure.svg for figure in pages[lang].figures if figure.svg}
    files = {PAGE: page_of(pages, lang), json_name: json_text(document), **charts, **(more or {})}
    try:
        _check_files(folder, json_name, files)
        folder.mkdir(parents=True, exist_ok=True)
        kept = [f"{digest}  {name}\n" for name, digest in files_in(folder).items() if name not in files and digest]
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        (folder / LIST).write_text(listing(folder, files) + "".join(kept), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {folder}: {error.strerror or error}", hint="choose another folder") from error
    note(f"wrote {folder}/: {', '.join(files)}")
