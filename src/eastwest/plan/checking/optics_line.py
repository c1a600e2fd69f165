"""One line of a cable or optics list by its properties: where it plugs, its form, medium, fibre, lanes, reach."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from eastwest.finding import Evidence
from eastwest.plan.checking.alike import blur
from eastwest.plan.checking.sheet import PartLine
from eastwest.spec import catalogue
from eastwest.spec.catalogue import Cable, Optic
from eastwest.spec.reach import USUAL_OLD_SR, reach_of_medium_m, reach_of_optic_m
from eastwest.units import GIGA

Place = Literal["switch", "adapter", "bluefield-3"]
PAM4_100G_BPS = 100 * GIGA  # lane rate from which SR reaches half as far and every ferrule is APC
_LANES = {  # words: one lane's bit/s
    r"\bEDR\b|\b25G[- ]?(?:NRZ|lanes?)": 25 * GIGA,
    r"\bHDR\b|\b50G[- ]?(?:PAM-?4|lanes?)": 50 * GIGA,
    r"\bNDR\b|\b100G[- ]?(?:PAM-?4|lanes?)": 100 * GIGA,
    r"\bXDR\b|\b200G[- ]?(?:PAM-?4|lanes?)": 200 * GIGA,
}
_MEDIA = {
    "acc": r"\bL?ACC\b|active copper",
    "aoc": r"\bAOC\b|active optical",
    "dac": r"\bDAC\b|passive copper|twinax",
    "sr": r"SR\d\b|\bSR\b|VR4|multi-?mode|\bMMF\b|多模",
    "dr": r"DR\d\+?\b|\bDR\b",
    "fr": r"FR\d\b|\bFR\b",
    "lr": r"LR\d\b|\bLR\b",
}
_CAGE_WORDS = re.compile(r"(?:twin|dual|single)[- ]?port\s+(?:\w+\s+)?(?:cages?|slots?)", re.I)
_BLUEFIELD = re.compile(r"BlueField-?\s?3|\bBF-?3\b|B3140|B3240", re.I)
_ADAPTER = re.compile(
    r"\b(?:srv|server|host|node|gpu)-?\d+|\badapters?\b|\bNICs?\b|\bHCAs?\b|ConnectX|\bCX-?\d|\bDPUs?\b|server side"
    r"|网卡",
    re.I,
)
_SWITCH = re.compile(
    r"\b(?:leaf|spine|core|tor|sw)-?\d+|\bswitch(?:es)?\b|\bleaf\b|\bspine\b|QM97\d\d|SN5\d\d\d|Quantum|Spectrum|交换机",
    re.I,
)
_OPTICAL = re.compile(
    r"OSFP|QSFP|SR\d|DR\d|FR\d|LR\d|VR4|\bDAC\b|\bAOC\b|\bL?ACC\b|optics?|transceiver|\bfib(?:re|er)\b|\bMPO|multi-?mode|"
    r"single-?mode|copper|\bcable\b|\bAPC\b|\bUPC\b|光模块|光纤|M[MC][A-Z]\d[A-Z]\d\d",
    re.I,
)
KEPT_TEXTS = 4096  # different texts of one list whose reading is kept: long cable lists repeat theirs
CELLS_OF_A_PART = 2  # name and description; order numbers further on may be examples in a note
_ORDER_NUMBER = re.compile(r"[A-Za-z]{2,}\d[\w-]{3,}")
_LENGTH_CODE = re.compile(r"\d\d[\dA]$")  # the metres at the end of an order number: MCP7Y00-N002
_DEVICES = frozenset({"nic", "server", "switch", "label"})  # a cell that says what is counted: no optic


@dataclass(frozen=True, slots=True)
class OpticsLine:
    """What one line says; None and empty where it says nothing. `lanes_bps` are all lane rates that it names."""

    part: PartLine
    place: Place | None
    is_osfp: bool
    is_qsfp: bool
    is_single_port: bool
    is_twin_port: bool
    is_finned: bool
    is_flat: bool
    media: frozenset[str]
    fibre: frozenset[str]
    polish: frozenset[str]
    splits: frozenset[str]
    lanes_bps: frozenset[int]
    reach_m: float | None
    model: str

    def of(self, part: PartLine) -> OpticsLine:
        """The same properties for another part of that text (`dataclasses.replace`, without its cost a line)."""
        made = object.__new__(OpticsLine)
        for name in OpticsLine.__slots__:
            object.__setattr__(made, name, part if name == "part" else getattr(self, name))
        return made

    @property
    def is_told(self) -> bool:
        """Whether the line says more of its part than that it is a cable or an optic."""
        return bool(
            self.model or self.media or self.fibre or self.polish or self.splits or self.is_osfp or self.is_qsfp
        )

    @property
    def length_m(self) -> float | None:
        """Length of the cable, where the line gives one."""
        return self.part.length_m


_NO_PART = PartLine("", "", None, None, Evidence("", None, ""))


def read_optics(part: PartLine) -> OpticsLine | None:
    """The properties of a line; None when it is about no optic or cable."""
    found = _of_text(blur(part.text))
    return found.of(part) if found else None


@lru_cache(maxsize=KEPT_TEXTS)
def _of_text(whole: str) -> OpticsLine | None:
    """The properties of a text, without its part; None when it is about no optic or cable."""
    text = _CAGE_WORDS.sub("cage", whole)
    model = part_model("; ".join(text.split(";")[:CELLS_OF_A_PART]))
    if model is None and not _OPTICAL.search(whole):
        return None
    media = frozenset(name for name, pattern in _MEDIA.items() if re.search(pattern, text, re.I))
    is_device = bool(_DEVICES & {cell.strip().lower() for cell in whole.split(";")})
    if is_device and model is None and not media:
        return None
    cage, name = (model.cage or "", model.id) if model else ("", "")
    lanes = frozenset(rate for pattern, rate in _LANES.items() if re.search(pattern, text, re.I))
    if model and model.lane_rate_bps:
        lanes |= {model.lane_rate_bps}
    if model and model.medium in _MEDIA:
        media |= {model.medium}
    return OpticsLine(
        part=_NO_PART,
        place=_place(whole),
        is_osfp=bool(re.search(r"\bOSFP", text, re.I)) or cage.startswith("osfp"),
        is_qsfp=bool(re.search(r"QSFP", text, re.I)) or cage.startswith("qsfp"),
        is_single_port=bool(re.search(r"single[- ]?port", text, re.I)) or cage == "osfp-flat",
        is_twin_port=bool(re.search(r"twin[- ]?port|\b2\s*[x×]\s*(?:SR4|DR4|FR4|VR4)", text, re.I)) or _is_twin(model),
        is_finned=bool(re.search(r"finned", text, re.I)),
        is_flat=bool(re.search(r"flat[- ]?top", text, re.I)) or cage == "osfp-flat",
        media=media,
        fibre=_fibre(text),
        polish=frozenset(word for word in ("APC", "UPC") if re.search(rf"(?<![A-Z]){word}\b", text, re.I)),
        splits=_splits(text),
        lanes_bps=lanes,
        reach_m=_reach(model, media, lanes, text),
        model=name,
    )


def part_model(text: str) -> Optic | Cable | None:
    """The first catalogue optic or cable that the text names by its order number."""
    known = _models()
    for word in _ORDER_NUMBER.findall(text):
        found = known.get(catalogue.canonical(word)) or known.get(catalogue.canonical(_LENGTH_CODE.sub("", word)))
        if found is not None:
            return catalogue.get("optic", found[1]) if found[0] == "optic" else catalogue.get("cable", found[1])
    return None


@cache
def _models() -> Mapping[str, tuple[str, str]]:
    """Order number or alias -> (kind, model) of every optic and cable of the catalogue."""
    kinds: tuple[Literal["cable", "optic"], ...] = ("cable", "optic")
    return {
        word: (kind, name)
        for kind in kinds
        for name in catalogue.names(kind)
        for word in (name, *(catalogue.canonical(alias) for alias in catalogue.get(kind, name).aliases))
    }


def _is_twin(model: Optic | Cable | None) -> bool:
    return bool(model and model.twin_port and isinstance(model, Optic))


def _place(text: str) -> Place | None:
    """Where the line plugs its part; None when it names both ends or none."""
    if _BLUEFIELD.search(text):
        return "bluefield-3"
    is_adapter, is_switch = bool(_ADAPTER.search(text)), bool(_SWITCH.search(text))
    if is_adapter == is_switch:
        return None
    return "adapter" if is_adapter else "switch"


def _fibre(text: str) -> frozenset[str]:
    kinds = {"multimode": r"multi-?mode|\bMMF\b|\bOM[345]\b|多模", "single mode": r"single-?mode|\bSMF\b|\bOS2\b|单模"}
    return frozenset(name for name, pattern in kinds.items() if re.search(pattern, text, re.I))


def _splits(text: str) -> frozenset[str]:
    kinds = {"straight": r"\bstraight\b|直通", "splitter": r"\bsplitter|\b1\s*:\s*2\b|\bsplit\b|\bY[- ]cable|分支"}
    return frozenset(name for name, pattern in kinds.items() if re.search(pattern, text, re.I))


def _reach(model: Optic | Cable | None, media: frozenset[str], lanes: frozenset[int], text: str) -> float | None:
    """Metres that the part reaches: its data sheet's, else those of its one medium."""
    if model and model.reach_m is not None:
        return model.reach_m
    if len(media) != 1:
        return None
    (medium,) = media
    is_old = bool(lanes) and max(lanes) < PAM4_100G_BPS
    if medium == "sr" and (is_old or re.search(r"\b[12]00G\s*SR4|SR8", text, re.I)):
        return reach_of_optic_m(USUAL_OLD_SR)
    return reach_of_medium_m(medium)
