"""The traffic class byte (IPv4 ToS, IPv6 traffic class, `NCCL_IB_TC`): DSCP in the upper six bits, ECN in the lower
two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eastwest.errors import UsageError

ECN_NAMES = ("Not-ECT", "ECT(1)", "ECT(0)", "CE")  # RFC 3168 section 5, codepoints 00, 01, 10, 11
ECT0 = 2
MAX_BYTE = 255
MAX_DSCP = 63
DSCP_NAMES = {  # RFC 2474, 2597, 3246, 5865, 8622
    0: "CS0 (default)",
    1: "LE",
    8: "CS1",
    10: "AF11",
    12: "AF12",
    14: "AF13",
    16: "CS2",
    18: "AF21",
    20: "AF22",
    22: "AF23",
    24: "CS3",
    26: "AF31",
    28: "AF32",
    30: "AF33",
    32: "CS4",
    34: "AF41",
    36: "AF42",
    38: "AF43",
    40: "CS5",
    44: "VA",
    46: "EF",
    48: "CS6",
    56: "CS7",
}


@dataclass(frozen=True, slots=True)
class TrafficClassByte:
    """A decoded traffic class byte; `default_priority` is what a NIC gives it when nobody says otherwise: DSCP divided
    by 8.
    """

    value: int
    dscp: int
    dscp_name: str
    ecn: int
    ecn_name: str
    markable: bool
    default_priority: int

    def as_json(self) -> dict[str, Any]:
        """The byte as the verb `tc` prints it."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def decode(value: int) -> TrafficClassByte:
    """DSCP and ECN of a traffic class byte, 0-255.

    A byte without ECT (104) is never marked by a switch: under congestion it is dropped by WRED or it waits for
    PFC, so DCQCN is blind. Raises UsageError outside 0-255. Source: RFC 2474 section 3, RFC 3168 section 5; default
    priority: mlx5 maps DSCP >> 3.

    >>> decode(106).dscp, decode(106).ecn_name, decode(104).markable
    (26, 'ECT(0)', False)
    """
    if not 0 <= value <= MAX_BYTE:
        raise UsageError(
            f"a traffic class byte is 0-{MAX_BYTE}, found {value}",
            hint="NCCL_IB_TC and ToS are the whole byte; a DSCP is 0-63 and becomes the byte when multiplied by 4",
        )
    dscp, ecn = divmod(value, 4)
    return TrafficClassByte(value, dscp, dscp_name(dscp), ecn, ECN_NAMES[ecn], ecn in (1, ECT0), dscp // 8)


def encode(dscp: int, ecn: int = ECT0) -> int:
    """The traffic class byte of a DSCP (0-63) and ECN bits (0-3, ECT(0) when not given).

    Raises UsageError outside those ranges.

    >>> encode(26)
    106
    """
    if not 0 <= dscp <= MAX_DSCP or not 0 <= ecn < len(ECN_NAMES):
        raise UsageError(f"DSCP is 0-{MAX_DSCP} and ECN 0-3, found {dscp} and {ecn}")
    return dscp * 4 + ecn


def dscp_name(dscp: int) -> str:
    """The standard's name of a DSCP, or its number in words when it has none.

    >>> dscp_name(26), dscp_name(3)
    ('AF31', 'DSCP 3')
    """
    return DSCP_NAMES.get(dscp, f"DSCP {dscp}")


def suspicions(value: int) -> tuple[str, ...]:
    """What is probably meant otherwise in a traffic class byte: no ECT, or a DSCP written where the byte belongs.

    >>> suspicions(26)[0].startswith("26 as a byte is DSCP 6")
    True
    """
    byte, found = decode(value), []
    if 0 < value <= MAX_DSCP and value in DSCP_NAMES and byte.dscp not in DSCP_NAMES:
        found.append(f"{value} as a byte is DSCP {byte.dscp}; if DSCP {value} is meant, write {encode(value)}")
    if byte.ecn == 0 and byte.dscp:
        found.append(
            f"{value} has no ECT bits, so no switch marks it; {encode(byte.dscp)} is DSCP {byte.dscp} with ECT(0)"
        )
    if byte.ecn == len(ECN_NAMES) - 1:
        found.append(f"{value} is already marked CE at the sender: every packet would look congested")
    return tuple(found)
