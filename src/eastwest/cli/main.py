"""The command line: one file per verb, each imported light; the heavy libraries are imported by the verb that needs
them.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

import eastwest
from eastwest.cli import (
    calibrate,
    check,
    explain,
    hardware,
    init,
    plan,
    predict,
    schema,
    score,
    simulate,
    size,
    validate,
    why,
)
from eastwest.cli.output import abandon_stdout, prepare_streams, refuse_usage
from eastwest.errors import EXIT_OK, EXIT_USAGE

_VERB_FUNCTIONS = (
    calibrate.calibrate,
    check.check,
    explain.explain,
    hardware.hardware,
    init.init,
    plan.plan,
    predict.predict,
    schema.schema,
    score.score,
    simulate.simulate,
    size.size,
    validate.validate,
    why.why,
)
# New objects between two searches for garbage: a plan makes millions of rows and hardly any cycles (default 700).
GARBAGE_AFTER = 100_000
_VERBS = frozenset(verb.__name__ for verb in _VERB_FUNCTIONS)
_COMMAND_LINE_ERROR: Any = typer.BadParameter.__mro__[2]  # click's ClickException, which typer does not export

app = typer.Typer(
    name="eastwest",
    help="Plan, prove, configure, accept, watch and diagnose the east-west network of an AI cluster.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in _VERB_FUNCTIONS:
    app.command()(verb)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"eastwest {eastwest.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Options of the program itself."""


def main() -> None:
    """The `eastwest` command: every way out has an exit code of the contract, and with --json its document."""
    gc.set_threshold(GARBAGE_AFTER)
    prepare_streams()
    try:
        code = app(standalone_mode=False)
    except typer.Exit as end:
        code = end.exit_code
    except _COMMAND_LINE_ERROR as error:
        code = _refuse(error)
    except OSError as error:
        code = _give_up(error)
    sys.exit(code or EXIT_OK)


def _refuse(error: Any) -> int:
    """Show what typer could not read, and answer in JSON when that was wished for."""
    error.show()
    arguments = sys.argv[1:]
    verb = next((word for word in arguments if word in _VERBS), "usage")
    return _code_of(lambda: refuse_usage(verb, "--json" in arguments, error.format_message()))


def _give_up(error: OSError) -> int:
    """Exit code after typer could not print its own text (help, version)."""
    return _code_of(lambda: abandon_stdout(error), EXIT_OK)


def _code_of(act: Callable[[], None], code: int = EXIT_USAGE) -> int:
    try:
        act()
    except typer.Exit as end:
        return end.exit_code
    return code
