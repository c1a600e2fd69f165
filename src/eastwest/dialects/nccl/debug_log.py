"""What a NCCL debug log says of how a job ran: channels, NICs, paths, GPU Direct, algorithm and protocol by size.

>>> log = "node-a:77:90 [0] NCCL INFO AllReduce: 8388608 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}"
>>> [(setting.name, setting.value) for setting in read(log).settings]
[('choice', 'all_reduce 8388608 ring ll128')]

`dialects.nccl.job` reads the job itself (ranks, servers, rate). Choices need NCCL_DEBUG_SUBSYS=TUNING; releases up to
2.23 print numbers, later ones names. Source: NVIDIA/nccl, src/enqueue.cc (Algo, proto), src/init.cc (channels),
src/transport/net.cc and p2p.cc (via), src/transport/net_ib.cc (Using, mtu as in ibv_mtu).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eastwest.dialects.lines import Line, lines_of
from eastwest.dialects.readings import Readings, Setting

MOST_CHANNELS = 1024  # NCCL has at most 64; a larger number is no count of channels
MOST_BYTES = 10**15
FUNCTIONS = {
    "AllReduce": "all_reduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
}
# In the order of NCCL_ALGO_* and NCCL_PROTO_* (src/include/nccl_tuner.h, nccl_common.h).
ALGORITHMS = ("tree", "ring", "collnet", "collnet", "nvls", "nvls_tree", "pat")
PROTOCOLS = ("ll", "ll128", "simple")
_NAMES = {
    "tree": "tree",
    "ring": "ring",
    "collnet_direct": "collnet",
    "collnet_chain": "collnet",
    "collnetdirect": "collnet",
    "collnetchain": "collnet",
    "nvls": "nvls",
    "nvls_tree": "nvls_tree",
    "nvlstree": "nvls_tree",
    "pat": "pat",
}
MTU_BYTES = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}  # ibv_mtu, InfiniBand verbs

_SPEAKER = re.compile(r"NCCL (?:INFO|WARN|TRACE|version)\b")
_CHOICE = re.compile(r"(?:\b([A-Z][A-Za-z]{3,15}): )?(\d{1,15}) Bytes -> Algo (\w{1,16}) proto (\w{1,8})\b")
_CHANNELS = re.compile(r"(\d{1,5}) coll channels,(?: (\d{1,5}) collnet channels,)?(?: (\d{1,5}) nvls channels,)?")
_CHANNEL_OF = re.compile(r"\bChannel \d{1,4}/(\d{1,4}) ?:(?! \d+\[)")
_VIA = re.compile(r"\bvia (P2P|SHM|NET/[A-Z]\w{1,15}|NET/AWS Libfabric|COLLNET|NVLS)\b[\w/ :.()]*?(/GDRDMA)?(?:/|\s|$)")
_USING = re.compile(r"NET/IB\s*: Using (\[0\].*)")
_NIC = re.compile(r"\[\d{1,3}\](\w{1,32}):\d{1,2}/(?:IB|RoCE)")
_MTU = re.compile(r"NET/IB\s*:.* mtu (\d)\b")
_PROTOCOL = re.compile(r"NCCL_PROTO set by environment to ([\w,^]{1,40}?)\.?(?:\s|$)")
_NO_GDR = re.compile(r"GPU Direct RDMA Disabled for")
_GDR = re.compile(r"GPU Direct RDMA Enabled for")


@dataclass(frozen=True, slots=True)
class Choice:
    """What NCCL chose for one size: `collective`, bytes, `algorithm` and `protocol` in small letters."""

    collective: str
    size_bytes: int
    algorithm: str
    protocol: str


def detect(text: str) -> bool:
    """Whether the text holds lines of a NCCL debug log."""
    return bool(_SPEAKER.search(text))


def read(text: str, source: str = "-") -> Readings:
    """Settings of how the job ran, each once with its first line; the lines that say nothing of it are not unknown."""
    settings: dict[tuple[str, str], Setting] = {}
    understood, unknown = set(), []
    for line in lines_of(text):
        found = list(_settings(line.text))
        if found or _SPEAKER.search(line.text):
            understood.add(line.number)
        elif line.text.strip():
            unknown.append(line.evidence(source))
        for name, value in found:
            settings.setdefault((name, value), _setting(name, value, line, source))
    return Readings(settings=tuple(settings.values()), unknown=tuple(unknown), understood=frozenset(understood))


def choices_of(settings: Iterable[Setting]) -> dict[tuple[str, int], Choice]:
    """(collective, bytes) -> what NCCL chose; a size with two choices is left out."""
    found: dict[tuple[str, int], Choice] = {}
    twice = set()
    for setting in settings:
        if setting.name == "choice":
            collective, size, algorithm, protocol = setting.value.split(" ")
            key = (collective, int(size))
            if key in found:
                twice.add(key)
            found[key] = Choice(collective, int(size), algorithm, protocol)
    return {key: choice for key, choice in found.items() if key not in twice}


def _setting(name: str, value: str, line: Line, source: str) -> Setting:
    return Setting(name, value, line.evidence(source))


def _settings(text: str) -> Iterator[tuple[str, str]]:
    if "Algo" in text:
        yield from _choice(text)
    if "hannel" in text:
        yield from _channels(text)
    if "via " in text:
        yield from _path(text)
    if "NET/IB" in text:
        yield from _adapters(text)
    protocol = _PROTOCOL.search(text)
    if protocol:
        yield "protocol", protocol[1].lower()
    if _NO_GDR.search(text):
        yield "gdr", "off"
    elif _GDR.search(text):
        yield "gdr", "on"


def _choice(text: str) -> Iterator[tuple[str, str]]:
    """What NCCL chose for one size: by name, or by number in older releases, which may not name the collective."""
    found = _CHOICE.search(text)
    if not found or found[1] not in FUNCTIONS:
        return
    size = int(found[2])
    algorithm = _named(found[3], ALGORITHMS, _NAMES)
    protocol = _named(found[4], PROTOCOLS, {name: name for name in PROTOCOLS})
    if algorithm and protocol and 0 < size <= MOST_BYTES:
        yield "choice", f"{FUNCTIONS[found[1]]} {size} {algorithm} {protocol}"


def _named(word: str, numbered: tuple[str, ...], names: dict[str, str]) -> str | None:
    if word.isdecimal():
        return numbered[int(word)] if int(word) < len(numbered) else None
    return names.get(word.lower())


def _channels(text: str) -> Iterator[tuple[str, str]]:
    found = _CHANNELS.search(text)
    if found:
        for name, count in (("channels", found[1]), ("nvls channels", found[3])):
            if count is not None and int(count) <= MOST_CHANNELS:
                yield name, str(int(count))
        return
    one = _CHANNEL_OF.search(text)
    if one and 0 < int(one[1]) <= MOST_CHANNELS:
        yield "channels", str(int(one[1]))


def _path(text: str) -> Iterator[tuple[str, str]]:
    found = _VIA.search(text)
    if found:
        yield "path", found[1]
        if found[1].startswith("NET/") and found[1] != "NET/Socket":
            yield "gdr", "on" if "/GDRDMA" in text else "off"


def _adapters(text: str) -> Iterator[tuple[str, str]]:
    using = _USING.search(text)
    if using:
        for name in _NIC.findall(using[1]):
            yield "nic", name
    mtu = _MTU.search(text)
    if mtu and int(mtu[1]) in MTU_BYTES:
        yield "mtu", str(MTU_BYTES[int(mtu[1])])
