"""Published NCCL logs: what they determine, and cuts anywhere without a traceback or a new value."""

import random
from pathlib import Path

import pytest

from eastwest.accept.calibrate import calibrate_texts
from eastwest.accept.facts import Facts
from eastwest.dialects.nccl.debug_log import read

LOGS = Path(__file__).resolve().parents[3] / "shared" / "data" / "telemetry" / "nccl-logs"
SAMPLES = sorted(LOGS.glob("*.log"))
TABLES = sorted(LOGS.parent.glob("nccl-tests/superbench-a100-1node-*.txt"))
PLACES, FIRST, STEP, SEED = 200, 2048, 7, 4
MOST_CUT_BYTES = 4000  # of a piece: what a line says does not depend on those far away

pytestmark = pytest.mark.skipif(not SAMPLES, reason="published logs are not beside this checkout")


def said(text: str) -> set[tuple[str, str]]:
    return {(setting.name, setting.value) for setting in read(text).settings}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("init-clean-4node-a100-opa.log", {("channels", "2"), ("nic", "hfi1_3"), ("gdr", "off"), ("path", "NET/IB")}),
        ("init-clean-16node-v100-opa.log", {("channels", "4"), ("nic", "hfi1_0"), ("path", "P2P")}),
        ("init-roce-2node-gid3-mtu3.log", {("channels", "2"), ("nvls channels", "0"), ("mtu", "1024")}),
    ],
)
def test_a_log_determines(name: str, expected: set[tuple[str, str]]) -> None:
    assert expected <= said((LOGS / name).read_text())


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_cut_log_says_nothing_new_but_a_number_cut_short(path: Path) -> None:
    content = path.read_bytes()
    whole = said(content.decode(errors="replace"))
    names = {name for name, _ in whole}
    places = random.Random(SEED).sample(range(len(content)), min(PLACES, len(content)))
    ends = [at + 1 for at, byte in enumerate(content[:FIRST]) if byte == ord("\n")]
    for cut in sorted({*range(0, min(FIRST, len(content)), STEP), *ends, *places}):
        for piece in (content[max(0, cut - MOST_CUT_BYTES) : cut], content[cut : cut + MOST_CUT_BYTES]):
            assert {name for name, _ in said(piece.decode(errors="replace"))} <= names


def test_a_folder_of_logs_alone_cannot_be_fitted() -> None:
    found = calibrate_texts([(str(path), path.read_text(errors="replace")) for path in SAMPLES], Facts())
    assert found.verdict == "unknown"
    assert {finding.code for finding in found.findings} <= {"EW-CAL-005", "EW-CAL-006", "EW-CAL-010"}


@pytest.mark.skipif(not TABLES, reason="published tables are not beside this checkout")
def test_published_tables_of_one_machine_are_met_better_than_by_the_shipped_constants() -> None:
    found = calibrate_texts([(str(path), path.read_text(errors="replace")) for path in TABLES], Facts())
    assert found.collectives is not None
    errors = found.as_json()["collectives"]["errors"]
    assert errors["left_out_median_abs_error_ratio"] < errors["shipped_median_abs_error_ratio"]
    assert {constant.of_class for constant in found.collectives.moved} == {"ampere"}
