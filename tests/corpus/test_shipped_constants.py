"""The shipped constants come out of the published tables again, byte for byte: `make constants`."""

from importlib.resources import files
from pathlib import Path

import pytest

from eastwest.plan.calibrate import calibrate
from eastwest.plan.calibration.tables import calibrate_table
from eastwest.simulate.analytic.step_constants_file import constants_text, without_text
from tools.collective_constants import write_collectives

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation"
SHIPPED = files("eastwest.simulate.analytic") / "constants"
SOURCE = "github:pytorch/torchtitan"  # one of those that the fit is repeated without; all of them take minutes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TABLES.is_dir(), reason="published tables are not beside this checkout"),
]


def test_collectives(tmp_path):
    write_collectives(TABLES / "collectives.yaml", tmp_path / "found.yaml")
    assert (tmp_path / "found.yaml").read_bytes() == (SHIPPED / "collectives.yaml").read_bytes()


def test_training_and_one_source_left_out():
    path = TABLES / "training.yaml"
    fitted, found = calibrate_table(path.read_text(encoding="utf-8"), str(path))
    assert constants_text(fitted.constants) == (SHIPPED / "training.yaml").read_text(encoding="utf-8")
    others = [index for index, run in enumerate(found.runs) if run.source != SOURCE]
    without = calibrate([found.runs[index] for index in others], found.seconds[others]).constants
    block = without_text({SOURCE: without}).split("without:\n")[1]
    assert block in (SHIPPED / "training_without.yaml").read_text(encoding="utf-8")
