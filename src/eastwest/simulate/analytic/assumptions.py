"""What the step model assumes of a training run where the run does not say: one place, every choice in words.

`programs` holds what each training framework does by default; `assume` fills a run with that and lists each choice as
`assumed: …` text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from eastwest.simulate.analytic.programs import (
    FLASH_2,
    FLASH_3,
    KERNEL_NAMES,
    TRANSFORMER_ENGINES,
    UNFUSED,
    Program,
    is_late,
    is_long,
    known_program,
    likely_program,
)
from eastwest.simulate.analytic.training_run import GpuRates, TrainingRun
from eastwest.spec import catalogue
from eastwest.units import GIGA
from eastwest.workload.model import Transformer, count_params

ARCHITECTURES = ("volta", "ampere", "hopper", "blackwell")
REFERENCE_NIC_BYTES_PER_S = {
    "volta": 12.5e9,
    "ampere": 25e9,
    "hopper": 50e9,
    "blackwell": 50e9,
}  # DGX reference designs
SERVER_GPUS, RACK_GPUS = 8, 72  # an HGX board; GB200 and GB300 NVL72
BUBBLE_RATIO = 0.05  # chunks are added until the pipeline's bubble is below this share
MEMORY_RATIO = 0.8  # share of GPU memory that an assumed micro-batch may fill
MOST_TOKENS = 32_768  # of an assumed micro-batch on one rank
STATE_BYTES, SHARDED_STATE_BYTES, WORKING_BYTES = 18, 12, 6  # a parameter with Adam: all, what ZeRO shards, the rest
ACTIVATION_BYTES, CHECKPOINT_BYTES = 34, 2  # of a token and hidden element in a layer; Korthikanti et al. 2022, eq. 1
SCORE_BYTES = 5  # of a score kept for the backward pass: softmax, dropout and its mask; same source
ADAM_BYTES = 34.0  # read and written by a step: gradient, three fp32 states twice, 16-bit weight
GPUS_KEPT, MODELS_KEPT = 64, 256  # data sheets and parameter counts that are read once
MATMUL_RATIO = {"volta": 0.85, "ampere": 0.87, "hopper": 0.80, "blackwell": 0.76}  # best product over the sheet's peak


@dataclass(frozen=True, slots=True)
class Assumed:
    """A run with nothing left open, and the choices in words (`texts`). Rates: FLOP/s of the best matrix product with
    16-, 8- and 4-bit operands, bytes/s of memory, bytes/s one way of scale-up links and of the NICs of one GPU.
    """

    program: Program
    flops: tuple[float, float, float]
    memory_bytes_per_s: float
    scale_up_bytes_per_s: float
    nic_bytes_per_s: float
    architecture: str
    gpus_per_node: int
    scale_up_domain: int
    network: str
    power_ratio: float
    kernel: int
    zero: int
    recompute: str
    sequence_parallel: bool
    overlap_tp: bool
    overlap_dp: bool
    overlap_pp: bool
    overlap_ep: bool
    micro_batch: float
    micro_batches: float
    chunks: int
    ep: int
    gradient_bytes: float
    optimizer_bytes: float
    is_gathered_by_one_nic: bool
    texts: tuple[str, ...]


class _Notes:
    """Chooses a value where the run has none and remembers the choice in words."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def choose(self, said: Any, default: Any, words: str) -> Any:
        """`said` where it is known, else `default`, noted as `assumed: words`."""
        if said is not None:
            return said
        self.texts.append(f"assumed: {words}")
        return default


def assume(run: TrainingRun) -> Assumed:
    """The run with every open field chosen. Raises UsageError when the catalogue has no such GPU and no rates are
    given.
    """
    notes = _Notes()
    sheet = rates_of(run)
    name, program = _program_of(run, sheet.architecture, notes)
    machine = _machine(run, sheet, notes)
    chosen = _program(run, program, sheet.architecture, notes)
    micro, steps, chunks = _schedule(run, program, chosen, _memory_bytes(run), notes)
    gradient = 4.0 if program.wide_gradients and run.precision == "bf16" else 2.0
    return Assumed(
        program=program,
        flops=(sheet.flops_16_bit, sheet.flops_8_bit, sheet.flops_4_bit),
        memory_bytes_per_s=sheet.memory_bytes_per_s,
        scale_up_bytes_per_s=sheet.scale_up_bytes_per_s,
        architecture=sheet.architecture,
        micro_batch=micro,
        micro_batches=steps,
        chunks=chunks,
        ep=_expert_ranks(run, name, notes),
        gradient_bytes=notes.choose(run.gradient_bytes, gradient, f"gradients of {gradient:g} B"),
        optimizer_bytes=notes.choose(run.optimizer_bytes, ADAM_BYTES, f"Adam, {ADAM_BYTES:g} B a parameter and step"),
        is_gathered_by_one_nic=name == "deepspeed" and chosen["zero"] == 3,  # broadcasts, one parameter at a time
        texts=tuple(notes.texts),
        **machine,
        **chosen,
    )


def rates_of(run: TrainingRun) -> GpuRates:
    """Rates of the run's GPU: as given, or of the catalogue, where FLOP/s are those of the best matrix product that was
    measured (the architecture's usual share of the peak where none was). Raises UsageError for an unknown GPU.
    """
    if run.rates is not None:
        share = MATMUL_RATIO.get(run.rates.architecture, MATMUL_RATIO["hopper"])
        given = run.rates
        return GpuRates(
            given.flops_16_bit * share,
            given.flops_8_bit * share,
            given.flops_4_bit * share,
            given.memory_bytes_per_s,
            given.scale_up_bytes_per_s,
            given.architecture,
        )
    return _sheet(run.gpu)


@lru_cache(maxsize=GPUS_KEPT)
def _sheet(name: str) -> GpuRates:
    gpu = catalogue.get("gpu", name)
    peaks = {str(key): float(value) for key, value in gpu.peak_flops.items()}
    wide = peaks.get("bf16") or peaks["fp16"]
    best = float((gpu.measured_matmul_flops or {}).get("bf16", 0.0))
    architecture = str(gpu.architecture)
    share = best / wide if best else MATMUL_RATIO.get(architecture, MATMUL_RATIO["hopper"])
    narrow = peaks.get("fp8", wide)
    scale_up = float(gpu.scale_up_bytes_per_s or 0.0) or REFERENCE_NIC_BYTES_PER_S["ampere"]
    return GpuRates(
        wide * share,
        narrow * share,
        peaks.get("nvfp4", narrow) * share,
        float(gpu.memory_bytes_per_s),
        scale_up,
        architecture if architecture in ARCHITECTURES else "hopper",
    )


def _machine(run: TrainingRun, sheet: GpuRates, notes: _Notes) -> dict[str, Any]:
    """GPUs of a server and of a scale-up domain, NICs, network and the power cap."""
    is_rack = run.gpu.startswith(("gb200", "gb300"))
    server = notes.choose(
        run.gpus_per_node, 4 if is_rack else SERVER_GPUS, "GPUs of a server as in the reference design"
    )
    domain = run.scale_up_domain or (RACK_GPUS if is_rack else server)
    rate = REFERENCE_NIC_BYTES_PER_S[sheet.architecture]
    nic, network = run.nic_bytes_per_s, run.network
    if run.gpus > domain:
        nic = notes.choose(nic, rate, f"{rate * 8 / GIGA:g} Gb/s of NIC for each GPU (reference design)")
        network = notes.choose(network, "infiniband", "InfiniBand, or Ethernet that is as good")
    power = 1.0
    if run.power_w is not None and run.rates is None:
        full = catalogue.get("gpu", run.gpu).power_w
        power = min(1.0, run.power_w / full) if full else 1.0
    return {
        "gpus_per_node": server,
        "scale_up_domain": domain,
        "nic_bytes_per_s": nic or rate,
        "network": network or "infiniband",
        "power_ratio": power,
    }


def _program_of(run: TrainingRun, architecture: str, notes: _Notes) -> tuple[str, Program]:
    """Name and defaults of the run's framework, or of the program that it most looks like."""
    name, program = known_program(run, architecture)
    if name:
        return name, program
    name, program, why = likely_program(run, architecture)
    like = f"like {name}" if name else "generic"
    notes.texts.append(f"assumed: framework {run.framework or 'not given'}: {like} ({why})")
    return name, program


def _program(run: TrainingRun, program: Program, architecture: str, notes: _Notes) -> dict[str, Any]:
    """Kernel of attention, sharding, recompute and overlaps."""
    kernel = program.kernel
    if run.flash_attention is not None:
        kernel = max(FLASH_2, kernel) if run.flash_attention else UNFUSED
    elif kernel == UNFUSED and (architecture in TRANSFORMER_ENGINES or is_late(run) or is_long(run)):
        kernel = FLASH_2
    if kernel == FLASH_3 and architecture not in TRANSFORMER_ENGINES:
        kernel = FLASH_2
    if run.flash_attention is None:
        notes.texts.append(f"assumed: attention by {KERNEL_NAMES[kernel]}")
    fields = {"zero": notes.choose(run.zero, program.zero, f"ZeRO stage {program.zero}"), "kernel": kernel}
    usual, words = _recompute(run, kernel, fields["zero"])
    fields["recompute"] = notes.choose(run.recompute, usual, words)
    parallel = program.sequence_parallel
    parallel = parallel or (run.tp > 1 and run.recompute == "selective")  # Korthikanti et al. 2022 bring both
    fields["sequence_parallel"] = run.tp > 1 and notes.choose(
        run.sequence_parallel if run.tp > 1 else False, parallel, f"sequence parallelism {_onoff(parallel)}"
    )
    for letters, ranks in (("tp", run.tp), ("dp", run.dp), ("pp", run.pp)):
        default = getattr(program, f"overlap_{letters}")
        said = getattr(run, f"overlap_{letters}")
        words = f"{letters.upper()} communication {'beside' if default else 'not beside'} computation"
        fields[f"overlap_{letters}"] = notes.choose(said if ranks > 1 else False, default, words)
    fields["overlap_ep"] = bool(run.overlap_ep)
    return fields


def _recompute(run: TrainingRun, kernel: int, zero: int) -> tuple[str, str]:
    """What a run that does not say recomputes: nothing, or all where it keeps scores in memory, which do not fit."""
    is_early = kernel == UNFUSED and run.precision == "fp16"  # before selective recompute (Korthikanti et al. 2022)
    size = run.micro_batch or 1
    scores = SCORE_BYTES * size * run.sequence**2 / run.cp * run.model.heads / run.tp * run.model.layers
    kept = ACTIVATION_BYTES * size * run.sequence / run.cp * run.model.hidden / run.tp * run.model.layers
    if is_early and _state_bytes(run, zero) + scores + kept > _memory_bytes(run):
        return "full", "full activation recompute: scores and activations would not fit"
    return "none", "no activation recompute"


def _schedule(
    run: TrainingRun, program: Program, chosen: Mapping[str, Any], memory_bytes: float, notes: _Notes
) -> tuple[float, float, int]:
    """Sequences of a micro-batch, micro-batches of a step, chunks of a pipeline rank."""
    micro = run.micro_batch
    if micro is None:
        micro = _micro_batch(run, chosen, memory_bytes)
        notes.texts.append(f"assumed: micro-batch {micro}, the largest that fits")
    share = run.global_batch / run.dp
    size = min(float(micro), share)
    steps = max(1.0, float(-(-run.global_batch // max(1, round(run.dp * size))))) if size >= 1 else 1.0
    return size, steps, _chunks(run, program, steps, notes)


def _chunks(run: TrainingRun, program: Program, steps: float, notes: _Notes) -> int:
    """Model chunks of a rank: as said, or the fewest that bring the bubble below BUBBLE_RATIO."""
    if run.pp == 1:
        return 1
    if run.virtual_stages is not None:
        return run.virtual_stages
    units = run.model.layers if run.model.layers % run.pp == 0 else run.model.layers + 2
    if not program.interleaves or units % run.pp or run.schedule in ("1f1b", "zero_bubble"):
        return 1
    each = units // run.pp
    chunks = 1
    for chunks in (count for count in range(1, each + 1) if each % count == 0):
        if (run.pp - 1) / (chunks * steps) <= BUBBLE_RATIO:
            break
    if chunks > 1:
        notes.texts.append(f"assumed: interleaved 1F1B, {chunks} chunks of a rank")
    return chunks


def _micro_batch(run: TrainingRun, chosen: Mapping[str, Any], memory_bytes: float) -> int:
    """The largest power of two that divides a replica's share, fits, and leaves four micro-batches for each stage."""
    model, share = run.model, max(1, run.global_batch // run.dp)
    state = _state_bytes(run, chosen["zero"])
    tokens, layers = run.sequence / run.cp, model.layers / run.pp
    best = 1
    for size in (2, 4, 8, 16):
        if share % size or (run.pp > 1 and share // size < 4 * run.pp) or tokens * size > MOST_TOKENS:
            break
        layer = ACTIVATION_BYTES * tokens * size * model.hidden / run.tp
        kept = CHECKPOINT_BYTES * tokens * size * model.hidden
        full = chosen["recompute"] == "full"
        held = (kept * layers * run.pp + layer) if full else layer * layers * run.pp
        if state + held > MEMORY_RATIO * memory_bytes:
            break
        best = size
    return best


def _state_bytes(run: TrainingRun, zero: int) -> float:
    """Bytes of weights, gradients and optimiser state on one GPU."""
    params = _params(run.model)
    if zero == 3:
        return params * STATE_BYTES / run.gpus
    return params / (run.tp * run.pp) * (SHARDED_STATE_BYTES / run.dp + WORKING_BYTES if zero else STATE_BYTES)


@lru_cache(maxsize=MODELS_KEPT)
def _params(model: Transformer) -> int:
    return count_params(model).total


def _memory_bytes(run: TrainingRun) -> float:
    return 80e9 if run.rates is not None else float(catalogue.get("gpu", run.gpu).memory_bytes)


def _expert_ranks(run: TrainingRun, name: str, notes: _Notes) -> int:
    """Expert-parallel ranks; a program that never gathers experts spreads them over all ranks where none is said."""
    if run.model.moe is None or run.ep > 1 or name != "automodel":
        return run.ep
    ranks = min(run.dp * run.cp, run.model.moe.experts)
    notes.texts.append(f"assumed: experts over {ranks} ranks")
    return ranks


def _onoff(value: bool) -> str:
    return "on" if value else "off"
