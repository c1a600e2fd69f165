"""What is assumed of a run where it does not say, and that nothing is assumed where it does."""

import pytest

from eastwest.errors import UsageError
from eastwest.simulate.analytic.assumptions import assume, rates_of
from eastwest.simulate.analytic.programs import UNFUSED
from eastwest.simulate.analytic.training_run import GpuRates
from tests.simulate.analytic.training_runs import gpt_run, llama_run, sparse_run


def test_what_the_run_says_is_not_assumed():
    full = gpt_run(
        zero=0,
        sequence_parallel=False,
        overlap_tp=False,
        overlap_dp=False,
        overlap_pp=False,
        flash_attention=False,
        virtual_stages=2,
        gradient_bytes=2,
        optimizer_bytes=34,
    )
    assert assume(full).texts == ()


def test_every_choice_is_said():
    texts = assume(gpt_run(framework=None, micro_batch=None, nic_bytes_per_s=None, recompute=None)).texts
    assert all(text.startswith("assumed: ") for text in texts)
    for word in ("framework", "micro-batch", "NIC", "recompute", "ZeRO"):
        assert any(word in text for text in texts), word


def test_early_programs_recompute_what_would_not_fit():
    # 70e9 parameters over 32 GPUs and 5 B of 2048 x 2048 scores of 64 / 8 heads in 48 layers: more than 80 GB
    early = gpt_run(recompute=None, framework=None)
    assert assume(early).kernel == UNFUSED
    assert assume(early).recompute == "none"
    assert assume(gpt_run(recompute=None, framework=None, micro_batch=8)).recompute == "full"
    assert assume(gpt_run(recompute=None, framework=None, micro_batch=8, precision="bf16")).recompute == "none"


def test_one_server_needs_no_network_assumption():
    texts = assume(gpt_run(gpus=8, pp=1, global_batch=8, nic_bytes_per_s=None, network=None)).texts
    assert not any("NIC" in text or "InfiniBand" in text for text in texts)


@pytest.mark.parametrize(
    ("pp", "batch", "chunks"),
    # 48 layers over 4 stages: 12 in a stage; 8 replicas. m = 64: bubble 3 / 64 is below 5 %; m = 16: 3 / (4 x 16)
    [(4, 512, 1), (4, 128, 4), (4, 8, 12), (1, 512, 1)],
)
def test_chunks_are_added_until_the_bubble_is_small(pp, batch, chunks):
    assert assume(gpt_run(pp=pp, gpus=64 * pp, global_batch=batch)).chunks == chunks


def test_a_program_that_does_not_interleave_keeps_one_chunk():
    assert assume(gpt_run(framework="megatron-deepspeed", global_batch=16)).chunks == 1


def test_the_assumed_micro_batch_divides_a_replicas_share_and_shrinks_with_memory():
    large = assume(gpt_run(micro_batch=None))
    small = assume(gpt_run(micro_batch=None, sequence=16384, recompute="none"))
    assert (512 / 8) % large.micro_batch == 0
    assert large.micro_batch > small.micro_batch >= 1


def test_rates_are_those_of_the_best_product_that_was_measured():
    # A100: 271.2 of 312 TFLOP/s; GB200 fp8: 1822 of 2500 in bf16, so the same share of 5000
    assert rates_of(gpt_run()).flops_16_bit == pytest.approx(271.2e12)
    assert rates_of(sparse_run()).flops_8_bit == pytest.approx(5000e12 * 1822 / 2500)


def test_given_rates_stand_for_a_gpu_that_no_catalogue_has():
    rates = GpuRates(1e15, 2e15, 0.0, 4e12, 5e11, "hopper")
    run = llama_run(gpu="gpu of next year", rates=rates)
    assert rates_of(run).flops_16_bit == pytest.approx(0.8e15)
    with pytest.raises(UsageError):
        assume(llama_run(gpu="gpu of next year"))


def test_a_power_cap_is_a_share_of_the_data_sheets_power():
    assert assume(llama_run(power_w=500)).power_ratio == pytest.approx(500 / 700)
    assert assume(llama_run()).power_ratio == 1.0
