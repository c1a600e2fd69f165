"""The trade of slicing as a picture: size and number of messages against the seconds that show, by cut and job."""

from __future__ import annotations

from typing import Any

from eastwest import units
from eastwest.report.blocks import Figure, FigureData
from eastwest.report.figures import BLUE, GREEN, ORANGE, VERMILION, bar_layout, plotly_text
from eastwest.report.values import Json, number, rows_at
from eastwest.report.wording import Words

COLUMNS = ("cut", "value", "message_bytes", "messages", "exposed_s", "step_time_s", "is_built")
HEIGHT_PX = 320
GRID = "rgba(128,128,128,0.3)"


def slicing_figures(job: str, prediction: Json, words: Words) -> list[Figure]:
    """One picture for each cut that has a curve."""
    return [_figure(job, curve, words) for curve in rows_at(prediction, "slicing") if rows_at(curve, "points")]


def _figure(job: str, curve: Json, words: Words) -> Figure:
    points, cut = rows_at(curve, "points"), words.name("cut", curve.get("cut"))
    best = _value(curve, number(curve.get("crossover")) or 0.0)
    first, last = points[0], points[-1]
    built = next((point for point in points if point.get("is_built")), first)
    alt = words(
        "figure.slicing.alt",
        cut=cut,
        first=_point(curve, first),
        last=_point(curve, last),
        built=_point(curve, built),
        best=best,
    )
    return Figure(
        key=f"slicing-{curve.get('cut')}-{job or 'job'}",
        title=words("figure.slicing.title", job=job or words("prediction.all"), cut=cut),
        alt=alt,
        data=FigureData(COLUMNS, tuple(tuple(point.get(name) for name in COLUMNS) for point in points)),
        plotly=_plotly(curve, points, words),
    )


def _plotly(curve: Json, points: list[Json], words: Words) -> dict[str, Any]:
    names = [plotly_text(_value(curve, number(point.get("value")) or 0.0)) for point in points]
    series = (("exposed_s", BLUE, "y"), ("message_bytes", ORANGE, "y2"), ("messages", GREEN, "y2"))
    traces = [_trace(name, colour, axis, names, points, words) for name, colour, axis in series]
    built = [index for index, point in enumerate(points) if point.get("is_built")]
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": words("figure.slicing.built"),
            "x": [names[index] for index in built],
            "y": [number(points[index].get("exposed_s")) for index in built],
            "marker": {"size": 13, "symbol": "circle-open", "color": VERMILION, "line": {"width": 3}},
            "hovertemplate": "%{x}: %{y:.4s}s<extra></extra>",
        }
    )
    layout = bar_layout(1, words.name("cut", curve.get("cut")), legend=True, suffix="", margin_right=80)
    layout |= {
        "height": HEIGHT_PX,
        "xaxis": {"title": {"text": plotly_text(words.name("cut", curve.get("cut")))}, "type": "category"},
        "yaxis": {"title": {"text": words("figure.slicing.exposed_s")}, "rangemode": "tozero", "gridcolor": GRID},
        "yaxis2": {
            "title": {"text": words("figure.slicing.axis")},
            "type": "log",
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "tickformat": "~s",
        },
    }
    return {"data": traces, "layout": layout}


def _trace(name: str, colour: str, axis: str, names: list[str], points: list[Json], words: Words) -> dict[str, Any]:
    label = plotly_text(words(f"figure.slicing.{name}"))
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": label,
        "x": names,
        "y": [number(point.get(name)) or None for point in points],
        "yaxis": axis,
        "line": {"color": colour, "dash": "solid" if axis == "y" else "dot"},
        "hovertemplate": "%{x}: %{y:.4s}<extra>" + label + "</extra>",
    }


def _point(curve: Json, point: Json) -> str:
    exposed = units.format_time(number(point.get("exposed_s")) or 0.0)
    return f"{_value(curve, number(point.get('value')) or 0.0)}: {exposed}"


def _value(curve: Json, value: float) -> str:
    return units.format_size(value) if curve.get("unit") == "bytes" else f"{value:g}"
