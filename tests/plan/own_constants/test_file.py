"""The file of own constants: what is written is read; anything else is refused with its place, never a traceback."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.errors import UsageError
from eastwest.plan.own_constants.file import OwnConstants, own_text, parse_own, read_constants
from eastwest.simulate.analytic.collective_constants import shipped, theta_of
from eastwest.simulate.analytic.step_constants_file import shipped_constants

BOTH = OwnConstants(shipped_constants(), theta_of(shipped()["constants"]), ('runs/"a".txt', "b: c"))
TEXT = own_text(BOTH)


def test_what_is_written_is_read():
    found = parse_own(TEXT.encode(), "own.yaml")
    assert found.theta == pytest.approx(BOTH.theta, abs=1e-5)
    assert found.collective_sources == BOTH.collective_sources
    assert found.step is not None
    assert found.step.values == pytest.approx(dict(shipped_constants().values), rel=1e-4)
    assert found.step.sources == shipped_constants().sources
    assert own_text(found) == own_text(parse_own(own_text(found).encode(), "own.yaml"))


def test_a_part_alone_leaves_the_other_as_shipped():
    assert parse_own(own_text(OwnConstants(step=BOTH.step)).encode(), "own.yaml").collectives is None
    found = parse_own(own_text(OwnConstants(theta=BOTH.theta)).encode(), "own.yaml")
    assert found.step is None
    assert found.collective_sources == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "schema"),
        ("schema: eastwest.constants/2", "schema"),
        ("schema: eastwest.constants/1", "neither"),
        ("schema: eastwest.constants/1\ntraining: {schema: other}", "schema"),
        ("schema: eastwest.constants/1\ntraining: 5", "schema"),
        ("schema: eastwest.constants/1\ncollectives: []", "collectives.constants"),
        ("schema: eastwest.constants/1\ncollectives: {constants: {ring_share: 3}}", "no file of constants"),
        (TEXT.replace("{log: ", "{log: 99, was: ", 1), "ring_share.shared.log"),
        ("a: [", "no file of constants"),
        ("\x00", "no file of constants"),
    ],
)
def test_other_text_is_refused(text, says):
    with pytest.raises(UsageError, match=says):
        parse_own(text.encode(), "own.yaml")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        read_constants(tmp_path / "none.yaml")


@given(st.binary(max_size=60), st.integers(0, len(TEXT)))
def test_cut_and_hostile_files_are_refused_or_read(tail, cut):
    try:
        found = parse_own(TEXT.encode()[:cut] + tail, "own.yaml")
    except UsageError:
        return
    assert found.step is not None or found.theta is not None
