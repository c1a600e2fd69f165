"""What queues did in a packet run, in a few lines: losses, marks, pauses, and the ports where most of it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from eastwest.simulate.judged import link_name
from eastwest.simulate.network import Ints
from eastwest.simulate.result import QueueRows, SimResult
from eastwest.units import PS_PER_S, format_size, format_time

MOST_PORTS = 3
WORDS = {
    "en": {
        "sum": "packets: {again} sent again, {drops} dropped, {marks} marked; {frames} pause frames",
        "drops": "drops at {port}, priority {priority}: {n}",
        "paused": "paused at {port}, priority {priority}: {time}, {n} frames",
        "queue": "longest queue at {port}, priority {priority}: {size}, {n} packets marked",
    },
    "zh": {
        "sum": "包：重传 {again}，丢弃 {drops}，标记 {marks}；暂停帧 {frames}",
        "drops": "丢包在 {port}，优先级 {priority}：{n}",
        "paused": "被暂停 {port}，优先级 {priority}：{time}，{n} 帧",
        "queue": "最长队列在 {port}，优先级 {priority}：{size}，标记 {n} 个包",
    },
}


def queue_lines(result: SimResult, lang: Literal["en", "zh"]) -> Iterator[str]:
    """The lines; none of an engine without queues."""
    queues, words = result.queues, WORDS[lang]
    if queues is None:
        return
    again = result.flows.sent_again
    yield ""
    yield words["sum"].format(
        again=f"{int(again.sum()) if again is not None else 0:,}",
        drops=f"{int(queues.dropped.sum()):,}",
        marks=f"{int(queues.marked.sum()):,}",
        frames=f"{int(queues.pfc_tx.sum()):,}",
    )
    columns = {
        "drops": (queues.dropped, queues.dropped),
        "paused": (queues.paused_ps, queues.pfc_rx),
        "queue": (queues.peak_bytes, queues.marked),
    }
    for name, (column, counted) in columns.items():
        for row in _largest(column):
            facts = _facts(queues, row)
            port = link_name(result.network, int(queues.link[row]))
            yield "  " + words[name].format(port=port, n=f"{int(counted[row]):,}", **facts)


def _largest(column: Ints) -> list[int]:
    """Rows of the largest values above zero."""
    return [row for row in np.argsort(-column, kind="stable")[:MOST_PORTS].tolist() if column[row] > 0]


def _facts(queues: QueueRows, row: int) -> dict[str, object]:
    """What a line may say of a queue."""
    return {
        "priority": int(queues.priority[row]),
        "time": format_time(int(queues.paused_ps[row]) / PS_PER_S, 3),
        "size": format_size(int(queues.peak_bytes[row])),
    }
