"""The order in which one pipeline stage runs its passes: 1F1B, interleaved 1F1B, all forward then all backward.

Source: Narayanan et al. 2021, section 2.2; Megatron-LM's schedules for the warm-up counts.
"""

from __future__ import annotations

from typing import NamedTuple


class Pass(NamedTuple):
    """One pass of one micro-batch through one model chunk of a stage."""

    is_forward: bool
    chunk: int
    micro_batch: int


def passes_of(schedule: str, stage: int, n_stages: int, n_chunks: int, n_micro_batches: int) -> tuple[Pass, ...]:
    """Every pass of one stage in order; more than one chunk is interleaved, whatever `schedule` says.

    >>> "".join("BF"[one.is_forward] for one in passes_of("1f1b", 1, 3, 1, 4))
    'FFBFBFBB'
    """
    total = n_chunks * n_micro_batches
    if n_chunks > 1:
        warm_up = 2 * (n_stages - stage - 1) + (n_chunks - 1) * n_stages
    else:
        warm_up = total if schedule == "gpipe" else n_stages - stage - 1
    warm_up = min(total, warm_up)
    found = [_pass(number, True, n_stages, n_chunks) for number in range(warm_up)]
    for number in range(total):
        if warm_up + number < total:
            found.append(_pass(warm_up + number, True, n_stages, n_chunks))
        found.append(_pass(number, False, n_stages, n_chunks))
    return tuple(found)


def _pass(number: int, is_forward: bool, n_stages: int, n_chunks: int) -> Pass:
    """The pass with this number among those of its direction: chunks in turn, one round of `n_stages` micro-batches
    each.
    """
    round_number, place = divmod(number, n_stages * n_chunks)
    chunk, micro_batch = divmod(place, n_stages) if n_chunks > 1 else (0, place)
    if n_chunks == 1:
        return Pass(is_forward, 0, number)
    return Pass(is_forward, chunk if is_forward else n_chunks - 1 - chunk, round_number * n_stages + micro_batch)
