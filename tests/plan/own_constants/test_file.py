"""The file of own constants: what is written is read; anything else is refused with its place, never a traceback."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.errors import InputError, UsageError
from eastwest.plan.own_constants.file import OwnConstants, is_written, own_text, parse_own, read_constants
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


def sealed(text: str) -> str:
    """A hand-written file with the last line that every file has."""
    return text + '\nsha256: "' + "0" * 64 + '"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty|no keys|nothing"),
        ("training: {}", "schema: expected eastwest.constants/1, found nothing"),
        ("schema: eastwest.constants/2", "line 1: schema version 2: this eastwest reads version 1"),
        ("schema: eastwest.constants/1", "neither"),
        ("schema: eastwest.constants/1\ntraining: {schema: other}", "line 2: training.schema: expected"),
        ("schema: eastwest.constants/1\ntraining: 5", "training: expected a mapping"),
        ("schema: eastwest.constants/1\ncollectives: []", r"collectives: expected a mapping, found \[\]"),
        ("schema: eastwest.constants/1\ncollectives: {constants: {ring_share: 3}}", "ring_share: expected a mapping"),
        (TEXT.replace("{log: ", "{log: 99, was: ", 1), "ring_share.shared.log: expected a number from -3 to 3"),
        ("a: [", "line 1|:1"),
        ("\x00", "U\\+0000"),
    ],
)
def test_other_text_is_refused(text, says):
    with pytest.raises((UsageError, InputError), match=says):
        parse_own(text.encode(), "own.yaml")


def line_of(text: str, start: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith(start))


@pytest.mark.parametrize(
    ("start", "old", "new", "says"),
    [
        ("gemm_depth", "{value: ", "{value: 1e300, was: ", "training.shared.gemm_depth: expected a number from"),
        ("gemm_depth", "{value: ", "{value: -1, was: ", "training.shared.gemm_depth"),
        ("gemm_depth", "{value: ", "{value: .nan, was: ", "training.shared.gemm_depth"),
        ("gemm_depth", "gemm_depth", "gemm_dept", "did you mean gemm_depth"),
        ("h100-sxm5-80gb", "h100-sxm5-80gb", "h100-sxm9", "h100-sxm9: this name is not known"),
        ("launch_s", "launch_s", "launch_seconds", "launch_seconds: this name is not known"),
    ],
)
def test_a_wrong_value_or_name_is_told_with_its_line(start, old, new, says):
    line = line_of(TEXT, start)
    rows = TEXT.splitlines()
    rows[line - 1] = rows[line - 1].replace(old, new, 1)
    with pytest.raises(UsageError, match=f"line {line}: .*{says}"):
        parse_own("\n".join(rows).encode(), "own.yaml")


@pytest.mark.parametrize("text", ["gpus: {h100: null}", 'gpus: {h100: {"16": null}}', "groups: {ampere: null}"])
def test_an_entry_without_values_is_refused(text):
    whole = f"schema: eastwest.constants/1\ntraining: {{schema: eastwest.step_constants/1, {text}}}"
    with pytest.raises(UsageError, match="expected a mapping, found nothing"):
        parse_own(sealed(whole).encode(), "own.yaml")


def test_a_value_that_its_logarithm_contradicts_is_refused():
    line = line_of(TEXT, "volta: {log")
    rows = TEXT.splitlines()
    rows[line - 1] = rows[line - 1].split("value")[0] + "value: 0.5}"
    with pytest.raises(UsageError, match=f"line {line}: .*volta.value: expected"):
        parse_own("\n".join(rows).encode(), "own.yaml")


@pytest.mark.parametrize("lines", [1, 2, 40])
def test_a_cut_file_is_refused_with_the_line_of_the_cut(lines):
    rows = own_text(OwnConstants(step=BOTH.step)).splitlines()[:-lines]
    with pytest.raises(UsageError, match=f"line {len(rows)}: the file is cut"):
        parse_own("\n".join(rows).encode(), "own.yaml")


def test_what_a_file_lacks_is_as_shipped_and_counted():
    text = "schema: eastwest.constants/1\ntraining: {schema: eastwest.step_constants/1, shared: {gemm_depth: 170}}"
    found = parse_own(sealed(text).encode(), "own.yaml")
    assert found.step is not None
    assert found.step.value("gemm_depth") == 170
    assert found.step.value("gemm_edge") == shipped_constants().value("gemm_edge")  # not the prior of the fit
    assert found.as_json()["training"] == {"from": "own", "values_read": 1, "values": len(shipped_constants().values)}
    assert found.as_json()["collectives"] == {"from": "shipped"}
    assert found.is_changed
    assert "1 of" in found.words[0]
    assert "changed by hand" in found.words[0]


def test_a_file_as_written_is_told_from_a_changed_one():
    whole = parse_own(TEXT.encode(), "own.yaml")
    assert (whole.is_changed, whole.n_step) == (False, len(shipped_constants().values))
    assert is_written(TEXT.encode())
    assert not is_written(TEXT.replace("gemm_edge: {", "gemm_edge:  {").encode())
    assert not is_written(b"hello")
    assert OwnConstants().words == ()


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        read_constants(tmp_path / "none.yaml")


@given(st.binary(max_size=60), st.integers(0, len(TEXT)))
def test_cut_and_hostile_files_are_refused_or_read(tail, cut):
    try:
        found = parse_own(TEXT.encode()[:cut] + tail, "own.yaml")
    except (UsageError, InputError):
        return
    assert found.step is not None or found.theta is not None
