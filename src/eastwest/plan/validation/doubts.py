"""What cannot be true of a row as it is written: such rows are predicted and listed, and count for no figure."""

from __future__ import annotations

from eastwest.plan.validation.conversions import peak_flops
from eastwest.plan.validation.reasons import Doubt
from eastwest.simulate.analytic.training_run import TrainingRun
from eastwest.spec import catalogue
from eastwest.workload.model import training_flops_per_token

ROUNDED_RATIO = 0.05  # published batches are rounded: a last micro-batch that is not full is no mistake


def doubt_of(run: TrainingRun, seconds: float, kv_heads: int | None) -> Doubt | None:
    """The first reason to doubt a run with its measured step (s); None when there is none. `kv_heads` as written: those
    of a model that stands for a hybrid need not divide.
    """
    each = -(-run.global_batch // run.dp)
    if each * run.dp > run.global_batch * (1 + ROUNDED_RATIO):
        return Doubt.uneven_batch
    if not _splits(run, kv_heads):
        return Doubt.layout_of_another_model
    return Doubt.beyond_peak if mfu_ratio(run, seconds) > 1 else None


def _splits(run: TrainingRun, kv_heads: int | None) -> bool:
    """Whether heads, layers and experts can be split as the run says."""
    model, experts = run.model, run.model.moe.experts if run.model.moe else 1
    is_whole = model.heads % run.tp == 0 and model.heads % (kv_heads or 1) == 0 and experts % run.ep == 0
    return is_whole and run.pp * (run.virtual_stages or 1) <= model.layers + run.mtp_layers + 2  # embedding and head


def mfu_ratio(run: TrainingRun, seconds: float) -> float:
    """Model FLOP/s with the causal half of attention over the data sheet's peak; 0 where there is no peak."""
    peak = peak_flops(catalogue.get("gpu", run.gpu), run.precision)
    flops = training_flops_per_token(run.model, run.sequence, "none").model_causal * run.tokens / run.gpus
    return flops / seconds / peak if peak else 0.0
