"""The phases of growth as a picture: switches by tier in each phase, and how many the other way would need."""

from __future__ import annotations

from typing import Any

from eastwest.report.blocks import Figure, FigureData
from eastwest.report.figures import GREY, TIER_COLOURS, VERMILION, bar_layout, plotly_text
from eastwest.report.growth_phases import fitting, switches_of, touched_cables
from eastwest.report.values import Json, at, counted, number, object_at, shown, text_of
from eastwest.report.wording import Words

COLUMNS = ("phase", "servers", "gpus", "leaf", "spine", "core", "switches_of_other_way", "cables_touched")
PICTURED_TIERS = ("leaf", "spine", "core")


def growth_figure(plan: Json, words: Words) -> Figure | None:
    """Switches of each phase that fits, by tier as stacked bars, with the other way's total as a mark; None when
    no phase says how many switches it has.
    """
    phases = fitting(plan)
    if not any(switches_of(row) for row in phases):
        return None
    names = [text_of(words, row.get("phase")) for row in phases]
    tiers = [tier for tier in PICTURED_TIERS if any(at(row, "switches", tier) for row in phases)]
    traces = [_bars(tier, phases, names, words) for tier in tiers]
    traces += _marks(phases, names, words)
    return Figure(
        key="growth",
        title=words("figure.growth.title"),
        alt=words("figure.growth.alt", phases=words("clause_joiner").join(_sentence(row, words) for row in phases)),
        data=FigureData(COLUMNS, tuple(_data(row, name) for row, name in zip(phases, names, strict=True))),
        plotly={
            "data": traces,
            "layout": bar_layout(
                len(phases), words("figure.growth.axis"), barmode="stack", legend=True, suffix="", margin_right=40
            ),
        },
    )


def _bars(tier: str, phases: list[Json], names: list[str], words: Words) -> dict[str, Any]:
    label = plotly_text(words.name("tier", tier))
    return {
        "type": "bar",
        "orientation": "h",
        "name": label,
        "x": [number(at(row, "switches", tier)) for row in phases],
        "y": [plotly_text(name) for name in names],
        "marker": {"color": TIER_COLOURS[tier]},
        "hovertemplate": "%{y}: %{x}<extra>" + label + "</extra>",
    }


def _marks(phases: list[Json], names: list[str], words: Words) -> list[dict[str, Any]]:
    """The other way's switches as a line across each bar; nothing when no phase has another way."""
    others = [object_at(row, "alternative") for row in phases]
    totals = [switches_of(way) for way in others]
    if not any(totals):
        return []
    strategy = next(words.name("strategy", way.get("strategy")) for way in others if way)
    label = plotly_text(words("figure.growth.other", strategy=strategy))
    marker = {"symbol": "line-ns", "size": 34, "color": GREY, "line": {"width": 3, "color": VERMILION}}
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": label,
            "x": totals,
            "y": [plotly_text(name) for name in names],
            "marker": marker,
            "hovertemplate": "%{y}: %{x}<extra>" + label + "</extra>",
        }
    ]


def _sentence(row: Json, words: Words) -> str:
    return words(
        "figure.growth.phase",
        phase=text_of(words, row.get("phase")),
        servers=counted(words, "servers", row.get("servers")),
        gpus=counted(words, "gpus", row.get("gpus")),
        switches=shown(words, switches_of(row)),
        moved=shown(words, touched_cables(row)),
    )


def _data(row: Json, name: str) -> tuple[object, ...]:
    tiers = (number(at(row, "switches", tier)) for tier in PICTURED_TIERS)
    other = switches_of(object_at(row, "alternative"))
    return (name, number(row.get("servers")), number(row.get("gpus")), *tiers, other, touched_cables(row))
