"""Names go, numbers stay, the same name becomes the same placeholder."""

import pytest

from eastwest.accept.redaction import Redaction


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on gpu-17.example device 0", "on host-1 device 0"),
        ("gpu-17.example:77:90 [0] NCCL INFO", "host-1:77:90 [0] NCCL INFO"),
        ("eth0:10.0.0.1<0> and 10.0.0.2", "eth0:ip-1<0> and ip-2"),
        ("GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:04:233", "GID: gid-1"),
        ("GID fe80::1 and ::ffff:10.0.3.11", "GID gid-2 and gid-1"),
        ("GUID 0xb8cef60300fe1234", "GUID guid-1"),
        ("mac 0c:42:a1:00:00:01", "mac mac-1"),
        ("/data/alice/nccl-tests/build/all_reduce_perf -b 8", "path-1 -b 8"),
        ("ssh alice@login.example", "ssh user-1"),
        ("[pod/train-7f9/main] x", "[pod-1] x"),
        ("VAddr 0x007f9fc479c000", "VAddr address-1"),
        ("out-of-place 187.22 GB/s 8 NICs x 200G / 8 x 0.96, NET/IB/0/GDRDMA 1/2", None),
        ("NCCL version 2.18.3+cuda12.1", None),
        ("[0000:04:00] NVIDIA H100", None),
        ("LID 0xd06 QPN 0x095f PSN 0x3c9e82 at 12:30:45", None),
    ],
)
def test_a_name_becomes_a_placeholder(text: str, expected: str | None) -> None:
    assert Redaction(["gpu-17.example", "localhost"]).text(text) == (expected or text)


def test_the_same_name_is_the_same_placeholder_everywhere() -> None:
    names = Redaction(["node-a", "node-ab"], ["logs/run.txt"])
    document = {"source": "logs/run.txt", "lines": ["node-ab 10.0.0.1", "node-a 10.0.0.1"], "n": 3, "none": None}
    assert names.document(document) == {
        "source": "file-1",
        "lines": ["host-2 ip-1", "host-1 ip-1"],
        "n": 3,
        "none": None,
    }
