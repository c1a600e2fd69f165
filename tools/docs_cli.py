"""docs/reference/cli.md: every verb with its arguments and options, read from the functions behind the verbs."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from eastwest.cli.main import app

CLI_HEAD = """\
# Command line

Data goes to stdout, notes and errors to stderr. `--json` prints one JSON document (`eastwest schema` lists their
schemas), `--lang zh` prints messages in Chinese. No verb here opens a network connection. Generated from the program.

| exit | means |
|---|---|
| 0 | done; verdict pass or warn |
| 1 | done; at least one finding of severity error |
| 2 | wrong usage or invalid input: every mistake at once, with file and line |
| 3 | cannot tell: evidence is missing; says which, and the command that would produce it |
| 70 | a bug of ours |
"""
WORDS = {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "PATH"}


@dataclass(frozen=True)
class Parameter:
    """One argument or option of a verb: as written (`--out`, `SITE`), what follows it, default and meaning."""

    written: str
    value: str
    default: str
    meaning: str
    is_option: bool
    required: bool


def cli_page() -> str:
    """The whole page."""
    return "\n".join([CLI_HEAD, *(_verb(name, call) for name, call in sorted(verbs().items()))])


def verbs() -> dict[str, Callable[..., Any]]:
    """Verb -> the function behind it."""
    calls = [command.callback for command in app.registered_commands if command.callback]
    return {str(call.__name__).replace("_", "-"): call for call in calls}


def parameters(call: Callable[..., Any]) -> Iterator[Parameter]:
    """The arguments and options of a verb in its own order."""
    for name, each in inspect.signature(call, eval_str=True).parameters.items():
        annotated = get_origin(each.annotation) is Annotated
        kind, info = get_args(each.annotation)[:2] if annotated else (each.annotation, None)
        is_option = type(info).__name__ == "OptionInfo"
        # Beside Annotated, typer holds the first declaration as `default` until it builds the command.
        declared = [getattr(info, "default", None), *(getattr(info, "param_decls", None) or ())]
        options = [word for word in declared if isinstance(word, str) and word.startswith("--")]
        yield Parameter(
            options[0] if options else name.upper().replace("_", "-"),
            _value(kind) if is_option else "",
            _default(each.default),
            getattr(info, "help", None) or "",
            is_option,
            each.default is inspect.Parameter.empty,
        )


def _value(kind: Any) -> str:
    """What follows an option: nothing for a switch, the choices, or a word for the kind of value."""
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(choice.value) for choice in kind)
    return "" if kind is bool else WORDS.get(kind, "TEXT")


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "**required**"
    if value is None or value is False:
        return "–"
    return f"`{value.value if isinstance(value, Enum) else value}`"


def _verb(name: str, call: Callable[..., Any]) -> str:
    found = list(parameters(call))
    words = [each.written if each.required else f"[{each.written}]" for each in found if not each.is_option]
    usage = " ".join(["eastwest", name, *words, "[OPTIONS]"])
    table = ["| argument or option | default | meaning |", "|---|---|---|"]
    for each in found:
        written = f"`{each.written} {each.value}`".replace(" `", "`").replace("|", "\\|")
        table.append(f"| {written} | {each.default} | {each.meaning.replace('|', chr(92) + '|')} |")
    about = inspect.getdoc(call) or ""
    return "\n".join([f"## {name}", "", about, "", f"`{usage}`", "", *table, ""])
