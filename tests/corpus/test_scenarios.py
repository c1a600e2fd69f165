"""The peer simulators' scenarios: byte and hop counts, and times of fluid peers (shared/reference/peer-speed.md)."""

from pathlib import Path

import pytest

from eastwest.simulate.result import SimResult
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import parse_scenario

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "scenarios"
US = 10**6  # picoseconds

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the shared scenarios are not beside the project")


def run(name: str, k: int, how: str = "ecmp", overhead: int = 0, engine: str = "flow") -> SimResult:
    fabric = f"fabric: {{family: fat-tree, k: {k}, rate: 100G, delay: 1us}}\npayload: 4096\noverhead: {overhead}\n"
    text = fabric + f"load_balancing: {how}\ntraffic: {{flows: {name}.csv}}\n"
    return run_scenario(parse_scenario(text, name, FOLDER), engine)


@pytest.mark.parametrize("how", ["ecmp", "spray", "adaptive", "pinned"])
def test_the_incast_takes_what_fluid_peers_say(how: str) -> None:
    """SimGrid: all 12,806 us; 12,800 us of the last link and 6 links of 1 us, whatever the way."""
    outcome = run("I16", 8, how)
    assert set(outcome.flows.fct_ps.tolist()) == {12_806 * US}
    assert outcome.facts.packet_hops == 234_432


def test_the_incast_with_headers_takes_the_bytes_of_its_packets() -> None:
    """4160 B a full packet, the last of each flow short: 13,000.05 us + 6 us; htsim and ns.py say 13,011 to 13,017."""
    assert run("I16", 8, overhead=64).time_ps / US == pytest.approx(13_000.05 + 6, abs=0.01)


def test_the_permutation_has_the_peers_bytes_and_hops() -> None:
    outcome = run("P8", 8)
    assert sum(outcome.tier_bytes.values()) == 128 * 10_000_000
    assert outcome.facts.packet_hops == 1_821_732
    assert run("P16", 16).facts.packet_hops == 2_939_868


def test_routes_by_destination_give_simgrids_times() -> None:
    """SimGrid with D-mod-k routes: least, median and most 802 / 1606 / 2406 us."""
    fct = sorted(run("P8", 8, "pinned").flows.fct_ps.tolist())
    assert (fct[0] / US, fct[len(fct) // 2] / US, fct[-1] / US) == (802, 1606, 2406)


def test_spray_ends_the_permutation_at_line_rate() -> None:
    """10 MB at 100G and at most 6 links."""
    assert run("P8", 8, "spray").time_ps == 806 * US


def test_ecmp_has_the_shape_that_packet_peers_have() -> None:
    """5 to 7 flows on the worst link: 4,006 to 5,606 us fluid (peers 4,037 to 5,704 with headers)."""
    assert 3 * 800 * US < run("P8", 8).time_ps <= 7 * 800 * US + 6 * US


def test_rings_and_all_to_all_end_when_simgrid_says() -> None:
    """SimGrid: ring all-reduce of 128 MB over 128 hosts 21,844 us; all-to-all of 1 MB each, all at once, 10,162 us."""
    fabric = "fabric: {family: fat-tree, k: 8, rate: 100G, delay: 1us}\noverhead: 0\nload_balancing: pinned\n"
    ring = fabric + "traffic: {collective: all_reduce, algorithm: ring, size: 128MB}\n"
    assert run_scenario(parse_scenario(ring, "ring")).time_ps == 21_844 * US
    pattern = fabric + "traffic: {pattern: all_to_all, size: 1MB}\n"
    assert run_scenario(parse_scenario(pattern, "all")).time_ps / US == pytest.approx(10_162, rel=1e-3)
