"""`eastwest check FILE`: a published or hand-made design, bill of materials or optics list: does it add up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eastwest.cli.check_words import NAMES, WORDS
from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, answer_of, run, wrapped
from eastwest.cli.reading import read_input

if TYPE_CHECKING:
    from eastwest.finding import Finding
    from eastwest.plan.check import Checked, CheckedDesign
    from eastwest.plan.checking.repairs import Repair
    from eastwest.plan.checking.sheet import Fact

MOST_SHOWN = 20  # findings of one code, lines of totals, of designs with their numbers, and of what was not understood
SILENT = ("pairs_in_rail", "links_of_cables", "links_in_all")  # read, and said by another number
INDENT = 6  # columns before what belongs to a finding


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
    return answer_of(checked, _text(checked, lang), lang)


def _text(checked: Checked, lang: Literal["en", "zh"]) -> str:
    """The verdict with its first reason, findings with the user's lines, repairs, what was read, summed, not used."""
    words = WORDS[lang]
    lines = [_headline(checked, lang)]
    count: Counter[str] = Counter()
    for finding in checked.findings:
        count[finding.code] += 1
        lines += _finding(finding, lang) if count[finding.code] <= MOST_SHOWN else []
    lines += [
        f"  {words['more'].format(n=f'{n - MOST_SHOWN:,}', code=code)}" for code, n in count.items() if n > MOST_SHOWN
    ]
    repairs = [(design.subject.name, repair) for design in checked.designs for repair in design.repairs]
    lines += [words["repairs"]] if repairs else []
    lines += [f"  {name + ': ' if name else ''}{_repair(repair, lang)}" for name, repair in repairs]
    designs = [design for design in checked.designs if design.subject.row is None][:MOST_SHOWN]
    for design in designs:
        lines += _what_was_done(design, lang)
    totals = [total for design in checked.designs for total in design.optics.totals][:MOST_SHOWN]
    if totals:
        lines.append(words["totals"])
        lines += [f"  {total['quantity']:>7,}  {total['part']}{_length(total['length_m'])}" for total in totals]
    return "\n".join([*lines, *_what_is_open(checked, lang)])


def _headline(checked: Checked, lang: Literal["en", "zh"]) -> str:
    """The verdict with its first reason: the first sentence of the worst finding, or why nothing can be told."""
    words = WORDS[lang]
    worst = next((finding for finding in checked.findings if finding.severity != "info"), None)
    if checked.verdict == "unknown":
        reason = words[_why_unknown(checked)]
    elif worst is None:
        reason = words["sound"].format(n=sum(design.n_checks for design in checked.designs))
    else:
        reason = re.split(r"(?<=[a-z)])\. |。", worst.sentence(lang))[0]
    return f"{checked.verdict.upper()}: {reason}"


def _why_unknown(checked: Checked) -> str:
    """The key of the sentence why nothing can be told."""
    if any(design.subject.sheet.clashes for design in checked.designs):
        return "clash"
    if any(design.decided.missing for design in checked.designs):
        return "incomplete"
    return "unused" if any(design.unused for design in checked.designs) else "unknown"


def _what_was_done(design: CheckedDesign, lang: Literal["en", "zh"]) -> Iterator[str]:
    """Numbers that were read, and the sums that were made with them."""
    words, name = WORDS[lang], design.subject.name
    front = f"{name}: " if name else ""
    facts = design.subject.sheet.facts
    read = [
        f"{_name(fact.name, lang)} {_value(fact.name, fact.value) or words['unset']}{_rate_of(fact.name, facts)}"
        for fact in facts.values()
        if fact.name not in SILENT and (not fact.name.endswith("_bps") or fact.name.removesuffix("_bps") not in facts)
    ]
    if read:
        yield from _listed(front + words["read"], read)
    sums = [
        words["sum"].format(
            needed=f"{s.needed:,}", links=_name(s.links, lang), have=f"{s.have:,}", what=_name(s.what, lang)
        )
        for s in design.sums
    ]
    if sums:
        yield from _listed(front + words["sums"], sums)
    has_no_nics = design.sums and all(item.tier != "leaf" for item in design.sums)
    if has_no_nics and not design.decided.missing and not design.short:
        yield from _listed(words["not_judged"], [words["no_nics"]])


def _what_is_open(checked: Checked, lang: Literal["en", "zh"]) -> Iterator[str]:
    """Numbers that were not used, numbers that are missing, lines that were not understood, the next command."""
    words = WORDS[lang]
    unused = [f"{u.text} ({words['line']} {u.evidence.line})" for d in checked.designs for u in d.unused][:MOST_SHOWN]
    if unused:
        yield from _listed(words["unused_numbers"], unused)
    if checked.verdict != "unknown":
        return
    if checked.missing:
        yield from _listed(
            words["missing"],
            (words["need_planes"] if name == "planes" else _name(name, lang) for name in checked.missing),
        )
    unread = [line for design in checked.designs for line in design.subject.sheet.unknown][:MOST_SHOWN]
    if unread:
        yield words["unread"]
        yield from (f"  {line.line} | {line.text}" for line in unread)
    steps = checked.next_steps or (words["give"],)
    yield words["next"]
    yield from (f"  {step}" for step in steps)


def _listed(title: str, items: Iterable[str]) -> Iterator[str]:
    """A title, and items in lines of the terminal's width."""
    first, *more = wrapped(f"{title} {'; '.join(items)}", 2)
    yield first[2:]
    yield from more


def _name(name: str, lang: Literal["en", "zh"]) -> str:
    """A number's name in words."""
    return NAMES[lang].get(name, name.replace("_", " "))


def _value(name: str, value: object) -> str:
    from eastwest.plan.designs.written import ratio_text
    from eastwest.units import GIGA, format_port_rate, format_rate

    if name.endswith("_bps") and isinstance(value, int):
        return format_rate(value) if name == "chip_bps" else format_port_rate(value)
    if name == "ratio" and isinstance(value, float):
        return ratio_text(value)
    if name.endswith("_bytes_per_s") and isinstance(value, float):
        return f"{value / GIGA:.3g} GB/s"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _rate_of(name: str, facts: Mapping[str, Fact]) -> str:
    """The rate of the ports that a number counts, where the text gives it."""
    rate = facts.get(f"{name}_bps")
    return f" x {_value(rate.name, rate.value)}" if rate else ""


def _finding(finding: Finding, lang: Literal["en", "zh"]) -> list[str]:
    """The sentence with its code, the user's line, the remedy."""
    first, *more = wrapped(f"{finding.severity} {finding.code}: {finding.sentence(lang)}", INDENT)
    lines = [f"  {first.strip()}", *more]
    lines += [f"{' ' * INDENT}{evidence.line} | {evidence.text}" for evidence in finding.evidence if evidence.text]
    hint = finding.hint(lang)
    return lines + wrapped(WORDS[lang]["hint"] + hint, INDENT) if hint else lines


def _repair(repair: Repair, lang: Literal["en", "zh"]) -> str:
    """One repair in a line: what it changes, and all its counts."""
    from eastwest.plan.designs.written import ratio_text

    numbers = {
        "leaves": repair.leaves,
        "down": repair.leaf_down,
        "up": repair.leaf_up,
        "uplinks": repair.uplinks,
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
