"""The answer of `calibrate` for people: error before, after and on left-out groups, moved constants, what was used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from eastwest.report.formats.text_layout import wrap

Lang = Literal["en", "zh"]
MOST_ROWS = 30  # of one list; the JSON document has all
WORDS = {
    "en": {
        "training": "training: rows used {rows_used}, constants free {free_constants}, moved {n}",
        "collectives": "collectives: curves used {runs_used}, points {points_used}, constants moved {n}",
        "errors": "error of time, median (p90): shipped {shipped}, these constants {own}, left-out groups {left_out}",
        "groups": "groups {groups}",
        "constants": "constants: shipped -> now",
        "bound": "at its bound",
        "rows": "predicted / measured: shipped -> now (left out)",
        "logs": "the log of {source} says",
        "assumed": "assumed",
        "left_out": "left out",
        "more": "... {n} more in --json",
        "unknown": "not known",
        "do": "do",
        "error": "error",
        "warning": "warning",
        "info": "note",
        "pass": "PASS",
        "warn": "WARN",
        "fail": "FAIL",
        "cannot": "CANNOT TELL",
    },
    "zh": {
        "training": "训练：使用 {rows_used} 行，{free_constants} 个常数可调，{n} 个有变化",
        "collectives": "集合通信：使用 {runs_used} 条曲线共 {points_used} 点，{n} 个常数有变化",
        "errors": "时间误差 中位（p90）：出厂 {shipped}，新常数 {own}，留出组 {left_out}",
        "groups": "{groups} 组",
        "constants": "常数：出厂 -> 现在",
        "bound": "到达边界",
        "rows": "预测 / 实测：出厂 -> 现在（留出）",
        "logs": "{source} 的日志说明",
        "assumed": "假设",
        "left_out": "未使用",
        "more": "... 其余 {n} 项见 --json",
        "unknown": "未知",
        "do": "处理",
        "error": "错误",
        "warning": "警告",
        "info": "提示",
        "pass": "通过",
        "warn": "警告",
        "fail": "不通过",
        "cannot": "无法判断",
    },
}


def calibrate_text(document: Mapping[str, Any], lang: Lang, width: int) -> str:
    """The whole answer, from the JSON document of the contract."""
    words = WORDS[lang]
    lines = [_headline(document, words)]
    for part, rows in (("training", "rows"), ("collectives", "runs")):
        if document[part]:
            lines += ["", *_part(part, document[part], rows, words)]
    for log in document["logs"]:
        said = "; ".join(f"{entry['name']} {entry['value']}" for entry in _few(log["says"]))
        lines += ["", *_indented(f"{words['logs'].format(source=log['source'])}: {said}", 0, width)]
    lines += [""] if document["findings"] or document["assumed"] else []
    for finding in document["findings"]:
        lines += _indented(f"{words[finding['severity']]} {finding['code']}: {finding['message']}", 2, width)
        lines += _indented(f"{words['do']}: {finding['hint']}", 6, width) if finding["hint"] else []
    lines += [line for text in document["assumed"] for line in _indented(f"{words['assumed']}: {text}", 2, width)]
    told = {finding["subject"] for finding in document["findings"]}
    silent = [row for row in document["left_out"] if row["subject"] not in told]
    lines += _listed([f"{row['subject']}: {row['reason']}" for row in silent], words["left_out"], words, width)
    return "\n".join(lines)


def _headline(document: Mapping[str, Any], words: Mapping[str, str]) -> str:
    verdict = words["cannot" if document["verdict"] == "unknown" else document["verdict"]]
    parts = [_counts(part, document[part], words) for part in ("training", "collectives") if document[part]]
    first = next((row["message"] for row in document["findings"] if row["code"] == "EW-CAL-005"), "")
    return f"{verdict}: {'; '.join(parts) or first}"


def _counts(name: str, part: Mapping[str, Any], words: Mapping[str, str]) -> str:
    return words[name].format_map({**part, "n": len(part["constants"])})


def _part(name: str, part: Mapping[str, Any], rows: str, words: Mapping[str, str]) -> Iterator[str]:
    errors = {key: _error(part["errors"], key, words) for key in ("shipped", "own", "left_out")}
    yield f"{words['errors'].format_map(errors)} ({words['groups'].format_map(part)})"
    yield f"  {words['constants']}"
    for row in _few(part["constants"]):
        label = f"{row['name']} {row['class']}" if "class" in row else row["name"]
        unit = f" {row['unit']}" if row.get("unit") not in (None, "ratio") else ""
        bound = f"  {words['bound']}" if row["at_bound"] else ""
        yield f"    {label:34} {row['shipped']:.4g} -> {row['value']:.4g}{unit}{bound}"
    yield from _rest(part["constants"], words)
    yield f"  {words['rows']}"
    for row in _few(part[rows]):
        left = f" ({row['left_out_ratio']:.3f})" if row["left_out_ratio"] is not None else ""
        yield f"    {row['id']:44} {row['shipped_ratio']:.3f} -> {row['ratio']:.3f}{left}"
    yield from _rest(part[rows], words)


def _error(errors: Mapping[str, float | None], key: str, words: Mapping[str, str]) -> str:
    median, p90 = errors[f"{key}_median_abs_error_ratio"], errors[f"{key}_p90_abs_error_ratio"]
    return words["unknown"] if median is None or p90 is None else f"{median:.1%} ({p90:.1%})"


def _few(rows: list[Any]) -> list[Any]:
    return rows[:MOST_ROWS]


def _rest(rows: list[Any], words: Mapping[str, str]) -> Iterator[str]:
    if len(rows) > MOST_ROWS:
        yield f"    {words['more'].format(n=len(rows) - MOST_ROWS)}"


def _listed(texts: list[str], title: str, words: Mapping[str, str], width: int) -> list[str]:
    if not texts:
        return []
    lines = ["", title]
    for text in _few(texts):
        lines += _indented(text, 2, width)
    return [*lines, *_rest(texts, words)]


def _indented(text: str, indent: int, width: int) -> list[str]:
    lines = list(wrap(text, width - indent - 4))
    return [" " * (indent + (4 if index else 0)) + line for index, line in enumerate(lines)]
