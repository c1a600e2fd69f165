"""Where answers go: data to stdout, notes and errors to stderr, one JSON document with --json; errors become exit codes
here.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Literal, Protocol

import typer

from eastwest.errors import EXIT_FINDINGS, EXIT_INTERNAL, EXIT_OK, EXIT_USAGE, CannotTell, EastwestError, InputError

Lang = Literal["en", "zh"]
NARROWEST, PLAIN_WIDTH, WIDEST = 60, 100, 160  # columns
BUG_NOTE = "this is a bug of eastwest; please report it with the command and the text above"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verb answers: the JSON document, the text for people, and the exit code."""

    document: dict[str, Any]
    text: str
    exit_code: int = EXIT_OK


class Judged(Protocol):
    """A text of the user's that was judged: its verdict, and its JSON document."""

    @property
    def verdict(self) -> str:
        """Pass, warn, fail or unknown."""

    def as_json(self, lang: str) -> dict[str, Any]:
        """The document of the command line's contract."""


def answer_of(judged: Judged, text: str, lang: Lang) -> Answer:
    """The answer of a verb that judges: document, text, and the exit code of the verdict."""
    return Answer(judged.as_json(lang), text, exit_code_of(judged.verdict))


def wrapped(text: str, indent: int) -> list[str]:
    """A text in lines of the terminal's width, each set in by `indent` columns."""
    from eastwest.report.formats.text_layout import wrap

    return [" " * indent + line for line in wrap(text, text_width() - indent)]


def exit_code_of(verdict: str) -> int:
    """0 for pass and warn, 1 for fail, 3 for unknown."""
    return {"fail": EXIT_FINDINGS, "unknown": CannotTell.exit_code}.get(verdict, EXIT_OK)


def colour_wanted() -> bool:
    """Colours on a terminal that has them only, and never with NO_COLOR (no-color.org)."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def prepare_streams() -> None:
    """Make the three standard streams safe: a closed one is a null device, a letter that the terminal's encoding
    lacks is escaped.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            null = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - open as long as the program runs
            setattr(sys, name, null)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def text_width() -> int:
    """Columns of the terminal, between 60 and 160; 100 when the output is no terminal."""
    if not sys.stdout.isatty():
        return PLAIN_WIDTH
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size((PLAIN_WIDTH, 0)).columns))


def run(verb: str, as_json: bool, lang: Lang, answer: Callable[[], Answer]) -> None:
    """Print the answer of one verb and leave with its exit code; every error leaves in the same shape.

    The broad catch is the outermost runner's: what nobody foresaw is a bug of ours (exit 70), shown with its traceback
    on stderr.
    """
    try:
        result = answer()
        text = _json_text(result.document) if as_json else result.text
    except EastwestError as error:
        _fail(verb, as_json, lang, error)
    except Exception as error:
        traceback.print_exc()
        _print_failure(verb, as_json, EXIT_INTERNAL, f"{type(error).__name__}: {error}", BUG_NOTE, [])
        raise typer.Exit(EXIT_INTERNAL) from error
    _print_data(text)
    raise typer.Exit(result.exit_code)


def note(text: str) -> None:
    """One line for the person at the terminal, on stderr."""
    sys.stderr.write(text + "\n")


def refuse_usage(verb: str, as_json: bool, message: str) -> None:
    """The JSON document of a command line that could not be read; the reason is on stderr already."""
    if as_json:
        _print_data(_json_text(_failure(verb, EXIT_USAGE, message, "`eastwest VERB --help` lists the options", [])))


def _json_text(document: Any) -> str:
    """One strict JSON document; in ASCII when stdout cannot show more. Raises ValueError for NaN and infinity."""
    ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
    return json.dumps(document, ensure_ascii=ascii_only, allow_nan=False, indent=1)


def _print_data(text: str) -> None:
    """Write to stdout. A reader that has left (`| head`) is no error; a full disk is one."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except OSError as error:
        abandon_stdout(error)


def abandon_stdout(error: OSError) -> None:
    """Give stdout up after a failed write, so that nothing is written at the end of the program. Leaves with exit code
    2 unless its reader has left.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        sys.stderr.write(f"error: standard output cannot be written: {error.strerror or error}\n")
        raise typer.Exit(EXIT_USAGE) from error


def _fail(verb: str, as_json: bool, lang: Lang, error: EastwestError) -> None:
    """Show one of our errors and leave with its exit code."""
    if isinstance(error, InputError):
        from eastwest.spec.mistakes import render_mistakes

        text, findings = render_mistakes(error, lang), [finding.as_json(lang) for finding in error.findings]
        if as_json:
            _print_failure(verb, as_json, error.exit_code, "invalid input", "", findings)
        sys.stderr.write(text if text.endswith("\n") else text + "\n")
    else:
        _print_failure(verb, as_json, error.exit_code, error.message, error.hint, [])
    raise typer.Exit(error.exit_code) from error


def _print_failure(
    verb: str, as_json: bool, exit_code: int, message: str, hint: str, findings: list[dict[str, Any]]
) -> None:
    """One error as text on stderr, or as a JSON document on stdout."""
    if as_json:
        _print_data(_json_text(_failure(verb, exit_code, message, hint, findings)))
        if findings:
            return
    sys.stderr.write(f"error: {message}\n" + (f"  hint: {hint}\n" if hint else ""))


def _failure(verb: str, exit_code: int, message: str, hint: str, findings: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema": f"eastwest.{verb}/1",
        "verdict": "unknown",
        "findings": findings,
        "error": {"message": message, "hint": hint, "exit_code": exit_code},
    }
