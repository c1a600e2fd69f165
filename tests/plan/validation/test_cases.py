"""Rows as runs: families, sources, skip reasons, and what texts of tables mean."""

import pytest

from eastwest.finding import Finding
from eastwest.plan.validation.architectures import architecture_of, causal_flops
from eastwest.plan.validation.cases import cases_of
from eastwest.plan.validation.hybrid_models import NANO, SUPER, equivalent
from eastwest.plan.validation.reasons import Doubt, Skip
from eastwest.plan.validation.sources import source_key
from eastwest.plan.validation.training_table import read_rows
from eastwest.workload.model import count_params
from tests.plan.validation.rows import ARCH, changed, one_case, one_row, table

EXPERTS = {**ARCH, "gated_mlp": True, "moe_experts": 16, "moe_topk": 2, "moe_ffn": 512}


@pytest.mark.parametrize(
    ("changes", "family"),
    [
        ({}, "dense-a100"),
        ({"gpu": "A100-SXM4-40GB"}, "dense-a100"),
        ({"gpu": "H100-SXM5-80GB"}, "dense-h100"),
        ({"gpu": "H100-SXM5-80GB (700 W)"}, "dense-h100"),
        ({"gpu": "H100-96GB-HBM2e (500 W)"}, "other"),
        ({"gpu": "H100 PCIe 80GB"}, "other"),
        ({"gpu": "H200-SXM-141GB"}, "other"),
        ({"gpu": "B200 (row printed as H200)"}, "blackwell"),
        ({"gpu": "B300-SXM-288GB"}, "blackwell"),
        ({"gpu": "GB200"}, "blackwell"),
        ({"gpu": "GB300", "arch": EXPERTS}, "moe"),
        ({"ep": 4}, "moe"),
        ({"model": "Mixtral 8x7B", "arch": None}, "moe"),
        ({"gpu": "MI300X"}, "other"),
    ],
)
def test_the_family_follows_the_fixed_order(changes, family):
    assert one_case(**changes).family == family


@pytest.mark.parametrize(
    ("source", "release", "key"),
    [
        ("github:NVIDIA/Megatron-LM@9375^:images/a.png; arXiv:2104.04473 Table 1", None, "github:NVIDIA/Megatron-LM"),
        ("https://github.com/org/repo.git", None, "github:org/repo"),
        ("github:NVIDIA-NeMo/Megatron-Bridge@0:docs/a.md line 3", "26.04", "github:NVIDIA-NeMo/Megatron-Bridge 26.04"),
        (
            "github:NVIDIA-NeMo/Megatron-Bridge@1:docs/b.md line 9",
            "26.04.01",
            "github:NVIDIA-NeMo/Megatron-Bridge 26.04",
        ),
        ("github:NVIDIA-NeMo/Megatron-Bridge@1:docs/b.md", "25.11", "github:NVIDIA-NeMo/Megatron-Bridge 25.11"),
        ("github:NVIDIA-NeMo/Automodel@1:docs/b.md", "26.02", "github:NVIDIA-NeMo/Automodel"),
        ("arXiv:2402.15627 Table 3", None, "arXiv:2402.15627"),
        ("example.org/page (table from elsewhere)", None, "example.org/page"),
        ("", None, "unknown"),
    ],
)
def test_a_source_is_the_repository_or_paper(source, release, key):
    assert source_key(source, release) == key


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"task": "LoRA Performance"}, Skip.other_task),
        ({"task": "SFT"}, Skip.other_task),
        ({"task": "QLoRA"}, Skip.other_task),
        ({"model": "Llama2-70B LoRA"}, Skip.other_task),
        ({"model": "Llama2-70B-qlora_nf4"}, Skip.other_task),
        ({"id": "llama2_70b_lora_8gpus"}, Skip.other_task),
        ({"kind": "calibration_table"}, Skip.calibration_table),
        ({"kind": "simulation"}, Skip.not_measured),
        ({"kind": "derived"}, Skip.not_measured),
        ({"unhealthy": True}, Skip.unhealthy),
        ({"measured": {"activation_gb": 3}}, Skip.no_measurement),
        ({"measured": None}, Skip.no_measurement),
        ({"measured": {"iter_time_s": 0}}, Skip.no_measurement),
        ({"gpus": None}, Skip.no_gpus),
        ({"seq": None}, Skip.no_sequence),
        ({"global_batch": None}, Skip.no_batch),
        ({"tp": None, "pp": None}, Skip.no_layout),
        ({"arch": None}, Skip.no_model),
        ({"arch": {"hidden": 1024}}, Skip.no_model),
        ({"arch": None, "model": "T5-3B"}, Skip.no_decoder),
        ({"gpu": "TPU v4"}, Skip.no_hardware),
        ({"precision": "fp8"}, Skip.no_precision),
        ({"precision": "tf32"}, Skip.no_precision),
        ({"tp": 3}, Skip.uneven_layout),
    ],
)
def test_every_skip_has_its_reason(changes, reason):
    case = one_case(**changes)
    assert case.skip is reason
    assert case.run is None


@pytest.mark.parametrize("reason", list(Skip))
def test_every_reason_has_a_sentence_in_both_languages(reason):
    finding = Finding(str(reason), "info", "row")
    assert finding.sentence()
    assert finding.sentence("zh") != finding.sentence()


def test_a_published_claim_is_scored_and_a_suspect_row_is_read_with_its_reason():
    assert one_case(kind="published_claim").run is not None
    assert one_case(suspect="half of its neighbour").suspect == "half of its neighbour"


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        ({}, None),
        ({"global_batch": 7}, Doubt.uneven_batch),  # on 16 / 2 / 2 = 4 replicas
        ({"global_batch": 1538}, None),  # published batches are rounded: 385 x 4 = 1540
        ({"measured": {"mfu_pct": 140}}, Doubt.beyond_peak),
        ({"measured": {"iter_time_s": 1e-6}}, Doubt.beyond_peak),
        ({"arch": {**ARCH, "heads": 7}}, Doubt.layout_of_another_model),
        ({"arch": {**ARCH, "heads": 8, "kv_heads": 3}}, Doubt.layout_of_another_model),
        ({"ep": 7}, Doubt.layout_of_another_model),
        ({"tp": 1, "pp": 16}, Doubt.layout_of_another_model),
    ],
)
def test_what_cannot_be_is_predicted_and_doubted(changes, doubt):
    case = one_case(**changes)
    assert case.doubt is doubt
    assert case.is_suspect is (doubt is not None)
    assert case.run is not None


def test_an_id_is_scored_once():
    doubts = [case.doubt for case in cases_of(read_rows(table(changed(), changed(), changed(id="other")), "t.yaml"))]
    assert doubts == [None, Doubt.repeated_id, None]


@pytest.mark.parametrize("doubt", list(Doubt))
def test_every_doubt_has_a_sentence_in_both_languages(doubt):
    finding = Finding(str(doubt), "info", "row 7")
    assert "row 7" in finding.sentence()
    assert "row 7" in finding.sentence("zh") != finding.sentence()


def test_batches_are_derived_from_what_a_replica_does():
    run = one_case(global_batch=None, micro_batch=None, local_batch=3, grad_accum=4).run
    assert (run.dp, run.global_batch, run.micro_batch) == (4, 48, 3)
    run = one_case(global_batch=None, global_batch_tokens=131072).run
    assert run.global_batch == 64
    case = one_case(micro_batch=32)
    assert case.run.micro_batch == 16
    assert any("printed 32" in said for said in case.assumed)


def test_a_printed_dp_that_does_not_multiply_is_replaced_and_said():
    case = one_case(dp=8)
    assert case.run.dp == 4
    assert case.assumed == ("dp 4: the printed 8 does not multiply to 16 GPUs",)


@pytest.mark.parametrize(
    ("text", "network", "gigabits"),
    [
        ("Selene: DGX A100, 8x200G HDR IB per node, fat tree", "infiniband", 200),
        ("4x100G Omni-Path per node", "omni_path", 50),
        ("1600 Gb/s RoCE per node (8x200G)", "roce", 200),
        ("AWS p5-class, 3200 Gb/s EFA per node", "efa", 400),
        ("400 Gb/s RDMA per GPU; capped", None, 400),
        ("2x25G TCP", "tcp", 6.25),
    ],
)
def test_networks_are_read_from_their_texts(text, network, gigabits):
    run = one_case(network=text).run
    assert run.network == network
    assert run.nic_bytes_per_s == gigabits * 1e9 / 8


def test_racks_join_72_gpus_and_the_power_cap_is_kept():
    rack = one_case(gpu="GB200", gpus_per_node=4, network="NVL72 domain; reference scale-out 4x400G per tray").run
    assert (rack.gpu, rack.gpus_per_node, rack.scale_up_domain) == ("gb200-186gb", 4, 72)
    assert one_case(gpu="H100-96GB-HBM2e (500 W)").run.power_w == 500
    assert one_case(gpu="H100-SXM5-80GB (700 W)").run.power_w is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"sharding": "FSDP FULL_SHARD"}, {"zero": 3, "reshard": True}),
        ({"sharding": "FSDP SHARD_GRAD_OP"}, {"zero": 3, "reshard": False}),
        ({"sharding": "FSDP (ZeRO-2 style: no reshard after forward)"}, {"zero": 3, "reshard": False}),
        ({"sharding": "FSDP2 x8"}, {"zero": 3, "shard": 8}),
        ({"sharding": "ZeRO-1 (DeepSpeed)"}, {"zero": 1}),
        ({"fsdp": 4}, {"zero": 3, "shard": 4}),
        ({"sharding": "FULL_SHARD"}, {"zero": 3, "reshard": True}),
        ({"sharding": "fully sharded data parallel"}, {"zero": 3, "reshard": None, "shard": None}),
        ({"sharding": "HSDP"}, {"zero": 3, "shard": 8}),
        ({"sharding": "HSDP x64"}, {"zero": 3, "shard": 64}),
        ({"sharding": "HYBRID_SHARD", "params_b": 70}, {"zero": 3, "shard": 32}),
        ({"sharding": "ZeRO stage 3"}, {"zero": 3}),
        ({"sharding": "distributed optimizer"}, {"zero": 1}),
        ({"schedule": "DualPipe"}, {"schedule": "zero_bubble", "overlap_ep": True, "framework": "hai-llm"}),
        ({"schedule": "interleaved 1F1B where PP>1", "vp": 3}, {"schedule": "interleaved", "virtual_stages": 3}),
        ({"schedule": "1F1B or interleaved"}, {"schedule": None}),
        ({"schedule": "zero-bubble"}, {"schedule": "zero_bubble"}),
        ({"overlap": "TP, DP and PP overlap enabled"}, {"overlap_tp": True, "overlap_dp": True, "overlap_ep": None}),
        ({"optimisations": "baseline"}, {"overlap_tp": None, "parallel_block": False}),
        ({"async_tp": False}, {"overlap_tp": False}),
        ({"precision": "bf16 + torch.compile"}, {"compiled": True, "precision": "bf16"}),
        ({"mixed_precision_mode": "PURE"}, {"gradient_bytes": 2.0}),
        ({"activation_recompute": "selective op"}, {"recompute": "selective"}),
        ({"source": "github:pytorch/torchtitan@1:x"}, {"framework": "torchtitan"}),
        ({"framework": "GPT-NeoX"}, {"framework": "gpt-neox"}),
        ({"framework": "Hugging Face Accelerate"}, {"framework": "fsdp"}),
        ({"framework": "in-house"}, {"framework": "in-house"}),
        ({"source": "arXiv:2304.01373 Table 5"}, {"framework": "gpt-neox"}),
        ({"source": "MLPerf Training v4.0"}, {"framework": "nemo"}),
        ({"mixed_precision_mode": "PURE", "sharding": "FSDP"}, {"framework": "llm-foundry"}),
        ({"sharding": "ZeRO-1 (DeepSpeed)"}, {"framework": "deepspeed"}),
        ({"model": "OPT-175B"}, {"framework": "fairscale"}),
        ({"activation_recompute": None}, {"recompute": None}),
    ],
)
def test_programs_are_read_from_their_texts(changes, expected):
    run = one_case(**changes).run
    assert {key: getattr(run, key) for key in expected} == expected


def test_a_variant_that_begins_with_plus_keeps_those_before_it():
    variants = ("baseline Megatron-LM", "+parallel transformer block", "+TP overlap", "+sliding window attention")
    rows = [changed(id=str(number), variant=variant) for number, variant in enumerate(variants)]
    runs = [case.run for case in cases_of(read_rows(table(*rows, changed(id="alone")), "t.yaml"))]
    assert [run.parallel_block for run in runs] == [False, True, True, True, False]
    assert [run.overlap_tp for run in runs] == [None, None, True, True, None]
    assert [run.window for run in runs] == [None, None, None, 1024, None]
    assert runs[0].framework == "megatron-lm"


def test_experts_latent_attention_and_windows_reach_the_model():
    latent = {
        **EXPERTS,
        "attention": "MLA",
        "kv_lora_rank": 512,
        "q_lora_rank": 768,
        "moe_shared": 1,
        "dense_layers": 1,
    }
    model = one_case(arch=latent).run.model
    assert (model.moe.experts, model.moe.top_k, model.moe.ffn, model.moe.shared_ffn) == (16, 2, 512, 512)
    assert (model.mla.kv_rank, model.mla.q_rank, model.head_dim, model.n_moe_layers) == (512, 768, 128, 7)
    case = one_case(arch={**EXPERTS, "sliding_window": 128})
    assert (case.run.window, case.run.window_layers_ratio) == (128, 0.5)
    assert any("every second layer" in said for said in case.assumed)


def test_approximate_dimensions_give_way_to_the_printed_size():
    arch = {"hidden": 2048, "layers": 16, "heads": 32, "kv_heads": 8, "ffn": 8192, "vocab": 131072}
    case = one_case(
        model="Llama-style", arch=arch, params_b=1.34, arch_provenance="approximate: trust params_b", tp=1, pp=1
    )
    assert count_params(case.run.model).total == pytest.approx(1.34e9, rel=0.005)
    assert case.run.model.gated


def test_known_names_stand_for_their_dimensions():
    assert one_case(arch=None, model="LLAMA3_8B").run.model.ffn == 14336
    assert one_case(arch=None, model="GPT-3 175B").run.model.hidden == 12288
    assert one_case(arch=None, model="MPT 7b").run.model.layers == 32
    assert one_case(arch=None, model="Mystery 9B").skip is Skip.no_model


# Parameters that the models' names promise: 30 and 120 in 10^9, within 6 %: whole heads and experts only
@pytest.mark.parametrize(("hybrid", "total"), [(NANO, 31.6e9), (SUPER, 120e9)])
def test_a_hybrid_becomes_a_transformer_of_its_size(hybrid, total):
    found = equivalent(hybrid)
    attention = 2 * found.model.hidden * found.model.head_dim * (found.model.heads + found.model.kv_heads)
    assert attention * found.model.layers == pytest.approx(hybrid.mixing_params, rel=0.03)
    assert count_params(found.model).total == pytest.approx(total, rel=0.10)
    assert 0 < found.window_layers_ratio < 1


def test_a_printed_flop_count_says_whether_tokens_are_predicted_ahead():
    architecture = architecture_of(one_row(model="DeepSeekV3", arch=EXPERTS))
    bare = causal_flops(architecture, 2048)
    row = {"model": "DeepSeekV3", "arch": EXPERTS}
    assert architecture_of(one_row(**row, measured=_printing(bare))).mtp_layers == 0
    assert architecture_of(one_row(**row, measured=_printing(1.3 * bare))).mtp_layers == 1
    assert architecture_of(one_row(model="DeepSeekV3 (w/ MTP)", arch=EXPERTS)).mtp_layers == 1


def _printing(flops_per_token):
    return {"tokens_per_s_per_gpu": 10000, "tflops_per_gpu": flops_per_token * 10000 / 1e12}
