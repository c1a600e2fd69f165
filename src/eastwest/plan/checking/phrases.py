"""The numbers of one statement, each with what it counts: `16 leaves with 32 downlinks`, `leaf switch 16`.

A number counts the noun behind it (`64-port leaf switches`, `32 ports down`) or, after `leaves:` and in Chinese word
order, the noun before it. `each`, `per` and `a` make it one of a device. What counts nothing that is known is left over
and handed back, so that no number is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from eastwest.plan.checking.nearby import DEVICES, MOST_WORDS, Nearby
from eastwest.plan.checking.tokens import LEAST_CHIP_BPS, TIERS, Token, tokens_of

PLURALS = {"leaf": "leaves", "spine": "spines", "core": "cores"}
MOST_OF_A_SERVER = 16  # GPUs or NICs: `servers with 8 GPUs` are those of one, `servers with 512 GPUs` of all
_OF_ONE = {"gpu": "gpus_per_server", "nic": "nics_per_server", "rail": "nics_per_server"}
_OF_ALL = {"gpu": "gpus", "nic": "nics", "rail": "rails", "plane": "planes", "tier": "tiers", "module": "modules"}


@dataclass(slots=True)
class Context:
    """The device that the last words were about: `Leaf: 16 switches. 64 ports each.`"""

    tier: str = ""
    device: str = ""


@dataclass(slots=True)
class Statement:
    """What one statement says: numbers by name, and the texts of numbers that count nothing known."""

    found: list[tuple[str, Any]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def read_statement(text: str, context: Context) -> Statement:
    """The numbers of one statement in plain words; `context` goes on to the next."""
    tokens, out = tokens_of(text), Statement()
    context_tiers: dict[int, tuple[str, str]] = {}
    for index, token in enumerate(tokens):
        if token.noun in DEVICES or token.noun in ("gpu", "nic"):
            _enter(token, tokens, index, context)
        context_tiers[index] = (context.tier, context.device)
    used: set[int] = set()
    for index, token in enumerate(tokens):
        if token.kind == "number":
            names = list(_Number(Nearby(tokens, index), *context_tiers[index]).named())
            out.found += names
            used |= {index} if names else set()
        elif token.kind == "rate":
            out.found += _lone_rate(tokens, index, context_tiers[index][0])
    used |= set(_products(tokens))
    out.left += [token.text for i, token in enumerate(tokens) if token.kind == "number" and i not in used]
    return out


def _enter(token: Token, tokens: list[Token], index: int, context: Context) -> None:
    """A noun that begins to be talked about; `to spines`, `between leaf and spine` do not."""
    before = tokens[index - 1] if index else Token("break", "")
    if before.text in ("to", "from", "between", "from every") or (
        before.kind == "each" and index >= 2 and tokens[index - 2].text in ("to", "from", "between", "and")
    ):
        return
    behind = tokens[index + 1] if index + 1 < len(tokens) else Token("break", "")
    if behind.noun in ("cable", "spine", "leaf") or (token.noun == "switch" and context.tier):
        return
    context.device = token.noun
    if token.noun in TIERS:
        context.tier = token.noun
    elif token.noun == "server":
        context.tier = ""


@dataclass(slots=True)
class _Number:
    """One number of a statement with its surroundings."""

    near: Nearby
    tier: str
    device: str

    @property
    def tokens(self) -> list[Token]:
        """All tokens of the statement."""
        return self.near.tokens

    @property
    def index(self) -> int:
        """Where the number stands among them."""
        return self.near.index

    def named(self) -> Iterator[tuple[str, Any]]:
        """(name, value) of the number, its rate too; nothing when it counts nothing known."""
        token = self.tokens[self.index]
        value = int(token.value) if token.value == int(token.value) else -1
        if value < 0 or (value == 0 and token.text != "0"):
            return
        run, end = self.near.noun()
        name = self._name(run, end, value, token.bps)
        if not name:
            return
        yield name, value
        bps = token.bps or self.near.rate_beside(end)
        if bps and name.endswith(("_ports", "_down", "_up")):
            yield f"{name}_bps", bps
        elif bps and name in ("nics", "nics_per_server"):
            yield "nic_bps", bps

    def _name(self, run: tuple[str, ...], end: int, value: int, bps: int) -> str:
        """The name of what is counted."""
        if not run:
            return self._bare(bps)
        if self._is_adjective(run):
            tier = next((noun for noun in run if noun in TIERS), "")
            return self._ports(run, tier, end) if run[0] == "port" else _OF_ONE[run[0]]
        head, per = run[-1], self.near.per(end)
        if "switch" in run and head != "port":
            head = next((noun for noun in run if noun in TIERS), "switch")
        tier = next((noun for noun in run if noun in TIERS), "")
        if {"down", "up"} & set(run):
            return self._side("down" if "down" in run else "up", tier, end)
        if "cable" in run or {"leafspine", "serverleaf", "spinecore"} & set(run):
            return self._cables(run, per, end)
        if head in TIERS or head == "switch":
            return self._switches(head, per, bps)
        if head == "port":
            return self._ports(run, tier, end)
        if head == "server" or run[0] == "server":
            return "servers" if per in ("", "it") else ""
        return self._of_server(head, per, value)

    def _is_adjective(self, run: tuple[str, ...]) -> bool:
        """Whether the number belongs to an adjective: `64-port leaf`, `8-GPU servers`, `64 8-GPU servers`."""
        if len(run) <= 1 or run[0] not in ("port", "gpu", "nic") or run[1] not in DEVICES:
            return False
        before = [token for token in self.tokens[: self.index] if token.kind not in ("piece", "x", "rate")]
        is_second = bool(before) and before[-1].kind == "number"
        return run[0] == "port" or self.tokens[self.index].is_joined or is_second

    def _bare(self, bps: int) -> str:
        """`64x400G` without a noun: the ports of the device that is talked about."""
        if not bps:
            return ""
        nearest = [
            token for token in self.tokens[: self.index] if token.kind == "noun" or token.text in ("all", "both")
        ]
        if nearest and nearest[-1].text in ("all", "both"):
            return "switch_ports"
        return f"{self.tier or 'switch'}_ports" if self.device not in ("server", "gpu", "nic") else ""

    def _switches(self, head: str, per: str, bps: int) -> str:
        is_one = self.index and self.tokens[self.index - 1].kind == "each"  # one 128x400G switch
        if bps and (is_one or self.near.before()):
            return f"{head}_ports"
        if per == "rail":
            return f"{PLURALS[head]}_per_rail" if head in ("leaf", "spine") else ""
        if per not in ("", "it"):
            return ""
        if head == "switch" and self.tier and any(token.noun == self.tier for token in self.tokens):
            head = self.tier
        return PLURALS.get(head, "switches")

    def _ports(self, run: tuple[str, ...], tier: str, end: int) -> str:
        if "nic" in run:
            return "nics"
        behind = takewhile(lambda token: token.kind in ("noun", "rate", "word"), self.tokens[end : end + MOST_WORDS])
        tier = tier or next((token.noun for token in behind if token.noun in TIERS), "") or self.tier
        if self._is_total(end):
            return ""
        if not tier and self.device in ("server", "gpu", "nic"):
            return ""
        return f"{tier or 'switch'}_ports"

    def _side(self, side: str, tier: str, end: int) -> str:
        tier = tier or (self.tier if self.tier in ("leaf", "spine") else "leaf")
        rest = [token.noun for token in self.tokens[end : end + 4]]
        if side == "up" and self._is_total(end):
            return {"leaf": "leaf_spine_cables", "spine": "spine_core_cables"}.get(tier, "")
        per = self.near.per(end)
        if side == "up" and per in ("spine",) and "leaf" in rest:
            return "links_per_pair"
        if per == "spine" and tier == "leaf" and "spine" in rest:
            return "links_per_pair"
        return "" if self._is_total(end) else f"{per if per in TIERS else tier}_{side}"

    def _is_total(self, end: int) -> bool:
        before = self.tokens[: self.index]
        if before and before[-1].text == "=" and any(token.kind == "x" for token in before):
            return True
        near = self.tokens[max(0, self.index - 2) : end + 2]
        texts = [token.text for token in self.tokens[end : end + 2]]
        return any(token.kind == "total" for token in near) or texts == ["in", "all"]

    def _cables(self, run: tuple[str, ...], per: str, end: int) -> str:
        rest = list(
            takewhile(lambda token: token.kind != "number" and token.text not in (";", ".", ","), self.tokens[end:])
        )
        nouns = {*run, *(token.noun for token in rest)}
        eaches = [token for token in rest if token.kind == "each"]
        if nouns & {"leaf", "spine"} == {"leaf", "spine"} and eaches:
            return "links_per_pair"
        if per == "spine" and "leafspine" not in nouns:
            return "links_per_pair"
        if per == "server":
            return "nics_per_server"
        if per == "leaf":
            return "leaf_down" if nouns & {"server", "nic", "gpu"} else "leaf_up"
        if per not in ("", "it"):
            return ""
        return kind_of_cable(nouns) or ("links" if "cable" in run and not self._is_piece(run) else "cables")

    def _is_piece(self, run: tuple[str, ...]) -> bool:
        return not any(
            token.text.startswith(("link", "connection")) for token in self.tokens[self.index : self.index + 4]
        )

    def _of_server(self, head: str, per: str, value: int) -> str:
        if head == "nic" and per == "gpu":
            return "nics_per_gpu"
        if head in _OF_ONE and (per == "server" or (per == "it" and self.device in ("server", "gpu", "nic"))):
            return _OF_ONE[head]
        if per not in ("", "it"):
            return ""
        if head in ("gpu", "nic") and value <= MOST_OF_A_SERVER and self._is_part_of_server():
            return _OF_ONE[head]
        return _OF_ALL.get(head, "")

    def _is_part_of_server(self) -> bool:
        """Whether the number describes a server: `servers with 8 GPUs`, `8-GPU servers`, `8 GPUs, 8 NICs a server`."""
        token = self.tokens[self.index]
        _, end = self.near.after()
        if token.is_joined or (end < len(self.tokens) and self.near.is_attribute(self.index)):
            return True
        before = self.tokens[: self.index]
        if [t.kind for t in before[-2:]] == ["number", "piece"] and any(t.noun == "server" for t in before[-4:-2]):
            return True  # 服务器 64 台 8 卡
        joins = [i for i, t in enumerate(before) if t.noun == "server" and i + 1 < len(self.tokens)]
        if joins and all(
            t.kind in ("join", "x", "break", "number", "noun", "rate", "word", "is") for t in before[joins[-1] + 1 :]
        ):
            follow = before[joins[-1] + 1] if joins[-1] + 1 < len(before) else Token("x", "x")
            if follow.kind in ("join", "x") or follow.text in ("(", ":"):
                return not any(t.noun == "server" for t in self.tokens[self.index :])
        rest = self.tokens[end:]
        return any(t.kind == "each" and i + 1 < len(rest) and rest[i + 1].noun == "server" for i, t in enumerate(rest))


def kind_of_cable(nouns: set[str]) -> str:
    """Between which tiers a cable lies, by the nouns around it; "" when they do not say."""
    servers = nouns & {"server", "nic", "gpu"}
    if "spinecore" in nouns or {"spine", "core"} <= nouns:
        return "spine_core_cables"
    if "serverleaf" in nouns or (servers and not {"spine", "core"} & nouns):
        return "server_cables"
    if "leafspine" in nouns or {"leaf", "spine"} <= nouns:
        return "leaf_spine_cables"
    return "leaf_spine_cables" if "spine" in nouns and not servers else ""


def _lone_rate(tokens: list[Token], index: int, tier: str) -> Iterator[tuple[str, Any]]:
    """A rate that belongs to no number: a NIC's, or a chip's capacity."""
    around = [tokens[i].noun for i in (index - 3, index - 2, index - 1, index + 1, index + 2) if 0 <= i < len(tokens)]
    bps = tokens[index].bps
    if bps >= LEAST_CHIP_BPS:
        behind = [token.text for token in tokens[index + 1 : index + 4]]
        if any(word.startswith(("switch", "chip", "asic", "class")) for word in behind):
            yield "chip_bps", bps
    elif "nic" in around:
        yield "nic_bps", bps


def _products(tokens: list[Token]) -> Iterator[int]:
    """Numbers of `4 x 8 = 32` beside the text, where the arithmetic is right."""
    numbers = [i for i, token in enumerate(tokens) if token.kind == "number"]
    for first, second, third in zip(numbers, numbers[1:], numbers[2:], strict=False):
        times = any(token.kind == "x" for token in tokens[first:second])
        equals = any(token.text in ("=", "are", "is") for token in tokens[second:third])
        if times and equals and tokens[first].value * tokens[second].value == tokens[third].value:
            yield from (third,) if tokens[first].bps or _has_noun(tokens[first:second]) else (first, second, third)


def _has_noun(tokens: list[Token]) -> bool:
    return any(token.kind == "noun" for token in tokens)
