"""Options that every verb shares, spelled once."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from eastwest.errors import UsageError

if TYPE_CHECKING:
    from eastwest.plan.own_constants.file import OwnConstants


class Language(StrEnum):
    """Languages of messages."""

    en = "en"
    zh = "zh"


ALGORITHM_NAMES = ("ring", "tree", "nvls", "nvlstree", "collnet")  # as NCCL_ALGO spells them

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Lang = Annotated[Language, typer.Option("--lang", help="Language of messages: en or zh.")]
ConstantsFile = Annotated[
    str | None,
    typer.Option(
        "--constants", help="Own constants that `eastwest calibrate --out` wrote; what they lack stays as shipped."
    ),
]


def own_constants(path: str | None) -> OwnConstants | None:
    """Own constants of --constants; None without the option. Raises UsageError for a file that holds none."""
    if path is None:
        return None
    from eastwest.plan.own_constants.file import read_constants

    return read_constants(path)


def check_algorithm(name: str | None) -> None:
    """Refuse a --algorithm that NCCL has not. Raises UsageError."""
    if name is not None and name.lower() not in ALGORITHM_NAMES:
        raise UsageError(f"--algorithm: {name!r} is none of {', '.join(ALGORITHM_NAMES)}", hint="for example ring")
