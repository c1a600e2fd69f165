"""config.json of each architecture, written by us in the published shape, against the published parameter count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eastwest.spec.jobs import ModelWish
from eastwest.workload.dimensions import resolve_model
from eastwest.workload.imports.huggingface import ConfigError, read
from eastwest.workload.model import count_params


def config(kind: str, layers: int, hidden: int, heads: int, vocab: int, **more: Any) -> dict[str, Any]:
    shape = {"num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads, "vocab_size": vocab}
    return {"model_type": kind, **shape, **more}


LATENT = {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "q_lora_rank": 1536}
CASES: list[tuple[str, dict[str, Any], float]] = [
    (
        "llama",
        config(
            "llama", 32, 4096, 32, 128256, num_key_value_heads=8, intermediate_size=14336, tie_word_embeddings=False
        ),
        8_030_261_248,
    ),
    (
        "llama3.2-1b",
        config(
            "llama",
            16,
            2048,
            32,
            128256,
            num_key_value_heads=8,
            intermediate_size=8192,
            head_dim=64,
            tie_word_embeddings=True,
        ),
        1_235_814_400,
    ),
    ("mistral", config("mistral", 32, 4096, 32, 32000, num_key_value_heads=8, intermediate_size=14336), 7_241_732_096),
    (
        "mixtral",
        config(
            "mixtral",
            32,
            4096,
            32,
            32000,
            num_key_value_heads=8,
            intermediate_size=14336,
            num_local_experts=8,
            num_experts_per_tok=2,
        ),
        46_702_792_704,
    ),
    (
        "qwen2",
        config(
            "qwen2", 28, 3584, 28, 152064, num_key_value_heads=4, intermediate_size=18944, tie_word_embeddings=False
        ),
        7_615_616_512,
    ),
    (
        "qwen3",
        config("qwen3", 36, 4096, 32, 151936, num_key_value_heads=8, intermediate_size=12288, head_dim=128),
        8_190_735_360,
    ),
    (
        "qwen3_moe",
        config(
            "qwen3_moe",
            48,
            2048,
            32,
            151936,
            num_key_value_heads=4,
            head_dim=128,
            intermediate_size=6144,
            moe_intermediate_size=768,
            num_experts=128,
            num_experts_per_tok=8,
        ),
        30_532_122_624,
    ),
    (
        "deepseek_v2_lite",
        config(
            "deepseek_v2",
            27,
            2048,
            16,
            102400,
            intermediate_size=10944,
            moe_intermediate_size=1408,
            n_routed_experts=64,
            n_shared_experts=2,
            num_experts_per_tok=6,
            first_k_dense_replace=1,
            moe_layer_freq=1,
            **{**LATENT, "q_lora_rank": None},
        ),
        15_706_484_224,
    ),
    (
        "deepseek_v3",
        config(
            "deepseek_v3",
            61,
            7168,
            128,
            129280,
            intermediate_size=18432,
            moe_intermediate_size=2048,
            n_routed_experts=256,
            n_shared_experts=1,
            num_experts_per_tok=8,
            first_k_dense_replace=3,
            n_group=8,
            topk_group=4,
            **LATENT,
        ),
        671_026_404_352,
    ),
    (
        "gpt2",
        {"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50257, "n_positions": 1024},
        124_439_808,
    ),
    ("gpt_neox", config("gpt_neox", 44, 6144, 64, 50432, intermediate_size=24576), 20_554_567_680),
    (
        "bloom",
        {"model_type": "bloom", "n_layer": 30, "hidden_size": 2560, "n_head": 32, "vocab_size": 250880},
        3_002_557_440,
    ),
]


@pytest.mark.parametrize(("name", "text", "published"), CASES, ids=[case[0] for case in CASES])
def test_the_count_is_that_of_the_released_weights(
    tmp_path: Path, name: str, text: dict[str, Any], published: float
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(text), encoding="utf-8")
    model, _, findings = resolve_model(ModelWish(config=str(path)))
    assert model is not None, findings
    assert count_params(model).total == published


def test_falcon_has_one_kv_head_unless_it_is_of_the_new_kind() -> None:
    old = config("falcon", 32, 4544, 71, 65024, multi_query=True, bias=False)
    assert read(json.dumps(old)).fields["kv_heads"] == 1
    new = config("falcon", 60, 8192, 128, 65024, new_decoder_architecture=True, num_kv_heads=8)
    assert read(json.dumps(new)).fields["kv_heads"] == 8


def test_node_limited_routing_is_read() -> None:
    text = dict(CASES[8][1])
    assert read(json.dumps(text)).fields["moe"]["max_nodes_per_token"] == 4


def test_an_unknown_architecture_is_read_when_it_names_its_dimensions() -> None:
    text = config("brandnew", 4, 512, 8, 1000, intermediate_size=2048)
    found = read(json.dumps(text))
    assert found.fields["gated"] is True
    assert found.fields["layers"] == 4


def test_an_unknown_architecture_without_dimensions_lists_the_missing_keys() -> None:
    with pytest.raises(ConfigError, match=r"model_type 'mamba': missing heads \(num_attention_heads or n_head"):
        read(json.dumps({"model_type": "mamba", "num_hidden_layers": 4, "hidden_size": 8, "vocab_size": 10}))


def test_a_multimodal_config_is_read_by_its_text_part() -> None:
    inner = config("llama", 4, 512, 8, 1000, intermediate_size=2048)
    assert read(json.dumps({"model_type": "llava", "text_config": inner})).fields["layers"] == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        (
            '{"model_type": "llama", "num_hidden_layers": "x"}',
            "num_hidden_layers: expected a whole number from 1 to 10,000, found 'x'",
        ),
        ('{"model_type": "llama", "num_hidden_layers": -1}', "found -1"),
        ('{"model_type": "llama", "num_hidden_layers": true}', "found True"),
        (json.dumps(config("llama", 4, 512, 8, 1000)), "missing ffn"),
        (json.dumps(config("mixtral", 4, 512, 8, 1000, intermediate_size=8, num_local_experts=8)), "missing top_k"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read(text)


HOSTILE = [
    ("vocab_size", 10**400),
    ("num_hidden_layers", 10**9),
    ("num_attention_heads", 513),
    ("num_attention_heads", 7),
    ("intermediate_size", 1e308),
    ("kv_lora_rank", "x"),
    ("kv_lora_rank", -5),
    ("kv_lora_rank", [1]),
    ("kv_lora_rank", 1e308),
    ("num_local_experts", True),
]
HOSTILE_EXPERTS = [
    ("n_shared_experts", "x"),
    ("n_shared_experts", -3),
    ("first_k_dense_replace", -1),
    ("first_k_dense_replace", float("inf")),
    ("moe_layer_freq", [1, 0]),
    ("moe_layer_freq", -2),
    ("topk_group", "x"),
    ("shared_expert_intermediate_size", -5),
]
HOSTILE_LATENT = [
    ("qk_rope_head_dim", -5),
    ("q_lora_rank", [1]),
    ("v_head_dim", {}),
    ("qk_nope_head_dim", 0),
]
PLAIN = config("llama", 4, 512, 8, 1000, intermediate_size=2048)
EXPERTS = {**PLAIN, "num_local_experts": 8, "num_experts_per_tok": 2}


@pytest.mark.parametrize(
    "text",
    [
        *(json.dumps({**PLAIN, key: value}) for key, value in HOSTILE),
        *(json.dumps({**EXPERTS, key: value}) for key, value in HOSTILE_EXPERTS),
        *(json.dumps({**PLAIN, "kv_lora_rank": 512, key: value}) for key, value in HOSTILE_LATENT),
        json.dumps({**PLAIN, "model_type": "falcon", "new_decoder_architecture": True, "num_kv_heads": "x"}),
        json.dumps({**PLAIN, "model_type": "gpt2", "n_positions": [1]}),
        '{"vocab_size": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
    ids=lambda text: text[-60:],
)
def test_a_hostile_config_ended_in_a_traceback(text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(text)
    assert len(str(raised.value)) < 200


def test_null_stands_for_the_default() -> None:
    latent = {**PLAIN, "kv_lora_rank": 512, "qk_nope_head_dim": None, "q_lora_rank": None}
    assert read(json.dumps(latent)).fields["head_dim"] == 128


def test_a_list_of_dense_and_expert_layers_is_understood() -> None:
    moe = read(json.dumps({**EXPERTS, "moe_layer_freq": [0, 1, 1, 1]})).fields["moe"]
    assert (moe["dense_layers"], moe["every"]) == (1, 1)


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe{\x00}\x00", b"\xe9", b"\x00" * 10, b" " * 5_000_000],
    ids=["utf-16", "latin-1", "binary", "huge"],
)
def test_a_config_that_is_no_text_ended_in_a_traceback(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.json").write_bytes(content)
    model, _, findings = resolve_model(ModelWish(config="config.json"), folder=tmp_path)
    assert model is None
    assert [finding.code for finding in findings] == ["EW-WORK-012"]


def test_a_config_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(PLAIN), encoding="utf-8-sig")
    assert resolve_model(ModelWish(config="config.json"), folder=tmp_path)[0] is not None
    assert resolve_model(ModelWish(config="a\0b.json"), folder=tmp_path)[2][0].code == "EW-WORK-012"
