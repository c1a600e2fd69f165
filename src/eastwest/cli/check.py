"""`eastwest check FILE`: a published or hand-made design, bill of materials or optics list: does it add up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, exit_code_of, run, text_width
from eastwest.cli.reading import read_input

if TYPE_CHECKING:
    from eastwest.finding import Finding
    from eastwest.plan.check import Checked
    from eastwest.plan.checking.repairs import Repair

WORDS = {
    "en": {
        "sound": "what the text gives adds up ({n} checks)",
        "unknown": "cannot tell: nothing in the text can be compared",
        "missing": "missing: {names}",
        "repairs": "valid repairs",
        "larger_spines": "{spines} spines of {spine_ports} ports (links of each leaf and spine: {per_pair})",
        "more_spines": "{spines} spines of {spine_ports} ports (links of each leaf and spine: {per_pair})",
        "non_blocking": "1:1 with {up} uplinks a leaf: {spines} spines of {spine_ports} ports ({per_pair} a pair)",
        "more_leaves": "{leaves} leaves, {spines} spines of {spine_ports} ports",
        "counts": "{leaves} leaves x {down} down + {up} up, {uplinks} uplinks, oversubscription {ratio}",
        "totals": "pieces by part and length",
        "hint": "-> ",
        "unread": "lines not understood",
    },
    "zh": {
        "sound": "文中的数字相符（{n} 项检查）",
        "unknown": "无法判断：文中没有可以比较的内容",
        "missing": "缺少：{names}",
        "repairs": "可行的修复",
        "larger_spines": "{spines} 台 {spine_ports} 端口的 spine（每对 leaf 与 spine {per_pair} 条链路）",
        "more_spines": "{spines} 台 {spine_ports} 端口的 spine（每对 leaf 与 spine {per_pair} 条链路）",
        "non_blocking": "若要 1:1：每台 leaf {up} 条上行，{spines} 台 {spine_ports} 端口的 spine（每对 {per_pair} 条）",
        "more_leaves": "{leaves} 台 leaf，{spines} 台 {spine_ports} 端口的 spine",
        "counts": "{leaves} 台 leaf x {down} 下行 + {up} 上行，{uplinks} 条上行，收敛比 {ratio}",
        "totals": "按部件与长度计的件数",
        "hint": "-> ",
        "unread": "未能理解的行",
    },
}
MOST_SHOWN = 20  # lines of totals, and of what was not understood


def check(
    file: Annotated[str, typer.Argument(help="Design, bill of materials, optics list or pasted lines; - for stdin.")],
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Check a published or hand-made design: do the ports add up, what is short, the repairs."""
    run("check", json, lang.value, lambda: _answer(file, lang.value))


def _answer(file: str, lang: Literal["en", "zh"]) -> Answer:
    from eastwest.plan.check import check_text

    checked = check_text(read_input(file), file)
    return Answer(checked.as_json(lang), _text(checked, lang), exit_code_of(checked.verdict))


def _text(checked: Checked, lang: Literal["en", "zh"]) -> str:
    """The verdict with its first reason, findings with the user's lines, repairs, totals."""
    words, findings = WORDS[lang], checked.findings
    lines = [_headline(checked, lang)]
    if checked.verdict == "unknown" and checked.missing:
        lines.append("  " + words["missing"].format(names=", ".join(checked.missing)))
    for finding in findings:
        lines += _finding(finding, lang)
    repairs = [(design.subject.name, repair) for design in checked.designs for repair in design.repairs]
    lines += [words["repairs"]] if repairs else []
    lines += [f"  {name + ': ' if name else ''}{_repair(repair, lang)}" for name, repair in repairs]
    totals = [total for design in checked.designs for total in design.optics.totals][:MOST_SHOWN]
    if totals:
        lines.append(words["totals"])
        lines += [f"  {total['quantity']:>7,}  {total['part']}{_length(total['length_m'])}" for total in totals]
    if checked.verdict == "unknown":
        unread = [line for design in checked.designs for line in design.subject.sheet.unknown][:MOST_SHOWN]
        lines += [words["unread"], *(f"  {line.line} | {line.text}" for line in unread)] if unread else []
    return "\n".join(lines)


def _headline(checked: Checked, lang: Literal["en", "zh"]) -> str:
    worst = next((finding for finding in checked.findings if finding.severity != "info"), None)
    if checked.verdict == "unknown":
        reason = WORDS[lang]["unknown"]
    elif worst is None:
        reason = WORDS[lang]["sound"].format(n=sum(design.n_checks for design in checked.designs))
    else:
        reason = re.split(r"(?<=[a-z)])\. |。", worst.sentence(lang))[0]
    return f"{checked.verdict.upper()}: {reason}"


def _finding(finding: Finding, lang: Literal["en", "zh"]) -> list[str]:
    """The sentence with its code, the user's line, the remedy."""
    from eastwest.report.formats.text_why import wrap

    width = text_width() - 6
    first, *more = wrap(f"{finding.severity} {finding.code}: {finding.sentence(lang)}", width)
    lines = [f"  {first}", *(f"      {line}" for line in more)]
    lines += [f"      {evidence.line} | {evidence.text}" for evidence in finding.evidence if evidence.text]
    hint = finding.hint(lang)
    return lines + [f"      {line}" for line in wrap(WORDS[lang]["hint"] + hint, width)] if hint else lines


def _repair(repair: Repair, lang: Literal["en", "zh"]) -> str:
    from eastwest.plan.designs.written import ratio_text

    counts = repair.as_json()
    numbers = {
        "leaves": repair.leaves,
        "down": repair.leaf_down,
        "up": repair.leaf_up,
        "uplinks": counts["uplinks"],
        "spines": repair.spines,
        "spine_ports": repair.spine_ports,
        "per_pair": repair.per_pair,
        "ratio": ratio_text(repair.ratio) if repair.ratio else "?",
    }
    words = WORDS[lang]
    return f"{words[repair.kind].format_map(numbers)}: {words['counts'].format_map(numbers)}"


def _length(length_m: float | None) -> str:
    from eastwest.units import format_length

    return "" if length_m is None else f", {format_length(length_m)}"
