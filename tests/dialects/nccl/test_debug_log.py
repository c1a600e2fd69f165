"""What a NCCL debug log says of how a job ran; hostile and cut text is read without a traceback."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.dialects.nccl.debug_log import ALGORITHMS, Choice, choices_of, detect, read

PREFIX = "node-a:77:90 [0] NCCL INFO "
PIECES = st.sampled_from(
    [
        "AllReduce: ",
        "1048576 Bytes -> Algo ",
        "RING proto LL128 channel{Lo..Hi}={0..15}",
        "1 proto 2 time 12.3",
        "16 coll channels, ",
        "16 nvls channels, ",
        "Channel 00/24 : 0 1 2",
        "via NET/IB/0/GDRDMA",
        "NET/IB : Using [0]mlx5_0:1/RoCE",
        "mtu 5",
        "\n" + PREFIX,
        "9" * 40,
    ]
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("AllReduce: 4096 Bytes -> Algo Tree proto LL channel{Lo..Hi}={0..1}", [("choice", "all_reduce 4096 tree ll")]),
        (
            "AllGather: 37756928 Bytes -> Algo 1 proto 2 time 2860.208008",
            [("choice", "all_gather 37756928 ring simple")],
        ),
        ("AllReduce: 8192 Bytes -> Algo NVLS_TREE proto SIMPLE", [("choice", "all_reduce 8192 nvls_tree simple")]),
        ("AllReduce: 8192 Bytes -> Algo 9 proto 2", []),
        ("4096 Bytes -> Algo 1 proto 0 time 3.2", []),  # older releases do not name the collective
        (
            "24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, 32 p2p channels per peer",
            [("channels", "24"), ("nvls channels", "16")],
        ),
        ("2 coll channels, 2 p2p channels, 2 p2p channels per peer", [("channels", "2")]),
        ("Channel 00/24 :    0   1   2   3", [("channels", "24")]),
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA", [("path", "NET/IB"), ("gdr", "on")]),
        ("Channel 00 : 0[0] -> 8[0] [send] via NET/IB/0", [("path", "NET/IB"), ("gdr", "off")]),
        ("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", [("path", "P2P")]),
        ("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct", [("path", "SHM")]),
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0", [("path", "NET/Socket")]),
        (
            "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.1<0>",
            [("nic", "mlx5_0"), ("nic", "mlx5_1")],
        ),
        ("NET/IB: Dev 0 Port 1 qpn 58 mtu 3 GID 3", [("mtu", "1024")]),
        ("NCCL_PROTO set by environment to LL128.", [("protocol", "ll128")]),
        ("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", [("gdr", "off")]),
    ],
)
def test_a_line_says(line: str, expected: list[tuple[str, str]]) -> None:
    readings = read(PREFIX + line + "\n")
    assert [(setting.name, setting.value) for setting in readings.settings] == expected
    assert all(setting.line.line == 1 for setting in readings.settings)


def test_choices_by_size_and_a_size_that_is_not_clear() -> None:
    log = "".join(
        f"{PREFIX}AllReduce: {size} Bytes -> Algo {algorithm} proto SIMPLE\n"
        for size, algorithm in ((1024, "TREE"), (4096, "TREE"), (4096, "RING"))
    )
    assert choices_of(read(log).settings) == {("all_reduce", 1024): Choice("all_reduce", 1024, "tree", "simple")}


def test_other_text_is_not_taken_and_foreign_lines_are_unknown() -> None:
    assert not detect("node-a: all is well")
    readings = read(PREFIX + "Connected all rings\nsomething else\n")
    assert readings.understood == {1}
    assert [line.text for line in readings.unknown] == ["something else"]


@given(st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=12))
def test_any_text_is_read(parts: list[str]) -> None:
    text = PREFIX + "".join(parts)
    for choice in choices_of(read(text).settings).values():
        assert choice.algorithm in ALGORITHMS
        assert choice.size_bytes > 0
    assert all(setting.value for setting in read(text).settings)
