"""`validate training` as text: totals first, a line a family with its targets, the worst rows, then all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from eastwest.report.formats.text_layout import display_width, wrap

Lang = Literal["en", "zh"]
Row = Mapping[str, Any]
N_WORST = 15
NARROW, ID_WIDTH = 9, 44  # columns
WORDS = {
    "en": {
        "head": "{n} rows, {judged} judged, {scored} scored",
        "columns": "family|judged|shipped: median|p90|without source: median|target|p90|target|naive: median|"
        "naive without source|in 80 %",
        "ranking": "layout ranking: {tables} tables, pooled Spearman {spearman} (target 0.85; inside tables {inside}), "
        "order of pairs {pair_order_ratio} (85 %), regret <= 5 % in {low_regret_ratio} (80 %)",
        "scaling": "scaling efficiency: {points} points, median error {median_abs_error_ratio} (target 0.05), "
        "largest {max_abs_error_ratio} (0.10)",
        "intervals": "80 % intervals hold {coverage_ratio} of {rows} rows (target 70 to 90 %)",
        "family": "family",
        "loso": "without own source",
        "naive": "naive",
        "sources": "by source, without itself",
        "ablations": "left out of the model, constants unchanged: median, p90, Spearman inside tables, order of pairs",
        "better": "no figure gets worse",
        "worst": "largest errors without own source",
        "skipped": "skipped",
        "rows": "all rows: predicted / measured (s), error, error without own source, naive error",
        "suspect": "suspect",
        "warning": "the table warns",
        "assumed": "assumed",
        "tally": "assumed, in how many rows (each row's own list is in the JSON document)",
    },
    "zh": {
        "head": "{n} 行，判定 {judged} 行，计分 {scored} 行",
        "columns": "类别|判定|出厂：中位|p90|不含来源：中位|目标|p90|目标|朴素：中位|朴素 不含来源|80 % 区间内",
        "ranking": "布局排序：{tables} 张表，合并 Spearman {spearman}（目标 0.85；表内 {inside}），"
        "成对次序正确 {pair_order_ratio}（85 %），遗憾 <= 5 % 的表占 {low_regret_ratio}（80 %）",
        "scaling": "扩展效率：{points} 点，误差中位 {median_abs_error_ratio}（目标 0.05），"
        "最大 {max_abs_error_ratio}（0.10）",
        "intervals": "80 % 区间包含 {rows} 行中的 {coverage_ratio}（目标 70 到 90 %）",
        "family": "类别",
        "loso": "不含自身来源",
        "naive": "朴素模型",
        "family_rule": "ep > 1 或模型有专家为 moe；B200、B300、GB200、GB300 为 blackwell；700 W 的 H100 SXM 为 "
        "dense-h100；dense-a100；其余为 other",
        "loso_rule": "从未见过该行来源的常数：出厂常数不含该来源则直接使用，否则用另存的不含该来源的常数，"
        "再否则用本文件其他来源重新拟合",
        "naive_rule": "恒定 HFU：相同 GPU 与精度各行硬件 FLOP/s 的中位数",
        "sources": "按来源（拟合不含该来源）",
        "ablations": "模型去掉一项、常数不变：中位、p90、表内 Spearman、成对次序",
        "better": "没有指标变差",
        "worst": "误差最大的行（不含自身来源）",
        "skipped": "跳过",
        "rows": "全部行：预测 / 测量（秒）、误差、不含自身来源的误差、朴素误差",
        "suspect": "可疑",
        "warning": "表中警告",
        "assumed": "假设",
        "tally": "假设及其行数（每行的清单在 JSON 文档中）",
    },
}


def training_text(document: Mapping[str, Any], lang: Lang, width: int) -> str:
    """The whole answer for people, from the JSON document of the contract."""
    words, total = WORDS[lang], document["summary"]["all"]
    lines = [f"{document['verdict'].upper()}: {words['head'].format_map(total)}"]
    families = [_family(name, row) for name, row in document["summary"].items()]
    lines += ["", *_table([tuple(words["columns"].split("|")), *families]), ""]
    lines += _figures(document, words)
    for name in ("family", "loso", "naive"):
        lines += _indented(f"{words[name]}: {words.get(f'{name}_rule') or document['rules'][name]}", 2, width)
    for finding in document["findings"]:
        lines += _indented(f"{finding['severity']}: {finding['message']}", 2, width)
    lines += ["", words["sources"], *(_source(row) for row in document["sources"])]
    lines += ["", words["ablations"], *_ablations(document["ablations"], words)] if document["ablations"] else []
    lines += ["", words["worst"], *_worst(document["rows"], words, width)]
    lines += ["", words["tally"], *_tally(document["rows"], width)]
    lines += ["", words["skipped"], *_skipped(document["skipped"], width)]
    lines += ["", words["rows"], *_rows(document["rows"], words)]
    return "\n".join(lines)


def _family(name: str, row: Row) -> tuple[str, ...]:
    targets = row["targets"] or {}
    shipped = (_percent(row["median_abs_error_ratio"]), _percent(row["p90_abs_error_ratio"]))
    keys = ("loso_median_abs_error_ratio", "loso_p90_abs_error_ratio")
    left_out = [text for key in keys for text in (_percent(row[key]), _target(targets.get(key)))]
    naive = (_percent(row["naive_median_abs_error_ratio"]), _percent(row["naive_loso_median_abs_error_ratio"]))
    return (name, f"{row['judged']}/{row['n']}", *shipped, *left_out, *naive, _percent(row["interval_coverage_ratio"]))


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Rows under their heads, a head broken at its blanks; the first column left, the others right."""
    heads = [head.replace("：", ": ").split(" ") for head in rows[0]]
    depth = max(len(parts) for parts in heads)
    above = [tuple(["", *[""] * depth, *parts][-depth:][line] for parts in heads) for line in range(depth)]
    written = [*above, *rows[1:]]
    widths = [max(display_width(row[column]) for row in written) for column in range(len(rows[0]))]
    for row in written:
        cells = [" " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True)]
        first, *rest = zip(row, cells, strict=True)
        yield "  ".join([first[0] + first[1], *(blanks + cell for cell, blanks in rest)]).rstrip()


def _figures(document: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    ranking, scaling = document["ranking"]["loso"], document["scaling"]["loso"]
    shares = {key: _percent(ranking[key]) for key in ("pair_order_ratio", "low_regret_ratio")}
    ranks = {"spearman": _plain(ranking["spearman"]), "inside": _plain(ranking["spearman_inside_tables"])}
    yield words["ranking"].format_map({**ranking, **shares, **ranks})
    errors = {key: _plain(scaling[key]) for key in ("median_abs_error_ratio", "max_abs_error_ratio")}
    yield words["scaling"].format_map({**scaling, **errors})
    held = document["intervals"]
    yield words["intervals"].format_map({**held, "coverage_ratio": _percent(held["coverage_ratio"])})


def _source(row: Row) -> str:
    signed, median, p90 = (
        row[key] for key in ("loso_median_error_ratio", "loso_median_abs_error_ratio", "loso_p90_abs_error_ratio")
    )
    name = row["source"] if len(row["source"]) <= ID_WIDTH else row["source"][: ID_WIDTH - 1] + "…"
    figures = f"{_signed(signed):>9}{_percent(median):>9}{_percent(p90):>9}"
    return f"  {name:<{ID_WIDTH}}{row['scored']:>5}{figures}  {row['constants']}"


def _ablations(rows: list[Row], words: Mapping[str, str]) -> Iterator[str]:
    for row in rows:
        figures = f"{_percent(row['median_abs_error_ratio']):>9}{_percent(row['p90_abs_error_ratio']):>9}"
        ranks = f"{_plain(row['spearman_inside_tables']):>8}{_percent(row['pair_order_ratio']):>9}"
        verdict = words["better"] if row["worsens"] is False else ""
        yield f"  {row['without'] or '-':<{ID_WIDTH}}{figures}{ranks}  {verdict}".rstrip()


def _worst(rows: list[Row], words: Mapping[str, str], width: int) -> Iterator[str]:
    scored = [row for row in rows if row["scored"] and row["loso_abs_error_ratio"] is not None]
    for row in sorted(scored, key=lambda row: -row["loso_abs_error_ratio"])[:N_WORST]:
        yield f"  {_row(row)}"
        reasons = [*([f"{words['warning']}: {row['warning']}"] if row["warning"] else [])]
        reasons += [f"{words['assumed']}: {'; '.join(row['assumed'])}"] if row["assumed"] else []
        for reason in reasons:
            yield from _indented(reason, 6, width)


def _tally(rows: list[Row], width: int) -> Iterator[str]:
    counts = Counter(text for row in rows for text in row["assumed"])
    for text, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        first, *rest = wrap(f"assumed: {text}", width - 8)
        yield f"  {count:>4}  {first}"
        yield from (" " * 8 + line for line in rest)


def _skipped(groups: list[Row], width: int) -> Iterator[str]:
    for group in groups:
        yield f"  {group['n']:>4}  {group['reason']}"
        yield from _indented(", ".join(group["ids"]), 8, width)


def _rows(rows: list[Row], words: Mapping[str, str]) -> Iterator[str]:
    for row in rows:
        if row["skipped"]:
            yield f"  {_id(row)}  {words['skipped']}: {row['skipped']}"
        else:
            yield f"  {_row(row)}" + (f"  {words['suspect']}" if row["suspect"] else "")


def _row(row: Row) -> str:
    signed = row["predicted"]["value"] / row["measured"]["value"] - 1.0
    figures = (
        f"{_signed(signed):>9}{_percent(row['loso_abs_error_ratio']):>9}{_percent(row['naive_abs_error_ratio']):>9}"
    )
    times = f"{_seconds(row['predicted']['value']):>9} / {_seconds(row['measured']['value']):<9}"
    return f"{_id(row)}  {row['family']:<11}{times}{figures}"


def _id(row: Row) -> str:
    return f"{row['id'][:ID_WIDTH]:<{ID_WIDTH}}"


def _indented(text: str, blanks: int, width: int) -> Iterator[str]:
    yield from (" " * blanks + line for line in wrap(text, width - blanks))


def _target(limit: float | None) -> str:
    return f"{100 * limit:.0f} %" if limit is not None else ""


def _percent(ratio: float | None) -> str:
    return "-" if ratio is None else f"{100 * ratio:.1f} %"


def _signed(ratio: float | None) -> str:
    return "-" if ratio is None else f"{100 * ratio:+.1f} %"


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _seconds(value: float) -> str:
    return f"{value:.4g}"
