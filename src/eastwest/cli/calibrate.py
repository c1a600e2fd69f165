"""`eastwest calibrate FILE…`: constants from own training runs, own nccl-tests output and NCCL logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eastwest.cli.inputs import read_texts
from eastwest.cli.options import Json, Lang, Language
from eastwest.cli.output import Answer, exit_code_of, note, run, text_width
from eastwest.cli.run_options import (
    Algorithm,
    Collective,
    Gpu,
    GpusPerServer,
    Nic,
    Nics,
    NicsPerServer,
    Nodes,
    facts_of_options,
)
from eastwest.errors import UsageError

Transport = Annotated[
    str | None,
    typer.Option("--transport", help="Between servers: infiniband, roce, efa, tcpxo, omni_path, tcp, ipoib."),
]


def calibrate(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Training table, nccl-tests output, NCCL_DEBUG=INFO logs: files, folders, .gz; - for stdin."
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="File for the constants, read by --constants.")] = None,
    nic: Nic = None,
    nics_per_server: NicsPerServer = None,
    nics: Nics = None,
    gpus_per_server: GpusPerServer = None,
    nodes: Nodes = None,
    gpu: Gpu = None,
    collective: Collective = None,
    algorithm: Algorithm = None,
    transport: Transport = None,
    json: Json = False,
    lang: Lang = Language.en,
) -> None:
    """Fit constants to own measurements: what moved, the error before and after, and on runs that were left out."""
    given: dict[str, Any] = {"nodes": nodes, "gpus_per_server": gpus_per_server, "nics_per_server": nics_per_server}
    given |= {"nic": nic, "nics": nics, "gpu": gpu}
    given |= {"collective": collective, "algorithm": algorithm, "transport": transport}
    run("calibrate", json, lang.value, lambda: _answer(files, out, given, lang.value))


def _answer(files: list[str], out: Path | None, given: dict[str, Any], lang: Literal["en", "zh"]) -> Answer:
    from eastwest.accept.calibrate import calibrate_texts
    from eastwest.report.formats.text_calibrate import calibrate_text

    _check_transport(given["transport"])
    if out is not None:
        _check_out(out)
    calibrated = calibrate_texts(read_texts(files), facts_of_options(**given))
    if out is not None and calibrated.verdict != "unknown":
        _write(out, calibrated)
    document = calibrated.as_json(lang)
    return Answer(document, calibrate_text(document, lang, text_width()), exit_code_of(calibrated.verdict))


def _check_transport(transport: str | None) -> None:
    from eastwest.simulate.analytic.collective_run import TRANSPORTS

    if transport is not None and transport not in TRANSPORTS:
        raise UsageError(f"--transport: {transport!r} is none of {', '.join(TRANSPORTS)}", hint="for example roce")


def _check_out(out: Path) -> None:
    """Refuse a place where nothing can be written, before the work is done, and a file that is no constants file."""
    from eastwest.plan.own_constants.file import is_written

    if out.is_dir() or not out.parent.is_dir():
        raise UsageError(f"--out {out}: name a file in a folder that exists")
    if out.exists() and not is_written(out.read_bytes()):
        raise UsageError(
            f"--out {out} is no file of constants as `calibrate` wrote it",
            hint="name a new file; nothing of yours is overwritten",
        )


def _write(out: Path, calibrated: Any) -> None:
    from eastwest.plan.own_constants.file import own_text, parse_own

    text = own_text(calibrated.own)
    parse_own(text.encode(), str(out))  # what cannot be read again is not written
    try:
        out.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror or error}") from error
    note(f"wrote {out}")
