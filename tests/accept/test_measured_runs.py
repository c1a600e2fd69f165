"""From pasted benchmark output to curves of a fit: classes, what is missing, logs of a folder, NCCL's choices."""

import pytest

from eastwest.accept.facts import Facts, facts_of_flags
from eastwest.accept.measured_runs import measured_texts
from tests.dialects.bench import samples

NETWORK = {"nics_per_server": 8, "nic_rate_bps": 400 * 10**9, "transport": "roce"}
TWO = samples.nccl_tests(busbw=330.0)
LOG = (
    "node-a:77:90 [0] NCCL INFO NET/IB : Using "
    + " ".join(f"[{index}]mlx5_{index}:1/RoCE" for index in range(8))
    + " [RO]; OOB eth0:192.0.2.1<0>\n"
    "node-a:77:90 [0] NCCL INFO + NET[50.0] - NET/0 (0/0/50.000000)\n"
)


def test_a_table_becomes_a_curve():
    found = measured_texts([("run.txt", TWO)], facts_of_flags(NETWORK))
    (run,) = found.runs
    assert (run.run.ranks, run.run.domains, run.run.nics, run.run.transport) == (16, 2, 8, "roce")
    assert run.run.nic_bytes_per_s == 50e9
    assert run.run.generation == "hopper"
    assert len(run.sizes_bytes) == len(run.times_s) == len(samples.SIZES)
    assert found.left_out == ()


def test_one_server_needs_no_network():
    (run,) = measured_texts([("-", samples.nccl_tests(hosts=("node-a",), busbw=470.0))], Facts()).runs
    assert (run.run.domains, run.run.nics, run.run.nvls) == (1, 0, True)


def test_what_is_missing_is_named_as_options():
    found = measured_texts([("run.txt", TWO)], Facts())
    assert found.runs == ()
    assert found.left_out[0].code == "EW-CAL-011"
    assert found.left_out[0].args["options"] == "--nics-per-server 8 --nic 400G --transport roce"
    unknown = measured_texts([("run.txt", samples.nccl_tests(gpu="Something New"))], facts_of_flags(NETWORK))
    assert unknown.left_out[0].args["options"] == "--gpu h100"


@pytest.mark.parametrize("name", ["runs/nccl.log", "elsewhere/nccl.log"])
def test_a_log_describes_the_machine_of_its_own_folder(name):
    found = measured_texts([("runs/table.txt", TWO), (name, LOG)], Facts())
    assert bool(found.runs) == name.startswith("runs/")
    assert ("nic", "mlx5_7") in found.logs[name]
    if found.runs:
        assert (found.runs[0].run.transport, found.runs[0].run.nic_bytes_per_s) == ("roce", 50e9)
        assert any("adapters" in text for text in found.assumed)


def test_omni_path_is_not_taken_for_infiniband():
    log = LOG.replace("mlx5_", "hfi1_").replace("RoCE", "IB")
    (run,) = measured_texts([("runs/table.txt", TWO), ("runs/nccl.log", log)], Facts()).runs
    assert run.run.transport == "omni_path"


def test_choices_of_the_log_split_the_curve():
    choices = "".join(
        f"node-a:77:90 [0] NCCL INFO AllReduce: {size} Bytes -> Algo {'TREE' if size < 2**20 else 'RING'} proto "
        f"{'LL' if size < 2**20 else 'SIMPLE'} channel{{Lo..Hi}}={{0..15}}\n"
        for size in samples.SIZES
    )
    runs = measured_texts([("-", choices + TWO)], facts_of_flags(NETWORK)).runs
    assert [(run.run.algorithm, run.run.protocol) for run in runs] == [("tree", "ll"), ("ring", "simple")]
    assert max(runs[0].sizes_bytes) < 2**20 <= min(runs[1].sizes_bytes)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("hello", "EW-CAL-010"),
        (samples.nccl_tests(wrong="7"), "EW-CAL-013"),
        ("\n".join([samples.banner(8)] * 2 + samples.ranks_of(["node-a"]) * 2 + samples.rows(ranks=8)), "EW-CAL-012"),
    ],
)
def test_what_cannot_be_fitted_is_left_out_with_its_reason(text, code):
    found = measured_texts([("-", text)], facts_of_flags(NETWORK))
    assert found.runs == ()
    assert [item.code for item in found.left_out] == [code]
