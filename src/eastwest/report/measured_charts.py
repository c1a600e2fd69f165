"""Charts of measured against predicted: scatter with its band, residuals by source, busbw over size with ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from eastwest.accept.results import size_name
from eastwest.report.blocks import Figure, FigureData
from eastwest.report.chart import Axis, Chart, Rule, Series, draw, linear_axis, log_axis, size_axis
from eastwest.report.fabric_picture import fitted
from eastwest.report.wording import Words
from eastwest.units import GIGA

BAND_RATIO = 0.10  # shown around the diagonal
MOST_RESIDUAL = 0.6  # a larger one is drawn at the edge
MOST_SOURCES = 24
SQUARE_PX = 600  # of a scatter's height: as high as wide
SOURCE_ROW_PX, SOURCE_LEFT_PX, FRAME_PX = 22, 260, 20


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement: its name, family, source, seconds predicted and measured."""

    name: str
    family: str
    source: str
    predicted_s: float
    measured_s: float


def scatter(points: Sequence[Measured], words: Words) -> Figure:
    """Predicted over measured seconds, both logarithmic, with the diagonal and ±10 % around it, by family."""
    values = [value for point in points for value in (point.predicted_s, point.measured_s)]
    x, y = log_axis(words("chart.measured_s"), values), log_axis(words("chart.predicted_s"), values)
    low, high = x.low, x.high
    families = dict.fromkeys(point.family for point in points)
    series = tuple(
        Series(
            name,
            tuple(
                (p.measured_s, p.predicted_s, f"{p.name}: {p.predicted_s:.4g} s / {p.measured_s:.4g} s")
                for p in points
                if p.family == name
            ),
        )
        for name in families
    )
    inside = sum(abs(p.predicted_s / p.measured_s - 1) <= BAND_RATIO for p in points)
    alt = words(
        "chart.scatter_alt", n=len(points), families=len(families), inside=inside, share=f"{inside / len(points):.0%}"
    )
    up, down = 1 + BAND_RATIO, 1 - BAND_RATIO
    band = ((low, low), (low / down, low), (high, high * down), (high, high), (high / up, high), (low, low * up))
    edges = (Rule(band[1], band[2], dashed=True), Rule(band[5], band[4], dashed=True))
    title = words("chart.scatter")
    chart = Chart(title, alt, x, y, series, (Rule((low, low), (high, high)), *edges), (band,), SQUARE_PX)
    rows = tuple((p.name, p.family, p.source, p.measured_s, p.predicted_s) for p in points)
    data = FigureData(("id", "family", "source", "measured_s", "predicted_s"), rows)
    return Figure("scatter", title, alt, data, svg=draw(chart))


def residuals(points: Sequence[Measured], words: Words) -> Figure:
    """Predicted over measured less 1 of every row, a line for each source, worst median first."""
    by_source: dict[str, list[tuple[float, str]]] = {}
    for point in points:
        by_source.setdefault(point.source, []).append((point.predicted_s / point.measured_s - 1, point.name))
    medians = {name: median(value for value, _ in rows) for name, rows in by_source.items()}
    shown = sorted(by_source, key=lambda name: -abs(medians[name]))[:MOST_SOURCES]
    places = {name: len(shown) - index for index, name in enumerate(shown)}
    dots = tuple(
        (value, float(places[name]), f"{row}: {value:+.1%}") for name in shown for value, row in by_source[name]
    )
    marks = tuple((medians[name], float(places[name]), f"{name}: {medians[name]:+.1%}") for name in shown)
    ticks = tuple((float(places[name]), fitted(short_source(name), SOURCE_LEFT_PX - 20)) for name in shown)
    worst = shown[0]
    title = words("chart.residuals")
    alt = words("chart.residuals_alt", n=len(shown), worst=worst, value=f"{medians[worst]:+.1%}")
    x = linear_axis(words("chart.residual_axis"), -MOST_RESIDUAL, MOST_RESIDUAL, 100.0)
    y = Axis("", 0.4, len(shown) + 0.6, ticks)
    band = ((-BAND_RATIO, 0.4), (BAND_RATIO, 0.4), (BAND_RATIO, y.high), (-BAND_RATIO, y.high))
    series = (Series(words("chart.row"), dots), Series(words("chart.median"), marks))
    height = SOURCE_ROW_PX * len(shown) + FRAME_PX
    chart = Chart(title, alt, x, y, series, (Rule((0.0, 0.4), (0.0, y.high)),), (band,), height, SOURCE_LEFT_PX)
    rows = tuple((p.source, p.name, p.predicted_s / p.measured_s - 1) for p in points)
    return Figure("residuals", title, alt, FigureData(("source", "id", "residual_ratio"), rows), svg=draw(chart))


def short_source(name: str) -> str:
    """A source without host and owner: its end tells releases of one repository apart.

    >>> short_source("github:NVIDIA-NeMo/Megatron-Bridge 26.04")
    'Megatron-Bridge 26.04'
    """
    return name.rpartition("/")[2] if name.startswith("github:") else name


@dataclass(frozen=True, slots=True)
class BusCurve:
    """One curve of a benchmark: sizes with bus bandwidth out of place and in place (None: not printed), its ceiling."""

    key: str
    name: str
    points: Sequence[tuple[int, float, float | None]]
    ceiling_name: str
    ceiling_bytes_per_s: float | None
    limits: Mapping[str, float]


def bus_curve(curve: BusCurve, words: Words) -> Figure:
    """Bus bandwidth over message size, with the ceiling and the limits of PASS and FAIL."""
    sizes = [float(size) for size, _, _ in curve.points]
    blocks = {
        "chart.out_of_place": tuple(
            (float(s), out / GIGA, f"{s:,} B: {out / GIGA:.4g} GB/s") for s, out, _ in curve.points
        ),
        "chart.in_place": tuple(
            (float(s), own / GIGA, f"{s:,} B: {own / GIGA:.4g} GB/s") for s, _, own in curve.points if own is not None
        ),
    }
    series = tuple(Series(words(key), points, joined=True) for key, points in blocks.items() if points)
    ceiling = (curve.ceiling_bytes_per_s or 0.0) / GIGA
    best = max(value for points in blocks.values() for _, value, _ in points)
    x = size_axis(words("chart.size"), sizes)
    y = linear_axis(words("chart.busbw_axis"), 0.0, 1.08 * max(best, ceiling, 1e-9))
    rules = []
    if ceiling:
        label = words("chart.ceiling", name=curve.ceiling_name, value=f"{ceiling:.4g}")
        rules.append(Rule((x.low, ceiling), (x.high, ceiling), label))
        rules += [
            Rule((x.low, share * ceiling), (x.high, share * ceiling), f"{word} {share:.0%}", dashed=True)
            for word, share in curve.limits.items()
            if share < 1
        ]
    last = curve.points[-1]
    alt = words("chart.busbw_alt", name=curve.name, n=len(sizes), last=f"{last[1] / GIGA:.4g}", size=size_name(last[0]))
    if ceiling:
        alt += " " + words("chart.busbw_share", share=f"{last[1] / GIGA / ceiling:.0%}", value=f"{ceiling:.4g}")
    title = words("chart.busbw", name=curve.name)
    data = FigureData(("size_bytes", "out_of_place_bytes_per_s", "in_place_bytes_per_s"), tuple(curve.points))
    return Figure(curve.key, title, alt, data, svg=draw(Chart(title, alt, x, y, series, tuple(rules))))
