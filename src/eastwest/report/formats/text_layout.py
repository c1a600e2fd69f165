"""Lines of a terminal: aligned columns, texts cut, folded or wrapped to a width; Chinese letters take two columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

INDENT = "  "


def columns(rows: Iterable[tuple[str, ...]], width: int, right: tuple[int, ...] = ()) -> list[str]:
    """Rows as aligned columns, two spaces apart, cut to a terminal `width` columns wide; the last column is not padded.

    Chinese characters count as two columns.
    """
    table = list(rows)
    if not table:
        return []
    widths = [max(display_width(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = []
        for index, (cell, widest) in enumerate(zip(row, widths, strict=True)):
            space = " " * (widest - display_width(cell))
            cells.append(space + cell if index in right else cell + space)
        lines.append(cut("  ".join(cells).rstrip(), width - len(INDENT)))
    return lines


def display_width(text: str) -> int:
    """Columns of a terminal that a text takes: wide and full-width characters take two, combining marks none (Unicode
    annex 11).
    """
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fold(text: str, width: int) -> list[str]:
    """A text on at most two lines; the second starts two columns in and is cut with an ellipsis when it is too long.

    A line ends at a space where there is one in its last third, else anywhere, as Chinese does.
    """
    if display_width(text) <= width:
        return [text]
    used, end = 0, 0
    while used + display_width(text[end]) <= width:
        used += display_width(text[end])
        end += 1
    end = _break_before(text, end)
    return [text[:end].rstrip(), INDENT + cut(text[end:].lstrip(), width - len(INDENT))]


def _break_before(text: str, end: int) -> int:
    """Where a line of at most `end` characters breaks: at a space that does not part a number from its unit."""
    for at_space in range(end, 2 * end // 3, -1):
        if text[at_space] == " " and not text[at_space - 1].isdigit():
            return at_space
    return end


def cut(text: str, width: int) -> str:
    """A text shortened with an ellipsis to a number of columns."""
    if display_width(text) <= width:
        return text
    used = 0
    for index, character in enumerate(text):
        used += display_width(character)
        if used > width - 1:
            return text[:index].rstrip() + "…"
    return text


def wrap(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` terminal columns, broken at spaces where there are any, else anywhere."""
    lines, line = [], ""
    for word in text.split(" "):
        candidate = f"{line} {word}" if line else word
        if display_width(candidate) <= width:
            line = candidate
            continue
        if line:
            lines.append(line)
        while display_width(word) > width:
            end = _fitting(word, width)
            lines.append(word[:end])
            word = word[end:]
        line = word
    return [*lines, line]


def _fitting(word: str, width: int) -> int:
    """Characters of a word that fit into `width` columns, at least one."""
    used = 0
    for index, letter in enumerate(word):
        used += display_width(letter)
        if used > width:
            return max(1, index)
    return len(word)
