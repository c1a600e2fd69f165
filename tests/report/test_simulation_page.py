"""Pictures and rows of a simulated scenario against what the result says, and against closed forms."""

import csv
import io

import pytest

from eastwest.report.simulation_charts import completion_times, load_map, step_picture
from eastwest.report.simulation_page import simulation_document
from eastwest.report.simulation_rows import flows_csv, ports_csv
from eastwest.report.wording import words_of
from eastwest.simulate.result import SimResult
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import parse_scenario

WORDS = words_of("en")
INCAST = (
    "fabric: {family: single-switch, hosts: 5, rate: 100G, delay: 0s}\noverhead: 0\nrecord: {every: 100us}\n"
    "traffic: {pattern: incast, receiver: h0, senders: [h1, h2, h3, h4], size: 10MB}\n"
)


def run(text: str, engine: str = "flow") -> SimResult:
    return run_scenario(parse_scenario(text, "s.yaml"), engine)


def test_the_curve_of_completion_times_is_the_share_that_has_ended() -> None:
    """Two sizes, 3 : 1: three of four have ended after 1 ms, all after 2 ms (each on links of its own)."""
    text = "fabric: {family: single-switch, hosts: 8, rate: 8G, delay: 0s}\noverhead: 0\ntraffic:\n" + "".join(
        f"  - {{collective: send_recv, hosts: [h{n}, h{n + 4}], size: {2 if n == 3 else 1}MB}}\n" for n in range(4)
    )
    found = completion_times(run(text), WORDS)
    assert found is not None
    assert sorted(row[1] for row in found.data.rows) == pytest.approx([1e-3, 1e-3, 1e-3, 2e-3])
    one = completion_times(run(INCAST), WORDS)
    assert one is not None
    assert [row[2] for row in one.data.rows] == [0.25, 0.5, 0.75, 1]


def test_loads_of_the_map_sum_to_the_bytes_that_were_carried() -> None:
    result = run(INCAST)
    found = load_map(result, WORDS)
    assert found is not None
    rows = [row for row in found.data.rows if row[0] == "NIC, mean"]
    assert len(rows) == 32  # 3.2 ms in bins of 100 us
    total = sum(load for _, _, load in rows) * 100e-6 * 100e9 / 8 * 5  # four senders and the receiver are used
    assert total == pytest.approx(2 * 40e6, rel=1e-6)
    most = [row[2] for row in found.data.rows if row[0] == "NIC, most"]
    assert most == pytest.approx([1.0] * 32)
    assert load_map(run(INCAST.replace("record: {every: 100us}\n", "")), WORDS) is None


def test_the_timeline_of_a_step_covers_it_without_gaps() -> None:
    stretches = [
        {"cell": 0, "part": "compute", "begin_s": 0.0, "end_s": 1.0},
        {"cell": 0, "part": "dp", "begin_s": 1.0, "end_s": 1.5},
        {"cell": 1, "part": "bubble", "begin_s": 0.0, "end_s": 1.5},
    ]
    step = {"job": "train", "traffic": "t", "idle_ratio": 0.5, "timeline": stretches}
    found = step_picture(step, WORDS)
    assert found is not None
    assert len(found.data.rows) == 3
    assert found.svg.count("<rect") == 3 + 3  # and the legend
    assert step_picture({**step, "timeline": []}, WORDS) is None


@pytest.mark.parametrize("engine", ["flow", "packet"])
def test_the_files_hold_every_flow_and_port(engine: str) -> None:
    result = run(INCAST, engine)
    flows = list(csv.DictReader(io.StringIO(flows_csv(result))))
    assert [row["dst"] for row in flows] == ["h0"] * 4
    assert [float(row["fct_s"]) for row in flows] == pytest.approx((result.flows.fct_ps / 1e12).tolist())
    ports = list(csv.DictReader(io.StringIO(ports_csv(result))))
    assert sum(int(row["tx_bytes"]) for row in ports if row["device"] != "leaf0") >= 40_000_000
    assert ("drops" in ports[0]) == (engine == "packet")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("engine", ["analytic", "flow", "packet"])
def test_the_document_has_its_pictures_in_both_languages(engine: str, lang) -> None:
    result = run(INCAST, engine)
    found = simulation_document(result, result.as_json(lang), lang)
    keys = {figure.key for figure in found.figures}
    assert keys == ({"completion-times", "load"} if engine == "flow" else {"completion-times"})
    assert all(figure.alt and figure.data.rows and "<title" in figure.svg for figure in found.figures)
