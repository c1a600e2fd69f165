"""`eastwest predict SITE`: step and token times with interval, sensitivities, assumptions and limits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from eastwest.cli.options import ConstantsFile, Json, Lang, Language, own_constants
from eastwest.cli.output import Answer, exit_code_of, run, text_width


def predict(
    site: Annotated[str, typer.Argument(help="Site file, .gz too; - for standard input.")],
    megatron_args: Annotated[
        Path | None,
        typer.Option("--megatron-args", help="Launch script whose Megatron-LM arguments give the training job."),
    ] = None,
    constants: ConstantsFile = None,
    slicing: Annotated[
        bool, typer.Option("--slicing", help="Also print message size, count and exposed time over TP, PP and bucket.")
    ] = False,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Predict step or token time of each job: interval, terms, what moves it most, what is assumed, where not valid."""
    run("predict", json, lang.value, lambda: _answer(site, megatron_args, constants, slicing, lang.value))


def _answer(
    source: str, megatron_args: Path | None, constants: str | None, slicing: bool, lang: Literal["en", "zh"]
) -> Answer:
    from eastwest.cli.plan import load
    from eastwest.plan.predict_site import predict_site
    from eastwest.report.formats.text_predict import predict_text

    own = own_constants(constants)
    found = predict_site(load(source, megatron_args), own)
    document = found.as_json(lang)
    return Answer(document, predict_text(document, lang, text_width(), slicing), exit_code_of(found.verdict))
