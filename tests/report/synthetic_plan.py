"""Synthetic plans in the shape of `eastwest.plan/1`, for these tests; their numbers belong to no real cluster."""

from __future__ import annotations

from typing import Any

from tests.report import synthetic_risks

HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}\x1b[31m\u202e"


def ledger_row(job: str, traffic: str, tier_bytes: dict[str, int], per: str = "step", **more: Any) -> dict[str, Any]:
    """One row of the account."""
    row: dict[str, Any] = {
        "job": job,
        "traffic": traffic,
        "group": "dp",
        "group_size": 16,
        "collective": "all_reduce",
        "bytes_per_gpu": sum(tier_bytes.values()) // 128,
        "messages": 40,
        "message_bytes": 25_000_000,
        "tier": list(tier_bytes)[-1] if tier_bytes else None,
        "per": per,
        "overlaps": "backward",
        "tier_bytes": tier_bytes,
        "formula": "2 (n-1)/n x S",
        "inputs": {"n": 16, "shard_size_bytes": 12_500_000_000},
        "source": "derived",
    }
    return row | more


def training_job() -> dict[str, Any]:
    """A job with a memory model, a profile and a prediction."""
    return {
        "name": "pretrain",
        "kind": "training",
        "gpus": 128,
        "params": 50_000_000_000,
        "layout": {"tp": 8, "pp": 1, "dp": 16, "cp": 1, "ep": 1},
        "memory": {
            "terms": [
                {"name": "weights", "size_bytes": 12_500_000_000, "formula": "params x 2 / tp"},
                {"name": "optimizer", "size_bytes": 37_500_000_000, "formula": "params x 12 / (tp x 2)"},
                {"name": "activations", "size_bytes": 9_000_000_000, "formula": "Korthikanti et al. (2022), eq. 2"},
            ],
            "total_bytes": 59_000_000_000,
            "capacity_bytes": 80_000_000_000,
        },
        "profile": {
            "main_pattern": "gradients",
            "main_share_ratio": 0.82,
            "period_s": 4.2,
            "duty_ratio": 0.31,
            "peak_to_average_ratio": 3.2,
            "fan_in": 1,
            "jitter_tolerance": "low",
            "rows": [
                {
                    "feature": "periodic bursts",
                    "observed": "every 4.2 s for 1.3 s",
                    "congestion_control": "DCQCN with a low Kmin",
                    "load_balancing": "flowlet or per-packet spray",
                    "queueing": "one lossless queue",
                    "because": "all GPUs start at the same time, so queues fill within one RTT",
                }
            ],
        },
        "assumed": ["bf16 gradients", "25 MB buckets"],
        "prediction": prediction(),
        "facts": {"sequence_length": 4096, "checkpoint_size_bytes": 700_000_000_000},
    }


def prediction() -> dict[str, Any]:
    """A predicted step."""
    return {
        "step_time_s": 4.2,
        "compute_s": 3.6,
        "bubble_s": 0.0,
        "exposed_communication_s": 0.6,
        "communication_share_ratio": 0.142857,
        "mfu_ratio": 0.45,
        "tokens_per_s_per_gpu": 1480.5,
        "time_to_first_token_s": None,
        "time_per_token_s": None,
        "exposed_by_traffic_s": {"gradients": 0.55, "tensor": 0.05},
        "time_by_traffic_s": {"gradients": 1.3, "tensor": 0.4},
        "assumed": ["GEMM efficiency 0.55", "network efficiency 0.92", "equal ECMP split"],
        "invalid": ["incast"],
    }


def fabric(family: str = "leaf_spine", *, two_rooms: bool = True) -> dict[str, Any]:
    """16 servers under 4 leaves and 4 spines; with two rooms, a firewall stands between them."""
    rooms = ["north", "south"] if two_rooms else ["hall"]
    groups = [
        {
            "name": f"group-{index + 1}",
            "room": rooms[index % len(rooms)],
            "servers": 8,
            "leaves": [f"leaf-{2 * index + 1}", f"leaf-{2 * index + 2}"],
        }
        for index in range(2)
    ]
    per_room = len(rooms)
    return {
        "family": family,
        "tiers": 2,
        "planes": 1,
        "servers": 16,
        "gpus": 128,
        "leaves": 4,
        "spines": 4,
        "cores": 0,
        "links": {"server_leaf": 128, "leaf_spine": 64, "spine_core": 0, "room": 8 if two_rooms else 0},
        "oversubscription_ratio": {"leaf": 2.0, "spine": 1.0} | ({"room": 16.0} if two_rooms else {}),
        "ports": {
            "leaf": {"used": 192, "free": 64},
            "spine": {"used": 64, "free": 192},
            "core": {"used": 0, "free": 0},
        },
        "max_gpus": 2048,
        "rails": 2 if family == "rail_optimized" else 1,
        "switches": {"leaf": "64x400G switch", "spine": "64x400G switch"},
        "nic_rate_bps": 200_000_000_000,
        "nics_per_server": 8,
        "gpus_per_server": 8,
        "rooms": [
            {"name": name, "servers": 16 // per_room, "leaves": 4 // per_room, "spines": 4 // per_room}
            for name in rooms
        ],
        "room_links": [
            {
                "rooms": rooms,
                "distance_m": 10_000.0,
                "links": 8,
                "rate_bps": 3_200_000_000_000,
                "boxes": [{"name": "fw-1", "kind": "firewall", "rate_limit_bps": 100_000_000_000}],
            }
        ]
        if two_rooms
        else [],
        "groups": groups,
        "ecmp_paths": 2,
    }


def findings() -> list[dict[str, Any]]:
    """A warning before an error, so that a reader must sort them, and a waived one."""
    return [
        {
            "code": "EW-FAB-020",
            "severity": "warning",
            "subject": "leaf tier",
            "message": "The leaf tier is oversubscribed 2:1 where 1:1 was wished.",
            "expected": 1.0,
            "observed": 2.0,
            "unit": "down:up",
            "hint": "add 32 uplinks to each leaf, or accept 2:1 in the site file",
            "waived": None,
            "evidence": [],
        },
        {
            "code": "EW-FAB-031",
            "severity": "error",
            "subject": "north – south",
            "message": "A firewall limits the path of the gradients to 100G where 3,200G are planned.",
            "expected": 3_200_000_000_000,
            "observed": 100_000_000_000,
            "unit": "bps",
            "hint": "keep the job inside one room",
            "waived": None,
            "evidence": [
                {"source": "site.yaml", "line": 31, "text": "  boxes: [{name: fw-1, kind: firewall, rate_limit: 100G}]"}
            ],
        },
        {
            "code": "EW-MEM-002",
            "severity": "warning",
            "subject": "pretrain",
            "message": "Less than 30 % of the memory is free.",
            "expected": 0.3,
            "observed": 0.26,
            "unit": "",
            "hint": "",
            "waived": "measured on a pilot",
            "evidence": [],
        },
    ]


def decision(decision_id: str, value: Any, unit: str = "1") -> dict[str, Any]:
    """One decision with a rejected alternative."""
    return {
        "id": decision_id,
        "value": value,
        "unit": unit,
        "because": f"{decision_id} follows from the ports of the switch",
        "formula": "ports / 2",
        "inputs": {"ports": 64, "port_rate_bps": 400_000_000_000},
        "source": "site.yaml:12",
        "alternatives": [{"value": 16, "rejected_because": "would double the oversubscription"}],
    }


def targets() -> list[dict[str, Any]]:
    """A limit of each kind."""
    kinds = [
        ("at_least", 48e9, None, "bytes_per_s"),
        ("zero", 0, None, "1"),
        ("bounded", None, None, "1"),
        ("window", -8.0, 4.0, "dBm"),
    ]
    return [
        {
            "id": f"target.{kind}",
            "kind": kind,
            "value": value,
            "upper": upper,
            "unit": unit,
            "test": "ib_write_bw",
            "because": "payload of one NIC",
            "formula": "rate / 8",
            "source": "derived",
        }
        for kind, value, upper, unit in kinds
    ]


def plan() -> dict[str, Any]:
    """A failing plan of two rooms with every part present."""
    return {
        "schema": "eastwest.plan/1",
        "verdict": "fail",
        "findings": findings(),
        "version": "0.1.0",
        "site": {
            "name": "synthetic-two-rooms",
            "source": "site.yaml",
            "description": "Sixteen synthetic servers in two rooms.",
            "transport": "roce",
            "loss_regime": "lossless",
            "gpus": 128,
            "servers": 16,
        },
        "jobs": [training_job()],
        "ledger": [
            ledger_row(
                "pretrain",
                "gradients",
                {"scale_up": 0, "leaf": 900_000_000_000, "spine": 700_000_000_000, "room": 2_000_000_000_000},
            ),
            ledger_row("pretrain", "tensor", {"scale_up": 2_400_000_000_000}, collective="reduce_scatter", overlaps=""),
            ledger_row(
                "pretrain",
                "checkpoint",
                {"leaf": 300_000_000_000, "spine": 400_000_000_000},
                per="checkpoint",
                collective="write",
            ),
        ],
        "tiers": [
            {"tier": "scale_up", "bytes": 2_400_000_000_000},
            {"tier": "leaf", "bytes": 900_000_000_000},
            {"tier": "spine", "bytes": 700_000_000_000},
            {"tier": "room", "bytes": 2_000_000_000_000},
        ],
        "fabric": fabric(),
        "policy": {
            "loss_regime": "lossless",
            "classes": [
                {"name": "rdma", "dscp": [26], "priority": 3, "queue": 3, "lossless": True, "ecn": True},
                {"name": "cnp", "dscp": [48], "priority": 6, "queue": 6, "lossless": False, "ecn": None},
            ],
            "mtu_bytes": 9216,
            "ecn": {"kmin_bytes": 1_000_000, "kmax_bytes": 4_000_000, "pmax_ratio": 0.2},
            "devices": [{"name": "leaf-1"}, {"name": "leaf-2"}],
        },
        "prediction": prediction(),
        "targets": targets(),
        "decisions": [
            decision("fabric.family", "leaf_spine", ""),
            decision("fabric.leaf.uplinks", 32, "ports"),
            decision("fabric.spines", 4),
            decision("placement.order", ["tp", "dp"], ""),
            decision("policy.regime", "lossless", ""),
            decision("policy.ecn.kmin", 1_000_000, "bytes"),
            decision("policy.mtu", 9216, "bytes"),
            decision("growth.strategy", "reserve_now", "") | {"because": "no live cable moves"},
            decision("failure.stops.pretrain", 0.08, "stops a month")
            | {"because": "by failed parts of this network", "inputs": {"restart_s": 900, "repair_s": 14_400}},
        ],
        "bom": [
            {
                "part": "switch-64x400",
                "description": "64 x 400G switch",
                "quantity": 8,
                "unit": "pcs",
                "where": "leaf, spine",
                "power_w": 9600.0,
                "note": None,
                "group": "switches",
                "unit_price": 100_000.0,
                "price": 800_000.0,
                "currency": "CNY",
            },
            {
                "part": "aoc-400g-30m",
                "description": "active optical cable",
                "quantity": 192,
                "unit": "pcs",
                "where": "leaf–spine",
                "power_w": None,
                "note": "2 spare",
                "group": "cables",
            },
            {
                "part": "management-switch",
                "description": "48 x 1G switch",
                "quantity": 1,
                "unit": "pcs",
                "where": "management",
                "power_w": 100.0,
                "note": None,
                "group": "out_of_band",
            },
        ],
        "cables_summary": [
            {"tier": "server_leaf", "medium": "dac", "rate_bps": 200_000_000_000, "length_m": 3.0, "quantity": 128},
            {"tier": "leaf_spine", "medium": "aoc", "rate_bps": 400_000_000_000, "length_m": 30.0, "quantity": 64},
        ],
        "bill": synthetic_risks.bill(),
        "growth": synthetic_risks.growth(),
        "failures": synthetic_risks.failures(),
        "spares": synthetic_risks.spares(),
        "assumed": ["synthetic-switch: power 1200 W"],
    }


def large_plan() -> dict[str, Any]:
    """512 servers in 16 rail-optimised groups: too many nodes to draw each, and tables long enough to fold."""
    found = plan() | {"verdict": "pass", "findings": []}
    large = fabric("rail_optimized", two_rooms=False) | {
        "tiers": 3,
        "servers": 512,
        "gpus": 4096,
        "leaves": 128,
        "spines": 64,
        "cores": 32,
        "rails": 8,
        "rooms": [{"name": "hall", "servers": 512, "leaves": 128, "spines": 64}],
        "links": {"server_leaf": 4096, "leaf_spine": 4096, "spine_core": 2048, "room": 0},
        "groups": [
            {
                "name": f"su-{i:02d}",
                "room": "hall",
                "servers": 32,
                "leaves": [f"leaf-{i:02d}-{rail}" for rail in range(8)],
            }
            for i in range(16)
        ],
    }
    rows = [ledger_row("pretrain", f"class-{index}", {"leaf": 10**9 * (index + 1)}) for index in range(40)]
    return found | {"fabric": large, "ledger": rows}


def hostile_plan() -> dict[str, Any]:
    """The failing plan with a hostile text in every place where a user or a device can put one."""
    return poisoned(plan())


def poisoned(value: Any) -> Any:
    """The same document with a hostile tail on each text that is not one of our own words."""
    if isinstance(value, dict):
        kept = {"schema", "verdict", "severity", "per", "loss_regime", "kind", "family"}
        return {key: item if key in kept else poisoned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return value + HOSTILE if isinstance(value, str) else value
