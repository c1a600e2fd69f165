"""`eastwest why ID`: where one value of the last plan comes from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, run, text_width


def last_plan_path() -> Path | None:
    """Where the last plan is kept: $XDG_STATE_HOME/eastwest/last-plan.json; None when the user has no home folder.

    A relative path in the variable is ignored, as the XDG base directory specification (0.8) asks.
    """
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        try:
            state = Path.home() / ".local" / "state"
        except RuntimeError:
            return None
    return state / "eastwest" / "last-plan.json"


def why(
    id: Annotated[
        str | None, typer.Argument(help="Decision or target, as the plan prints it; all are listed without one.")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", help="A plan.json or the folder that holds it; the last plan when not given."),
    ] = None,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Say why a value of the last plan is what it is: formula, inputs, source, what was rejected."""
    run("why", json, lang.value, lambda: _answer(id, plan, lang.value))


def _answer(wanted: str | None, plan: Path | None, lang: Literal["en", "zh"]) -> Answer:
    from eastwest.report.formats import text_why

    document = _read(plan)
    entries = {entry["id"]: entry for entry in [*document.get("decisions", []), *document.get("targets", [])]}
    if wanted is None:
        chosen = sorted(entries)
    elif wanted in entries:
        chosen = [wanted]
    else:
        chosen = [entry_id for entry_id in sorted(entries) if entry_id.startswith(wanted.rstrip(".") + ".")]
    if wanted is not None and not chosen:
        _refuse(wanted, entries)
    shown = [entries[entry_id] for entry_id in chosen]
    text = text_why.listing(shown, lang) if wanted is None else text_why.render(shown, lang, text_width())
    site = document.get("site", {})
    text = f"{text_why.heading(site if isinstance(site, dict) else {}, lang)}\n{text}"
    result = {"schema": "eastwest.why/1", "verdict": "pass", "findings": [], "site": site, "decisions": shown}
    return Answer(result, text)


def _read(plan: Path | None) -> dict[str, Any]:
    """The plan document to explain. Raises CannotTell when there is none, UsageError when it is no plan."""
    import json

    from eastwest.errors import CannotTell, UsageError

    path = last_plan_path() if plan is None else _plan_file(plan)
    if path is None or not os.path.exists(path):  # noqa: PTH110 - False, not an error, for a name that cannot be
        raise CannotTell(
            f"no plan at {path}" if path else "no plan is kept: there is no home folder",
            needs=["plan.json"],
            hint="run `eastwest plan site.yaml` first, or name one: --plan DIR",
        )
    try:
        document = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} cannot be read as a plan: {error}", hint="run `eastwest plan site.yaml --out DIR`"
        ) from error
    if not _is_plan(document):
        raise UsageError(
            f"{path} is not a plan (schema eastwest.plan/1)", hint="run `eastwest plan site.yaml --out DIR`"
        )
    return dict(document)


def _plan_file(named: Path) -> Path:
    """The plan.json of a folder, or the file itself."""
    return named / "plan.json" if os.path.isdir(named) else named  # noqa: PTH112 - see os.path.exists above


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _is_plan(document: Any) -> bool:
    """Whether it has the shape that a plan's decisions and targets have."""
    if not isinstance(document, dict) or document.get("schema") != "eastwest.plan/1":
        return False
    entries = [document.get("decisions", []), document.get("targets", [])]
    if not all(isinstance(listed, list) for listed in entries):
        return False
    return all(_is_entry(entry) for listed in entries for entry in listed)


def _is_entry(entry: Any) -> bool:
    """Whether one decision or target has an id, its inputs by name, and its alternatives as a list of mappings."""
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        return False
    inputs, others = entry.get("inputs", {}), entry.get("alternatives", [])
    return isinstance(inputs, dict) and isinstance(others, list) and all(isinstance(row, dict) for row in others)


def _refuse(wanted: str, entries: dict[str, Any]) -> None:
    from eastwest.errors import UsageError
    from eastwest.registry import nearest

    near = nearest(wanted, entries)
    hint = f"did you mean {near}?" if near else "`eastwest why` lists every id"
    raise UsageError(f"the plan has no decision or target {wanted!r}", hint=hint)
