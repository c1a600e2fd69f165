"""Figures as plain Plotly JSON (`{"data": [...], "layout": {...}}`): the account as a Sankey, memory by term, bytes
by tier.

Plotly's Python objects are not imported: they take longer to load than a plan takes to compute. Colours: Okabe and
Ito (2008),
"Color Universal Design", told apart with any colour vision; past the seventh the hatching differs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from html import escape
from typing import Any

from eastwest import units
from eastwest.report.blocks import Figure, FigureData
from eastwest.report.values import Json, at, number, rows_at, share_text
from eastwest.report.wording import Words

ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = (
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
GREY = "#8A8F98"
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW)
HATCHES = ("", "/", "x", ".")
TIERS = ("local", "scale_up", "leaf", "spine", "core", "room", "storage")
TIER_COLOURS = {
    "local": GREY,
    "scale_up": GREEN,
    "leaf": SKY,
    "spine": ORANGE,
    "core": VERMILION,
    "room": PURPLE,
    "storage": YELLOW,
}
# Sizes of the drawing, in CSS pixels; chosen by eye.
SANKEY_ROW_PX, SANKEY_LEAST_PX, BAR_ROW_PX, BAR_FRAME_PX = 44, 150, 46, 120
FONT_PX = 13
LINK_OPACITY = 0.45
INSIDE_SERVER = frozenset({"local", "scale_up"})
NETWORK_HIDDEN_BELOW = 0.5  # below this share of all bytes the network's flows get a picture of their own
Flows = dict[tuple[str, str, str], float]  # (job, traffic class, tier) -> bytes


def account_figures(plan: Json, words: Words) -> tuple[Figure, ...]:
    """One Sankey of job → traffic class → tier for each period (step, token, request, checkpoint), in bytes over all
    GPUs.

    Bytes of different periods are not added up: they have no common time. A ledger row without bytes per tier is not
    drawn.
    """
    by_per: dict[str, list[Json]] = defaultdict(list)
    for row in rows_at(plan, "ledger"):
        if tier_bytes_of(row):
            by_per[str(row.get("per") or "step")].append(row)
    figures: list[Figure] = []
    for per, rows in by_per.items():
        flows = _flows(rows)
        figures.append(_sankey(f"account-{per}", "figure.account.title", per, flows, words))
        network = {key: size for key, size in flows.items() if key[2] not in INSIDE_SERVER}
        if network and sum(network.values()) < NETWORK_HIDDEN_BELOW * sum(flows.values()):
            figures.append(_sankey(f"account-{per}-network", "figure.account.network_title", per, network, words))
    return tuple(figures)


def tier_bytes_of(row: Json) -> dict[str, float]:
    """Bytes of one ledger row by tier, over all GPUs; tiers without traffic are left out."""
    found = at(row, "tier_bytes")
    if not isinstance(found, Mapping):
        return {}
    sizes = {str(tier): number(size) for tier, size in found.items()}
    return {tier: size for tier, size in sizes.items() if size and size > 0}


def _flows(rows: list[Json]) -> Flows:
    """Bytes by (job, traffic class, tier), summed over the rows of one period."""
    flows: Flows = defaultdict(float)
    for row in rows:
        for tier, size in tier_bytes_of(row).items():
            flows[str(row.get("job") or "job"), str(row.get("traffic") or "?"), tier] += size
    return dict(flows)


def _sankey(key: str, title: str, per: str, flows: Flows, words: Words) -> Figure:
    """The Sankey of one period."""
    inner: dict[tuple[str, str], float] = defaultdict(float)
    for (job, traffic, _), size in flows.items():
        inner[job, traffic] += size
    nodes, links = _SankeyNodes(), []
    for (job, traffic), size in inner.items():
        start = nodes.of(("job", job), job, GREY)
        links.append((start, nodes.of(("traffic", job, traffic), words.name("traffic", traffic), BLUE), size, GREY))
    for (job, traffic, tier), size in sorted(flows.items(), key=lambda item: _tier_order(item[0][2])):
        colour = TIER_COLOURS.get(tier, GREY)
        end = nodes.of(("tier", tier), words.name("tier", tier), colour)
        links.append((nodes.of(("traffic", job, traffic), "", BLUE), end, size, colour))
    per_word = words.name("per", per)
    rows = tuple((*flow, size) for flow, size in flows.items())
    return Figure(
        key=key,
        title=words(title, per=per_word),
        alt=_sankey_alt(flows, per_word, words),
        data=FigureData(("job", "traffic", "tier", f"bytes_per_{per}"), rows),
        plotly=_sankey_json(nodes, links),
    )


class _SankeyNodes:
    """Node numbers by identity, with their labels and colours, in order of first use."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, ...], int] = {}
        self.labels: list[str] = []
        self.colours: list[str] = []

    def of(self, identity: tuple[str, ...], label: str, colour: str) -> int:
        """The number of a node, made at its first use."""
        if identity not in self.numbers:
            self.numbers[identity] = len(self.labels)
            self.labels.append(plotly_text(label))
            self.colours.append(colour)
        return self.numbers[identity]


def plotly_text(text: str) -> str:
    """A text that Plotly draws as it is: Plotly reads tags and entities in labels, so they are escaped."""
    return escape(text, quote=False)


def _sankey_json(nodes: _SankeyNodes, links: list[tuple[int, int, float, str]]) -> dict[str, Any]:
    totals = [0.0] * len(nodes.labels)
    for node in range(len(totals)):
        totals[node] = max(sum(x[2] for x in links if x[0] == node), sum(x[2] for x in links if x[1] == node))
    labels = [f"{label} · {units.format_size(size)}" for label, size in zip(nodes.labels, totals, strict=True)]
    columns: dict[str, int] = defaultdict(int)
    for identity in nodes.numbers:
        columns[identity[0]] += 1
    trace = {
        "type": "sankey",
        "arrangement": "snap",
        "valueformat": ".4s",
        "valuesuffix": "B",
        "node": {"label": labels, "color": nodes.colours, "pad": 22, "thickness": 16, "line": {"width": 0}},
        "link": {
            "source": [link[0] for link in links],
            "target": [link[1] for link in links],
            "value": [link[2] for link in links],
            "color": [_faint(link[3]) for link in links],
        },
    }
    height = max(SANKEY_LEAST_PX, SANKEY_ROW_PX * max(columns.values()) + BAR_ROW_PX)
    return {"data": [trace], "layout": _layout(height, margin={"l": 8, "r": 8, "t": 16, "b": 16})}


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{LINK_OPACITY})"


def _sankey_alt(outer: Flows, per_word: str, words: Words) -> str:
    total = sum(outer.values())
    tiers: dict[str, float] = defaultdict(float)
    for (_, _, tier), size in outer.items():
        tiers[tier] += size
    ordered = sorted(tiers.items(), key=lambda item: _tier_order(item[0]))
    shares = [
        words(
            "figure.account.share",
            tier=words.name("tier", tier),
            size=units.format_size(size),
            share=share_text(size / total),
        )
        for tier, size in ordered
    ]
    (job, traffic, _), size = max(outer.items(), key=lambda item: item[1])
    return words(
        "figure.account.alt",
        per=per_word,
        total=units.format_size(total),
        shares=words("list_joiner").join(shares),
        traffic=words.name("traffic", traffic),
        job=job,
        size=units.format_size(size),
    )


def memory_figure(plan: Json, words: Words) -> Figure | None:
    """Bytes of the fullest GPU of each job by term, stacked, with the GPU's capacity as a mark; None without a memory
    model.
    """
    jobs = [job for job in rows_at(plan, "jobs") if rows_at(job, "memory", "terms")]
    if not jobs:
        return None
    names = [str(job.get("name") or "job") for job in jobs]
    terms = list(dict.fromkeys(str(term.get("name")) for job in jobs for term in rows_at(job, "memory", "terms")))
    traces = [_memory_trace(index, term, jobs, names, words) for index, term in enumerate(terms)]
    marks = [number(at(job, "memory", "capacity_bytes")) for job in jobs]
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": words("memory.capacity"),
            "x": marks,
            "y": [plotly_text(name) for name in names],
            "marker": {"symbol": "line-ns", "size": 34, "color": GREY, "line": {"width": 3, "color": VERMILION}},
            "hovertemplate": "%{x:.4s}B<extra>" + words("memory.capacity") + "</extra>",
        }
    )
    rows = tuple(
        (name, str(term.get("name")), number(term.get("size_bytes")), mark)
        for name, job, mark in zip(names, jobs, marks, strict=True)
        for term in rows_at(job, "memory", "terms")
    )
    return Figure(
        key="memory",
        title=words("figure.memory.title"),
        alt=" ".join(memory_sentence(job, words) for job in jobs),
        data=FigureData(("job", "term", "size_bytes", "capacity_bytes"), rows),
        plotly={
            "data": traces,
            "layout": bar_layout(len(jobs), words("figure.memory.axis"), barmode="stack", legend=True),
        },
    )


def _memory_trace(index: int, term: str, jobs: list[Json], names: list[str], words: Words) -> dict[str, Any]:
    sizes = [
        sum(
            number(row.get("size_bytes")) or 0
            for row in rows_at(job, "memory", "terms")
            if str(row.get("name")) == term
        )
        for job in jobs
    ]
    label = plotly_text(words.name("memory.term", term))
    hatch = HATCHES[index // len(PALETTE) % len(HATCHES)]
    return {
        "type": "bar",
        "orientation": "h",
        "name": label,
        "x": sizes,
        "y": [plotly_text(name) for name in names],
        "marker": {"color": PALETTE[index % len(PALETTE)], "pattern": {"shape": hatch}},
        "hovertemplate": "%{x:.4s}B<extra>" + label + "</extra>",
    }


def memory_sentence(job: Json, words: Words) -> str:
    """What the fullest GPU of a job holds against what it has, and the term to look at first; "not given" where it is
    missing.
    """
    memory = at(job, "memory")
    terms = [(str(term.get("name")), number(term.get("size_bytes"))) for term in rows_at(memory, "terms")]
    known = [(name, size) for name, size in terms if size is not None]
    total, capacity = number(at(memory, "total_bytes")), number(at(memory, "capacity_bytes"))
    job_name = str(job.get("name") or "job")
    if total is None or not capacity or not known:
        return words("memory.missing", job=job_name)
    largest, size = max(known, key=lambda item: item[1])
    return words(
        "memory.sentence",
        job=job_name,
        total=units.format_size(total),
        capacity=units.format_size(capacity),
        share=units.format_percent(total / capacity),
        term=words.name("memory.term", largest),
        size=units.format_size(size),
    )


def tiers_figure(plan: Json, words: Words) -> Figure | None:
    """Bytes that cross each tier, from near to far; None when the plan has none."""
    sizes = [(str(row.get("tier")), number(row.get("bytes"))) for row in rows_at(plan, "tiers")]
    known = sorted(((tier, size) for tier, size in sizes if size is not None), key=lambda item: _tier_order(item[0]))
    if not known:
        return None
    names = [plotly_text(words.name("tier", tier)) for tier, _ in known]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [size for _, size in known],
        "y": names,
        "text": [units.format_size(size) for _, size in known],
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": [TIER_COLOURS.get(tier, GREY) for tier, _ in known]},
        "hovertemplate": "%{y}: %{x:.4s}B<extra></extra>",
    }
    shares = [f"{words.name('tier', tier)} {units.format_size(size)}" for tier, size in known]
    return Figure(
        key="tiers",
        title=words("figure.tiers.title"),
        alt=words("figure.tiers.alt", shares=words("list_joiner").join(shares)),
        data=FigureData(("tier", "bytes"), tuple(known)),
        plotly={"data": [trace], "layout": bar_layout(len(known), words("figure.tiers.axis"), margin_right=90)},
    )


def _tier_order(tier: str) -> int:
    return TIERS.index(tier) if tier in TIERS else len(TIERS)


def _layout(height: int, **more: Any) -> dict[str, Any]:
    return {
        "height": height,
        "autosize": True,
        "font": {"size": FONT_PX},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        **more,
    }


def bar_layout(
    n_bars: int, axis: str, *, barmode: str = "group", legend: bool = False, margin_right: int = 24, suffix: str = "B"
) -> dict[str, Any]:
    """The layout of horizontal bars, one a category top to bottom; `suffix` is the unit on the axis."""
    grid = "rgba(128,128,128,0.3)"
    return _layout(
        BAR_ROW_PX * n_bars + BAR_FRAME_PX + (BAR_ROW_PX if legend else 0),
        barmode=barmode,
        bargap=0.35,
        showlegend=legend,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        margin={"l": 8, "r": margin_right, "t": 24, "b": 48},
        xaxis={
            "title": {"text": axis},
            "tickformat": "~s",
            "ticksuffix": suffix,
            "gridcolor": grid,
            "zeroline": False,
            "rangemode": "tozero",
        },
        yaxis={"automargin": True, "autorange": "reversed", "type": "category"},
    )
