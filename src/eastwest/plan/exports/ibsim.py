"""The fabric for ibsim: `ibsim/topology.net`, which a real subnet manager and the InfiniBand diagnostics can load.

One `Switch` a switch or box and one `Hca` a NIC, named `host_nicN`; ports are numbered from 1 as in the plan. On a
RoCE site the file proves the cabling only. Left out: GUIDs and LIDs (ibsim and the subnet manager give them). A
cable's rate is written as the nearest speed below it that ibsim 0.10 knows, so 400G and 800G appear as 4xHDR (200G).
ibsim reads switches of 254 ports at most and names of 63 characters; longer names are shortened. Size: about 55 bytes
a cable end.

Source: README and net-examples of ibsim; InfiniBand specification volume 1, section 14 (ports of a switch are 1 to
254).
"""

from __future__ import annotations

import numpy as np

from eastwest.fabric.routing import Ints
from eastwest.fabric.tables import Fabric, NodeKind
from eastwest.plan.exports.names import host_names
from eastwest.plan.plan import Plan
from eastwest.units import GIGA

MAX_NAME = 54  # characters of a host: ibsim tells names apart by 63, `_nic` and a number come behind
SPEEDS = ((200 * GIGA, "4xHDR"), (100 * GIGA, "4xEDR"), (56 * GIGA, "4xFDR"), (40 * GIGA, "4xQDR"), (0, "4xSDR"))
DEFAULT_NODES, DEFAULT_SWITCHES, DEFAULT_PORTS = 2048, 256, 13288  # limits of ibsim without -N, -S, -P
MAX_SWITCH_PORTS = 254  # InfiniBand specification volume 1, section 14
HOSTS = (NodeKind.SERVER, NodeKind.CONTROLLER)


def files(plan: Plan) -> dict[str, str]:
    """The files of the format."""
    fabric = plan.fabric
    names, number = end_names(fabric)
    switch = ~np.isin(fabric.nodes["kind"], HOSTS)[fabric.ports["node"]]
    is_switch = dict(zip(names, switch.tolist(), strict=True))
    blocks: dict[str, list[str]] = {name: [] for name in is_switch}
    n_ports = dict.fromkeys(is_switch, 0)
    far = _far_ports(fabric).tolist()
    rates = {rate: speed_of(rate) for rate in np.unique(fabric.links["rate_bps"]).tolist()}
    speeds = [rates[rate] for rate in fabric.links["rate_bps"].tolist()]
    link = fabric.ports["link"].tolist()
    for name, n, other, at in zip(names, number, far, link, strict=True):
        if n > n_ports[name]:
            n_ports[name] = n
        if other >= 0:
            blocks[name].append(f'[{n}]\t"{names[other]}"[{number[other]}] # lid 0 {speeds[at]}')
    order = sorted(blocks, key=lambda name: not is_switch[name])
    head = _head(n_ports, is_switch)
    body = ["\n".join([_header(name, n_ports[name], is_switch[name]), *blocks[name], ""]) for name in order]
    return {"ibsim/topology.net": "\n".join([*head, "", *body])}


def end_names(fabric: Fabric) -> tuple[list[str], list[int]]:
    """(n_ports,) name of the switch or HCA of each port, and its port number there, from 1."""
    hosts = host_names(fabric, MAX_NAME)
    is_host = np.isin(fabric.nodes["kind"], HOSTS)[fabric.ports["node"]]
    number = np.where(is_host, 0, fabric.ports["number"]) + 1
    columns = (fabric.ports["node"].tolist(), fabric.ports["number"].tolist(), is_host.tolist())
    names = [f"{hosts[node]}_nic{nic}" if host else hosts[node] for node, nic, host in zip(*columns, strict=True)]
    return names, number.tolist()


def speed_of(rate_bps: int) -> str:
    """Width and speed of a link as ibsim writes them: the fastest that it knows and the cable reaches."""
    return next(speed for least, speed in SPEEDS if rate_bps >= least)


def _far_ports(fabric: Fabric) -> Ints:
    """(n_ports,) the port at the other end of each port's cable; -1 when it is free."""
    far = np.full(len(fabric.ports), -1, np.int64)
    far[fabric.links["a_port"]] = fabric.links["b_port"]
    far[fabric.links["b_port"]] = fabric.links["a_port"]
    return far


def _header(name: str, ports: int, is_switch: bool) -> str:
    return f'{"Switch" if is_switch else "Hca"}\t{ports} "{name}"'


def _head(n_ports: dict[str, int], is_switch: dict[str, bool]) -> list[str]:
    """Comments: the command that loads the file, and what ibsim cannot load."""
    switches = sum(is_switch.values())
    ports = sum(n_ports.values()) + switches  # port 0 of each switch
    wanted = (
        ("-N", len(n_ports), DEFAULT_NODES),
        ("-S", switches, DEFAULT_SWITCHES),
        ("-P", ports, DEFAULT_PORTS),
    )
    options = "".join(f" {option} {count}" for option, count, default in wanted if count > default)
    lines = [f"# {switches} switches, {len(n_ports) - switches} HCAs; load with: ibsim -s{options} topology.net"]
    wide = [name for name, device in is_switch.items() if device and n_ports[name] > MAX_SWITCH_PORTS]
    if wide:
        lines.append(f"# {len(wide)} switches have more than {MAX_SWITCH_PORTS} ports: ibsim cannot load them.")
    return lines
