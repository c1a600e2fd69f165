"""Names that every reader accepts: a site's names made into DNS labels, label values and compact host lists.

A name of the site file may hold capitals, dots and underscores; a host name may not. A name that already is a DNS label
stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from zlib import crc32

from eastwest.fabric.tables import Fabric

MAX_LABEL = 63  # characters of a DNS label (RFC 1035 section 2.3.4) and of a Kubernetes label value
CHECKSUM_CHARS = 9  # a dash and eight hexadecimal digits of the CRC-32 of the whole name

_DNS_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_NUMBERED = re.compile(r"(.*?)([0-9]+)")


def dns_labels(names: Iterable[str], limit: int = MAX_LABEL) -> list[str]:
    """A DNS label for each name, all different: lower case, digits and inner dashes, `limit` characters at most.

    A name that is already one keeps it (its first owner does); a longer one keeps its head and gets a checksum. Source:
    RFC 1123 section 2.1.
    """
    wanted = list(names)
    taken: set[str] = set()
    kept = [_claim(name, taken) if _is_label(name, limit) else None for name in wanted]
    return [label or _fresh(name, limit, taken) for name, label in zip(wanted, kept, strict=True)]


def host_names(fabric: Fabric, limit: int = MAX_LABEL) -> list[str]:
    """(n_nodes,) the DNS label of each node: the host name that schedulers, launchers and labs use."""
    return dns_labels(fabric.names, limit)


def _is_label(name: str, limit: int) -> bool:
    return len(name) <= limit and _DNS_LABEL.fullmatch(name) is not None


def _claim(name: str, taken: set[str]) -> str | None:
    if name in taken:
        return None
    taken.add(name)
    return name


def _fresh(name: str, limit: int, taken: set[str]) -> str:
    """A label for a name that is none, or that another name already has."""
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "node"
    if len(stem) > limit:
        stem = f"{stem[: limit - CHECKSUM_CHARS].rstrip('-')}-{crc32(name.encode()):08x}"
    label, number = stem, 1
    while label in taken:
        number += 1
        label = f"{stem[: limit - len(str(number)) - 1].rstrip('-')}-{number}"
    taken.add(label)
    return label


def label_value(text: str) -> str:
    """A Kubernetes label value: letters, digits, `-`, `_`, `.`, with a letter or digit at both ends.

    Source: Kubernetes documentation, "Labels and Selectors", syntax and character set.
    """
    return re.sub(r"[^A-Za-z0-9._-]", "-", text)[:MAX_LABEL].strip("-_.")


def hostlist(names: Iterable[str]) -> str:
    """Names in Slurm's hostlist form: `a-[01-16],b-3`.

    >>> hostlist(["a-01", "a-02", "a-04", "login"])
    'a-[01-02,04],login'
    """
    runs: dict[str, list[list[str]]] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name)
        prefix, digits = (match[1], match[2]) if match else (name, "")
        mine = runs.setdefault(prefix, [])
        if digits and mine and _follows(mine[-1][-1], digits):
            mine[-1].append(digits)
        else:
            mine.append([digits])
    return ",".join(_bracketed(prefix, mine) for prefix, mine in runs.items())


def _follows(before: str, digits: str) -> bool:
    return bool(before) and len(before) == len(digits) and int(digits) == int(before) + 1


def _bracketed(prefix: str, runs: list[list[str]]) -> str:
    pieces = [run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    if len(pieces) == 1 and len(runs[0]) == 1:
        return prefix + pieces[0]
    bare = [prefix] if "" in pieces else []
    return ",".join([*bare, f"{prefix}[{','.join(piece for piece in pieces if piece)}]"])
