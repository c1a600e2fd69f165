"""Texts of several tools, and any text at all: never a traceback, never a number that is not in it."""

import re

from hypothesis import given
from hypothesis import strategies as st

from eastwest.dialects.sniff import formats_of, read
from tests.dialects.bench import samples

FIVE = (1024, 2**20, 2**27, 2**30, 2**33)
WHOLE = samples.nccl_tests(sizes=FIVE) + samples.perftest(sizes=(2, 65536))
WORDS = [
    "busbw",
    "GB/s",
    "float",
    "sum",
    "-1",
    "N/A",
    "#",
    "nThread 1 nGpus 8",
    "Rank",
    "RDMA_Write BW Test",
    "|",
    ":",
    "x",
    "400G",
]


def numbers(text: str) -> set[float]:
    """Every number that a reader may see: `100 (2` and `2-3` are two each."""
    return {float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)}


def test_two_tools_in_one_text_are_both_read() -> None:
    assert formats_of(WHOLE) == ("nccl_tests", "perftest")
    readings = read(WHOLE)
    assert [(run.tool, len(run.rows)) for run in readings.benchmarks] == [("nccl-tests", 5), ("perftest", 2)]
    assert readings.unknown == ()


def test_a_sentence_above_a_table_tells_the_system() -> None:
    readings = read("We have 2 nodes with 8x400G each:\n" + WHOLE)
    assert {setting.name for setting in readings.settings} == {"nodes", "nics", "nic rate"}
    assert len(readings.benchmarks) == 2


def test_a_text_without_any_format_is_unknown_line_by_line() -> None:
    readings = read("hello\n\nworld")
    assert readings.benchmarks == ()
    assert [line.line for line in readings.unknown] == [1, 3]


def test_a_log_tells_the_job_and_how_it_ran() -> None:
    log = (
        "node-a:77:90 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:192.0.2.1<0>\n"
        "node-a:77:90 [0] NCCL INFO AllReduce: 8388608 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}\n"
    )
    readings = read(log)
    said = {(setting.name, setting.value) for setting in readings.settings}
    assert {("transport", "RoCE"), ("nic", "mlx5_0"), ("choice", "all_reduce 8388608 ring ll128")} <= said
    assert readings.unknown == ()


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    for run in read(text).benchmarks:
        assert all(row.size_bytes is None or row.size_bytes >= 0 for row in run.rows)


@given(
    st.lists(
        st.one_of(st.sampled_from(WORDS), st.integers(0, 10**12).map(str), st.floats(0, 1e6).map("{:.2f}".format)),
        max_size=60,
    ),
    st.integers(1, 12),
)
def test_words_of_the_formats_in_any_order_are_read(words: list[str], width: int) -> None:
    text = "\n".join(" ".join(words[at : at + width]) for at in range(0, len(words), width))
    seen = numbers(text)
    for run in read(text).benchmarks:
        for row in run.rows:
            assert (
                row.size_bytes is None
                or any(row.size_bytes % max(1, int(each)) == 0 for each in seen if each >= 1)
                or row.size_bytes == 0
            )
            assert row.line.text in text


@given(st.integers(0, len(WHOLE)), st.integers(0, len(WHOLE)))
def test_a_piece_of_an_output_has_only_rows_of_the_whole(one: int, other: int) -> None:
    whole = {
        (run.tool, row.size_bytes, row.out.busbw_bytes_per_s) for run in read(WHOLE).benchmarks for row in run.rows
    }
    start, end = sorted((one, other))
    piece = read(WHOLE[start:end])
    assert {
        (run.tool, row.size_bytes, row.out.busbw_bytes_per_s) for run in piece.benchmarks for row in run.rows
    } <= whole


@given(st.integers(0, len(WHOLE) - 1), st.characters())
def test_one_wrong_letter_leaves_the_other_rows(at: int, letter: str) -> None:
    readings = read(WHOLE[:at] + letter + WHOLE[at + 1 :])
    assert sum(len(run.rows) for run in readings.benchmarks) >= 4
