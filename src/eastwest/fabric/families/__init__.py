"""Topology families: one file each, `build(inputs) -> Fabric`, listed here in alphabetical order."""

from __future__ import annotations

from collections.abc import Callable

from eastwest.fabric.families import leaf_spine, rail_optimized
from eastwest.fabric.inputs import FabricInputs
from eastwest.fabric.tables import Fabric
from eastwest.registry import Registry

Build = Callable[[FabricInputs], Fabric]

FAMILIES: Registry[Build] = Registry(
    "family",
    [
        ("leaf_spine", leaf_spine.build),
        ("rail_optimized", rail_optimized.build),
    ],
)
