"""Contradictions inside one site file, and names that the catalogue does not know."""

from __future__ import annotations

from typing import Any

from eastwest.spec.document import Flaw
from eastwest.spec.site import Site


def unknown_models(data: Any) -> list[Flaw]:
    """Names of hardware that the catalogue does not have."""
    return []


def contradictions(site: Site, data: Any) -> list[Flaw]:
    """Wishes that contradict each other."""
    return []
