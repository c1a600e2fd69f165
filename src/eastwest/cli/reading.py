"""The text behind an INPUT that is a table or pasted lines: a file, a packed file, or `-` for standard input."""

from __future__ import annotations

import sys


def read_input(name: str) -> str:
    """The text of an INPUT. Raises InputError when there is none that can be read as UTF-8."""
    from eastwest.plan.designs.source import MOST_BYTES, decode, read_file

    return decode(sys.stdin.buffer.read(MOST_BYTES + 1), "-") if name == "-" else read_file(name)
