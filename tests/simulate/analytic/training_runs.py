"""Synthetic training runs for the tests of the step model."""

from dataclasses import replace

from eastwest.simulate.analytic.training_run import TrainingRun
from eastwest.workload.model import Moe, Transformer

GPT = Transformer("gpt-synthetic", 48, 8192, 64, 64, 128, 32768, 51200, gated=False, biases=True, tied_embeddings=True)
LLAMA = Transformer("llama-synthetic", 80, 8192, 64, 8, 128, 28672, 128256)
SPARSE = Transformer("moe-synthetic", 48, 4096, 64, 4, 128, 12288, 151936, moe=Moe(128, 8, 1536))


def gpt_run(**fields: object) -> TrainingRun:
    """A plain decoder on A100 servers, early Megatron-LM, no overlap."""
    base = TrainingRun(
        id="gpt",
        source="synthetic",
        model=GPT,
        gpu="a100-sxm4-80gb",
        gpus=256,
        precision="fp16",
        sequence=2048,
        global_batch=512,
        micro_batch=1,
        tp=8,
        pp=4,
        recompute="full",
        gpus_per_node=8,
        nic_bytes_per_s=25e9,
        network="infiniband",
        framework="megatron-lm",
    )
    return replace(base, **fields)  # type: ignore[arg-type]


def llama_run(**fields: object) -> TrainingRun:
    """A gated decoder on H100 servers with fully sharded weights."""
    base = TrainingRun(
        id="llama",
        source="synthetic",
        model=LLAMA,
        gpu="h100-sxm5-80gb",
        gpus=64,
        precision="bf16",
        sequence=8192,
        global_batch=128,
        micro_batch=1,
        zero=3,
        recompute="full",
        gpus_per_node=8,
        nic_bytes_per_s=50e9,
        network="infiniband",
        framework="torchtitan",
    )
    return replace(base, **fields)  # type: ignore[arg-type]


def sparse_run(**fields: object) -> TrainingRun:
    """Experts over two racks of GB200."""
    base = TrainingRun(
        id="moe",
        source="synthetic",
        model=SPARSE,
        gpu="gb200-186gb",
        gpus=128,
        precision="mxfp8",
        sequence=4096,
        global_batch=1024,
        micro_batch=1,
        ep=64,
        gpus_per_node=4,
        scale_up_domain=72,
        nic_bytes_per_s=50e9,
        network="infiniband",
        framework="megatron-bridge",
        release="26.04",
    )
    return replace(base, **fields)  # type: ignore[arg-type]
