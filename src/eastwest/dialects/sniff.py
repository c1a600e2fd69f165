"""Which formats a text holds, and its readings by all of their readers.

A text is often several: a NCCL log with a table in it, a sentence above, a second tool below. What no reader of a
tool's format understood is read once more as sentences.
"""

from __future__ import annotations

from dataclasses import replace

from eastwest.dialects.bench import READERS, prose
from eastwest.dialects.nccl import debug_log, job
from eastwest.dialects.readings import Benchmark, Readings


def formats_of(text: str) -> tuple[str, ...]:
    """The names of the formats that the text holds, in alphabetical order.

    >>> formats_of("ERROR: this application must be run on at least 10 nodes")
    ('gpcnet',)
    """
    return tuple(name for name, reader in READERS if reader.detect(text))


def read(text: str, source: str = "-") -> Readings:
    """Everything that the text says."""
    joined: Readings | None = None
    for name in formats_of(text):
        readings = READERS.get(name).read(text, source)
        joined = joined.joined(readings) if joined else readings
    if job.detect(text):
        log = job.read(text, source).joined(debug_log.read(text, source))
        joined = joined.joined(log) if joined else log
    if joined and not any(map(_is_begun, joined.benchmarks)) and prose.detect(text):
        said = prose.read(text, source)  # a tool's name in a sentence is no run of it
        if any(benchmark.rows or benchmark.unread for benchmark in said.benchmarks):
            return replace(joined, benchmarks=()).joined(said)
    rest = _rest(text, joined)
    if not prose.detect(rest):
        return joined or _nothing(text, source)
    said = prose.read(rest, source)
    if joined is None:
        return said
    if any(benchmark.rows for benchmark in joined.benchmarks):
        said = Readings(settings=said.settings, understood=said.understood)
    return joined.joined(said)


def _is_begun(benchmark: Benchmark) -> bool:
    """Whether a benchmark shows more than its name: its banner, a row, its end or an error."""
    parts = (benchmark.rows, benchmark.banners, benchmark.ranks, benchmark.errors, benchmark.footer, benchmark.unread)
    return any(parts)


def _rest(text: str, readings: Readings | None) -> str:
    """The text with the lines blanked that are understood already."""
    if readings is None:
        return text
    lines = text.split("\n")
    return "\n".join("" if number in readings.understood else line for number, line in enumerate(lines, start=1))


def _nothing(text: str, source: str) -> Readings:
    from eastwest.dialects.lines import lines_of

    return Readings(unknown=tuple(line.evidence(source) for line in lines_of(text) if line.text.strip()))
