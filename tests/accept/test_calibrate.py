"""Own measurements to constants: kinds of input, errors before and after, what is said beside."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.accept.calibrate import calibrate_texts
from eastwest.accept.facts import Facts, facts_of_flags
from eastwest.errors import InputError
from tests.dialects.bench import samples

NODE = samples.nccl_tests(hosts=("node-a",), busbw=420.0)
ROW = """
- id: own-{index}
  model: own
  arch: {{layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 128256}}
  gpu: H100 80GB SXM
  gpus: {gpus}
  gpus_per_node: 8
  precision: bf16
  tp: 1
  pp: 1
  seq: 8192
  global_batch: {gpus}
  micro_batch: 1
  network: 8x400G InfiniBand
  source: own cluster
  measured: {{iter_time_s: {seconds}}}
"""


def table(n: int, seconds: float = 0.86) -> str:
    return "rows:" + "".join(ROW.format(index=index, gpus=16 * 2**index, seconds=seconds) for index in range(n))


def codes(calibrated) -> set[str]:
    return {finding.code for finding in calibrated.findings}


def test_training_rows_give_constants_of_the_step_model():
    found = calibrate_texts([("own.yaml", table(3))], Facts())
    assert found.step is not None
    assert found.collectives is None
    assert found.own.step is found.step.constants
    document = found.as_json()
    assert document["training"]["rows_used"] == 3
    assert [row["name"] for row in document["training"]["constants"]] == ["gemm.h100-sxm5-80gb.16"]
    errors = document["training"]["errors"]
    assert errors["own_median_abs_error_ratio"] < errors["shipped_median_abs_error_ratio"]
    assert "EW-CAL-001" in codes(found)


def test_benchmark_output_gives_constants_of_collectives():
    found = calibrate_texts([("run.txt", NODE)], Facts())
    assert found.step is None
    assert found.collectives is not None
    assert found.own.collective_sources == ("run.txt",)
    document = found.as_json("zh")
    assert document["collectives"]["runs"][0]["generation"] == "hopper"
    assert document["verdict"] == "warn"  # 40 us at small sizes: far from the prediction, or not
    assert "EW-CAL-008" in codes(found)
    json.dumps(document, allow_nan=False)


def test_both_at_once_and_a_collectives_table():
    points = "points: [{bytes: 1073741824, time_us: 4500}]"
    rows = f"rows:\n- {{id: a, collective: all_reduce, gpu: H100, ranks: 8, nodes: 1, {points}}}\n"
    found = calibrate_texts([("t.yaml", table(2)), ("c.yaml", rows)], Facts())
    assert found.step is not None
    assert found.collectives is not None
    assert [run.id for run in found.collectives.runs] == ["a"]
    assert found.collectives.share_only == {"hopper": 1}


def test_a_defect_is_said_and_a_failed_table_is_named():
    assert "EW-CAL-004" in codes(calibrate_texts([("own.yaml", table(2, 30.0))], Facts()))
    nothing = calibrate_texts([("x.txt", "hello")], Facts())
    assert nothing.verdict == "unknown"
    assert codes(nothing) == {"EW-CAL-005", "EW-CAL-010"}
    with pytest.raises(InputError):
        calibrate_texts([("own.yaml", "rows: 5")], Facts())


def test_a_log_alone_says_what_it_tells():
    log = "node-a:77:90 [0] NCCL INFO 16 coll channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer\n"
    found = calibrate_texts([("nccl.log", log)], Facts())
    assert codes(found) == {"EW-CAL-005", "EW-CAL-006"}
    assert found.as_json()["logs"] == [
        {
            "source": "nccl.log",
            "says": [{"name": "channels", "value": "16"}, {"name": "nvls channels", "value": "0"}],
        }
    ]


def test_twelve_copies_of_a_row_are_one_measurement():
    rows = "rows:" + "".join(ROW.format(index=index, gpus=16, seconds=0.8 + index / 100) for index in range(12))
    found = calibrate_texts([("own.yaml", rows)], Facts())
    assert found.step is not None
    assert len(found.step.runs) == 1
    assert found.step.moved == ("gemm.h100-sxm5-80gb.16",)
    assert {"EW-CAL-001", "EW-CAL-008", "EW-CAL-017"} <= codes(found)
    joined = found.as_json()["joined"]
    assert joined == [{"subject": "own-0", "measurements": [f"own-{index}" for index in range(12)]}]
    assert found.as_json()["training"]["rows_used"] == 1


def test_a_row_beyond_the_gpus_peak_is_refused():
    found = calibrate_texts([("own.yaml", table(2, 0.86 / 15))], Facts())
    assert found.step is None
    assert found.verdict == "unknown"
    assert codes(found) == {"EW-CAL-005", "EW-CAL-015"}
    # (6 N + 6 L h s) tokens / (seconds x peak) of one GPU: N 5.62e9 (two matrices in the feed-forward block), L h s
    # 32 x 4,096 x 8,192, 8,192 tokens, 57 ms, 989e12 FLOP/s
    mfu = (6 * 5.62e9 + 6 * 32 * 4096 * 8192) * 8192 / (0.86 / 15 * 989e12)
    assert any(f"{mfu:.0%}"[:2] in finding.sentence() for finding in found.findings if finding.code == "EW-CAL-015")


def test_a_row_whose_layout_cannot_be_is_left_out_with_its_reason():
    odd = table(3).replace("global_batch: 32", "global_batch: 27")  # 32 replicas
    found = calibrate_texts([("own.yaml", odd)], Facts())
    assert found.step is not None
    assert [run.id for run in found.step.runs] == ["own-0", "own-2"]
    assert [row["subject"] for row in found.as_json()["left_out"]] == ["own-1"]


def test_a_curve_faster_than_its_links_is_refused():
    points = "points: [{bytes: 1073741824, time_us: 45}]"
    rows = f"rows:\n- {{id: a, collective: all_reduce, gpu: H100, ranks: 8, nodes: 1, {points}}}\n"
    found = calibrate_texts([("c.yaml", rows)], Facts())
    assert codes(found) == {"EW-CAL-005", "EW-CAL-016"}


def test_the_same_output_twice_counts_once():
    found = calibrate_texts([(f"run-{index}.txt", NODE) for index in range(3)], Facts())
    assert found.collectives is not None
    assert len(found.collectives.runs) == 1
    assert {"EW-CAL-008", "EW-CAL-017"} <= codes(found)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(NODE)), st.integers(0, len(NODE)), st.text(max_size=20))
def test_cut_output_is_fitted_or_left_out(first, last, noise):
    text = NODE[min(first, last) : max(first, last)] + noise
    found = calibrate_texts([("-", text)], facts_of_flags({"gpu": "h100", "nodes": 1}))
    json.dumps(found.as_json(), allow_nan=False)
    assert (found.collectives is not None) or found.verdict == "unknown"
