"""The command line: one file per verb, each imported light; the heavy libraries are imported by the verb that needs
them.
"""

from __future__ import annotations

from typing import Annotated

import typer

import eastwest
from eastwest.cli import explain, hardware, init, plan, schema, size, why

app = typer.Typer(
    name="eastwest",
    help="Plan, prove, configure, accept, watch and diagnose the east-west network of an AI cluster.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (explain.explain, hardware.hardware, init.init, plan.plan, schema.schema, size.size, why.why):
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
    """The `eastwest` command."""
    app()
