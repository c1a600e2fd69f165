"""Slurm's topology: every server below one switch, one root where the fabric is one, and a real slurmctld agrees."""

import contextlib
import getpass
import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from eastwest.fabric.tables import NodeKind
from eastwest.plan.exports import slurm
from eastwest.plan.exports.names import host_names
from tests.plan.exports.plans import SITES, plan_of
from tests.plan.exports.programs import need, running
from tests.plan.exports.test_names import expand

CONF = """\
ClusterName=synthetic
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
NodeName={nodes} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def fields(line):
    return dict(pair.split("=", 1) for pair in line.split())


def read(text):
    """Naive reader of topology.conf: switch -> (nodes, switches)."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        row = fields(line)
        assert set(row) in ({"SwitchName", "Nodes"}, {"SwitchName", "Switches"})
        assert row["SwitchName"] not in found
        found[row["SwitchName"]] = (expand(row.get("Nodes", "")), expand(row.get("Switches", "")))
    return found


def servers_of(plan):
    hosts = host_names(plan.fabric)
    return [hosts[node] for node in plan.fabric.nodes_of(NodeKind.SERVER)]


@pytest.mark.parametrize("name", SITES)
def test_every_server_and_every_switch_hangs_below_one(name):
    plan = plan_of(name)
    switches = read(slurm.files(plan)["slurm/topology.conf"])
    nodes = [node for below, _ in switches.values() for node in below if node]
    assert sorted(nodes) == sorted(servers_of(plan))
    children = [child for _, below in switches.values() for child in below if child]
    assert len(children) == len(set(children))
    assert len(set(switches) - set(children)) == 1  # one root: the fabric is connected
    assert set(children) <= set(switches)
    assert all(len(switch) <= 64 for switch in switches)


def test_rail_groups_are_switches_and_their_leaves_are_named():
    text = slurm.files(plan_of("rails"))["slurm/topology.conf"]
    assert "# group-1: su01-leaf-r1, su01-leaf-r2, su01-leaf-r3" in text
    assert "SwitchName=group-1 Nodes=gpu-[01-32]\n" in text
    assert "SwitchName=group-2 Nodes=gpu-[33-40]\n" in text
    assert "SwitchName=room-1 Switches=group-[1-2]\n" in text


@pytest.mark.parametrize("name", SITES)
def test_yaml_says_the_same_as_conf(name):
    files = slurm.files(plan_of(name))
    topologies = YAML(typ="safe").load(files["slurm/topology.yaml"])
    assert [next(iter(topology)) for topology in topologies] == ["topology"] * len(topologies)  # must come first
    assert [topology["cluster_default"] for topology in topologies] == [True] + [False] * (len(topologies) - 1)
    tree = {
        row["switch"]: (expand(row.get("nodes", "")), expand(row.get("children", "")))
        for row in topologies[0]["tree"]["switches"]
    }
    assert tree == read(files["slurm/topology.conf"])


def test_scale_up_domains_are_blocks():
    files = slurm.files(plan_of("domains"))
    lines = [line for line in files["slurm/topology-block.conf"].splitlines() if not line.startswith("#")]
    assert lines == [
        "BlockName=block-1 Nodes=gpu-[01-18]",
        "BlockName=block-2 Nodes=gpu-[19-36]",
        "BlockSizes=18,36",
    ]
    block = YAML(typ="safe").load(files["slurm/topology.yaml"])[1]["block"]
    assert block["block_sizes"] == [18, 36]
    assert block["blocks"] == [
        fields(f"block={n} nodes={nodes}") for n, nodes in (("block-1", "gpu-[01-18]"), ("block-2", "gpu-[19-36]"))
    ]
    assert "slurm/topology-block.conf" not in slurm.files(plan_of("rails"))


@pytest.mark.parametrize(("counts", "sizes"), [([18] * 4, [18, 36, 72]), ([18, 18, 7], [7, 14]), ([4], [4])])
def test_block_sizes_double_from_the_smallest_block(counts, sizes):
    assert slurm.block_sizes([(f"block-{i}", "", n) for i, n in enumerate(counts)]) == sizes


@contextlib.contextmanager
def controller(plan) -> Iterator[dict[str, str]]:
    """A munged and a slurmctld on loopback with the plan's topology.conf; yields the environment for its clients."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))  # short: a UNIX socket's path has 107 characters at most
    try:
        (folder / "state").mkdir()
        (folder / "munge.key").write_bytes(os.urandom(64))
        (folder / "munge.key").chmod(0o600)
        (folder / "topology.conf").write_text(slurm.files(plan)["slurm/topology.conf"])
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        host = socket.gethostname().split(".")[0]
        nodes = ",".join(servers_of(plan))
        conf = CONF.format(host=host, port=port, user=getpass.getuser(), folder=folder, nodes=nodes)
        (folder / "slurm.conf").write_text(conf)
        options = {"socket": "munge.sock", "key-file": "munge.key", "pid-file": "munge.pid", "seed-file": "munge.seed"}
        munged = ["munged", "-F", "--force", *(f"--{key}={folder / name}" for key, name in options.items())]
        env = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        daemon = ["slurmctld", "-D", "-f", folder / "slurm.conf"]
        with (
            running(munged, folder / "munged.log", (folder / "munge.sock").exists),
            running(daemon, folder / "slurmctld.log", lambda: show(env).returncode == 0, env),
        ):
            yield env
    finally:
        shutil.rmtree(folder)


def show(env):
    command = ["scontrol", "--oneliner", "show", "topology"]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rails", "hostile", "large"])
def test_slurmctld_prints_the_topology_back(name):
    need("munged", "slurmctld", "scontrol")
    plan = plan_of(name)
    switches = read(slurm.files(plan)["slurm/topology.conf"])
    with controller(plan) as env:
        printed = {row["SwitchName"]: row for line in show(env).stdout.splitlines() if (row := fields(line))}
    assert set(printed) == set(switches)
    for switch, (nodes, children) in switches.items():
        below = switches
        level = 0
        while nodes == [] or nodes == [""]:
            level += 1
            nodes = [node for child in children for node in below[child][0] if node]
            children = [grand for child in children for grand in below[child][1] if grand]
        assert sorted(expand(printed[switch]["Nodes"])) == sorted(nodes)
        assert int(printed[switch]["Level"]) == level
        if switches[switch][1] not in ([], [""]):
            assert sorted(expand(printed[switch]["Switches"])) == sorted(switches[switch][1])


@pytest.mark.slow
def test_scontrol_expands_host_lists_as_we_do(tmp_path):
    need("scontrol")
    (tmp_path / "slurm.conf").write_text("ClusterName=synthetic\nSlurmctldHost=localhost\n")
    env = {**os.environ, "SLURM_CONF": str(tmp_path / "slurm.conf")}
    lists = re.findall(r"(?:Nodes|Switches)=(\S+)", slurm.files(plan_of("rails"))["slurm/topology.conf"])
    assert len(lists) == 3
    for text in lists:
        command = ["scontrol", "show", "hostnames", text]
        shown = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True)
        assert shown.stdout.split() == expand(text)
