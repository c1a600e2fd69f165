"""Options that tell the system of a run where its text does not, and the facts that they make: of `score` and
`calibrate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from eastwest.cli.options import check_algorithm
from eastwest.errors import UsageError

if TYPE_CHECKING:
    from eastwest.accept.facts import Facts

Nic = Annotated[str | None, typer.Option("--nic", help="Rate of one east-west NIC, such as 400G.")]
NicsPerServer = Annotated[
    int | None, typer.Option("--nics-per-server", min=1, max=256, help="East-west NICs in a server.")
]
Nics = Annotated[str | None, typer.Option("--nics", help="Both at once, such as 8x400G.")]
GpusPerServer = Annotated[int | None, typer.Option("--gpus-per-server", min=1, max=1024, help="GPUs in a server.")]
Nodes = Annotated[int | None, typer.Option("--nodes", min=1, max=1_000_000, help="Servers of the run.")]
Gpu = Annotated[
    str | None, typer.Option("--gpu", help="GPU of the catalogue, such as h100: judges what is inside a server.")
]
Collective = Annotated[str | None, typer.Option("--collective", help="Collective, where the text does not tell it.")]
Algorithm = Annotated[
    str | None, typer.Option("--algorithm", help="ring, tree, nvls, nvlstree or collnet, as NCCL_ALGO.")
]
PcieGeneration = Annotated[
    int | None, typer.Option("--pcie", min=3, max=7, help="PCIe generation of the NIC's x16 slot.")
]
Mtu = Annotated[
    int | None, typer.Option("--mtu", min=256, max=4096, help="RDMA MTU in bytes, where perftest does not print it.")
]
SiteFile = Annotated[str | None, typer.Option("--site", help="Site file with the servers of the run.")]


AS_GIVEN = ("nodes", "gpus_per_server", "nics_per_server", "pcie_generation", "mtu_bytes", "transport")


def facts_of_options(**given: Any) -> Facts:
    """What the options and the site file say, by the options' names; None and a missing one are not given. Raises
    UsageError for an option that cannot be read.
    """
    from eastwest.accept.facts import facts_of_flags, facts_of_site
    from eastwest.dialects.bench.nccl_collective import named_collective

    known = {name: given.get(name) for name in AS_GIVEN}
    words = {name: given.get(name) for name in ("nics", "nic", "gpu", "collective", "algorithm", "site")}
    if words["nics"]:
        known["nics_per_server"], known["nic_rate_bps"] = _nics(words["nics"])
    if words["nic"]:
        known["nic_rate_bps"] = _rate(words["nic"], "--nic")
    known["gpu"] = _gpu(words["gpu"])
    if words["collective"]:
        known["collective"] = named_collective(words["collective"])
        if not known["collective"]:
            raise UsageError(f"--collective: {words['collective']!r} is no collective of nccl-tests", hint="all_reduce")
    check_algorithm(words["algorithm"])
    known["algorithm"] = words["algorithm"].lower() if words["algorithm"] else None
    known["pcie_bytes_per_s"] = _slot(known["pcie_generation"])
    facts = facts_of_flags(known)
    if words["site"]:
        from eastwest.spec.load import load_site
        from eastwest.spec.resolve import servers_of

        site = load_site(words["site"]).site
        accepted = site.fabric.oversubscription
        ratio = accepted.leaf * accepted.spine
        facts = facts.joined(facts_of_site(servers_of(site), words["site"], ratio))
    return facts


def _gpu(name: str | None) -> str | None:
    """The catalogue's name of a GPU, as given or as tools print it. Raises UsageError."""
    if name is None:
        return None
    from eastwest.accept.gpus import gpu_of_name
    from eastwest.spec import catalogue

    try:
        return catalogue.get("gpu", name).id
    except UsageError:
        printed = gpu_of_name(name)
        if printed is None:
            raise
        return printed


def _nics(text: str) -> tuple[int, int | None]:
    """`8x400G` or `8`. Raises UsageError."""
    count, cross, rate = text.lower().replace("×", "x").replace("*", "x").partition("x")
    if not count.strip().isdecimal() or not 0 < int(count) <= 256:
        raise UsageError(f"--nics: {text!r} is not NICs x rate", hint="for example --nics 8x400G")
    return int(count), _rate(rate.upper(), "--nics") if cross else None


def _rate(text: str, option: str) -> int:
    """Bit/s of one NIC; a plain number up to 1600 is taken as Gb/s. Raises UsageError."""
    from eastwest.units import GIGA, UnitError, parse_rate

    try:
        rate = parse_rate(f"{text}G" if text.strip().isdecimal() and int(text) <= 1600 else text)
    except UnitError as error:
        raise UsageError(f"{option}: {error}", hint="for example 400G") from error
    if not GIGA <= rate <= 10_000 * GIGA:
        raise UsageError(f"{option}: {text!r} is no rate of a NIC", hint="for example 400G")
    return rate


def _slot(generation: int | None) -> float | None:
    """Usable bytes/s of an x16 slot of that generation."""
    if generation is None:
        return None
    from eastwest.spec import catalogue

    return catalogue.get("pcie", str(generation)).x16_usable_bytes_per_s
