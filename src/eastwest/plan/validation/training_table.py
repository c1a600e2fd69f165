"""The rows of a table of training measurements: YAML with `rows`; every value of a wrong type at once, with its line.

Keys that are not read are listed, keys that are missing, null or `n/a` are simply not there, and what is read has the
type that this module says: a count, a number, a text, true or false, or a mapping of such.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eastwest.errors import InputError
from eastwest.plan.designs.source import flaws_found, read_yaml
from eastwest.plan.designs.written import text_of
from eastwest.spec.document import Document, Flaw, Path
from eastwest.spec.mistakes import shown

MOST = 10**12  # of any count: tokens of a batch, parameters are numbers
MOST_LAYERS, MOST_WIDE, MOST_GPUS = 10_000, 10**7, 10**7  # beyond ten times the largest of 2026: taken for a mistake
MOST_NUMBER = 1e18  # parameters, FLOP/s in units of 10^12: far above all that is printed
LONGEST_NUMBER = 40  # characters
_ABSENT = re.compile(
    r"^\s*(?:[-–—?]|n/?a|nan|none|null|unknown|oom|tbd|not (?:given|stated|printed).{0,40})?\s*$", re.I
)
_COUNT = re.compile(r"^\s*\d[\d,_]*\s*$")
_FOOTNOTE = re.compile(r"\s*(?:\[\^?[\w.-]{1,60}\]|[*†‡§])\s*$")
_NUMBER = re.compile(r"^\s*[~≈]?\s*[-+]?[\d,_]*\.?\d+(?:[eE][-+]?\d{1,3})?\s*%?\s*$")

Check = Callable[[Any], Any]


class WrongTypeError(ValueError):
    """A value that is not of its key's type: the code of the message that says so."""

    def __init__(self, code: str, limit: int | float = 0) -> None:
        super().__init__(code)
        self.code, self.limit = code, limit


def count(least: int, most: int) -> Check:
    """A reader of whole numbers from `least` to `most`, also as texts such as `1,024`.

    >>> count(1, 100)("64"), count(0, 9)(4.0)
    (64, 4)
    """

    def read(value: Any) -> int:
        if isinstance(value, str) and _COUNT.match(value) and len(value) <= LONGEST_NUMBER:
            value = int(re.sub(r"[,_\s]", "", value))
        elif isinstance(value, float) and math.isfinite(value) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise WrongTypeError("EW-VAL-001" if least else "EW-VAL-002", most)
        return value

    return read


def number(value: Any) -> float | int:
    """A number from 0 on, also as a text such as `47.5%` or `475[^note]`; the printed digits are kept."""
    text = _FOOTNOTE.sub("", value[: 2 * LONGEST_NUMBER]) if isinstance(value, str) else ""
    if _NUMBER.match(text) and len(text) <= LONGEST_NUMBER:
        plain = re.sub(r"[,_\s%~≈]", "", text)
        value = int(plain) if plain.isdigit() else float(plain)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_NUMBER:
        raise WrongTypeError("EW-VAL-003")
    return value


def flag(value: Any) -> bool:
    """True or false, also as `yes`, `no`, `on`, `off`, 0 or 1."""
    said = {"yes": True, "on": True, "no": False, "off": False, "1": True, "0": False, "true": True, "false": False}
    answer = value if isinstance(value, bool) else said.get(str(value).strip().lower())
    if answer is None or isinstance(value, dict | list):
        raise WrongTypeError("EW-VAL-004")
    return answer


_SOME, _MAYBE = count(1, MOST), count(0, MOST)
_RANKS, _MAYBE_RANKS = count(1, MOST_GPUS), count(0, MOST_GPUS)
_WIDE, _MAYBE_WIDE = count(1, MOST_WIDE), count(0, MOST_WIDE)
_TEXTS = """
    id model gpu network precision activation_recompute schedule flops_basis kind source task release framework
    optimisations variant overlap sharding layout kernels mixed_precision_mode suspect warning section system
    arch_note arch_provenance status note selection
"""
_MEASURES = """
    iter_time_s iter_time_ms tokens_per_s tokens_per_s_per_gpu samples_per_s tflops_per_gpu model_tflops_per_gpu
    mfu_pct hfu_pct pct_peak aggregate_pflops tflops_per_gpu_with_cp days_for_300b_tokens
"""
MEASURES = tuple(_MEASURES.split())
READERS: Mapping[str, Check] = {
    **dict.fromkeys(_TEXTS.split(), text_of),
    **dict.fromkeys(("gpus", "gpus_per_node", "tp", "pp", "cp", "dp"), _RANKS),
    **dict.fromkeys(("ep", "etp", "expert_tp", "vp", "fsdp", "grad_accum"), _MAYBE_RANKS),
    **dict.fromkeys(("global_batch", "global_batch_tokens", "seq", "micro_batch", "local_batch"), _SOME),
    **dict.fromkeys(("params", "params_b", "capacity_factor"), number),
    **dict.fromkeys(("sequence_parallel", "async_tp", "unhealthy"), flag),
}
ARCH_READERS: Mapping[str, Check] = {
    "layers": count(1, MOST_LAYERS),
    **dict.fromkeys(("hidden", "heads", "kv_heads", "ffn", "vocab", "head_dim"), _WIDE),
    **dict.fromkeys(("moe_experts", "moe_topk", "moe_shared", "moe_ffn", "moe_shared_ffn"), _MAYBE_WIDE),
    **dict.fromkeys(("sliding_window", "q_lora_rank", "kv_lora_rank", "rope_head_dim", "v_head_dim"), _MAYBE_WIDE),
    **dict.fromkeys(("dense_layers", "moe_every", "mtp_layers"), count(0, MOST_LAYERS)),
    **dict.fromkeys(("gated_mlp", "tied_embeddings"), flag),
    "attention": text_of,
}
IGNORED = frozenset({"provenance", "provenance_note", "date", "citation", "memory_gb", "quantity", "derived"})


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One row as written: `data`, `arch` and `measured` hold values of their key's type and nothing that is null.

    `number` counts rows from 1, `line` is its line, `unread` the keys that nothing reads, `suspect` the reason when
    the table itself doubts the row, `flops_basis` what a printed FLOP/s counts.
    """

    id: str
    number: int
    line: int | None
    data: Mapping[str, Any]
    arch: Mapping[str, Any]
    measured: Mapping[str, float]
    unread: tuple[str, ...]

    def text(self, key: str) -> str:
        """A text of the row; "" when it is missing."""
        return str(self.data.get(key, ""))

    def count(self, key: str) -> int | None:
        """A count of the row; None when it is missing or 0."""
        return self.data.get(key) or None


def read_rows(text: str, source: str) -> tuple[TrainingRow, ...]:
    """Every row of a training table. Raises InputError, with lines, when the text is no such table."""
    document = read_yaml(text, source)
    rows = document.data.get("rows")
    if not isinstance(rows, list) or not rows:
        flaw = Flaw("EW-VAL-006", None if "rows" in document.data else 1, ("rows",), {"found": shown(rows)})
        raise InputError(flaws_found([flaw], source, document))
    flaws: list[Flaw] = []
    read = tuple(_row(index, row, document, flaws) for index, row in enumerate(rows))
    if flaws:
        raise InputError(flaws_found(flaws, source, document))
    return read


def _row(index: int, row: Any, document: Document, flaws: list[Flaw]) -> TrainingRow:
    path: Path = ("rows", index)
    if not isinstance(row, dict):
        flaws.append(Flaw("EW-VAL-007", None, path, {"number": index + 1, "found": shown(row)}))
        row = {}
    data = _read(row, READERS, path, flaws)
    parts = {key: _mapping(row.get(key), (*path, key), flaws) for key in ("arch", "measured")}
    arch = _read(parts["arch"], ARCH_READERS, (*path, "arch"), flaws)
    measured = _read(parts["measured"], dict.fromkeys(MEASURES, number), (*path, "measured"), flaws)
    return TrainingRow(
        id=data.get("id") or f"row {index + 1}",
        number=index + 1,
        line=document.line_numbers.get(path),
        data=data,
        arch=arch,
        measured=measured,
        unread=tuple(_unread(row, parts["arch"])),
    )


def _mapping(value: Any, path: Path, flaws: list[Flaw]) -> dict[str, Any]:
    if value is None or isinstance(value, dict):
        return value or {}
    flaws.append(Flaw("EW-VAL-005", None, path, {"found": shown(value)}))
    return {}


def _read(values: Mapping[str, Any], readers: Mapping[str, Check], path: Path, flaws: list[Flaw]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        is_text = readers.get(key) is text_of
        if value is None or key not in readers or (isinstance(value, str) and not is_text and _ABSENT.match(value)):
            continue
        try:
            found[key] = readers[key](value)
        except WrongTypeError as error:
            words = {"found": shown(value), "limit": error.limit}
            flaws.append(Flaw(error.code, None, (*path, key), words))
    return found


def _unread(row: Mapping[str, Any], arch: Mapping[str, Any]) -> Iterator[str]:
    yield from (key for key in row if key not in READERS and key not in IGNORED and key not in ("arch", "measured"))
    yield from (f"arch.{key}" for key in arch if key not in ARCH_READERS)
