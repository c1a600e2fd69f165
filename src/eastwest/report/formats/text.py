"""The terminal summary of a plan: what an engineer reads in a minute, at most 60 lines."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

from eastwest import units
from eastwest.report.chapters.failures import failure_line
from eastwest.report.chapters.growth import growth_line, reasons_of
from eastwest.report.chapters.prediction import predictions_of
from eastwest.report.chapters.promise import decided
from eastwest.report.chapters.traffic import overlap_text
from eastwest.report.chapters.verdict import ordered_findings, verdict_sentence, verdict_word
from eastwest.report.figures import memory_sentence
from eastwest.report.formats.text_layout import INDENT, columns, cut, display_width, fold, wrap
from eastwest.report.growth_ways import COLUMNS_OF_WAY, way_rows
from eastwest.report.values import (
    Json,
    amount,
    at,
    box_label,
    clean,
    counted,
    number,
    object_at,
    rows_at,
    shown,
    text_of,
    texts_at,
)
from eastwest.report.wording import Words, words_of

MAX_LINES = 60
LEAST_WIDTH = 60
SHOWN_ROWS, SHOWN_JOBS, SHOWN_DECISIONS, SHOWN_PARTS = 8, 2, 5, 5
SHOWN_SPANS = 2
KEY_DECISIONS = (
    "fabric.leaf.uplinks",
    "fabric.spines",
    "policy.regime",
    "policy.ecn.kmin",
    "policy.ecn.kmax",
    "policy.load_balancing",
    "fabric.ecmp.group",
)
# Select Graphic Rendition codes (ECMA-48, section 8.3.117).
BOLD, RED, YELLOW, GREEN, CYAN, RESET = "\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[36m", "\x1b[0m"
VERDICT_COLOURS = {"pass": GREEN, "warn": YELLOW, "fail": RED, "unknown": CYAN}
SEVERITY_COLOURS = {"error": RED, "warning": YELLOW}


def render(plan: Json, lang: Literal["en", "zh"] = "en", colour: bool = False, width: int = 100) -> str:
    """The summary of one plan, `width` columns wide, with ANSI colours only when `colour`; at most 60 lines.

    Raises InternalError for another language.
    """
    words, safe, width = words_of(lang), clean(plan), max(LEAST_WIDTH, width)
    fabric, failed = fabric_lines(safe, words), failure_line(safe, words)
    prediction, one_line = _prediction(safe, words, width), width - len(INDENT)
    parts = (
        fabric,
        _growth(safe, words, width),
        _account(safe, words, width),
        _memory(safe, words),
        (prediction[0], [*prediction[1], *([cut(failed, one_line)] if failed else [])]),
        _decisions(safe, words, width),
        _bill(safe, words, width),
        _next(safe, words, width),
    )
    lines: list[str] = []
    for title, body in parts:
        fitting = [line for text in body for line in fold(text, width - len(INDENT))]
        lines += [_paint(title, BOLD, colour), *(INDENT + line for line in fitting)] if fitting else []
    head = [_headline(safe, words, width, colour)]
    found = _findings(safe, words, width, colour, MAX_LINES - len(head) - len(lines))
    return "\n".join([*head, *found, *lines]) + "\n"


def _paint(text: str, code: str, colour: bool) -> str:
    return f"{code}{text}{RESET}" if colour and code else text


def _headline(plan: Json, words: Words, width: int, colour: bool) -> str:
    code, word = verdict_word(plan, words)
    name = at(plan, "site", "name") or words("document.unnamed")
    found = verdict_sentence(plan, words) if "findings" in plan else words("findings.missing")
    rest = cut(f"{name}: {found}", width - display_width(word) - 2)
    return f"{_paint(word.upper(), BOLD + VERDICT_COLOURS[code], colour)}  {rest}"


def _findings(plan: Json, words: Words, width: int, colour: bool, room: int) -> list[str]:
    """As many findings as fit in `room` lines, errors first, and how many more there are."""
    findings = [row for row in ordered_findings(plan) if not row.get("waived")]
    lines = [_paint(words("text.findings"), BOLD, colour)] if findings else []
    for index, row in enumerate(findings):
        block = finding_lines(row, words, width, colour)
        is_last = index == len(findings) - 1
        if len(lines) + len(block) + (0 if is_last else 1) > room:
            return [*lines, INDENT + words("text.more_findings", n=len(findings) - index)]
        lines += block
    return lines


def finding_lines(row: Json, words: Words, width: int, colour: bool) -> list[str]:
    """One finding in at most two lines, and what to do in at most two."""
    severity = words.name("severity", row.get("severity"))
    subject, message = str(row.get("subject") or ""), text_of(words, row.get("message"))
    said = f"{subject}: {message}" if subject and not message.startswith(subject) else message
    text = f"{severity} {row.get('code') or ''} {said}"
    first, *rest = fold(text, width - len(INDENT))
    painted = _paint(severity, SEVERITY_COLOURS.get(str(row.get("severity")), ""), colour)
    lines = [INDENT + painted + first.removeprefix(severity), *(INDENT + line for line in rest)]
    if row.get("hint"):
        lines += [INDENT * 2 + line for line in fold(words("text.hint", hint=row["hint"]), width - 2 * len(INDENT))]
    return lines


def fabric_lines(plan: Json, words: Words) -> tuple[str, list[str]]:
    """The heading and the lines of a fabric: tiers and switches, ratios and ports, links between rooms."""
    fabric, comma = object_at(plan, "fabric"), words("list_joiner")
    if not fabric:
        return words("text.fabric"), [words("fabric.missing")]
    keys = ["tiers", "leaves", "spines", *(["cores"] if amount(fabric.get("cores")) else []), "servers", "gpus"]
    first = comma.join(
        [words.name("family", fabric.get("family")), *(counted(words, key, fabric.get(key)) for key in keys)]
    )
    ratios = [
        f"{words.name('tier', tier)} {shown(words, ratio, units.format_ratio)}"
        for tier, ratio in object_at(fabric, "oversubscription_ratio").items()
        if ratio is not None
    ]
    ports = [
        f"{words.name('tier', tier)} {shown(words, at(row, 'used'))}/{shown(words, at(row, 'free'))}"
        for tier, row in object_at(fabric, "ports").items()
        if at(row, "used") or at(row, "free")
    ]
    second = f"{words('column.oversubscription')} {comma.join(ratios) or words('not_given')}"
    second += words("clause_joiner") + words("text.ports", ports=comma.join(ports) or words("not_given"))
    return words("text.fabric"), [
        first,
        second,
        *(_span(row, words) for row in rows_at(fabric, "room_links")[:SHOWN_SPANS]),
    ]


def _span(row: Json, words: Words) -> str:
    ends = [*texts_at(row, "rooms"), words("not_given"), words("not_given")]
    text = words(
        "picture.span",
        a=ends[0],
        b=ends[1],
        distance=shown(words, row.get("distance_m"), units.format_length),
        links=shown(words, row.get("links")),
        rate=shown(words, row.get("rate_bps"), units.format_rate),
    )
    for box in rows_at(row, "boxes"):
        label = box_label(words, box.get("kind"), box.get("name"))
        limit = number(box.get("rate_limit_bps"))
        text += (
            words("picture.box", box=label)
            if limit is None
            else words("picture.box_limit", box=label, rate=units.format_rate(limit))
        )
    return text


def _account(plan: Json, words: Words, width: int) -> tuple[str, list[str]]:
    rows = rows_at(plan, "ledger")
    if not rows:
        return words("text.account"), [words("account.missing")]
    head = tuple(words(f"text.columns.{name}") for name in ("traffic", "bytes", "messages", "tier", "overlap"))
    one_job = len({row.get("job") for row in rows}) == 1
    lines = columns([head, *(_account_row(row, words, one_job) for row in rows[:SHOWN_ROWS])], width, right=(1, 2))
    if len(rows) > SHOWN_ROWS:
        lines.append(words("text.more_rows", n=len(rows) - SHOWN_ROWS))
    return words("text.account"), lines


def _account_row(row: Json, words: Words, one_job: bool) -> tuple[str, ...]:
    size = shown(words, row.get("bytes_per_gpu"), units.format_size)
    message = shown(words, row.get("message_bytes"), units.format_size)
    traffic = words.name("traffic", row.get("traffic"))
    return (
        traffic if one_job else f"{text_of(words, row.get('job'))} {traffic}",
        words("account.per", size=size, per=words.name("per", row.get("per")).strip()),
        f"{shown(words, row.get('messages'))} × {message}",
        words.name("tier", row.get("tier")),
        overlap_text(row, words, "text.exposed"),
    )


def _memory(plan: Json, words: Words) -> tuple[str, list[str]]:
    return words("text.memory"), [memory_sentence(job, words) for job in rows_at(plan, "jobs")[:SHOWN_JOBS]]


def _prediction(plan: Json, words: Words, width: int) -> tuple[str, list[str]]:
    predictions = [(job, row) for job, row in predictions_of(plan) if _says_something(row)]
    if not predictions:
        return words("text.prediction"), [words("prediction.missing")]
    lines = [
        words("named", name=job, text=line) if job else line
        for job, row in predictions[:SHOWN_JOBS]
        for line in [_predicted(row, words)]
    ]
    assumed = list(dict.fromkeys(text for _, row in predictions for text in texts_at(row, "assumed")))
    invalid = list(dict.fromkeys(text for _, row in predictions for text in texts_at(row, "invalid")))
    for label, texts in (("text.assumed", assumed), ("text.invalid", invalid)):
        lines += [_listed(label, texts, words, width - len(INDENT))] if texts else []
    return words("text.prediction"), lines


def _says_something(row: Json) -> bool:
    """Whether a prediction has any number: without jobs it has none."""
    return any(number(row.get(key)) is not None for key in ("step_time_s", "time_per_token_s", "compute_s"))


def _predicted(row: Json, words: Words) -> str:
    """A step's terms, or a token's when the job has no steps."""
    if number(row.get("step_time_s")) is None and number(row.get("time_per_token_s")) is not None:
        return words(
            "text.predicted_tokens",
            first=shown(words, row.get("time_to_first_token_s"), units.format_time),
            token=shown(words, row.get("time_per_token_s"), units.format_time),
            rate=shown(words, row.get("tokens_per_s_per_gpu")),
        )
    times = ("step_time_s", "compute_s", "bubble_s", "exposed_communication_s")
    step, compute, bubble, exposed = (shown(words, row.get(key), units.format_time) for key in times)
    share, mfu = (
        shown(words, row.get(key), units.format_percent) for key in ("communication_share_ratio", "mfu_ratio")
    )
    return words("text.predicted", step=step, compute=compute, bubble=bubble, exposed=exposed, share=share, mfu=mfu)


def _listed(label: str, texts: list[str], words: Words, width: int) -> str:
    """As many texts as fit on one line behind their label, and how many more there are."""
    for n_shown in range(len(texts), 0, -1):
        line = words(label, text=words("clause_joiner").join(texts[:n_shown]))
        if n_shown < len(texts):
            line += words("text.and_more", n=len(texts) - n_shown)
        if display_width(line) <= width:
            return line
    more = words("text.and_more", n=len(texts) - 1) if len(texts) > 1 else ""
    return cut(words(label, text=texts[0]), width - display_width(more)) + more


def _decisions(plan: Json, words: Words, width: int) -> tuple[str, list[str]]:
    chosen = key_decisions(rows_at(plan, "decisions"), SHOWN_DECISIONS)
    rows = [(text_of(words, row.get("id")), decided(row, words), text_of(words, row.get("because"))) for row in chosen]
    return words("text.decisions"), columns(rows, width)


def key_decisions(decisions: list[Json], n_shown: int) -> list[Json]:
    """The decisions that say most about a design; further ones in turn from each area (the id's first word)."""
    by_id = {str(row.get("id")): row for row in decisions}
    areas: dict[str, list[Json]] = defaultdict(list)
    for name, row in by_id.items():
        areas[name.split(".")[0]].append(row)
    turns = [rows[turn] for turn in range(n_shown) for rows in areas.values() if turn < len(rows)]
    key = [by_id[name] for name in KEY_DECISIONS if name in by_id]
    return list({id(row): row for row in [*key, *turns]}.values())[:n_shown]


def _bill(plan: Json, words: Words, width: int) -> tuple[str, list[str]]:
    parts = rows_at(plan, "bom")
    if not parts:
        return words("text.bill"), [words("bill.missing")]
    rows = [
        (
            shown(words, row.get("quantity")),
            str(row.get("unit") or ""),
            text_of(words, row.get("part")),
            str(row.get("description") or ""),
        )
        for row in parts[:SHOWN_PARTS]
    ]
    lines = columns(rows, width, right=(0,))
    counts = [number(row.get("quantity")) for row in rows_at(plan, "cables_summary")]
    cables = (
        f"{int(sum(n for n in counts if n is not None)):,}" if counts and None not in counts else words("not_given")
    )
    rest = len(parts) - SHOWN_PARTS
    lines.append(words("text.more_parts", n=rest, cables=cables) if rest > 0 else words("text.cables", cables=cables))
    lines += _price(plan, words)
    return words("text.bill"), lines


def _price(plan: Json, words: Words) -> list[str]:
    """The total of what has a price; nothing when no price file was given."""
    price, missing = number(at(plan, "bill", "price")), at(plan, "bill", "unpriced_parts")
    if price is None:
        return []
    n_missing = len(missing) if isinstance(missing, list) else 0
    return [words("text.price", price=f"{price:,.2f}", currency=at(plan, "bill", "currency"), n=n_missing)]


def _growth(plan: Json, words: Words, width: int) -> tuple[str, list[str]]:
    """How far and which way, both ways in numbers today and in the last phase, and why; nothing without steps."""
    line = growth_line(plan, words)
    if not line:
        return words("section.growth"), []
    heads = tuple(words(f"text.ways.{name}") for name in COLUMNS_OF_WAY)
    rows = way_rows(plan, words)
    table = columns([heads, *rows], width, right=tuple(range(2, len(heads)))) if rows else []
    reasons = [words("growth.because", text=text) for text in reasons_of(plan)]
    above, below = ([part for text in texts for part in wrap(text, width - len(INDENT))] for texts in ([line], reasons))
    return words("section.growth"), [*above, *table, *below]


def _next(plan: Json, words: Words, width: int) -> tuple[str, list[str]]:
    decisions, findings = key_decisions(rows_at(plan, "decisions"), 1), ordered_findings(plan)
    source = str(at(plan, "site", "source") or "site.yaml")
    rows = [(f"eastwest why {row['id']}", words("text.next_why")) for row in decisions if row.get("id")]
    rows += [(f"eastwest explain {row['code']}", words("text.next_explain")) for row in findings[:1] if row.get("code")]
    rows.append((f"eastwest plan {source} --out DIR", words("text.next_out")))
    return words("text.next"), columns(rows, width)
