"""What a NCCL debug log (`NCCL_DEBUG=INFO`) says of the job beside its events: NICs, transport, algorithm, servers.

>>> log = "node-a:77:90 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.1<0>"
>>> [(setting.name, setting.value) for setting in read(log).settings]
[('transport', 'RoCE'), ('adapters', '2')]

Source: NVIDIA/nccl, src/transport/net_ib.cc (Using), src/init.cc (nRanks, nNodes), src/graph/topo.cc (NET[rate]).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from eastwest.dialects.lines import Line, lines_of
from eastwest.dialects.readings import Readings, Setting
from eastwest.units import BITS_PER_BYTE, GIGA, MEGA

RATES_GBPS = (10, 25, 40, 50, 100, 200, 400, 800)  # rates of NIC ports
RATE_STEP_RATIO = 0.05  # NCCL's own constants: 12 GB/s for 100G, 24 for 200G

_LOG = re.compile(
    r"(?:^|\s)(\S+?):(\d+):(\d+)\s+(?:\[\d+\]\s+)?(?:\S+:\d+\s+)?NCCL\s+(?:INFO|WARN|TRACE|ERROR|VERSION)?"
)
_LOG_TAIL = re.compile(r"NCCL (?:INFO|WARN|version) ?")
_USING = re.compile(r"NET/IB\s*: Using (\[0\].*)")
_NIC = re.compile(r"\[(\d+)\](\w+):\d+/(IB|RoCE)")
_NO_DEVICE = re.compile(r"NET/IB\s*: No device found")
_NETWORK = re.compile(r"Using network (\w+(?: \w+)*)")
_VIA_SOCKET = re.compile(r"via NET/Socket/")
_OFI = re.compile(r"NET/OFI .*(?:[Pp]rovider is efa|Using .*EFA)")
_COUNT = re.compile(r"\bnNodes (\d+)")
_LOCAL = re.compile(r"\blocalRanks (\d+)")
_RANKS = re.compile(r"\bn[rR]anks (\d+)")
_ALGORITHM = re.compile(r"NCCL_ALGO set by environment to ([\w,^:]+?)\.?(?:\s|$)")
_NVLS_OFF = re.compile(r"NCCL_NVLS_ENABLE set by environment to 0")
_RATE = re.compile(r"NET\[(\d+(?:\.\d+)?)\]")
_XML_RATE = re.compile(r"<net [^>]*speed=\"(\d+)\"")
_VERSION = re.compile(r"NCCL version (\d+\.\d+[\w.]*)")
_NO_GDR = re.compile(r"GPU Direct RDMA Disabled for")

_SIGNS = {  # a line that says one thing
    ("no rdma device", "yes"): _NO_DEVICE,
    ("transport", "EFA"): _OFI,
    ("nvls", "off"): _NVLS_OFF,
    ("gpu direct", "off"): _NO_GDR,
}
_VALUES = {"nodes": _COUNT, "local ranks": _LOCAL, "ranks": _RANKS, "nccl": _VERSION, "algorithm": _ALGORITHM}


def detect(text: str) -> bool:
    """Whether the text holds lines of a NCCL debug log."""
    return bool(_LOG_TAIL.search(text))


def read(text: str, source: str = "-") -> Readings:
    """Settings of the job, each once with its first line, and the hosts that wrote the log."""
    settings: dict[tuple[str, str], Setting] = {}
    hosts: dict[str, None] = {}
    understood, unknown = set(), []
    for line in lines_of(text):
        log = _LOG.search(line.text)
        if log:
            hosts.setdefault(log[1])
        if log or _LOG_TAIL.search(line.text) or _XML_RATE.search(line.text):
            understood.add(line.number)
        elif line.text.strip():
            unknown.append(line.evidence(source))
            continue
        for name, value in _settings(line):
            settings.setdefault((name, value), Setting(name, value, line.evidence(source)))
    return Readings(
        settings=tuple(settings.values()),
        hosts=tuple(hosts),
        unknown=tuple(unknown),
        understood=frozenset(understood),
    )


def _settings(line: Line) -> Iterator[tuple[str, str]]:
    text = line.text
    using = _USING.search(text)
    if using:
        nics = _NIC.findall(using[1])
        yield "transport", nics[0][2] if nics else "IB"
        if nics:
            yield "adapters", str(len({name for _, name, _ in nics}))
    network = _NETWORK.search(text)
    if (network and network[1] == "Socket") or _VIA_SOCKET.search(text):
        yield "transport", "Socket"
    for (name, value), pattern in _SIGNS.items():
        if pattern.search(text):
            yield name, value
    for name, pattern in _VALUES.items():
        found = pattern.search(text)
        if found:
            yield name, found[1]
    yield from _rates(text)


def _rates(text: str) -> Iterator[tuple[str, str]]:
    """The NIC's rate in bit/s where the log prints its topology, when it is that of a known port rate."""
    in_log, in_file = _RATE.search(text), _XML_RATE.search(text)
    if in_file:
        yield "nic rate", str(int(in_file[1]) * MEGA)
    elif in_log:
        gbps = float(Decimal(in_log[1])) * BITS_PER_BYTE
        near = [rate for rate in RATES_GBPS if abs(gbps - rate) <= RATE_STEP_RATIO * rate]
        if near:
            yield "nic rate", str(near[0] * GIGA)
