"""The fabric as a picture in SVG: cores, spines, leaves and servers by room and group, and the links between rooms
with their boxes.

Static and printable; colours come from the page's variables, so that it follows light and dark; rails are told apart
by colour and number.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from html import escape

from eastwest import units
from eastwest.report.blocks import Figure, FigureData
from eastwest.report.fabric_shape import Group, Room, RoomSpan, Shape, shape_of
from eastwest.report.figures import PALETTE, VERMILION
from eastwest.report.values import Json, amount, at, box_label, counted, number, object_at
from eastwest.report.wording import Words

# Geometry in SVG user units (CSS pixels at full size); chosen by eye.
MARGIN, GAP, PAD, ROOM_GAP = 12, 16, 14, 28
BOX_W, BOX_H, BIG_W, BIG_H = 40, 26, 190, 46
SERVER_W, SERVER_H, SERVER_STEP = 15, 10, 18
LEVEL_GAP, TITLE_H, LANE_H = 62, 26, 58
LATIN_PX, WIDE_PX, FONT_PX = 6.6, 12.4, 12
LEAST_WIDTH = 480
DRAWN_SPINES_PER_ROW = 24
_RAIL = re.compile(r"-[rp](\d{1,4})(?:t\d{1,2})?$")  # the end of a leaf's name that says its rail or plane


@dataclass(slots=True)
class _Sheet:
    """The drawing under way: fragments of SVG (lines under boxes under text) and its extent."""

    lines: list[str] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)
    width: float = 0
    height: float = 0

    def line(self, points: list[tuple[tuple[float, float], tuple[float, float]]], css: str, colour: str = "") -> None:
        """Straight links of one kind as one path."""
        path = "".join(f"M{a[0]:g} {a[1]:g}L{b[0]:g} {b[1]:g}" for a, b in points)
        style = f' style="stroke:{colour}"' if colour else ""
        self.lines.append(f'<path class="{css}"{style} d="{path}"/>')

    def box(self, x: float, y: float, w: float, h: float, css: str, *, tip: str = "", colour: str = "") -> None:
        """A rectangle; `tip` is its full name."""
        style = f' style="stroke:{colour}"' if colour else ""
        title = f"<title>{escape(tip)}</title>" if tip else ""
        self.boxes.append(
            f'<rect class="{css}"{style} x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="4">{title}</rect>'
        )

    def text(self, x: float, y: float, text: str, css: str = "", *, room_px: float = 0) -> None:
        """A text centred on x, shortened to `room_px` when given."""
        words = fitted(text, room_px) if room_px else text
        self.boxes.append(f'<text class="{css}" x="{x:g}" y="{y:g}">{escape(words)}</text>')


def fitted(text: str, room_px: float) -> str:
    """A text shortened with an ellipsis to a width in pixels, with Chinese characters counted as wide."""
    used = 0.0
    for index, character in enumerate(text):
        used += WIDE_PX if unicodedata.east_asian_width(character) in "WF" else LATIN_PX
        if used > room_px:
            return text[: max(1, index - 1)] + "…"
    return text


def short_name(leaf: str) -> str:
    """`L12` for `leaf-12`: the number at the end of a name, since the name itself does not fit its box."""
    digits = leaf[len(leaf.rstrip("0123456789")) :]
    return f"L{digits}" if digits else leaf


def leaf_marks(leaves: tuple[str, ...], rails: int) -> list[tuple[str, int | None]]:
    """Label and rail (or plane) of each leaf of a group: from the end of its name (`leaf-r3t2` is R3T2 of rail 3,
    `leaf-p2` is P2), else from its place when every rail has as many leaves; None when a leaf serves several rails.
    """
    named = [_RAIL.search(leaf) for leaf in leaves]
    found = [(match[0].lstrip("-").upper(), int(match[1]) - 1) for match in named if match]
    if leaves and len(found) == len(leaves):
        return list(found)
    if rails > 1 and len(leaves) % rails == 0:
        return [(f"R{index % rails}", index % rails) for index in range(len(leaves))]
    return [(short_name(leaf), None) for leaf in leaves]


def fabric_figure(plan: Json, words: Words) -> Figure | None:
    """The picture of the plan's fabric with its text alternative and its counts as data; None without a fabric."""
    fabric = object_at(plan, "fabric")
    if not fabric:
        return None
    shape = shape_of(fabric)
    alt = _alt(fabric, shape, words)
    return Figure(
        key="fabric",
        title=words("figure.fabric.title"),
        alt=alt,
        data=FigureData(("room", "group", "spines_of_room", "leaves", "servers"), _data(shape)),
        svg=_draw(shape, fabric, words, alt),
    )


def _data(shape: Shape) -> tuple[tuple[object, ...], ...]:
    return tuple(
        (room.name, group.name, room.n_spines, group.n_leaves, group.n_servers)
        for room in shape.rooms
        for group in room.groups
    )


def _alt(fabric: Json, shape: Shape, words: Words) -> str:
    keys = ("leaves", "spines", "cores", "servers", "gpus")
    shown = [key for key in keys if amount(fabric.get(key)) != 0 and (key != "cores" or shape.n_cores)]
    counts = [counted(words, key, fabric.get(key)) for key in shown]
    counts += [words("picture.planes", n=shape.planes)] if shape.planes > 1 else []
    counts += [words("picture.direct", n=f"{shape.n_direct:,}")] if shape.n_direct else []
    parts = [
        words(
            "figure.fabric.alt",
            family=words.name("family", fabric.get("family")),
            counts=words("list_joiner").join(counts),
        )
    ]
    if len(shape.rooms) > 1:
        parts.append(words("figure.fabric.rooms", rooms=words("list_joiner").join(room.name for room in shape.rooms)))
    parts.extend(_span_text(span, words) + words("sentence_end") for span in shape.spans)
    parts.append(words("figure.fabric.detailed" if shape.detailed else "figure.fabric.aggregated"))
    return " ".join(parts)


def _draw(shape: Shape, fabric: Json, words: Words, alt: str) -> str:
    sheet = _Sheet()
    top = MARGIN + (BIG_H + LEVEL_GAP if shape.n_cores else 0)
    centres: dict[str, float] = {}
    spine_points: list[tuple[float, float]] = []
    x, bottom = float(MARGIN), 0.0
    for room in shape.rooms:
        width = _room_width(room, shape)
        spine_points.append((x + width / 2, top + TITLE_H))
        bottom = max(bottom, _draw_room(sheet, room, shape, fabric, words, x, top, width))
        centres[room.name] = x + width / 2
        x += width + ROOM_GAP
    sheet.width, sheet.height = max(LEAST_WIDTH, x - ROOM_GAP + MARGIN), bottom
    _frame_rooms(sheet, shape, centres, top, bottom)
    if shape.n_cores:
        _draw_cores(sheet, shape, fabric, words, spine_points)
    _draw_spans(sheet, shape, words, centres, bottom)
    return _svg(sheet, words, alt)


def _room_width(room: Room, shape: Shape) -> float:
    groups = sum(_group_width(group, shape) for group in room.groups) + GAP * (len(room.groups) - 1)
    spines = min(room.n_spines, DRAWN_SPINES_PER_ROW) * (BOX_W + 6) if shape.detailed else BIG_W
    return max(groups, spines, 220) + 2 * PAD


def _group_width(group: Group, shape: Shape) -> float:
    if not shape.detailed:
        return BIG_W
    return max(len(group.leaves) * (BOX_W + 6), min(group.n_servers or 1, 4) * SERVER_STEP + 2 * PAD, 92)


def _draw_room(
    sheet: _Sheet, room: Room, shape: Shape, fabric: Json, words: Words, x: float, top: float, width: float
) -> float:
    """One room; gives the y below its lowest box."""
    y = top + TITLE_H
    spines = _draw_spines(sheet, room, shape, words, x, y, width) if room.n_spines else []
    spine_height = _spine_rows(room, shape) * (BOX_H + 6) if shape.detailed else BIG_H
    y_leaf = y + (spine_height + LEVEL_GAP if shape.n_spines else 0)
    groups_width = sum(_group_width(group, shape) for group in room.groups) + GAP * (len(room.groups) - 1)
    left, bottom = x + (width - groups_width) / 2, y_leaf
    for group in room.groups:
        group_width = _group_width(group, shape)
        if shape.detailed:
            bottom = max(bottom, _draw_group(sheet, group, shape, words, left, y_leaf, group_width, spines))
        else:
            bottom = max(bottom, _draw_bundle(sheet, group, shape, words, left, y_leaf, spines))
        left += group_width + GAP
    if not shape.detailed and spines:
        total = number(at(fabric, "links", "leaf_spine"))
        if total and len(shape.rooms) == 1:
            sheet.text(x + width / 2, y_leaf - LEVEL_GAP / 2 + 4, words("picture.links", n=f"{int(total):,}"), "halo")
    return bottom + PAD


def _spine_rows(room: Room, shape: Shape) -> int:
    return max(1, -(-room.n_spines // DRAWN_SPINES_PER_ROW)) if shape.detailed else 1


def _draw_spines(
    sheet: _Sheet, room: Room, shape: Shape, words: Words, x: float, y: float, width: float
) -> list[tuple[float, float]]:
    """The spines of a room; gives the points at their lower edges where links start."""
    if not shape.detailed:
        left = x + (width - BIG_W) / 2
        _draw_spine_stack(sheet, shape, words, left, y)
        sheet.text(
            left + BIG_W / 2, y + (20 if shape.planes > 1 else BIG_H / 2 + 4), counted(words, "spines", room.n_spines)
        )
        return [(left + BIG_W / 2, y + BIG_H)]
    points = []
    for index in range(room.n_spines):
        row, column = divmod(index, DRAWN_SPINES_PER_ROW)
        in_row = min(DRAWN_SPINES_PER_ROW, room.n_spines - row * DRAWN_SPINES_PER_ROW)
        left = x + (width - in_row * (BOX_W + 6) + 6) / 2 + column * (BOX_W + 6)
        box_y = y + row * (BOX_H + 6)
        sheet.box(left, box_y, BOX_W, BOX_H, "spine", tip=words("picture.spine", n=index + 1))
        sheet.text(left + BOX_W / 2, box_y + BOX_H / 2 + 4, f"S{index + 1}")
        points.append((left + BOX_W / 2, box_y + BOX_H))
    return points


def _draw_spine_stack(sheet: _Sheet, shape: Shape, words: Words, left: float, y: float) -> None:
    """The box of all spines; of several planes it is a pile that says how many."""
    for shift in (8, 4) if shape.planes > 1 else ():
        sheet.box(left + shift, y - shift, BIG_W, BIG_H, "spine pile")
    sheet.box(left, y, BIG_W, BIG_H, "spine stack")
    if shape.planes > 1:
        sheet.text(left + BIG_W / 2, y + 36, words("picture.planes", n=shape.planes), "small")


def _draw_group(
    sheet: _Sheet,
    group: Group,
    shape: Shape,
    words: Words,
    x: float,
    y: float,
    width: float,
    spines: list[tuple[float, float]],
) -> float:
    """One group in detail: each leaf with its links up, and the servers as small squares under it."""
    n_servers, pitch = group.n_servers or 0, BOX_W + 6
    marks = leaf_marks(group.leaves, shape.rails)
    left = x + (width - len(group.leaves) * pitch + 6) / 2
    y_servers = y + BOX_H + LEVEL_GAP * 0.75
    for index, leaf in enumerate(group.leaves):
        label, rail = marks[index]
        colour = "" if rail is None else PALETTE[rail % len(PALETTE)]
        centre = left + index * pitch + BOX_W / 2
        sheet.box(centre - BOX_W / 2, y, BOX_W, BOX_H, "leaf", tip=leaf, colour=colour)
        sheet.text(centre, y + BOX_H / 2 + 4, label, room_px=BOX_W - 4)
        if spines:
            sheet.line([(spine, (centre, y)) for spine in spines], "mesh", colour)
        sheet.line([((centre, y + BOX_H), (centre, y_servers))], "down", colour)
    per_row = max(1, int((width - PAD) // SERVER_STEP))
    n_rows = -(-n_servers // per_row)
    height = n_rows * (SERVER_H + 4) + 30
    sheet.box(x, y_servers, width, height, "servers", tip=group.name)
    for index in range(n_servers):
        row, column = divmod(index, per_row)
        in_row = min(per_row, n_servers - row * per_row)
        offset = (width - in_row * SERVER_STEP + 3) / 2
        sheet.box(x + offset + column * SERVER_STEP, y_servers + 7 + row * (SERVER_H + 4), SERVER_W, SERVER_H, "server")
    sheet.text(x + width / 2, y_servers + height - 8, counted(words, "servers", n_servers), "small", room_px=width)
    return y_servers + height


def _draw_bundle(
    sheet: _Sheet, group: Group, shape: Shape, words: Words, x: float, y: float, spines: list[tuple[float, float]]
) -> float:
    """One group as two boxes with counts: its leaves over its servers; `more` groups are drawn as a pile."""
    centre, y_servers = x + BIG_W / 2, y + (BIG_H + LEVEL_GAP * 0.75 if group.n_leaves != 0 else TITLE_H)
    for shift in (8, 4) if group.more else ():
        sheet.box(x + shift, y_servers - shift, BIG_W, BIG_H + 16, "servers pile")
    if group.n_leaves != 0:
        _draw_leaves(sheet, group, words, x, y, spines)
    elif shape.n_direct:
        sheet.text(centre, y + 12, words("picture.direct", n=f"{shape.n_direct:,}"))
    sheet.box(x, y_servers, BIG_W, BIG_H + 16, "servers")
    sheet.text(centre, y_servers + 26, counted(words, "servers", group.n_servers))
    if group.n_servers and shape.gpus_per_server:
        sheet.text(centre, y_servers + 46, counted(words, "gpus", group.n_servers * shape.gpus_per_server), "small")
    return y_servers + BIG_H + 16


def _draw_leaves(
    sheet: _Sheet, group: Group, words: Words, x: float, y: float, spines: list[tuple[float, float]]
) -> None:
    """The leaves of a group as one box, with its links up and down."""
    centre = x + BIG_W / 2
    for shift in (8, 4) if group.more else ():
        sheet.box(x + shift, y - shift, BIG_W, BIG_H, "leaf pile")
    sheet.box(x, y, BIG_W, BIG_H, "leaf stack", tip=group.name)
    sheet.text(centre, y + 20, counted(words, "leaves", group.n_leaves))
    name = words("picture.more", n=group.more) if group.more else group.name
    sheet.text(centre, y + 36, name, "small", room_px=BIG_W - 12)
    for spine in spines:
        sheet.line([(spine, (centre, y))], "bundle")
    sheet.line([((centre, y + BIG_H), (centre, y + BIG_H + LEVEL_GAP * 0.75))], "bundle")


def _frame_rooms(sheet: _Sheet, shape: Shape, centres: dict[str, float], top: float, bottom: float) -> None:
    for room in shape.rooms:
        if not room.name:
            continue
        width = _room_width(room, shape)
        left = centres[room.name] - width / 2
        sheet.lines.insert(
            0, f'<rect class="room" x="{left:g}" y="{top:g}" width="{width:g}" height="{bottom - top:g}" rx="8"/>'
        )
        sheet.text(centres[room.name], top + 17, room.name, "strong halo", room_px=width - 16)


def _draw_cores(
    sheet: _Sheet, shape: Shape, fabric: Json, words: Words, spine_points: list[tuple[float, float]]
) -> None:
    centre = sheet.width / 2
    sheet.box(centre - BIG_W / 2, MARGIN, BIG_W, BIG_H, "core stack")
    sheet.text(centre, MARGIN + BIG_H / 2 + 4, counted(words, "cores", shape.n_cores))
    sheet.line([((centre, MARGIN + BIG_H), point) for point in spine_points], "bundle")
    total = number(at(fabric, "links", "spine_core"))
    if total:
        sheet.text(centre, MARGIN + BIG_H + LEVEL_GAP / 2 + 4, words("picture.links", n=f"{int(total):,}"), "halo")


def _draw_spans(sheet: _Sheet, shape: Shape, words: Words, centres: dict[str, float], bottom: float) -> None:
    """Links between rooms as lanes below the rooms, each with its boxes and what it carries."""
    y = bottom + LANE_H * 0.6
    for index, span in enumerate(span for span in shape.spans if set(span.rooms) <= set(centres)):
        shift = 10 * index
        start, end = (centres[name] + shift for name in span.rooms)
        sheet.line([((start, bottom), (start, y)), ((start, y), (end, y)), ((end, y), (end, bottom))], "span")
        middle = (start + end) / 2
        n_boxes = len(span.boxes)
        for number_, (name, kind, limit) in enumerate(span.boxes):
            at_x = middle + (number_ - (n_boxes - 1) / 2) * (BIG_W * 0.7)
            sheet.box(at_x - 60, y - 13, 120, BOX_H, "box", tip=name, colour=VERMILION if limit else "")
            sheet.text(at_x, y + 4, name or box_label(words, kind, name), "small", room_px=112)
        sheet.text(middle, y + 30, _span_text(span, words), "small halo")
        y += LANE_H
    sheet.height = (y if shape.spans else bottom) + MARGIN


def _span_text(span: RoomSpan, words: Words) -> str:
    """`room a – room b: 10 km, 8 × 400G, through a firewall (100G limit)`."""
    missing = words("not_given")
    text = words(
        "picture.span",
        a=span.rooms[0] or missing,
        b=span.rooms[1] or missing,
        distance=missing if span.distance_m is None else units.format_length(span.distance_m),
        links=missing if span.n_links is None else f"{span.n_links:,}",
        rate=missing if span.rate_bps is None else units.format_rate(span.rate_bps),
    )
    for name, kind, limit in span.boxes:
        label = box_label(words, kind, name)
        text += (
            words("picture.box", box=label)
            if limit is None
            else words("picture.box_limit", box=label, rate=units.format_rate(limit))
        )
    return text


def _svg(sheet: _Sheet, words: Words, alt: str) -> str:
    width, height = sheet.width, sheet.height
    return (
        f'<svg class="fabric" role="img" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'font-size="{FONT_PX}" text-anchor="middle" aria-label="{escape(alt)}">'
        f"<title>{escape(words('figure.fabric.title'))}</title>{''.join(sheet.lines)}{''.join(sheet.boxes)}</svg>"
    )
