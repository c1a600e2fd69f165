"""Which test each figure of a sentence is of, where the text names several.

The name stands before its figure ("all_reduce 370 GB/s, sendrecv 46 GB/s"), or behind it in a line whose first figure
comes before every name; a line without a name goes on with the line above. Two names for one figure leave it open.

>>> text = "all_reduce 370 GB/s, sendrecv 46 GB/s"
>>> names_of_figures(text, [(11, 19), (30, 37)])
('all_reduce', 'sendrecv')
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from eastwest.dialects.bench.nccl_collective import collectives_in

Spans = Sequence[tuple[int, int]]  # where figures begin and end in a line

_PAIR = re.compile(r"\bib_(write|read|send)_bw\b")


def names_in(text: str) -> tuple[tuple[int, str], ...]:
    """The tests that a text names, each with where it stands, in their order."""
    pairs = [(found.start(), found[0]) for found in _PAIR.finditer(text)]
    return tuple(sorted([*collectives_in(text), *pairs]))


def names_of_figures(line: str, figures: Spans, heading: str = "") -> tuple[str, ...]:
    """The name of each figure of a line, "" where it is open; `heading` is what the line above was about."""
    names = names_in(line)
    if not names or not figures:
        return (heading,) * len(figures)
    if figures[0][0] < names[0][0]:
        ends = [start for start, _ in figures[1:]] + [len(line)]
        around = [(end, until) for (_, end), until in zip(figures, ends, strict=True)]
    else:
        begins = [0] + [end for _, end in figures[:-1]]
        around = [(begin, start) for begin, (start, _) in zip(begins, figures, strict=True)]
    found: list[str] = []
    for begin, end in around:
        near = {name for at, name in names if begin <= at < end}
        found.append(near.pop() if len(near) == 1 else "" if near else (found[-1] if found else heading))
    return tuple(found)


def heading_after(line: str, figures: Spans, heading: str) -> str:
    """What the line below goes on with: the last name of this one, "" when it names several without a figure."""
    names = [name for _, name in names_in(line)]
    if not names:
        return heading
    return names[-1] if figures or len(set(names)) == 1 else ""
