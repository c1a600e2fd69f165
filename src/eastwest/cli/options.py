"""Options that every verb shares, spelled once."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from eastwest.plan.own_constants.file import OwnConstants


class Language(StrEnum):
    """Languages of messages."""

    en = "en"
    zh = "zh"


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Lang = Annotated[Language, typer.Option("--lang", help="Language of messages: en or zh.")]
ConstantsFile = Annotated[
    str | None, typer.Option("--constants", help="Own constants that `eastwest calibrate --out` wrote.")
]


def own_constants(path: str | None) -> OwnConstants | None:
    """Own constants of --constants; None without the option. Raises UsageError for a file that holds none."""
    if path is None:
        return None
    from eastwest.plan.own_constants.file import read_constants

    return read_constants(path)
