"""Leaves, spines and their ports as a sheet gives them, with what follows from two of its numbers filled in."""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.plan.checking.sheet import Sheet
from eastwest.plan.designs.design import USUAL_GPUS


@dataclass(frozen=True, slots=True)
class Shape:
    """Numbers of a two- or three-tier design; None where the text gives too little. Ports are of one switch.

    `down` and `up` face servers and spines on a leaf, `*_bps` is the rate of one such port, `nic_links` all links of
    servers; `names` are the facts that `nic_links` came from.
    """

    nic_links: int | None
    leaves: int | None
    down: int | None
    up: int | None
    down_bps: int | None
    up_bps: int | None
    leaf_ports: int | None
    spines: int | None
    spine_ports: int | None
    spine_down: int | None
    spine_up: int | None
    cores: int | None
    core_ports: int | None
    names: tuple[str, ...]

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
    rails, per_rail = whole("rails"), whole("leaves_per_rail")
    leaves = whole("leaves") or (rails * per_rail if rails and per_rail else None)
    links, names = _nic_links(sheet)
    cables, up = whole("leaf_spine_cables"), whole("leaf_up")
    if up is None and cables and leaves and cables % leaves == 0:
        up = cables // leaves
    rate = whole("switch_ports_bps") or whole("nic_bps")
    return Shape(
        nic_links=links,
        leaves=leaves,
        down=whole("leaf_down"),
        up=up,
        down_bps=whole("leaf_down_bps") or whole("nic_bps"),
        up_bps=whole("leaf_up_bps") or whole("uplink_bps") or whole("leaf_ports_bps") or rate,
        leaf_ports=whole("leaf_ports") or whole("switch_ports"),
        spines=whole("spines"),
        spine_ports=whole("spine_ports") or whole("switch_ports"),
        spine_down=whole("spine_down"),
        spine_up=whole("spine_up"),
        cores=whole("cores"),
        core_ports=whole("core_ports") or whole("switch_ports"),
        names=names,
    )


def _nic_links(sheet: Sheet) -> tuple[int | None, tuple[str, ...]]:
    """Links from servers to leaves: as counted, else NICs, else servers x NICs, else one a GPU."""
    whole = sheet.whole
    for name in ("server_cables", "nics"):
        if whole(name):
            return whole(name), (name,)
    servers, nics = whole("servers"), whole("nics_per_server")
    if servers and nics:
        return servers * nics, ("servers", "nics_per_server")
    gpus = whole("gpus")
    if gpus and nics:
        per_server = whole("gpus_per_server") or USUAL_GPUS
        return -(-gpus // per_server) * nics, ("gpus", "nics_per_server")
    return gpus, ("gpus",)
