"""The ibsim file: a small reader gets the plan's cables back, and so does ibnetdiscover on a running ibsim."""

import os
import re
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

import numpy as np
import pytest

from eastwest.fabric.tables import NodeKind
from eastwest.plan.exports import ibsim
from eastwest.plan.exports.names import host_names
from eastwest.units import GIGA
from tests.plan.exports.plans import SITES, plan_of
from tests.plan.exports.programs import need, running

RECORD = re.compile(r'^(Switch|Hca)\t(\d+) "([^"]+)"$')
PORT = re.compile(r'^\[(\d+)\]\t"([^"]+)"\[(\d+)\] # lid 0 (\S+)$')
FOUND = re.compile(r"^(CA|SW)\s+\d+\s+(\d+) 0x\S+ \S+ \S+ - (CA|SW)\s+\d+\s+(\d+) 0x\S+ \( '(.*)' - '(.*)' \)$")
HOSTS = (NodeKind.SERVER, NodeKind.CONTROLLER)


def read(text):
    """Naive reader: node -> (kind, ports), and every connection line as (node, port, far node, far port)."""
    nodes, lines, name = {}, [], ""
    for line in text.splitlines():
        if match := RECORD.match(line):
            name = match[3]
            assert name not in nodes
            nodes[name] = (match[1], int(match[2]))
        elif match := PORT.match(line):
            lines.append((name, int(match[1]), match[2], int(match[3])))
        else:
            assert not line or line.startswith("#")
    return nodes, lines


def planned(plan):
    """Every cable as the two ends that the file names."""
    names, number = ibsim.end_names(plan.fabric)
    links = plan.fabric.links
    return {
        frozenset(((names[a], number[a]), (names[b], number[b])))
        for a, b in zip(links["a_port"].tolist(), links["b_port"].tolist(), strict=True)
    }


@pytest.mark.parametrize("name", SITES)
def test_both_ends_of_every_cable_are_there_once(name):
    plan = plan_of(name)
    nodes, lines = read(ibsim.files(plan)["ibsim/topology.net"])
    assert len(lines) == 2 * len(plan.fabric.links)
    assert len({line[:2] for line in lines}) == len(lines)
    assert {frozenset((line[:2], line[2:])) for line in lines} == planned(plan)
    switches = sum(kind == "Switch" for kind, _ in nodes.values())
    assert switches == int(np.count_nonzero(~np.isin(plan.fabric.nodes["kind"], HOSTS)))
    assert all(1 <= port <= nodes[node][1] for node, port, _, _ in lines)
    assert all(len(node) <= 63 for node in nodes)


@pytest.mark.parametrize("name", SITES)
def test_hcas_have_the_ports_of_the_hosts(name):
    plan = plan_of(name)
    nodes, _ = read(ibsim.files(plan)["ibsim/topology.net"])
    hosts = np.isin(plan.fabric.nodes["kind"], HOSTS)
    ports = sum(ports for kind, ports in nodes.values() if kind == "Hca")
    assert ports == int(np.count_nonzero(hosts[plan.fabric.ports["node"]]))


@pytest.mark.parametrize(("gbps", "speed"), [(10, "4xSDR"), (100, "4xEDR"), (200, "4xHDR"), (800, "4xHDR")])
def test_speeds(gbps, speed):
    assert ibsim.speed_of(gbps * GIGA) == speed


def test_a_large_fabric_names_the_options_that_it_needs():
    head = ibsim.files(plan_of("large"))["ibsim/topology.net"].splitlines()[0]
    assert re.search(r"ibsim -s -N \d+", head) is not None


def starts(plan):
    """A leaf of each plane: an HCA does not forward, so a discovery sees one plane."""
    nodes = plan.fabric.nodes
    leaves = [
        np.flatnonzero((nodes["kind"] == NodeKind.LEAF) & (nodes["plane"] == plane))
        for plane in range(plan.fabric.planes)
    ]
    hosts = host_names(plan.fabric, ibsim.MAX_NAME)
    return [hosts[int(mine[0])] for mine in leaves]


def discover(env, folder):
    command = ["ibsim-run", "ibnetdiscover", "-p"]
    return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rails", "hostile", "planes"])
def test_ibnetdiscover_finds_the_cabling_of_the_plan(name):
    need("ibsim", "ibsim-run", "ibnetdiscover")
    plan = plan_of(name)
    text = ibsim.files(plan)["ibsim/topology.net"]
    folder = Path(tempfile.mkdtemp(prefix="ibsim-"))
    try:
        (folder / "topology.net").write_text(text)
        log, socket = folder / "ibsim.log", f"ew{uuid.uuid4().hex[:12]}"
        env = {**os.environ, "IBSIM_SOCKNAME": socket}
        with running(
            ["ibsim", "-s", folder / "topology.net"], log, lambda: b"simulator ready" in log.read_bytes(), env
        ):
            found = "".join(discover({**env, "SIM_HOST": start}, folder) for start in starts(plan))
        assert "cannot parse" not in log.read_text()
    finally:
        shutil.rmtree(folder)
    cables = [
        frozenset(((match[5], int(match[2])), (match[6], int(match[4]))))
        for line in found.splitlines()
        if (match := FOUND.match(line))
    ]
    assert set(cables) == planned(plan)
