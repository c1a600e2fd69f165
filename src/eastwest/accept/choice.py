"""Which ceiling a collective's result is held against, and which inputs are missing for it.

Several servers: the ring, as long as the result could be one. A result beyond the wire cannot be a ring: it is held
against a tree (NVLSTree), then against reduction in the switches. One server: NVLS where the GPU has it and nothing
says that it is off, else the ring of the scale-up links.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from eastwest.accept import ceilings
from eastwest.accept.ceilings import Ceiling, Exit
from eastwest.accept.facts import Facts
from eastwest.accept.gpus import CARD_BYTES_PER_S, MOST_BRIDGED, ScaleUp, scale_up_of
from eastwest.accept.results import ABOVE_RATIO
from eastwest.accept.runs import USUAL_GPUS_PER_SERVER, with_usual_server

RING_WIRE_RATIO = 0.985  # of the wire: RoCE headers at 4096 B leave 0.980, so more is no ring
REDUCING = frozenset({"all_reduce"})
EVERY_NIC = frozenset({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"})
ONE_PAIR = frozenset({"sendrecv", "gather", "scatter"})
COLLECTIVE_OPTION = "--collective "
NO_RING = ("tree", "nvlstree", "nvls", "collnet", "collnetdirect", "collnetchain")


@dataclass(frozen=True, slots=True)
class Choice:
    """The ceiling (None: not known), the options that would tell it, and the facts with what had to be assumed.

    `comparable` False when the number cannot be put beside runs of other server counts; `is_beyond` when no ceiling
    of these inputs allows the result; `spans_domains` a job over several scale-up domains that span servers (NVL72).
    """

    facts: Facts
    ceiling: Ceiling | None = None
    missing: tuple[str, ...] = ()
    comparable: bool = True
    is_beyond: bool = False
    ring: Ceiling | None = None
    spans_domains: bool = False


def choose(collective: str, measured_bytes_per_s: float, facts: Facts, candidates: tuple[str, ...] = ()) -> Choice:
    """The ceiling for one result; `candidates` what the columns leave open. Raises UsageError for a GPU that is not in
    the catalogue.
    """
    gpu = facts.get("gpu")
    scale_up = scale_up_of(gpu) if gpu else None
    facts = _one_domain(facts, scale_up)
    nodes = facts.get("nodes")
    if nodes == 1 or facts.get("one_domain"):
        return _inside(collective, measured_bytes_per_s, facts, scale_up)
    if _spans_domains(facts, scale_up):
        return Choice(facts, comparable=False, spans_domains=True)
    missing = missing_options(collective, facts, candidates)
    if missing:
        return Choice(facts, missing=missing)
    return _across(collective, measured_bytes_per_s, facts, scale_up)


def _one_domain(facts: Facts, scale_up: ScaleUp | None) -> Facts:
    """Whether all ranks sit in one scale-up domain that spans servers (NVL72)."""
    ranks = facts.get("ranks")
    if scale_up and scale_up.domain and ranks and ranks <= scale_up.domain and facts.get("nodes") != 1:
        why = f"{ranks} ranks fit into one NVLink domain of {scale_up.domain}"
        return facts.with_fact("one_domain", True, "assumed", why)
    return facts


def _spans_domains(facts: Facts, scale_up: ScaleUp | None) -> bool:
    """Whether the ranks fill more than one scale-up domain that spans servers: how NCCL joins such domains, and how
    many of their NICs it uses, no published run tells.
    """
    ranks = facts.get("ranks") or (facts.get("nodes") or 0) * (facts.get("gpus_per_server") or 0)
    return bool(scale_up and scale_up.domain and ranks > scale_up.domain)


def missing_options(collective: str, facts: Facts, candidates: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The options without which no ceiling of a fabric can be derived."""
    first, *others = candidates or ("all_reduce",)
    named = f"{COLLECTIVE_OPTION}{first}" + (f" (or {', '.join(others)}: what was run)" if others else "")
    wanted = {
        "--nodes N": not facts.get("nodes"),
        "--nic 400G": not facts.get("nic_rate_bps"),
        "--nics-per-server 8": not facts.get("nics_per_server"),
        named: not collective,
    }
    return tuple(option for option, is_missing in wanted.items() if is_missing)


def exit_of(facts: Facts) -> Exit:
    """How bytes leave one server."""
    return Exit(facts.get("nics_per_server"), facts.get("nic_rate_bps"), facts.get("pcie_bytes_per_s"))


def _inside(collective: str, measured: float, facts: Facts, scale_up: ScaleUp | None) -> Choice:
    if scale_up is None:
        is_named = facts.get("gpu") or facts.get("gpu_printed")
        return Choice(facts, missing=() if is_named else ("--gpu h100",), comparable=False)
    n_ranks = facts.get("ranks") or facts.get("gpus_per_server")
    if may_be_cards(facts) and (measured <= CARD_BYTES_PER_S or (n_ranks or 0) <= MOST_BRIDGED):
        return Choice(facts, missing=(f"--gpu {facts.get('gpu')}",), comparable=False)
    ring = ceilings.scale_up_ring(scale_up)
    algorithm = (facts.get("algorithm") or "").lower()
    is_off = facts.get("nvls") == "off" or (algorithm and "nvls" not in algorithm)
    if collective not in REDUCING or is_off or scale_up.nvls_ratio is None:
        return _beyond(Choice(facts, ring, comparable=False, ring=ring), measured)
    if not n_ranks:
        return Choice(facts, missing=("--gpus-per-server 8",), comparable=False)
    nvls = ceilings.nvls(scale_up, n_ranks)
    if nvls and not algorithm:
        facts = facts.with_fact("nvls", "on", "assumed", f"{scale_up.label} has it and nothing says that it is off")
    return _beyond(Choice(facts, nvls or ring, comparable=False, ring=ring), measured)


def may_be_cards(facts: Facts) -> bool:
    """Whether the GPU is only named in a sentence, by a name that PCIe cards have too."""
    return facts.get("board") == "open" and facts.origin("gpu") == "text"


def _beyond(choice: Choice, measured: float) -> Choice:
    if choice.ceiling and measured > ABOVE_RATIO * choice.ceiling.bytes_per_s:
        return Choice(choice.facts, choice.ceiling, choice.missing, choice.comparable, True, choice.ring)
    return choice


def _across(collective: str, measured: float, facts: Facts, scale_up: ScaleUp | None) -> Choice:
    """Several servers, with NICs known."""
    way = exit_of(facts)
    each = facts.get("gpus_per_server")
    if collective == "all_to_all":
        facts = with_usual_server(facts)
        return _beyond(
            Choice(facts, ceilings.all_to_all(way, facts.get("nodes"), facts.get("gpus_per_server"))), measured
        )
    if collective in ONE_PAIR:
        return _beyond(Choice(facts, ceilings.single_nic(way, each)), measured)
    if collective not in EVERY_NIC:
        return Choice(facts)
    facts, way = _used_nics(measured, facts, way)
    ring = ceilings.ring(way, scale_up, each)
    algorithm = (facts.get("algorithm") or "").lower()
    wire = min(way.wire_bytes_per_s, ring.bytes_per_s / ceilings.NIC_RATIO)
    is_ring = measured <= RING_WIRE_RATIO * wire and algorithm not in NO_RING
    if is_ring or algorithm == "ring":
        return _beyond(Choice(facts, ring, ring=ring), measured)
    return _past_the_wire(measured, with_usual_server(facts), way, scale_up, ring)


def _used_nics(measured: float, facts: Facts, way: Exit) -> tuple[Facts, Exit]:
    """The NICs that a job uses which takes few GPUs of each server: those beside them, unless it shows more."""
    each = facts.get("gpus_per_server")
    if not each or each >= USUAL_GPUS_PER_SERVER or facts.origin("gpus_per_server") != "text":
        return facts, way
    beside = min(way.nics, each * max(1, way.nics // USUAL_GPUS_PER_SERVER))
    part = replace(way, nics=beside)
    if beside == way.nics or measured > RING_WIRE_RATIO * part.wire_bytes_per_s:
        return facts, way
    why = f"{each} of the server's GPUs take part, and NCCL sends through the NICs beside them"
    return facts.with_fact("nics_used", beside, "assumed", why), part


def _past_the_wire(measured: float, facts: Facts, way: Exit, scale_up: ScaleUp | None, ring: Ceiling) -> Choice:
    """A result that no ring over these NICs gives: tree first, then reduction in the switches."""
    nodes, ranks, each = (facts.get(name) for name in ("nodes", "ranks", "gpus_per_server"))
    ranks = max(ranks, nodes)  # a text that lists fewer ranks than servers is cut
    tree = ceilings.tree(way, scale_up, nodes, ranks)
    if measured <= ABOVE_RATIO * tree.bytes_per_s:
        return Choice(facts, tree, comparable=False, ring=ring)
    sharp = ceilings.in_network(way, scale_up, ranks, each)
    return _beyond(Choice(facts, sharp, comparable=False, ring=ring), measured)
