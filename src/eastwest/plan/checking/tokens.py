"""A line in plain words as tokens: numbers with their rate, nouns of a network, and what joins them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from eastwest.plan.designs.terms import PIECE
from eastwest.units import GIGA, TERA

Kind = Literal["number", "rate", "noun", "each", "total", "x", "is", "join", "break", "piece", "measure", "word"]
MOST_DIGITS = 9  # of a count
LEAST_CHIP_BPS = TERA  # a rate from here on is that of a whole switch
NOUNS: Mapping[str, str] = {
    "leaf": r"lea(?:f|ves|fs)|tors?|top-of-rack|access",
    "spine": r"spines?|aggregation|agg",
    "core": r"cores?|super-?spines?",
    "server": r"servers?|nodes?|hosts?|machines?|dgx|hgx",
    "gpu": r"gpus?|accelerators?|[abh]\d{2,3}s?|gb\d{3}s?|mi\d{3}x?",
    "nic": r"nics?|hcas?|adapters?|connectx(?:-\d+)?|bluefield(?:-\d+)?|cx-?\d",
    "port": r"ports?|interfaces?|radix",
    "down": r"down|down-?links?|downwards?|downstream|southbound|(?:server|host|node|gpu)-facing",
    "up": r"up|up-?links?|upwards?|upstream|northbound|spine-facing",
    "leafspine": r"leaf(?:-to)?-spine|spine(?:-to)?-leaf|inter-switch",
    "serverleaf": r"(?:server|nic|node|host|gpu)(?:-to)?-(?:leaf|tor)"
    r"|(?:leaf|tor)(?:-to)?-(?:server|nic|node|host|gpu)",
    "spinecore": r"spine(?:-to)?-core|core(?:-to)?-spine",
    "cable": r"cables?|cabling|dacs?|aocs?|accs?|fib(?:re|er)s?|cords?|links?|connections?",
    "switch": r"switch(?:es)?|chassis",
    "module": r"modules?|transceivers?|optics?",
    "rail": r"rails?",
    "plane": r"planes?",
    "tier": r"tiers?|tiered",
    "group": r"racks?|pods?|sus?|stripes?|segments?|blocks?|groups?|rooms?|buildings?|jobs?|quads?|halls?",
}
TIERS = ("leaf", "spine", "core")
_UNITS = (
    r"km|mm|cm|m2|metres|meters|m|kW|MW|W|V|A|RU|U|%|GB/s|MB/s|GiB|MiB|KiB|GB|MB|KB|TB|PB|B|ms|us|µs|ns|s|h|hours?|"
    r"days?|weeks?|months?|years?|minutes?|seconds?|USD|EUR|CNY|RMB|dBm|dB|GHz|MHz|Hz|nm|kg|percent|bytes?|quanta"
)
_TIMES = re.compile(r"(?<=\d)\s*[x×*]\s*(?=\d)")
_TOKEN = re.compile(
    r"(?P<ratio>\d+(?:\.\d+)?\s*:\s*\d+(?:\.\d+)?(?![\d.]))"
    r"|(?P<date>\b\d{4}-\d\d(?:-\d\d)?\b|\d+(?:\.\d+){2,}|[$€¥]\s?[\d.,]+)"
    r"|(?P<rate>(?<![\w.])\d{1,5}(?:\.\d{1,3})?\s?[GT](?:b(?:it)?(?:/s|ps)?|bE|E)?(?![A-Za-z]))"
    rf"|(?P<measure>(?<![\w.])\d+(?:\.\d+)?\s*(?:{_UNITS})(?![A-Za-z\d]))"
    r"|(?P<number>(?:(?<=[\s:=(])-)?(?<![A-Za-z\d_.])\d+(?:\.\d+)?(?:[kKM](?![A-Za-z]))?(?!x[A-Z]))"
    r"|(?P<word>[A-Za-z][\w+'.]*(?:-[\w+'.]+)*)"
    rf"|(?P<mark>[{PIECE},;.()\[\]:=/+&>|]|-(?=\s)|[^\sA-Za-z\d])"
)
_JOINS = frozenset(
    ("of", "with", "has", "have", "having", "at", "contains", "provides", "using", "in", "the", "offers")
)
_EACH = frozenset(("each", "per", "every", "a", "an", "one", "apiece", "single"))
_SEVERAL = frozenset(("total", "altogether", "overall", "together"))
_NOT_NUMBERED = re.compile(
    r"(?:table|figure|fig|section|step|page|chapter|version|v|gen|part|phase|option|no|line)\.?$"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token: a number has `value`, and `bps` when it is `N x 400G`; a noun its kind in `noun`."""

    kind: Kind
    text: str
    value: float = 0
    bps: int = 0
    noun: str = ""
    is_joined: bool = False  # a number written onto its noun: `64-port`


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text in plain words."""
    return list(_with_rates(list(_tokens(_TIMES.sub(" x ", text)))))


def _tokens(text: str) -> Iterator[Token]:
    last = ""
    for found in _TOKEN.finditer(text):
        kind, word = found.lastgroup or "mark", found[0]
        if kind == "rate":
            yield Token("rate", word, bps=_rate(word))
        elif kind == "number":
            yield _number(text, found, last)
        elif kind == "word":
            yield _word(word)
        elif kind == "mark":
            yield _mark(word)
        else:
            yield Token("measure", word)
        last = word.lower()


def _number(text: str, found: re.Match[str], last: str) -> Token:
    """A count; what numbers a table, a step or a version is none."""
    word = found[0]
    if _NOT_NUMBERED.fullmatch(last) or (not text[: found.start()].strip() and text[found.end() :][:2] in (". ", ") ")):
        return Token("measure", word)
    value = float(word) if len(word) <= MOST_DIGITS and word[-1].isdigit() else 0.0
    return Token("number", word, value, is_joined=bool(re.match(r"-[A-Za-z]", text[found.end() :])))


def _word(word: str) -> Token:
    lower = word.lower().rstrip(".'")
    if lower in ("x", "times", "by"):
        return Token("x", word)
    if lower in _EACH:
        return Token("each", word)
    if lower in _SEVERAL:
        return Token("total", word)
    if lower in ("is", "are", "equals"):
        return Token("is", word)
    if lower in ("and", "plus", "to", "from", "between", "but", "or"):
        return Token("break", lower)
    if lower in _JOINS:
        return Token("join", lower)
    noun = noun_of(lower)
    return Token("noun", lower, noun=noun) if noun else Token("word", lower)


@cache
def noun_of(word: str) -> str:
    """The noun that a word in small letters is; "" for any other word."""
    return next((noun for noun, pattern in NOUNS.items() if re.fullmatch(pattern, word)), "")


def _mark(mark: str) -> Token:
    if mark == PIECE:
        return Token("piece", mark)
    if mark in ("x", "*", "×"):
        return Token("x", mark)
    if mark in (":", "="):
        return Token("is", mark)
    return Token("break", mark) if mark in ",;.()[]/+&>|-" else Token("word", mark)


def _rate(text: str) -> int:
    number = float(re.match(r"[\d.]+", text)[0])  # type: ignore[index]
    return round(number * (TERA if "T" in text else GIGA))


def _with_rates(tokens: list[Token]) -> Iterator[Token]:
    """`32 x 400G` as one number with its rate."""
    index = 0
    while index < len(tokens):
        first, rest = tokens[index], tokens[index + 1 : index + 3]
        is_ports = first.kind == "number" and [token.kind for token in rest] == ["x", "rate"]
        if is_ports and rest[1].bps < LEAST_CHIP_BPS:
            yield Token("number", first.text, first.value, rest[1].bps)
            index += 3
        else:
            yield first
            index += 1
