"""The source of a row: the repository or paper that its `source` names first, without commit, path and line.

Each release of Megatron-Bridge is a source of its own, patch releases joined to theirs (26.04 with 26.04.01). Constants
are fitted with whole sources left out, so rows of one page never predict each other.
"""

from __future__ import annotations

import re

BRIDGE = "megatron-bridge"
UNKNOWN = "unknown"
CONTROLS = re.compile(r"[\x00-\x1f\x7f]")  # numpy drops a NUL at the end of a text that it compares
_PART = re.compile(r"\s*;\s*")
_GITHUB = re.compile(r"^(?:https?://)?github(?:\.com/|:)\s*([\w.-]+/[\w.-]+)", re.I)
_ARXIV = re.compile(r"^(?:https?://)?arxiv(?:\.org/(?:abs|pdf)/|:)\s*(\d{4}\.\d{4,5}|[\w.-]+/\d{7})", re.I)
_RELEASE = re.compile(r"\b(\d{2}\.\d{2})(?:\.\d+)?\b")


def source_key(source: str, release: str | None = None) -> str:
    """The repository or paper of a source text; of Megatron-Bridge with its release.

    >>> source_key("github:NVIDIA/Megatron-LM@9375^:images/cases.png; arXiv:2104.04473 Table 1")
    'github:NVIDIA/Megatron-LM'
    >>> source_key("github:NVIDIA-NeMo/Megatron-Bridge@067f:docs/x.md line 5", "26.04.01")
    'github:NVIDIA-NeMo/Megatron-Bridge 26.04'
    >>> source_key("arXiv:2402.15627 Table 3")
    'arXiv:2402.15627'
    """
    first = _PART.split(CONTROLS.sub(" ", source).strip())[0]
    github = _GITHUB.match(first)
    if github:
        name = github[1].removesuffix(".git")
        is_bridge = name.lower().endswith(f"/{BRIDGE}")
        return f"github:{name} {_joined(release)}".strip() if is_bridge and release else f"github:{name}"
    arxiv = _ARXIV.match(first)
    if arxiv:
        return f"arXiv:{arxiv[1]}"
    words = re.sub(r"@\S*$", "", first.split()[0]) if first.split() else ""
    return words or UNKNOWN


def _joined(release: str) -> str:
    """A release without its patch number: 26.04 of 26.04.01."""
    match = _RELEASE.search(release)
    return match[1] if match else CONTROLS.sub(" ", release).strip()
