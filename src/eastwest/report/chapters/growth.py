"""How the cluster grows: its phases, what is reserved now, and what recabling later would cost instead."""

from __future__ import annotations

from collections.abc import Iterator

from eastwest import units
from eastwest.report.blocks import Block, Column, Paragraph, Section, Table
from eastwest.report.growth_figure import growth_figure
from eastwest.report.growth_phases import by_tier, fitting, other_ways, switches_of, touched_in_all
from eastwest.report.growth_ways import COLUMNS_OF_WAY, cells_of_way
from eastwest.report.values import Json, at, number, object_at, rows_at, shown, text_of, texts_at
from eastwest.report.wording import Words


def growth_section(plan: Json, words: Words) -> Section:
    """The planned way in a sentence, the phases as a table and a picture, both ways side by side, and what is bought
    when (of phases that fit); one line without growth steps.
    """
    phases, title = rows_at(plan, "growth"), words("section.growth")
    if not phases:
        given = isinstance(plan.get("growth"), list | tuple)
        return Section("growth", title, (Paragraph(words("growth.none" if given else "growth.missing")),))
    blocks: list[Block] = [Paragraph(_strategy_sentence(plan, words))]
    blocks += [Paragraph(words("growth.because", text=text), note=True) for text in reasons_of(plan)]
    figure, good = growth_figure(plan, words), fitting(plan)
    blocks += [_phase_table(phases, words), *([figure] if figure else [])]
    blocks += [_strategy_table(good, words), _reserve_table(good, words)] if good else []
    blocks += [_bought_table(good, words)] if any(rows_at(row, "bought") for row in good) else []
    blocks += [Paragraph(text, note=True) for text in _shortfalls(phases, words)]
    return Section("growth", title, tuple(blocks))


def reasons_of(plan: Json) -> list[str]:
    """Why the way was chosen, in the words of its decision."""
    rows = (row for row in rows_at(plan, "decisions") if row.get("id") == "growth.strategy")
    return [str(row["because"]) for row in rows if row.get("because")]


def _strategy_sentence(plan: Json, words: Words) -> str:
    phases = fitting(plan) or rows_at(plan, "growth")
    others = other_ways(phases)
    strategy, moved = words.name("strategy", phases[0].get("strategy")), shown(words, touched_in_all(phases))
    if not others:
        return words("growth.strategy_alone", strategy=strategy, moved=moved)
    return words(
        "growth.strategy",
        strategy=strategy,
        moved=moved,
        other=words.name("strategy", others[0].get("strategy")),
        other_moved=shown(words, touched_in_all(others)),
        switches=shown(words, switches_of(phases[0])),
        other_switches=shown(words, switches_of(others[0])),
    )


def _phase_table(phases: list[Json], words: Words) -> Table:
    text_columns = {"phase", "fits", "switches", "switches_bought"}
    columns: tuple[str, ...] = ("phase", "servers", "gpus", "fits", "switches", "switches_bought")
    columns += ("cables_added", "cables_moved", "cables_removed", "servers_down")
    return Table(
        "phase-table",
        words("table.phases"),
        tuple(Column(words(f"column.{name}"), name not in text_columns) for name in columns),
        tuple(
            (
                text_of(words, row.get("phase")),
                shown(words, row.get("servers")),
                shown(words, row.get("gpus")),
                text_of(words, row.get("fits")),
                by_tier(words, object_at(row, "switches")),
                _bought_switches(row, words),
                *(shown(words, at(row, "cables", key)) for key in ("added", "moved", "removed")),
                shown(words, at(row, "outage", "servers_down")),
            )
            for row in phases
        ),
    )


def _bought_switches(row: Json, words: Words) -> str:
    """`leaf 5`: switches that the phase buys by tier."""
    if not isinstance(row.get("bought"), list | tuple):
        return words("not_given")
    switches = [part for part in rows_at(row, "bought") if part.get("unit") == "switch"]
    counts = {str(part.get("where") or ""): part.get("quantity") for part in switches}
    return by_tier(words, counts) if counts else words("none")


def _strategy_table(phases: list[Json], words: Words) -> Table:
    """Each phase on both ways, the planned one first."""
    text_columns = {"phase", "strategy", "switches", "ports_used_free"}
    columns = (*COLUMNS_OF_WAY, "cables_moved", "cables_removed", "servers_down", "leaves_with_less", "cables_again")
    ways = [(row.get("phase"), way) for row in phases for way in (row, object_at(row, "alternative")) if way]
    return Table(
        "strategy-table",
        words("table.strategies"),
        tuple(Column(words(f"column.{name}"), name not in text_columns) for name in columns),
        tuple((*cells_of_way(phase, way, words), *_outage_cells(way, words)) for phase, way in ways),
    )


def _outage_cells(way: Json, words: Words) -> Iterator[str]:
    for key in ("moved", "removed"):
        yield shown(words, at(way, "cables", key))
    for key in ("servers_down", "leaves_with_less", "cables_bought_again"):
        yield shown(words, at(way, "outage", key))


def _reserve_table(phases: list[Json], words: Words) -> Table:
    columns = ("phase", "ports_now", "units_now", "power_now", "switches_later", "cables_later", "modules_later")
    text_columns = {"phase", "ports_now", "switches_later"}
    return Table(
        "reserve-table",
        words("table.reserve"),
        tuple(Column(words(f"column.{name}"), name not in text_columns) for name in columns),
        tuple(
            (
                text_of(words, row.get("phase")),
                by_tier(words, object_at(row, "reserved", "ports_now")),
                shown(words, at(row, "reserved", "rack_units_now")),
                shown(words, at(row, "reserved", "power_now_w"), units.format_power),
                by_tier(words, object_at(row, "reserved", "switches_later")),
                shown(words, at(row, "reserved", "cables_later")),
                shown(words, at(row, "reserved", "modules_later")),
            )
            for row in phases
        ),
    )


def _bought_table(phases: list[Json], words: Words) -> Table:
    columns = ("phase", "part", "quantity", "unit", "where")
    rows = tuple(
        (
            text_of(words, row.get("phase")),
            text_of(words, part.get("part")),
            shown(words, part.get("quantity")),
            text_of(words, part.get("unit")),
            words.name("tier", part.get("where")),
        )
        for row in phases
        for part in rows_at(row, "bought")
    )
    titles = tuple(Column(words(f"column.{name}"), name == "quantity") for name in columns)
    return Table("bought-table", words("table.bought"), titles, rows, folded=True)


def _shortfalls(phases: list[Json], words: Words) -> Iterator[str]:
    """Phases that do not fit, and what falls short in those that do."""
    for row in phases:
        phase, codes = text_of(words, row.get("phase")), texts_at(row, "short")
        if row.get("fits") is False:
            yield words("growth.unfit", phase=phase)
        if codes:
            yield words("growth.short", phase=phase, codes=words("list_joiner").join(codes))


def growth_line(plan: Json, words: Words) -> str:
    """The growth in one line for the terminal: how far, which way, what moves; empty without growth steps."""
    phases = rows_at(plan, "growth")
    good = fitting(plan)
    if len(phases) < 2 or not good:
        return ""
    others = other_ways(good)
    moved = touched_in_all(others)
    other = ""
    if others and moved is not None:
        strategy = words.name("strategy", others[0].get("strategy"))
        other = words("text.growth_other", strategy=strategy, moved=shown(words, moved))
    unfit = [text_of(words, row.get("phase")) for row in phases if row.get("fits") is False]
    return words(
        "text.growth",
        servers=shown(words, number(good[-1].get("servers"))),
        phase=text_of(words, good[-1].get("phase")),
        strategy=words.name("strategy", good[-1].get("strategy")),
        moved=shown(words, touched_in_all(good)),
        other=other,
        unfit=words("text.growth_unfit", phases=words("list_joiner").join(unfit)) if unfit else "",
    )
