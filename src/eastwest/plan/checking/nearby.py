"""What stands around a number in its statement: the nouns that it counts, the device that it is one of, its rate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from eastwest.plan.checking.tokens import LEAST_CHIP_BPS, Token

DEVICES = ("leaf", "spine", "core", "server", "switch")
MOST_WORDS = 3  # of no meaning here between a number and its noun: `64 optical Ethernet ports`
OPENERS = ("of", "with", "at", "(", "have")  # between a device and a number whose noun follows


@dataclass(frozen=True, slots=True)
class Nearby:
    """One number of a statement: the statement's tokens, and where the number stands."""

    tokens: list[Token]
    index: int

    def noun(self) -> tuple[tuple[str, ...], int]:
        """The nouns that the number counts, and the index behind them."""
        after, end = self.after()
        before = self.before()
        marks = {"down", "up"}
        if after and end < len(self.tokens) and self.tokens[end].text in (":", "=") and before:
            after = ()
        if not before:
            return after, end
        if not after:
            return before, self.index + 1
        if marks & set(after) and marks & set(before):
            return (before, self.index + 1) if self._marks_first() else (after, end)
        if marks & set(before) and set(after) <= {"port", "cable"}:
            return before, end
        if self.tokens[self.index + 1].kind == "piece" and after[0] not in ("port", "gpu", "nic"):
            return before, self.index + 1
        return after, end

    def after(self) -> tuple[tuple[str, ...], int]:
        """The run of nouns behind the number: `leaf switches`, `port`, `leaf uplinks`."""
        i, words = self.index + 1, 0
        while i < len(self.tokens):
            token = self.tokens[i]
            if token.kind == "noun":
                break
            if token.text == "-" and i == self.index + 1:
                i += 1
                continue
            if token.kind == "number" and self.is_attribute(i):
                i = self._behind_attribute(i)
                continue
            words += token.kind in ("word", "measure")
            if token.kind not in ("rate", "piece", "word", "x", "total") or words > MOST_WORDS:
                return (), i
            if token.kind == "x" and not self._is_times_a_noun(i):
                return (), i
            i += 1
        rest = list(takewhile(lambda t: t.kind in ("noun", "rate", "piece") or t.text == "total", self.tokens[i:]))
        return tuple(token.noun for token in rest if token.kind == "noun"), i + len(rest)

    def _is_times_a_noun(self, i: int) -> bool:
        """Whether the `x` at i stands before what is counted: `16 x 64-port switches`, not `16 x 8 = 128`."""
        behind = self.tokens[i + 1] if i + 1 < len(self.tokens) else Token("break", "")
        return behind.kind in ("rate", "noun", "word") or (behind.kind == "number" and self.is_attribute(i + 1))

    def is_attribute(self, i: int) -> bool:
        """Whether the number at i is that of an adjective: `64-port` of `16 64-port switches`."""
        j = self._behind_attribute(i)
        return j > i and j < len(self.tokens) and (self.tokens[j].noun in DEVICES or self.tokens[j].kind == "rate")

    def _behind_attribute(self, i: int) -> int:
        token, j = self.tokens[i], i + 1
        if token.bps:
            return j
        j += j < len(self.tokens) and (self.tokens[j].kind in ("rate", "piece") or self.tokens[j].text == "-")
        if j < len(self.tokens) and self.tokens[j].noun in ("port", "gpu", "nic"):
            return j + 1
        return i

    def before(self) -> tuple[str, ...]:
        """The run of nouns before the number: `leaf switches:`, `spine =`, `leaf uplinks`."""
        backwards = self.tokens[: self.index][::-1]
        between = list(takewhile(lambda t: t.kind in ("is", "piece", "x", "total") or t.text in OPENERS, backwards))
        has_rate = bool(self.tokens[self.index].bps)
        if not has_rate and any(token.text in OPENERS for token in between):
            return ()  # `spines with 64 …`: what 64 counts stands behind it
        nouns = list(takewhile(lambda t: t.kind == "noun", backwards[len(between) :]))
        run = tuple(token.noun for token in reversed(nouns))
        first = backwards[len(between) + len(nouns)] if len(between) + len(nouns) < len(backwards) else None
        if first is None:
            return run
        if first.kind == "number":
            return self._own(run, first, any(token.kind == "is" for token in between))
        is_of_each = first.kind == "each" and set(run) & set(DEVICES) and not {"port", "down", "up"} & set(run)
        return () if is_of_each and not has_rate else run

    def _own(self, run: tuple[str, ...], number: Token, is_headed: bool) -> tuple[str, ...]:
        """Of the nouns between two numbers those of the second: the last `down` or `up` where these stand first."""
        if number.is_joined:
            return ()
        if is_headed or not run:
            return run
        marks = [k for k, noun in enumerate(run) if k and noun in ("down", "up")]
        return run[marks[-1] :] if marks and self._marks_first() else ()

    def _marks_first(self) -> bool:
        """Whether `down` and `up` stand before their numbers here: `down 32 ports up 32 ports`."""
        start = max((i for i in range(self.index) if self.tokens[i].text in ("(", ":", ";")), default=-1) + 1
        kinds = [token.noun if token.noun in ("down", "up") else token.kind for token in self.tokens[start:]]
        first = next((kind for kind in kinds if kind in ("down", "up", "number")), "number")
        return first != "number"

    def rate_beside(self, end: int) -> int:
        """A rate between the number and its noun, or right behind the noun: `64-port 400G`, `8 NICs of 400G`."""
        near = list(takewhile(lambda t: t.kind not in ("number", "break"), self.tokens[self.index + 1 : end + 2]))
        return next((token.bps for token in near if token.kind == "rate" and token.bps < LEAST_CHIP_BPS), 0)

    def per(self, end: int) -> str:
        """The device that the number is one of: its noun, `it` for the one talked about, "" for none."""
        rest = self.tokens[end : end + 4]
        if rest and rest[0].kind == "join" and rest[0].text in ("in", "of", "with"):
            rest = rest[1:]
        if rest and rest[0].text == "/" and len(rest) > 1 and rest[1].kind in ("noun", "piece"):
            return rest[1].noun or "it"
        is_total = self.index and self.tokens[self.index - 1].kind == "total"
        if is_total or (rest and rest[0].kind == "rate"):
            return ""
        if rest and rest[0].kind == "each":
            return rest[1].noun if len(rest) > 1 and rest[1].noun else "it"
        return self._scope()

    def _scope(self) -> str:
        """The device of an `each` before the number in its statement: `each server has 8 GPUs and 8 NICs`."""
        for i in range(self.index - 1, -1, -1):
            token = self.tokens[i]
            is_after_link = bool(i) and self.tokens[i - 1].text in ("to", "from", "between", "and", "per")
            if token.kind == "each" and not is_after_link and self._opens(i):
                return self.tokens[i + 1].noun or "it"
            if token.noun in DEVICES and not (i and self.tokens[i - 1].kind in ("each", "noun")):
                return ""
            if token.text in (";", "("):
                return ""
        return ""

    def _opens(self, i: int) -> bool:
        """Whether an `each` speaks of what follows it, not of what stands before it: `8 GPUs each, 1024 GPUs`."""
        token, behind = self.tokens[i], self.tokens[i + 1]
        if behind.noun in DEVICES or behind.noun in ("gpu", "nic"):
            return True
        is_of_another = token.text.lower() in ("a", "an", "one", "single") or behind.kind == "break"
        return not is_of_another and behind.kind in ("number", "join", "is", "noun")
