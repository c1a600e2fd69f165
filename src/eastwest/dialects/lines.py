"""Lines of a pasted text without what launchers, log collectors and terminals put around them.

People paste what they see: `[1,0]<stdout>:` of mpirun, `0: ` of srun, `[pod/x/y] ` of kubectl, times, colours, CRLF,
quote marks of mail and Markdown. The number and the text as found stay with each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from eastwest.finding import Evidence

MOST_PREFIXES = 6  # wrappers around one line: kubectl, time, mpirun, rank, quote, time again
LONGEST_QUOTED = 400  # characters of a line that evidence keeps

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|[\x00-\x08\x0e-\x1f\x7f\ufeff]"
)
_THIN = re.compile("(?<=\\d)[\u00a0\u202f\u2009](?=\\d{3}(?!\\d))")  # between the thousands of a number
_DATE = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?"
_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})?\[?\d+,\d+\]?<std(?:out|err|diag)>:\s?",  # mpirun
        r"\[[\w.@-]+,\d+\]<std(?:out|err)>:\s?",  # prterun
        r"\[(?:pod|container)/[^\]\s]+\]\s?",  # kubectl logs --prefix
        r"\((?:\w+ )?pid=\d+(?:, ip=[^)]*)?\)\s?",  # ray
        r"\[(?:default|rank)?\d{1,6}\]:?\s(?=\s*(?:#|\d|[A-Za-z\-*]))",  # torchrun, Intel MPI
        rf"\[?{_DATE}\]?:?\s",  # kubectl --timestamps, log collectors
        r"[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \S+ [\w./-]+(?:\[\d+\])?: ",  # syslog
        r"\s{0,6}\d{1,6}:\s?(?=[\s#A-Za-z\-*]|$)",  # srun --label
        r"\s*\d{1,6}\t(?=\s*[#\d])",  # cat -n
        r"(?=\S*[A-Za-z])[\w.@/-]+\s*\|\s(?=\s*(?:#|\d))",  # docker compose, kubetail
        r"[A-Za-z][\w.@/-]*:\s(?=\s*(?:#|\d+\s+\d+\s+[a-z]))",  # pdsh, clush: a host's name
        r"\[[A-Za-z][^\]\s]{0,80}\]\s?(?=\s*(?:#|\d+\s+\d+\s+[a-z]))",  # a pod's or a job's name
        r"\s*>\s?(?=\s*(?:#|\d|-))",  # quoted mail
    )
)
_TIMED = re.compile(r"\d{2}:\d{2}:\d{2}|^\d+$|^>$")  # changes from line to line: a time, a line number, a quote mark
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&nbsp;": " ", "\u00a0": " ", "\u3000": " "}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `number` from 1, `text` cleaned, `raw` as found, `is_ended` whether a line end follows it, `label` the
    prefixes that came off, without those that are times.
    """

    number: int
    text: str
    raw: str
    is_ended: bool = True
    label: str = ""

    def evidence(self, source: str) -> Evidence:
        """The line as found, for a finding."""
        return Evidence(source, self.number, _ESCAPES.sub("", self.raw).strip()[:LONGEST_QUOTED])


def lines_of(text: str) -> tuple[Line, ...]:
    """Every line of a text, cleaned of colours, line ends and prefixes.

    >>> lines_of("[1,0]<stdout>:# Avg bus bandwidth : 5\\r\\n")[0].text
    '# Avg bus bandwidth : 5'
    """
    return tuple(_lines(text))


def _lines(text: str) -> Iterator[Line]:
    parts = (text if "\n" in text else text.replace("\r", "\n")).split("\n")
    for number, raw in enumerate(parts, start=1):
        is_last = number == len(parts)
        if is_last and not raw:
            return
        text, label = _clean(raw)
        yield Line(number, text, raw, not is_last, label)


def _clean(raw: str) -> tuple[str, str]:
    """The line without colours, entities and prefixes, and the prefixes; what a progress bar wrote over is dropped."""
    line = _ESCAPES.sub("", raw).rstrip("\r").rpartition("\r")[2]
    if "&" in line or not line.isascii():
        line = _THIN.sub("", line)
        for entity, letter in _ENTITIES.items():
            line = line.replace(entity, letter)
    labels: list[str] = []
    for _ in range(MOST_PREFIXES):
        shorter = _without_prefix(line)
        if shorter is line:
            break
        label = line[: len(line) - len(shorter)].strip()
        labels += [] if _TIMED.search(label) else [label]
        line = shorter
    return line.rstrip(), " ".join(labels)


def _without_prefix(line: str) -> str:
    """The line without its first prefix; the same object when it has none."""
    head = line[:1]
    may_begin = ":" in line[:14] or "\t" in line or ">" in line[:8]
    if not head or (head == " " and not may_begin) or head == "#":
        return line
    for prefix in _PREFIXES:
        found = prefix.match(line)
        if found:
            return line[found.end() :]
    return line
