"""Reading tables of collectives: hardware and collective from the texts people write, reasons, never a traceback."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eastwest.errors import InputError
from eastwest.plan.validation.collectives_cases import CLASSES, case_of
from eastwest.plan.validation.collectives_reasons import Unscored
from eastwest.plan.validation.collectives_table import CollectiveRow, number, read_collectives

ROW = {
    "id": "synthetic",
    "collective": "all_reduce",
    "gpu": "H100-SXM5-80GB",
    "nodes": 4,
    "gpus_per_node": 8,
    "nics_per_node": 8,
    "nic_gbps": 400,
    "network": "InfiniBand NDR",
    "source": "github:someone/somewhere@1234567:README.md line 1",
    "points": [{"bytes": 1048576, "time_us": 82.0}, {"bytes": 1073741824, "busbw_GBps": 358.0}],
}


def case(**changes):
    row = {key: value for key, value in {**ROW, **changes}.items() if value is not None}
    return case_of(read_collectives(json.dumps({"rows": [row]}), "t.yaml")[0])


def run(**changes):
    found = case(**changes)
    assert found.points, found.unscored
    return found.points[0].run


@pytest.mark.parametrize("least", [1e-308, "1e-300", 5e-324])
def test_a_number_near_nothing_is_no_number(least):
    assert number(least) is None
    assert case(nic_gbps=least).unscored is not None or not case(nic_gbps=least).points


def test_a_row_is_read_as_its_run():
    found = run()
    assert (found.ranks, found.domains, found.nics, found.nic_bytes_per_s) == (32, 4, 8, 50e9)
    assert (found.generation, found.transport, found.scale_up_bytes_per_s) == ("hopper", "infiniband", 450e9)
    assert found.nvls
    assert found.algorithm is None


def test_bandwidth_becomes_time_by_the_bus_factor():
    last = case().points[1]
    assert last.measured_s == pytest.approx(1073741824 * 2 * 31 / 32 / 358e9)


@pytest.mark.parametrize(
    ("text", "collective"),
    [
        ("AllReduce", "all_reduce"),
        ("all-gather", "all_gather"),
        ("reduce_scatter", "reduce_scatter"),
        ("alltoall", "all_to_all"),
        ("broadcast", "broadcast"),
        ("sendrecv", "send_recv"),
    ],
)
def test_collectives_by_any_spelling(text, collective):
    assert run(collective=text).collective == collective


@pytest.mark.parametrize(
    ("changes", "transport"),
    [
        ({"network": "RoCEv2"}, "roce"),
        ({"network": "EFA (SRD)", "nic": "AWS EFA v2"}, "efa"),
        ({"network": "EFA", "gpu": "A100"}, "efa1"),
        ({"network": "IPoIB: TCP over HDR"}, "ipoib"),
        ({"network": "Ethernet", "algorithm": "NCCL socket transport"}, "tcp"),
        ({"network": "GPUDirect-TCPXO"}, "tcpxo"),
        ({"network": "Omni-Path"}, "omni_path"),
        ({"network": "cluster"}, "infiniband"),
    ],
)
def test_transports_by_keyword(changes, transport):
    assert run(**changes).transport == transport


@pytest.mark.parametrize(
    ("text", "nodes", "algorithm"),
    [
        ("ring", 2, "ring"),
        ("NCCL_ALGO=Ring", 2, "ring"),
        ("tree", 2, "tree"),
        ("NVLSTree", 2, "nvls_tree"),
        ("NVLS", 1, "nvls"),
        ("NVLS at large sizes", 1, None),
        ("NCCL auto (2 nodes: tree/NVLSTree effect)", 2, None),
        ("NCCL auto", 2, None),
        ("tree", 1, None),
        ("CollNet", 4, "collnet"),
    ],
)
def test_algorithms_by_keyword(text, nodes, algorithm):
    assert run(algorithm=text, nodes=nodes).algorithm == algorithm


def test_a_doubted_algorithm_is_left_to_the_model_and_said():
    found = case(algorithm="CollNet/SHARP", suspect="not SHARP-like")
    assert found.points[0].run.algorithm is None
    assert any("doubts" in text for text in found.assumed)


@pytest.mark.parametrize(
    ("changes", "family"),
    [
        ({"nodes": 1}, "one_node"),
        ({"nodes": 2}, "two_nodes"),
        ({"nodes": 3}, "three_nodes"),
        ({"nodes": 4}, "four_or_more_nodes"),
        ({"gpu": "GB200", "nodes": 18, "gpus_per_node": 4, "nvlink_domain_gpus": 72}, "one_nvl72_set"),
        ({"gpu": "GB200", "nodes": 2, "gpus_per_node": 4}, "one_nvl72_set"),
        ({"gpu": "GB300", "nodes": 36, "gpus_per_node": 4, "nvlink_domain_gpus": 72}, "several_nvl72_sets"),
        ({"nodes": 8, "gpus_per_node": 4}, "other"),
        ({"nodes": None, "gpus_per_node": None, "network": "multi-node 200G NIC"}, "nodes_not_said"),
        ({"collective": "perftest ib_write_bw", "points": [{"avg_gbps": 390}]}, "perftest"),
        ({"collective": "MoE dispatch", "points": [{"ep": 16, "latency_us": 118}]}, "expert_exchange"),
        ({"collective": "p2p copy", "nodes": 1, "points": [{"GBps": 376}]}, "p2p"),
    ],
)
def test_classes(changes, family):
    assert case(**changes).family == family
    assert family in CLASSES


def test_an_nvl72_set_is_one_domain_of_all_its_gpus():
    found = run(gpu="GB200", nodes=18, gpus_per_node=4, nvlink_domain_gpus=72, nics_per_node=4)
    assert (found.ranks, found.domains) == (72, 1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": "calibration_table"}, Unscored.calibration_table),
        ({"kind": "simulation"}, Unscored.not_measured),
        ({"source": "github:NVIDIA/nccl issue 12"}, Unscored.issue_tracker),
        ({"source": "https://github.com/NVIDIA/nccl/issues/12"}, Unscored.issue_tracker),
        ({"citation": "incomplete: title only"}, Unscored.no_address),
        ({"note": "collapse above 32 MiB is the reported defect"}, Unscored.defect),
        ({"network": "RDMA with PCIe ACS enabled"}, Unscored.defect),
        ({"gpu": "not stated", "nics_per_node": None, "nic_gbps": None, "network": "?"}, Unscored.no_hardware),
        ({"collective": "barrier"}, Unscored.unknown_collective),
        ({"points": [{"ratio": 0.9}]}, Unscored.no_points),
        ({"points": "many"}, Unscored.no_points),
    ],
)
def test_why_a_row_does_not_count(changes, reason):
    assert case(**changes).unscored is reason


def test_a_listed_row_is_predicted_all_the_same():
    found = case(source="github:NVIDIA/nccl issue 12")
    assert found.unscored
    assert len(found.points) == 2


def test_points_that_count_gpus_are_runs_of_their_own():
    points = [{"gpus": 4, "busbw_nvls_GBps": 363, "busbw_ring_GBps": 363}, {"gpus": 8, "busbw_nvls_GBps": 473}]
    found = case(nodes=1, gpus_per_node="4..8", points=points)
    assert [(p.run.ranks, p.run.algorithm) for p in found.points] == [(4, "nvls"), (4, "ring"), (8, "nvls")]


def test_a_script_is_known_by_its_missing_times():
    points = [{"bytes": 32768, "busbw_GBps": 1.2}, {"bytes": 65536, "busbw_GBps": 2.2}]
    assert run(nodes=1, points=points, complete_curve=True).tool == "script"
    assert run(nodes=1).tool == "nccl-tests"


@pytest.mark.parametrize("text", ["rows: {}", "rows: []", "meta: {}", "rows: [1, two]"])
def test_another_shape_is_refused(text):
    with pytest.raises(InputError) as caught:
        read_collectives(text, "t.yaml")
    assert {finding.code for finding in caught.value.findings} <= {"EW-VAL-200", "EW-VAL-211"}
    assert "t.yaml" in str(caught.value)


@pytest.mark.parametrize("value", [True, -1, 0, float("nan"), float("inf"), "many", "1" * 50, [], {}, None, 1e300])
def test_what_is_no_number_is_missing(value):
    assert number(value) is None


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=True), st.text(max_size=30)
)
words = st.sampled_from(
    ["A100", "GB200", "all_reduce", "alltoall", "perftest ib_read_lat", "MoE dispatch", "tree", "NVLS", "IPoIB", "EFA",
     "8x400G", "NVL72", "PCIe5", "issue 7", "2,4,8", "100GbE TCP", "p2p copy", "script"]
)  # fmt: skip
values = st.one_of(scalars, words)
point_keys = st.sampled_from(
    ["bytes", "time_us", "busbw_GBps", "algbw_GBps", "gpus", "nodes", "op", "ep", "latency_us", "GBps",
     "bottleneck_GBps", "avg_gbps", "t_typical_us", "busbw_nvls_GBps", "small_latency_us"]
)  # fmt: skip
points = st.one_of(values, st.lists(st.one_of(values, st.dictionaries(point_keys, values, max_size=4)), max_size=4))
row_keys = st.sampled_from(
    [*ROW, "nic", "node_gbps", "nvlink_domain_gpus", "ranks", "algorithm", "dtype", "kind", "note"]
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(row_keys, values, max_size=8), points)
def test_no_row_breaks_the_reader(changes, measured):
    row = CollectiveRow(
        "fuzzed",
        1,
        None,
        {**ROW, **changes},
        tuple(p for p in measured if isinstance(p, dict)) if isinstance(measured, list) else (),
    )
    found = case_of(row)
    assert found.family in CLASSES
    assert found.unscored or found.points
    assert all(p.measured_s > 0 and p.size_bytes > 0 and p.naive_s >= 0 for p in found.points)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    )
)
def test_no_document_breaks_the_reader(document):
    try:
        rows = read_collectives(json.dumps({"rows": document}, default=str), "t.yaml")
    except InputError:
        return
    assert all(case_of(row) for row in rows)
