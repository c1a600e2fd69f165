"""Values of a JSON document as people read them: a missing one is "not given", never zero, and hostile text cannot
act.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from eastwest import units
from eastwest.report.wording import Words

Json = Mapping[str, Any]

_SMALLEST_PLAIN = 0.01  # below this a fixed number of decimals would round a value away, so it is written as 4.2e-05
_LEAST_SHARE = 0.001  # per cent are written with one decimal
_LAYOUT = ("tp", "pp", "dp", "cp", "ep")


def _plain(value: float) -> str:
    if 0 < abs(value) < _SMALLEST_PLAIN:
        return f"{value:.3g}"
    return units.format_count(value) if abs(value) < units.MEGA else f"{value:,.6g}" if value % 1 else f"{int(value):,}"


def _size(size_bytes: float) -> str:
    """Sizes below a megabyte exactly: an MTU of 9216 bytes is not 9.22 KB."""
    exact = abs(size_bytes) < units.MEGA and size_bytes == int(size_bytes)
    return f"{int(size_bytes):,} B" if exact else units.format_size(size_bytes)


_BY_UNIT: dict[str, Callable[[float], str]] = {
    "bps": units.format_rate,
    "bit/s": units.format_rate,
    "bytes": _size,
    "B": _size,
    "bytes_per_s": units.format_bandwidth,
    "bytes/s": units.format_bandwidth,
    "B/s": units.format_bandwidth,
    "s": units.format_time,
    "ps": lambda value: units.format_time(value / units.PS_PER_S),
    "m": units.format_length,
    "w": units.format_power,
    "W": units.format_power,
    "down:up": units.format_ratio,
    "ratio": _plain,
    "1": _plain,
    "asn": lambda value: str(int(value)),
}
_RATIO = re.compile(r"_per_[a-z]+$")  # `samples_per_s` is no time, `bytes_per_m` no length
_SUFFIXES = ("bytes", "bps", "ps", "dbm", "s", "m", "w")


def clean(value: Any) -> Any:
    """The same JSON value with control and direction-changing characters of every text made visible (`\\x1b`).

    Names and evidence lines come from files of others: an escape sequence must not reach a terminal, nor a direction
    mark a page.
    """
    if isinstance(value, str):
        return value if value.isprintable() else "".join(_visible(character) for character in value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return value


def _visible(character: str) -> str:
    if character in "\n\t\r":
        return " "
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


def at(tree: Any, *path: str) -> Any:
    """The value at a path of keys, or None when any part of it is missing."""
    for key in path:
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(key)
    return tree


def object_at(tree: Any, *path: str) -> Json:
    """The object at a path of keys; an empty one when it is missing or no object."""
    found = at(tree, *path)
    return found if isinstance(found, Mapping) else {}


def rows_at(tree: Any, *path: str) -> list[Json]:
    """The objects of a list at a path; an empty list when it is missing."""
    found = at(tree, *path)
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list | tuple) else []


def texts_at(tree: Any, *path: str) -> list[str]:
    """The texts of a list at a path; an empty list when it is missing."""
    found = at(tree, *path)
    return [str(item) for item in found] if isinstance(found, list | tuple) else []


def number(value: Any) -> float | None:
    """A finite number, or None: booleans, text, NaN and infinity are no numbers here."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def amount(value: Any) -> int | None:
    """A count given as a number or as the list of the things counted; None when it is neither."""
    if isinstance(value, list | tuple):
        return len(value)
    found = number(value)
    return None if found is None else int(found)


def shown(words: Words, value: Any, formatter: Callable[[float], str] = _plain) -> str:
    """A number in its format, or "not given"."""
    found = number(value)
    return words("not_given") if found is None else formatter(found)


def share_text(share_ratio: float) -> str:
    """A share in per cent; one that rounds to nothing is said to be small, not to be zero."""
    return (
        f"< {units.format_percent(_LEAST_SHARE)}"
        if 0 < share_ratio < _LEAST_SHARE
        else units.format_percent(share_ratio)
    )


def text_of(words: Words, value: Any) -> str:
    """Any JSON value as a short text: a number with thousands, yes or no, a list with commas, or "not given"."""
    if value is None or value == "":
        return words("not_given")
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if isinstance(value, int | float):
        return shown(words, value)
    if isinstance(value, list | tuple):
        return ", ".join(text_of(words, item) for item in value) or words("none")
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {named(words, key, item)}" for key, item in value.items()) or words("none")
    return str(value)


def quantity(words: Words, value: Any, unit: Any) -> str:
    """A value with its unit, scaled (`400e9, "bps"` is 400G); an unknown unit is written behind the number."""
    found, unit = number(value), str(unit or "")
    if found is None:
        return text_of(words, value) + (f" {unit}" if unit and isinstance(value, list | tuple) and value else "")
    if unit in _BY_UNIT:
        return _BY_UNIT[unit](found)
    return f"{_plain(found)} {unit}".rstrip()


def named(words: Words, name: str, value: Any) -> str:
    """A value whose key says its unit (`rate_bps`, `size_bytes`, `step_time_s`); a rate of something else, such as
    `samples_per_s` or `bytes_per_m`, is a plain number whose unit is its name.
    """
    bare = name.removesuffix("_per_gpu")
    if f"_{bare}".endswith("_bytes_per_s"):
        return quantity(words, value, "bytes_per_s")
    if _RATIO.search(bare):
        return text_of(words, value)
    for suffix in _SUFFIXES:
        if bare.endswith(f"_{suffix}"):
            return quantity(words, value, suffix)
    return text_of(words, value)


def layout_text(words: Words, layout: Any) -> str:
    """`TP8 PP2 DP32`: degrees above 1; "not given" without a layout."""
    if not isinstance(layout, Mapping):
        return words("not_given")
    degrees = [f"{key.upper()}{layout[key]}" for key in _LAYOUT if (amount(layout.get(key)) or 1) > 1]
    return " ".join(degrees) or "TP1"


def counted(words: Words, key: str, value: Any) -> str:
    """`8 leaves`, in the words of the language; "not given" keeps its noun (`leaves: not given`)."""
    n_things = amount(value)
    if n_things is None:
        return words("count.missing", noun=words(f"noun.{key}"))
    form = "one" if n_things == 1 else "many"
    return words(f"count.{key}.{form}", n=f"{n_things:,}")


def box_label(words: Words, kind: Any, name: Any) -> str:
    """`firewall fw-1`: a box between two rooms by what it is and what it is called."""
    return f"{words.name('box', kind or 'unknown')} {name or ''}".strip()
