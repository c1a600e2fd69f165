"""One file a foreign format: Megatron-LM arguments, Hugging Face config.json."""

from __future__ import annotations

from eastwest.workload.imports.huggingface import ConfigError, HuggingFaceModel
from eastwest.workload.imports.huggingface import read as read_huggingface
from eastwest.workload.imports.megatron import MegatronArguments
from eastwest.workload.imports.megatron import read as read_megatron

__all__ = ["ConfigError", "HuggingFaceModel", "MegatronArguments", "read_huggingface", "read_megatron"]
