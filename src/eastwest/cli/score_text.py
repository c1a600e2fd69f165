"""The answer of `score` for people: verdict line, a line a result with the user's own line, findings, assumptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from eastwest.accept.results import Result
    from eastwest.accept.score import Score
    from eastwest.finding import Finding

Tongue = Literal["en", "zh"]
WORDS = {
    "en": {
        "pass": "PASS",
        "warn": "WARN",
        "fail": "FAIL",
        "unknown": "CANNOT TELL",
        "open": "?",
        "share": "{percent} % of the {name} ceiling, {ceiling} GB/s",
        "nothing": "nothing to judge",
        "nodes": "{n} servers",
        "node": "one server",
        "gpus": "{n} GPUs",
        "at": "at {size}",
        "from": "90 % of it from {size} on",
        "small": "{time} us at small sizes",
        "incomparable": "not comparable with other server counts",
        "latency": "{time} us on average",
        "formula": "ceiling",
        "assumed": "assumed",
        "limiter": "limiter",
        "do": "do",
        "error": "error",
        "warning": "warning",
        "info": "note",
    },
    "zh": {
        "pass": "通过",
        "warn": "警告",
        "fail": "不通过",
        "unknown": "无法判断",
        "open": "？",
        "share": "{name} 上限 {ceiling} GB/s 的 {percent} %",
        "nothing": "没有可判断的内容",
        "nodes": "{n} 台服务器",
        "node": "单台服务器",
        "gpus": "{n} 块 GPU",
        "at": "消息 {size}",
        "from": "自 {size} 起达到其 90 %",
        "small": "小消息 {time} us",
        "incomparable": "不可与其他服务器数比较",
        "latency": "平均 {time} us",
        "formula": "上限",
        "assumed": "假设",
        "limiter": "限制因素",
        "do": "处理",
        "error": "错误",
        "warning": "警告",
        "info": "提示",
    },
}
_RANK = {"fail": 0, "unknown": 1, "warn": 2, "pass": 3}
MOST_EVIDENCE = 3  # quoted lines of one finding


def text_of(score: Score, lang: Tongue, width: int) -> str:
    """The whole answer."""
    lines = [f"{WORDS[lang][score.verdict]}: {_headline(score, lang)}"]
    for result in score.results:
        lines += _result(result, lang)
    for finding in score.findings:
        lines += _finding(finding, lang, width)
    lines += [f"  {WORDS[lang]['assumed']}: {text}" for text in score.assumed]
    return "\n".join(lines)


def _headline(score: Score, lang: Tongue) -> str:
    """The reason of the verdict: an error of the run itself, else the worst result, else what is missing."""
    errors = [finding for finding in score.findings if finding.severity == "error"]
    if errors and score.verdict == "fail":
        return _first_sentence(errors[0], lang)
    if score.verdict == "unknown":
        open_results = [result for result in score.results if result.verdict == "unknown"]
        asked = [
            finding for result in open_results for finding in reversed(result.findings) if finding.severity == "warning"
        ]
        warned = [finding for finding in score.findings if finding.severity == "warning"]
        chosen = next(iter((*asked, *warned)), None)
        return _with_remedy(chosen, lang) if chosen else WORDS[lang]["nothing"]
    judged = [result for result in score.results if result.verdict == score.verdict] or list(score.results)
    rated = [result for result in judged if result.of_ceiling_ratio is not None] or judged
    worst = min(rated, key=lambda result: result.of_ceiling_ratio or 0.0, default=None)
    return _share(worst, lang) if worst else WORDS[lang]["nothing"]


def _first_sentence(finding: Finding, lang: Tongue) -> str:
    return re.split(r"(?<=[a-z)])\. |。", finding.sentence(lang))[0]


def _with_remedy(finding: Finding, lang: Tongue) -> str:
    hint = finding.hint(lang)
    return finding.sentence(lang) + (f"; {hint}" if hint else "")


def _share(result: Result, lang: Tongue) -> str:
    from eastwest.accept.results import gigabytes, percent

    if result.ceiling is None or result.of_ceiling_ratio is None:
        return f"{result.collective} {_amount(result, lang)}"
    words = WORDS[lang]["share"].format(
        percent=percent(result.of_ceiling_ratio),
        name=result.ceiling.name,
        ceiling=gigabytes(result.ceiling.bytes_per_s),
    )
    return f"{words} ({result.collective} {_amount(result, lang)})"


def _amount(result: Result, lang: Tongue) -> str:
    from eastwest.accept.results import gigabytes
    from eastwest.units import US_PER_S

    if result.measured_s is not None:
        return WORDS[lang]["latency"].format(time=f"{result.measured_s * US_PER_S:.2f}")
    return f"{gigabytes(result.measured_bytes_per_s)} GB/s" if result.measured_bytes_per_s is not None else "?"


def _result(result: Result, lang: Tongue) -> Iterator[str]:
    """One result in a line, with its ceiling's formula and the user's line."""
    words = WORDS[lang]
    details = ", ".join(_details(result, lang))
    gap = "" if result.size_bytes is not None or not details else ","  # "370 GB/s at 8 GiB", "370 GB/s, 4 servers"
    word = words["open" if result.verdict == "unknown" else result.verdict]
    yield f"  {word:<5}{result.collective}  {_amount(result, lang)}{gap} {details}".rstrip()
    if result.ceiling and result.of_ceiling_ratio is not None:
        from eastwest.accept.results import percent

        share = f"{percent(result.of_ceiling_ratio)} %"
        yield f"       {words['formula']} {result.ceiling.name}: {result.ceiling.formula}  ->  {share}"
    if result.line:
        yield f"       {result.line.line} | {result.line.text}"


def _details(result: Result, lang: Tongue) -> Iterator[str]:
    from eastwest.accept.results import size_name
    from eastwest.units import US_PER_S

    words = WORDS[lang]
    if result.size_bytes is not None:
        yield words["at"].format(size=size_name(result.size_bytes))
    if result.nodes:
        yield words["node"] if result.nodes == 1 else words["nodes"].format(n=result.nodes)
    if result.gpus:
        yield words["gpus"].format(n=result.gpus)
    start = result.plateau_from_bytes
    if start is not None and result.size_bytes is not None and start < result.size_bytes:
        yield words["from"].format(size=size_name(start))
    if result.latency_s is not None and result.measured_s is None:
        yield words["small"].format(time=f"{result.latency_s * US_PER_S:.0f}")
    if result.crosses_network and not result.comparable:
        yield words["incomparable"]


def _finding(finding: Finding, lang: Tongue, width: int) -> Iterator[str]:
    """The sentence with its code, the quoted lines, the remedy."""
    from eastwest.report.formats.text_layout import wrap

    words = WORDS[lang]
    first, *more = wrap(f"{words[finding.severity]} {finding.code}: {finding.sentence(lang)}", width - 6)
    yield f"  {first}"
    yield from (f"      {line}" for line in more)
    if finding.severity != "info":
        yield from (f"      {line.line} | {line.text}" for line in finding.evidence[:MOST_EVIDENCE] if line.text)
    hint = finding.hint(lang)
    if hint:
        yield from (f"      {line}" for line in wrap(f"{words['do']}: {hint}", width - 6))
