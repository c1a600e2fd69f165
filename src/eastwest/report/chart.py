"""Charts as our own SVG: points and lines over two axes, with titles, units, a legend and a text alternative inside.

The same text stands in a page, where it follows the page's colours, or alone as a file. Series differ by colour (Okabe
and Ito 2008) and by the shape of their marks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from zlib import crc32

from eastwest.report.fabric_picture import fitted
from eastwest.report.figures import PALETTE

# Geometry in SVG user units (CSS pixels at full size); chosen by eye.
WIDTH, PLOT_HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 84, 20, 34, 56
LEGEND_ROW, LEGEND_COLUMN, MARK = 20, 180, 4.0
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "plus", "star")
MOST_TICKS = 9
STYLE = (
    "svg.chart{font:12px system-ui,sans-serif;background:var(--paper,#fff)}"
    "svg.chart text{fill:var(--ink,#1b1f24)}svg.chart .axis{stroke:var(--faint,#59636e);fill:none}"
    "svg.chart .grid{stroke:var(--line,#d1d7de);fill:none}svg.chart .band{fill:var(--line,#d1d7de);opacity:.55}"
    "svg.chart .rule{stroke:var(--ink,#1b1f24);fill:none}svg.chart .small{font-size:11px}"
    "svg.chart .title{font-weight:600;font-size:13px}"
)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its title with the unit, its ends in data units, ticks as (value, label), logarithmic or linear."""

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    is_log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies between the ends, 0 to 1; values outside are drawn at the end."""
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.is_log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return (at - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one kind as (x, y, name of the point), drawn as marks, joined by a line when `joined`."""

    name: str
    points: tuple[tuple[float, float, str], ...]
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line from (x, y) to (x, y) in data units, with words at its left end; `dashed` for a limit."""

    start: tuple[float, float]
    end: tuple[float, float]
    label: str = ""
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: title, text alternative, axes, series, rules, and bands as polygons of (x, y)."""

    title: str
    alt: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    rules: tuple[Rule, ...] = ()
    bands: tuple[tuple[tuple[float, float], ...], ...] = ()
    height: int = PLOT_HEIGHT
    left: int = LEFT


@dataclass(slots=True)
class _Sheet:
    """The drawing under way."""

    chart: Chart
    parts: list[str] = field(default_factory=list)

    def x(self, value: float) -> float:
        return self.chart.left + self.chart.x.share(value) * (WIDTH - self.chart.left - RIGHT)

    def y(self, value: float) -> float:
        return TOP + (1 - self.chart.y.share(value)) * self.chart.height

    def line(self, points: Sequence[tuple[float, float]], css: str, style: str = "") -> None:
        """A path in pixels."""
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        extra = f' style="{style}"' if style else ""
        self.parts.append(f'<path class="{css}"{extra} d="M{path}"/>')

    def text(self, x: float, y: float, words: str, anchor: str = "middle", css: str = "", turn: str = "") -> None:
        """A text at a point in pixels."""
        extra = f' class="{css}"' if css else ""
        extra += f' transform="{turn}"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(words)}</text>')


def draw(chart: Chart) -> str:
    """The chart as one `<svg>` element that also stands alone as a file."""
    sheet = _Sheet(chart)
    for band in chart.bands:
        path = "L".join(f"{sheet.x(x):.1f} {sheet.y(y):.1f}" for x, y in band)
        sheet.parts.append(f'<path class="band" d="M{path}Z"/>')
    _axes(sheet)
    sheet.text(chart.left, TOP - 14, fitted(chart.title, WIDTH - chart.left - RIGHT), "start", "title")
    for rule in chart.rules:
        _rule(sheet, rule)
    for index, series in enumerate(chart.series):
        _series(sheet, series, index)
    legend = _legend(sheet)
    height = TOP + chart.height + BOTTOM + legend
    name = f"chart-{crc32(f'{chart.title} {chart.alt}'.encode()):08x}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" aria-labelledby="{name}-title {name}-text">'
        f'<title id="{name}-title">{escape(chart.title)}</title><desc id="{name}-text">{escape(chart.alt)}</desc>'
        f"<style>{STYLE}</style>{''.join(sheet.parts)}</svg>"
    )


def _axes(sheet: _Sheet) -> None:
    chart, floor = sheet.chart, TOP + sheet.chart.height
    for value, label in chart.x.ticks:
        at = sheet.x(value)
        sheet.line([(at, TOP), (at, floor)], "grid")
        sheet.text(at, floor + 18, label, css="small")
    for value, label in chart.y.ticks:
        at = sheet.y(value)
        sheet.line([(chart.left, at), (WIDTH - RIGHT, at)], "grid")
        sheet.text(chart.left - 8, at + 4, label, "end", "small")
    sheet.line([(chart.left, TOP), (chart.left, floor), (WIDTH - RIGHT, floor)], "axis")
    sheet.text((chart.left + WIDTH - RIGHT) / 2, floor + 42, chart.x.title)
    if chart.y.title:
        middle = TOP + chart.height / 2
        sheet.text(18, middle, chart.y.title, turn=f"rotate(-90 18 {middle:.0f})")


def _rule(sheet: _Sheet, rule: Rule) -> None:
    start, end = (sheet.x(rule.start[0]), sheet.y(rule.start[1])), (sheet.x(rule.end[0]), sheet.y(rule.end[1]))
    sheet.line([start, end], "rule", "stroke-dasharray:6 4" if rule.dashed else "")
    if rule.label:
        sheet.text(start[0] + 4, start[1] - 5, rule.label, "start", "small")


def _series(sheet: _Sheet, series: Series, index: int) -> None:
    colour = PALETTE[index % len(PALETTE)]
    if series.joined and len(series.points) > 1:
        sheet.line([(sheet.x(x), sheet.y(y)) for x, y, _ in series.points], "", f"stroke:{colour};fill:none")
    for x, y, name in series.points:
        sheet.parts.append(_mark(sheet.x(x), sheet.y(y), index, name))


def _mark(x: float, y: float, index: int, name: str) -> str:
    """One mark with the point's name as its tip."""
    turn = index // len(PALETTE)  # past the seventh series a colour comes back with another shape
    colour, shape, r = PALETTE[index % len(PALETTE)], SHAPES[(index + turn) % len(SHAPES)], MARK
    tip = f"<title>{escape(name)}</title>" if name else ""
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{colour}" fill-opacity=".75">{tip}</circle>'
    corners = {
        "square": f"M{x - r:.1f} {y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}Z",
        "triangle": f"M{x:.1f} {y - r:.1f}l{r} {2 * r}h{-2 * r}Z",
        "diamond": f"M{x:.1f} {y - r:.1f}l{r} {r}l{-r} {r}l{-r} {-r}Z",
        "cross": f"M{x - r:.1f} {y - r:.1f}l{2 * r} {2 * r}m0 {-2 * r}l{-2 * r} {2 * r}",
        "plus": f"M{x - r:.1f} {y:.1f}h{2 * r}m{-r} {-r}v{2 * r}",
        "star": f"M{x - r:.1f} {y:.1f}h{2 * r}m{-r} {-r}v{2 * r}m{-r} {-2 * r}l{2 * r} {2 * r}",
    }
    is_open = shape in ("cross", "plus", "star")
    paint = f'stroke="{colour}" stroke-width="1.6" fill="none"' if is_open else f'fill="{colour}" fill-opacity=".75"'
    return f'<path d="{corners[shape]}" {paint}>{tip}</path>'


def _legend(sheet: _Sheet) -> int:
    """The names of the series under the chart; the height that they take."""
    named = [(index, series) for index, series in enumerate(sheet.chart.series) if series.name]
    columns = max(1, (WIDTH - LEFT) // LEGEND_COLUMN)
    top = TOP + sheet.chart.height + BOTTOM + 6
    for place, (index, series) in enumerate(named):
        x, y = LEFT + (place % columns) * LEGEND_COLUMN, top + (place // columns) * LEGEND_ROW
        sheet.parts.append(_mark(x, y, index, ""))
        sheet.text(x + 12, y + 4, fitted(series.name, LEGEND_COLUMN - 24), "start", "small")
    return -(-len(named) // columns) * LEGEND_ROW


def log_axis(title: str, values: Sequence[float], label: str = "{:g}") -> Axis:
    """A logarithmic axis over positive values, with a tick at each power of ten, or at 1, 2 and 5 when few."""
    low, high = min(values), max(values)
    low, high = low / 1.15, high * 1.15
    tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if len(tens) > 4 else (1, 2, 5)
    found = tuple((step * 10.0**power, label.format(step * 10.0**power)) for power in tens for step in steps)
    return Axis(title, low, high, tuple(tick for tick in found if low <= tick[0] <= high), True)


def size_axis(title: str, sizes: Sequence[float]) -> Axis:
    """A logarithmic axis of message sizes, with ticks at powers of two."""
    low, high = min(sizes) / 1.2, max(sizes) * 1.2
    powers = [power for power in range(0, 60) if low <= 2.0**power <= high]
    every = max(1, -(-len(powers) // MOST_TICKS))
    ticks = tuple((2.0**power, _size(power)) for power in powers if (powers[-1] - power) % every == 0)
    return Axis(title, low, high, ticks, True)


def _size(power: int) -> str:
    unit = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")[power // 10]
    return f"{2 ** (power % 10)} {unit}"


def linear_axis(title: str, low: float, high: float, scale: float = 1.0) -> Axis:
    """A linear axis with round ticks; labels are values times `scale`."""
    span = (high - low) * scale
    step = 10.0 ** math.floor(math.log10(span / 4)) if span > 0 else 1.0
    step = next(step * factor for factor in (1, 2, 5, 10) if span / (step * factor) <= MOST_TICKS)
    return Axis(title, low, high, tuple(_round_ticks(low, high, step, scale)))


def _round_ticks(low: float, high: float, step: float, scale: float) -> Iterator[tuple[float, str]]:
    for index in range(math.ceil(low * scale / step), math.floor(high * scale / step) + 1):
        yield index * step / scale, f"{index * step:g}"
