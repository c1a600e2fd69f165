"""Megatron-LM launches in the shapes that people paste, all written by us (synthetic)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.errors import InputError
from eastwest.spec.jobs import TrainingWish
from eastwest.workload import account
from eastwest.workload.imports import shell_words
from eastwest.workload.imports.megatron import read, site_with_arguments, training_wish, with_launch
from tests.workload.sites import site, training

SHAPE = "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096"
BATCH = "--micro-batch-size 1 --global-batch-size 256"

SCRIPT = r"""#!/bin/bash
# synthetic launch script
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-16}   # machines
TP=4; PP=2
WORLD_SIZE=$((GPUS_PER_NODE*NNODES))

DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NNODES
    --master_addr "$MASTER_ADDR"   # from the scheduler
)
GPT_MODEL_ARGS=(
    --num-layers 64
    --hidden-size 8192     # width
    --ffn-hidden-size 28672
    --num-attention-heads 64
    --group-query-attention
    --num-query-groups 8
    --seq-length 8192
    --swiglu
    --untie-embeddings-and-output-weights
    --vocab-size 128256 --make-vocab-size-divisible-by 128
)
TRAINING_ARGS="
    --micro-batch-size 1 \
    --global-batch-size $((WORLD_SIZE * 8)) \
    --bf16 \
    --lr 6.0e-5
"
MODEL_PARALLEL_ARGS+=(--tensor-model-parallel-size ${TP} --pipeline-model-parallel-size $PP)
MODEL_PARALLEL_ARGS+=(--num-layers-per-virtual-pipeline-stage 8 --sequence-parallel)

torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${GPT_MODEL_ARGS[@]} \
    "${MODEL_PARALLEL_ARGS[@]}" \
    $TRAINING_ARGS \
    --use-distributed-optimizer --overlap-grad-reduce 2>&1 | tee out.log
"""


def test_a_script_with_variables_arrays_and_comments() -> None:
    found = read(SCRIPT, "launch.sh")
    assert (found.nodes, found.gpus_per_node, found.gpus) == (16, 8, 128)
    job = found.job
    assert job["model"] == {
        "layers": 64,
        "hidden": 8192,
        "heads": 64,
        "kv_heads": 8,
        "head_dim": 128,
        "ffn": 28672,
        "gated": True,
        "tied_embeddings": False,
        "vocab": 128512,  # padded to a multiple of 128 * tp 4
    }
    assert job["parallel"] == {
        "tp": 4,
        "pp": 2,
        "cp": 1,
        "ep": 1,
        "sp": True,
        "zero": 1,
        "virtual_stages": 4,
        "schedule": "interleaved",
    }
    assert (job["global_batch"], job["micro_batch"], job["sequence"]) == (1024, 1, 8192)
    assert (job["precision"], job["gradient_precision"], job["overlap_gradients"]) == ("bf16", "fp32", True)
    assert [(line.line, line.text) for line in found.unknown] == [
        (12, "--master-addr $MASTER_ADDR"),
        (30, "--lr 6.0e-5"),
    ]
    assert (15, "--num-layers 64") in [(line.line, line.text) for line in found.used]


def test_a_launch_is_a_job_that_can_be_accounted_for() -> None:
    wish = training_wish(read(SCRIPT), "launch.sh")
    assert isinstance(wish, TrainingWish)
    ledger, findings, _ = account(site(servers=16, model="dgx-h200").model_copy(update={"jobs": (wish,)}))
    assert findings == ()
    assert ledger.jobs[0].grid.dp == 16


@pytest.mark.parametrize(
    "text",
    [
        f"mpirun -np 64 python pretrain_gpt.py {SHAPE} {BATCH}",
        f"srun --nodes=8 --ntasks-per-node 8 bash -c 'torchrun pretrain_gpt.py {SHAPE} {BATCH}'",
        f"kubectl exec pod -- torchrun --nnodes=8 --nproc-per-node=8 pretrain_gpt.py {SHAPE} {BATCH}\r\n",
        "torchrun pretrain_gpt.py \\\n  " + " \\\n  ".join(f"{SHAPE} {BATCH}".split(" --")),
        f"\x1b[32m$ torchrun\x1b[0m pretrain_gpt.py {SHAPE} {BATCH} &",
        f"{SHAPE} {BATCH}",
        f'ARGS="{SHAPE} {BATCH}"\ntorchrun pretrain_gpt.py $ARGS',
        f"ARGS='{SHAPE} {BATCH}'\ntorchrun pretrain_gpt.py $ARGS",
        f"ARGS=({SHAPE} {BATCH})",
        f"{SHAPE} {BATCH}".replace(" --", "=--").replace(" ", "=").replace("=--", " --"),
        f"{SHAPE} {BATCH}".replace("-layers", "_layers").replace("-size", "_size"),
    ],
)
def test_the_same_launch_in_many_shapes(text: str) -> None:
    text = text.replace("pretrain_gpt.py \\\n  --num", "pretrain_gpt.py --num")
    if "\\\n" in text:
        text = text.replace("\\\n  ", "\\\n  --").replace("----", "--")
    job = read(text).job
    assert job["model"]["layers"] == 32
    assert job["model"]["hidden"] == 4096
    assert job["sequence"] == 4096
    assert job["global_batch"] == 256


def test_a_printed_argument_dump() -> None:
    text = """
[rank0] ------------------------ arguments ------------------------
  bf16 ............................................ True
  global_batch_size ............................... 512
  hidden_size ..................................... 4096
  micro_batch_size ................................ 2
  num_attention_heads ............................. 32
  num_experts ..................................... None
  num_layers ...................................... 32
  seq_length ...................................... 4096
  sequence_parallel ............................... False
  tensor_model_parallel_size ...................... 8
  use_distributed_optimizer ....................... True
"""
    job = read(text).job
    assert job["parallel"] == {"tp": 8, "pp": 1, "cp": 1, "ep": 1, "sp": False, "zero": 1}
    assert (job["micro_batch"], job["precision"]) == (2, "bf16")
    assert "moe" not in job["model"]


def test_a_yaml_recipe() -> None:
    text = "MODEL_ARGS:\n" + "\n".join(
        f"  {line}"
        for line in (
            "--num-layers: 12",
            "--hidden-size: 512",
            "--num-attention-heads: 8",
            "--seq-length: 1024",
            "--global-batch-size: 32",
            "--bf16: true",
            "--sequence-parallel: false",
        )
    )
    job = read(text).job
    assert job["model"]["layers"] == 12
    assert job["precision"] == "bf16"
    assert job["parallel"]["sp"] is False


def options(*more: str) -> dict[str, Any]:
    return dict(read(" ".join(["torchrun pretrain_gpt.py", SHAPE, BATCH, *more])).job)


def test_experts() -> None:
    job = options(
        "--num-experts 64 --moe-router-topk 6 --moe-ffn-hidden-size 1408 --moe-shared-expert-intermediate-size 2816",
        "--expert-model-parallel-size 8 --moe-layer-freq '([0]*1+[1]*31)' --moe-router-group-topk 4",
    )
    assert job["model"]["moe"] == {
        "experts": 64,
        "top_k": 6,
        "ffn": 1408,
        "shared_experts": 2,
        "max_nodes_per_token": 4,
        "dense_layers": 1,
    }
    assert job["parallel"]["ep"] == 8


def test_latent_attention() -> None:
    model = options("--multi-latent-attention --kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64")["model"]
    assert (model["kv_latent"], model["head_dim"]) == (576, 128)
    assert "kv_heads" not in model


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("--bf16", ("bf16", "fp32")),
        ("--bf16 --grad-reduce-in-bf16", ("bf16", "bf16")),
        ("--fp16", ("fp16", "fp16")),
        ("--fp16 --accumulate-allreduce-grads-in-fp32", ("fp16", "fp32")),
        ("--bf16 --fp8-format hybrid", ("fp8", "fp32")),
        ("--bf16 --fp8-format e4m3 --fp8-recipe mxfp8", ("mxfp8", "fp32")),
        ("", ("fp32", "fp32")),
    ],
)
def test_precisions(more: str, expected: tuple[str, str]) -> None:
    job = options(more)
    assert (job["precision"], job["gradient_precision"]) == expected


@pytest.mark.parametrize(
    ("more", "zero"),
    [
        ("", 0),
        ("--use-distributed-optimizer", 1),
        ("--use-torch-fsdp2", 3),
        ("--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params", 3),
        ("--use-custom-fsdp --data-parallel-sharding-strategy optim_grads", 2),
    ],
)
def test_sharding(more: str, zero: int) -> None:
    assert options(more)["parallel"]["zero"] == zero


def test_recompute_and_buckets() -> None:
    assert options("--recompute-activations")["recompute"] == "selective"
    assert options("--recompute-granularity full --recompute-method uniform")["recompute"] == "full"
    assert options("--bf16 --ddp-bucket-size 40000000")["bucket"] == 160_000_000
    assert options("--swiglu")["model"]["ffn"] == 10880  # int(4 * 4096 * 2/3 / 64) * 64, as Megatron rounds


def test_the_default_batch_is_one_micro_batch_for_each_rank() -> None:
    launch = "torchrun --nnodes 4 --nproc_per_node 8 pretrain_gpt.py"
    assert read(f"{launch} {SHAPE} --micro-batch-size 2 --tensor-model-parallel-size 4").job["global_batch"] == 16


def test_everything_that_is_missing_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read("torchrun pretrain_gpt.py --num-layers 32 --hidden-size x --bf16", "launch.sh")
    subjects = {(finding.code, finding.subject) for finding in caught.value.findings}
    assert subjects == {
        ("EW-WORK-040", "--num-attention-heads"),
        ("EW-WORK-040", "--seq-length"),
        ("EW-WORK-040", "--global-batch-size"),
        ("EW-WORK-041", "--hidden-size"),
    }
    assert "launch.sh: the launch arguments lack --seq-length" in str(caught.value)


def test_a_variable_from_elsewhere_is_named_with_its_line() -> None:
    with pytest.raises(InputError) as caught:
        read(f"torchrun pretrain_gpt.py {SHAPE} \\\n --global-batch-size $GBS")
    finding = caught.value.findings[0]
    assert finding.sentence() == "line 2: --global-batch-size is $GBS, which the text does not assign"
    assert finding.evidence[0].line == 2
    assert finding.sentence("zh")


def test_an_unknown_number_of_nodes_is_not_stated() -> None:
    found = read(f"torchrun --nnodes $NNODES --nproc_per_node gpu pretrain_gpt.py {SHAPE} {BATCH}")
    assert (found.nodes, found.gpus_per_node, found.gpus) == (None, None, None)


@pytest.mark.parametrize("text", ["", "hello", "--", "'", '"', "A=(", "${", "$((1/0))", "A=$A$A\n" * 40, "\x00"])
def test_text_that_is_no_launch_says_what_is_missing(text: str) -> None:
    with pytest.raises(InputError):
        read(text)


def test_a_site_takes_over_the_launch(tmp_path: Path) -> None:
    wish = site(training(name="own", jitter_tolerance="high", checkpoint={"every": "30min"}), servers=16)
    job = with_launch(wish, SCRIPT, "launch.sh")[0].jobs[0]
    assert isinstance(job, TrainingWish)
    assert (job.name, job.gpus, job.jitter_tolerance) == ("own", 128, "high")
    assert job.checkpoint is not None
    assert job.model.layers == 64


def test_a_launch_without_machines_keeps_the_jobs_gpus() -> None:
    text = f"pretrain_gpt.py {SHAPE} --micro-batch-size 1"
    job = with_launch(site(training(gpus=32)), text, "x")[0].jobs[0]
    assert isinstance(job, TrainingWish)
    assert (job.gpus, job.global_batch) == (32, 32)


def test_a_site_without_training_gains_the_job() -> None:
    serve = {"name": "s", "kind": "inference", "model": "llama3-8b", "gpus": 8}
    made, _ = with_launch(site(serve), f"pretrain_gpt.py {SHAPE} {BATCH}", "x")
    assert [job.name for job in made.jobs] == ["s", "megatron"]


def test_a_site_file_and_a_launch_file(tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(
        "name: x\nservers: [{model: dgx-h100, count: 16}]\nfabric: {switch: 64x400G}\n", encoding="utf-8"
    )
    (tmp_path / "launch.sh").write_text(SCRIPT, encoding="utf-8")
    loaded, _ = site_with_arguments(str(tmp_path / "site.yaml"), tmp_path / "launch.sh")
    assert loaded.site.jobs[0].gpus == 128


def test_a_job_out_of_bounds_is_refused() -> None:
    text = f"pretrain_gpt.py {SHAPE.replace('4096 --num-att', '99999999999 --num-att')} {BATCH}"
    with pytest.raises(InputError, match="hidden"):
        training_wish(read(text), "x")


@given(st.text(alphabet="AB=$(){}'\"\\\n -#;&|1+*/@[]:", max_size=60))
def test_any_text_ends_in_words_or_in_an_input_error(text: str) -> None:
    with pytest.raises(InputError):
        read(text)


def test_an_array_with_separators_inside_ends() -> None:
    """Once an endless loop: `A=(;`."""
    with pytest.raises(InputError):
        read("A=(; & |")


ENDLESS = {
    "a string that doubles": 'A="--x y"\n' + 'A="$A $A"\n' * 60 + "torchrun x.py $A\n",
    "an array that appends itself": "A=(--x y)\n" + 'A+=( "${A[@]}" )\n' * 60 + "torchrun x.py ${A[@]}\n",
    "an array made of two of itself": "A=(--x y)\n" + 'A=( "${A[@]}" "${A[@]}" )\n' * 60 + "torchrun x.py ${A[@]}\n",
    "one long array in many commands": "A=(" + "--x " * 5000 + ")\n" + "torchrun x.py ${A[@]} ${A[@]}\n" * 200,
    "one long string many times in a word": "A=" + "x" * 5000 + "\ntorchrun x.py " + "$A" * 50_000 + "\n",
    "a number that squares itself": "A=99999999\n" + "A=$((A*A))\n" * 60 + "torchrun x.py --nnodes $A\n",
    "a sum of long names": "A=" + "9" * 5000 + "\ntorchrun x.py --x $((" + "+".join(["A"] * 20_000) + "))\n",
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_a_variable_that_grows_filled_the_memory(text):
    words = [word for command in shell_words.commands(text) for word in command.words]
    assert len(words) <= shell_words.MAX_WORDS
    assert sum(len(word.text) for word in words) <= 2 * shell_words.MAX_TEXT_CHARACTERS


def test_the_arrays_of_a_real_script_still_append():
    text = "A=(--a 1)\nA+=(--b 2)\nA+=(--c 3)\ntorchrun x.py ${A[@]} $((2*3+1))"
    assert [word.text for word in shell_words.commands(text)[-1].words[2:]] == ["--a", "1", "--b", "2", "--c", "3", "7"]


@pytest.mark.parametrize("number", ["9" * 5000, "\u00b2", "1e5", "-4", "0", "", "{0}%s"])
@pytest.mark.parametrize("name", ["--num-layers", "--nnodes"])
def test_a_number_that_is_none_ended_in_a_traceback(name, number):
    with pytest.raises(InputError) as raised:
        read(f"torchrun --nproc-per-node 8 x.py --num-layers 4 {name} '{number}'")
    assert {finding.code for finding in raised.value.findings} & {"EW-WORK-040", "EW-WORK-041"}
    assert all(len(finding.sentence()) < 400 for finding in raised.value.findings)


@pytest.mark.parametrize("frequency", ["\u00b2", "([0]*\u00b2+[1]*5)", "[0]*" + "9" * 5000 + "+[1]*5"])
def test_a_layer_frequency_that_is_no_number_is_assumed_away(frequency):
    launch = "x.py --num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --global-batch-size 8"
    found = read(f"{launch} --num-experts 8 --moe-layer-freq '{frequency}'", gpus=8)
    assert any("not understood" in text for text in found.assumed)
