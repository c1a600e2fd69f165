"""A sized fabric and its counter-offers in plain text for a terminal: what `eastwest size` prints."""

from __future__ import annotations

from typing import Literal

from eastwest.report.formats.text import fabric_lines, finding_lines
from eastwest.report.formats.text_layout import INDENT, wrap
from eastwest.report.formats.text_why import value_text
from eastwest.report.values import Json, clean, object_at, rows_at, shown, text_of
from eastwest.report.wording import Words, words_of


def render(document: Json, lang: Literal["en", "zh"] = "en", width: int = 100) -> str:
    """The verdict and the fabric, findings, the arithmetic, and each counter-offer with its reason."""
    words, document = words_of(lang), clean(document)
    lines = [words(f"verdict.{document['verdict']}").upper(), *_shape(document["fabric"], words)]
    for row in rows_at(document, "findings"):
        lines += finding_lines(row, words, width, colour=False)
    lines.append(words("text.decisions"))
    for row in rows_at(document, "decisions"):
        first, *more = wrap(f"{row['id']} = {value_text(row, words)}: {text_of(words, row.get('because'))}", width - 2)
        lines += [INDENT + first, *(INDENT * 2 + line for line in more)]
    offers = rows_at(document, "offers")
    if offers:
        lines.append(words("size.offers"))
    for offer in offers:
        head = words("named", name=offer.get("change"), text=text_of(words, offer.get("because")))
        first, *more = wrap(head, width - 2)
        lines += [INDENT + first, *(INDENT * 2 + line for line in more)]
        lines += [INDENT + line for line in _shape(offer, words)]
    return "\n".join(lines)


def _shape(fabric: Json, words: Words) -> list[str]:
    """Tiers, switches, ratios and ports; links; where the shape ends."""
    _, lines = fabric_lines({"fabric": fabric}, words)
    links = [
        words("named", name=words.name("link", tier), text=shown(words, count))
        for tier, count in object_at(fabric, "links").items()
        if count
    ]
    growth = words("size.growth", gpus=shown(words, fabric.get("max_gpus")))
    return [INDENT + line for line in (*lines, words("clause_joiner").join([*links, growth]))]
