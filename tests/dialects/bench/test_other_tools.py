"""OSU micro-benchmarks and GPCNeT."""

import pytest

from eastwest.dialects.bench import gpcnet, osu
from eastwest.dialects.bench.osu_units import as_nccl_rows
from eastwest.units import MEBI

OSU = """# OSU MPI-CUDA {} Test v7.5
# Datatype: MPI_CHAR.
# Size       {}
1                       {}
4194304                 {}
"""


@pytest.mark.parametrize(
    ("title", "column", "test", "values"),
    [
        ("Bandwidth", "Bandwidth (MB/s)", "osu_bw", (2.5, 24500.0)),
        ("Bi-Directional Bandwidth", "Bandwidth (MB/s)", "osu_bibw", (2.5, 48000.0)),
        ("Latency", "Avg Latency(us)", "osu_latency", (2.5, 180.0)),
        ("Allreduce Latency", "Avg Latency(us)", "all_reduce", (20.0, 300.0)),
        ("All-to-All Personalized Exchange Latency", "Avg Latency(us)", "all_to_all", (20.0, 3000.0)),
        ("Reduce_scatter Latency", "Avg Latency(us)", "reduce_scatter", (20.0, 300.0)),
    ],
)
def test_every_osu_test_is_named_with_its_unit(title, column, test, values) -> None:
    (run,) = osu.read(OSU.format(title, column, *values)).benchmarks
    assert run.test == test
    assert [row.size_bytes for row in run.rows] == [1, 4194304]
    side = run.rows[1].out
    if "MB/s" in column:
        assert side.busbw_bytes_per_s == values[1] * 1e6
    else:
        assert side.time_s == pytest.approx(values[1] * 1e-6)


def test_osu_collectives_get_their_bus_bandwidth_from_the_number_of_ranks() -> None:
    (run,) = osu.read(OSU.format("Allreduce Latency", "Avg Latency(us)", 20.0, 300.0)).benchmarks
    assert as_nccl_rows(run, None) is run
    row = as_nccl_rows(run, 16).rows[1]
    assert row.out.busbw_bytes_per_s == pytest.approx(4194304 / 300e-6 * 2 * 15 / 16)
    (run,) = osu.read(
        OSU.format("All-to-All Personalized Exchange Latency", "Avg Latency(us)", 20.0, 3000.0)
    ).benchmarks
    row = as_nccl_rows(run, 16).rows[1]
    assert row.size_bytes == 16 * 4194304  # OSU prints the part of one rank
    assert row.out.busbw_bytes_per_s == pytest.approx(16 * 4194304 / 3000e-6 * 15 / 16)


def test_a_failed_validation_is_kept() -> None:
    text = OSU.format("Bandwidth", "Bandwidth (MB/s)        Validation", "2.5  Pass", "24500.0  Fail")
    (run,) = osu.read(text).benchmarks
    assert run.out_of_bounds == 1


def test_the_last_digits_at_a_cut_are_not_believed() -> None:
    text = OSU.format("Bandwidth", "Bandwidth (MB/s)", 2.5, "24500.12")[:-4]
    assert [row.size_bytes for row in osu.read(text).benchmarks[0].rows] == [1]


GPCNET = """Network Tests v1.3
  Test with 128 MPI ranks (16 nodes)

  Legend
   RR = random ring communication pattern
+------------------------------------------------------------------------------+
|                            Isolated Network Tests                            |
+---------------------------------+--------------+--------------+--------------+
|                            Name |          Avg |          99% |        Units |
+---------------------------------+--------------+--------------+--------------+
|          RR Two-sided Lat (8 B) |          2.9 |          4.4 |         usec |
+---------------------------------+--------------+--------------+--------------+
|      RR Two-sided BW (131072 B) |      20000.0 |      15000.0 |   MiB/s/rank |
+---------------------------------+--------------+--------------+--------------+
"""


def test_gpcnet_rows_keep_their_unit() -> None:
    (run,) = gpcnet.read(GPCNET).benchmarks
    assert run.settings == {"version": "1.3", "ranks": "128", "nodes": "16"}
    latency, bandwidth = run.rows
    assert latency.out.time_s == pytest.approx(2.9e-6)
    assert bandwidth.out.busbw_bytes_per_s == 20000.0 * MEBI
    assert bandwidth.statistics["99%"] == 15000.0 * MEBI


def test_gpcnet_that_only_holds_an_error_has_no_rows() -> None:
    (run,) = gpcnet.read("ERROR: this application must be run on at least 10 nodes\n").benchmarks
    assert run.rows == ()
    assert run.errors[0].line == 1
