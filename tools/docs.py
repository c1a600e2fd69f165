"""Renew what is generated in the documentation: the reference pages, and the output blocks of the pages for people.

    python tools/docs.py            rewrite what is stale
    python tools/docs.py --check    list what is stale and exit 1 when there is any; write nothing

The reference comes from the package itself (models of the site file, messages, catalogue, command line), the blocks
from commands that are run here (docs_blocks.py says how a block is marked).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WITH_BLOCKS = ("README*.md", "docs/tutorials/*.md", "docs/how-to/*.md", "docs/explanation/*.md")
# The terminal that the blocks pretend to have; set before anything reads it.
TERMINAL = {"COLUMNS": "100", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}


def main(arguments: list[str] | None = None) -> int:
    """Exit status of one call: 0 when nothing is stale (any more), 1 when `--check` found some or a block broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="list stale files and write nothing")
    options = parser.parse_args(arguments)
    os.environ.update(TERMINAL)
    from docs_blocks import BlockError

    try:
        stale = stale_pages()
    except BlockError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    for path, text in stale.items():
        print(f"{'stale' if options.check else 'wrote'}: {path.relative_to(ROOT).as_posix()}")
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale and options.check:
        sys.stderr.write("run `.venv/bin/python tools/docs.py` and commit what it writes\n")
    return 1 if stale and options.check else 0


def stale_pages() -> Mapping[Path, str]:
    """Every page whose text on disk is not what it should be, with the text that it should have."""
    from docs_blocks import refreshed
    from docs_cli import cli_page
    from docs_reference import pages
    from docs_site import site_page

    reference = {**pages(), "cli.md": cli_page(), "site.md": site_page()}
    wanted = {ROOT / "docs" / "reference" / name: text for name, text in reference.items()}
    for pattern in WITH_BLOCKS:
        for path in sorted(ROOT.glob(pattern)):
            wanted[path] = refreshed(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix(), ROOT)
    return {path: text for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text}


if __name__ == "__main__":
    raise SystemExit(main())
