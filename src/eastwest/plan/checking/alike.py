"""Lines of a long list that differ only in numbers which say nothing: names of devices, ports and lines, and lengths.

A cable list of 200,000 lines has a few hundred kinds of lines. What a kind says is read once; the time of a list then
grows with its lines and hardly with what the patterns cost.
"""

from __future__ import annotations

import re
from functools import lru_cache

_DIGITS = str.maketrans("123456789", "0" * 9)
KEPT_TEXTS = 4096  # texts whose blurred form is kept
_NUMBERS = re.compile(  # behind a word that no part is named by, or before a unit of length
    r"(\b(?:c(?=\d+(?:[;:, ]|$))|(?:cable|core|gpu|host|leaf|line|link|nic|node|pod|port|rack|room|row|server|spine|su)"
    r"s?[-_ #]?))\d+(?:[/:.-]\d+)*\b(?! ?[GTx×*])|\b\d+(?:\.\d+)?(?= ?k?m\b)",
    re.IGNORECASE,
)


def outline(line: str) -> str:
    """The line with every digit as 0: lines of one outline match the same patterns, so they give the same names.

    >>> outline("leaf-017 port 3, 30 m") == outline("leaf-202 port 9, 45 m")
    True
    """
    return line.translate(_DIGITS)


@lru_cache(maxsize=KEPT_TEXTS)
def blur(text: str) -> str:
    """The text with 0 for the numbers of devices, ports and labels and for lengths; rates, types and counts stay.

    >>> blur("C0017; leaf-017 port 3/1, 400G DR4, OS2 30 m")
    'C0; leaf-0 port 0, 400G DR4, OS2 0 m'
    """
    return _NUMBERS.sub(_zero, text)


def _zero(match: re.Match[str]) -> str:
    return f"{match[1] or ''}0"
