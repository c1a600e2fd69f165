"""What moves a prediction the most: inputs raised by a tenth (a micro-batch: doubled), the difference in seconds.

Each line names the traffic that moves with it and what of that shows: "exposed DP traffic 0.42 s ± 0.05; NIC rate
+10 % → −0.03 s". Finite differences: they hold near the design, not across a change of what bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from eastwest.fabric.bottleneck import Bottleneck
from eastwest.plan.network_factors import factors_of
from eastwest.plan.prediction import Sensitivity
from eastwest.plan.run_of_job import table_of_run
from eastwest.plan.serving_model import Serving, ServingModel
from eastwest.plan.step_on_fabric import CLASSES, Factors, StepOnFabric
from eastwest.plan.training_model import Step, TrainingModel
from eastwest.simulate.analytic.sharding import GROWING_BUCKETS, MEGATRON_BUCKET
from eastwest.simulate.analytic.step_table import Table
from eastwest.units import format_time

LARGER, DOUBLED = 1.10, 2.0
MOST_SHOWN = 3
NOTHING_S = 1e-9  # a smaller difference is rounding
COLUMNS: Mapping[str, tuple[str, ...]] = {  # input -> columns of the step table
    "nic_rate": ("nic_rate",),
    "scale_up_rate": ("scale_up_rate",),
    "gemm_efficiency": ("flops_16", "flops_8", "flops_4"),
    "memory_bandwidth": ("memory_rate",),
    "gradient_bucket": ("bucket_params",),
    "uplink_rate": (),
}
LATENCIES = ("network_step", "scale_up_step")  # constants of the step model
NAMES = {
    "nic_rate": "NIC rate",
    "scale_up_rate": "scale-up rate",
    "gemm_efficiency": "GEMM efficiency",
    "memory_bandwidth": "memory bandwidth",
    "gradient_bucket": "gradient bucket",
    "uplink_rate": "uplink rate",
    "latency": "latency of a collective's steps",
    "micro_batch": "micro-batch",
    "batch": "sequences decoded together",
}
NIC_LINKS = ("server_leaf", "direct")  # tiers whose rate is that of a NIC
OWN_OF_SERVING = ("nic_rate", "scale_up_rate", "gemm_efficiency", "memory_bandwidth", "uplink_rate")


def training_sensitivities(
    part: TrainingModel, found: Mapping[str, Bottleneck], step: Step, half_widths_s: Mapping[str, float]
) -> tuple[Sensitivity, ...]:
    """The inputs that change the step of a training job the most, largest first; `half_widths_s` of what shows, by
    class.
    """
    base, changed = part.on_fabric.table, []
    factors = []
    for name, columns in COLUMNS.items():
        changed.append(raised(base, columns))
        factors.append(factors_of(part.job, faster(found, name), part.server))
    table = np.concatenate(changed)
    each: Factors = {name: np.array([row[name] for row in factors]) for name in CLASSES}
    steps = dict(zip(COLUMNS, part.steps(StepOnFabric(table, part.constants, part.ep_inside), each), strict=True))
    own = factors_of(part.job, found, part.server)
    slow = {name: part.constants.value(name) * LARGER for name in LATENCIES}
    constants = replace(part.constants, values={**part.constants.values, **slow})
    steps["latency"] = part.steps(StepOnFabric(base, constants, part.ep_inside), own)[0]
    steps |= _other_micro_batch(part, own)
    made = [_of_training(half_widths_s, name, step, after) for name, after in steps.items()]
    return _largest(made)


def _other_micro_batch(part: TrainingModel, factors: Mapping[str, float]) -> dict[str, Step]:
    """The step with the micro-batch doubled, where the batch allows it; computation that was measured has no other."""
    run = part.run
    if part.measured_s or not run.micro_batch or (run.global_batch // run.dp) % (2 * run.micro_batch):
        return {}
    table = table_of_run(replace(run, micro_batch=2 * run.micro_batch), part.bucket_bytes)
    return {"micro_batch": part.steps(StepOnFabric(table, part.constants, part.ep_inside), factors)[0]}


def raised(table: Table, columns: tuple[str, ...]) -> Table:
    """A copy of a table with some columns a tenth larger."""
    other = table.copy()
    if "bucket_params" in columns:  # Megatron's grows with the ranks: what it has grown to
        grown = np.maximum(MEGATRON_BUCKET, GROWING_BUCKETS * table["dp"] * table["cp"])
        other["bucket_params"] = np.where(table["bucket_params"] == MEGATRON_BUCKET, grown, table["bucket_params"])
    for column in columns:
        other[column] *= LARGER
    return other


def faster(found: Mapping[str, Bottleneck], name: str) -> dict[str, Bottleneck]:
    """The bottlenecks with NICs, or uplinks, a tenth faster."""
    if name == "nic_rate":
        return {key: _with_nics(own) for key, own in found.items()}
    if name == "uplink_rate":
        return {key: own if own.link in NIC_LINKS else _with_uplinks(own) for key, own in found.items()}
    return dict(found)


def _with_nics(own: Bottleneck) -> Bottleneck:
    network_s = own.network_s / LARGER if own.link in NIC_LINKS else own.network_s
    return replace(own, network_s=max(network_s, own.nics_s / LARGER), nics_s=own.nics_s / LARGER)


def _with_uplinks(own: Bottleneck) -> Bottleneck:
    return replace(own, network_s=max(own.network_s / LARGER, own.nics_s))


def _of_training(half_widths_s: Mapping[str, float], name: str, before: Step, after: Step) -> Sensitivity:
    delta_s = after.step_s - before.step_s
    moved = {key: abs(after.shown_s[key] - before.shown_s[key]) for key in CLASSES}
    most = max(CLASSES, key=lambda key: moved[key])
    rest = abs(after.compute_s + after.bubble_s - before.compute_s - before.bubble_s)
    traffic = most if moved[most] > rest else ""
    change = DOUBLED if name == "micro_batch" else LARGER
    if not traffic:
        return Sensitivity(name, change, delta_s, text=sentence(name, change, delta_s))
    shown_s, half_s = before.shown_s[traffic], half_widths_s[traffic]
    lead = f"exposed {traffic.upper()} traffic {format_time(shown_s)} ± {format_time(half_s)}; "
    return Sensitivity(name, change, delta_s, traffic, shown_s, half_s, lead + sentence(name, change, delta_s))


def serving_sensitivities(
    part: ServingModel, found: Mapping[str, Bottleneck], serving: Serving
) -> tuple[Sensitivity, ...]:
    """The inputs that change the time of a token the most, largest first."""
    return _largest(list(_of_serving(part, found, serving)))


def _of_serving(part: ServingModel, found: Mapping[str, Bottleneck], serving: Serving) -> Iterator[Sensitivity]:
    shown_s = serving.exposed_s("token")
    for name in OWN_OF_SERVING:
        other = part.with_table(raised(part.table, COLUMNS[name])).serve(faster(found, name))
        delta_s = other.token_s - serving.token_s
        is_network = abs(other.exposed_s("token") - shown_s) > abs(other.decode_s - serving.decode_s)
        text = sentence(name, LARGER, delta_s)
        if is_network:
            yield Sensitivity(name, LARGER, delta_s, "decode", shown_s, None, text)
        else:
            yield Sensitivity(name, LARGER, delta_s, text=text)
    latency_s = sum(part.latency_s(row, found[row.traffic]) for row, _ in serving.rows if row.per == "token")
    delta_s = latency_s * (LARGER - 1)
    yield Sensitivity("latency", LARGER, delta_s, "decode", shown_s, None, sentence("latency", LARGER, delta_s))


def sentence(name: str, change: float, delta_s: float) -> str:
    """`NIC rate +10 % → −0.03 s`."""
    how = f"x {change:g}" if change >= DOUBLED else f"+{(change - 1) * 100:.0f} %"
    sign = "−" if delta_s < 0 else "+"
    return f"{NAMES[name]} {how} → {sign}{format_time(abs(delta_s))}"


def _largest(made: list[Sensitivity]) -> tuple[Sensitivity, ...]:
    moving = [found for found in made if abs(found.delta_s) > NOTHING_S]
    return tuple(sorted(moving, key=lambda found: -abs(found.delta_s))[:MOST_SHOWN])
