"""Frameworks by their names, and the program that a run without one looks like."""

from dataclasses import replace

import pytest

from eastwest.simulate.analytic.assumptions import assume
from eastwest.simulate.analytic.programs import (
    FLASH_1,
    FLASH_2,
    FLASH_3,
    NAMES,
    PROGRAMS,
    UNFUSED,
    likely_program,
    name_of,
    program_of,
)
from tests.simulate.analytic.training_runs import GPT, gpt_run, llama_run, sparse_run

A100, H100, B200 = "a100-sxm4-80gb", "h100-sxm5-80gb", "b200-sxm-180gb"


@pytest.mark.parametrize(
    ("framework", "architecture", "kernel", "zero", "overlaps"),
    [
        ("Megatron-LM", "ampere", UNFUSED, 0, False),
        ("megatron_lm", "hopper", FLASH_3, 1, True),
        ("llm-foundry", "hopper", FLASH_1, 3, True),
        ("nanotron", "hopper", FLASH_2, 1, False),
        ("megatron-deepspeed", "ampere", UNFUSED, 1, False),
        ("GPT-NeoX", "ampere", UNFUSED, 1, False),
        ("PyTorch FSDP", "ampere", FLASH_2, 3, True),
        ("metaseq (fairscale)", "ampere", UNFUSED, 3, True),
        (None, "ampere", FLASH_2, 1, True),
        ("something new", "blackwell", FLASH_3, 1, True),
    ],
)
def test_a_framework_brings_its_defaults(framework, architecture, kernel, zero, overlaps):
    program = program_of(framework, architecture)[1]
    assert (program.kernel, program.zero, program.overlap_dp) == (kernel, zero, overlaps)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Megatron-DeepSpeed", "megatron-deepspeed"),
        ("DeepSpeed ZeRO-3", "deepspeed"),
        ("Colossal-AI 0.4", "colossal-ai"),
        ("MaxText (GPU)", "jax"),
        ("PaxML", "jax"),
        ("Levanter", "jax"),
        ("OLMo-core", "fsdp"),
        ("LitGPT", "fsdp"),
        ("axolotl", "fsdp"),
        ("FairScale FSDP", "fairscale"),
        ("fairseq", "fairscale"),
        ("IBM fms-fsdp", "fsdp"),
        ("MLPerf Training 4.1", "nemo"),
        ("NeMo 24.07", "nemo"),
        ("Megatron Core 0.8", "megatron-core"),
        ("our own trainer", None),
        ("", None),
    ],
)
def test_names_as_they_are_written(text, name):
    assert name_of(text) == name


def test_every_name_has_a_program():
    assert {name for name, _ in NAMES} == {*PROGRAMS, "megatron-lm"}


@pytest.mark.parametrize(
    ("run", "architecture", "name", "kernel"),
    [
        (gpt_run(), "ampere", "megatron-lm", UNFUSED),
        (gpt_run(zero=1), "ampere", "megatron-deepspeed", UNFUSED),
        (gpt_run(zero=3, tp=1, pp=1), "ampere", "deepspeed", UNFUSED),
        (gpt_run(precision="bf16"), "ampere", "megatron-lm", UNFUSED),  # full recompute of short sequences
        (gpt_run(precision="bf16", recompute="selective"), "ampere", "", FLASH_2),
        (gpt_run(precision="bf16", sequence=8192), "ampere", "", FLASH_2),
        (llama_run(zero=None, tp=8), "ampere", "", FLASH_2),
        (llama_run(zero=None, tp=8), "hopper", "", FLASH_3),
        (llama_run(zero=1, tp=8), "hopper", "nanotron", FLASH_2),
        (llama_run(zero=1, tp=8, precision="fp8"), "hopper", "", FLASH_3),
        (llama_run(), "hopper", "fsdp", FLASH_2),
        (llama_run(), "blackwell", "fsdp", FLASH_3),
        (llama_run(tp=8), "hopper", "torchtitan", FLASH_2),
        (llama_run(pp=8), "hopper", "meta", FLASH_2),
        (replace(llama_run(), model=GPT), "ampere", "llm-foundry", FLASH_1),
        (sparse_run(zero=3, release=None), "hopper", "automodel", FLASH_3),
        (sparse_run(), "blackwell", "nemo", FLASH_3),
    ],
)
def test_a_run_without_a_name_is_taken_for_what_it_looks_like(run, architecture, name, kernel):
    found, program, why = likely_program(replace(run, framework=None), architecture)
    assert (found, program.kernel) == (name, kernel)
    assert why


def test_the_guess_is_said():
    texts = assume(gpt_run(framework=None, zero=1)).texts
    assert any("like megatron-deepspeed" in text and "fp16" in text for text in texts)
    assert any(
        "framework in-house: generic" in text for text in assume(llama_run(framework="in-house", zero=None)).texts
    )


def test_megatron_of_2023_on_older_gpus_has_fused_attention():
    assert assume(gpt_run()).kernel == UNFUSED
    assert assume(llama_run(gpu=A100, framework="megatron-lm", zero=None, tp=8)).kernel == FLASH_2
    assert assume(gpt_run(sequence=8192)).kernel == FLASH_2  # scores in memory would not fit


def test_deepspeed_with_tensor_ranks_is_megatron_deepspeed():
    early, late = (assume(run) for run in (gpt_run(framework="DeepSpeed"), llama_run(framework="DeepSpeed", tp=8)))
    assert early.program == PROGRAMS["megatron-deepspeed"]
    assert (early.program.blocks, late.program.blocks) == (True, False)
    assert assume(gpt_run(framework="DeepSpeed", tp=1, pp=1)).program == PROGRAMS["deepspeed"]
