"""Published nccl-tests and perftest outputs: the verdict that first principles give, with the reason beside each.

The options are what the sample's source says of the servers; without them most samples must end in "cannot tell".
"""

from pathlib import Path

import pytest

from eastwest.accept.facts import facts_of_flags
from eastwest.accept.results import Limits
from eastwest.accept.score import score_texts

TELEMETRY = Path(__file__).resolve().parents[3] / "shared" / "data" / "telemetry"
G = 10**9

pytestmark = pytest.mark.skipif(not TELEMETRY.is_dir(), reason="published samples are not beside this checkout")


def scored(name: str, source: str = "-", **flags):
    text = (TELEMETRY / name).read_text(encoding="utf-8")
    return score_texts([(source, text)], facts_of_flags(flags), Limits())


def nics(count: int, gbps: int) -> dict[str, int]:
    return {"nics_per_server": count, "nic_rate_bps": gbps * G}


# name, options, verdict, ceiling, share, why
JUDGED = [
    # 187.22 of 8 x 24 GB/s. Below the wire, so it may be a ring; the document's own floor is 180.
    ("nccl-tests/aks-2node-ib-allreduce-good-excerpt.txt", nics(8, 200), "pass", "ring", 0.975),
    # 3.15 of 192 GB/s: TCP over IPoIB, no RDMA in that scenario.
    ("nccl-tests/aks-scenario3-allreduce.txt", nics(8, 200), "fail", "ring", 0.016),
    # 78.33 over a wire of 50 GB/s cannot be a ring: tree, 50 x 0.92 x 15/8 = 86.25.
    ("nccl-tests/aws-p4de-2node-slurm-prefixed.txt", nics(4, 100), "pass", "two-node tree", 0.908),
    # 487 over a wire of 400 GB/s: tree, which the inside of an H100 server limits to NVLS' 490.
    ("nccl-tests/aws-p5-2node-slurm-prefixed.txt", {**nics(32, 100), "gpu": "h100"}, "pass", "two-node tree", 0.993),
    # The same without the GPU: 400 x 0.92 x 15/8 = 690, so 71 %; what limits is not known: WARN, never FAIL.
    ("nccl-tests/aws-p5-2node-slurm-prefixed.txt", nics(32, 100), "warn", "two-node tree", 0.706),
    # 386.56 of 8 x 48 = 384 GB/s, below the wire of 400.
    ("nccl-tests/coreweave-excerpt-ellipsis.txt", {**nics(8, 400), "nodes": 8}, "pass", "ring", 1.007),
    # 42.61 of 4 x 12 = 48 GB/s at 256 MB and still rising; a dip at 64 MB beside it.
    ("nccl-tests/efa-64MB-dip-old-format.txt", nics(4, 100), "warn", "ring", 0.888),
    # 338.82 over a wire of 200 GB/s: tree, 200 x 0.92 x 15/8 = 345.
    ("nccl-tests/h100-2node-allreduce-good.txt", nics(8, 200), "pass", "two-node tree", 0.982),
    # One host: 12 links of 20 GB/s as NCCL counts them = 240; the GPU is in the text.
    ("nccl-tests/superbench-a100-1node-nccl_allreduce.txt", {}, "pass", "scale-up ring", 0.980),
    ("nccl-tests/superbench-a100-1node-nccl_alltoall.txt", {}, "pass", "scale-up ring", 0.935),
    ("nccl-tests/superbench-a100-1node-nccl_reducescatter.txt", {}, "pass", "scale-up ring", 0.965),
    # 196.55 of 200 x 4096/4122 = 198.7 Gb/s.
    ("perftest/aks-ib_write_bw-good.txt", {"nic_rate_bps": 200 * G}, "pass", "wire less headers", 0.989),
    # 98.01 of 100 x 4096/4178 = 98.04 Gb/s.
    ("perftest/oci-ib_write_bw-roce-100g.txt", {"nic_rate_bps": 100 * G}, "pass", "wire less headers", 1.0),
    # The same output on a 200G NIC would be half of it.
    ("perftest/oci-ib_write_bw-roce-100g.txt", {"nic_rate_bps": 200 * G}, "fail", "wire less headers", 0.5),
    # A loopback: only the slot of the NIC limits it, 26 GB/s usable of PCIe 4 x16. MB/sec is 2**20 bytes.
    ("perftest/superbench-ib_loopback-8M.txt", {"pcie_generation": 4}, "pass", "pcie", 0.970),
    ("perftest/superbench-ib_loopback-allsizes.txt", {"pcie_generation": 4}, "pass", "pcie", 0.937),
]


@pytest.mark.parametrize(("name", "options", "verdict", "ceiling", "share"), JUDGED, ids=lambda value: str(value)[:48])
def test_a_published_output_gets_its_verdict(name, options, verdict, ceiling, share) -> None:
    found = scored(name, **options)
    (result,) = found.results
    assert (found.verdict, result.verdict, result.ceiling.name) == (verdict, verdict, ceiling)
    assert result.of_ceiling_ratio == pytest.approx(share, abs=0.002)
    assert result.line.text in (TELEMETRY / name).read_text(encoding="utf-8")


UNTOLD = [
    ("nccl-tests/aks-2node-ib-allreduce-good-excerpt.txt", "EW-SCO-010"),  # no NIC in the text
    ("nccl-tests/coreweave-excerpt-ellipsis.txt", "EW-SCO-010"),
    ("nccl-tests/efa-64MB-dip-old-format.txt", "EW-SCO-012"),  # the dip is told all the same
    ("nccl-tests/p4d-scaling-1-2-3-4-nodes.txt", None),
    ("perftest/aks-ib_write_bw-good.txt", "EW-SCO-047"),
    ("perftest/oci-ib_write_bw-roce-100g.txt", "EW-SCO-047"),
    ("perftest/superbench-ib_loopback-8M.txt", "EW-SCO-041"),
    ("perftest/client-error-status12.txt", "EW-SCO-056"),  # an error is not a bandwidth of zero
    ("perftest/superbench-gpcnet-load-error.txt", "EW-SCO-048"),
]


@pytest.mark.parametrize(("name", "code"), [row for row in UNTOLD if row[1]])
def test_what_the_text_does_not_tell_is_asked_for(name: str, code: str) -> None:
    found = scored(name)
    assert found.verdict == "unknown"
    assert code in {finding.code for finding in found.findings}


def test_an_instance_type_in_the_name_is_an_assumption() -> None:
    found = scored("nccl-tests/aws-p5-2node-slurm-prefixed.txt", "aws-p5-2node.txt")
    assert found.verdict == "pass"
    assert any("instance type p5" in text for text in found.assumed)


def test_more_servers_below_the_floor_fail_and_one_server_is_no_fabric() -> None:
    # 31.77 and 29.61 of 4 x 12 = 48 GB/s: 66 and 62 %, and the number names no limiter.
    found = scored("nccl-tests/p4d-scaling-1-2-3-4-nodes.txt", **nics(4, 100), gpu="a100-40gb")
    assert [result.verdict for result in found.results] == ["pass", "warn", "fail", "fail"]
    assert [result.crosses_network for result in found.results] == [False, True, True, True]
    assert found.limiter.code == "EW-SCO-039"


def test_tcp_is_named_as_tcp_and_not_as_a_bad_link() -> None:
    assert scored("nccl-tests/aks-scenario3-allreduce.txt", **nics(8, 200)).limiter.code == "EW-SCO-021"


def test_a_latency_is_judged_in_time() -> None:
    (result,) = scored("perftest/aks-ib_read_lat.txt").results
    assert (result.verdict, result.measured_s, result.measured_bytes_per_s) == ("pass", 5.5e-6, None)


def test_both_ends_in_one_stream_are_one_result() -> None:
    for name in ("perftest/superbench-ib_loopback-8M.txt", "perftest/superbench-ib_loopback-allsizes.txt"):
        (result,) = scored(name).results
        assert not result.crosses_network


@pytest.mark.parametrize("name", ["init-clean-4node-a100-opa.log", "init-roce-2node-gid3-mtu3.log"])
def test_a_log_without_a_table_is_no_measurement(name: str) -> None:
    found = scored(f"nccl-logs/{name}")
    assert (found.verdict, found.results) == ("unknown", ())
