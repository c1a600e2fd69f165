"""`validate collectives` as text: totals first, a line a class with its targets, then a line a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from eastwest.report.formats.text_layout import wrap

Lang = Literal["en", "zh"]
Row = Mapping[str, Any]
NAME, CELL, ID_WIDTH = 22, 9, 38  # columns
WORDS = {
    "en": {
        "head": "{n} rows, {judged} predicted, {scored} scored; "
        "median error without own source {median} (naive {naive})",
        "columns": "class|scored|shipped|loso|p90|>=512MiB|loso|naive|points",
        "legend": "median error of time over rows: shipped constants, without the row's own source (loso, p90), from "
        "512 MiB on, naive; points: all points pooled, without own source",
        "intervals": "80 % intervals hold {rows_ratio} of {rows} rows and {points_ratio} of {points} points "
        "(target 70 to 90 %)",
        "rows": "rows: error, without own source, from 512 MiB, naive; * not scored",
        "skipped": "not scored",
        "assumed": "assumed",
    },
    "zh": {
        "head": "{n} 行，预测 {judged} 行，计分 {scored} 行；不含自身来源的误差中位 {median}（朴素 {naive}）",
        "columns": "class|scored|shipped|loso|p90|>=512MiB|loso|naive|points",
        "legend": "各行时间误差的中位数：出厂常数、不含该行来源（loso、p90）、512 MiB 起、"
        "朴素模型；points：全部测点合并、不含自身来源",
        "intervals": "80 % 区间包含 {rows} 行中的 {rows_ratio}、{points} 个测点中的 {points_ratio}（目标 70 到 90 %）",
        "rows": "各行：误差、不含自身来源、512 MiB 起、朴素；* 不计分",
        "skipped": "不计分",
        "assumed": "假设",
    },
}
_KEYS = (
    "median_abs_error_ratio",
    "loso_median_abs_error_ratio",
    "loso_p90_abs_error_ratio",
    "large_median_abs_error_ratio",
    "loso_large_median_abs_error_ratio",
    "naive_median_abs_error_ratio",
    "loso_pooled_median_abs_error_ratio",
)


def collectives_text(document: Row, lang: Lang, width: int) -> str:
    """The whole answer for people, from the JSON document of the contract."""
    words, total, held = WORDS[lang], document["summary"]["all"], document["intervals"]
    figures = {
        "median": _percent(total["loso_median_abs_error_ratio"]),
        "naive": _percent(total["naive_median_abs_error_ratio"]),
    }
    lines = [f"{document['verdict'].upper()}: {words['head'].format_map({**total, **figures})}", ""]
    lines += [_cells(words["columns"].split("|"))]
    lines += [_class(name, row) for name, row in document["summary"].items()]
    lines += ["", *wrap(words["legend"], width)]
    shares = {"rows_ratio": held["coverage_ratio"], "points_ratio": held["point_coverage_ratio"]}
    shown = {key: _percent(value) for key, value in shares.items()}
    lines += wrap(words["intervals"].format_map({**held, **shown}), width)
    for finding in document["findings"]:
        lines += [f"  {line}" for line in wrap(f"{finding['severity']}: {finding['message']}", width - 2)]
    lines += ["", words["rows"], *_rows(document["rows"], words, width)]
    lines += ["", words["skipped"], *_skipped(document["skipped"], width)]
    return "\n".join(lines)


def _cells(cells: list[str]) -> str:
    return (f"{cells[0]:<{NAME}}" + "".join(f"{cell:>{CELL}}" for cell in cells[1:])).rstrip()


def _class(name: str, row: Row) -> str:
    return _cells([name, f"{row['scored']}/{row['n']}", *(_percent(row[key]) for key in _KEYS)])


def _rows(rows: list[Row], words: Mapping[str, str], width: int) -> Iterator[str]:
    for row in rows:
        if row["abs_error_ratio"] is None:
            continue
        keys = ("abs_error_ratio", "loso_abs_error_ratio", "large_abs_error_ratio", "naive_abs_error_ratio")
        errors = "".join(f"{_percent(row[key]):>{CELL}}" for key in keys)
        name = row["id"] if len(row["id"]) < ID_WIDTH else row["id"][: ID_WIDTH - 2] + "…"
        yield f"{' ' if row['scored'] else '*'} {name:<{ID_WIDTH}}{errors}  {row['family']}"
        if row["assumed"]:
            yield from (f"      {line}" for line in wrap(f"{words['assumed']}: {'; '.join(row['assumed'])}", width - 6))


def _skipped(groups: list[Row], width: int) -> Iterator[str]:
    for group in groups:
        yield from (f"  {line}" for line in wrap(f"{group['n']}: {group['reason']}", width - 2))
        yield from (f"      {line}" for line in wrap(", ".join(group["ids"]), width - 6))


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"
