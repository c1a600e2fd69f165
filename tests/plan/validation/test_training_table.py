"""Reading tables: every wrong type with its line, unknown keys listed, missing ones tolerated, never a traceback."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eastwest.errors import InputError
from eastwest.plan.validate_training import validate_training
from eastwest.plan.validation.cases import cases_of
from eastwest.plan.validation.training_table import READERS, read_rows
from tests.plan.validation.rows import ROW, changed, nothing_assumed, one_row, table, toy


def mistakes(text: str) -> list[tuple[str, int]]:
    with pytest.raises(InputError) as caught:
        read_rows(text, "t.yaml")
    return [(finding.code, finding.evidence[0].line) for finding in caught.value.findings]


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("gpus", "many", "EW-VAL-001"),
        ("gpus", 0, "EW-VAL-001"),
        ("tp", -2, "EW-VAL-001"),
        ("seq", 2048.5, "EW-VAL-001"),
        ("global_batch", True, "EW-VAL-001"),
        ("vp", -1, "EW-VAL-002"),
        ("fsdp", [8], "EW-VAL-002"),
        ("params_b", "large", "EW-VAL-003"),
        ("params_b", float("inf"), "EW-VAL-003"),
        ("async_tp", "perhaps", "EW-VAL-004"),
        ("arch", [1024, 8], "EW-VAL-005"),
        ("measured", 3.0, "EW-VAL-005"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_line(key, value, code):
    written = json.dumps(changed(**{key: value}), allow_nan=True).replace("Infinity", "1e999")
    assert mistakes(f"rows:\n- {json.dumps(ROW)}\n- {written}\n") == [(code, 3)]


def test_all_mistakes_are_said_at_once():
    text = "rows:\n- id: a\n  gpus: several\n  arch: {hidden: big}\n  measured: {iter_time_s: fast}\n- 7\n"
    found = mistakes(text)
    assert found == [("EW-VAL-001", 3), ("EW-VAL-001", 4), ("EW-VAL-003", 5), ("EW-VAL-007", 6)]


@pytest.mark.parametrize(("text", "code"), [("meta: 1\n", "EW-VAL-006"), ("rows: 3\n", "EW-VAL-006")])
def test_a_text_without_rows_is_refused(text, code):
    assert mistakes(text) == [(code, 1)]


def test_numbers_may_be_written_as_people_write_them():
    row = one_row(
        gpus="1,024", tp="2", dp=8.0, params_b="1.7", async_tp="yes", measured={"tflops_per_gpu": "475[^note]"}
    )
    assert (row.data["gpus"], row.data["tp"], row.data["dp"], row.data["params_b"]) == (1024, 2, 8, 1.7)
    assert row.data["async_tp"] is True
    assert row.measured == {"tflops_per_gpu": 475}


def test_unknown_keys_are_listed_and_missing_or_null_ones_are_not_there():
    row = read_rows("rows:\n- {colour: red, gpus: ~, arch: {taste: 1, hidden: 64}, measured: {speed: fast}}\n", "t")[0]
    assert row.unread == ("colour", "arch.taste")
    assert (row.id, row.line, row.count("gpus"), row.text("model")) == ("row 1", 2, None, "")
    assert (dict(row.arch), dict(row.measured)) == ({"hidden": 64}, {})


@pytest.mark.parametrize("absent", ["n/a", "-", "OOM", "", "?", "not printed in the table"])
def test_a_figure_that_says_that_it_is_absent_is_not_there(absent):
    row = one_row(vp=absent, async_tp=absent, measured={"iter_time_s": absent, "tokens_per_s": "~1,500"})
    assert ("vp" in row.data, "async_tp" in row.data) == (False, False)
    assert row.measured == {"tokens_per_s": 1500}


def test_a_table_of_thousands_of_rows_is_read():
    rows = read_rows(table(*(changed(id=f"row-{number}") for number in range(1500))), "t.yaml")
    assert len(rows) == 1500
    assert rows[-1].line == 1501


def said_in_both_languages(error: InputError) -> None:
    assert all(finding.sentence() and finding.sentence("zh") for finding in error.findings)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**13), 10**13),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text("0123456789.,%xGBbfp-/ ()A100H", max_size=12),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.sampled_from(["a", "hidden"]), SCALARS))
MEASURES = ["iter_time_s", "iter_time_ms", "tokens_per_s", "samples_per_s", "tflops_per_gpu", "mfu_pct", "hfu_pct"]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                **dict.fromkeys(READERS, VALUES),
                "arch": st.dictionaries(st.sampled_from([*ROW["arch"], "moe_experts", "head_dim"]), SCALARS),
                "measured": st.dictionaries(st.sampled_from(MEASURES), SCALARS),
            },
        ),
        min_size=1,
        max_size=3,
    )
)
def test_any_table_is_judged_or_refused_in_words(rows):
    try:
        validated = validate_training(table(*rows), "t.yaml", toy(1e14), nothing_assumed)
    except InputError as error:
        said_in_both_languages(error)
    else:
        json.dumps(validated.as_json("zh"), allow_nan=False)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["gpus", "tp", "pp", "cp", "ep", "dp", "seq", "global_batch", "micro_batch", "vp", "fsdp"]),
        st.integers(1, 4096),
        max_size=4,
    ),
    st.sampled_from(MEASURES),
    st.floats(0, 1e9),
)
def test_any_layout_is_judged_or_skipped_with_a_reason(changes, key, value):
    case = cases_of([one_row(**changes, measured={key: value})])[0]
    assert (case.run is None) == (case.skip is not None)
    if case.run is not None:
        assert case.run.tp * case.run.pp * case.run.cp * case.run.dp == case.run.gpus


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 400), st.sampled_from(["", "\x00", "}", ": [", "\t", "&a *a"]))
def test_a_cut_or_broken_text_is_refused_in_words(length, tail):
    try:
        read_rows(table(ROW)[:length] + tail, "t.yaml")
    except InputError as error:
        said_in_both_languages(error)
