"""`eastwest init`: a commented site file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, run

DEFAULT_TEMPLATE = "two-tier"
DEFAULT_FILE = "site.yaml"


def init(
    path: Annotated[Path, typer.Argument(help="File to write; - for standard output.")] = Path(DEFAULT_FILE),
    template: Annotated[str, typer.Option("--template", help="Template; --list shows them.")] = DEFAULT_TEMPLATE,
    show: Annotated[bool, typer.Option("--list", help="List the templates and write nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Write a commented site file."""
    run("init", json, lang.value, lambda: _list() if show else _answer(path, template, force))


def template_names() -> tuple[str, ...]:
    """The templates in alphabetical order."""
    from importlib.resources import files

    names = (item.name for item in (files("eastwest.spec") / "templates").iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def template_text(name: str) -> str:
    """The commented text of one template. Raises UsageError with the nearest name when there is none."""
    from importlib.resources import files

    from eastwest.errors import UsageError
    from eastwest.registry import nearest

    if name not in template_names():
        near = nearest(name, template_names())
        hint = f"did you mean {near}?" if near else f"known: {', '.join(template_names())}"
        raise UsageError(f"unknown template {name!r}", hint=hint)
    return (files("eastwest.spec") / "templates" / f"{name}.yaml").read_text(encoding="utf-8")


def template_summary(name: str) -> str:
    """The first sentence of a template: what it describes."""
    comment = template_text(name).partition("\n\n")[0]
    words = " ".join(line.removeprefix("#").strip() for line in comment.splitlines())
    return words.partition(". ")[0].partition(":")[0].removesuffix(".")


def write_template(path: Path, name: str, *, force: bool = False) -> Path:
    """The file written with a template's text. Raises UsageError when it is there already or cannot be written."""
    from eastwest.errors import UsageError

    text = template_text(name)
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already", hint="name another file, or write over it with --force") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} cannot be written: {reason}", hint="check the folder and its permissions") from error
    return path


def _list() -> Answer:
    rows = [{"template": name, "summary": template_summary(name)} for name in template_names()]
    width = max(len(row["template"]) for row in rows)
    text = "\n".join(f"{row['template']:<{width}}  {row['summary']}" for row in rows)
    return Answer({"schema": "eastwest.init/1", "verdict": "pass", "findings": [], "templates": rows}, text)


def _answer(path: Path, template: str, force: bool) -> Answer:
    document = {"schema": "eastwest.init/1", "verdict": "pass", "findings": [], "template": template}
    if str(path) == "-":
        text = template_text(template)
        return Answer(document | {"text": text}, text)
    write_template(path, template, force=force)
    return Answer(document | {"path": str(path)}, f"wrote {path} from template {template}; next: eastwest plan {path}")
