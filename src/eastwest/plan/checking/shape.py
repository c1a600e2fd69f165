"""Leaves, spines and their ports as a sheet gives them, with what follows from two of its numbers filled in."""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.plan.checking.sheet import Sheet
from eastwest.plan.designs.design import USUAL_GPUS


@dataclass(frozen=True, slots=True)
class Shape:
    """Numbers of a two- or three-tier design; None where the text gives too little. Ports are of one switch.

    `down` and `up` face servers and spines on a leaf, `*_bps` is the rate of one such port, `nic_links` all links of
    servers (of `nic_bps` each), `uplinks` all links between leaves and spines; `names` are the facts that `nic_links`
    came from, `up_names` those of `uplinks`. With `is_cabled` the uplinks are counted in cables, whose rate is open.
    """

    nic_links: int | None
    nic_bps: int | None
    leaves: int | None
    down: int | None
    up: int | None
    down_bps: int | None
    up_bps: int | None
    uplinks: int | None
    leaf_ports: int | None
    leaf_bps: int | None
    spines: int | None
    spine_ports: int | None
    spine_bps: int | None
    spine_down: int | None
    spine_up: int | None
    cores: int | None
    core_ports: int | None
    names: tuple[str, ...]
    up_names: tuple[str, ...]
    is_cabled: bool

    @property
    def ratio(self) -> float | None:
        """Down:up of a leaf by its ports."""
        if not self.down or not self.up:
            return None
        down_bps, up_bps = self.down_bps or self.up_bps or 1, self.up_bps or self.down_bps or 1
        return self.down * down_bps / (self.up * up_bps)


def shape_of(sheet: Sheet) -> Shape:
    """The shape that a sheet gives."""
    whole = sheet.whole
    rails = whole("rails")
    leaves = _of_rails(whole("leaves"), rails, whole("leaves_per_rail"))
    spines = _of_rails(whole("spines"), rails, whole("spines_per_rail"))
    links, names = _nic_links(sheet)
    uplinks, up_names = _uplinks(sheet, leaves, spines, links)
    up = whole("leaf_up")
    if up is None and uplinks is not None and leaves and uplinks % leaves == 0:
        up = uplinks // leaves
    switch_bps, nic_bps = whole("switch_ports_bps"), _port_bps(sheet)
    leaf_bps, spine_bps = whole("leaf_ports_bps") or switch_bps, whole("spine_ports_bps") or switch_bps
    return Shape(
        nic_links=links,
        nic_bps=nic_bps,
        leaves=leaves,
        down=whole("leaf_down"),
        up=up,
        down_bps=whole("leaf_down_bps") or leaf_bps or nic_bps,
        up_bps=whole("leaf_up_bps") or whole("uplink_bps") or leaf_bps or nic_bps,
        uplinks=uplinks,
        leaf_ports=whole("leaf_ports") or whole("switch_ports"),
        leaf_bps=leaf_bps,
        spines=spines,
        spine_ports=whole("spine_ports") or whole("switch_ports"),
        spine_bps=spine_bps,
        spine_down=whole("spine_down"),
        spine_up=whole("spine_up"),
        cores=whole("cores"),
        core_ports=whole("core_ports") or whole("switch_ports"),
        names=names,
        up_names=up_names,
        is_cabled="leaf_up" not in up_names and "links_per_pair" not in up_names,
    )


def _of_rails(count: int | None, rails: int | None, per_rail: int | None) -> int | None:
    return rails * per_rail if count is None and rails and per_rail else count


def _uplinks(
    sheet: Sheet, leaves: int | None, spines: int | None, links: int | None
) -> tuple[int | None, tuple[str, ...]]:
    """All links between leaves and spines: by the ports of a leaf, the links of a pair, or cables."""
    up, pairs, cables = (sheet.whole(name) for name in ("leaf_up", "links_per_pair", "leaf_spine_cables"))
    if up is not None:
        return (leaves * up, ("leaves", "leaf_up")) if leaves else (None, ())
    said = sheet.whole("leaf_spine_links")
    if said is not None:
        return said, ("leaf_spine_links",)
    if cables is not None:
        return cables, ("leaf_spine_cables",)
    if sheet.whole("links_in_all") is not None or sheet.whole("rooms"):
        return None, ()  # the rest of the cables may lie between rooms
    if pairs and spines and leaves and not sheet.whole("pairs_in_rail"):
        return leaves * spines * pairs, ("leaves", "spines", "links_per_pair")
    total = sheet.whole("cables")
    named = sheet.whole("server_cables") or sheet.whole("spine_core_cables")
    if total is not None and links and total > links and not named and not sheet.whole("cores"):
        return total - links, ("cables",)
    if total is not None and sheet.whole("server_cables") and not sheet.whole("cores"):
        return total, ("cables",)
    return None, ()


def _port_bps(sheet: Sheet) -> int | None:
    """The rate of one port of a NIC."""
    rate, ports = sheet.whole("nic_bps"), sheet.whole("ports_of_nic")
    return rate // ports if rate and ports else rate


def _nic_links(sheet: Sheet) -> tuple[int | None, tuple[str, ...]]:
    """Links from servers to leaves: NICs as counted, else servers x NICs, else one a GPU, else cables; of a NIC with
    several ports one each.
    """
    links, names = _nics(sheet)
    ports = sheet.whole("ports_of_nic")
    return (links * ports, (*names, "ports_of_nic")) if links and ports else (links, names)


def _nics(sheet: Sheet) -> tuple[int | None, tuple[str, ...]]:
    whole = sheet.whole
    if whole("nics"):
        return whole("nics"), ("nics",)
    servers, gpus = whole("servers"), whole("gpus")
    per_server = whole("gpus_per_server")
    nics = _nics_per_server(sheet)
    if servers and nics:
        return servers * nics, ("servers", "nics_per_server", "gpus_per_server", "nics_per_gpu")
    if gpus and nics:
        return -(-gpus // (per_server or USUAL_GPUS)) * nics, ("gpus", "nics_per_server", "gpus_per_server")
    if gpus:
        return gpus * (whole("nics_per_gpu") or 1), ("gpus", "nics_per_gpu")
    if servers and per_server:
        return servers * per_server, ("servers", "gpus_per_server")
    return (whole("server_cables"), ("server_cables",)) if whole("server_cables") else (None, ())


def _nics_per_server(sheet: Sheet) -> int | None:
    """NICs of a server: as said, else one for each rail, else so many a GPU."""
    per_gpu, gpus = sheet.whole("nics_per_gpu"), sheet.whole("gpus_per_server")
    return sheet.whole("nics_per_server") or sheet.whole("rails") or (per_gpu * gpus if per_gpu and gpus else None)
