"""Names go, numbers stay, the same name becomes the same placeholder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


ROW = "8589934592   2147483648     float     sum      -1   45041  190.71  369.51       0"
SECRETS = ("acme", "alice", "a17", "104", "8812345", "share", "zz7")


@pytest.mark.parametrize(
    "line",
    [
        f"gpu-a17-acme: {ROW}",
        f"worker-0.alice-job.svc.cluster.local | {ROW}",
        f"[alice-dev-pod] {ROW}",
        f"Jan  6 10:11:12 acme-node9 bash[99]: {ROW}",
        f"2025-01-06T10:11:12Z acme-node9 {ROW}",
        f"8812345 | {ROW}",
        f"8812345 {ROW} acme",
        "hgx-104: Test NCCL failure common.cu:954 'unhandled system error'",
        "C:\\Users\\alice\\run.txt and \\\\share\\alice\\x",
        "srun -p prod-acme --account=acme-ml --jobid=8812345 -w hgx-[104-105] ./all_reduce_perf -b 8",
        "slurmstepd: error: *** JOB 8812345 ON hgx-104 CANCELLED ***",
        "alice@login-zz7:~$ ls",
        "# Rank  0 Group 0 Pid 100 on acme-17 device 0 [0x10] NVIDIA H100 80GB HBM3 acme",
        "4 nodes of acme, busbw 340 GB/s, ask alice",
    ],
)
def test_nothing_of_a_users_line_is_kept_but_what_is_known(line: str) -> None:
    shown = Redaction().line(line)
    assert not any(secret in shown.lower() for secret in SECRETS), shown
    if ROW in line:
        assert shown.split()[-9:] == ROW.split() or ROW.split() == shown.split()[-10:-1]


@pytest.mark.parametrize(
    "line",
    [
        ROW,
        "| 8589934592 | 2147483648 | float | sum | -1 | 45041 | 190.71 | 369.51 | 0 |",
        "# nThread 1 nGpus 8 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1",
        "#  Rank  0 Group  0 Pid   1000 on localhost device  0 [0x10] NVIDIA A100-SXM4-40GB",
        "# Avg bus bandwidth    : 88.1234",
        "8x100G RoCE per node; busbw 100 (2 nodes), 70 (3), 58 (4-5), 40 (6)",
        '2 nodes, 4x200G per node, all_reduce busbw 95.97 GB/s at 128 MB, "Avg bus bandwidth 84.86"',
        "Failed status 12: wr_id 0 syndrom 0x81",
    ],
)
def test_payload_is_left_as_it_is(line: str) -> None:
    assert Redaction(["localhost"]).line(line) == line


@given(st.text(alphabet="bcdfghjklmnpqrstvwxyz0123456789-._", min_size=9, max_size=20), st.sampled_from(range(4)))
def test_a_made_up_word_never_survives(word: str, place: int) -> None:
    words = ROW.split()
    line = [f"{word}: {ROW}", f"[{word}] {ROW}", f"on {word} busbw 340 GB/s", f"{' '.join(words)} {word}"][place]
    core = max(word.replace("-", " ").replace("_", " ").split(), key=len, default="")
    if len(core) >= 6 and any(letter.isalpha() for letter in core):
        assert core not in Redaction().line(line)
