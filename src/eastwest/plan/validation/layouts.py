"""The layout and the batch of a row: ranks of every kind of parallelism, sequences of a step and of a micro-batch."""

from __future__ import annotations

import re
from dataclasses import dataclass

from eastwest.plan.validation.reasons import Skip
from eastwest.plan.validation.training_table import TrainingRow

_LAYOUT_KEYS = ("tp", "pp", "dp", "fsdp", "ep")
_IN_TEXT = re.compile(r"\b(tp|pp|dp|cp|ep)\s*=?\s*(\d{1,5})\b", re.I)


@dataclass(frozen=True, slots=True)
class Layout:
    """Ranks of each kind, sequences of an optimiser step, tokens of a sequence, sequences of a micro-batch where
    said.
    """

    tp: int
    pp: int
    cp: int
    ep: int
    expert_tp: int | None
    dp: int
    sequence: int
    global_batch: int
    micro_batch: int | None
    assumed: tuple[str, ...]


def layout_of(row: TrainingRow) -> Layout | Skip:
    """How a row was split over its GPUs, or why that cannot be known."""
    gpus, sequence = row.count("gpus"), row.count("seq")
    if gpus is None:
        return Skip.no_gpus
    if sequence is None:
        return Skip.no_sequence
    ranks = _ranks(row)
    if not _is_said(row, ranks, gpus):
        return Skip.no_layout
    tp, pp, cp = (ranks.get(key, 1) for key in ("tp", "pp", "cp"))
    if gpus % (tp * pp * cp):
        return Skip.uneven_layout
    dp = gpus // (tp * pp * cp)
    assumed = []
    if ranks.get("dp", dp) != dp:
        assumed.append(f"dp {dp}: the printed {ranks['dp']} does not multiply to {gpus} GPUs")
    batch, said = _batch(row, dp, sequence)
    if batch is None:
        return Skip.no_batch
    micro, said_micro = _micro_batch(row, dp, pp, batch)
    ep = max(1, ranks.get("ep", 1))
    expert_tp = row.count("etp") or row.count("expert_tp")
    return Layout(tp, pp, cp, ep, expert_tp, dp, sequence, batch, micro, (*assumed, *said, *said_micro))


def _ranks(row: TrainingRow) -> dict[str, int]:
    found = {key.lower(): int(value) for key, value in _IN_TEXT.findall(row.text("layout")) if int(value)}
    return found | {key: row.data[key] for key in ("tp", "pp", "cp", "dp", "ep") if row.count(key)}


def _is_said(row: TrainingRow, ranks: dict[str, int], gpus: int) -> bool:
    """Whether a row says how it was split: one kind of ranks, a way of sharding all of them, or one GPU only."""
    no_parallelism = re.search(r"no model parallel|FSDP|DDP|zero-?3", row.text("sharding"), re.I)
    return gpus == 1 or bool(ranks) or any(row.count(key) for key in _LAYOUT_KEYS) or bool(no_parallelism)


def _batch(row: TrainingRow, dp: int, sequence: int) -> tuple[int | None, tuple[str, ...]]:
    """Sequences of an optimiser step: printed, from its tokens, or from what one replica does."""
    if row.count("global_batch"):
        return row.data["global_batch"], ()
    tokens = row.count("global_batch_tokens")
    if tokens:
        return max(1, round(tokens / sequence)), ()
    local, steps = row.count("local_batch"), row.count("grad_accum")
    if local:
        return local * dp * (steps or 1), (f"global batch {local * dp * (steps or 1)} (local batch x dp)",)
    micro = row.count("micro_batch")
    if micro and steps:
        batch = micro * steps * dp
        return batch, (f"global batch {batch} (micro-batch x accumulation x dp)",)
    return None, ()


def _micro_batch(row: TrainingRow, dp: int, pp: int, batch: int) -> tuple[int | None, tuple[str, ...]]:
    """Sequences of a micro-batch: printed, from the accumulation, or the local batch where nothing is a pipeline."""
    each = max(1, batch // dp)
    printed, local, steps = row.count("micro_batch"), row.count("local_batch"), row.count("grad_accum")
    if printed and printed > each:
        return each, (f"micro-batch {each}: the printed {printed} is more than a replica's share",)
    if printed:
        return printed, ()
    if steps and each % steps == 0:
        return each // steps, (f"micro-batch {each // steps} (batch / dp / accumulation)",)
    if local and pp == 1 and local <= each:
        return local, (f"micro-batch {local} (local batch)",)
    return None, ()
