"""What the phases of growth say in sums, shared by the chapter, its figure and the terminal summary."""

from __future__ import annotations

from eastwest.report.values import Json, at, number, object_at, rows_at, shown
from eastwest.report.wording import Words


def fitting(plan: Json) -> list[Json]:
    """The phases that the design holds, today first; one that does not say is taken to fit."""
    return [row for row in rows_at(plan, "growth") if row.get("fits") is not False]


def switches_of(way: Json) -> float | None:
    """Switches of all tiers of one way to a phase; None when a tier has no number."""
    counts = [number(count) for count in object_at(way, "switches").values()]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def touched_cables(way: Json) -> float | None:
    """Live cables that are moved or pulled out on one way to a phase; None when either number is missing."""
    moved, removed = number(at(way, "cables", "moved")), number(at(way, "cables", "removed"))
    return None if moved is None or removed is None else moved + removed


def touched_in_all(ways: list[Json]) -> float | None:
    """Live cables that are moved or pulled out over all phases; None when a phase does not say."""
    counts = [touched_cables(way) for way in ways]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def other_ways(phases: list[Json]) -> list[Json]:
    """The way that was not chosen, for each phase; empty when a phase lacks it, so that no part is taken for all."""
    ways = [object_at(row, "alternative") for row in phases]
    return ways if all(ways) else []


def by_tier(words: Words, counts: Json) -> str:
    """`leaf 7, spine 6`: a number of each tier; "none" when all are zero, "not given" without any."""
    if not counts:
        return words("not_given")
    parts = [f"{words.name('tier', tier)} {shown(words, count)}" for tier, count in counts.items() if count != 0]
    return words("list_joiner").join(parts) or words("none")
