"""perftest and OSU rows that no run prints, tests that are not known, and tests whose share of a port is not told."""

import json

import pytest

from eastwest.accept.facts import facts_of_flags
from eastwest.accept.results import Limits
from eastwest.accept.score import score_texts
from tests.dialects.bench import samples

G = 10**9
SIZES = (65536, 2**20, 2**23)
OSU_ROWS = "\n".join(f"{2**power:<20}{24500 * 2**power / (2**power + 8000):.2f}" for power in range(23))


def score(text: str, **flags):
    return score_texts([("-", text)], facts_of_flags({"nic_rate_bps": 100 * G, **flags}), Limits())


def codes(scored) -> set[str]:
    return {finding.code for finding in scored.findings}


def osu(title="Bandwidth", header="# Size      Bandwidth (MB/s)", rows=OSU_ROWS) -> str:
    return f"# OSU MPI-CUDA {title} Test v7.3\n{header}\n{rows}\n"


def perftest(last: str) -> str:
    """All sizes of a healthy test, the largest row replaced."""
    lines = samples.perftest(sizes=SIZES).splitlines()
    return "\n".join([*lines[:-2], last, lines[-1]]) + "\n"


@pytest.mark.parametrize(
    "last",
    [
        " 8388608    5000             nan                nan                nan",
        " 8388608    5000             -nan               -nan               -nan",
        " 8388608    5000             inf                inf                inf",
        " 8388608    5000             0.00               0.00               0.000000",
        " 8388608    5000             98.00              98.00              0.100000",
        " 8388608    5000             -98.00             -98.00             0.001460",
    ],
)
def test_a_largest_perftest_row_that_no_run_prints_leaves_no_verdict(last: str) -> None:
    scored = score(perftest(last))
    assert scored.verdict == "unknown"
    assert "EW-SCO-059" in codes(scored)
    assert score(samples.perftest(sizes=SIZES)).verdict == "pass"


@pytest.mark.parametrize("word", ["nan", "-nan", "inf", "0.00", "-24500.00"])
def test_a_largest_osu_row_that_no_run_prints_leaves_no_verdict(word: str) -> None:
    rows = OSU_ROWS.rpartition("\n")[0] + f"\n4194304             {word}"
    scored = score(osu(rows=rows), nic_rate_bps=200 * G)
    assert scored.verdict == "unknown"
    assert "EW-SCO-059" in codes(scored)
    assert score(osu(), nic_rate_bps=200 * G).verdict == "pass"


def test_only_rows_that_no_run_prints_are_no_measurement() -> None:
    scored = score(osu(rows="4194304             nan"))
    assert (scored.verdict, scored.results) == ("unknown", ())
    assert "EW-SCO-059" in codes(scored)


def test_a_latency_at_the_smallest_size_stands_whatever_the_largest_row_says() -> None:
    rows = "1                   2.10\n8                   2.10\n4194304             nan"
    assert score(osu("Latency", "# Size          Latency (us)", rows)).verdict == "warn"
    rows = "1                   nan\n8                   2.10\n4194304             180.00"
    assert score(osu("Latency", "# Size          Latency (us)", rows)).verdict == "unknown"


def test_rows_of_a_test_that_is_not_known_do_not_join_the_test_before() -> None:
    alone = score(osu(), nic_rate_bps=200 * G)
    other = osu("Ialltoallw", rows=OSU_ROWS.replace("4194304 ", "8388608 "))
    scored = score(osu() + other, nic_rate_bps=200 * G)
    assert [result.size_bytes for result in scored.results] == [result.size_bytes for result in alone.results]


def test_several_pairs_at_once_have_no_ceiling() -> None:
    header = "# [ pairs: 8 ] [ window size: 64 ]\n# Size                  MB/s        Messages/s"
    rows = "\n".join(f"{line}       1000.00" for line in OSU_ROWS.splitlines())
    scored = score(osu("Multiple Bandwidth / Message Rate", header, rows), nic_rate_bps=200 * G)
    assert (scored.verdict, "EW-SCO-014" in codes(scored)) == ("unknown", True)
    one = score(osu("Multiple Bandwidth / Message Rate", header.replace("8", "1"), rows), nic_rate_bps=200 * G)
    assert one.verdict == "pass"


def test_both_ports_in_one_test_are_not_asked_for_a_rate_that_is_given() -> None:
    scored = score(samples.perftest().replace("Dual-port       : OFF", "Dual-port       : ON"))
    (result,) = scored.results
    assert (scored.verdict, result.missing, "EW-SCO-075" in codes(scored)) == ("unknown", (), True)


HUGE = "9" * 400


@pytest.mark.parametrize(
    "text",
    [
        osu("Latency", "# Size          Latency (us)", f"1                   {HUGE}"),
        osu(rows=f"4194304             {HUGE}"),
        osu("Latency", "# Size          Latency (us)   Min (us)   Max (us)", f"1        2.1   2.0   {HUGE}"),
        perftest(f" 8388608    5000             {HUGE}              {HUGE}              {HUGE}"),
        "        1024           256     float     sum      -1  1e9999    0.00    0.00      0\n" * 3,
        f"# Avg bus bandwidth    : {HUGE}\n",
        f"# Out of bounds values : {HUGE} FAILED\n",
        f"4 nodes 8x400G busbw {HUGE} GB/s",
    ],
)
def test_a_number_beyond_all_numbers_is_none(text: str) -> None:
    scored = score(text)
    json.dumps(scored.as_json(), allow_nan=False)
    assert scored.verdict in ("unknown", "fail")


def test_fewer_ranks_than_servers_make_no_ceiling_of_nothing() -> None:
    table = samples.nccl_tests(hosts=["node-a"], each=1, busbw=300.0, ranks=2)
    scored = score("2 nodes\n" + table, nodes=2, nics_per_server=4, nic_rate_bps=100 * G, gpu="h100", ranks=1)
    assert scored.verdict in ("unknown", "fail")
