"""Synthetic scenarios for the tests of the simulator: a few lines of YAML, and their results."""

from pathlib import Path

import pytest

from eastwest.errors import InputError
from eastwest.simulate.prepared import Prepared, prepare
from eastwest.simulate.result import SimResult
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import parse_scenario

FAT_TREE = "fabric: {family: fat-tree, k: 4, rate: 100G, delay: 1us}\noverhead: 0\n"
LEAF_SPINE = (
    "fabric: {family: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4, rate: 100G, delay: 1us}\noverhead: 0\n"
)
SERVERS = (
    "fabric: {family: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 8, rate: 100G, delay: 1us, gpus_per_server: 4, "
    "scale_up: 1T}\noverhead: 0\n"
)
RAILS = (
    "fabric: {family: rail-optimized, servers: 4, servers_per_group: 2, gpus_per_server: 4, spines: 4, rate: 100G, "
    "delay: 1us, scale_up: 1T}\noverhead: 0\n"
)


def prepared(text: str, folder: Path | None = None) -> Prepared:
    """The tables of a scenario."""
    return prepare(parse_scenario(text, "s.yaml", folder))


def result(text: str, engine: str = "flow", folder: Path | None = None) -> SimResult:
    """What an engine says of a scenario."""
    return run_scenario(parse_scenario(text, "s.yaml", folder), engine)


def mistakes(text: str, folder: Path | None = None) -> list[tuple[str, str]]:
    """(code, sentence) of every mistake of a scenario that must not run."""
    with pytest.raises(InputError) as caught:
        prepared(text, folder)
    return [(finding.code, finding.sentence()) for finding in caught.value.findings]


def codes(text: str, folder: Path | None = None) -> list[str]:
    """Codes of every mistake."""
    return [code for code, _ in mistakes(text, folder)]


def found(outcome: SimResult) -> list[str]:
    """Codes of the findings of a result."""
    return [finding.code for finding in outcome.findings]
