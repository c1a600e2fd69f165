"""Published outputs cut anywhere: never a traceback, never a row that the whole does not have, never a false FAIL.

Here: every line, the first bytes and some places drawn with a seed. All cuts of the first 2 KiB and 200 places of each
file take minutes: STEP = 1 and MORE = 200 run them.
"""

import random
from pathlib import Path

import pytest

from eastwest.accept.facts import facts_of_flags
from eastwest.accept.results import Limits
from eastwest.accept.score import score_texts
from eastwest.cli.score_text import text_of
from eastwest.dialects.sniff import read

TELEMETRY = Path(__file__).resolve().parents[3] / "shared" / "data" / "telemetry"
SAMPLES = sorted(path for kind in ("nccl-tests", "perftest") for path in (TELEMETRY / kind).glob("*.txt"))
FIRST, STEP, MORE, SEED = 2048, 23, 25, 20
# Samples whose whole is healthy on these servers: no cut of them may FAIL.
HEALTHY = {
    "aks-2node-ib-allreduce-good-excerpt.txt": (8, 200),
    "aws-p4de-2node-slurm-prefixed.txt": (4, 100),
    "aws-p5-2node-slurm-prefixed.txt": (32, 100),
    "coreweave-excerpt-ellipsis.txt": (8, 400),
    "h100-2node-allreduce-good.txt": (8, 200),
    "superbench-a100-1node-nccl_allreduce.txt": (8, 200),
    "superbench-a100-1node-nccl_alltoall.txt": (8, 200),
    "superbench-a100-1node-nccl_reducescatter.txt": (8, 200),
    "aks-ib_write_bw-good.txt": (1, 200),
    "oci-ib_write_bw-roce-100g.txt": (1, 100),
}


def rows(text: str) -> set[tuple[object, ...]]:
    return {
        (run.tool, row.size_bytes, row.out.time_s, row.out.busbw_bytes_per_s)
        for run in read(text).benchmarks
        for row in run.rows
    }


def cuts(content: bytes) -> list[int]:
    ends = {at + 1 for at, byte in enumerate(content) if byte == ord("\n")}
    first = set(range(0, min(FIRST, len(content)), STEP))
    return sorted(ends | first | set(random.Random(SEED).sample(range(len(content)), min(MORE, len(content)))))


@pytest.mark.skipif(not SAMPLES, reason="published samples are not beside this checkout")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_cut_sample_has_no_new_rows_and_no_false_verdict(path: Path) -> None:
    content = path.read_bytes()
    whole = rows(content.decode())
    nics, gbps = HEALTHY.get(path.name, (8, 200))
    facts = facts_of_flags({"nics_per_server": nics, "nic_rate_bps": gbps * 10**9})
    for cut in cuts(content):
        for piece in (content[:cut], content[cut:]):
            text = piece.decode(errors="replace")
            assert rows(text) <= whole
            found = score_texts([("-", text)], facts, Limits())
            assert text_of(found, "en", 100)
            assert found.verdict != "fail" or path.name not in HEALTHY, (cut, text[-80:])
            assert all(result.measured_bytes_per_s != 0 for result in found.results if result.verdict == "fail")
