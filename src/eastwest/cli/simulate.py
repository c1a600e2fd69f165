"""`eastwest simulate FILE`, `simulate compare A B`, `simulate ecmp`, `simulate oversubscription`: what happens on the
network, in seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, exit_code_of, run, text_width

if TYPE_CHECKING:
    from eastwest.simulate.flow.tables import Progress, ProgressReport
    from eastwest.simulate.result import SimResult

MOST_FLOWS = 512  # of the exact odds: more take seconds


class Engine(StrEnum):
    """Engines of a scenario."""

    analytic = "analytic"
    flow = "flow"
    packet = "packet"


def simulate(
    what: Annotated[
        list[str],
        typer.Argument(
            help="Scenario file (- for standard input); or `compare A B`; or `ecmp`; or `oversubscription`."
        ),
    ],
    engine: Annotated[
        Engine, typer.Option("--engine", help="analytic: bounds; flow: fair shares; packet: queues.")
    ] = Engine.flow,
    flows: Annotated[int | None, typer.Option("--flows", help="ecmp: flows that are hashed.")] = None,
    uplinks: Annotated[int | None, typer.Option("--uplinks", help="ecmp: links that they are hashed to.")] = None,
    ratio: Annotated[str, typer.Option("--ratio", help="oversubscription: down:up of the tier.")] = "2:1",
    compute: Annotated[str, typer.Option("--compute", help="oversubscription: computation of a step.")] = "",
    communication: Annotated[
        str, typer.Option("--communication", help="oversubscription: time on the tier at 1:1.")
    ] = "",
    overlap: Annotated[str, typer.Option("--overlap", help="oversubscription: what computation can hide.")] = "0s",
    gpus: Annotated[int, typer.Option("--gpus", help="oversubscription: GPUs of that step.")] = 64,
    most_gpus: Annotated[int, typer.Option("--most-gpus", help="oversubscription: where the curve ends.")] = 4096,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for simulate.json, report.html, charts, flows.csv, ports.csv.")
    ] = None,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Run a scenario; compare two; the odds of ECMP; or what an oversubscribed tier costs a step."""
    answers: dict[str, Callable[[], Answer]] = {
        "compare": lambda: _compare(what[1:], engine.value, lang.value),
        "ecmp": lambda: _ecmp(what[1:], flows, uplinks, lang.value),
        "oversubscription": lambda: _oversubscription(
            what[1:], (ratio, compute, communication, overlap), (gpus, most_gpus), lang.value
        ),
    }
    answer = answers.get(what[0], lambda: _simulate(what, engine.value, out, lang.value))
    run("simulate", json, lang.value, answer)


def _simulate(files: list[str], engine: str, out: Path | None, lang: Literal["en", "zh"]) -> Answer:
    from eastwest.cli.simulate_text import result_text
    from eastwest.errors import UsageError

    if len(files) != 1:
        raise UsageError(f"{len(files)} scenarios: expected one", hint="`eastwest simulate compare A B` takes two")
    if out is not None:
        from eastwest.cli.pages import check_page

        check_page(out, "simulate.json")
    result = _run(files[0], engine)
    if out is not None:
        _write(out, result, lang)
    return Answer(result.as_json(lang), result_text(result, lang, text_width()), exit_code_of(result.verdict))


def _write(out: Path, result: SimResult, lang: Literal["en", "zh"]) -> None:
    """The page in both languages, the JSON document, pictures, and all rows as CSV."""
    from eastwest.cli.pages import write_page
    from eastwest.report.simulation_page import simulation_document
    from eastwest.report.simulation_rows import flows_csv, ports_csv

    other: Literal["en", "zh"] = "zh" if lang == "en" else "en"
    pages = {name: simulation_document(result, result.as_json(name), name) for name in (lang, other)}
    rows = {"flows.csv": flows_csv(result), "ports.csv": ports_csv(result)}
    write_page(out, "simulate.json", result.as_json(lang), pages, lang, rows)


def _compare(files: list[str], engine: str, lang: Literal["en", "zh"]) -> Answer:
    from eastwest.cli.simulate_text import comparison_text
    from eastwest.errors import UsageError
    from eastwest.simulate.compare import compare

    if len(files) != 2:
        raise UsageError(f"compare takes two scenarios, found {len(files)}", hint="eastwest simulate compare A B")
    found = compare(_run(files[0], engine), _run(files[1], engine))
    return Answer(found.as_json(lang), comparison_text(found, lang, text_width()), exit_code_of(found.verdict))


def _run(file: str, engine: str) -> SimResult:
    from eastwest.simulate.run import run_scenario
    from eastwest.simulate.scenario import load_scenario

    scenario = load_scenario(file)
    with _progress() as progress:
        return run_scenario(scenario, engine, progress)


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A bar on stderr with events, simulated time and live flows; nothing when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    from eastwest.units import PS_PER_S, format_time

    columns = (BarColumn(), TextColumn("{task.percentage:3.0f} %"), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(report: ProgressReport) -> None:
            words = (
                f"{format_time(report.time_ps / PS_PER_S)} simulated",
                f"{report.n_events:,} events",
                f"{report.n_live:,} live flows",
            )
            bar.update(task, completed=report.n_ended, total=report.n_flows, description=" · ".join(words))

        yield show


def _ecmp(rest: list[str], flows: int | None, uplinks: int | None, lang: Literal["en", "zh"]) -> Answer:
    from eastwest.cli.simulate_text import odds_text
    from eastwest.errors import UsageError

    if rest or flows is None or uplinks is None:
        raise UsageError("ecmp takes --flows and --uplinks", hint="eastwest simulate ecmp --flows 4 --uplinks 4")
    for name, value in (("--flows", flows), ("--uplinks", uplinks)):
        if not 1 <= value <= MOST_FLOWS:
            raise UsageError(f"{name} {value:,}: expected 1 to {MOST_FLOWS:,}", hint="simulate a scenario for more")
    odds = _odds(flows, uplinks)
    document = {"schema": "eastwest.simulate/1", "verdict": "pass", "findings": [], "ecmp": odds}
    return Answer(document, odds_text(odds, lang))


def _oversubscription(
    rest: list[str], step: tuple[str, str, str, str], sizes: tuple[int, int], lang: Literal["en", "zh"]
) -> Answer:
    from eastwest.cli.oversubscription import oversubscription_answer
    from eastwest.errors import UsageError

    if rest or not step[1] or not step[2]:
        raise UsageError(
            "oversubscription takes --compute and --communication",
            hint="eastwest simulate oversubscription --ratio 2:1 --compute 6s --communication 4s",
        )
    return oversubscription_answer(*step, *sizes, lang)


def _odds(flows: int, uplinks: int) -> dict[str, Any]:
    """The exact odds in JSON's types."""
    from eastwest.simulate.analytic import odds

    return {
        "flows": flows,
        "uplinks": uplinks,
        "no_collision_ratio": odds.no_collision_ratio(flows, uplinks),
        "mean_worst_link_flows": odds.mean_most_loaded(flows, uplinks),
        "mean_slowest_flow_ratio": odds.slowest_flow_ratio(flows, uplinks),
        "mean_used_uplinks_ratio": odds.used_links_ratio(flows, uplinks),
        "worst_link_odds": [
            {"flows": k, "ratio": ratio}
            for k, ratio in enumerate(odds.most_loaded_distribution(flows, uplinks))
            if ratio > 0
        ],
    }
