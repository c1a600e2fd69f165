"""Units: what people write is read as they mean it, what is ambiguous is refused, what is printed can be read again."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest import units
from eastwest.units import UnitError


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (units.parse_rate, "400G", 400 * 10**9),
        (units.parse_rate, "25.6T", 25_600 * 10**9),
        (units.parse_rate, "100Gbps", 100 * 10**9),
        (units.parse_rate, "100 Gb/s", 100 * 10**9),
        (units.parse_rate, "100gbit/s", 100 * 10**9),
        (units.parse_rate, 1_000_000, 10**6),
        (units.parse_rate, "1e9", 10**9),
        (units.parse_size, "9216", 9216),
        (units.parse_size, "9216B", 9216),
        (units.parse_size, "25MB", 25_000_000),
        (units.parse_size, "25MiB", 25 * 2**20),
        (units.parse_size, "1.5 GiB", 3 * 2**29),
        (units.parse_length, "30m", 30.0),
        (units.parse_length, "10km", 10_000.0),
        (units.parse_length, "50 cm", 0.5),
        (units.parse_time, "10us", 1e-5),
        (units.parse_time, "10µs", 1e-5),
        (units.parse_time, "200ms", 0.2),
        (units.parse_time, "22min", 1320.0),
        (units.parse_time, "2h", 7200.0),
        (units.parse_power, "700W", 700.0),
        (units.parse_power, "10.2kW", 10_200.0),
        (units.parse_count, "70B", 70 * 10**9),
        (units.parse_count, "1.5T", 1_500 * 10**9),
        (units.parse_count, "128_000", 128_000),
        (units.parse_ratio, "2:1", 2.0),
        (units.parse_ratio, "1:2", 0.5),
        (units.parse_ratio, "1.67:1", 1.67),
        (units.parse_ratio, 3, 3.0),
    ],
)
def test_text_is_read_as_meant(parse: Callable[[object], float], text: object, value: float) -> None:
    assert parse(text) == pytest.approx(value, rel=1e-12)  # decimal text to binary floats


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (units.parse_rate, "400GB", "B is bytes; rates of links are in bits"),
        (units.parse_rate, "50 GB/s", "B is bytes; rates of links are in bits"),
        (units.parse_rate, "400X", ""),
        (units.parse_rate, "fast", ""),
        (units.parse_rate, "1.5", "not a whole number of the base unit"),
        (units.parse_rate, None, ""),
        (units.parse_rate, True, ""),
        (units.parse_size, "400Gb", "b is bits; sizes are in bytes"),
        (units.parse_size, "4M", ""),
        (units.parse_size, "0.5", "not a whole number of the base unit"),
        (units.parse_length, "30", "a length needs its unit"),
        (units.parse_length, "30ft", ""),
        (units.parse_time, "30", "a time needs its unit"),
        (units.parse_time, "30M", ""),
        (units.parse_power, "700", "a power needs its unit"),
        (units.parse_power, "700mW", ""),
        (units.parse_count, "70Q", ""),
        (units.parse_ratio, "1:0", "both sides above zero"),
        (units.parse_ratio, "0:1", "both sides above zero"),
        (units.parse_ratio, "a:b", ""),
        (units.parse_ratio, "nan:1", ""),
        (units.parse_ratio, "0", ""),
        (units.parse_ratio, "2x", ""),
    ],
)
def test_what_is_ambiguous_is_refused_with_its_reason(
    parse: Callable[[object], float], text: object, reason: str
) -> None:
    with pytest.raises(UnitError) as caught:
        parse(text)
    assert caught.value.found == text
    assert caught.value.expected in str(caught.value)
    assert reason.split(" must be ")[0].split(" above")[0] in caught.value.reason


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (units.format_rate(400 * 10**9), "400G"),
        (units.format_rate(25.6e12), "25.6T"),
        (units.format_rate(1_500_000), "1.5M"),
        (units.format_port_rate(1600 * 10**9), "1,600G"),
        (units.format_bandwidth(48.5e9), "48.5 GB/s"),
        (units.format_size(200e9), "200 GB"),
        (units.format_size(1.6e12), "1.6 TB"),
        (units.format_time(540), "9 min"),
        (units.format_time(90), "90 s"),
        (units.format_time(4), "4 s"),
        (units.format_time(0.085), "85 ms"),
        (units.format_time(1e-5), "10 µs"),
        (units.format_time(0), "0 s"),
        (units.format_time(5e-12), "5 ps"),
        (units.format_length(30), "30 m"),
        (units.format_length(10_000), "10 km"),
        (units.format_power(10_200), "10.2 kW"),
        (units.format_count(70e9), "70B"),
        (units.format_count(8192), "8,192"),
        (units.format_ratio(1), "1:1"),
        (units.format_ratio(5 / 3), "1.667:1"),
        (units.format_percent(0.38), "38 %"),
    ],
)
def test_values_are_shown_in_the_words_of_the_field(text: str, shown: str) -> None:
    assert text == shown


@given(st.integers(1, 10**15))
def test_a_plain_number_is_its_own_rate_and_size(number: int) -> None:
    assert units.parse_rate(number) == units.parse_rate(str(number)) == number
    assert units.parse_size(f"{number}B") == number


@given(st.integers(1, 9999), st.sampled_from("KMGT"))
def test_a_shown_rate_is_read_back(number: int, prefix: str) -> None:
    rate_bps = units.parse_rate(f"{number}{prefix}")
    assert units.parse_rate(units.format_rate(rate_bps, digits=6).replace(",", "")) == rate_bps


@given(st.integers(1, 9999))
def test_decimal_and_binary_prefixes_differ(number: int) -> None:
    assert units.parse_size(f"{number}MiB") * 10**6 == units.parse_size(f"{number}MB") * 2**20


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    parsers = (units.parse_rate, units.parse_size, units.parse_length, units.parse_time, units.parse_ratio)
    for parse in (*parsers, units.parse_power, units.parse_count):
        try:
            value = parse(text)
        except UnitError as error:
            value = error
        assert isinstance(value, int | float | UnitError)
