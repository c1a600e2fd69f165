"""`TrainingRun`: everything that the step model reads of one training run, in the words of the field.

A field that is None is not known; `assumptions.assume` chooses its value in one place and says so. The run holds no
measurement: the measured step time stays beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.workload.model import Transformer

PRECISIONS = ("fp16", "bf16", "fp8", "fp8_rowwise", "mxfp8", "nvfp4")
RECOMPUTE = ("none", "selective", "full")
SCHEDULES = ("1f1b", "interleaved", "zero_bubble")
NETWORKS = ("infiniband", "roce", "efa", "omni_path", "tcp")


@dataclass(frozen=True, slots=True)
class GpuRates:
    """Data-sheet rates of a GPU that the catalogue does not hold: dense FLOP/s with 16-bit, 8-bit and 4-bit operands
    (0: cannot), bytes/s of memory, bytes/s one way of the scale-up links, architecture (`hopper`, ...).
    """

    flops_16_bit: float
    flops_8_bit: float
    flops_4_bit: float
    memory_bytes_per_s: float
    scale_up_bytes_per_s: float
    architecture: str


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """One training run. Required: what it trains, on how many GPUs of which kind, with which batch and layout.

    Identity: `id`, `source` (the repository or paper; fits leave whole sources out), `framework` and `release`
    (`megatron-bridge`, `26.04`).
    Machine: `gpu` is a catalogue name (or any name with `rates`), `gpus_per_node` GPUs share a server and its NICs,
    `scale_up_domain` GPUs reach each other without NICs, `nic_bytes_per_s` one way for each GPU, `network` one of
    NETWORKS, `power_w` a cap below the data sheet's power (W).
    Numbers: `precision` one of PRECISIONS (datatype of the layers' matrix products), `sequence` tokens,
    `global_batch` and `micro_batch` sequences.
    Layout: `tp pp cp ep` ranks, `expert_tp` ranks that split one expert, `virtual_stages` model chunks of one
    pipeline rank, `zero` stage 0 to 3 (3: weights sharded, FSDP), `shard` ranks that one copy of sharded state is
    spread over (None: all data-parallel ranks), `reshard` whether sharded weights are released after the forward
    pass.
    Program: `schedule`, `recompute` as in the tuples above, `overlap_tp dp pp` whether that communication runs beside
    computation, `overlap_ep` whether expert all-to-all does, `flash_attention` whether scores stay on chip, `compiled`
    whether elementwise kernels are fused by a compiler, `parallel_block` attention and MLP side by side.
    Attention: `window` tokens that a token sees in the layers that `window_layers_ratio` counts (1: in all).
    Experts: `capacity_factor` above 0 drops tokens beyond it, `expert_imbalance` is the busiest expert's load over
    the mean (1: forced balance). `mtp_layers` are extra layers of multi-token prediction.
    State: `optimizer_bytes` an optimiser step reads and writes of one parameter, `gradient_bytes` of one gradient on
    the network.
    """

    id: str
    source: str
    model: Transformer
    gpu: str
    gpus: int
    precision: str
    sequence: int
    global_batch: int
    micro_batch: int | None = None
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    expert_tp: int | None = None
    virtual_stages: int | None = None
    schedule: str | None = None
    zero: int | None = None
    shard: int | None = None
    reshard: bool | None = None
    sequence_parallel: bool | None = None
    recompute: str | None = None
    gpus_per_node: int | None = None
    scale_up_domain: int | None = None
    nic_bytes_per_s: float | None = None
    network: str | None = None
    power_w: float | None = None
    rates: GpuRates | None = None
    framework: str | None = None
    release: str | None = None
    overlap_tp: bool | None = None
    overlap_dp: bool | None = None
    overlap_pp: bool | None = None
    overlap_ep: bool | None = None
    flash_attention: bool | None = None
    compiled: bool | None = None
    parallel_block: bool = False
    window: int | None = None
    window_layers_ratio: float = 1.0
    capacity_factor: float | None = None
    expert_imbalance: float | None = None
    mtp_layers: int = 0
    scan_width: float = 0.0
    optimizer_bytes: float | None = None
    gradient_bytes: float | None = None

    @property
    def dp(self) -> int:
        """Data-parallel replicas: GPUs over TP x PP x CP, at least 1."""
        return max(1, self.gpus // (self.tp * self.pp * self.cp))

    @property
    def tokens(self) -> int:
        """Tokens of one optimiser step."""
        return self.global_batch * self.sequence
