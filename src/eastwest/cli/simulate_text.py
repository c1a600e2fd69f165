"""Results of `eastwest simulate` in words and columns, in English and Chinese."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from eastwest.cli.output import wrapped
from eastwest.cli.packet_text import queue_lines
from eastwest.finding import Finding
from eastwest.simulate.compare import ComparedRow, Comparison
from eastwest.simulate.judged import link_name
from eastwest.simulate.result import SimResult, summary_of
from eastwest.units import BITS_PER_BYTE, PS_PER_S, format_percent, format_rate, format_size, format_time

Lang = Literal["en", "zh"]
MOST_LINKS = 5  # the busiest ones that are shown
MOST_ODDS = 8  # rows of the distribution
LEAST_ODDS = 0.0005  # below 0.05 % a row says nothing
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "done": "{name}: {engine} engine, {n} flows, done in {time}",
        "bound": "{name}: analytic engine, {n} flows, not before {time}",
        "broken": "{name}: {engine} engine, {done} of {n} flows ended by {time}",
        "fct": "completion time: least {p0}, median {p50}, 99 % {p99}, most {p100}",
        "alone": "each flow by itself: least {p0}, median {p50}, most {p100}",
        "step": "step of {job}, {gpus} GPUs: {time}; idle {idle}: bubble {bubble}, communication that shows {shown}",
        "tiers": "bytes by the highest tier crossed:",
        "links": "busiest links:",
        "link": "{link}: {bytes} of {rate}, {mean} of the line on average",
        "peak": ", {peak} at most",
        "busy": ", busy {busy} of the time",
        "worst": "most loaded link: {link} with {bytes}, {time}",
        "traffic": "{name}: {n} flows, {bytes}, {time}; each: median {p50}, 99 % {p99}, most {p100}",
        "engine": "engine: {hops} packet-hops, {events} events",
        "hint": "hint: ",
        "odds": "{flows} flows on {uplinks} uplinks: no collision {none}, expected worst link {worst} flows",
        "slowest": "slowest flow: {rate} of its fair share on average; uplinks in use: {used}",
        "row": "worst link carries {k}: {ratio}",
        "names": "quantity|first|second|second / first",
    },
    "zh": {
        "done": "{name}：{engine} 引擎，{n} 条流，用时 {time}",
        "bound": "{name}：analytic 引擎，{n} 条流，不早于 {time}",
        "broken": "{name}：{engine} 引擎，到 {time} 为止 {n} 条流中 {done} 条结束",
        "fct": "完成时间：最短 {p0}，中位 {p50}，99 % {p99}，最长 {p100}",
        "alone": "各流单独：最短 {p0}，中位 {p50}，最长 {p100}",
        "step": "{job} 的一步（{gpus} 个 GPU）：{time}；GPU 空闲 {idle}：气泡 {bubble}，未被掩盖的通信 {shown}",
        "tiers": "按经过的最高层统计的字节：",
        "links": "最忙的链路：",
        "link": "{link}：{bytes}，速率 {rate}，平均占线速 {mean}",
        "peak": "，峰值 {peak}",
        "busy": "，忙时占 {busy}",
        "worst": "负载最重的链路：{link}，{bytes}，{time}",
        "traffic": "{name}：{n} 条流，{bytes}，{time}；单条：中位 {p50}，99 % {p99}，最长 {p100}",
        "engine": "引擎：{hops} 包跳，{events} 个事件",
        "hint": "提示：",
        "odds": "{flows} 条流散列到 {uplinks} 条上行：无冲突概率 {none}，最重链路期望 {worst} 条流",
        "slowest": "最慢的流平均得到其公平份额的 {rate}；有流的上行占 {used}",
        "row": "最重链路承载 {k} 条：{ratio}",
        "names": "量|第一|第二|第二 / 第一",
    },
}


def result_text(result: SimResult, lang: Lang, width: int) -> str:
    """A result for people: the time, completion times, tiers, links, findings."""
    words, summary = WORDS[lang], summary_of(result)
    form = {"complete": "bound" if result.engine == "analytic" else "done"}.get(result.status, "broken")
    facts = {"name": result.scenario, "engine": result.engine, "n": f"{len(result.flows):,}"}
    lines = [words[form].format(**facts, done=f"{summary['n_done']:,}", time=_time(result.time_ps / PS_PER_S))]
    if "fct_p50_s" in summary:
        times = {f"p{p}": _time(summary[f"fct_p{p}_s"]) for p in (0, 50, 99, 100)}
        lines.append("  " + words["alone" if result.engine == "analytic" else "fct"].format(**times))
    lines += _traffics(result, summary, words)
    lines += _steps(result, words)
    lines += ["", words["tiers"], *_tiers(result)]
    lines += ["", *_links(result, words)]
    lines += queue_lines(result, lang)
    engine = result.facts
    lines += ["", words["engine"].format(hops=f"{engine.packet_hops:,}", events=f"{engine.events:,}")]
    return "\n".join([*lines, *_findings(result.findings, lang)]) + "\n"


def _time(seconds: float) -> str:
    return format_time(seconds, 3)


def _traffics(result: SimResult, summary: dict[str, Any], words: dict[str, str]) -> Iterator[str]:
    """One line for each of several traffics."""
    if len(result.traffics) < 2:
        return
    for name, part in summary["traffics"].items():
        time = _time(part["time_s"]) if "time_s" in part else "-"
        each = {f"p{p}": _time(part[f"fct_p{p}_s"]) if f"fct_p{p}_s" in part else "-" for p in (50, 99, 100)}
        yield "  " + words["traffic"].format(
            name=name, n=f"{part['n_flows']:,}", bytes=format_size(part["bytes"]), time=time, **each
        )


def _steps(result: SimResult, words: dict[str, str]) -> Iterator[str]:
    """One line for each training step."""
    for step in result.details.get("steps", ()):
        shown = [f"{name} {_time(seconds)}" for name, seconds in step["exposed_s"].items() if seconds]
        yield "  " + words["step"].format(
            job=step["job"],
            gpus=f"{step['gpus']:,}",
            time=_time(step["step_s"]),
            idle=format_percent(step["idle_ratio"]),
            bubble=_time(step["bubble_s"]),
            shown=", ".join(shown) or "-",
        )


def _tiers(result: SimResult) -> Iterator[str]:
    sizes = result.tier_bytes
    total = max(1, sum(sizes.values()))
    for tier, size in sizes.items():
        yield f"  {tier:<9} {format_size(size):>10}  {format_percent(size / total):>7}"


def _links(result: SimResult, words: dict[str, str]) -> Iterator[str]:
    """The busiest links by their share of the line."""
    worst = result.details.get("most_loaded_link")
    if worst:
        yield words["worst"].format(link=worst["link"], bytes=format_size(worst["bytes"]), time=_time(worst["time_s"]))
        return
    rate = np.maximum(result.links.rate_bps, 1)
    load = result.links.carried_bytes * BITS_PER_BYTE / rate
    seconds = result.time_ps / PS_PER_S
    yield words["links"]
    for link in np.argsort(-load, kind="stable")[:MOST_LINKS].tolist():
        if load[link] == 0 or seconds == 0:
            return
        text = words["link"].format(
            link=link_name(result.network, link),
            bytes=format_size(int(result.links.carried_bytes[link])),
            rate=format_rate(int(rate[link])),
            mean=format_percent(float(load[link]) / seconds),
        )
        if result.links.peak_bps is not None:
            text += words["peak"].format(peak=format_percent(float(result.links.peak_bps[link]) / int(rate[link])))
        if result.links.busy_ps is not None:
            text += words["busy"].format(busy=format_percent(int(result.links.busy_ps[link]) / result.time_ps))
        yield f"  {text}"


def _findings(findings: Sequence[Finding], lang: Lang) -> Iterator[str]:
    """Each finding with its code and remedy."""
    for finding in findings:
        first, *more = wrapped(f"{finding.severity} {finding.code}: {finding.sentence(lang)}", 4)
        yield ""
        yield f"  {first.strip()}"
        yield from more
        hint = finding.hint(lang)
        yield from wrapped(WORDS[lang]["hint"] + hint, 4) if hint else ()


def comparison_text(found: Comparison, lang: Lang, width: int) -> str:
    """Two results in columns."""
    names = WORDS[lang]["names"].split("|")
    rows = [
        names,
        ["", f"{found.first.scenario} ({found.first.engine})", f"{found.second.scenario} ({found.second.engine})", ""],
    ]
    rows += [_compared(row) for row in found.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
    lines = ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *_findings(found.findings, lang)]) + "\n"


def _compared(row: ComparedRow) -> list[str]:
    def shown(value: float | None) -> str:
        if value is None:
            return "-"
        if row.name.endswith("_s"):
            return _time(value)
        return format_size(value) if row.name.endswith("bytes") else f"{value:,.0f}"

    return [row.name, shown(row.first), shown(row.second), "-" if row.ratio is None else f"{row.ratio:.3f}"]


def odds_text(odds: dict[str, Any], lang: Lang) -> str:
    """The odds of ECMP: no collision, the worst link, the slowest flow, the distribution."""
    words = WORDS[lang]
    lines = [
        words["odds"].format(
            flows=odds["flows"],
            uplinks=odds["uplinks"],
            none=format_percent(odds["no_collision_ratio"]),
            worst=f"{odds['mean_worst_link_flows']:.1f}",
        ),
        words["slowest"].format(
            rate=format_percent(odds["mean_slowest_flow_ratio"]), used=format_percent(odds["mean_used_uplinks_ratio"])
        ),
    ]
    rows = [row for row in odds["worst_link_odds"] if row["ratio"] >= LEAST_ODDS][:MOST_ODDS]
    lines += ["  " + words["row"].format(k=row["flows"], ratio=format_percent(row["ratio"])) for row in rows]
    return "\n".join(lines) + "\n"
