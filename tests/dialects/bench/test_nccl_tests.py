"""nccl-tests and rccl-tests of every version, wrapped, interleaved, cut: the rows of the table and nothing else."""

import pytest

from eastwest.dialects.bench.nccl_collective import named_collective, ranks_of
from eastwest.dialects.bench.nccl_tests import detect, read
from tests.dialects.bench import samples

FIVE = (1024, 2**20, 2**27, 2**30, 2**33)


def only(text: str):
    (benchmark,) = read(text).benchmarks
    return benchmark


@pytest.mark.parametrize("version", ["new", "old"])
@pytest.mark.parametrize("wrong", ["0", "N/A", "5e-07"])
def test_every_version_has_the_same_rows(version: str, wrong: str) -> None:
    run = only(samples.nccl_tests(version=version, wrong=wrong, sizes=FIVE))
    assert [row.size_bytes for row in run.rows] == list(FIVE)
    assert run.test == "all_reduce"
    assert ranks_of(run.rows, run.test) == 16
    assert all(row.in_place for row in run.rows)
    assert {row.out.wrong for row in run.rows} == ({0} if wrong == "0" else {None})
    assert run.rows[-1].out.busbw_bytes_per_s == pytest.approx(190e9, rel=0.01)
    assert (len(run.ranks), run.out_of_bounds, run.average_bytes_per_s) == (16, 0, 71.3e9)
    assert run.cut == ()


def test_a_table_without_header_or_in_place_block_is_read() -> None:
    text = "\n".join(samples.rows(sizes=FIVE, in_place=False)) + "\n"
    run = only(text)
    assert [row.size_bytes for row in run.rows] == list(FIVE)
    assert run.rows[0].in_place is None
    assert run.cut == ("head", "tail")


@pytest.mark.parametrize(
    ("collective", "expected"),
    [
        ("all_reduce", ("all_reduce",)),
        ("reduce_scatter", ("reduce_scatter",)),
        ("alltoall", ("all_gather", "all_to_all", "gather", "scatter")),
        ("all_gather", ("all_gather", "all_to_all", "gather", "scatter")),
        ("sendrecv", ("broadcast", "sendrecv")),
        ("broadcast", ("broadcast",)),
    ],
)
def test_the_columns_leave_these_collectives_open(collective: str, expected: tuple[str, ...]) -> None:
    text = "\n".join(samples.rows(collective=collective, sizes=FIVE)) + "\n"
    run = only(text)
    assert run.candidates == expected
    assert run.test == (expected[0] if len(expected) == 1 else "")
    named = only(f"# Collective test starting: {collective}_perf\n" + text)
    assert named.test == named_collective(collective)


def test_a_name_that_the_columns_contradict_is_not_believed() -> None:
    text = "# Collective test starting: alltoall_perf\n" + "\n".join(samples.rows(sizes=FIVE)) + "\n"
    assert only(text).test == "all_reduce"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mpirun -np 16 ./build/all_reduce_perf -b 8 -e 8G", "all_reduce"),
        ("alltoall_perf", "all_to_all"),
        ("superbench-a100-1node-nccl_reducescatter.txt", "reduce_scatter"),
        ("all_reduce and alltoall", ""),
        ("reduce_perf", "reduce"),
        ("nothing", ""),
    ],
)
def test_a_collective_is_named_by_itself_only(text: str, name: str) -> None:
    assert named_collective(text) == name


@pytest.mark.parametrize("ranks", [2, 3, 8, 16, 24, 32, 64])
def test_ranks_follow_from_busbw_over_algbw(ranks: int) -> None:
    run = only("\n".join(samples.rows(ranks=ranks, busbw=200.0, sizes=FIVE)) + "\n")
    assert ranks_of(run.rows, "all_reduce") == ranks


def test_ranks_that_printing_hides_are_not_guessed() -> None:
    run = only("\n".join(samples.rows(ranks=1024, busbw=40.0, sizes=FIVE)) + "\n")
    assert ranks_of(run.rows, "all_reduce") is None


def test_log_lines_between_rows_change_nothing() -> None:
    rows = samples.rows(sizes=FIVE)
    log = "node-a:77:90 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"
    mixed = "\n".join(line for row in rows for line in (row, log)) + "\n"
    assert [row.size_bytes for row in only(mixed).rows] == list(FIVE)


def test_several_jobs_one_after_the_other_are_several_runs() -> None:
    first = samples.nccl_tests(sizes=FIVE)
    second = samples.nccl_tests(sizes=FIVE, collective="reduce_scatter")
    runs = read(first + second).benchmarks
    assert [(run.test, len(run.rows), len(run.banners)) for run in runs] == [
        ("all_reduce", 5, 1),
        ("reduce_scatter", 5, 1),
    ]


def test_two_jobs_at_the_same_time_are_one_stream_with_two_banners() -> None:
    lines = [samples.banner(8), samples.banner(8)]
    lines += [
        line for pair in zip(samples.ranks_of(["node-a"]), samples.ranks_of(["node-b"]), strict=True) for line in pair
    ]
    lines += samples.header() + [row for row in samples.rows(ranks=8, sizes=FIVE) for _ in range(2)]
    run = only("\n".join(lines) + "\n")
    assert len(run.banners) == 2
    assert [rank.number for rank in run.ranks].count(0) == 2


def test_rccl_tests_is_the_same_format() -> None:
    lines = ["# rccl-tests: Version develop:448c4c7", samples.banner(8)]
    lines += samples.ranks_of(["node-a"], gpu="AMD Instinct MI300X", group=False) + samples.header()
    run = only("\n".join(lines + samples.rows(ranks=8, sizes=FIVE) + samples.footer()) + "\n")
    assert run.settings["version"] == "develop:448c4c7"
    assert run.ranks[0].gpu == "AMD Instinct MI300X"


def test_wrong_elements_and_a_failed_footer_are_kept() -> None:
    run = only("\n".join(samples.rows(sizes=FIVE, wrong="3") + samples.footer(wrong=12)) + "\n")
    assert {row.out.wrong for row in run.rows} == {3}
    assert run.out_of_bounds == 12


def test_the_head_of_a_number_at_a_cut_is_no_count_of_wrong_elements() -> None:
    line = samples.rows(sizes=(2**27,), version="old", wrong="5e-07", in_place=False)[0]
    cut = line[: line.rindex("e-07")]
    assert cut.endswith("5")
    assert only(cut).rows[0].out.wrong is None


def test_a_number_that_lost_its_head_makes_no_row() -> None:
    line = samples.rows(sizes=(2**31,))[0].strip()
    assert read(line[3:] + "\n" + line + "\n").benchmarks[0].rows[0].size_bytes == 2**31
    assert len(read(line[3:] + "\n" + line + "\n").benchmarks[0].rows) == 1


def test_a_run_that_died_keeps_its_rows_and_its_error() -> None:
    died = "node-a: Test NCCL failure common.cu:1005 'remote process exited or there was a network error'"
    run = only("\n".join([*samples.header(), *samples.rows(sizes=FIVE), died]) + "\n")
    assert len(run.rows) == 5
    assert run.errors[0].text == died


def test_a_count_of_servers_beside_the_rows_is_read() -> None:
    head = "  p4dn        size         count      type   redop     time   algbw   busbw  error"
    rows = [
        f"   {nodes}   {row.strip()}" for nodes, row in enumerate(samples.rows(sizes=(2**30,) * 3, version="old"), 1)
    ]
    assert [row.nodes for row in only("\n".join([head, *rows]) + "\n").rows] == [1, 2, 3]


def test_an_ellipsis_says_what_was_left_out() -> None:
    rows = samples.rows(sizes=FIVE)
    text = "\n".join([samples.banner(), *samples.header(), *rows[:2], "...", *rows[2:], *samples.footer()]) + "\n"
    assert only(text).cut == ("rows",)


@pytest.mark.parametrize("text", ["", "hello", "ib_write_bw", "1 2 3 4 5 6 7 8 9", "busbw 95 GB/s"])
def test_other_text_is_not_taken(text: str) -> None:
    assert not detect(text)
    assert read(text).benchmarks == ()


def reshaped(shape: str) -> str:
    rows = [row.split() for row in samples.rows(sizes=FIVE)]
    grouped = [[f"{int(word):,}" if index < 2 else word for index, word in enumerate(row)] for row in rows]
    lines = {
        "markdown": ["| " + " | ".join(row) + " |" for row in rows],
        "csv": [",".join(row) for row in rows],
        "thousands": ["  ".join(row) for row in grouped],
        "thousands behind hard blanks": ["\u00a0\u00a0".join(row) for row in grouped],
        "thin blanks": ["  ".join(word.replace(",", "\u202f") for word in row) for row in grouped],
        "no last column": [" ".join(row[:8]) for row in rows],
        "host": [f"gpu-7.example: {' '.join(row)}" for row in rows],
    }
    return "\n".join(lines[shape]) + "\n"


@pytest.mark.parametrize(
    "shape",
    [
        "markdown",
        "csv",
        "thousands",
        "thousands behind hard blanks",
        "thin blanks",
        "no last column",
        "host",
    ],
)
def test_pastes_of_any_shape_have_the_same_rows(shape: str) -> None:
    plain = only("\n".join(samples.rows(sizes=FIVE)) + "\n")
    run = only(reshaped(shape))
    assert [(row.size_bytes, row.out.time_s, row.out.busbw_bytes_per_s) for row in run.rows] == [
        (row.size_bytes, row.out.time_s, row.out.busbw_bytes_per_s) for row in plain.rows
    ]


@pytest.mark.parametrize(
    ("wrong", "is_nonsense"), [("nan", True), ("-369.51", True), ("0", True), ("NCCL INFO x", False)]
)
def test_a_row_that_cannot_be_read_is_kept_as_such(wrong: str, is_nonsense: bool) -> None:
    *rows, last = samples.rows(sizes=FIVE)
    words = last.split()
    words[5 if wrong == "0" else 7] = wrong
    run = only("\n".join([*rows, " ".join(words[:9])]) + "\n")
    assert len(run.rows) == len(FIVE) - 1
    assert [(unread.size_bytes, unread.is_nonsense) for unread in run.unread] == [(FIVE[-1], is_nonsense)]


@pytest.mark.parametrize("collective", ["alltoall", "all_gather", "reduce_scatter"])
@pytest.mark.parametrize("ranks", [256, 1024])
@pytest.mark.parametrize("part_sized", [True, False])
def test_a_name_is_believed_with_many_ranks(collective: str, ranks: int, part_sized: bool) -> None:
    """(n-1)/n is nearly 1: neither a broadcast nor, reduced, an all-reduce of two ranks."""
    rows = samples.rows(collective=collective, ranks=ranks, sizes=(2**30, 2**33))
    if not part_sized:
        rows = [
            row.replace(f" {2**size // 4 // ranks} ", f" {2**size // 4} ")
            for row, size in zip(rows, (30, 33), strict=True)
        ]
    run = only(f"./build/{collective}_perf -b 8 -e 8G\n" + "\n".join(rows) + "\n")
    assert run.test == named_collective(collective)


def test_labelled_jobs_are_read_apart() -> None:
    one = samples.nccl_tests(hosts=["a", "b"], busbw=190.0, sizes=FIVE).splitlines()
    other = samples.nccl_tests(hosts=["c", "d"], busbw=90.0, sizes=FIVE).splitlines()
    pairs = zip(one, other, strict=True)
    text = "".join(f"jobA: {left}\njobB: {right}\n" for left, right in pairs)
    runs = read(text).benchmarks
    assert [{rank.host for rank in run.ranks} for run in runs] == [{"a", "b"}, {"c", "d"}]
    assert [len(run.rows) for run in runs] == [len(FIVE)] * 2
