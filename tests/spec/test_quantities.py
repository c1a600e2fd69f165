"""Quantities of a site file: text becomes base units, and what nobody writes is refused at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from eastwest import units
from eastwest.errors import InputError
from eastwest.spec import quantities
from eastwest.spec.load import parse_site
from eastwest.spec.quantities import (
    Count,
    Duration,
    Length,
    Name,
    Power,
    Rate,
    Ratio,
    Share,
    Size,
    Whole,
    written_bound,
)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Rate, "400G", 400 * units.GIGA),
        (Rate, 1_000_000, 1_000_000),
        (Size, "25MB", 25 * units.MEGA),
        (Size, "25MiB", 25 * units.MEBI),
        (Size, 9216, 9216),
        (Length, "10km", 10_000.0),
        (Duration, "22min", 1320.0),
        (Power, "10.2kW", 10_200.0),
        (Count, "13B", 13 * units.GIGA),
        (Ratio, "1.67:1", 1.67),
        (Ratio, "1:2", 0.5),
        (Share, 0.5, 0.5),
        (Whole, 8, 8),
        (Name, "leaf-1.a_b", "leaf-1.a_b"),
    ],
)
def test_text_becomes_base_units(kind: object, text: object, value: object) -> None:
    assert TypeAdapter(kind).validate_python(text) == pytest.approx(value) if isinstance(value, float) else True
    assert type(TypeAdapter(kind).validate_python(text)) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "error"),
    [
        (Rate, "400GB", "ew_unit"),
        (Rate, "-400G", "greater_than_equal"),
        (Rate, 400, "greater_than_equal"),
        (Ratio, "1:1e99", "greater_than_equal"),
        (Ratio, 1e-99, "greater_than_equal"),
        (Rate, True, "ew_unit"),
        (Rate, None, "ew_unit"),
        (Rate, ["400G"], "ew_unit"),
        (Rate, "1e99999999G", "ew_unit"),
        (Rate, "1" * 1000, "ew_unit"),
        (Rate, "20000T", "less_than_equal"),
        (Size, "400Kb", "ew_unit"),
        (Length, 30, "ew_unit"),
        (Length, "-30m", "greater_than"),
        (Duration, "0s", "greater_than"),
        (Ratio, "1:0", "ew_unit"),
        (Share, 0, "greater_than"),
        (Share, float("nan"), "less_than_equal"),
        (Whole, "8", "int_type"),
        (Whole, 8.0, "int_type"),
        (Whole, True, "int_type"),
        (Whole, 0, "greater_than"),
        (Name, "-a", "string_pattern_mismatch"),
        (Name, "a\n", "string_pattern_mismatch"),
        (Name, "a" * 64, "string_pattern_mismatch"),
    ],
)
def test_what_cannot_be_meant_is_refused(kind: object, text: object, error: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(text)
    assert caught.value.errors()[0]["type"] == error


@given(st.one_of(st.text(max_size=60), st.floats(), st.integers(), st.none(), st.booleans()))
def test_any_value_is_read_or_refused(value: object) -> None:
    for kind in (Rate, Size, Length, Duration, Power, Count, Ratio):
        try:
            number = TypeAdapter(kind).validate_python(value)
        except ValidationError:
            continue
        assert number > 0


@pytest.mark.parametrize(
    ("bound", "parse"),
    [
        (quantities.MAX_RATE_BPS, units.parse_rate),
        (quantities.MAX_SIZE_BYTES, units.parse_size),
        (quantities.MAX_LENGTH_M, units.parse_length),
        (quantities.MAX_TIME_S, units.parse_time),
        (quantities.MAX_POWER_W, units.parse_power),
        (quantities.MAX_COUNT, units.parse_count),
    ],
)
def test_bounds_are_written_as_people_would(bound: float, parse: object) -> None:
    assert callable(parse)
    assert parse(written_bound(bound, parse.__name__.removeprefix("parse_"))) == bound
    assert written_bound(63) == "63"


def test_a_bound_of_servers_is_not_written_as_a_length() -> None:
    with pytest.raises(InputError) as error:
        parse_site("name: a\nservers: [{count: 1000000000}]\nfabric: {switch: 64x400G}\n", "site.yaml")
    assert [finding.args["limit"] for finding in error.value.findings] == ["10000000"]
    with pytest.raises(InputError) as error:
        parse_site(
            "name: a\nservers: [{}]\nfabric: {switch: 64x400G}\ncabling: {leaf_spine: {length: 20000km}}\n", "site.yaml"
        )
    assert "10000km" in {finding.args.get("limit") for finding in error.value.findings}
