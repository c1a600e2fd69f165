"""The ports of a cable list: each takes one cable, whole or broken out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eastwest.finding import Finding
from eastwest.plan.checking.bill_cables import is_splitter
from eastwest.plan.checking.sheet import PartLine, Sheet

_DEVICE = re.compile(r"(?:device|switch|host|node|server|name|hostname|system|end|side|设备|主机)?", re.I)
_PORT = re.compile(r"port|interface|intf|if|nic|端口|接口", re.I)
_SIDES = re.compile(
    r"(?:(?P<a>a|from|source|src|near|local)|(?P<b>b|z|to|destination|dest|dst|far|remote))(?:_(?P<of>\w+))?"
    r"|(?P<name>device|switch|host|node|name|hostname|end|side|port|interface|设备|主机|端口|接口)_?(?:(?P<a2>a|1|本端)|(?P<b2>b|z|2|对端))"
    r"|(?:(?P<a3>本端|源|起点)|(?P<b3>对端|目的|目标|终点))_?(?P<of3>设备|主机|端口|接口)?",
    re.I,
)
_WITH_PORT = re.compile(  # `leaf-01:1/2`, `leaf-01 Ethernet1`, `leaf-01 port 3`
    r"([^\s:,;]{1,60})(?::|\s+)((?:eth\w*|port|swp|int\w*|nic|p|(?<=:))\s?\d[\d/.:sp]{0,12})", re.I
)
_ARROW = re.compile(r"\s*(?:<[-=]+>|<[-=]+|[-=]+>|[→↔⇔])\s*")
_BROKEN_OUT = re.compile(r"(?P<whole>.*\d)(?:/|s|:)\d{1,2}")  # port 7/1 of port 7, swp7s0 of swp7


@dataclass(frozen=True, slots=True)
class EndColumns:
    """Columns of a cable list with the device and the port at one end; without `port` the device's cell names both."""

    device: int
    port: int | None


def end_columns(header: Sequence[str]) -> tuple[EndColumns, ...]:
    """The columns of both ends of a cable list; nothing when a header does not name both.

    >>> end_columns(("a_device", "a_port", "b_device", "b_port", "length_m"))
    (EndColumns(device=0, port=1), EndColumns(device=2, port=3))
    """
    devices: dict[str, int] = {}
    ports: dict[str, int] = {}
    for index, name in enumerate(header):
        match = _SIDES.fullmatch(name)
        if match is None:
            continue
        side = "a" if match["a"] or match["a2"] or match["a3"] else "b"
        of = match["of"] or match["name"] or match["of3"] or ""
        if _PORT.fullmatch(of):
            ports.setdefault(side, index)
        elif _DEVICE.fullmatch(of):
            devices.setdefault(side, index)
    if devices.keys() != {"a", "b"}:
        return ()
    return tuple(EndColumns(devices[side], ports.get(side)) for side in ("a", "b"))


def ends_of(cells: Sequence[str], columns: Sequence[EndColumns]) -> tuple[tuple[str, str], ...]:
    """(device, port) at each end of a line whose cells name both; a port that is not named is none."""
    found = []
    for column in columns:
        device = cells[column.device] if column.device < len(cells) else ""
        port = cells[column.port] if column.port is not None and column.port < len(cells) else ""
        both = _WITH_PORT.fullmatch(device) if column.port is None else None
        if both:
            device, port = both[1], both[2]
        if device.strip() and port.strip():
            found.append((device.strip(), port.strip()))
    return tuple(found)


def ends_in_words(text: str) -> tuple[tuple[str, str], ...]:
    """(device, port) at both ends of a cable in words.

    >>> ends_in_words("leaf-01 port 1 <-> spine-01:3, AOC 30 m")
    (('leaf-01', 'port 1'), ('spine-01', '3'))
    """
    sides = _ARROW.split(text, maxsplit=1)
    if len(sides) < len(("a", "b")):
        return ()
    near = re.search(rf"{_WITH_PORT.pattern}$", sides[0].strip(), re.I)
    far = _WITH_PORT.match(sides[1])
    return ((near[1], near[2]), (far[1], far[2])) if near and far else ()


def judge_ends(sheet: Sheet) -> tuple[tuple[Finding, ...], int]:
    """A finding for each port that two cables take, and for each cage that is used whole and broken out; and how many
    ports were looked at. The legs of a splitter may share the port that it is plugged into.
    """
    users: dict[tuple[str, str], list[PartLine]] = {}
    for part in sheet.parts:
        for end in part.ends:
            users.setdefault(end, []).append(part)
    return (*_twice(users), *_whole_and_split(users)), len(users)


def _twice(users: Mapping[tuple[str, str], list[PartLine]]) -> Iterator[Finding]:
    for (device, port), parts in users.items():
        if len(parts) > 1 and not all(is_splitter(part.text) for part in parts):
            args = {"device": device, "port": port}
            evidence = tuple(part.evidence for part in parts)
            yield Finding("EW-CHK-091", "error", f"{device} {port}", 1, len(parts), "cables", args, evidence)


def _whole_and_split(users: Mapping[tuple[str, str], list[PartLine]]) -> Iterator[Finding]:
    for (device, port), parts in users.items():
        match = _BROKEN_OUT.fullmatch(port)
        whole = users.get((device, match["whole"])) if match else None
        if match and whole:
            args = {"device": device, "port": match["whole"], "part": port}
            evidence = (whole[0].evidence, parts[0].evidence)
            yield Finding("EW-CHK-092", "error", f"{device} {port}", 1, 2, "uses", args, evidence)
