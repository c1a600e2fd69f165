"""Packet memory against lossless classes and cable lengths: how many of each a switch could take."""

from __future__ import annotations

from eastwest.decision import Decision
from eastwest.plan import distance
from eastwest.plan.advice.case import Advice, Case
from eastwest.policy.buffers import MAX_HEADROOM_SHARE_RATIO
from eastwest.policy.faces import ROOM_LOSSY, FaceUse, face_uses
from eastwest.policy.headroom import cable_bytes
from eastwest.policy.noun import RoleTemplate
from eastwest.units import format_length, format_size

SOURCE = "derived; half of the memory for headroom at most, the rest is shared"


def advise(case: Case) -> Advice:
    """The most lossless classes of each role, and the longest cable on all its ports with the classes that it has."""
    if not case.is_lossless:
        return Advice()
    uses = [use for use in face_uses(case.fabric, case.policy.without_pfc) if use.face != ROOM_LOSSY]
    found = []
    for role, template in case.policy.templates.items():
        found += _of_role(case, template, [use for use in uses if use.role == role])
    return Advice(tuple(found))


def headroom_of(template: RoleTemplate, use: FaceUse) -> int:
    """Bytes set aside for one priority of one port of that kind."""
    rule = template.rules.get((use.face, use.rate_bps))
    return (rule.headroom_bytes or 0) if rule else 0


def most_classes(total_bytes: int, class_bytes: int) -> int:
    """Lossless classes whose headroom takes half of the memory at most.

    >>> most_classes(113_660_000, 20_000_000)
    2
    """
    return int(MAX_HEADROOM_SHARE_RATIO * total_bytes // class_bytes)


def _of_role(case: Case, template: RoleTemplate, uses: list[FaceUse]) -> list[Decision]:
    total = template.settings.buffer_total_bytes
    class_bytes = sum(use.n_most * headroom_of(template, use) for use in uses)
    if not total or not class_bytes:
        return []
    n_lossless = len(case.policy.lossless_priorities)
    packing = distance.packing_of(template.settings.cell_bytes)
    per_m = [float(use.n_most * cable_bytes(use.rate_bps, 1.0)) for use in uses]
    slope = sum(per_m) * packing * n_lossless
    left = MAX_HEADROOM_SHARE_RATIO * total - class_bytes * n_lossless
    longer_m = max(0.0, left / slope)
    role, classes = template.role, most_classes(total, class_bytes)
    inputs = {
        "total_bytes": total,
        "headroom_of_one_class_bytes": class_bytes,
        "lossless_classes": n_lossless,
        "bytes_per_m": round(slope),
        "ports": sum(use.n_most for use in uses),
    }
    return [
        Decision(
            f"buffer.{role}.most_lossless_classes",
            classes,
            "classes",
            f"each takes {format_size(class_bytes)} of {format_size(total)}; {n_lossless} in use",
            "floor(0.5 x total / sum(ports x headroom))",
            inputs,
            SOURCE,
        ),
        Decision(
            f"buffer.{role}.longer_cables",
            longer_m,
            "m",
            f"all cables of the {role} may grow by {format_length(longer_m)} before headroom takes half of the memory",
            "(0.5 x total - classes x headroom) / (classes x ports x packing x 2 C / 8 v)",
            inputs,
            SOURCE,
        ),
    ]
