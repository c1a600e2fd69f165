"""What a job is predicted to take: terms with their interval, what moves them, the trade of slicing, what is assumed
and where it stops being true.
"""

from __future__ import annotations

from collections.abc import Iterator

from eastwest import units
from eastwest.report.blocks import Block, Column, Paragraph, Section, Table
from eastwest.report.slicing_figure import slicing_figures
from eastwest.report.values import Json, at, named, number, object_at, rows_at, shown, texts_at
from eastwest.report.wording import Words

PREDICTED = (
    "step_time_s",
    "compute_s",
    "bubble_s",
    "exposed_communication_s",
    "communication_share_ratio",
    "mfu_ratio",
    "tokens_per_s_per_gpu",
    "time_to_first_token_s",
    "time_per_token_s",
    "requests_per_s",
)
PLAIN = ("tokens_per_s_per_gpu", "requests_per_s")
DOUBLED = 2.0


def predictions_of(plan: Json) -> list[tuple[str, Json]]:
    """(job, prediction) of every job that has one; the plan's own prediction when no job carries any."""
    jobs = [(str(job.get("name") or "job"), object_at(job, "prediction")) for job in rows_at(plan, "jobs")]
    found = [(name, prediction) for name, prediction in jobs if prediction]
    own = object_at(plan, "prediction")
    return found or ([("", own)] if own else [])


def predicted(words: Words, key: str, value: object) -> str:
    """One predicted value: shares in per cent, times in their natural unit."""
    if key.endswith("_ratio"):
        return shown(words, value, units.format_percent)
    if key in PLAIN:
        return shown(words, value)
    return named(words, key, value)


def terms_of(prediction: Json) -> list[tuple[str, float]]:
    """The terms of a prediction with their seconds, largest first."""
    terms = [(name, number(value)) for name, value in object_at(prediction, "terms_s").items()]
    return sorted(((name, value) for name, value in terms if value), key=lambda item: -item[1])


def sensitivity_text(row: Json, words: Words) -> str:
    """One sensitivity in words: what shows of the traffic that it moves, the input, what it changes."""
    change, delta = number(row.get("change_ratio")) or 1.0, number(row.get("delta_s")) or 0.0
    how = f"× {change:g}" if change >= DOUBLED else f"+{(change - 1) * 100:.0f} %"
    text = words(
        "sensitivity.change",
        input=words.name("input", row.get("input")),
        change=how,
        delta=("−" if delta < 0 else "+") + units.format_time(abs(delta)),
    )
    traffic, shown_s, half_s = row.get("traffic"), number(row.get("exposed_s")), number(row.get("half_width_s"))
    if not traffic or shown_s is None:
        return text
    half = f" ± {units.format_time(half_s)}" if half_s is not None else ""
    lead = words(
        "sensitivity.exposed", traffic=words.name("traffic_class", traffic), time=units.format_time(shown_s), half=half
    )
    return f"{lead}{text}"


def prediction_section(plan: Json, words: Words) -> Section:
    """Step time, exposed communication and MFU of each job with intervals, by term and by traffic class."""
    predictions = predictions_of(plan)
    if not predictions:
        return Section("prediction", words("section.prediction"), (Paragraph(words("prediction.missing")),))
    keys = [key for key in PREDICTED if any(prediction.get(key) is not None for _, prediction in predictions)]
    table = Table(
        "prediction-table",
        words("table.prediction"),
        (Column(words("column.job")), *(Column(words(f"predicted.{key}"), True) for key in keys)),
        tuple(
            (job or words("prediction.all"), *(_with_interval(words, key, p) for key in keys)) for job, p in predictions
        ),
    )
    blocks: list[Block] = [table, *_tables(predictions, words)]
    for job, prediction in predictions:
        blocks += slicing_figures(job, prediction, words)
    for key in ("assumed", "invalid"):
        texts = list(dict.fromkeys(text for _, prediction in predictions for text in texts_at(prediction, key)))
        blocks += [Paragraph(words(f"prediction.{key}", text=text), note=True) for text in texts]
    return Section("prediction", words("section.prediction"), tuple(blocks))


def _with_interval(words: Words, key: str, prediction: Json) -> str:
    """A value, and its interval in brackets where it has one."""
    value = predicted(words, key, prediction.get(key))
    low, high = (number(at(prediction, "interval", key, end)) for end in ("low", "high"))
    if low is None or high is None:
        return value
    return f"{value} ({predicted(words, key, low)} … {predicted(words, key, high)})"


def _tables(predictions: list[tuple[str, Json]], words: Words) -> Iterator[Table]:
    job, exposed = Column(words("column.job")), [row for one in predictions for row in _exposed_rows(*one, words)]
    time = Column(words("column.time"), True)
    if exposed:
        columns = (job, Column(words("column.traffic")), time, Column(words("column.exposed"), True))
        yield Table("exposed-table", words("table.exposed"), columns, tuple(exposed))
    terms = tuple(
        (name or words("prediction.all"), words.name("model_term", term), units.format_time(seconds))
        for name, prediction in predictions
        for term, seconds in terms_of(prediction)
    )
    if terms:
        yield Table("terms-table", words("table.model_terms"), (job, Column(words("column.term")), time), terms, True)
    moved = tuple(
        (name or words("prediction.all"), sensitivity_text(row, words))
        for name, prediction in predictions
        for row in rows_at(prediction, "sensitivities")
    )
    if moved:
        heads = (job, Column(words("column.sensitivity")))
        yield Table("sensitivities-table", words("table.sensitivities"), heads, moved)


def _exposed_rows(job: str, prediction: Json, words: Words) -> Iterator[tuple[str, ...]]:
    exposed, whole = object_at(prediction, "exposed_by_traffic_s"), object_at(prediction, "time_by_traffic_s")
    for traffic in exposed:
        yield (
            job or words("prediction.all"),
            words.name("traffic", traffic),
            shown(words, at(whole, traffic), units.format_time),
            shown(words, exposed[traffic], units.format_time),
        )
