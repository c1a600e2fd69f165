"""Whole answers: the cases of the field with synthetic inputs of the same shape and numbers."""

import pytest

from eastwest.accept.facts import facts_of_flags
from eastwest.accept.results import Limits
from eastwest.accept.score import score_texts
from tests.dialects.bench import samples

G = 10**9
FIVE = (1024, 2**20, 2**27, 2**30, 2**33)


def score(text: str, limits: Limits | None = None, **flags):
    return score_texts([("-", text)], facts_of_flags(flags), limits or Limits())


def codes(scored) -> set[str]:
    return {finding.code for finding in scored.findings}


def nics(count: int, gbps: int, **more):
    return {"nics_per_server": count, "nic_rate_bps": gbps * G, **more}


def fabric(nodes=4, level=190.0, **table):
    return samples.nccl_tests(hosts=[f"node-{index}" for index in range(nodes)], busbw=level, **table)


# A01
@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_a_perfect_result_passes_whatever_its_average(nodes: int) -> None:
    told = f'{nodes} nodes, 4x200G per node, all_reduce busbw 95.97 GB/s at 128 MB, "Avg bus bandwidth 84.86"'
    scored = score(told)
    (result,) = scored.results
    assert (scored.verdict, result.verdict) == ("pass", "pass")
    assert result.of_ceiling_ratio == pytest.approx(95.97 / 96)
    assert result.ceiling.name == "ring"
    assert result.measured_bytes_per_s == 95.97e9
    assert "EW-SCO-018" in codes(scored)


# A03
def test_a_fall_with_the_number_of_servers_fails_and_two_are_not_compared() -> None:
    scored = score("8x100G RoCE per node; busbw 100 (2 nodes), 70 (3), 58 (4-5), 40 (6)")
    assert scored.verdict == "fail"
    two, *more = scored.results
    assert not two.comparable
    assert two.verdict == "warn"
    assert [(result.nodes, result.verdict) for result in more] == [(3, "fail"), (4, "fail"), (5, "fail"), (6, "fail")]
    assert [round(100 * result.of_ceiling_ratio) for result in more] == [73, 60, 60, 42]
    assert {"EW-SCO-004", "EW-SCO-030"} <= codes(scored)
    assert "EW-SCO-033" not in codes(scored)  # 73 % is no three quarters in a series that falls


# A06
@pytest.mark.parametrize("order", ["interleaved", "one after the other"])
def test_two_jobs_of_one_server_are_refused(order: str) -> None:
    if order == "interleaved":
        lines = [samples.banner(8), samples.banner(8), *samples.ranks_of(["node-a"]), *samples.ranks_of(["node-b"])]
        lines += samples.header() + [row for row in samples.rows(ranks=8, busbw=475.0) for _ in range(2)]
        text = "\n".join(lines) + "\n"
    else:
        text = "".join(samples.nccl_tests(hosts=[host], busbw=475.0) for host in ("node-a", "node-b"))
    scored = score(text, **nics(8, 400))
    assert scored.verdict == "fail"
    assert scored.results == ()
    (finding,) = (finding for finding in scored.findings if finding.code == "EW-SCO-001")
    assert "2 independent jobs of 8 ranks, not 16 ranks" in finding.sentence()
    assert "MPI=1" in finding.hint()
    assert any("nThread" in line.text for line in finding.evidence)


def test_the_same_server_twice_is_a_repetition_and_is_judged() -> None:
    text = samples.nccl_tests(hosts=["node-a"], busbw=475.0) * 2
    scored = score(text)
    assert len(scored.results) == 2
    assert scored.verdict == "pass"


def test_hosts_that_call_themselves_localhost_are_not_one_host() -> None:
    assert score(samples.nccl_tests(hosts=["localhost"], busbw=475.0) * 2).verdict == "fail"


def test_single_server_runs_that_were_meant_are_judged() -> None:
    text = "".join(samples.nccl_tests(hosts=[host], busbw=475.0) for host in ("node-a", "node-b"))
    assert score(text, nodes=1).verdict == "pass"


def test_ranks_on_one_host_contradict_two_servers() -> None:
    scored = score(samples.nccl_tests(hosts=["node-a"]), **nics(8, 400, nodes=2))
    assert (scored.verdict, scored.results) == ("fail", ())
    assert "EW-SCO-002" in codes(scored)


# A08
def test_the_average_line_alone_is_no_measurement() -> None:
    scored = score("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 6\n", **nics(8, 400))
    assert (scored.verdict, scored.results) == ("unknown", ())
    assert "EW-SCO-052" in codes(scored)


def test_plateau_its_begin_and_latency_are_told_apart() -> None:
    (result,) = score(fabric(average="6"), **nics(8, 200)).results
    assert result.measured_bytes_per_s == pytest.approx(190e9, rel=0.01)
    assert result.plateau_from_bytes in (2**26, 2**27, 2**28)
    assert result.latency_s == pytest.approx(40e-6, rel=0.2)


@pytest.mark.parametrize(
    ("level", "verdict"), [(190, "pass"), (173, "pass"), (172, "warn"), (135, "warn"), (133, "fail"), (20, "fail")]
)
def test_the_limits_are_90_and_70_percent(level: float, verdict: str) -> None:
    assert score(fabric(level=level, latency_us=0.1), **nics(8, 200)).verdict == verdict


def test_the_limits_can_be_moved() -> None:
    text = fabric(level=150)
    assert score(text, **nics(8, 200)).verdict == "warn"
    assert score(text, Limits(fail_ratio=0.8), **nics(8, 200)).verdict == "fail"
    assert score(text, Limits(pass_ratio=0.75), **nics(8, 200)).verdict == "pass"
    assert score(text, Limits(target_bytes_per_s=160e9), **nics(8, 200)).verdict == "fail"


@pytest.mark.parametrize("limits", [Limits(target_bytes_per_s=200e9), Limits(fail_ratio=1.1)])
def test_a_target_above_the_ceiling_is_told(limits: Limits) -> None:
    scored = score(fabric(level=190), limits, **nics(8, 200))
    assert "EW-SCO-058" in codes(scored)


def test_a_target_that_cannot_be_reached_does_not_fail_a_good_result() -> None:
    assert score(fabric(level=190), Limits(target_bytes_per_s=200e9), **nics(8, 200)).verdict == "pass"


# Limiters
@pytest.mark.parametrize(
    ("level", "code"),
    [
        (24.0, "EW-SCO-022"),
        (96.0, "EW-SCO-023"),
        (168.0, "EW-SCO-024"),
        (144.0, "EW-SCO-033"),
        (48.0, "EW-SCO-025"),
        (3.0, "EW-SCO-021"),
        (0.5, "EW-SCO-028"),
        (120.0, "EW-SCO-039"),
    ],
)
def test_a_telling_ratio_names_its_limiter(level: float, code: str) -> None:
    scored = score(fabric(level=level, latency_us=1.0), **nics(8, 200))
    assert scored.limiter.code == code
    assert scored.as_json()["limiter"] == scored.limiter.sentence()
    assert scored.limiter.evidence[0].text


def test_the_log_beats_the_ratio() -> None:
    log = "node-0:77:90 [0] NCCL INFO Using network Socket\n"
    scored = score(log + fabric(level=96.0), **nics(8, 200))
    assert scored.limiter.code == "EW-SCO-020"


@pytest.mark.parametrize(("n_adapters", "is_believed"), [(8, True), (10, False), (12, False)])
def test_adapters_of_the_log_are_nics_when_they_are_a_power_of_two(n_adapters: int, is_believed: bool) -> None:
    """Storage and management adapters stand in the same line of the log: 12 of them are no 12 NICs."""
    listed = " ".join(f"[{index}]mlx5_{index}:1/IB" for index in range(n_adapters))
    log = f"node-0:77:90 [0] NCCL INFO NET/IB : Using {listed} [RO]; OOB eth0:192.0.2.1<0>\n"
    (result,) = score(log + fabric(level=190.0), nic_rate_bps=200 * G).results
    assert result.verdict == ("pass" if is_believed else "unknown")
    assert (result.missing == ()) == is_believed


def test_one_gpu_of_a_server_uses_the_nic_beside_it() -> None:
    text = samples.nccl_tests(hosts=[f"node-{index}" for index in range(4)], each=1, busbw=46.0, latency_us=1.0)
    scored = score(text, **nics(8, 400))
    assert scored.verdict == "pass"
    assert any("nics_used = 1" in told for told in scored.assumed)


def test_nvls_that_is_not_used_is_told() -> None:
    scored = score(samples.nccl_tests(hosts=["node-a"], busbw=366.0, latency_us=5.0))
    assert scored.verdict == "warn"
    assert scored.limiter.code == "EW-SCO-027"
    ring = score(samples.nccl_tests(hosts=["node-a"], busbw=366.0, latency_us=5.0), algorithm="ring")
    assert ring.verdict == "pass"


# What must not be judged
def test_one_host_is_no_test_of_the_fabric() -> None:
    scored = score(samples.nccl_tests(hosts=["node-a"], busbw=475.0))
    (result,) = scored.results
    assert (scored.verdict, result.ceiling.name, result.crosses_network) == ("pass", "NVLS", False)
    (finding,) = (finding for finding in scored.findings if finding.code == "EW-SCO-003")
    assert "0 B cross the network" in finding.sentence()
    assert "mpirun -np 16" in finding.hint()


@pytest.mark.parametrize("gpu", ["NVIDIA H100 PCIe", "AMD Instinct MI300X", "NVIDIA L40S"])
def test_one_host_with_an_unknown_ceiling_cannot_be_told(gpu: str) -> None:
    scored = score(samples.nccl_tests(hosts=["node-a"], gpu=gpu, busbw=40.0), **nics(8, 400))
    assert scored.verdict == "unknown"
    assert scored.results[0].ceiling is None


def test_missing_nics_are_asked_for() -> None:
    scored = score(fabric())
    assert scored.verdict == "unknown"
    assert scored.results[0].missing == ("--nic 400G", "--nics-per-server 8")
    (finding,) = (finding for finding in scored.findings if finding.code == "EW-SCO-010")
    assert "99 % of 8 x 200G" in finding.sentence()


def test_eight_ranks_without_hosts_may_be_anywhere() -> None:
    text = "\n".join(samples.rows(ranks=8, sizes=FIVE)) + "\n"
    scored = score(text, **nics(8, 400))
    assert scored.verdict == "unknown"
    assert "--nodes N" in scored.results[0].missing


def test_one_process_with_eight_gpus_is_one_host() -> None:
    text = "\n".join([samples.banner(8), *samples.header(), *samples.rows(ranks=8, busbw=475.0)]) + "\n"
    (result,) = score(text, gpu="h100").results
    assert (result.nodes, result.verdict) == (1, "pass")


@pytest.mark.parametrize("kept", [slice(8, None), slice(0, 8), slice(3, 12)])
def test_a_list_of_ranks_that_lost_lines_is_no_single_host(kept: slice) -> None:
    """The banner's list cut in two: 8 ranks on one host are left, but the numbers are those of 16."""
    ranks = samples.ranks_of(["node-a", "node-b"])[kept]
    text = "\n".join([*ranks, *samples.header(), *samples.rows(ranks=16), *samples.footer()]) + "\n"
    (result,) = score(text, **nics(8, 200)).results
    assert (result.nodes, result.gpus, result.verdict) == (2, 16, "pass")


@pytest.mark.parametrize("largest", [2**16, 2**20, 2**23])
def test_a_curve_that_still_rises_is_not_failed(largest: int) -> None:
    sizes = tuple(size for size in samples.SIZES if size <= largest)
    text = samples.nccl_tests(hosts=["a", "b", "c", "d"], sizes=sizes)
    scored = score(text, **nics(8, 200))
    assert scored.verdict == "unknown"
    assert "EW-SCO-008" in codes(scored)


def test_more_than_the_inputs_allow_is_no_pass() -> None:
    scored = score(fabric(level=370.0), **nics(4, 100))
    assert scored.verdict == "unknown"
    assert "EW-SCO-007" in codes(scored)


# Defects whatever the ceiling
def test_wrong_elements_fail() -> None:
    scored = score(fabric(wrong="2"), **nics(8, 200))
    assert scored.verdict == "fail"
    assert "EW-SCO-051" in codes(scored)


def test_a_run_that_died_fails_and_its_rows_are_judged() -> None:
    died = "node-a: Test NCCL failure common.cu:1005 'remote process exited or there was a network error'\n"
    scored = score(fabric() + died, **nics(8, 200))
    assert (scored.verdict, scored.results[0].verdict) == ("fail", "pass")


def test_a_collapse_fails_without_any_ceiling() -> None:
    levels = {size: 5.2 for size in samples.SIZES if size > 2**25}
    scored = score(fabric(level=29.5, levels=levels))
    assert scored.verdict == "fail"
    assert "EW-SCO-011" in codes(scored)


@pytest.mark.parametrize(
    "text",
    [
        " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n",
        "ERROR: this application must be run on at least 10 nodes\n",
        "hello\n",
        "",
        samples.banner() + "\n",
    ],
)
def test_nothing_measured_is_neither_zero_nor_a_pass(text: str) -> None:
    scored = score(text, **nics(8, 200, nodes=2))
    assert (scored.verdict, scored.results) == ("unknown", ())


# Other collectives and tools
def test_all_to_all_needs_its_name_where_columns_leave_it_open() -> None:
    text = fabric(collective="alltoall", level=20.0)
    (asked,) = score(text, **nics(8, 200)).results[0].missing
    assert asked.startswith("--collective all_gather (or all_to_all, gather, scatter")
    (result,) = score(text, **nics(8, 200, collective="all_to_all")).results
    assert result.ceiling.bytes_per_s == pytest.approx(24e9 * 31 / 24)


def test_send_and_receive_is_one_nic() -> None:
    (result,) = score(
        "# Collective test starting: sendrecv_perf\n" + fabric(collective="sendrecv", level=13.1), **nics(8, 400)
    ).results
    assert (result.collective, result.ceiling.name, result.verdict) == ("sendrecv", "single NIC", "fail")


@pytest.mark.parametrize(
    ("level", "gbps", "verdict", "limiter"),
    [
        (98.0, 100, "pass", None),
        (98.0, 200, "fail", "EW-SCO-035"),
        (80.0, 100, "warn", "EW-SCO-039"),
        (98.0, 400, "fail", "EW-SCO-040"),
    ],
)
def test_perftest_against_the_wire_less_headers(level: float, gbps: int, verdict: str, limiter: str | None) -> None:
    scored = score(samples.perftest(level=level), nic_rate_bps=gbps * G)
    assert scored.verdict == verdict
    assert (scored.limiter.code if scored.limiter else None) == limiter


def test_perftest_without_a_rate_cannot_be_told() -> None:
    scored = score(samples.perftest(level=98.0))
    assert scored.verdict == "unknown"
    assert scored.results[0].missing == ("--nic 400G",)


def test_a_small_message_is_no_fault_of_the_wire() -> None:
    scored = score(samples.perftest(level=98.0, sizes=(2, 1024)), nic_rate_bps=100 * G)
    assert scored.verdict == "unknown"


def test_a_loopback_crosses_no_network() -> None:
    (result,) = score(samples.perftest("MB", level=24000.0, ends="aa")).results
    assert (result.verdict, result.crosses_network) == ("unknown", False)
    (result,) = score(samples.perftest("MB", level=24000.0, ends="aa"), pcie_generation=4).results
    assert (result.verdict, result.ceiling.name) == ("pass", "pcie")


def test_osu_pairs_and_collectives_are_judged() -> None:
    pair = "# OSU MPI-CUDA Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n4194304      48500.0\n"
    assert score(pair, nic_rate_bps=400 * G).verdict == "pass"
    head = "# OSU MPI-CUDA Allreduce Latency Test v7.5\n# Size   Avg Latency(us)\n"
    scored = score(head + "268435456   5300.00\n536870912   10500.00\n", **nics(8, 200, nodes=4, gpus_per_server=8))
    assert scored.results[0].measured_bytes_per_s == pytest.approx(536870912 / 10500e-6 * 2 * 31 / 32)
    assert scored.verdict == "fail"


def test_gpcnet_is_judged_by_a_ranks_share() -> None:
    text = """Network Tests v1.3
  Test with 128 MPI ranks (16 nodes)
|                            Name |          Avg |          99% |        Units |
|      RR Two-sided BW (131072 B) |      22000.0 |      15000.0 |   MiB/s/rank |
"""
    (result,) = score(text, **nics(8, 200)).results
    assert result.ceiling.bytes_per_s == pytest.approx(24e9)
    assert result.verdict == "pass"


def test_every_assumption_is_printed() -> None:
    scored = score("\n".join(samples.rows(ranks=16)) + "\n", **nics(8, 200))
    assert [text.split(" = ")[0] for text in scored.assumed] == ["nodes", "gpus_per_server"]


def test_files_of_one_series_are_compared_with_each_other() -> None:
    texts = [(f"run-{nodes}.txt", fabric(nodes=nodes, level=level)) for nodes, level in ((3, 140), (4, 110), (8, 60))]
    scored = score_texts(texts, facts_of_flags(nics(8, 200)), Limits())
    assert scored.verdict == "fail"
    assert [result.verdict for result in scored.results] == ["fail", "fail", "fail"]
    assert "EW-SCO-030" in codes(scored)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_json_has_the_contract_in_both_languages(lang: str) -> None:
    document = score(fabric(level=96.0), **nics(8, 200)).as_json(lang)
    assert set(document) == {"schema", "verdict", "findings", "results", "assumed", "limiter"}
    result = document["results"][0]
    keys = {
        "collective",
        "nodes",
        "gpus",
        "size_bytes",
        "measured_bytes_per_s",
        "ceiling",
        "of_ceiling_ratio",
        "verdict",
    }
    assert keys <= set(result)
    assert {"name", "bytes_per_s", "formula"} <= set(result["ceiling"])
