"""Inputs that once got a wrong verdict for certain: several jobs in one text, options against the text, broken rows."""

import pytest

from tests.accept.test_score import G, codes, fabric, nics, score
from tests.dialects.bench import samples


# Several jobs in one text
def in_turn(one: str, other: str, labels=("", "")) -> str:
    pairs = zip(one.splitlines(), other.splitlines(), strict=True)
    return "".join(f"{labels[0]}{left}\n{labels[1]}{right}\n" for left, right in pairs)


FOUR, OTHERS = [f"node-{index}" for index in range(4)], [f"cpu-{index}" for index in range(4)]


def test_labelled_jobs_of_several_servers_are_judged_each() -> None:
    one, other = samples.nccl_tests(hosts=FOUR, busbw=190.0), samples.nccl_tests(hosts=OTHERS, busbw=90.0)
    scored = score(in_turn(one, other, ("jobA: ", "jobB: ")), **nics(8, 200))
    assert [result.verdict for result in scored.results] == ["pass", "fail"]
    assert "EW-SCO-001" not in codes(scored)


def test_jobs_that_shared_their_hosts_do_not_fail() -> None:
    one, other = (samples.nccl_tests(hosts=FOUR, busbw=busbw) for busbw in (190.0, 90.0))
    scored = score(in_turn(one, other, ("jobA: ", "jobB: ")), **nics(8, 200))
    assert [result.verdict for result in scored.results] == ["pass", "unknown"]
    assert "EW-SCO-073" in codes(scored)


def test_mingled_jobs_of_several_servers_are_no_single_host_jobs() -> None:
    one, other = samples.nccl_tests(hosts=FOUR, busbw=190.0), samples.nccl_tests(hosts=OTHERS, busbw=90.0)
    scored = score(in_turn(one, other), **nics(8, 200))
    assert (scored.verdict, scored.results) == ("unknown", ())
    assert codes(scored) == {"EW-SCO-061"}


def test_mingled_rows_below_one_banner_are_no_verdict() -> None:
    rows = in_turn("\n".join(samples.rows(ranks=32)), "\n".join(samples.rows(ranks=32, busbw=90.0))).splitlines()
    scored = score(samples.nccl_tests(hosts=FOUR, own=rows), **nics(8, 200))
    assert (scored.verdict, codes(scored)) == ("unknown", {"EW-SCO-061"})


def test_a_text_that_repeats_every_line_is_judged_once() -> None:
    text = samples.nccl_tests(hosts=FOUR, busbw=190.0)
    scored = score(in_turn(text, text), **nics(8, 200))
    assert (scored.verdict, len(scored.results)) == ("pass", 1)
    assert "EW-SCO-062" in codes(scored)


# A06 without the list of devices
def driven(busbw: float = 475.0) -> str:
    lines = [samples.banner(8), *samples.header(), *samples.rows(ranks=8, busbw=busbw), *samples.footer()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("flags", "verdict", "code"),
    [({}, "unknown", "EW-SCO-063"), ({"nodes": 2}, "fail", "EW-SCO-001"), ({"nodes": 1}, "pass", "EW-SCO-003")],
)
def test_two_runs_of_one_process_each_crossed_no_network(flags, verdict: str, code: str) -> None:
    scored = score(driven() + driven(474.0), gpu="h100", **flags)
    assert scored.verdict == verdict
    (finding, *_) = (finding for finding in scored.findings if finding.code == code)
    assert verdict == "pass" or "MPI=1" in finding.hint()


def test_one_process_is_not_two_servers() -> None:
    scored = score(driven(), **nics(8, 400, nodes=2))
    assert (scored.verdict, codes(scored)) == ("fail", {"EW-SCO-068"})


def test_mingled_banners_of_one_process_each_are_single_host_jobs() -> None:
    scored = score(in_turn(driven(), driven(470.0)))
    assert (scored.verdict, codes(scored)) == ("fail", {"EW-SCO-001"})


# Options against the text
@pytest.mark.parametrize(
    ("flags", "verdict"),
    [
        ({"nodes": 1}, "unknown"),
        ({"nodes": 7}, "warn"),
        ({"nodes": 4}, "pass"),
        ({"gpus_per_server": 4}, "warn"),
        ({"gpus_per_server": 8}, "pass"),
        ({"collective": "all_to_all"}, "unknown"),
        ({"gpu": "a100"}, "warn"),
        ({"gpu": "h100"}, "pass"),
    ],
)
def test_an_option_that_contradicts_the_text_is_told(flags, verdict: str) -> None:
    scored = score(fabric(), **nics(8, 200, **flags))
    assert scored.verdict == verdict
    assert ("EW-SCO-064" in codes(scored)) == (verdict != "pass")
    if verdict == "unknown":
        (finding,) = (finding for finding in scored.findings if finding.code == "EW-SCO-064")
        assert finding.hint().startswith("leave --")


def test_a_rate_that_contradicts_the_sentence_is_no_verdict() -> None:
    assert score("4 nodes, 8x200G, busbw 190 GB/s", nic_rate_bps=400 * G).verdict == "unknown"


# Rows that cannot be read
def test_an_unreadable_largest_row_is_no_pass() -> None:
    lines = fabric().splitlines()
    lines = [
        line.replace(line.split()[7], "nan", 1) if "8589934592 " in line and "float" in line else line for line in lines
    ]
    scored = score("\n".join(lines) + "\n", **nics(8, 200))
    assert scored.verdict == "unknown"
    (finding,) = (finding for finding in scored.findings if finding.code == "EW-SCO-059")
    assert "nan" in finding.evidence[0].text


def test_a_table_that_lost_its_largest_rows_is_no_plain_pass() -> None:
    sizes = tuple(size for size in samples.SIZES if size <= 2**31)
    scored = score(fabric(sizes=sizes), **nics(8, 200))
    assert scored.verdict == "warn"
    assert "EW-SCO-070" in codes(scored)


# Sentences
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("4 nodes 8x400G; yesterday all_reduce was 370 GB/s, today only 190 GB/s", "unknown"),
        ("4 nodes 8x400G; all_reduce 200 GB/s, then 190 GB/s", "fail"),
        ("4 nodes 8x400G busbw 2.9 Tb/s", "pass"),
        ("4 nodes 8x400G busbw -340 GB/s", "unknown"),
        ("4 nodes 8x400G busbw 340 gb/s", "unknown"),
        ("2 nodes, 8 GPUs each, 8x400G, allreduce 16 GB: algbw 259 busbw 486", "warn"),
        ("ib_write_bw 只有 92 Gb/s，网卡是 100G RoCE", "pass"),
    ],
)
def test_sentences_are_judged_by_what_they_say_for_certain(text: str, verdict: str) -> None:
    assert score(text).verdict == verdict


# NVL72
def test_nvl72_formulas_give_their_own_numbers_and_two_sets_have_no_ceiling() -> None:
    one = samples.nccl_tests(
        hosts=[f"t{n}" for n in range(18)], each=4, gpu="NVIDIA GB200", busbw=820.0, latency_us=1.0
    )
    (result,) = score(one).results
    assert result.verdict == "pass"
    assert "n = 8" in result.ceiling.formula
    two = samples.nccl_tests(hosts=[f"t{n}" for n in range(36)], each=4, gpu="NVIDIA GB200", busbw=360.0)
    scored = score(two, **nics(4, 400))
    assert (scored.verdict, scored.results[0].ceiling) == ("unknown", None)
    assert "EW-SCO-066" in codes(scored)


@pytest.mark.parametrize(
    "text",
    [
        "# OSU MPI-CUDA Allreduce Latency Test v7.5\n# Size   Avg Latency(us)\n268435456   5300.00\n",
        "# OSU MPI-CUDA Bandwidth Test v7.5\n# Size      Bandwidth (Mib/s)\n4194304      48500.0\n",
        "Network Tests v1.3\n| RR Two-sided BW+Sync (131072 B) | 22000.0 | MiB/s/rank |\n",
        "8x400G, algbw 180 GB/s",
    ],
)
def test_no_verdict_comes_without_a_way_out(text: str) -> None:
    scored = score(text)
    assert scored.verdict == "unknown"
    assert any(finding.severity == "warning" and finding.hint() for finding in scored.findings)
