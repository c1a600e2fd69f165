"""RoCE against InfiniBand, scored on the five rows of the seeds' table, with their disagreement for middle sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eastwest.decision import Alternative, Decision
from eastwest.finding import Finding
from eastwest.plan.advice.case import SEED_CHOICE, Advice, Case

SMALL_GPUS = 30  # seed text 001: up to 30 cards RoCE is enough
LARGE_GPUS = 100  # seed text 001: hundreds and thousands with a network team: InfiniBand
ROWS = ("performance", "cost", "operations", "existing_assets", "ecosystem")
NAMES = {"infiniband": "InfiniBand", "roce": "RoCEv2"}


@dataclass(frozen=True, slots=True)
class Score:
    """One row: points of each (0 to 2) and the reason."""

    row: str
    infiniband: int
    roce: int
    because: str


def scores(gpus: int, has_team: bool | None, assets: str | None) -> tuple[Score, ...]:
    """The five rows for a cluster of so many GPUs; what is not known (None) scores alike for both.

    >>> [(s.infiniband, s.roce) for s in scores(64, False, "ethernet")]
    [(2, 1), (0, 2), (0, 2), (0, 2), (1, 1)]
    """
    return (_performance(gpus), _cost(), _operations(has_team), _assets(assets), _ecosystem())


def _performance(gpus: int) -> Score:
    if gpus <= SMALL_GPUS:
        return Score("performance", 2, 2, f"up to {SMALL_GPUS} GPUs RoCE is fully sufficient (seed text 001)")
    return Score("performance", 2, 1, "InfiniBand is built for it; RoCE is as good as its lossless settings")


def _cost() -> Score:
    return Score("cost", 0, 2, "InfiniBand is special equipment from few vendors; Ethernet is reused")


def _operations(has_team: bool | None) -> Score:
    if has_team is None:
        return Score("operations", 1, 1, "not known whether a dedicated network team exists")
    if has_team:
        return Score("operations", 2, 1, "a dedicated team runs InfiniBand's own stack, and it is the more predictable")
    return Score("operations", 0, 2, "without a dedicated team the Ethernet skills at hand decide")


def _assets(assets: str | None) -> Score:
    if assets == "ethernet":
        return Score("existing_assets", 0, 2, "InfiniBand beside Ethernet means two systems and double upkeep")
    if assets == "infiniband":
        return Score("existing_assets", 2, 0, "the InfiniBand that is there is extended")
    known = "nothing to reuse" if assets == "none" else "not known what is there already"
    return Score("existing_assets", 1, 1, known)


def _ecosystem() -> Score:
    return Score("ecosystem", 1, 1, "mature in high-performance computing, and in internet companies: both")


def advise(case: Case) -> Advice:
    """The scored table; a note when the site chose the other one. TCP is no candidate for training."""
    team, assets = case.site.operations.dedicated_network_team, case.site.operations.existing_assets
    rows = scores(case.fabric.n_gpus, team, assets)
    points = {"infiniband": sum(row.infiniband for row in rows), "roce": sum(row.roce for row in rows)}
    best = "either" if points["infiniband"] == points["roce"] else max(points, key=lambda name: points[name])
    table = "; ".join(f"{row.row} {row.infiniband}:{row.roce} ({row.because})" for row in rows)
    inputs: dict[str, object] = {
        "gpus": case.fabric.n_gpus,
        "dedicated_network_team": team,
        "existing_assets": assets,
        **{f"{row.row}_points": f"InfiniBand {row.infiniband}, RoCEv2 {row.roce}" for row in rows},
        "points": f"InfiniBand {points['infiniband']}, RoCEv2 {points['roce']}",
        "chosen": case.site.transport,
    }
    decision = Decision(
        "transport.advice",
        best,
        "",
        f"InfiniBand:RoCEv2 by row: {table}. No absolute answer, only a fit",
        "sum of five rows, 0 to 2 points each",
        inputs,
        SEED_CHOICE,
        (*_disagreement(case.fabric.n_gpus), *_loser(best, points)),
    )
    return Advice((decision,), tuple(_finding(case, best, points)))


def _disagreement(gpus: int) -> tuple[Alternative, ...]:
    """What the two texts say of the middle sizes, where they contradict each other."""
    if gpus <= SMALL_GPUS:
        return ()
    ethernet = "seed text 000, section 4.1: for most middle-sized clusters Ethernet is fully sufficient"
    other = f"seed text 001, section 2.1: from about {LARGE_GPUS} GPUs with a dedicated team InfiniBand is less worry"
    return (
        Alternative("roce (the seeds disagree here)", ethernet),
        Alternative("infiniband (the seeds disagree here)", other),
    )


def _loser(best: str, points: Mapping[str, int]) -> tuple[Alternative, ...]:
    if best == "either":
        return ()
    other = "roce" if best == "infiniband" else "infiniband"
    return (Alternative(other, f"{points[other]} points against {points[best]}"),)


def _finding(case: Case, best: str, points: Mapping[str, int]) -> list[Finding]:
    """A note when the site's transport scores lower, and only when the site said who runs it or what is there."""
    chosen, wish = case.site.transport, case.site.operations
    is_known = wish.dedicated_network_team is not None or wish.existing_assets is not None
    if best in ("either", chosen) or chosen not in points or not is_known:
        return []
    args = {"chosen": NAMES[chosen], "best": NAMES[best], "points": points[chosen], "best_points": points[best]}
    return [Finding("EW-ADV-011", "info", "transport", best, chosen, "", args, path="transport")]
