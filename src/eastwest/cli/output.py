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
from typing import Any, Literal

import typer

from eastwest.errors import EXIT_FINDINGS, EXIT_INTERNAL, EXIT_OK, CannotTell, EastwestError, InputError

Lang = Literal["en", "zh"]
NARROWEST, PLAIN_WIDTH, WIDEST = 60, 100, 160  # columns
BUG_NOTE = "this is a bug of eastwest; please report it with the command and the text above"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a verb answers: the JSON document, the text for people, and the exit code."""

    document: dict[str, Any]
    text: str
    exit_code: int = EXIT_OK


def exit_code_of(verdict: str) -> int:
    """0 for pass and warn, 1 for fail, 3 for unknown."""
    return {"fail": EXIT_FINDINGS, "unknown": CannotTell.exit_code}.get(verdict, EXIT_OK)


def colour_wanted() -> bool:
    """Colours on a terminal only, and never with NO_COLOR (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


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
    except EastwestError as error:
        _fail(verb, as_json, lang, error)
    except BrokenPipeError:
        sys.stderr.close()
        raise typer.Exit(EXIT_OK) from None
    except Exception as error:
        traceback.print_exc()
        _print_failure(verb, as_json, EXIT_INTERNAL, f"{type(error).__name__}: {error}", BUG_NOTE, [])
        raise typer.Exit(EXIT_INTERNAL) from error
    _print_data(json.dumps(result.document, ensure_ascii=False, indent=1) if as_json else result.text)
    raise typer.Exit(result.exit_code)


def note(text: str) -> None:
    """One line for the person at the terminal, on stderr."""
    sys.stderr.write(text + "\n")


def _print_data(text: str) -> None:
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


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
        document = {
            "schema": f"eastwest.{verb}/1",
            "verdict": "unknown",
            "findings": findings,
            "error": {"message": message, "hint": hint, "exit_code": exit_code},
        }
        _print_data(json.dumps(document, ensure_ascii=False, indent=1))
        if findings:
            return
    sys.stderr.write(f"error: {message}\n" + (f"  hint: {hint}\n" if hint else ""))
