"""Curves and plateaus of the shared table of collectives, told as tables or sentences, where a verdict is evident."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from eastwest.accept.facts import facts_of_flags
from eastwest.accept.results import Limits
from eastwest.accept.score import score_texts

TABLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation" / "collectives.yaml"
G = 10**9

pytestmark = pytest.mark.skipif(not TABLE.is_file(), reason="the shared table is not beside this checkout")


def points(row_id: str) -> list[dict[str, float]]:
    rows = YAML(typ="safe").load(TABLE.read_text(encoding="utf-8"))["rows"]
    return next(row["points"] for row in rows if row["id"] == row_id)


def table(row_id: str, ranks: int) -> str:
    """The row's points as an nccl-tests table: time from algbw where only bandwidth is given."""
    lines = []
    for point in points(row_id):
        algbw = point.get("algbw_GBps") or point["busbw_GBps"] / (2 * (ranks - 1) / ranks)
        time = point.get("time_us") or point["bytes"] / algbw / 1e3
        block = f"{time:.2f} {point['bytes'] / time / 1e3:.2f} {point['busbw_GBps']:.2f} 0"
        lines.append(f"{point['bytes']} {point['bytes'] // 4} float sum -1 {block} {block}")
    return "\n".join(lines) + "\n"


def score(text: str, **flags):
    return score_texts([("-", text)], facts_of_flags(flags), Limits())


def test_a_curve_that_collapses_fails_without_knowing_the_servers() -> None:
    found = score(table("nccl-1453", 16))  # 29.5 GB/s at 32 MiB, 5.3 from 64 MiB on
    assert found.verdict == "fail"
    (finding,) = (finding for finding in found.findings if finding.code == "EW-SCO-011")
    assert finding.args["after"] == "32 MiB"


@pytest.mark.parametrize(
    ("row_id", "gpu", "ceiling"),
    [
        ("mleng-a100-1n-ar", "a100", "scale-up ring"),
        ("mleng-h200-1n-ar", "h200", "NVLS"),
        ("mleng-b200-1n-ar", "b200", "NVLS"),
    ],
)
def test_healthy_servers_pass(row_id: str, gpu: str, ceiling: str) -> None:
    found = score(table(row_id, 8), gpu=gpu, nodes=1, gpus_per_server=8)
    (result,) = found.results
    assert (found.verdict, result.ceiling.name) == ("pass", ceiling)


def test_one_nvl72_set_is_one_scale_up_domain() -> None:
    (result,) = score(table("coreweave-gb200-72-ar", 72), gpu="gb200", nodes=18, gpus_per_server=4).results
    assert (result.verdict, result.crosses_network) == ("pass", False)


# Issue trackers: what the numbers say of 8 x 400G and the like.
@pytest.mark.parametrize(
    ("told", "verdict", "share"),
    [
        # nccl#2409: 231 of 384; the user expected 470, which is above the ceiling.
        ("2 nodes, 8x400G RoCE per node, all_reduce busbw 231 GB/s, expected 470 GB/s", "fail", 231 / 384),
        ("2 nodes, 8x400G RoCE per node, sendrecv busbw 13.1 GB/s", "fail", 13.1 / 48),
        ("2 nodes, 8x400G RoCE per node, all_gather busbw 101 GB/s", "fail", 101 / 384),
        # all-to-all: 8 of 16 ranks are across, 48 x 15/8 = 90 GB/s
        ("2 nodes, 8x400G RoCE per node, alltoall busbw 25 GB/s", "fail", 25 / 90),
        # nccl-tests#119: 96 of 4 x 24
        ("3 nodes, 4x200G InfiniBand per node, all_reduce busbw 96 GB/s, theory 100 GB/s", "pass", 1.0),
        # nccl-tests#112: ACS on
        ("2 nodes, 1x200G per node, all_reduce busbw 9.84 GB/s", "fail", 9.84 / 24),
        # nccl#495
        ("2 nodes, 8x100G RoCE per node, all_reduce busbw 75 GB/s", "warn", 75 / 96),
        # nccl#1454: 14 GB/s on 300 nodes
        ("300 nodes, 8x200G, all_reduce busbw 14 GB/s", "fail", 14 / 192),
        # GTC25 plots
        ("16 nodes, 8x200G, all_reduce busbw 192 GB/s", "pass", 1.0),
        ("16 nodes, 8x400G, all_reduce busbw 380 GB/s", "pass", 380 / 384),
    ],
)
def test_a_figure_of_an_issue_gets_its_verdict(told: str, verdict: str, share: float) -> None:
    found = score(told)
    (result,) = found.results
    assert result.verdict == verdict
    assert result.of_ceiling_ratio == pytest.approx(share, abs=0.002)


def test_a_target_above_the_ceiling_is_told() -> None:
    found = score("2 nodes, 8x400G RoCE per node, all_reduce busbw 231 GB/s, expected 470 GB/s")
    assert "EW-SCO-058" in {finding.code for finding in found.findings}


def test_missing_nics_are_not_guessed() -> None:
    found = score("8 nodes of 8 H800, alltoall busbw 24.44 GB/s")  # nccl#1531
    assert found.verdict == "unknown"
