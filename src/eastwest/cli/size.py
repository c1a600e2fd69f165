"""`eastwest size`: the arithmetic of a fabric without a site file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, exit_code_of, run, text_width

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from eastwest.errors import InputError
    from eastwest.spec.switches import SwitchWish


def size(
    gpus: Annotated[int, typer.Option("--gpus", help="GPUs in all (cards, 卡).")],
    nics_per_server: Annotated[int, typer.Option("--nics-per-server", help="East-west NICs in one server.")] = 8,
    nic: Annotated[str, typer.Option("--nic", help="Rate of one NIC, such as 400G.")] = "400G",
    switch: Annotated[str, typer.Option("--switch", help="Switch: 64x400G, or a catalogue model.")] = "64x400G",
    gpus_per_server: Annotated[int, typer.Option("--gpus-per-server", help="GPUs in one server.")] = 8,
    oversubscription: Annotated[str, typer.Option("--oversubscription", help="Accepted down:up at the leaf.")] = "1:1",
    rail_optimized: Annotated[bool, typer.Option("--rail-optimized", help="One leaf per NIC index.")] = False,
    planes: Annotated[int, typer.Option("--planes", help="Disjoint switching planes.")] = 1,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Size a fabric: tiers, leaves, spines, links, free ports, and the counter-offers."""
    asked = {
        "gpus": gpus,
        "nics_per_server": nics_per_server,
        "nic": nic,
        "switch": switch,
        "gpus_per_server": gpus_per_server,
        "oversubscription": oversubscription,
        "rail_optimized": rail_optimized,
        "planes": planes,
    }
    run("size", json, lang.value, lambda: _answer(asked, lang.value))


def _answer(asked: dict[str, Any], lang: Literal["en", "zh"]) -> Answer:
    from eastwest.errors import UsageError
    from eastwest.fabric.sizing import size as size_fabric
    from eastwest.report.formats import text_size
    from eastwest.spec.resolve import resolve_switch
    from eastwest.units import UnitError, parse_rate, parse_ratio

    try:
        sizing = size_fabric(
            gpus=asked["gpus"],
            nics_per_server=asked["nics_per_server"],
            nic_rate_bps=parse_rate(asked["nic"]),
            switch=resolve_switch(_switch(asked["switch"])),
            gpus_per_server=asked["gpus_per_server"],
            oversubscription=parse_ratio(asked["oversubscription"]),
            rail_optimized=asked["rail_optimized"],
            planes=asked["planes"],
        )
    except UnitError as error:
        raise UsageError(str(error), hint="`eastwest size --help` shows the form of each option") from error
    document = {
        "schema": "eastwest.size/1",
        "verdict": sizing.verdict,
        "findings": [finding.as_json(lang) for finding in sizing.findings],
        "asked": asked,
        **sizing.as_json(),
    }
    return Answer(document, text_size.render(document, lang, text_width()), exit_code_of(sizing.verdict))


def _bad_switch(text: str, errors: Sequence[ErrorDetails]) -> InputError:
    """What is wrong with ports x rate, in the words that a site file gets."""
    from eastwest.errors import InputError
    from eastwest.spec.mistakes import findings_of_flaws, flaws_of_schema

    placed: list[Any] = [{**error, "loc": ("fabric", *error["loc"])} for error in errors]
    flaws = flaws_of_schema(placed, {"fabric": {"switch": text}})
    return InputError(findings_of_flaws(flaws, f"--switch {text}", None, ()))


def _switch(text: str) -> SwitchWish:
    """The switch of `64x400G` or of a catalogue model. Raises UsageError."""
    from pydantic import ValidationError

    from eastwest.errors import UsageError
    from eastwest.spec.switches import FabricWish

    try:
        wish = FabricWish.model_validate({"switch": text}).switch
    except ValidationError as error:
        raise _bad_switch(text, error.errors(include_url=False)) from error
    if wish is None:
        raise UsageError("--switch is empty", hint="write 64x400G, or a model that `eastwest hardware` lists")
    return wish
