"""The engine against the obvious simulation: the same times to the picosecond where nothing is lost or paused."""

import numpy as np
import pytest

from eastwest.simulate.packet.params import ANSWER_BYTES
from eastwest.simulate.prepared import Prepared
from tests.simulate.packet.naive import finish_times
from tests.simulate.packet.runs import packet_run


def scenario(seed: int) -> str:
    """Flows of odd sizes between random hosts of a small fat-tree, at odd times, so that nothing is simultaneous."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(40):
        src, dst = random.choice(16, 2, replace=False)
        rows.append(f"h{src},h{dst},{random.integers(1, 200_000)},{random.integers(0, 20_000_000)}ps")
    flows = "\n".join(f"    {row}" for row in rows)
    return (
        "fabric: {family: fat-tree, k: 4, rate: 100G, delay: 777777ps}\ntransport: roce\n"
        "packet: {pfc: false, ecn: false, buffer: 1GB, lossy_alpha: 100}\n"
        f"traffic:\n  flows: |\n{flows}\n"
    )


def ways(prepared: Prepared, routes: list[int], start: int) -> list[int]:
    """Links of a route until its end."""
    return routes[start : routes.index(-1, start)]


@pytest.mark.parametrize("seed", range(6))
def test_times_are_those_of_the_naive_simulation(seed: int, tmp_path) -> None:
    text = scenario(seed)
    lines = text.split("  flows: |\n")
    (tmp_path / "list.csv").write_text("src,dst,bytes,start\n" + lines[1].replace("    ", ""))
    prepared, found = packet_run(lines[0] + f"  flows: {tmp_path / 'list.csv'}\n")
    routes = found.world.routes.tolist()
    rows = found.world.flows
    flows = []
    for row in rows:
        sizes = [int(row["full_size"])] * (int(row["n_packets"]) - 1) + [int(row["last_size"])]
        path = ways(prepared, routes, int(row["route"]))
        flows.append((int(row["ready_ps"]), sizes, path, ways(prepared, routes, int(row["back_route"]))))
    links = [(int(link["rate_bps"]), int(link["delay_ps"])) for link in prepared.network.links]
    assert found.end_ps.tolist() == finish_times(links, flows, ANSWER_BYTES)
    assert int(found.world.queues["dropped"].sum()) == 0
