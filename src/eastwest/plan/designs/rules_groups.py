"""Counts that follow from other counts: GPUs of a rack, racks of a pod, pods of a cluster; `a_per_b` x b = a."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import ceil

from eastwest.plan.designs.case import Row
from eastwest.plan.designs.design import NVL72, NVL72_GPUS_PER_RACK
from eastwest.plan.designs.prediction import Prediction, Rule
from eastwest.plan.designs.written import text_of, whole_of

UNITS: Mapping[str, str] = {  # plural of a count: its singular in `a_per_b`
    "gpus": "gpu",
    "nodes": "node",
    "racks": "rack",
    "pods": "pod",
    "scalable_units": "su",
    "segments": "segment",
    "stripes": "stripe",
    "clusters": "cluster",
}
PLURALS = {singular: plural for plural, singular in UNITS.items()}
_UNIT = "|".join([*UNITS, "servers", "sus"])
_SINGULAR = "|".join([*PLURALS, "server", "scalable_unit"])


def _known(row: Row, name: str) -> Iterator[tuple[str, int, bool]]:
    """(name, value, is printed) of every whole number that the row gives, but the one that is asked for."""
    for key, value in row.given.items():
        number = whole_of(value)
        if number is not None and key != name:
            yield _fold(key), number, False
    design = row.design
    if design.nodes and design.gpus and "gpus" not in row.given and name != "gpus":
        yield "gpus", design.gpus, False
    if design.nodes and "nodes" not in row.given and name != "nodes" and design.nodes * design.gpus_per_node:
        yield "nodes", design.nodes, False
    if name != "gpus_per_node":
        yield "gpus_per_node", design.gpus_per_node, False
    if "gpus_per_rack" not in row.given and NVL72.search(f"{row.family} {row.id} {text_of(row.given.get('gpu'))}"):
        yield "gpus_per_rack", NVL72_GPUS_PER_RACK, False
    for key, value in row.printed.items():
        number = whole_of(value)
        if number is not None and key != name:
            yield _fold(key), number, True


def _fold(key: str) -> str:
    """A key in one spelling: servers are nodes, sus are scalable units."""
    key = re.sub(r"servers?\b|servers?(?=_)", lambda found: "nodes" if found[0].endswith("s") else "node", key)
    return re.sub(r"^sus$", "scalable_units", re.sub(r"_per_scalable_unit$", "_per_su", key))


def _per(row: Row, match: re.Match[str]) -> Prediction | None:
    """`a_per_b`: through a middle unit, else the whole of a over the number of b."""
    known = _lookup(row, match[0])
    a, b = _fold(match["a"]), _fold(f"x_per_{match['b']}").removeprefix("x_per_")
    for middle in PLURALS:
        first, second = known.get(f"{a}_per_{middle}"), known.get(f"{PLURALS[middle]}_per_{b}")
        if first and second:
            because = f"{first[0]} {a} a {middle} x {second[0]} {PLURALS[middle]} a {b}"
            return Prediction(first[0] * second[0], because, is_printed=first[1] or second[1])
    whole, parts = known.get(a), known.get(PLURALS.get(b, ""))
    if whole and parts and whole[0] % parts[0] == 0:
        because = f"{whole[0]} {a} / {parts[0]} {PLURALS[b]}"
        return Prediction(whole[0] // parts[0], because, is_printed=whole[1] or parts[1])
    return None


def _number(row: Row, match: re.Match[str]) -> Prediction | None:
    """A count: the whole of a smaller unit over its number in one, else what larger units hold together."""
    known, front = _lookup(row, match[0]), match["front"] or ""
    unit = _fold(match["unit"])
    if front == "" and known.get(unit) and not known[unit][1]:
        return Prediction(known[unit][0], f"{unit} of the inputs")
    singular = UNITS[unit]
    for smaller in UNITS:
        whole, per = known.get(f"{front}{smaller}"), known.get(f"{smaller}_per_{singular}")
        if whole and per:
            return Prediction(
                ceil(whole[0] / per[0]),
                f"{whole[0]} {smaller} / {per[0]} a {singular}",
                is_printed=whole[1] or per[1],
            )
    for larger in UNITS:
        parts, per = known.get(f"{front}{larger}"), known.get(f"{unit}_per_{UNITS[larger]}")
        if parts and per:
            because = f"{parts[0]} {larger} x {per[0]} {unit}"
            return Prediction(parts[0] * per[0], because, is_printed=parts[1] or per[1])
    return None


def _lookup(row: Row, name: str) -> dict[str, tuple[int, bool]]:
    """Name -> (value, is printed); inputs win over printed numbers."""
    found: dict[str, tuple[int, bool]] = {}
    for key, value, is_printed in _known(row, name):
        found.setdefault(key, (value, is_printed))
    return found


RULES: Mapping[str, Rule] = {
    rf"(?P<a>{_UNIT})_per_(?P<b>{_SINGULAR})": _per,
    rf"(?P<front>max_)?(?P<unit>{_UNIT})": _number,
}
