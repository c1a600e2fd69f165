"""Topology families: one file each, `build(inputs) -> Fabric`, listed here in alphabetical order."""

from __future__ import annotations

from collections.abc import Callable

from eastwest.fabric.families import (
    direct,
    dual_plane,
    dual_tor,
    leaf_spine,
    multi_plane,
    nvl72,
    rail_only,
    rail_optimized,
    single_switch,
    three_tier,
)
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.tables import Fabric
from eastwest.registry import Registry

Build = Callable[[FabricInputs], Fabric]

FAMILIES: Registry[Build] = Registry(
    "family",
    [
        ("direct", direct.build),
        ("dual_plane", dual_plane.build),
        ("dual_tor", dual_tor.build),
        ("leaf_spine", leaf_spine.build),
        ("multi_plane", multi_plane.build),
        ("nvl72", nvl72.build),
        ("rail_only", rail_only.build),
        ("rail_optimized", rail_optimized.build),
        ("single_switch", single_switch.build),
        ("three_tier", three_tier.build),
    ],
)
