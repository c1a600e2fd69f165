"""Results told in sentences: what is named, what is only likely, and what must be asked."""

import pytest

from eastwest.accept.facts import facts_of_flags
from eastwest.accept.results import Limits
from eastwest.accept.score import score_texts
from tests.dialects.bench import samples

G = 10**9


def score(text: str, **flags):
    return score_texts([("-", text)], facts_of_flags(flags), Limits())


def codes(scored) -> set[str]:
    return {finding.code for finding in scored.findings}


def told(scored) -> list[tuple]:
    return [(result.collective, result.measured_bytes_per_s, result.verdict) for result in scored.results]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4 nodes 8x400G busbw 3.7e2 GB/s", 370e9),
        ("4 nodes 8x400G busbw 3.7e2", 370e9),
        ("4 nodes 8x400G busbw 3.7E+05 MB/s", 370e9),
    ],
)
def test_an_exponent_belongs_to_its_number(text: str, value: float) -> None:
    assert told(score(text)) == [("all_reduce", pytest.approx(value), "pass")]


@pytest.mark.parametrize(
    "text",
    [
        "busbw for 4 nodes with 8x400G is 370 GB/s",
        "all_reduce busbw (4 nodes, 8x400G) = 370GB/s",
        "busbw of 32 GPUs in 4 nodes, 8x400G: 370 GB/s",
        "busbw at 8 GB is 370 GB/s on 4 nodes with 8x400G",
        "busbw for 4 DGX H100 nodes, 8x400G: 370 GB/s",
        "busbw 4台 8x400G 370 GB/s",
        "busbw 370 across servers, 4 nodes, 8x400G",
    ],
)
def test_a_count_or_a_size_behind_the_word_is_no_bandwidth(text: str) -> None:
    assert [(value, verdict) for _, value, verdict in told(score(text))] == [(370e9, "pass")]


def test_a_count_behind_the_word_alone_is_nothing() -> None:
    assert score("busbw for 4 nodes with 8x400G is fine").verdict == "unknown"


@pytest.mark.parametrize("word", ["370x", "3.7e", "370e400", "3.7e2.5", "190ish"])
def test_letters_at_a_number_that_are_no_unit_leave_it_open(word: str) -> None:
    scored = score(f"4 nodes 8x400G busbw {word}")
    assert scored.verdict == "unknown"
    assert "EW-SCO-069" in codes(scored)


@pytest.mark.parametrize(
    "text",
    [
        "4 nodes 8x400G: all_reduce 370 GB/s, sendrecv 46 GB/s",
        "4 nodes 8x400G: 370 GB/s all_reduce, 46 GB/s sendrecv",
        "4 nodes, 8x400G\nall_reduce: 370 GB/s\nsendrecv: 46 GB/s",
    ],
)
def test_each_figure_has_the_collective_beside_it(text: str) -> None:
    assert told(score(text)) == [("all_reduce", 370e9, "pass"), ("sendrecv", 46e9, "pass")]


def test_a_pair_beside_a_collective_is_judged_as_a_pair() -> None:
    scored = score("4 nodes 8x400G: ib_write_bw 392 Gb/s, all_reduce busbw 190 GB/s")
    assert told(scored) == [("ib_write_bw", 49e9, "pass"), ("all_reduce", 190e9, "fail")]


def test_several_collectives_and_one_figure_far_from_them_is_asked() -> None:
    scored = score("busbw 46 GB/s on 4 nodes 8x400G\nwe ran all_reduce and sendrecv")
    assert scored.verdict == "unknown"
    assert "EW-SCO-074" in codes(scored)
    (result,) = scored.results
    assert result.missing == ("--collective all_reduce (or sendrecv: what was run)",)


@pytest.mark.parametrize("text", ["rc_rdma_write_bw: bw = 11.6 GB/sec", "4 nodes 8x400G gives 48 GB/s"])
def test_a_bandwidth_that_nothing_calls_bus_bandwidth_is_no_all_reduce(text: str) -> None:
    scored = score(text, nodes=4, nics_per_server=8, nic_rate_bps=400 * G)
    assert scored.verdict == "unknown"
    assert "EW-SCO-074" in codes(scored)


@pytest.mark.parametrize(
    ("text", "verdict", "ceiling"),
    [
        ("single node 8x H100 all_reduce busbw 470 GB/s", "pass", "NVLS"),
        ("单机8卡H100 all_reduce busbw 480 GB/s", "pass", "NVLS"),
        ("One DGX A100, 8 GPUs, all_reduce 235 GB/s busbw", "pass", "scale-up ring"),
        ("one node, 8 GPUs H100, all_reduce busbw 230 GB/s", "fail", "NVLS"),
        ("GB200 NVL72, 18 nodes 4 GPUs each, all_reduce busbw 810 GB/s", "pass", "NVLS"),
    ],
)
def test_the_gpu_that_a_sentence_names_gives_the_ceiling_inside(text: str, verdict: str, ceiling: str) -> None:
    (result,) = score(text).results
    assert (result.verdict, result.ceiling and result.ceiling.name) == (verdict, ceiling)


@pytest.mark.parametrize(
    "text",
    ["single node, 8 GPUs H100, all_reduce busbw 42 GB/s", "one server with 2 GPUs H100, all_reduce busbw 150 GB/s"],
)
def test_a_name_sold_with_and_without_a_switch_is_asked_where_both_fit(text: str) -> None:
    scored = score(text)
    assert scored.verdict == "unknown"
    assert "EW-SCO-076" in codes(scored)
    assert score(text, gpu="h100").verdict == "fail"


@pytest.mark.parametrize("name", ["H100 PCIe", "H100 NVL", "L40S"])
def test_a_card_without_a_ceiling_is_named_and_no_other_gpu_is_offered(name: str) -> None:
    scored = score(f"single node, 8 GPUs {name}, all_reduce busbw 42 GB/s")
    (result,) = scored.results
    assert (scored.verdict, result.missing) == ("unknown", ())
    (finding,) = (finding for finding in scored.findings if finding.code == "EW-SCO-013")
    assert name in finding.sentence()


def test_a_card_in_the_list_of_ranks_is_named_and_contradicts_another_gpu() -> None:
    table = samples.nccl_tests(hosts=["node-a"], busbw=42.0, gpu="NVIDIA H100 PCIe")
    scored = score(table)
    assert scored.verdict == "unknown"
    assert "H100 PCIe" in next(f for f in scored.findings if f.code == "EW-SCO-013").sentence()
    flagged = score(table, gpu="h100")
    assert flagged.verdict == "unknown"
    assert "EW-SCO-064" in codes(flagged)


def test_of_a_printed_name_only_the_model_is_quoted() -> None:
    for gpu, shown in (("Example Corp GPU", False), ("Example Corp L40S", True)):
        scored = score(samples.nccl_tests(hosts=["node-a"], busbw=42.0, gpu=gpu))
        sentences = " ".join(finding.sentence() for finding in scored.findings)
        assert (scored.verdict, "L40S" in sentences, "Corp" in sentences) == ("unknown", shown, False)


def test_two_gpus_in_one_text_are_none() -> None:
    scored = score("H100 and A100, single node, 8 GPUs, all_reduce busbw 230 GB/s")
    assert scored.verdict == "unknown"


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("I have 4 H100 servers with 8x400G each, all_reduce busbw 188 GB/s", 4),
        ("two HGX H100 nodes, 8x400G, all_reduce busbw 370 GB/s", 2),
        ("16 DGX H100 nodes, 8x400G, all_reduce busbw 370 GB/s", 16),
        ("nodes=4, nics=8x400G, all_reduce busbw=370", 4),
        ("8-GPU servers, 4 of them, 8x400G, all_reduce busbw 370 GB/s", None),
    ],
)
def test_servers_with_their_kind_between(text: str, nodes: int | None) -> None:
    (result,) = score(text).results
    assert result.nodes == nodes


def test_what_a_share_is_of_is_no_result() -> None:
    scored = score("reached 94% of 400 GB/s on 4 nodes 8x400G all_reduce")
    assert (scored.verdict, "EW-SCO-069" in codes(scored)) == ("unknown", True)


def test_a_rack_of_trays_has_servers_of_four() -> None:
    (result,) = score("GB200 two racks 144 GPUs all_reduce busbw 180 GB/s, 4x400G").results
    assert (result.nodes, result.gpus) == (36, 144)
