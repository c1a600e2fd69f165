"""`predict` as text: a verdict line for each job, then terms, traffic, sensitivities, assumptions and limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from eastwest import units
from eastwest.report.chapters.prediction import sensitivity_text, terms_of
from eastwest.report.formats.text_layout import columns, wrap
from eastwest.report.values import Json, at, clean, number, object_at, rows_at, shown, text_of, texts_at
from eastwest.report.wording import Words, words_of

Lang = Literal["en", "zh"]
Format = Callable[[float], str]
INDENT = "  "


def predict_text(document: Json, lang: Lang, width: int, slicing: bool = False) -> str:
    """The whole answer for people, from the JSON document of the contract."""
    words, safe = words_of(lang), clean(document)
    lines: list[str] = []
    lead = f"{str(safe.get('verdict') or 'unknown').upper()} "
    for job in rows_at(safe, "jobs"):
        lines += [*_job(lead, job, words, width, slicing), ""]
        lead = ""
    if not lines:
        lines = [lead + words("predict.none"), ""]
    for finding in rows_at(safe, "findings"):
        text = f"{words.name('severity', finding.get('severity'))} {finding.get('code')}: {finding.get('message')}"
        lines += _indented(text, width)
    return "\n".join(lines).rstrip() + "\n"


def _job(lead: str, job: Json, words: Words, width: int, slicing: bool) -> Iterator[str]:
    prediction, name = object_at(job, "prediction"), text_of(words, job.get("name"))
    is_training = number(prediction.get("step_time_s")) is not None
    head = _training_head if is_training else _serving_head
    yield from wrap(f"{lead}{name}: {head(prediction, words)}", width)
    yield from wrap(_where_first(prediction, words), width)
    yield ""
    yield words("predict.terms")
    yield from (INDENT + line for line in columns(list(_term_rows(prediction, words)), width - 2, right=(1, 2)))
    traffic = list(_traffic_rows(prediction, words))
    if traffic:
        yield words("predict.traffic")
        yield from (INDENT + line for line in columns(traffic, width - 2, right=(1, 2)))
    for key, texts in _texts(prediction, words):
        if texts:
            yield words(f"predict.{key}")
            for text in texts:
                yield from _indented(text, width)
    if slicing:
        yield from _curves(prediction, words, width)


def _training_head(row: Json, words: Words) -> str:
    """The verdict line: step with interval, MFU, the share of communication."""
    return words(
        "predict.step",
        step=shown(words, row.get("step_time_s"), units.format_time),
        interval=interval_text(row, "step_time_s", words, units.format_time),
        mfu=shown(words, row.get("mfu_ratio"), units.format_percent),
        rate=shown(words, row.get("tokens_per_s_per_gpu")),
        exposed=shown(words, row.get("exposed_communication_s"), units.format_time),
        share=shown(words, row.get("communication_share_ratio"), units.format_percent),
    )


def _serving_head(row: Json, words: Words) -> str:
    return words(
        "predict.token",
        first=shown(words, row.get("time_to_first_token_s"), units.format_time),
        first_interval=interval_text(row, "time_to_first_token_s", words, units.format_time),
        token=shown(words, row.get("time_per_token_s"), units.format_time),
        token_interval=interval_text(row, "time_per_token_s", words, units.format_time),
        rate=shown(words, row.get("tokens_per_s_per_gpu")),
        requests=shown(words, row.get("requests_per_s")),
    )


def interval_text(row: Json, key: str, words: Words, form: Format) -> str:
    """`7.3 s … 9.9 s`, or "not given"."""
    low, high = (number(at(row, "interval", key, end)) for end in ("low", "high"))
    return words("not_given") if low is None or high is None else f"{form(low)} … {form(high)}"


def _where_first(row: Json, words: Words) -> str:
    """The traffic class that shows the most and its bottleneck: where to look first."""
    shown_s = {name: number(value) or 0.0 for name, value in object_at(row, "exposed_by_traffic_s").items()}
    largest = max(shown_s, key=lambda name: shown_s[name], default="")
    if not largest or shown_s[largest] <= 0:
        return words("predict.look_compute")
    where = at(row, "bottleneck_by_traffic", largest)
    place = words.name("tier", where) if where == "scale_up" else words.name("link", where)
    return words(
        "predict.look",
        traffic=words.name("traffic", largest),
        time=units.format_time(shown_s[largest]),
        place=place,
    )


def _term_rows(row: Json, words: Words) -> Iterator[tuple[str, ...]]:
    total = number(row.get("step_time_s"))
    for name, seconds in terms_of(row):
        share = units.format_percent(seconds / total) if total else ""
        yield words.name("model_term", name), units.format_time(seconds), share


def _traffic_rows(row: Json, words: Words) -> Iterator[tuple[str, ...]]:
    whole, where = object_at(row, "time_by_traffic_s"), object_at(row, "bottleneck_by_traffic")
    for name, seconds in object_at(row, "exposed_by_traffic_s").items():
        kind = "tier" if where.get(name) == "scale_up" else "link"
        yield (
            words.name("traffic", name),
            words("predict.alone", time=shown(words, whole.get(name), units.format_time)),
            words("predict.shown", time=shown(words, seconds, units.format_time)),
            words.name(kind, where.get(name)),
        )


def _texts(row: Json, words: Words) -> Iterator[tuple[str, list[str]]]:
    yield "sensitivities", [sensitivity_text(found, words) for found in rows_at(row, "sensitivities")]
    yield "assumed", texts_at(row, "assumed")
    yield "invalid", texts_at(row, "invalid")


def _curves(row: Json, words: Words, width: int) -> Iterator[str]:
    for curve in rows_at(row, "slicing"):
        cut = words.name("cut", curve.get("cut"))
        yield words("predict.curve", cut=cut, best=cut_value(curve, number(curve.get("crossover")) or 0.0))
        table = [tuple(words(f"predict.curve_{name}") for name in ("value", "message", "messages", "exposed", "step"))]
        for point in rows_at(curve, "points"):
            mark = " *" if point.get("is_built") else ""
            table.append(
                (
                    cut_value(curve, number(point.get("value")) or 0.0) + mark,
                    shown(words, point.get("message_bytes"), units.format_size),
                    shown(words, point.get("messages")),
                    shown(words, point.get("exposed_s"), units.format_time),
                    shown(words, point.get("step_time_s"), units.format_time),
                )
            )
        yield from (INDENT + line for line in columns(table, width - 2, right=(1, 2, 3, 4)))


def cut_value(curve: Json, value: float) -> str:
    """A degree as a number, a bucket as a size."""
    return units.format_size(value) if curve.get("unit") == "bytes" else f"{value:g}"


def _indented(text: str, width: int) -> list[str]:
    first, *rest = wrap(text, width - 4)
    return [f"{INDENT}- {first}", *(f"{INDENT}  {line}" for line in rest)]
