"""What the name of a cloud instance says of its servers: GPU, NICs, their rate. Always an assumption, always printed.

Only a file's name or a table's own column heading is read for it, never free text.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from eastwest.accept.facts import Facts
from eastwest.dialects.readings import Readings
from eastwest.units import GIGA

# name -> GPU, GPUs, NICs, Gb/s of a NIC. Source: the providers' instance pages (recalled); collectives.yaml rows.
INSTANCES = {
    "p3dn": ("v100", 8, 1, 100),
    "p4d": ("a100-40gb", 8, 4, 100),
    "p4dn": ("a100-40gb", 8, 4, 100),
    "p4de": ("a100", 8, 4, 100),
    "p5": ("h100", 8, 32, 100),
    "p5e": ("h200", 8, 32, 100),
    "p5en": ("h200", 8, 16, 200),
    "a3mega": ("h100", 8, 8, 200),
    "ndasrv4": ("a100-40gb", 8, 8, 200),
    "ndmasrv4": ("a100", 8, 8, 200),
    "ndisrh100v5": ("h100", 8, 8, 400),
}


def facts_of_name(source: str, readings: Readings) -> Facts:
    """Assumptions from the instance type in a file's name or column heading.

    >>> sorted(name for name in facts_of_name("aws-p5-2node.txt", Readings()).by_name)
    ['gpu', 'gpus_per_server', 'nic_rate_bps', 'nics_per_server']
    """
    headings = [benchmark.settings.get("node column", "") for benchmark in readings.benchmarks]
    words = {word for name in (PurePath(source).stem, *headings) for word in re.split(r"[^a-z0-9]+", name.lower())}
    found = sorted(words & INSTANCES.keys())
    if len({INSTANCES[name] for name in found}) != 1:
        return Facts()
    gpu, gpus, nics, gbps = INSTANCES[found[0]]
    why = f"instance type {found[0]} in the name"
    facts = Facts().with_fact("gpu", gpu, "assumed", why).with_fact("gpus_per_server", gpus, "assumed", why)
    return facts.with_fact("nics_per_server", nics, "assumed", why).with_fact(
        "nic_rate_bps", gbps * GIGA, "assumed", why
    )
