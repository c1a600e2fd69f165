"""Options that every verb shares, spelled once."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Language(StrEnum):
    """Languages of messages."""

    en = "en"
    zh = "zh"


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Lang = Annotated[Language, typer.Option("--lang", help="Language of messages: en or zh.")]
