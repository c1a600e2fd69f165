"""A scenario's text run packet by packet, for tests."""

from eastwest.simulate.packet.run import PacketOutcome, run_packets
from eastwest.simulate.prepared import Prepared, prepare
from eastwest.simulate.scenario import parse_scenario


def packet_run(text: str) -> tuple[Prepared, PacketOutcome]:
    """The prepared scenario and what came of it."""
    prepared = prepare(parse_scenario(text, "synthetic.yaml"))
    return prepared, run_packets(prepared, prepared.scenario.packet)
