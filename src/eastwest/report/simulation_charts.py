"""Pictures of a simulated scenario: completion times, load of each tier over time, who computes and waits in a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any
from zlib import crc32

import numpy as np

from eastwest.report.blocks import Figure, FigureData
from eastwest.report.chart import STYLE, Chart, Series, draw, linear_axis, log_axis
from eastwest.report.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from eastwest.report.wording import Words
from eastwest.simulate.network import Level
from eastwest.simulate.result import SimResult
from eastwest.units import BITS_PER_BYTE, PS_PER_S, format_percent, format_time

MOST_STEPS = 200  # points of one curve
MOST_COLUMNS = 60  # of the heat map
MOST_CURVES = 7
LEFT, RIGHT, TOP, ROW, GAP = 120, 20, 34, 22, 4  # pixels of the drawings made of rectangles
WIDTH = 760
PARTS = {"compute": BLUE, "tp": ORANGE, "cp": SKY, "ep": PURPLE, "pp": GREEN, "dp": VERMILION, "bubble": GREY}
LIGHT, DARK = (247, 251, 255), (8, 48, 107)  # ends of the scale of loads: lightness alone tells them apart


def completion_times(result: SimResult, words: Words) -> Figure | None:
    """Share of the flows that have ended after so many seconds, a curve for each traffic; None before any has."""
    curves, rows = [], []
    for number, name in enumerate(result.traffics[:MOST_CURVES]):
        fct = np.sort(result.flows.fct_ps[(result.flows.traffic == number) & (result.flows.fct_ps > 0)]) / PS_PER_S
        if not len(fct):
            continue
        picks = np.unique(np.linspace(0, len(fct) - 1, min(len(fct), MOST_STEPS)).astype(np.int64))
        points = [(float(fct[pick]), (int(pick) + 1) / len(fct)) for pick in picks]
        curves.append(Series(name, tuple((x, y, f"{name}: {format_time(x, 3)}, {y:.1%}") for x, y in points), True))
        rows += [(name, x, y) for x, y in points]
    if not rows:
        return None
    times = [x for _, x, _ in rows]
    x, y = log_axis(words("simulated.fct_s"), times), linear_axis(words("simulated.share"), 0.0, 1.0, 100.0)
    title = words("simulated.fct")
    low, middle, high = (format_time(float(value), 3) for value in np.percentile(times, (0, 50, 100)))
    alt = words("simulated.fct_alt", n=f"{len(result.flows):,}", low=low, middle=middle, high=high)
    data = FigureData(("traffic", "fct_s", "share_ratio"), tuple(rows))
    return Figure("completion-times", title, alt, data, svg=draw(Chart(title, alt, x, y, tuple(curves))))


def load_map(result: SimResult, words: Words) -> Figure | None:
    """Mean and greatest load of the links of each tier over time; None when bytes in time were not recorded."""
    series, bin_ps = result.links.series_bytes, result.links.bin_ps
    if series is None or not bin_ps or result.time_ps <= 0:
        return None
    n_bins = min(series.shape[1], -(-result.time_ps // bin_ps))
    wide = -(-n_bins // MOST_COLUMNS)
    starts = np.arange(0, n_bins, wide)
    sums = np.add.reduceat(series[:, :n_bins], starts, axis=1)
    ends = np.minimum((starts + wide) * bin_ps, result.time_ps)
    seconds = (ends - starts * bin_ps) / PS_PER_S
    load = sums * BITS_PER_BYTE / (np.maximum(result.links.rate_bps, 1)[:, None] * seconds)
    level = result.network.links["level"]
    cells: list[tuple[str, list[float]]] = []
    for one in Level:
        used = (level == one) & (result.links.carried_bytes > 0)
        if used.any():
            name = words.name("level", one.name.lower())
            cells.append((words("simulated.mean_of", name=name), load[used].mean(axis=0).tolist()))
            cells.append((words("simulated.most_of", name=name), load[used].max(axis=0).tolist()))
    if not cells:
        return None
    worst = max(cells, key=lambda cell: max(cell[1]))
    title = words("simulated.load")
    most, mean = format_percent(max(worst[1])), format_percent(float(np.mean(cells[0][1])))
    alt = words("simulated.load_alt", worst=worst[0], most=most, first=cells[0][0], mean=mean)
    begins = (starts * bin_ps / PS_PER_S).tolist()
    rows = tuple((name, begin, value) for name, values in cells for begin, value in zip(begins, values, strict=True))
    svg = _heat(title, alt, cells, format_time(result.time_ps / PS_PER_S, 3))
    return Figure("load", title, alt, FigureData(("tier", "begin_s", "load_ratio"), rows), svg=svg)


def step_picture(step: Mapping[str, Any], words: Words) -> Figure | None:
    """What the first GPUs of a step do over time: computation, communication that shows by class, waiting."""
    timeline: Sequence[Mapping[str, Any]] = step.get("timeline", ())
    if not timeline:
        return None
    title = words("simulated.step", job=step["job"])
    cells = sorted({row["cell"] for row in timeline})
    end = max(row["end_s"] for row in timeline)
    alt = words("simulated.step_alt", n=len(cells), time=format_time(end, 3), idle=format_percent(step["idle_ratio"]))
    rows = tuple((row["cell"], row["part"], row["begin_s"], row["end_s"]) for row in timeline)
    data = FigureData(("cell", "part", "begin_s", "end_s"), rows)
    key = f"step-{step['traffic']}"
    return Figure(key, title, alt, data, svg=_gantt(title, alt, cells, timeline, end, words))


def _heat(title: str, alt: str, cells: Sequence[tuple[str, list[float]]], end: str) -> str:
    width = (WIDTH - LEFT - RIGHT) / len(cells[0][1])
    parts = []
    for row, (name, values) in enumerate(cells):
        y = TOP + row * (ROW + GAP)
        parts.append(_text(LEFT - 8, y + 15, name, "end"))
        parts += [
            f'<rect x="{LEFT + index * width:.1f}" y="{y}" width="{width:.2f}" height="{ROW}" '
            f'fill="{_shade(value)}"><title>{value:.1%}</title></rect>'
            for index, value in enumerate(values)
        ]
    floor = TOP + len(cells) * (ROW + GAP) + 14
    parts += [_text(LEFT, floor, "0", "start"), _text(WIDTH - RIGHT, floor, end, "end")]
    for index, share in enumerate((0.0, 0.25, 0.5, 0.75, 1.0)):
        x = LEFT + index * 90
        parts.append(f'<rect x="{x}" y="{floor + 12}" width="16" height="12" fill="{_shade(share)}" stroke="{GREY}"/>')
        parts.append(_text(x + 22, floor + 22, f"{share:.0%}", "start"))
    return _sheet(title, alt, floor + 34, parts)


def _shade(share: float) -> str:
    """A colour from light to dark."""
    part = min(max(share, 0.0), 1.0)
    return "#" + "".join(f"{round(low + (high - low) * part):02x}" for low, high in zip(LIGHT, DARK, strict=True))


def _gantt(
    title: str,
    alt: str,
    cells: Sequence[int],
    timeline: Sequence[Mapping[str, Any]],
    end: float,
    words: Words,
) -> str:
    scale = (WIDTH - LEFT - RIGHT) / max(end, 1e-12)
    place = {cell: TOP + index * (ROW + GAP) for index, cell in enumerate(cells)}
    parts = [_text(LEFT - 8, place[cell] + 15, words("simulated.cell", n=cell), "end") for cell in cells]
    for row in timeline:
        x, width = LEFT + row["begin_s"] * scale, max((row["end_s"] - row["begin_s"]) * scale, 0.2)
        colour = PARTS.get(row["part"], YELLOW)
        seconds = format_time(row["end_s"] - row["begin_s"], 3)
        parts.append(
            f'<rect x="{x:.1f}" y="{place[row["cell"]]}" width="{width:.2f}" height="{ROW}" fill="{colour}">'
            f"<title>{escape(words.name('activity', row['part']))} {seconds}</title></rect>"
        )
    floor = TOP + len(cells) * (ROW + GAP) + 14
    parts += [_text(LEFT, floor, "0", "start"), _text(WIDTH - RIGHT, floor, format_time(end, 3), "end")]
    parts += _legend(dict.fromkeys(row["part"] for row in timeline), floor + 12, words)
    return _sheet(title, alt, floor + 34, parts)


def _legend(used: Mapping[str, None], y: float, words: Words) -> Iterator[str]:
    for index, part in enumerate(used):
        x = LEFT + index * 90
        yield f'<rect x="{x}" y="{y}" width="16" height="12" fill="{PARTS.get(part, YELLOW)}"/>'
        yield _text(x + 22, y + 10, words.name("activity", part), "start")


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="small">{escape(words)}</text>'


def _sheet(title: str, alt: str, height: float, parts: Sequence[str]) -> str:
    """A drawing of rectangles as one `<svg>` element with its text alternative."""
    name = f"picture-{crc32(f'{title} {alt}'.encode()):08x}"
    heading = f'<text x="{LEFT}" y="{TOP - 14}" class="title">{escape(title)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" aria-labelledby="{name}-title {name}-text">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-text">{escape(alt)}</desc>'
        f"<style>{STYLE}</style>{heading}{''.join(parts)}</svg>"
    )
