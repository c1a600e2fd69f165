"""One pair of ports judged (perftest, OSU point to point, GPCNeT): payload of the wire at its MTU, latency apart.

A loopback (both ends at one port) crosses no network: only the PCIe slot can be judged by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from eastwest.accept import ceilings
from eastwest.accept.ceilings import Ceiling
from eastwest.accept.curve import Curve, Point, curve_of
from eastwest.accept.facts import Facts
from eastwest.accept.limiters import Case, limiter_of
from eastwest.accept.results import ABOVE_RATIO, Limits, Result, gigabytes, percent, size_name
from eastwest.accept.runs import Run
from eastwest.dialects.readings import Benchmark, Row
from eastwest.finding import Evidence, Finding
from eastwest.units import BITS_PER_BYTE, GIGA, KIBI, US_PER_S, format_port_rate

LATENCY_LIMIT_S = 6e-6  # published acceptance limit of ib_read_lat on 200G InfiniBand: average below 6 us (Azure AKS)
TAIL_RATIO = 10.0  # 99.9 % or worst against typical
LEAST_PAIR_BYTES = 64 * KIBI  # perftest's default size; smaller messages are limited by their rate
COMMON_RATES_BPS = tuple(gbps * GIGA for gbps in (25, 50, 100, 200, 400, 800))
BURSTY_RATIO = 0.8  # average against peak
GPCNET_TEST = "RR Two-sided BW (131072 B)"


def judge_pair(run: Run, limits: Limits, source: str) -> tuple[Result, Facts]:
    """The result of a test between two ports, and the facts with what had to be assumed."""
    benchmark, facts = run.benchmark, run.facts
    if benchmark.test.endswith(("_lat", "_latency")):
        return _latency(run, source), facts
    curve = curve_of(run.rows)
    point = curve.last
    row = point.row if point else next((row for row in run.rows if row.out.busbw_bytes_per_s), None)
    blank = Result(benchmark.test, "unknown", source, benchmark.tool, curve=curve)
    if row is None:
        return replace(blank, findings=(_no_row(run),)), facts
    is_loopback = benchmark.settings.get("loopback") == "yes"
    result = replace(
        blank,
        nodes=1 if is_loopback else 2,
        size_bytes=row.size_bytes,
        measured_bytes_per_s=row.out.busbw_bytes_per_s,
        line=row.line,
        crosses_network=not is_loopback,
        plateau_from_bytes=curve.start_bytes,
        findings=tuple(_notes(benchmark, point)),
    )
    shared = _shared(benchmark)
    if shared:
        finding = _finding(shared, "warning", result, {"measured": gigabytes(result.measured_bytes_per_s or 0.0)})
        return replace(result, findings=(*result.findings, finding)), facts
    ceiling, facts = _loopback_ceiling(facts) if is_loopback else _ceiling(benchmark, facts)
    if ceiling is None:
        return _unknown(result, is_loopback), facts
    return _judged(result, ceiling, facts, curve, limits), facts


def _shared(benchmark: Benchmark) -> str:
    """The finding for a test that ran through several ports or pairs at once; "" for one pair of ports."""
    if benchmark.settings.get("Dual-port") == "ON":
        return "EW-SCO-075"
    return "EW-SCO-014" if benchmark.test == "osu_mbw_mr" and benchmark.settings.get("pairs") != "1" else ""


def _ceiling(benchmark: Benchmark, facts: Facts) -> tuple[Ceiling | None, Facts]:
    """Payload of one port, with MTU and link type from the banner, else assumed."""
    rate = facts.get("nic_rate_bps")
    if not rate:
        return None, facts
    mtu = benchmark.settings.get("Mtu", "").partition("[")[0]
    if mtu.isdecimal():
        facts = facts.with_fact("mtu_bytes", int(mtu), "text", "banner")
    facts = facts.with_fact("mtu_bytes", ceilings.USUAL_MTU_BYTES, "assumed", "the banner does not say")
    link = {"Ethernet": "RoCE", "IB": "IB"}.get(benchmark.settings.get("Link type", "")) or facts.get("transport")
    if link in ("RoCE", "IB"):
        facts = facts.with_fact("link_type", link, "text", "banner")
    facts = facts.with_fact("link_type", "IB", "assumed", "the smaller headers, so the higher ceiling")
    ways = 2 if benchmark.settings.get("bidirectional") == "yes" or benchmark.test == "osu_bibw" else 1
    found = ceilings.wire_less_headers(rate, facts.get("mtu_bytes"), facts.get("link_type") == "RoCE", ways)
    slot = facts.get("pcie_bytes_per_s")
    if slot and ways * slot < found.bytes_per_s:
        formula = f"PCIe slot {gigabytes(slot)} GB/s, less than {found.formula}"
        found = replace(found, name="pcie", bytes_per_s=ways * slot, formula=formula, limit="pcie")
    return found, facts


def _loopback_ceiling(facts: Facts) -> tuple[Ceiling | None, Facts]:
    """The PCIe slot: as given, else the one that vendors pair with a NIC of that rate."""
    from eastwest.spec import catalogue

    generation = facts.get("pcie_generation")
    rate = facts.get("nic_rate_bps")
    if not generation and rate:
        entries = [catalogue.get("pcie", name) for name in catalogue.names("pcie")]
        usual = next((entry.generation for entry in entries if entry.x16_nic_rate_bps == rate), None)
        why = f"the slot that vendors pair with a {format_port_rate(rate)} NIC"
        facts = facts.with_fact("pcie_generation", usual, "assumed", why)
        generation = usual
    if not generation:
        return None, facts
    entry = catalogue.get("pcie", str(generation))
    usable = entry.x16_usable_bytes_per_s
    return (ceilings.pcie_slot(usable, generation) if usable else None), facts


def _judged(result: Result, ceiling: Ceiling, facts: Facts, curve: Curve, limits: Limits) -> Result:
    measured = result.measured_bytes_per_s or 0.0
    ratio = measured / ceiling.bytes_per_s
    result = replace(result, ceiling=ceiling, of_ceiling_ratio=ratio)
    notes = [*result.findings, *_one_host(result)]
    shown = {"measured": gigabytes(measured), "ceiling": gigabytes(ceiling.bytes_per_s), "name": ceiling.name}
    if ratio > ABOVE_RATIO:
        finding = _finding("EW-SCO-007", "warning", result, {**shown, "formula": ceiling.formula})
        return replace(result, findings=(*notes, finding))
    verdict = limits.verdict(ratio, ceiling.bytes_per_s)
    if verdict != "pass" and result.size_bytes is not None and result.size_bytes < LEAST_PAIR_BYTES:
        args = {"size": size_name(result.size_bytes), "share": percent(ratio), "name": ceiling.name}
        return replace(result, findings=(*notes, _finding("EW-SCO-019", "warning", result, args)))
    if verdict == "pass":
        return replace(result, verdict=verdict, findings=tuple(notes))
    case = Case(result.collective, measured, ceiling, ratio, facts, curve, is_pair=True)
    limiter = replace(limiter_of(case), evidence=_lines(result))
    return replace(result, verdict=verdict, findings=(*notes, limiter), limiter=limiter)


def _unknown(result: Result, is_loopback: bool) -> Result:
    """Without the NIC's rate: what the number would be of common rates, and the option that tells."""
    measured = result.measured_bytes_per_s or 0.0
    if is_loopback:
        options = ("--nic 200G", "--pcie 4")
        args = {"options": " or ".join(options), "measured": gigabytes(measured)}
        finding = _finding("EW-SCO-041", "warning", result, args)
        return replace(result, missing=options, findings=(*result.findings, *_one_host(result), finding))
    args = {"options": "--nic 400G", "measured": gigabytes(measured), "would_be": _would_be(measured)}
    finding = _finding("EW-SCO-047", "warning", result, args)
    return replace(result, missing=("--nic 400G",), findings=(*result.findings, finding))


def _would_be(measured: float) -> str:
    shares = [(measured * BITS_PER_BYTE / rate, rate) for rate in COMMON_RATES_BPS]
    fitting = [f"{share * 100:.0f} % of {format_port_rate(rate)}" for share, rate in shares if 0.1 <= share <= 1.0]
    return ", ".join(fitting) or "more than one port of 800G carries"


def _one_host(result: Result) -> Iterator[Finding]:
    if not result.crosses_network:
        tool = result.collective if result.collective.startswith("ib_") else "ib_write_bw"
        test = f"{tool} -a -F --report_gbits   on one host, {tool} -a -F --report_gbits HOST   on another"
        yield _finding("EW-SCO-003", "info", result, {"gpus": 1, "test": test})


def _notes(benchmark: Benchmark, point: Point | None) -> Iterator[Finding]:
    """A peak far above the average; dips are rare here and message rates say little."""
    if point is None:
        return
    peak = point.row.statistics.get("peak")
    if peak and point.bandwidth_bytes_per_s < BURSTY_RATIO * peak:
        args = {"measured": gigabytes(point.bandwidth_bytes_per_s), "peak": gigabytes(peak)}
        yield Finding(
            "EW-SCO-042",
            "info",
            benchmark.test,
            peak,
            point.bandwidth_bytes_per_s,
            "bytes_per_s",
            args,
            (point.row.line,),
        )


def _latency(run: Run, source: str) -> Result:
    """The smallest size's average; a limit is published for 200G InfiniBand only, so more than that is WARN."""
    timed = sorted((row for row in run.rows if row.out.time_s), key=lambda row: row.size_bytes or 0)
    result = Result(run.benchmark.test, "unknown", source, run.benchmark.tool, nodes=2)
    if not timed:
        return replace(result, findings=(_no_row(run),))
    row = timed[0]
    average = row.out.time_s or 0.0
    is_loopback = run.benchmark.settings.get("loopback") == "yes"
    result = replace(
        result,
        verdict="pass" if average <= LATENCY_LIMIT_S else "warn",
        nodes=1 if is_loopback else 2,
        size_bytes=row.size_bytes,
        measured_s=average,
        latency_s=average,
        line=row.line,
        crosses_network=not is_loopback,
    )
    args = {"measured": f"{average * US_PER_S:.2f}", "limit": f"{LATENCY_LIMIT_S * US_PER_S:.0f}"}
    code, severity = ("EW-SCO-043", "info") if result.verdict == "pass" else ("EW-SCO-044", "warning")
    finding = Finding(code, severity, result.collective, LATENCY_LIMIT_S, average, "s", args, (row.line,))  # type: ignore[arg-type]
    notes = (finding, *_one_host(result), *_tail(row, result.collective))
    return replace(result, verdict="unknown" if is_loopback else result.verdict, findings=notes)


def _no_row(run: Run) -> Finding:
    """None of the rows has what the test measures."""
    lines = tuple(row.line for row in run.rows[-1:])
    return Finding("EW-SCO-071", "warning", run.benchmark.test, evidence=lines)


def _tail(row: Row, subject: str) -> Iterator[Finding]:
    typical = row.statistics.get("typical")
    worst = row.statistics.get("p999") or row.statistics.get("max")
    if typical and worst and worst > TAIL_RATIO * typical:
        args = {"typical": f"{typical * US_PER_S:.2f}", "worst": f"{worst * US_PER_S:.2f}"}
        yield Finding("EW-SCO-045", "info", subject, typical, worst, "s", args, (row.line,))


def judge_system(run: Run, limits: Limits, source: str) -> tuple[Result, Facts]:
    """GPCNeT: the random-ring bandwidth of a rank against its share of the server's NICs."""
    facts = run.facts
    row = next((row for row in run.rows if row.name.endswith(GPCNET_TEST) and row.out.busbw_bytes_per_s), None)
    blank = Result(run.benchmark.test, "unknown", source, "gpcnet", facts.get("nodes"), facts.get("ranks"))
    notes = tuple(_impact(run))
    if row is None:
        lines = tuple(row.line for row in run.rows if "BW" in row.name)[:1]
        asked = Finding("EW-SCO-072", "warning", run.benchmark.test, args={"row": GPCNET_TEST}, evidence=lines)
        return replace(blank, findings=(*notes, asked)), facts
    result = replace(
        blank, size_bytes=row.size_bytes, measured_bytes_per_s=row.out.busbw_bytes_per_s, line=row.line, findings=notes
    )
    needs = {"--nic 400G": "nic_rate_bps", "--nics-per-server 8": "nics_per_server", "--nodes N": "nodes"}
    missing = tuple(option for option, name in needs.items() if not facts.get(name))
    if missing or not facts.get("ranks"):
        args = {"options": " ".join(missing), "measured": gigabytes(result.measured_bytes_per_s or 0.0)}
        finding = _finding("EW-SCO-010", "warning", result, {**args, "would_be": "each rank has its share of the NICs"})
        return replace(result, missing=missing, findings=(*notes, finding)), facts
    return _judged(result, _share_of_exit(facts), facts, curve_of(()), limits), facts


def _share_of_exit(facts: Facts) -> Ceiling:
    way = ceilings.Exit(facts.get("nics_per_server"), facts.get("nic_rate_bps"), facts.get("pcie_bytes_per_s"))
    each = max(1, facts.get("ranks") // facts.get("nodes"))
    value = way.nics * way.nic_bytes_per_s() / each
    formula = f"{way.text()} / {each} ranks per server = {gigabytes(value)} GB/s"
    return Ceiling("single NIC", value, formula, ceilings.MEASURED, "nic", way.wire_bytes_per_s / each)


def _impact(run: Run) -> Iterator[Finding]:
    """The worst impact of congestion on the victims' 99th percentile."""
    rows = [row for row in run.rows if row.name.startswith("Impact factor") and "99%" in row.statistics]
    if rows:
        worst = max(rows, key=lambda row: row.statistics["99%"])
        args = {"factor": f"{worst.statistics['99%']:.1f}", "test": worst.name.partition(": ")[2]}
        yield Finding(
            "EW-SCO-046", "info", run.benchmark.test, 1.0, worst.statistics["99%"], "ratio", args, (worst.line,)
        )


def _lines(result: Result) -> tuple[Evidence, ...]:
    return (result.line,) if result.line else ()


def _finding(code: str, severity: Any, result: Result, args: Mapping[str, object]) -> Finding:
    expected = result.ceiling.bytes_per_s if result.ceiling else None
    observed = result.measured_bytes_per_s
    return Finding(code, severity, result.collective, expected, observed, "bytes_per_s", args, _lines(result))
