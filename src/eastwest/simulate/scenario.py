"""`Scenario`: what is to be simulated, read from YAML with the line of every mistake; all engines share it.

A scenario names a site or describes a small fabric inline, gives traffic, and may give transport, load balancing, hash,
events, payload and overhead of a packet, seed, and what to record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from eastwest.errors import InputError
from eastwest.policy.hashing import ALGORITHM, FIELDS, TIERS, balancing, offsets, seeds
from eastwest.simulate.choice import PER_SWITCH, HashWish
from eastwest.simulate.hashing import FIELD_ORDER, FUNCTIONS, WORD_BITS
from eastwest.simulate.network_inline import INLINE_FAMILIES, InlineFabric
from eastwest.simulate.packet.params import AS_USUAL, PacketParams
from eastwest.simulate.routing_paths import BALANCINGS
from eastwest.simulate.scenario_events import EventWish, read_events
from eastwest.simulate.scenario_packet import read_packet
from eastwest.simulate.scenario_traffic import TrafficWish, read_traffics
from eastwest.simulate.scenario_transport import FAIR_SHARES, TransportWish, read_transport
from eastwest.simulate.sections import Mistakes, Section
from eastwest.spec.document import DocumentError, read_document
from eastwest.spec.load import STANDARD_INPUT, read_text
from eastwest.spec.mistakes import findings_of_flaws, shown
from eastwest.spec.resolve import regime_of
from eastwest.spec.site import Site
from eastwest.units import GIGA

TRANSPORTS = ("dcqcn", "infiniband", "roce", "spray", "swift", "tcp")
DEFAULT_PAYLOAD_BYTES = 4096  # RDMA MTU of InfiniBand and RoCE
# A RoCEv2 packet on the wire: preamble and gap 20, Ethernet 14 + 4, IPv4 20, UDP 8, BTH 12, ICRC 4 (IEEE 802.3; IBTA).
DEFAULT_OVERHEAD_BYTES = 82
DEFAULT_RATE_BPS = 400 * GIGA
DEFAULT_DELAY_PS = 1_000_000  # 1 us for a cable, the switch behind it included; assumed
DEFAULT_SCALE_UP_BPS = 3600 * GIGA  # eight H100 in one server: 450 GB/s one way
MAX_HOSTS = 300_000
MAX_LINKS = 20_000_000
MAX_SEED = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Record:
    """What to record: bytes of every link in time, in bins of `bin_ps` (0: not); peak and busy time of every link
    (`loads`; None: as long as there are few flows, since identical steps can then not be solved once).
    """

    bin_ps: int = 0
    loads: bool | None = None


@dataclass(frozen=True, eq=False)
class Scenario:
    """One scenario; `site` names a site file, `fabric` is an inline one: exactly one of them is given.

    Of a site `transport` and `load_balancing` may be empty and `hashes` None: its policy says them (`settled`).
    `reroute_ps` is how long switches send into a link that has failed. `mistakes` collects what is found wrong later,
    when names are looked up. `wish` says more of the transport: windows, losses, policers, flowlets, NIC failover.
    """

    name: str
    source: str
    site: str
    fabric: InlineFabric | None
    traffics: tuple[TrafficWish, ...]
    transport: str
    load_balancing: str
    hashes: HashWish | None
    events: tuple[EventWish, ...]
    payload_bytes: int
    overhead_bytes: int
    seed: int
    record: Record
    reroute_ps: int
    folder: FilePath
    mistakes: Mistakes
    wish: TransportWish = FAIR_SHARES
    packet: PacketParams = AS_USUAL


def load_scenario(path: FilePath | str) -> Scenario:
    """The scenario of a file, or of standard input (`-`). Raises InputError with every mistake."""
    folder = FilePath() if str(path) == STANDARD_INPUT else FilePath(path).parent
    return parse_scenario(read_text(path), str(path), folder)


def parse_scenario(text: str, source: str, folder: FilePath | None = None) -> Scenario:
    """The scenario that a text describes; relative names of files start at `folder`. Raises InputError."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    try:
        document = read_document(text)
    except DocumentError as error:
        raise InputError(findings_of_flaws([error.flaw], source, None, lines)) from error
    mistakes = Mistakes(source, document.lines, document.line_numbers)
    mistakes.found += findings_of_flaws(document.flaws, source, document, document.lines)
    if "servers" in document.data and "traffic" not in document.data:
        mistakes.refuse("EW-SIM-001", ("servers",))
    scenario = _read(document.data, source, folder or FilePath(), mistakes)
    mistakes.stop()
    return scenario


def _read(data: Any, source: str, folder: FilePath, mistakes: Mistakes) -> Scenario:
    top = Section(data, (), mistakes)
    name = top.text("name", FilePath(source).stem or "scenario")
    site, fabric = _network(top, mistakes)
    seed = top.whole("seed", 1, least=0, most=MAX_SEED)
    if "traffic" not in top:
        mistakes.add("EW-SIM-009", (), missing="traffic")
    traffics = read_traffics(top.raw("traffic"), folder, mistakes) if "traffic" in top else ()
    events = read_events(top.raw("events"), BALANCINGS, mistakes) if "events" in top else ()
    transport = _word(top, "transport", TRANSPORTS, "roce", site)
    scenario = Scenario(
        name,
        source,
        site,
        fabric,
        traffics,
        transport,
        _word(top, "load_balancing", BALANCINGS, "ecmp", site),
        None if site and "hash" not in top else _hash(top, name, seed, mistakes),
        events,
        top.size("payload", DEFAULT_PAYLOAD_BYTES),
        top.size("overhead", DEFAULT_OVERHEAD_BYTES, least=0),
        seed,
        _record(top, mistakes),
        top.time_ps("reroute_after"),
        folder,
        mistakes,
        read_transport(top, transport, mistakes),
        read_packet(top, mistakes),
    )
    top.raw("events")
    top.raw("traffic")
    top.close()
    return scenario


def _word(top: Section, key: str, choices: tuple[str, ...], usual: str, site: str) -> str:
    """One of the words; empty when the site is to say it."""
    if site and key not in top:
        top.raw(key)
        return ""
    return top.choice(key, choices, usual)


def settled(scenario: Scenario, site: Site) -> Scenario:
    """The scenario with what its site's policy says where it says nothing: transport, load balancing, hash."""
    how, _ = balancing(regime_of(site), site.qos.load_balancing)
    return replace(
        scenario,
        transport=scenario.transport or site.transport,
        load_balancing=scenario.load_balancing or how,
        hashes=scenario.hashes
        or HashWish(
            ALGORITHM, tuple(name for name in FIELD_ORDER if name in FIELDS), seeds(site.name), offsets=offsets()
        ),
    )


def _network(top: Section, mistakes: Mistakes) -> tuple[str, InlineFabric | None]:
    """The site's name or the inline fabric."""
    site = top.text("site")
    if "fabric" not in top:
        top.raw("fabric")
        if not site:
            mistakes.add("EW-SIM-002", ())
        return site, None
    if site:
        mistakes.add("EW-SIM-002", ("fabric",))
    return site, _inline(Section(top.raw("fabric"), ("fabric",), mistakes))


def _inline(section: Section) -> InlineFabric:
    family = section.choice("family", INLINE_FAMILIES, None)
    needed = _NEEDED[family]
    per_server = section.whole("gpus_per_server", 8 if family == "rail_optimized" else 1, most=1024)
    counts = {key: section.whole(key, None if key in needed else 0, most=1_000_000) for key in _COUNTS}
    fabric = InlineFabric(
        family,
        section.rate("rate", DEFAULT_RATE_BPS),
        section.time_ps("delay", DEFAULT_DELAY_PS),
        section.time_ps("switch_latency"),
        section.rate("uplink_rate", 0),
        links_per_pair=section.whole("links_per_pair", 1, most=1024),
        gpus_per_server=per_server,
        scale_up_bps=section.rate("scale_up", DEFAULT_SCALE_UP_BPS),
        scale_up_delay_ps=section.time_ps("scale_up_delay"),
        **{**counts, "servers_per_group": counts["servers_per_group"] or max(1, counts["servers"])},
    )
    section.close()
    _judge_inline(fabric, section)
    return fabric


_COUNTS = ("k", "leaves", "spines", "hosts_per_leaf", "hosts", "servers", "servers_per_group")
_NEEDED = {
    "fat_tree": ("k",),
    "leaf_spine": ("leaves", "spines", "hosts_per_leaf"),
    "rail_optimized": ("servers", "spines"),
    "ring": ("leaves", "hosts_per_leaf"),
    "single_switch": ("hosts",),
}


def _judge_inline(fabric: InlineFabric, section: Section) -> None:
    """Counts that do not fit each other, or that no memory holds."""
    mistakes = section.mistakes
    if fabric.family == "fat_tree" and fabric.k % 2:
        mistakes.add("EW-SIM-004", section.at("k"), found=str(fabric.k), expected="an even number of ports")
    if fabric.n_hosts > MAX_HOSTS:
        mistakes.add("EW-SIM-017", section.path, found=f"{fabric.n_hosts:,}", limit=f"{MAX_HOSTS:,}", what="hosts")
    elif fabric.leaves * fabric.spines * fabric.links_per_pair > MAX_LINKS:
        n_links = fabric.leaves * fabric.spines * fabric.links_per_pair
        mistakes.add("EW-SIM-017", section.path, found=f"{n_links:,}", limit=f"{MAX_LINKS:,}", what="links")
    elif fabric.n_hosts % fabric.gpus_per_server:
        words = {"found": str(fabric.gpus_per_server), "expected": f"a divisor of the {fabric.n_hosts:,} hosts"}
        mistakes.add("EW-SIM-004", section.at("gpus_per_server"), **words)


def _hash(top: Section, name: str, seed: int, mistakes: Mistakes) -> HashWish:
    """The hash of the switches; with nothing said, fields of the five-tuple and another seed on each tier."""
    usual = seeds(f"{name}/{seed}")
    if "hash" not in top:
        top.raw("hash")
        return HashWish(seeds=usual)
    section = Section(top.raw("hash"), ("hash",), mistakes)
    fields = section.names("fields") or HashWish().fields
    for field in fields:
        if field not in FIELD_ORDER:
            words = {"found": shown(field), "choices": ", ".join(FIELD_ORDER)}
            mistakes.add("EW-SIM-006", section.at("fields"), **words)
    found = HashWish(
        section.choice("function", FUNCTIONS, "mixed"),
        fields,
        _by_tier(section, "seeds", usual, MAX_SEED),
        _by_tier(section, "offsets", {}, WORD_BITS - 1),
        section.raw("seeds") == PER_SWITCH,
        section.flag("fixed_source_port", default=False),
    )
    section.close()
    return found


def _by_tier(section: Section, key: str, usual: dict[str, int], most: int) -> dict[str, int]:
    """Numbers by tier: one number is that of every tier."""
    value = section.raw(key)
    if value is None or (key == "seeds" and value == PER_SWITCH):
        return usual
    if isinstance(value, dict):
        inner = Section(value, section.at(key), section.mistakes)
        found = {tier: inner.whole(tier, usual.get(tier, 0), least=0, most=most) for tier in TIERS}
        inner.close()
        return found
    number = section.whole(key, 0, least=0, most=most)
    return dict.fromkeys(TIERS, number)


def _record(top: Section, mistakes: Mistakes) -> Record:
    if "record" not in top:
        top.raw("record")
        return Record()
    section = Section(top.raw("record"), ("record",), mistakes)
    loads = section.flag("loads", default=True) if "loads" in section else None
    found = Record(section.time_ps("every"), loads)
    section.raw("loads")
    section.close()
    return found
