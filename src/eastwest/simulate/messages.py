"""Messages: who sends how many bytes to whom, and what each message waits for; traffic before it has a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from eastwest.simulate.network import Ints


class Way(IntEnum):
    """Where a message goes: to the other host, only to or from the switch of its scale-up domain, or nowhere (a
    computation).
    """

    THROUGH = 0
    INTO_SWITCH = 1
    OUT_OF_SWITCH = 2
    STAYS = 3


@dataclass(frozen=True, eq=False)
class Messages:
    """(n,) columns: `src`, `dst` hosts (or ranks of a template), `size_bytes` of payload, `start_ps`, `channel` that
    tells equal pairs apart, `way` (Way); message m waits for `parents[parent_first[m]:parent_first[m + 1]]` and then
    `parent_delay_ps`.
    """

    src: Ints
    dst: Ints
    size_bytes: Ints
    start_ps: Ints
    channel: Ints
    way: NDArray[np.int8]
    parent_first: Ints
    parents: Ints
    parent_delay_ps: Ints

    def __len__(self) -> int:
        return len(self.src)


def lone(src: Ints, dst: Ints, size_bytes: Ints | int, start_ps: Ints | int = 0) -> Messages:
    """Messages that wait for nothing but their start."""
    n = len(src)
    zeros = np.zeros(n, np.int64)
    return Messages(
        src.astype(np.int64),
        dst.astype(np.int64),
        np.broadcast_to(np.asarray(size_bytes, np.int64), n),
        np.broadcast_to(np.asarray(start_ps, np.int64), n),
        zeros,
        np.zeros(n, np.int8),
        np.zeros(n + 1, np.int64),
        np.zeros(0, np.int64),
        zeros,
    )


def waiting(messages: Messages, parents: tuple[Ints, Ints]) -> Messages:
    """The same messages, each waiting for others: (n + 1,) first and (m,) parents."""
    return replace(messages, parent_first=parents[0], parents=parents[1])


def joined(parts: Sequence[Messages]) -> Messages:
    """All messages of several traffics, which do not wait for each other."""
    if len(parts) == 1:
        return parts[0]
    shifts = np.cumsum([0, *(len(part) for part in parts)])
    n_parents = np.cumsum([0, *(len(part.parents) for part in parts)])
    first = [part.parent_first[:-1] + before for part, before in zip(parts, n_parents[:-1], strict=True)]
    parents = [part.parents + shift for part, shift in zip(parts, shifts[:-1], strict=True)]

    def column(name: str) -> Ints:
        found: Ints = np.concatenate([getattr(part, name) for part in parts])
        return found

    return Messages(
        column("src"),
        column("dst"),
        column("size_bytes"),
        column("start_ps"),
        column("channel"),
        column("way").astype(np.int8),
        np.concatenate([*first, n_parents[-1:]]).astype(np.int64),
        np.concatenate(parents).astype(np.int64) if parts else np.zeros(0, np.int64),
        column("parent_delay_ps"),
    )


def placed(template: Messages, groups: Ints) -> Messages:
    """The messages of a template between ranks for every group, (n_groups, group_size) hosts."""
    n_groups, n = len(groups), len(template)
    shift = np.arange(n_groups, dtype=np.int64)[:, None]
    n_parents = len(template.parents)
    first = np.r_[(template.parent_first[:-1] + shift * n_parents).ravel(), n_groups * n_parents]

    def tiled(values: NDArray[np.generic]) -> Ints:
        return np.tile(values, n_groups).astype(np.int64)

    return Messages(
        groups[:, template.src].ravel(),
        groups[:, template.dst].ravel(),
        tiled(template.size_bytes),
        tiled(template.start_ps),
        tiled(template.channel),
        np.tile(template.way, n_groups),
        first.astype(np.int64),
        (template.parents + shift * n).ravel(),
        tiled(template.parent_delay_ps),
    )


def repeated(messages: Messages, times: int, every_ps: int) -> Messages:
    """The same traffic `times` times over, one round every `every_ps`."""
    if times == 1:
        return messages
    return joined([replace(messages, start_ps=messages.start_ps + turn * every_ps) for turn in range(times)])
