"""`eastwest plan SITE`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eastwest.cli.options import ConstantsFile, Json, Lang, Language, own_constants
from eastwest.cli.output import Answer, colour_wanted, exit_code_of, note, run, text_width
from eastwest.cli.why import last_plan_path

if TYPE_CHECKING:
    from eastwest.workload.imports.megatron import MegatronArguments


def plan(
    site: Annotated[str, typer.Argument(help="Site file, .gz too; - for standard input.")],
    megatron_args: Annotated[
        Path | None,
        typer.Option("--megatron-args", help="Launch script whose Megatron-LM arguments give the training job."),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option("--prices", help="YAML or CSV file of part, price and currency for the bill.")
    ] = None,
    constants: ConstantsFile = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for plan.json, report.html, cables.csv, …")] = None,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Plan a cluster: traffic account, fabric, placement, policy, prediction, targets, findings, bill of materials."""
    run("plan", json, lang.value, lambda: _answer(site, megatron_args, prices, constants, out, lang.value))


def _answer(
    source: str,
    megatron_args: Path | None,
    prices: Path | None,
    constants: str | None,
    out: Path | None,
    lang: Literal["en", "zh"],
) -> Answer:
    from eastwest.plan.document import plan_document, plan_files
    from eastwest.plan.plan import make_plan
    from eastwest.plan.prices import load_prices
    from eastwest.plan.write import check_folder, write_folder
    from eastwest.report.formats import text

    if out is not None:
        check_folder(out)
    priced = load_prices(prices) if prices is not None else None
    own = own_constants(constants)
    made = make_plan(load(source, megatron_args), priced, own)
    document = plan_document(made, lang)
    if out is not None:
        from eastwest.report.formats import html

        other = "zh" if lang == "en" else "en"
        page = html.render(document, lang, {lang: document, other: plan_document(made, other)})
        files = plan_files(made, document, page)
        write_folder(out, files)
        names = dict.fromkeys(f"{name.partition('/')[0]}/" if "/" in name else name for name in files)
        note(f"wrote {out}/: {', '.join(names)}")
    _remember(document)
    return Answer(
        document,
        text.render(document, lang, colour=colour_wanted(), width=text_width()),
        exit_code_of(document["verdict"]),
    )


def load(source: str, megatron_args: Path | None) -> Any:
    """The site, its training job replaced by the launch arguments when they are given."""
    from eastwest.spec.load import load_site

    if megatron_args is not None:
        from eastwest.workload.imports.megatron import site_with_arguments

        loaded, found = site_with_arguments(source, megatron_args)
        _note_arguments(found)
        return loaded
    return load_site(source)


def _note_arguments(found: MegatronArguments) -> None:
    """Say on stderr which launch arguments the plan uses, which it does not, and what it assumes for them."""
    unused = list(dict.fromkeys(row.text.split()[0] for row in found.unknown if row.text.strip()))
    note(f"launch arguments: {len(found.used)} used, {len(unused)} without meaning for the plan")
    if unused:
        note(f"  not used: {' '.join(unused)}")
    for text in found.assumed:
        note(f"  assumed: {text}")


def _remember(document: dict[str, Any]) -> None:
    """Keep the plan for `eastwest why`; a state folder that cannot be written costs a note, not the plan."""
    from eastwest.plan.write import json_text, write_file

    path = last_plan_path()
    if path is None:
        note("note: the plan is not kept for `eastwest why`: there is no home folder; set XDG_STATE_HOME")
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, json_text(document))
    except OSError as error:
        note(f"note: the plan is not kept for `eastwest why`: {path}: {error.strerror or error}")
