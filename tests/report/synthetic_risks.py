"""Growth, failures, spares and totals of a bill for the synthetic plan; their numbers belong to no real cluster."""

from __future__ import annotations

from typing import Any


def growth() -> list[dict[str, Any]]:
    """Today, a step that fits and one that does not, with the other way to the first two."""

    def cables(added: int, moved: int, removed: int) -> dict[str, int]:
        return {"added": added, "moved": moved, "removed": removed, "in_all": 0}

    def outage(down: int) -> dict[str, int]:
        return {"servers_down": down, "leaves_with_less": 0, "servers_behind": 0, "cables_bought_again": 0}

    def phase(name: str, servers: int, leaves: int, spines: int, **more: Any) -> dict[str, Any]:
        row: dict[str, Any] = {
            "phase": name,
            "servers": servers,
            "gpus": 8 * servers,
            "fits": True,
            "strategy": "reserve_now",
            "switches": {"leaf": leaves, "spine": spines},
            "cables": cables(96, 0, 0),
            "outage": outage(0),
            "ports": {"leaf": {"used": 192, "free": 64}},
            "modules": 400,
            "rack_units": 100,
            "power_w": 180_000.0,
            "cost": {"currency": "EUR", "so_far": 1_000_000.0, "unpriced_pieces": 3},
            "bought": [{"part": "switch-64x400", "unit": "switch", "quantity": leaves, "where": "leaf"}],
            "reserved": {
                "ports_now": {"leaf": 64, "spine": 0},
                "rack_units_now": 100,
                "power_now_w": 170_000.0,
                "switches_later": {"leaf": 4, "spine": 0},
                "cables_later": 96,
                "modules_later": 192,
            },
            "short": [],
            "alternative": {
                "strategy": "recable_later",
                "switches": {"leaf": leaves, "spine": spines - 1},
                "cables": cables(96, 0, 0),
                "outage": outage(0),
                "ports": {"leaf": {"used": 192, "free": 32}},
                "modules": 380,
                "rack_units": 98,
                "power_w": 178_000.0,
                "cost": {"currency": "EUR", "so_far": 900_000.0, "unpriced_pieces": 0},
            },
        }
        return row | more

    later = {"strategy": "recable_later", "switches": {"leaf": 8, "spine": 4}, "cables": cables(120, 40, 2)}
    return [
        phase("today", 16, 4, 4),
        phase("next-year", 32, 8, 4, short=["EW-FAB-015"], alternative=later | {"outage": outage(3)}),
        phase("some-day", 512, 128, 64, fits=False, cables=cables(999, 999, 999), alternative=None),
    ]


def failures() -> list[dict[str, Any]]:
    """A class that stops the job, one that slows it, and one without a published rate."""

    def row(kind: str, subject: str, outcome: str, **more: Any) -> dict[str, Any]:
        cost = {"job": "pretrain", "outcome": outcome, "gpus_idle": 0, "step_time_ratio": 1.0}
        found: dict[str, Any] = {
            "kind": kind,
            "subject": subject,
            "alike": 4,
            "population": 4,
            "gpus_lost": 0,
            "remaining_ratio": 0.75,
            "events_per_month": 0.02,
            "lost_gpu_hours_per_month": 0.0,
            "source": "a synthetic fleet",
            "jobs": [cost | more.pop("cost", {})],
        }
        return found | more

    return [
        row("leaf", "leaf-1", "stops", cost={"gpus_idle": 128}, gpus_lost=32, lost_gpu_hours_per_month=2.5),
        row("spine", "spine-1", "slower", cost={"step_time_ratio": 1.125}, lost_gpu_hours_per_month=0.5),
        row(
            "room_path",
            "north - south",
            "stops",
            remaining_ratio=0.0,
            events_per_month=None,
            lost_gpu_hours_per_month=None,
            source="no published rate",
        ),
    ]


def spares() -> list[dict[str, Any]]:
    """One part in stock."""
    return [
        {
            "part": "switch-64x400",
            "unit": "switch",
            "in_use": 8,
            "expected_in_lead_time": 0.04,
            "lead_time_s": 2_592_000,
            "confidence_ratio": 0.95,
            "stock": 1,
            "source": "a synthetic fleet",
        }
    ]


def bill() -> dict[str, Any]:
    """Totals with a price for the switches only."""

    def group(name: str, price: float | None, power_w: float) -> dict[str, Any]:
        return {
            "group": name,
            "lines": 1,
            "price": price,
            "price_share_ratio": None if price is None else 1.0,
            "power_w": power_w,
            "power_share_ratio": power_w / 9700.0,
            "unpriced": int(price is None),
        }

    return {
        "currency": "CNY",
        "price": 800_000.0,
        "unpriced_parts": ["aoc-400g-30m", "management-switch"],
        "power_w": 9700.0,
        "groups": [group("switches", 800_000.0, 9600.0), group("cables", None, 0.0), group("out_of_band", None, 100.0)],
        "racks": {"racks": 4, "most_w": 36_000.0, "mean_w": 30_000.0, "most_rack": "rack-2", "limit_w": None},
    }
