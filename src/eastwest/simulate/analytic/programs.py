"""Training programs: what each framework does by default, its names, and which one a run without a name looks like.

A framework fixes most of what tables leave out: attention kernels, overlaps, sharding, how a pipeline splits layers.
Where no framework is named, the run's own choices tell its era and kind: fp16 and full recompute came before fused
attention and bf16; a ZeRO stage is DeepSpeed's word, fully sharded weights are PyTorch's FSDP, interleaved stages and
8-bit layers are Megatron's. Facts of the field, none fitted to a row or a source.

Source: the frameworks' documentation and default arguments (Megatron-LM, Megatron-Bridge, NeMo, DeepSpeed, GPT-NeoX,
llm-foundry, torchtitan, nanotron, MaxText, Colossal-AI); MegaScale 2024; Dao et al. 2022 (fused attention).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from eastwest.simulate.analytic.training_run import TrainingRun
from eastwest.workload.model import Transformer

UNFUSED, FLASH_1, FLASH_2, FLASH_3 = 0, 1, 2, 3  # scores in memory; Triton and FlashAttention 1; 2; 3 and cuDNN 9
KERNEL_NAMES = ("unfused softmax", "FlashAttention 1", "FlashAttention 2", "FlashAttention 3 or cuDNN")
TRANSFORMER_ENGINES = ("hopper", "blackwell")  # architectures whose programs came after fused attention
MEGATRON_BUCKET_PARAMS = 40e6  # Megatron-Core: max(40M, 1M x dp)
DEEPSPEED_BUCKET_PARAMS = 250e6  # reduce_bucket_size 5e8 elements, half of it in flight
DDP_BUCKET_PARAMS = 12.5e6  # PyTorch DDP: 25 MB of 16 bits
RELEASE = re.compile(r"\d\d\.\d\d\b")  # of NVIDIA's containers
LONG_SEQUENCE = 4096  # tokens from which scores in memory no longer fit: fused attention


@dataclass(frozen=True, slots=True)
class Program:
    """What a training framework does by default; `old` fields are for GPUs before Hopper.

    `kernel` of attention, overlaps by class, `zero` stage, `scatter` whether tensor ranks send a part each between
    stages, `interleaves` whether it splits a rank's layers into chunks, `balances` whether stages are cut by cost,
    `blocks` whether every recomputed layer stops the queue of kernels, `wide_gradients` whether bf16 runs reduce in
    fp32, `bucket_params` parameters of one gradient bucket.
    """

    kernel: int = FLASH_2
    overlap_tp: bool = False
    overlap_dp: bool = True
    overlap_pp: bool = False
    sequence_parallel: bool = True
    zero: int = 1
    scatter: bool = True
    interleaves: bool = False
    balances: bool = False
    blocks: bool = False
    wide_gradients: bool = False
    bucket_params: float = MEGATRON_BUCKET_PARAMS


GENERIC = Program()
_MODERN = Program(FLASH_3, True, True, True, interleaves=True)
_LATER = Program(FLASH_2, interleaves=True)  # Megatron-LM of 2023 and later on GPUs before Hopper
_EARLY = Program(UNFUSED, False, False, False, False, 0, interleaves=True, wide_gradients=True)
_DEEPSPEED = Program(UNFUSED, False, True, False, False, 3, False, bucket_params=DEEPSPEED_BUCKET_PARAMS)
_FSDP = Program(FLASH_2, sequence_parallel=False, zero=3, scatter=False)
PROGRAMS: Mapping[str, Program] = {
    "megatron-bridge": _MODERN,
    "nemo": _MODERN,
    "megatron-core": _MODERN,
    "hai-llm": _MODERN,
    "automodel": Program(FLASH_3, zero=3, interleaves=True, balances=True),
    "megascale": Program(FLASH_2, True, True, True, interleaves=True),
    "megatron-deepspeed": Program(
        UNFUSED,
        False,
        False,
        False,
        False,
        1,
        False,
        blocks=True,
        wide_gradients=True,
        bucket_params=DEEPSPEED_BUCKET_PARAMS,
    ),
    "gpt-neox": replace(_DEEPSPEED, overlap_dp=False, zero=1),
    "deepspeed": _DEEPSPEED,
    "fairscale": replace(_FSDP, kernel=UNFUSED),
    "fsdp": _FSDP,
    "llm-foundry": replace(_FSDP, kernel=FLASH_1),
    "torchtitan": Program(FLASH_2, zero=3, interleaves=True, balances=True),
    "nanotron": Program(
        FLASH_2,
        overlap_dp=False,
        scatter=False,
        balances=True,
        wide_gradients=True,
        bucket_params=DDP_BUCKET_PARAMS,
    ),
    "colossal-ai": GENERIC,
    "jax": Program(FLASH_3, zero=3, sequence_parallel=False),
    "meta": Program(FLASH_2, True, True, True, zero=3, interleaves=True),
}
MEGATRON = "megatron-lm"  # modern on Hopper and later; on older GPUs early, or that of 2023 where the run is later
NAMES: tuple[tuple[str, str], ...] = (  # program, pattern of its names; the first that matches
    ("megatron-bridge", r"megatron-bridge|^bridge$"),
    ("automodel", r"auto-?model"),
    ("megascale", r"megascale|vescale"),
    ("gpt-neox", r"neox"),
    ("megatron-deepspeed", r"megatron-(?:deepspeed|ds\b)|deepspeed-megatron|bigscience"),
    ("nemo", r"\bnemo\b|ml-?perf"),
    ("megatron-core", r"megatron-core|\bmcore\b|transformer-engine"),
    ("hai-llm", r"hai-llm|dualpipe"),
    (MEGATRON, r"megatron|ptd-p"),
    ("llm-foundry", r"llm-foundry|mosaic|\bcomposer\b"),
    ("torchtitan", r"torch-?titan|torch-?tune|fsdp-?2"),
    ("nanotron", r"nanotron|picotron"),
    ("colossal-ai", r"colossal|internevo|internlm"),
    ("jax", r"maxtext|pax-?ml|\bpax\b|levanter|\bjax\b|\bt5x\b|easylm"),
    ("fairscale", r"fair-?scale|fair-?seq|meta-?seq"),
    ("deepspeed", r"deepspeed|zero-?(?:3|infinity)"),
    (
        "fsdp",
        r"fsdp|fully-?shard|lit-?gpt|axolotl|olmo|\bfms\b|foundation-model-stack|llama-recipes|open-lm",
    ),
    ("meta", r"^meta$|llama-3\.1\b"),
)


def name_of(text: str) -> str | None:
    """The program that a text names; None when it names none.

    >>> name_of("PyTorch FSDP"), name_of("GPT-NeoX (DeepSpeed)"), name_of("Megatron LM 2.6"), name_of("in-house")
    ('fsdp', 'gpt-neox', 'megatron-lm', None)
    """
    plain = re.sub(r"[\s_]+", "-", text.strip().lower())
    return next((name for name, pattern in NAMES if re.search(pattern, plain)), None)


def program_of(framework: str | None, architecture: str, is_late: bool = False) -> tuple[str, Program]:
    """The name and the defaults of a framework on GPUs of an architecture; generic ones for a name that is not known.
    `is_late`: the run is of 2023 or later, which matters to Megatron-LM on older GPUs.

    >>> program_of("Megatron-LM", "ampere")[1].zero, program_of("Megatron-LM", "hopper")[1].zero
    (0, 1)
    """
    name = name_of(framework or "")
    if name is None:
        return "", _MODERN if architecture in TRANSFORMER_ENGINES else GENERIC
    if name == MEGATRON:
        old = _LATER if is_late else _EARLY
        return name, _MODERN if architecture in TRANSFORMER_ENGINES else old
    return name, PROGRAMS[name]


def known_program(run: TrainingRun, architecture: str) -> tuple[str, Program]:
    """Name and defaults of the run's framework in the run's time; "" for a name that is not known. DeepSpeed with
    tensor or pipeline ranks is Megatron-DeepSpeed.
    """
    late = is_late(run)
    name, program = program_of(run.framework, architecture, late)
    if name == "deepspeed" and (run.tp > 1 or run.pp > 1):
        name = "megatron-deepspeed"
        program = PROGRAMS[name]
    return name, replace(program, blocks=False) if late else program


def is_new_model(model: Transformer) -> bool:
    """Whether a model is of 2023 or later by its blocks: gated feed-forward, grouped queries or experts."""
    return model.gated or model.kv_heads < model.heads or model.moe is not None


def is_late(run: TrainingRun) -> bool:
    """Whether a run is of 2023 or later, by what it trains and how: bf16 with a model of that time, with sequences
    that need fused attention, or with fused attention said.
    """
    is_new = is_new_model(run.model) or is_long(run)
    return bool(run.flash_attention) or (run.precision != "fp16" and is_new)


def is_long(run: TrainingRun) -> bool:
    """Whether scores of the run's sequences would not fit the memory."""
    return run.sequence >= LONG_SEQUENCE


def likely_program(run: TrainingRun, architecture: str) -> tuple[str, Program, str]:
    """Name, defaults and evidence (in words) of the program that a run without a known framework most looks like."""
    if RELEASE.match(run.release or ""):
        return "nemo", PROGRAMS["nemo"], "a release in years and months"
    if run.zero == 3:
        name, why = _likely_sharded(run, architecture)
        program = PROGRAMS[name]
        return name, replace(program, kernel=FLASH_3) if architecture == "blackwell" else program, why
    return _likely_modern(run, architecture) if architecture in TRANSFORMER_ENGINES else _likely_old(run)


def _likely_sharded(run: TrainingRun, architecture: str) -> tuple[str, str]:
    """Of fully sharded weights: PyTorch's FSDP in one of its programs, or DeepSpeed."""
    if architecture in TRANSFORMER_ENGINES and run.model.moe is not None:
        return "automodel", "fully sharded weights and experts"
    if architecture in TRANSFORMER_ENGINES and run.pp > 1:
        return "meta", "sharded weights in a pipeline"
    if architecture in TRANSFORMER_ENGINES and run.tp > 1:
        return "torchtitan", "sharded weights beside tensor ranks"
    if run.precision == "fp16" and run.reshard is None:
        return "deepspeed", "fully sharded weights and fp16"
    if not is_new_model(run.model):
        return "llm-foundry", "fully sharded weights, a model of before FlashAttention 2"
    return "fsdp", "fully sharded weights"


def _likely_modern(run: TrainingRun, architecture: str) -> tuple[str, Program, str]:
    """Of Hopper and later GPUs: Megatron's kind, unless a ZeRO stage is said in bf16 and nothing is interleaved."""
    is_split = run.tp > 1 or run.pp > 1
    if run.zero is not None and run.precision == "bf16" and run.virtual_stages is None and is_split:
        return "nanotron", PROGRAMS["nanotron"], "a ZeRO stage with tensor or pipeline ranks, nothing interleaved"
    return "", _MODERN, f"{architecture.capitalize()} GPUs: overlaps and kernels of a current Megatron-like program"


def _likely_old(run: TrainingRun) -> tuple[str, Program, str]:
    """Of GPUs before Hopper: early programs ran fp16, or recomputed all of short sequences."""
    full = run.recompute == "full" and not is_long(run)
    if is_late(run) or not (run.precision == "fp16" or full):
        return "", GENERIC, "bf16 on older GPUs: fused attention, gradients beside computation"
    said = "fp16" if run.precision == "fp16" else "full recompute of short sequences"
    if run.zero:
        return "megatron-deepspeed", PROGRAMS["megatron-deepspeed"], f"{said} and ZeRO on older GPUs"
    return MEGATRON, _EARLY, f"{said} on older GPUs: a program before fused attention"
