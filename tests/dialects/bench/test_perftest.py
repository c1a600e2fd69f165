"""perftest: units, both ends in one stream, loopback, duration mode, errors, tables without their header."""

import pytest

from eastwest.dialects.bench.perftest import detect, read
from tests.dialects.bench import samples

ALL_SIZES = tuple(2**power for power in range(1, 24))


def only(text: str):
    (benchmark,) = read(text).benchmarks
    return benchmark


@pytest.mark.parametrize(
    ("rate", "level", "expected"),
    [("Gb", 98.0, 12.25e9), ("MB", 11000.0, 11000 * 2**20), ("MiB", 11000.0, 11000 * 2**20)],
)
def test_the_unit_of_the_header_counts(rate: str, level: float, expected: float) -> None:
    run = only(samples.perftest(rate, level=level))
    assert run.rows[0].out.busbw_bytes_per_s == pytest.approx(expected, rel=1e-3)
    assert run.settings["unit"] == rate


@pytest.mark.parametrize(
    ("title", "test"),
    [
        ("RDMA_Write BW", "ib_write_bw"),
        ("RDMA_Read BW", "ib_read_bw"),
        ("Send BW", "ib_send_bw"),
        ("RDMA_Write Bidirectional BW", "ib_write_bw"),
    ],
)
def test_every_bandwidth_test_is_named(title: str, test: str) -> None:
    run = only(samples.perftest(title=title))
    assert run.test == test
    assert (run.settings.get("bidirectional") == "yes") == ("Bidirectional" in title)


def test_all_sizes_are_rows_and_settings_are_kept() -> None:
    run = only(samples.perftest(sizes=ALL_SIZES))
    assert [row.size_bytes for row in run.rows] == list(ALL_SIZES)
    assert (run.settings["Mtu"], run.settings["Link type"], run.settings["Device"]) == ("4096[B]", "Ethernet", "mlx5_0")


def test_both_ends_in_one_stream_are_one_run() -> None:
    server, client = samples.perftest(ends="ab"), samples.perftest(ends="ba")
    run = only(server + "*" * 36 + "\n* Waiting for client to connect... *\n" + client)
    assert len(run.rows) == 1
    assert "loopback" not in run.settings or run.settings["loopback"] == "yes"


def test_the_same_address_at_both_ends_is_a_loopback() -> None:
    assert only(samples.perftest(ends="aa")).settings["loopback"] == "yes"
    assert "loopback" not in only(samples.perftest(ends="ab")).settings


def test_two_different_runs_stay_two() -> None:
    runs = read(samples.perftest(level=98.0) + samples.perftest(level=49.0, device="mlx5_1")).benchmarks
    assert [run.settings["Device"] for run in runs] == ["mlx5_0", "mlx5_1"]


def test_duration_mode_has_no_peak() -> None:
    text = samples.perftest().replace(" 98.00              98.00", "  0.00              98.00")
    run = only(text)
    assert run.rows[0].statistics == {}
    assert run.rows[0].out.busbw_bytes_per_s == 12.25e9


def test_latency_rows_are_in_seconds() -> None:
    text = (
        "           RDMA_Write Latency Test\n #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]"
        "    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n"
        " 2       1000          1.80           9.00         1.90             1.95           0.10     2.10      9.00\n"
    )
    run = only(text)
    assert run.test == "ib_write_lat"
    assert run.rows[0].out.time_s == pytest.approx(1.95e-6)
    assert run.rows[0].statistics["p999"] == pytest.approx(9e-6)


def test_duration_mode_of_a_latency_test_has_its_own_columns() -> None:
    text = """                    Send Latency Test
 #bytes        #iterations       t_avg[usec]    tps average
Conflicting CPU frequency values detected: 1200.0 != 3200.0. CPU Frequency is not max.
 2             1500000           2.05           243902.44
"""
    run = only(text)
    assert run.test == "ib_send_lat"
    assert run.rows[0].out.time_s == pytest.approx(2.05e-6)


def test_a_row_without_its_header_tells_its_unit_by_its_message_rate() -> None:
    line = samples.perftest().splitlines()[-2]
    assert only(line + "\n").rows[0].out.busbw_bytes_per_s == 12.25e9


def test_a_row_that_contradicts_itself_is_not_taken() -> None:
    text = samples.perftest().replace("98.00  \t\t   0.186920", "98.00  \t\t   0.500000")
    assert "0.500000" in text
    assert only(text).rows == ()


@pytest.mark.parametrize(
    "text",
    [
        " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\nscnt=128, ccnt=0\n",
        "Couldn't connect to node-b:18515\nUnable to init the socket connection in ib_write_bw\n",
        "Failed to modify QP 305 to RTR\n Unable to Connect the HCA's through the link in ib_write_bw\n",
        "IB device mlx5_9 not found\n Unable to find the Infiniband/RoCE device, ib_read_bw\n",
    ],
)
def test_an_error_is_no_row(text: str) -> None:
    assert detect(text) or "IB device" in text
    runs = read(text).benchmarks
    assert all(not run.rows for run in runs)
    assert any(run.errors for run in runs)


@pytest.mark.parametrize("text", ["", "hello world", "1 2 3 4 5", "all_reduce_perf"])
def test_other_text_is_not_taken(text: str) -> None:
    assert not detect(text)
