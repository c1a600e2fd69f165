"""Names and addresses out of an answer, so that it can be pasted in public: the same name becomes the same placeholder.

Of the user's own lines only what is known to be harmless is kept: the numbers of a recognised row, words of the
benchmarks, units, and numbers that a known word explains (`redaction_words`). Whatever stands before the recognised
part, and every other word and number, becomes a placeholder. The product's own sentences are searched for the names
that the text shows and for patterns of addresses, paths and users.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from eastwest.accept.redaction_words import CHINESE, GPU, KEPT, ROW_WORD, WORDS
from eastwest.dialects.bench.nccl_rows import ELEMENT_BYTES, REDUCTIONS, row_start, words_of
from eastwest.dialects.lines import lines_of
from eastwest.finding import Evidence, Finding

if TYPE_CHECKING:
    from eastwest.accept.results import Result
    from eastwest.accept.score import Score

_HEX = "[0-9a-fA-F]"
_PATTERNS = (
    ("user", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\b")),
    ("pod", re.compile(r"(?<=\[)(?:pod|container)/[^\]\s]+(?=\])")),
    ("mac", re.compile(rf"(?<![\w:]){_HEX}{{2}}(?::{_HEX}{{2}}){{5}}(?![\w:])")),
    ("gid", re.compile(rf"(?<![\w:.])(?:{_HEX}{{0,4}}:){{3,}}{_HEX}{{0,4}}(?:\.\d+){{0,3}}(?![\w])")),
    ("gid", re.compile(rf"(?<![\w:.])(?:{_HEX}{{1,4}}::{_HEX}{{1,4}}|::ffff:\d+(?:\.\d+){{3}})\b")),
    ("ip", re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)")),
    ("ip", re.compile(r"\bip(?:-\d{1,3}){4}\b")),
    ("guid", re.compile(rf"\b0x{_HEX}{{16}}\b")),
    ("address", re.compile(rf"\b0x{_HEX}{{9,15}}\b")),
    ("path", re.compile(r"(?<![\w.:/)\]}])~?/(?:[\w.@%+-]+/)*[\w.@%+-]+")),
    ("path", re.compile(r"\b[A-Za-z]:\\[^\s'\",;]+|\\\\[^\s'\",;]+")),
)
KEPT_HOSTS = frozenset({"localhost", "hostname", "host", "node"})
_WORD = re.compile(r"[^\s,;|()\[\]{}<>\"'`=:：，。；、（）？！]+")
_AROUND = " \t:|[]()<>"
_TIMES = re.compile(
    r"(?:\d{4}-\d{2}-\d{2}[T ]|[A-Z][a-z]{2} [ \d]\d )\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?"
)
_IS_CHINESE = re.compile(r"[\u3400-\u9fff]")
_PLACEHOLDER = re.compile(r"(?:host|file|user|pod|mac|gid|ip|guid|address|path|prefix|word|number)-\d+$")


class Redaction:
    """The placeholders handed out so far, by what they stand for."""

    def __init__(self, hosts: Iterable[str] = (), sources: Iterable[str] = ()) -> None:
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        for source in sources:
            if source != "-":
                placeholder = self._placeholder("file", source)
                self._names.setdefault(PurePath(source).name, placeholder)
        for host in hosts:
            if host not in KEPT_HOSTS and re.search(r"\w", host):
                self._placeholder("host", host)
        known = sorted(self._names, key=len, reverse=True)
        self._known = (
            re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in known)) if known else None
        )

    def _placeholder(self, kind: str, name: str) -> str:
        if name not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[name] = f"{kind}-{self._counts[kind]}"
        return self._names[name]

    def text(self, text: str) -> str:
        """A sentence of the product's with every name in it replaced.

        >>> Redaction(["gpu-17"]).text("gpu-17:99 10.1.2.3 -> 10.1.2.4, again 10.1.2.3")
        'host-1:99 ip-1 -> ip-2, again ip-1'
        """
        if self._known:
            text = self._known.sub(lambda found: self._names[found[0]], text)
        for kind, pattern in _PATTERNS:
            text = pattern.sub(lambda found, kind=kind: self._placeholder(kind, found[0]), text)  # type: ignore[misc]
        return text

    def line(self, text: str, is_row: bool = False) -> str:
        """A line of the user's with only what is known to be harmless; `is_row` keeps its numbers.

        >>> Redaction(["gpu-17"]).line("acme9: # Rank 3 on gpu-17 device 1 [0x1b] NVIDIA H100 80GB, for alice")
        'prefix-1: # Rank 3 on host-1 device 1 [0x1b] NVIDIA H100 80GB, for word-1'
        """
        (line, *_) = lines_of(text) or (None,)
        if line is None:
            return ""
        head = self._prefix(text[: len(text) - len(line.text)] if text.endswith(line.text) else line.label)
        words = words_of(line.text)
        at = row_start(words)
        if at is None:
            return head + "".join(self._pieces(line.text, is_row))
        own = self._row_words(words[at:])
        if at == 0 and own == words:
            return head + line.text
        before = line.text[: max(0, line.text.find(words[at]))] or " ".join(words[:at])
        return head + self._prefix(before if at else "") + " ".join(own)

    def _prefix(self, label: str) -> str:
        """What stood before the recognised part, as one placeholder: a host's when it is one of those known."""
        name = _TIMES.sub(" ", label).strip(_AROUND)
        if not name:
            return "" if not label.strip() else f"{self._placeholder('prefix', label.strip())}: "
        return f"{self._placeholder('prefix', name)}: "

    def _row_words(self, words: list[str]) -> list[str]:
        known = {*ELEMENT_BYTES, *REDUCTIONS}
        return [word if word in known or ROW_WORD.match(word) else "".join(self._word(word)) for word in words]

    def _pieces(self, text: str, is_row: bool) -> Iterator[str]:
        """The line in pieces: kept, or replaced."""
        at = 0
        patterns = [("", self._known)] if self._known else []
        patterns += [(kind, pattern) for kind, pattern in _PATTERNS]
        while at < len(text):
            for kind, pattern in patterns:
                found = pattern.match(text, at)
                if found and found.end() > at:
                    yield self._names.get(found[0]) or self._placeholder(kind, found[0])
                    break
            else:
                found = KEPT.match(text, at)
                if found:
                    yield found[0]
                else:
                    found = _WORD.match(text, at)
                    yield "".join(self._word(found[0], is_row)) if found else text[at]
            at = found.end() if found else at + 1

    def _word(self, word: str, is_row: bool = False) -> Iterator[str]:
        """One word: kept when it is known, letter by letter of punctuation around it."""
        core = word.strip(".!?#*~+-/")
        is_known = {word.lower(), core.lower()} & (WORDS | KEPT_HOSTS) or GPU.match(core) or _PLACEHOLDER.match(core)
        if not core or is_known or (is_row and ROW_WORD.match(word)):
            yield word
        elif _IS_CHINESE.search(word):
            yield from self._chinese(word)
        else:
            before, _, after = word.partition(core)
            kind = "number" if re.fullmatch(r"[\d.]+", core) else "word"
            yield before + self._placeholder(kind, core) + after

    def _chinese(self, word: str) -> Iterator[str]:
        """Words that are written without blanks: the known ones are kept."""
        at = 0
        for found in (*CHINESE.finditer(word), None):
            end = found.start() if found else len(word)
            if end > at:
                rest = word[at:end]
                kept = KEPT.fullmatch(rest) or rest.lower() in WORDS or not re.search(r"\w", rest)
                yield rest if kept else self._placeholder("word", rest)
            if found:
                yield found[0]
                at = found.end()

    def score(self, score: Score) -> Score:
        """A score whose quoted lines, subjects and arguments are fit to be shown."""
        rows = {
            (result.line.source, result.line.line)
            for result in score.results
            if result.line and result.tool in ("perftest", "osu", "gpcnet")
        }
        return replace(
            score,
            results=tuple(self._result(result, rows) for result in score.results),
            findings=tuple(self._finding(finding, rows) for finding in score.findings),
            assumed=tuple(self.text(told) for told in score.assumed),
        )

    def _result(self, result: Result, rows: set[tuple[str, int | None]]) -> Result:
        return replace(
            result,
            source=self.text(result.source),
            line=self._evidence(result.line, rows) if result.line else None,
            findings=tuple(self._finding(finding, rows) for finding in result.findings),
            limiter=self._finding(result.limiter, rows) if result.limiter else None,
        )

    def _finding(self, finding: Finding, rows: set[tuple[str, int | None]]) -> Finding:
        args = {key: self.text(value) if isinstance(value, str) else value for key, value in finding.args.items()}
        evidence = tuple(self._evidence(line, rows) for line in finding.evidence)
        return replace(finding, subject=self.text(finding.subject), args=args, evidence=evidence)

    def _evidence(self, line: Evidence, rows: set[tuple[str, int | None]]) -> Evidence:
        text = self.line(line.text, (line.source, line.line) in rows)
        return replace(line, source=self.text(line.source), text=text)

    def document(self, value: Any) -> Any:
        """A JSON document with every string in it replaced; keys stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.document(item) for key, item in value.items()}
        return [self.document(item) for item in value] if isinstance(value, list) else value
