"""The communication account, the memory of a GPU, the traffic profile and the placement."""

from __future__ import annotations

from eastwest import units
from eastwest.report.blocks import Block, Column, Paragraph, Section, Table
from eastwest.report.figures import account_figures, memory_figure, memory_sentence, tiers_figure
from eastwest.report.values import Json, layout_text, named, object_at, rows_at, shown, text_of, texts_at
from eastwest.report.wording import Words


def account_section(plan: Json, words: Words) -> Section:
    """Who sends how many bytes to whom: the Sankey by tier, the table, and how each number comes about."""
    rows = rows_at(plan, "ledger")
    if not rows:
        return Section("account", words("section.account"), (Paragraph(words("account.missing")),))
    figures = account_figures(plan, words)
    undrawn = () if figures else (Paragraph(words("account.no_tiers"), note=True),)
    return Section(
        "account",
        words("section.account"),
        (
            Paragraph(words("account.intro")),
            *figures,
            *undrawn,
            _account_table(rows, words),
            _formula_table(rows, words),
        ),
    )


def _account_table(rows: list[Json], words: Words) -> Table:
    columns = ("job", "traffic", "collective", "group", "bytes_per_gpu", "messages", "message_size", "tier", "overlap")
    numeric = {"bytes_per_gpu", "messages", "message_size"}
    return Table(
        "account-table",
        words("table.account"),
        tuple(Column(words(f"column.{name}"), name in numeric) for name in columns),
        tuple(_account_row(row, words) for row in rows),
    )


def _account_row(row: Json, words: Words) -> tuple[str, ...]:
    size = shown(words, row.get("bytes_per_gpu"), units.format_size)
    per = words.name("per", row.get("per"))
    return (
        text_of(words, row.get("job")),
        words.name("traffic", row.get("traffic")),
        words.name("collective", row.get("collective")),
        f"{text_of(words, row.get('group'))} × {shown(words, row.get('group_size'))}",
        words("account.per", size=size, per=per),
        shown(words, row.get("messages")),
        shown(words, row.get("message_bytes"), units.format_size),
        words.name("tier", row.get("tier")),
        overlap_text(row, words),
    )


def overlap_text(row: Json, words: Words, exposed: str = "account.exposed") -> str:
    """What computation hides the traffic; an empty text in the ledger says that nothing does (the label `exposed`)."""
    return words(exposed) if row.get("overlaps") == "" else words.name("overlap", row.get("overlaps"))


def _formula_table(rows: list[Json], words: Words) -> Table:
    return Table(
        "account-formulas",
        words("table.formulas"),
        tuple(Column(words(f"column.{name}")) for name in ("job", "traffic", "formula", "inputs", "source")),
        tuple(
            (
                text_of(words, row.get("job")),
                words.name("traffic", row.get("traffic")),
                text_of(words, row.get("formula")),
                text_of(words, row.get("inputs")),
                text_of(words, row.get("source")),
            )
            for row in rows
        ),
        folded=True,
    )


def memory_section(plan: Json, words: Words) -> Section:
    """What the fullest GPU of each job holds, by term, against its capacity."""
    figure = memory_figure(plan, words)
    jobs = [job for job in rows_at(plan, "jobs") if rows_at(job, "memory", "terms")]
    rows = tuple(
        (
            text_of(words, job.get("name")),
            words.name("memory.term", term.get("name")),
            shown(words, term.get("size_bytes"), units.format_size),
            text_of(words, term.get("formula")),
        )
        for job in jobs
        for term in rows_at(job, "memory", "terms")
    )
    columns = (
        Column(words("column.job")),
        Column(words("column.term")),
        Column(words("column.size"), True),
        Column(words("column.formula")),
    )
    blocks: list[Block] = [Paragraph(memory_sentence(job, words)) for job in rows_at(plan, "jobs")]
    if figure is not None:
        blocks += [figure, Table("memory-table", words("table.memory"), columns, rows)]
    return Section("memory", words("section.memory"), tuple(blocks) or (Paragraph(words("jobs.missing")),))


def profile_section(plan: Json, words: Words) -> Section:
    """The main pattern, the height of the burst, the tolerance of jitter, and what follows for the network's
    mechanisms.
    """
    blocks: list[Block] = []
    for index, job in enumerate(rows_at(plan, "jobs")):
        profile = object_at(job, "profile")
        name = text_of(words, job.get("name"))
        if not profile:
            blocks.append(Paragraph(words("profile.missing", job=name)))
            continue
        blocks.append(Paragraph(_profile_sentence(name, profile, words)))
        rows = rows_at(profile, "rows")
        if rows:
            blocks.append(_profile_table(index, name, rows, words))
    if not blocks:
        return Section("profile", words("section.profile"), (Paragraph(words("jobs.missing")),))
    return Section("profile", words("section.profile"), (*blocks, Paragraph(words("profile.note"), note=True)))


def _profile_sentence(name: str, profile: Json, words: Words) -> str:
    return words(
        "profile.sentence",
        job=name,
        pattern=words.name("traffic", profile.get("main_pattern")),
        share=shown(words, profile.get("main_share_ratio"), units.format_percent),
        period=shown(words, profile.get("period_s"), units.format_time),
        duty=shown(words, profile.get("duty_ratio"), units.format_percent),
        peak=shown(words, profile.get("peak_to_average_ratio")),
        fan_in=shown(words, profile.get("fan_in")),
        jitter=words.name("jitter", profile.get("jitter_tolerance")),
    )


def _profile_table(index: int, name: str, rows: list[Json], words: Words) -> Table:
    columns = ("feature", "observed", "congestion_control", "load_balancing", "queueing", "because")
    return Table(
        f"profile-table-{index + 1}",
        words("table.profile", job=name),
        tuple(Column(words(f"column.{column}")) for column in columns),
        tuple(tuple(text_of(words, row.get(column)) for column in columns) for row in rows),
    )


def placement_section(plan: Json, words: Words) -> Section:
    """Where the ranks sit: the layout of each job, the bytes that cross each tier, and the groups of servers."""
    jobs = rows_at(plan, "jobs")
    if not jobs:
        return Section("placement", words("section.placement"), (Paragraph(words("jobs.missing")),))
    figure = tiers_figure(plan, words)
    blocks: list[Block] = [_jobs_table(jobs, words)]
    blocks += [figure] if figure is not None else [Paragraph(words("placement.no_tiers"), note=True)]
    blocks += [_facts_table(index, job, words) for index, job in enumerate(jobs) if object_at(job, "facts")]
    for job in jobs:
        blocks += [
            Paragraph(words("placement.assumed", job=text_of(words, job.get("name")), text=text), note=True)
            for text in texts_at(job, "assumed")
        ]
    return Section("placement", words("section.placement"), tuple(blocks))


def _jobs_table(jobs: list[Json], words: Words) -> Table:
    columns = ("job", "kind", "gpus", "params", "layout")
    return Table(
        "jobs-table",
        words("table.jobs"),
        tuple(Column(words(f"column.{name}"), name in {"gpus", "params"}) for name in columns),
        tuple(
            (
                text_of(words, job.get("name")),
                words.name("kind", job.get("kind")),
                shown(words, job.get("gpus")),
                shown(words, job.get("params"), units.format_count),
                layout_text(words, job.get("layout")),
            )
            for job in jobs
        ),
    )


def _facts_table(index: int, job: Json, words: Words) -> Table:
    """What the job's account and prediction are computed from: shapes, batches, FLOPs."""
    rows = tuple((str(key), named(words, str(key), value)) for key, value in object_at(job, "facts").items())
    caption = words("table.facts", job=text_of(words, job.get("name")))
    return Table(
        f"facts-table-{index + 1}", caption, (Column(words("column.fact")), Column(words("column.value"))), rows, True
    )
