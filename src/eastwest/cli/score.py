"""`eastwest score FILE…`: pasted benchmark output against its derived ceiling."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eastwest.cli.inputs import read_texts
from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, exit_code_of, run, text_width
from eastwest.cli.run_options import (
    Algorithm,
    Collective,
    Gpu,
    GpusPerServer,
    Mtu,
    Nic,
    Nics,
    NicsPerServer,
    Nodes,
    PcieGeneration,
    SiteFile,
    facts_of_options,
)
from eastwest.errors import EastwestError, InputError, UsageError

if TYPE_CHECKING:
    from eastwest.accept.results import Limits
    from eastwest.accept.score import Score

Target = Annotated[str | None, typer.Option("--target", help="Your own target, such as 90GB/s: below it is FAIL.")]
TargetRatio = Annotated[float, typer.Option("--target-ratio", help="Share of the ceiling below which it is FAIL.")]
PassRatio = Annotated[
    float | None,
    typer.Option("--pass-ratio", help="Share from which on it is PASS: 0.9, or --target-ratio where that is higher."),
]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for report.html with the curves, and score.json.")]
Redact = Annotated[
    bool, typer.Option("--redact", help="Show of your lines only what is no name or address, for pasting in public.")
]


def score(
    files: Annotated[list[str], typer.Argument(help="Benchmark output: files, folders, .gz; - for standard input.")],
    nic: Nic = None,
    nics_per_server: NicsPerServer = None,
    nics: Nics = None,
    gpus_per_server: GpusPerServer = None,
    nodes: Nodes = None,
    gpu: Gpu = None,
    collective: Collective = None,
    algorithm: Algorithm = None,
    pcie: PcieGeneration = None,
    mtu: Mtu = None,
    target: Target = None,
    target_ratio: TargetRatio = 0.7,
    pass_ratio: PassRatio = None,
    site: SiteFile = None,
    redact: Redact = False,
    out: Out = None,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Judge nccl-tests, rccl-tests, perftest, OSU or GPCNeT output: percent of the ceiling, the likely limiter."""
    given: dict[str, Any] = {"nodes": nodes, "gpus_per_server": gpus_per_server, "nics_per_server": nics_per_server}
    given |= {"nic": nic, "nics": nics, "pcie_generation": pcie, "mtu_bytes": mtu, "site": site}
    given |= {"gpu": gpu, "collective": collective, "algorithm": algorithm}
    asked = (target, target_ratio, pass_ratio)
    names = (*files, *(name for name in (site, out and str(out)) if name)) if redact else ()
    run(
        "score",
        json,
        lang.value,
        lambda: _without(names, lambda: _answer(files, given, asked, redact, out, lang.value)),
    )


def _without(names: tuple[str, ...], answer: Callable[[], Answer]) -> Answer:
    """The answer, its errors without names and paths when `names` are to be hidden. Raises UsageError."""
    if not names:
        return answer()
    from eastwest.accept.redaction import Redaction

    try:
        return answer()
    except InputError as error:
        raise UsageError("--site: the file has mistakes", hint="run without --redact to see them") from error
    except EastwestError as error:
        hidden = Redaction((), names)
        raise UsageError(hidden.line(error.message), hint=hidden.line(error.hint)) from error


def _answer(
    files: list[str],
    given: dict[str, Any],
    asked: tuple[str | None, float, float | None],
    redact: bool,
    out: Path | None,
    lang: Literal["en", "zh"],
) -> Answer:
    from eastwest.accept.redaction import Redaction
    from eastwest.accept.score import score_texts
    from eastwest.cli.score_text import text_of

    facts, limits = facts_of_options(**given), _limits(*asked)
    if out is not None:
        from eastwest.cli.pages import check_page

        if redact:
            raise UsageError("--out and --redact: the page is not redacted", hint="give one of them")
        check_page(out, "score.json")
    scored = score_texts(read_texts(files), facts, limits)
    names = Redaction(scored.hosts, scored.sources)
    shown = names.score(scored) if redact else scored
    document, text = shown.as_json(lang), text_of(shown, lang, text_width())
    if out is not None:
        _write(out, scored, limits, document, lang)
    if redact:
        document, text = {**names.document(document), "schema": document["schema"]}, names.text(text)
    return Answer(document, text, exit_code_of(scored.verdict))


def _write(out: Path, scored: Score, limits: Limits, document: dict[str, Any], lang: Literal["en", "zh"]) -> None:
    """The report page with the bandwidth curves."""
    from eastwest.cli.pages import write_page
    from eastwest.report.score_page import score_document

    shares = {"pass": limits.pass_ratio, "fail": limits.fail_ratio}
    languages: tuple[Literal["en", "zh"], ...] = ("en", "zh")
    pages = {name: score_document(scored.as_json(name), scored.results, shares, name) for name in languages}
    write_page(out, "score.json", document, pages, lang)


def _limits(target: str | None, target_ratio: float, pass_ratio: float | None) -> Limits:
    """Where FAIL ends and PASS begins. Raises UsageError."""
    from eastwest.accept.results import PASS_FROM_RATIO, Limits

    passes = max(PASS_FROM_RATIO, target_ratio) if pass_ratio is None else pass_ratio
    for option, ratio in (("--target-ratio", target_ratio), ("--pass-ratio", passes)):
        if not math.isfinite(ratio) or ratio <= 0:
            raise UsageError(f"{option}: {ratio} is no share of a ceiling", hint="a number above 0, such as 0.9")
    if passes < target_ratio:
        raise UsageError(
            f"--pass-ratio {passes:g} is below --target-ratio {target_ratio:g}: PASS would begin below FAIL's end",
            hint="give both, the pass ratio at least as high as the target ratio",
        )
    return Limits(target_ratio, passes, None if target is None else _bandwidth(target))


def _bandwidth(text: str) -> float:
    """Bytes/s of `90GB/s` or `90` (GB/s). Raises UsageError: Gb/s and GB/s differ eightfold, so bits must say so."""
    from eastwest.units import BITS_PER_BYTE, GIGA

    number = text.strip()
    factor: float = GIGA
    for unit, size in (("GB/s", GIGA), ("GBps", GIGA), ("Gb/s", GIGA / BITS_PER_BYTE), ("Gbps", GIGA / BITS_PER_BYTE)):
        if number.endswith(unit):
            number, factor = number.removesuffix(unit).strip(), size
    try:
        value = float(number) * factor
    except ValueError as error:
        raise UsageError(f"--target: {text!r} is no bandwidth", hint="for example 90GB/s or 720Gb/s") from error
    if not math.isfinite(value) or value <= 0:
        raise UsageError(f"--target: {text!r} is no bandwidth above 0", hint="for example 90GB/s")
    return value
