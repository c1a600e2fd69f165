"""The canonical counters: one row each, units of their own, and every indicator of the seeds covered."""

from typing import get_args

import pytest

from eastwest.counters import CANONICAL, SEED_INDICATORS, CounterKind, Event, Layer, Observation, counter
from eastwest.errors import UsageError

# What the simulator writes per port, from the command line's contract.
SIMULATED = [
    "tx_bytes",
    "ecn_marked_packets",
    "pfc_rx_frames",
    "pfc_tx_frames",
    "paused_s",
    "drops",
    "peak_queue_bytes",
]
UNIT_OF_SUFFIX = {
    "_bytes": "bytes",
    "_s": "s",
    "_ratio": "ratio",
    "_dbm": "dbm",
    "_packets": "packets",
    "_bps": "bps",
    "_w": "w",
}


@pytest.mark.parametrize("name", SIMULATED)
def test_what_the_simulator_writes_has_a_row(name: str) -> None:
    assert counter(name).name == name


def test_names_say_their_units() -> None:
    odd = [
        row.name
        for _, row in CANONICAL
        for suffix, unit in UNIT_OF_SUFFIX.items()
        if row.name.endswith(suffix) and not row.name.endswith("_per_s") and row.unit != unit
    ]
    assert odd == []


def test_every_row_is_complete() -> None:
    assert len(CANONICAL) >= 60
    for _, row in CANONICAL:
        assert row.kind in get_args(CounterKind)
        assert row.layer in get_args(Layer)
        assert row.meaning
        assert row.view
        assert row.unit


def test_watermarks_are_told_from_counters() -> None:
    peaks = {row.name for _, row in CANONICAL if row.kind == "watermark"}
    assert peaks == {name for name in CANONICAL.names() if name.startswith("peak_")}


def test_the_two_directions_of_pause_point_opposite_ways() -> None:
    assert "peer pauses us" in counter("paused_s").view
    assert "downstream" in counter("pfc_rx_frames").look
    assert "we pause the peer" in counter("pausing_s").view
    assert "this device" in counter("pfc_tx_frames").look


def test_the_seeds_indicators_are_covered() -> None:
    assert all(counter(name) for names in SEED_INDICATORS.values() for name in names)
    assert {counter(name).layer for names in SEED_INDICATORS.values() for name in names} >= {
        "physical",
        "link",
        "transport",
    }


def test_an_unknown_counter_names_the_nearest() -> None:
    with pytest.raises(UsageError) as refused:
        counter("pfc_rx_frame")
    assert "pfc_rx_frames" in refused.value.hint


def test_readings_and_events_are_plain_data() -> None:
    reading = Observation(1.5, "leaf-01", "port1", 3, "paused_s", 0.25, "s", "dump.txt", 7)
    assert reading.as_json() == {
        "time": 1.5,
        "device": "leaf-01",
        "port": "port1",
        "priority": 3,
        "counter": "paused_s",
        "value": 0.25,
        "unit": "s",
        "source": "dump.txt",
        "line": 7,
    }
    assert Event(None, "leaf-01", "link_down", "port1 went down").as_json()["kind"] == "link_down"
