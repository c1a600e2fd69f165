"""NetBox's words for what a plan holds: interface types, cable types, slugs.

Source: NetBox documentation, models "Interface" and "Cable"; the choices are those of NetBox 4.0 and later.
"""

from __future__ import annotations

import re
from zlib import crc32

from eastwest.plan.exports.names import CHECKSUM_CHARS
from eastwest.units import GIGA

MAX_SLUG = 100  # characters, NetBox SlugField
OTHER = "other"
ETHERNET_TYPES = {  # by rate of one logical port; the form factor is the usual one of that rate
    10 * GIGA: "10gbase-x-sfpp",
    25 * GIGA: "25gbase-x-sfp28",
    40 * GIGA: "40gbase-x-qsfpp",
    50 * GIGA: "50gbase-x-sfp56",
    100 * GIGA: "100gbase-x-qsfp28",
    200 * GIGA: "200gbase-x-qsfp56",
    400 * GIGA: "400gbase-x-osfp",
    800 * GIGA: "800gbase-x-osfp",
}
INFINIBAND_TYPES = {
    40 * GIGA: "infiniband-qdr",
    56 * GIGA: "infiniband-fdr",
    100 * GIGA: "infiniband-edr",
    200 * GIGA: "infiniband-hdr",
    400 * GIGA: "infiniband-ndr",
    800 * GIGA: "infiniband-xdr",
}
CABLE_TYPES = {
    "dac": "dac-passive",
    "acc": "dac-active",
    "aoc": "aoc",
    "sr": "mmf-om4",
    "dr": "smf-os2",
    "fr": "smf-os2",
    "lr": "smf-os2",
    "zr": "smf-os2",
}


def interface_type(rate_bps: int, transport: str) -> str:
    """NetBox's type of a port of that rate; `other` for a rate without one."""
    types = INFINIBAND_TYPES if transport == "infiniband" else ETHERNET_TYPES
    return types.get(rate_bps, OTHER)


def slug(text: str) -> str:
    """A slug: lower-case letters, digits, `-` and `_`; never empty."""
    made = re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")
    if made and len(made) <= MAX_SLUG:
        return made
    return f"{made[: MAX_SLUG - CHECKSUM_CHARS]}-{crc32(text.encode()):08x}".strip("-")
