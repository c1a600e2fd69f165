"""`eastwest hardware [MODEL]`: the catalogue, each value with its source."""

from __future__ import annotations

from typing import Annotated

import typer

from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, run


def hardware(
    model: Annotated[
        str | None, typer.Argument(help="Catalogue model such as qm9700; all are listed without one.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="gpu, server, nic, switch, asic, optic, cable, pcie or model.")
    ] = None,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Show the hardware catalogue, or one model with every value, unit and source."""
    run("hardware", json, lang.value, lambda: _answer(model, kind))


def _answer(model: str | None, kind: str | None) -> Answer:
    from eastwest.cli import hardware_sheet

    document = hardware_sheet.document(model, kind)
    return Answer(document, hardware_sheet.text(document))
