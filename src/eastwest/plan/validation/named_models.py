"""Models whose row gives a name and no dimensions: presets of the catalogue and published shapes, each said.

Source: Narayanan et al. 2021, table 1 (GPT); Korthikanti et al. 2022, table 3 (22B, 175B, 530B, 1T); llm-foundry's
configurations (MPT); Llama 2, 2023; the catalogue's presets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from eastwest.errors import UsageError
from eastwest.spec import catalogue
from eastwest.spec.jobs import ModelWish
from eastwest.workload.dimensions import resolve_model
from eastwest.workload.model import Transformer

PLAIN_FFN_RATIO = 4  # ffn / hidden of GPT and MPT
GPT_VOCAB, MPT_VOCAB, LLAMA_2_VOCAB = 51_200, 50_368, 32_000
_GPT = {  # parameters in 10^9 as printed -> layers, hidden, heads
    1.7: (24, 2304, 24),
    3.6: (30, 3072, 32),
    7.5: (36, 4096, 32),
    18.4: (40, 6144, 48),
    22: (48, 6144, 64),
    39.1: (48, 8192, 64),
    76.1: (60, 10_240, 80),
    145.6: (80, 12_288, 96),
    174.6: (96, 12_288, 96),
    175: (96, 12_288, 96),
    310.1: (96, 16_384, 128),
    529.6: (105, 20_480, 128),
    530: (105, 20_480, 128),
    1008: (128, 25_600, 160),
}
_MPT = {
    0.125: (12, 768, 12),
    0.35: (24, 1024, 16),
    0.76: (24, 1536, 12),
    1: (24, 2048, 16),
    3: (32, 2560, 20),
    7: (32, 4096, 32),
    13: (40, 5120, 40),
    30: (48, 7168, 56),
    70: (80, 8192, 64),
}
_LLAMA_2: Mapping[float, tuple[int, int, int, int, int]] = {
    7: (32, 4096, 32, 32, 11_008),
    13: (40, 5120, 40, 40, 13_824),
    70: (80, 8192, 64, 8, 28_672),
}
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s*([BMT])\b", re.I)
_GIGA_OF = {"M": 0.001, "B": 1.0, "T": 1000.0}
NO_DECODER = re.compile(r"\b(?:T5|mT5|UL2|BERT|RoBERTa|ViT|CLIP|DiT)\b", re.I)
LIKE_GPT = re.compile(r"^(?:GPT|Megatron|MT-NLG)(?:[- _]?3)?[- _]?(?=\d)", re.I)


def named_model(name: str) -> tuple[Transformer, str] | None:
    """The transformer that a printed name stands for, and where its dimensions come from; None for an unknown one.

    >>> named_model("LLAMA3_70B")[0].layers, named_model("MPT 7b")[0].hidden, named_model("Mystery 9B")
    (80, 4096, None)
    """
    for spelling in _spellings(name):
        try:
            preset = catalogue.get("model", spelling)
        except UsageError:
            continue
        model, _, _ = resolve_model(ModelWish.model_validate({"preset": preset.id}))
        return (model, f"dimensions of the catalogue's {preset.id}") if model else None
    match = _SIZE.search(name.replace("_", " "))
    size = round(float(match[1]) * _GIGA_OF[match[2].upper()], 6) if match else None
    if size is None:
        return None
    if LIKE_GPT.match(name) and size in _GPT:
        return _plain(name, *_GPT[size], GPT_VOCAB), f"dimensions of GPT {size:g}B (Megatron-LM)"
    if re.match(r"MPT\b", name, re.I) and size in _MPT:
        return _plain(name, *_MPT[size], MPT_VOCAB), f"dimensions of MPT {size:g}B (llm-foundry)"
    if re.match(r"llama[- _]?(?:2|like)", name, re.I) and size in _LLAMA_2:
        layers, hidden, heads, kv_heads, ffn = _LLAMA_2[size]
        model = Transformer(name, layers, hidden, heads, kv_heads, hidden // heads, ffn, LLAMA_2_VOCAB)
        return model, f"dimensions of Llama 2 {size:g}B"
    return None


def _spellings(name: str) -> Iterator[str]:
    """Ways in which the catalogue may call a model."""
    plain = re.sub(r"\s*\(.*?\)", "", name).strip()
    dashed = re.sub(r"[\s_]+", "-", plain.lower())
    if not dashed:
        return
    yield dashed
    yield re.sub(r"^(llama|qwen|gpt|mixtral)-?(\d)", r"\1\2", dashed)
    yield re.sub(r"^gpt-?3-", "gpt3-", dashed)
    yield re.sub(r"-\d+(?:\.\d+)?b$", "", dashed)


def _plain(name: str, layers: int, hidden: int, heads: int, vocab: int) -> Transformer:
    return Transformer(
        name,
        layers,
        hidden,
        heads,
        heads,
        hidden // heads,
        PLAIN_FFN_RATIO * hidden,
        vocab,
        gated=False,
        tied_embeddings=True,
        biases=True,
    )
