"""Both ways to a phase of growth in numbers: switches, ports, optics, cables, rack units, power, money."""

from __future__ import annotations

from eastwest import units
from eastwest.report.growth_phases import by_tier, fitting, switches_of
from eastwest.report.values import Json, at, number, object_at, shown, text_of
from eastwest.report.wording import Words

COLUMNS_OF_WAY = (
    *("phase", "strategy", "switches", "ports_used_free", "modules", "cables_in_all", "rack_units"),
    *("power", "cost"),
)


def way_rows(plan: Json, words: Words) -> list[tuple[str, ...]]:
    """Today and the last phase that fits, each on both ways, the planned one first, switches of all tiers together."""
    phases = fitting(plan)
    shown_phases = phases if len(phases) < 2 else [phases[0], phases[-1]]
    ways = [(row.get("phase"), way) for row in shown_phases for way in (row, object_at(row, "alternative")) if way]
    cells = [(cells_of_way(phase, way, words), way) for phase, way in ways]
    return [(*row[:2], shown(words, switches_of(way)), *row[3:]) for row, way in cells]


def cells_of_way(phase: object, way: Json, words: Words) -> tuple[str, ...]:
    """The cells of `COLUMNS_OF_WAY` for one way to a phase."""
    return (
        text_of(words, phase),
        words.name("strategy", way.get("strategy")),
        by_tier(words, object_at(way, "switches")),
        _ports(way, words),
        shown(words, way.get("modules")),
        shown(words, at(way, "cables", "in_all")),
        shown(words, way.get("rack_units")),
        shown(words, way.get("power_w"), units.format_power),
        _cost(way, words),
    )


def _ports(way: Json, words: Words) -> str:
    """`448/64`: ports of all switches, used and free; "not given" when a tier does not say."""
    tiers = object_at(way, "ports").values()
    counts = [(number(at(tier, "used")), number(at(tier, "free"))) for tier in tiers if isinstance(tier, dict)]
    known = [(used, free) for used, free in counts if used is not None and free is not None]
    if not known or len(known) != len(object_at(way, "ports")):
        return words("not_given")
    return "/".join(shown(words, sum(column)) for column in zip(*known, strict=True))


def _cost(way: Json, words: Words) -> str:
    """`1,200 EUR`: money spent on the network so far, with a `+` where pieces have no price; "no prices" without."""
    price = number(at(way, "cost", "so_far"))
    if price is None:
        return words("growth.no_prices")
    more = "+" if number(at(way, "cost", "unpriced_pieces")) else ""
    return f"{price:,.0f}{more} {at(way, 'cost', 'currency') or ''}".rstrip()
