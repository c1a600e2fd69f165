"""A key of a hand-made or published design with its value, as numbers by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from eastwest.plan.checking.keywords import key_name
from eastwest.plan.checking.tokens import TIERS
from eastwest.plan.checking.words import Words, read_words
from eastwest.plan.designs.design import catalogue_switch
from eastwest.plan.designs.written import port_groups, rate_of, ratio_of, text_of, whole_of

_SWITCH = re.compile(r"switch|switch_model|(?P<tier>leaf|spine|core)(?:_switch|_model|_switch_model)?")
_RATIO = re.compile(r"oversub(?:scription)?(?:_ratio)?|ratio|leaf_oversubscription")
_OF_A_MODEL = re.compile(r"(?:leaf|spine|core|switch)\.(?:switch|model)")
_NO_COUNT = re.compile(
    r"power|price|usd|cost|_kw|_w$|year|date|version|_id$|^id$|name|note|length|_m$|latency|time|_s$|_pct|percent|"
    r"budget|watt|voltage|weight|rack_?u|height|temperature|schema|mtu|gbps|bps|bytes|gen$|efficiency|utili[sz]ation"
)
_COUNTED = re.compile(r"\b(?:down|up)(?:links?)?\b|\d\s*(?:x\s|spines?|lea(?:f|ves)|cores?|switches)\b", re.I)
OF_A_MODEL = frozenset(
    ("nic", "nics", "gpu", "server", "node", "host")
)  # keys that may name a model instead of a number
_BREAKOUT = re.compile(r"\s*(?:1\s*(?::|to)\s*([248])|([248])(?:\s*[x×*]\s*\d+\s*G\w*)?)\s*", re.I)  # 1:2, 2x400G, 2
_NONE = ("none", "no", "n/a")


def read_key(words: Sequence[str], value: Any) -> Words | None:
    """Numbers by name of a key (its path in words) and its value; None when a count is no number.

    A key that nothing is known of gives what the words of its value say; a number that is left over is handed back.
    """
    path = [re.sub(r"[\s-]+", "_", word.strip().lower()) for word in words]
    found = _known(path, value)
    if isinstance(found, Words):
        return found
    if found is not None:
        return Words(tuple(found), ()) if found else None
    if isinstance(value, str):
        key = path[-1] if path else ""
        return read_words(f"{key}: {value}", of_a_nic=None)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_count = is_number and not _NO_COUNT.search("_".join(path))
    return Words((), (f"{'.'.join(path)}: {value}",) if is_count else ())


def _known(path: list[str], value: Any) -> list[tuple[str, Any]] | Words | None:
    """Numbers of a key that is known; [] when its value is none; None when the key is not known."""
    last, text = path[-1] if path else "", text_of(value)
    parts = _BREAKOUT.fullmatch(text) if re.search(r"break_?out|split", last) else None
    if parts:
        tier = next((tier for tier in TIERS if any(tier in word for word in path)), "switch")
        return [(f"{tier}_split", int(parts[1] or parts[2]))]
    if _RATIO.fullmatch(last):
        ratio = ratio_of(value)
        return [("ratio", ratio)] if ratio else [("wished", text)]
    tier = _model_of(path, value)
    if tier:
        return _switch(f"{tier}_ports", text)
    is_model = last in OF_A_MODEL and isinstance(value, str) and whole_of(value) is None
    if is_model or _is_rate(last, text):
        rate = rate_of(value)
        return [("nic_bps", rate)] if rate and last in ("nic", "nics") else [("device", text)]
    name = _name(path)
    if name.endswith("_bps"):
        rate = rate_of(value)
        return [(name, rate)] if rate else (list(read_words(text).found) or [("device", text)])
    return _numbers(name, value) if name else None


def _is_rate(key: str, text: str) -> bool:
    """Whether `nic: 400G` gives the rate of a NIC, not a number of NICs."""
    return key in ("nic", "nics") and bool(re.fullmatch(r"\s*\d+(?:\.\d+)?\s*[GT]\w*(?:/s)?\s*", text))


def _name(path: list[str]) -> str:
    """The name by the whole path, else by its last words, where the words before do not change what is counted."""
    if any(re.search(r"(?:^|_)per_(?:pod|su|rack|plane|stripe|segment)", word) for word in path[:-1]):
        return ""
    tails = [path, path[-2:], path[-1:]] if len(path) > 1 else [path]
    return next((name for tail in tails if (name := key_name(" ".join(tail)))), "")


def _model_of(path: list[str], value: Any) -> str:
    """The tier whose switch a value names by model or ports: that of `leaf: 64x400G`, `spine_switch: QM9700`."""
    match = _SWITCH.fullmatch(path[-1]) if path else None
    of_a_tier = _OF_A_MODEL.fullmatch(".".join(path[-2:]))
    text = text_of(value)
    if of_a_tier and isinstance(value, str):
        return path[-2]
    if not match or not isinstance(value, str) or (whole_of(value) is not None and not port_groups(value)):
        return ""
    is_plain = bool(
        re.fullmatch(r"\s*\d+\s*[x×*]\s*\d+(?:\.\d+)?\s*[GT]\w*\s*(?:\(.*\))?\s*|\s*none\s*|[^\d]*", text, re.I)
    )
    is_model = catalogue_switch(text) is not None or path[-1] not in ("leaf", "spine", "core")
    if not is_plain and (not is_model or _COUNTED.search(text)):
        return ""
    if path[-1] in ("leaf", "spine", "core") and not re.search(r"\d|^\s*none\s*$", text, re.I):
        return ""
    return match["tier"] or "switch"


def _switch(name: str, text: str) -> list[tuple[str, Any]]:
    """Ports of a switch from its text: written, or its data sheet's; its words when nobody knows them."""
    groups, model = port_groups(text), catalogue_switch(text)
    if groups:
        return [(name, groups[0][0]), (f"{name}_bps", groups[0][1])]
    if text.strip().lower() in _NONE:
        return [("spines", 0)] if name.startswith("spine") else [("wished", text)]
    return [(name, model.ports), (f"{name}_bps", model.rate_bps)] if model else [("wished", text)]


def _numbers(name: str, value: Any) -> list[tuple[str, Any]] | Words | None:
    """A count, or ports with their rate; words are read as such."""
    groups, text = port_groups(value), text_of(value)
    is_plain = bool(re.fullmatch(r"[\s~<>=≥≤]*[\d,_.]+(?:\s*[x×*]\s*[\d.]+\s*[GT]\w*)?\s*", text))
    if isinstance(value, str) and not is_plain:
        if text.strip().lower() in _NONE:
            return [(name, 0)]
        said = read_words(f"{name.replace('_', ' ')}: {text}")
        if said.found:
            return said
    if groups:
        name = {"leaves": "leaf_ports", "spines": "spine_ports", "cores": "core_ports"}.get(name, name)
        return [(name, groups[0][0]), (f"{name}_bps", groups[0][1])]
    count = whole_of(value)
    if count is not None and (is_plain or not isinstance(value, str)):
        return [(name, count)]
    if isinstance(value, str) and count is not None:
        return None
    if name == "tiers":
        return [("wished", text)]
    return [(name, 0)] if value == 0 and not isinstance(value, bool) else []
