"""Blocks of a page that are made by running something. A marker is an HTML comment in a line of its own:

    <!-- run: eastwest size --gpus 64 -->          the next text block becomes the command and what it prints
    <!-- run (exit 1): eastwest plan bad.yaml -->  the same for a command that must leave with that status
    <!-- run (first 9 lines): eastwest size ... -->  the same, cut after that many lines of output
    <!-- run-python -->                            the next Python block is run; a text block behind it gets its output
    <!-- write: launch.sh -->                      the next block is written to that file
    <!-- edit: site.yaml -->                       the next diff block is applied to that file, which must fit

A page has its own working folder with a copy of examples/, and its own Python names; markers work in the order of the
page. A text block that is missing is put in.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MARKER = re.compile(
    r"^<!-- (?P<verb>run|run-python|write|edit)(?: \((?:exit (?P<exit>\d+))?(?:, )?(?:first (?P<first>\d+) lines)?\))?"
    r"(?:: (?P<rest>.+?))? -->$"
)
FENCE = "```"
SHELL_WORDS = ("|", ">", "&&", ";")


class BlockError(Exception):
    """A block that cannot be made: the page, the line, and what went wrong."""


@dataclass
class Workshop:
    """The working folder and the Python names of one page."""

    page: str
    folder: Path
    names: dict[str, Any] = field(default_factory=dict)

    def fail(self, line: int, what: str) -> BlockError:
        """The error for a marker in that line (from 0)."""
        return BlockError(f"{self.page}:{line + 1}: {what}")


def refreshed(text: str, page: str, root: Path) -> str:
    """The page's text with every marked block renewed. Raises BlockError."""
    lines = text.splitlines()
    if not any(MARKER.match(line) for line in lines):
        return text
    with tempfile.TemporaryDirectory(prefix="eastwest-docs-") as folder:
        work = Path(folder) / "work"
        shutil.copytree(root / "examples", work / "examples")
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        with contextlib.chdir(work):
            return "\n".join(_lines(lines, Workshop(page, work))) + "\n"


def _lines(lines: list[str], shop: Workshop) -> Iterator[str]:
    """The lines of the page, renewed."""
    index, in_fence = 0, False
    while index < len(lines):
        line = lines[index]
        in_fence ^= line.startswith(FENCE)
        yield line
        index += 1
        marker = None if in_fence else MARKER.match(line)
        if marker is None:
            continue
        if marker["verb"] == "run":
            output = _run(marker, shop, index - 1)
            index = _behind(lines, index, "text")
            yield from (f"{FENCE}text", *output, FENCE)
            continue
        block, end = _block(lines, index, shop)
        yield from lines[index:end]
        index = end
        if marker["verb"] == "run-python":
            printed = _python("\n".join(block), shop, index)
            after = _behind(lines, index, "text")
            if printed:
                yield from ("", f"{FENCE}text", *printed, FENCE)
            index = after
        else:
            _change(marker["verb"], marker["rest"] or "", block, shop, index)


def _behind(lines: list[str], index: int, kind: str) -> int:
    """Where the page goes on behind a block of that kind, when one follows here; else the same place."""
    start = index
    while start < len(lines) and not lines[start].strip():
        start += 1
    if start == len(lines) or lines[start] != FENCE + kind:
        return index
    return lines.index(FENCE, start) + 1


def _block(lines: list[str], index: int, shop: Workshop) -> tuple[list[str], int]:
    """The content of the fenced block that begins here, and where the page goes on."""
    if index >= len(lines) or not lines[index].startswith(FENCE):
        raise shop.fail(index, "a fenced block must follow this marker")
    end = lines.index(FENCE, index + 1)
    return lines[index + 1 : end], end + 1


def _run(marker: re.Match[str], shop: Workshop, line: int) -> list[str]:
    """A prompt with the command, then what it prints, cut where the marker says so; the status when it is not 0."""
    command, status = marker["rest"] or "", int(marker["exit"] or 0)
    words = shlex.split(command)
    plain = words[:1] == ["eastwest"] and not any(word in SHELL_WORDS for word in words)
    output, found = _eastwest(words[1:]) if plain else _shell(command)
    if found != status:
        raise shop.fail(line, f"`{command}` left with status {found}, expected {status}:\n{output}")
    if str(shop.folder.parent) in output:
        raise shop.fail(line, f"`{command}` prints a path of this machine:\n{output}")
    rows = [row.rstrip() for row in output.rstrip().splitlines()]
    if marker["first"] and len(rows) > int(marker["first"]):
        rows = [*rows[: int(marker["first"])], "[…]"]
    return [f"$ {command}", *rows, *(["$ echo $?", str(status)] if status else [])]


def _eastwest(arguments: list[str]) -> tuple[str, int]:
    """What the command line prints (both streams in order) and its status, run in this process."""
    from typer.testing import CliRunner

    from eastwest.cli.main import app

    result = CliRunner().invoke(app, arguments, prog_name="eastwest")
    return result.output, result.exit_code


def _shell(command: str) -> tuple[str, int]:
    """What a shell command prints (both streams) and its status; `eastwest` is that of this interpreter."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    done = subprocess.run(
        ["sh", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )
    return done.stdout, done.returncode


def _python(code: str, shop: Workshop, line: int) -> list[str]:
    """What the code prints, run with the names of the page."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, shop.page, "exec"), shop.names)
    except (ArithmeticError, AttributeError, ImportError, LookupError, NameError, TypeError, ValueError) as error:
        raise shop.fail(line, f"the Python block fails: {type(error).__name__}: {error}") from error
    return [row.rstrip() for row in printed.getvalue().rstrip().splitlines()]


def _change(verb: str, name: str, block: list[str], shop: Workshop, line: int) -> None:
    """Write a file of the working folder, or apply the - and + lines of a diff block to it."""
    path = shop.folder / name
    if verb == "write":
        path.write_text("\n".join(block) + "\n", encoding="utf-8")
        return
    old = "\n".join(row[1:] for row in block if row[:1] in ("-", " "))
    new = "\n".join(row[1:] for row in block if row[:1] in ("+", " "))
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise shop.fail(line, f"{name} has the text of this diff {text.count(old)} times, expected once:\n{old}")
    path.write_text(text.replace(old, new), encoding="utf-8")
