"""The plan as one JSON document (the command line's contract) and as the files of its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import eastwest
from eastwest.fabric.addressing import AddressRow, all_addresses
from eastwest.fabric.cabling import Cable, cable_rows
from eastwest.fabric.parts import tally
from eastwest.fabric.placement import Placement
from eastwest.fabric.routing import ecmp_groups
from eastwest.fabric.tables import Fabric, LinkKind, NodeKind
from eastwest.plan.exports import export_files
from eastwest.plan.plan import Plan
from eastwest.plan.predict import Prediction
from eastwest.plan.risk_files import risk_files
from eastwest.plan.write import csv_text, json_text, yaml_text
from eastwest.spec.resolve import TierName, resolve_server, switch_of_tier
from eastwest.workload.features import translated
from eastwest.workload.ledger import JobLedger, Memory, Profile

CABLE_KEYS = ("kind", "medium", "rate_bps", "length_m")
NO_PREDICTION = (
    "step_time_s",
    "compute_s",
    "exposed_communication_s",
    "communication_share_ratio",
    "mfu_ratio",
    "tokens_per_s_per_gpu",
)


def plan_document(plan: Plan, lang: str = "en") -> dict[str, Any]:
    """The whole plan in JSON's types; sentences of findings in `lang`."""
    jobs = [_job(job, prediction, lang) for job, prediction in zip(plan.ledger.jobs, plan.predictions, strict=True)]
    training = [job for job in jobs if job["kind"] == "training"]
    first = (training or jobs)[0]["prediction"] if jobs else dict.fromkeys(NO_PREDICTION)
    return {
        "schema": "eastwest.plan/1",
        "verdict": plan.verdict,
        "findings": [finding.as_json(lang) for finding in plan.findings],
        "version": eastwest.__version__,
        "site": _site(plan),
        "jobs": jobs,
        "ledger": _ledger(plan),
        "tiers": [{"tier": tier, "bytes": size} for tier, size in _bytes_by_tier(plan.placement).items()],
        "fabric": plan.fabric.as_json() | _fabric_facts(plan.fabric),
        "policy": plan.policy.as_json(),
        "prediction": first,
        "constants": plan.constants.as_json(),
        "assumed": _assumed(plan),
        "targets": plan.targets.as_json(),
        "decisions": [decision.as_json() for decision in plan.decisions],
        "bom": [row.as_json() for row in plan.bom],
        "bill": plan.bill.as_json(),
        "cables_summary": list(_cables(plan.fabric)),
        "growth": plan.growth.as_json(),
        "failures": plan.failures.as_json(),
        "spares": [spare.as_json() for spare in plan.failures.spares],
    }


def plan_files(plan: Plan, document: Mapping[str, Any], report: str) -> dict[str, str]:
    """The files of the plan's folder: name -> text; `report` is the HTML page."""
    bom_header = tuple(document["bom"][0])
    return {
        "plan.json": json_text(document),
        "report.html": report,
        "cables.csv": _table(Cable, cable_rows(plan.fabric)),
        "addresses.csv": _table(AddressRow, all_addresses(plan.fabric)),
        "bom.csv": csv_text(bom_header, ([row[key] for key in bom_header] for row in document["bom"])),
        "targets.yaml": yaml_text(
            {"schema": "eastwest.targets/1", "site": plan.site.name, "targets": document["targets"]}
        ),
        **risk_files(plan.growth, plan.failures),
        **export_files(plan),
    }


def _table(row_type: type[Cable] | type[AddressRow], rows: Iterable[tuple[Any, ...]]) -> str:
    """A CSV table of named rows, a column a field."""
    return csv_text(row_type._fields, rows)


def _bytes_by_tier(placement: Placement) -> dict[str, int]:
    """Bytes of all rows by tier, each row in its own `per`."""
    total: Counter[str] = Counter()
    for row in placement.rows:
        total.update(row.tier_bytes)
    return dict(total)


def _cables(fabric: Fabric) -> Iterator[dict[str, Any]]:
    """Cables counted by tier, medium, rate and length."""
    links = fabric.links
    for (kind, medium, rate_bps, length_m), count in tally(*(links[name] for name in CABLE_KEYS)):
        yield {
            "tier": LinkKind(int(kind)).name.lower(),
            "medium": fabric.media[int(medium)],
            "rate_bps": int(rate_bps),
            "length_m": float(length_m),
            "quantity": count,
        }


def _assumed(plan: Plan) -> list[str]:
    """Everything that nobody gave and the plan had to assume, each once, in the order of the plan."""
    servers = [text for wish in plan.site.servers for text in resolve_server(wish).assumed]
    tiers: tuple[TierName, ...] = ("leaf", "spine", "core")
    switches = [text for tier in tiers if (facts := switch_of_tier(plan.site, tier)) for text in facts.assumed]
    jobs = [text for prediction in plan.predictions for text in prediction.assumed]
    return list(dict.fromkeys([*servers, *switches, *jobs]))


def _site(plan: Plan) -> dict[str, Any]:
    return {
        "name": plan.site.name,
        "source": plan.source,
        "description": plan.site.description,
        "transport": plan.site.transport,
        "loss_regime": plan.policy.loss_regime,
        "servers": plan.fabric.n_servers,
        "gpus": plan.fabric.n_gpus,
    }


def _job(job: JobLedger, prediction: Prediction, lang: str) -> dict[str, Any]:
    grid = job.grid
    return {
        "name": job.name,
        "kind": job.kind,
        "gpus": job.gpus,
        "params": job.params,
        "layout": {"tp": grid.tp, "cp": grid.cp, "dp": grid.dp, "pp": grid.pp, "ep": grid.ep},
        "memory": _memory(job.memory),
        "profile": _profile(job.profile, prediction, lang),
        "facts": dict(job.facts),
        "assumed": list(job.assumed),
        "prediction": prediction.as_json(lang),
    }


def _memory(memory: Memory) -> dict[str, Any]:
    return {
        "total_bytes": memory.total_bytes,
        "capacity_bytes": memory.capacity_bytes,
        "terms": [{"name": t.name, "size_bytes": t.size_bytes, "formula": t.formula} for t in memory.terms],
    }


def _profile(profile: Profile, prediction: Prediction, lang: str) -> dict[str, Any]:
    """The profile with the period that the prediction gives: one step, or one token."""
    period_s = prediction.step_time_s or prediction.time_per_token_s
    busy_s = sum(row.time_s for row in prediction.rows if row.bottleneck != "scale_up")
    duty = min(1.0, busy_s / period_s) if period_s else None
    peak = 1 / duty if duty else profile.peak_to_average_ratio
    words = {"peak_text": f"{peak:.1f}"} if peak else {}
    rows = (
        replace(row, args={**row.args, **{k: v for k, v in words.items() if k in row.args}}) for row in profile.rows
    )
    return {
        "main_pattern": profile.main_pattern,
        "main_share_ratio": profile.main_share_ratio,
        "period_s": period_s,
        "duty_ratio": duty,
        "peak_to_average_ratio": peak,
        "fan_in": profile.fan_in,
        "jitter_tolerance": profile.jitter_tolerance,
        "rows": [
            {
                "feature": row.feature,
                "observed": row.observed,
                "congestion_control": row.congestion_control,
                "load_balancing": row.load_balancing,
                "queueing": row.queueing,
                "because": row.because,
            }
            for row in (translated(own, lang) for own in rows)
        ],
    }


def _ledger(plan: Plan) -> list[dict[str, Any]]:
    rows = []
    for row, placed in zip(plan.ledger.rows, plan.placement.rows, strict=True):
        rows.append(
            {
                "job": row.job,
                "traffic": row.traffic,
                "group": row.group,
                "group_size": row.group_size,
                "collective": row.collective,
                "bytes_per_gpu": row.bytes_per_gpu,
                "messages": row.messages,
                "message_bytes": row.message_bytes,
                "tier": placed.tier,
                "per": row.per,
                "overlaps": row.overlaps,
                "tier_bytes": dict(placed.tier_bytes),
                "formula": row.formula,
                "inputs": dict(row.inputs),
                "source": row.source,
            }
        )
    return rows


def _fabric_facts(fabric: Fabric) -> dict[str, Any]:
    """What the fabric's picture needs: rooms, groups of servers with their leaves, room links."""
    nodes, names = fabric.nodes, fabric.names
    rooms = []
    for room, name in enumerate(fabric.rooms):
        inside = nodes["kind"][nodes["room"] == room]
        counts = {word: int(np.count_nonzero(inside == kind)) for word, kind in _PICTURED.items()}
        rooms.append({"name": name, **counts})
    groups = []
    for group in np.unique(nodes["group"][nodes["group"] >= 0]).tolist():
        members = np.flatnonzero(nodes["group"] == group)
        leaves = [names[i] for i in members if nodes["kind"][i] == NodeKind.LEAF]
        servers = int(np.count_nonzero(nodes["kind"][members] == NodeKind.SERVER))
        in_room = fabric.rooms[int(nodes["room"][members[0]])]
        groups.append({"name": f"group-{group + 1}", "room": in_room, "servers": servers, "leaves": leaves})
    return {
        "rails": fabric.rails,
        "switches": dict(fabric.switches),
        "nic_rate_bps": fabric.nic_rate_bps,
        "nics_per_server": fabric.nics_per_server,
        "gpus_per_server": fabric.gpus_per_server,
        "max_leaves": fabric.max_leaves,
        "max_spines": fabric.max_spines,
        "ecmp_paths": int(ecmp_groups(fabric).max(initial=0)),
        "rooms": rooms,
        "groups": groups,
        "room_links": [
            {
                "rooms": [fabric.rooms[link.rooms[0]], fabric.rooms[link.rooms[1]]],
                "distance_m": link.distance_m,
                "links": link.n_links,
                "rate_bps": link.rate_bps,
                "boxes": [box.model_dump() | {"is_stateful": box.is_stateful} for box in link.boxes],
            }
            for link in fabric.room_links
        ],
        "facts": dict(fabric.facts),
    }


_PICTURED = {"servers": NodeKind.SERVER, "leaves": NodeKind.LEAF, "spines": NodeKind.SPINE, "cores": NodeKind.CORE}
