"""`eastwest simulate oversubscription`: what an oversubscribed tier costs a step, in closed form."""

from __future__ import annotations

from typing import Any, Literal

from eastwest.cli.output import Answer
from eastwest.errors import UsageError
from eastwest.simulate.analytic.oversubscription import (
    CurveRow,
    StepParts,
    growth_curve,
    growth_ratio,
    share_needed_ratio,
)
from eastwest.units import UnitError, format_percent, format_time, parse_ratio, parse_time

Lang = Literal["en", "zh"]
GROWTHS = (0.4, 1.0)  # "close to 40 %" and "cut in half", which is twice the step
MOST_GPUS = 1 << 20
WORDS = {
    "en": {
        "head": "at {ratio:g}:1 the step grows by {growth}: {step} -> {slow}",
        "share": "communication over the tier is {share} of the step, {hidden} of it can be hidden",
        "limit": "no step can grow by more than {most} at {ratio:g}:1",
        "needed": "growth of {growth}: needs communication of {share} of the step",
        "never": "growth of {growth}: no share of communication gives it",
        "curve": "with the same global batch on more GPUs:",
        "row": "{gpus} GPUs: communication is {share} of {step}, grows by {growth}",
    },
    "zh": {
        "head": "收敛比 {ratio:g}:1 时单步增长 {growth}：{step} -> {slow}",
        "share": "经过该层的通信占单步的 {share}，其中 {hidden} 可被计算掩盖",
        "limit": "收敛比 {ratio:g}:1 时任何一步的增长都不超过 {most}",
        "needed": "增长 {growth}：需要通信占单步的 {share}",
        "never": "增长 {growth}：任何通信占比都达不到",
        "curve": "全局批量不变、GPU 增多时：",
        "row": "{gpus} 个 GPU：通信占 {step} 的 {share}，增长 {growth}",
    },
}


def oversubscription_answer(
    ratio: str, compute: str, communication: str, overlap: str, gpus: int, most_gpus: int, lang: Lang
) -> Answer:
    """The growth of one step, the shares that published growths need, and the curve. Raises UsageError."""
    try:
        times = [parse_time(text) for text in (compute, communication, overlap)]
        oversubscription = parse_ratio(ratio)
    except UnitError as error:
        raise UsageError(str(error), hint="for example --ratio 2:1 --compute 6s --communication 4s") from error
    parts = StepParts(*times)
    if oversubscription <= 1:
        raise UsageError(f"--ratio {ratio}: expected more than 1:1", hint="for example 2:1")
    if not parts.communication_s or parts.hidden_s > parts.compute_s:
        raise UsageError(
            "--communication must be above 0s, and --overlap no longer than --compute",
            hint="computation cannot hide more than it lasts",
        )
    if not 1 <= gpus <= most_gpus <= MOST_GPUS:
        raise UsageError(f"--gpus {gpus} to {most_gpus}: expected 1 to {MOST_GPUS:,}, in order")
    curve = growth_curve(parts, gpus, most_gpus, oversubscription)
    found = _document(parts, oversubscription, curve)
    document = {"schema": "eastwest.simulate/1", "verdict": "pass", "findings": [], "oversubscription": found}
    return Answer(document, "\n".join(_lines(parts, found, lang)) + "\n")


def _document(parts: StepParts, oversubscription: float, curve: tuple[CurveRow, ...]) -> dict[str, Any]:
    hidden = parts.hidden_s / parts.communication_s
    growth = growth_ratio(parts, oversubscription)
    return {
        "oversubscription_ratio": oversubscription,
        "growth_ratio": growth,
        "step_s": parts.step_s,
        "step_oversubscribed_s": parts.step_s * (1 + growth),
        "communication_share_ratio": parts.share_ratio,
        "shares_needed": [
            {"growth_ratio": wish, "share_ratio": share_needed_ratio(wish, oversubscription, hidden)}
            for wish in GROWTHS
        ],
        "curve": [
            {
                "gpus": row.gpus,
                "step_s": row.parts.step_s,
                "communication_share_ratio": row.parts.share_ratio,
                "growth_ratio": row.growth_ratio,
            }
            for row in curve
        ],
    }


def _lines(parts: StepParts, found: dict[str, Any], lang: Lang) -> list[str]:
    words, ratio = WORDS[lang], found["oversubscription_ratio"]
    hidden = format_percent(min(1.0, parts.hidden_s / parts.communication_s))
    lines = [
        words["head"].format(
            ratio=ratio,
            growth=format_percent(found["growth_ratio"]),
            step=format_time(found["step_s"], 3),
            slow=format_time(found["step_oversubscribed_s"], 3),
        ),
        "  " + words["share"].format(share=format_percent(found["communication_share_ratio"]), hidden=hidden),
        "  " + words["limit"].format(most=format_percent(ratio - 1), ratio=ratio),
    ]
    for row in found["shares_needed"]:
        share = row["share_ratio"]
        form = words["never" if share is None else "needed"]
        shown = format_percent(share) if share is not None else ""
        lines.append("  " + form.format(growth=format_percent(row["growth_ratio"]), share=shown))
    if len(found["curve"]) > 1:
        lines += ["", words["curve"]]
    for row in found["curve"] if len(found["curve"]) > 1 else ():
        lines.append(
            "  "
            + words["row"].format(
                gpus=f"{row['gpus']:,}",
                share=format_percent(row["communication_share_ratio"]),
                step=format_time(row["step_s"], 3),
                growth=format_percent(row["growth_ratio"]),
            )
        )
    return lines
