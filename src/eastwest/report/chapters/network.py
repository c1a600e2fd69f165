"""The fabric with its ports and room links, and the policy with its classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eastwest import units
from eastwest.report.blocks import Block, Column, Paragraph, Section, Table
from eastwest.report.fabric_picture import fabric_figure
from eastwest.report.values import (
    Json,
    amount,
    at,
    box_label,
    counted,
    named,
    object_at,
    rows_at,
    shown,
    text_of,
    texts_at,
)
from eastwest.report.wording import Words

TIER_OF_PORTS = ("leaf", "spine", "core")
COUNT_OF_TIER = {"leaf": "leaves", "spine": "spines", "core": "cores"}
LINK_KINDS = ("server_leaf", "leaf_spine", "spine_core", "room")
POLICY_DEPTH = 3  # deeper settings are in plan.json; a page of them would hide the ones that matter


def fabric_section(plan: Json, words: Words) -> Section:
    """The picture, what each tier is made of, the links, and the rooms with the boxes between them."""
    fabric = object_at(plan, "fabric")
    if not fabric:
        return Section("fabric", words("section.fabric"), (Paragraph(words("fabric.missing")),))
    figure = fabric_figure(plan, words)
    blocks: list[Block] = [] if figure is None else [figure]
    blocks += [Paragraph(_server_sentence(fabric, words)), _tier_table(fabric, words), _link_table(fabric, words)]
    blocks += [_room_table(rows, words) for rows in [rows_at(fabric, "room_links")] if rows]
    blocks += [_group_table(rows, words) for rows in [rows_at(fabric, "groups")] if rows]
    return Section("fabric", words("section.fabric"), tuple(blocks))


def _server_sentence(fabric: Json, words: Words) -> str:
    paths = fabric.get("ecmp_paths")
    sentence = words(
        "fabric.server",
        gpus=shown(words, fabric.get("gpus_per_server")),
        nics=shown(words, fabric.get("nics_per_server")),
        rate=shown(words, fabric.get("nic_rate_bps"), units.format_rate),
        planes=shown(words, fabric.get("planes")),
        rails=shown(words, fabric.get("rails")),
        max_gpus=shown(words, fabric.get("max_gpus")),
    )
    return sentence if paths is None else sentence + words("sentence_joiner") + words("fabric.paths", paths=paths)


def _tier_table(fabric: Json, words: Words) -> Table:
    tiers = [tier for tier in TIER_OF_PORTS if tier != "core" or amount(fabric.get("cores"))]
    columns = ("tier", "switches", "model", "ports_used", "ports_free", "oversubscription")
    return Table(
        "tier-table",
        words("table.tiers"),
        tuple(Column(words(f"column.{name}"), name not in {"tier", "model"}) for name in columns),
        tuple(
            (
                words.name("tier", tier),
                shown(words, fabric.get(COUNT_OF_TIER[tier])),
                text_of(words, at(fabric, "switches", tier)),
                shown(words, at(fabric, "ports", tier, "used")),
                shown(words, at(fabric, "ports", tier, "free")),
                shown(words, at(fabric, "oversubscription_ratio", tier), units.format_ratio),
            )
            for tier in tiers
        ),
    )


def _link_table(fabric: Json, words: Words) -> Table:
    links = at(fabric, "links")
    always = LINK_KINDS[:2]  # a fabric without cores or rooms needs no line that says so
    kinds = [kind for kind in LINK_KINDS if at(links, kind) or (kind in always and at(links, kind) is not None)]
    rows = tuple((words.name("link", kind), shown(words, at(links, kind))) for kind in kinds)
    return Table(
        "link-table", words("table.links"), (Column(words("column.links")), Column(words("column.count"), True)), rows
    )


def _room_table(rows: list[Json], words: Words) -> Table:
    columns = ("rooms", "distance", "links_count", "total_rate", "boxes")
    return Table(
        "room-table",
        words("table.rooms"),
        tuple(Column(words(f"column.{name}"), name in {"distance", "links_count", "total_rate"}) for name in columns),
        tuple(
            (
                " – ".join(texts_at(row, "rooms")) or words("not_given"),
                shown(words, row.get("distance_m"), units.format_length),
                shown(words, row.get("links")),
                shown(words, row.get("rate_bps"), units.format_rate),
                words("list_joiner").join(_box_text(box, words) for box in rows_at(row, "boxes")) or words("none"),
            )
            for row in rows
        ),
    )


def _box_text(box: Json, words: Words) -> str:
    label = box_label(words, box.get("kind"), box.get("name"))
    limit = box.get("rate_limit_bps")
    return label if limit is None else f"{label} ≤ {shown(words, limit, units.format_rate)}"


def _group_table(rows: list[Json], words: Words) -> Table:
    columns = ("group", "room", "servers", "leaves")
    return Table(
        "group-table",
        words("table.groups"),
        tuple(Column(words(f"column.{name}"), name == "servers") for name in columns),
        tuple(
            (
                text_of(words, row.get("name")),
                text_of(words, row.get("room")),
                shown(words, amount(row.get("servers"))),
                ", ".join(texts_at(row, "leaves")) or counted(words, "leaves", row.get("leaves")),
            )
            for row in rows
        ),
    )


def policy_section(plan: Json, words: Words) -> Section:
    """The loss regime, the traffic classes, and the other settings by their path in the plan."""
    policy = object_at(plan, "policy")
    if not policy:
        return Section("policy", words("section.policy"), (Paragraph(words("policy.missing")),))
    blocks: list[Block] = [Paragraph(words("policy.regime", regime=words.name("regime", policy.get("loss_regime"))))]
    classes = rows_at(policy, "classes")
    if classes:
        blocks.append(_class_table(classes, words))
    rest = {key: value for key, value in policy.items() if key not in {"classes", "loss_regime"}}
    rows = tuple(_settings(rest, "", words))
    if rows:
        columns = (Column(words("column.setting")), Column(words("column.value")))
        blocks.append(Table("settings-table", words("table.settings"), columns, rows))
    return Section("policy", words("section.policy"), tuple(blocks))


def _class_table(classes: list[Json], words: Words) -> Table:
    keys = list(dict.fromkeys(str(key) for row in classes for key in row if row[key] is not None))
    numbers = {
        key
        for key in keys
        if all(isinstance(row.get(key), int | float) and not isinstance(row.get(key), bool) for row in classes)
    }
    return Table(
        "class-table",
        words("table.classes"),
        tuple(Column(words.name("class_key", key), key in numbers) for key in keys),
        tuple(tuple(named(words, key, row.get(key)) for key in keys) for row in classes),
    )


def _settings(tree: Mapping[str, Any], prefix: str, words: Words, depth: int = 1) -> Iterator[tuple[str, str]]:
    """Settings as (dotted path, value); lists of objects and what lies deeper are counted, not shown."""
    for key, value in tree.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and value and depth < POLICY_DEPTH:
            yield from _settings(value, f"{path}.", words, depth + 1)
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            yield path, words("policy.entries", n=len(value))
        else:
            yield path, named(words, str(key), value)
