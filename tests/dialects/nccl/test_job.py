"""What a NCCL debug log says of the job."""

import pytest

from eastwest.dialects.nccl.job import detect, read

PREFIX = "node-a:77:90 [0] NCCL INFO "


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.1<0>",
            {"transport": "RoCE", "adapters": "2"},
        ),
        ("NET/IB : Using [0]mlx5_0:1/IB/SHARP ; OOB ib0:192.0.2.1<0>", {"transport": "IB", "adapters": "1"}),
        ("Using network Socket", {"transport": "Socket"}),
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0", {"transport": "Socket"}),
        ("NET/OFI Selected Provider is efa", {"transport": "EFA"}),
        ("NET/IB : No device found.", {"no rdma device": "yes"}),
        ("NCCL_ALGO set by environment to Ring.", {"algorithm": "Ring"}),
        ("NCCL_NVLS_ENABLE set by environment to 0.", {"nvls": "off"}),
        (
            "comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0",
            {"ranks": "16", "nodes": "2", "local ranks": "8"},
        ),
        ("+ NET[24.0] - NET/0 (0/0/24.000000)", {"nic rate": "200000000000"}),
        ("+ NET[50.0] - NET/0", {"nic rate": "400000000000"}),
        ("+ NET[17.0] - NET/0", {}),
    ],
)
def test_a_line_says(line: str, expected: dict[str, str]) -> None:
    readings = read(PREFIX + line + "\n")
    assert {setting.name: setting.value for setting in readings.settings} == expected
    assert readings.hosts == ("node-a",)


def test_other_text_is_not_taken() -> None:
    assert not detect("node-a:77:90 [0] INFO something")
