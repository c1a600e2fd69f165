"""`eastwest validate TABLE FILE`: published rows against what the product predicts, every number singly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import typer

from eastwest.cli.options import ConstantsFile, Json, Lang, Language, own_constants
from eastwest.cli.output import Answer, exit_code_of, run, text_width
from eastwest.cli.reading import read_input

if TYPE_CHECKING:
    from eastwest.plan.own_constants.file import OwnConstants
    from eastwest.plan.validation.leave_one_out import StepModel


class Table(StrEnum):
    """Tables of published rows that can be judged."""

    designs = "designs"
    training = "training"
    collectives = "collectives"
    effects = "effects"


class Validated(Protocol):
    """A judged table: `verdict` is unknown when nothing could be judged, `as_json` the document of the contract."""

    @property
    def verdict(self) -> str:
        """Pass, warn, fail or unknown."""

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The whole result in JSON's types."""


Spoken = tuple[Validated, str]  # a judged table and its text for people
Judge = Callable[..., Spoken]  # text, its name, own constants, language, columns


def validate(
    table: Annotated[Table, typer.Argument(help="What the rows are.")],
    file: Annotated[str, typer.Argument(help="Table in YAML; - for standard input.")],
    constants: ConstantsFile = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for validate.json and report.html.")] = None,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Judge published rows against the product: every printed figure singly, and why it differs."""
    run("validate", json, lang.value, lambda: _answer(table, file, constants, out, lang.value))


def _answer(table: Table, file: str, constants: str | None, out: Path | None, lang: Literal["en", "zh"]) -> Answer:
    own = own_constants(constants)
    if out is not None:
        from eastwest.cli.pages import check_page

        check_page(out, "validate.json")
    validated, text = JUDGES[table](read_input(file), file, own, lang, text_width())
    document = validated.as_json(lang)
    if out is not None:
        from eastwest.cli.pages import write_page
        from eastwest.report.validation_page import validation_document

        other: Literal["en", "zh"] = "zh" if lang == "en" else "en"
        written = {lang: document, other: validated.as_json(other)}
        pages = {name: validation_document(found, file, name) for name, found in written.items()}
        write_page(out, "validate.json", document, pages, lang)
    return Answer(document, text, exit_code_of(validated.verdict))


def _designs(text: str, source: str, own: OwnConstants | None, lang: Literal["en", "zh"], width: int) -> Spoken:
    from eastwest.plan.validate_designs import validate_designs
    from eastwest.report.formats.text_designs import designs_text

    validated = validate_designs(text, source)
    return validated, designs_text(validated, lang, width)


def _training(text: str, source: str, own: OwnConstants | None, lang: Literal["en", "zh"], width: int) -> Spoken:
    from eastwest.plan.validate_training import validate_training
    from eastwest.report.formats.text_training import training_text

    validated = validate_training(text, source, _step_model(own))
    return validated, training_text(validated.as_json(lang), lang, width)


def _step_model(own: OwnConstants | None) -> StepModel[Any] | None:
    """The step model with own constants; None for the shipped ones."""
    if own is None or own.step is None:
        return None
    from eastwest.plan.validation.analytic_model import model_with

    return model_with(own.step)


def _collectives(text: str, source: str, own: OwnConstants | None, lang: Literal["en", "zh"], width: int) -> Spoken:
    from eastwest.plan.validate_collectives import validate_collectives
    from eastwest.report.formats.text_collectives import collectives_text

    validated = validate_collectives(text, source, own)
    return validated, collectives_text(validated.as_json(lang), lang, width)


def _effects(text: str, source: str, own: OwnConstants | None, lang: Literal["en", "zh"], width: int) -> Spoken:
    from eastwest.plan.validate_effects import validate_effects
    from eastwest.report.formats.text_effects import effects_text

    validated = validate_effects(text, source)
    return validated, effects_text(validated.as_json(lang), lang, width)


JUDGES: Mapping[Table, Judge] = {  # a new table: one line here
    Table.designs: _designs,
    Table.training: _training,
    Table.collectives: _collectives,
    Table.effects: _effects,
}
