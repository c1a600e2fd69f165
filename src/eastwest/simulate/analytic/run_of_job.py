"""A training job of a site as the step model reads it: `TrainingRun`, and its one record of the step table."""

from __future__ import annotations

from eastwest.simulate.analytic.assumptions import ARCHITECTURES, REFERENCE_NIC_BYTES_PER_S
from eastwest.simulate.analytic.step_table import Table, pack
from eastwest.simulate.analytic.training_run import PRECISIONS, GpuRates, TrainingRun
from eastwest.spec import catalogue
from eastwest.spec.jobs import InferenceWish, TrainingWish
from eastwest.spec.resolve import ServerFacts
from eastwest.spec.site import Site
from eastwest.units import BITS_PER_BYTE
from eastwest.workload.ledger import JobLedger
from eastwest.workload.machines import peak_flops
from eastwest.workload.parallelism import BYTES_OF

PLAIN = "bf16"  # what the model computes with where it has no constants for a datatype
# Bytes that an optimiser's step reads and writes of a parameter: gradient 4, master weight and moments twice, weight 2.
OPTIMIZER_BYTES = {"sgd": 18.0, "adam8bit": 18.0}  # Adam with fp32 moments: the step model's own value


def wish_of(site: Site, job: JobLedger) -> TrainingWish | InferenceWish:
    """The job as the site file asks for it. Raises KeyError for a job that the site does not have."""
    for wish in site.jobs:
        if wish.name == job.name:
            return wish
    raise KeyError(job.name)


def run_of_job(site: Site, server: ServerFacts, nic_bps: float, job: JobLedger) -> TrainingRun:
    """The run of a training job on servers of this kind; `nic_bps` is what one NIC carries. What is open stays None."""
    wish, model, gpu = wish_of(site, job), job.model, str(job.facts["gpu"])
    if not isinstance(wish, TrainingWish) or model is None:
        raise KeyError(job.name)
    grid, parallel, is_known = job.grid, wish.parallel, wish.precision in PRECISIONS
    return TrainingRun(
        id=job.name,
        source="site file",
        model=model,
        gpu=gpu,
        gpus=job.gpus,
        precision=wish.precision if is_known else PLAIN,
        rates=None if is_known else rates_beside(gpu, wish.precision),
        sequence=wish.sequence,
        global_batch=wish.global_batch,
        micro_batch=wish.micro_batch,
        tp=grid.tp,
        pp=grid.pp,
        cp=grid.cp,
        ep=grid.ep,
        virtual_stages=parallel.virtual_stages,
        zero=parallel.zero,
        shard=grid.shard if parallel.zero == 3 else None,
        sequence_parallel=bool(job.facts["sequence_parallel"]),
        recompute=wish.recompute,
        gpus_per_node=server.gpus,
        scale_up_domain=server.scale_up_domain,
        nic_bytes_per_s=nic_bps * server.nics / server.gpus / BITS_PER_BYTE or None,
        network=site.transport,
        framework=wish.framework,
        release=wish.release,
        overlap_tp=wish.overlap_tp,
        overlap_dp=wish.overlap_gradients,
        overlap_pp=wish.overlap_pp,
        overlap_ep=wish.overlap_ep,
        flash_attention=wish.flash_attention,
        compiled=wish.compiled,
        optimizer_bytes=OPTIMIZER_BYTES.get(wish.optimizer),
        gradient_bytes=BYTES_OF[wish.gradient_precision],
    )


def table_of_run(run: TrainingRun, bucket_bytes: float | None) -> Table:
    """(1,) record of the step table; a bucket of the site file (bytes of gradients) replaces the framework's."""
    table = pack([run])
    if bucket_bytes:
        table["bucket_params"] = bucket_bytes / table["gradient_bytes"]
    return table


def rates_beside(gpu: str, precision: str) -> GpuRates:
    """Rates of a GPU in fp32 or tf32, in place of its 16-bit ones."""
    sheet, flops = catalogue.get("gpu", gpu), peak_flops(gpu, precision)
    return GpuRates(
        flops_16_bit=flops,
        flops_8_bit=flops,
        flops_4_bit=flops,
        memory_bytes_per_s=float(sheet.memory_bytes_per_s),
        scale_up_bytes_per_s=float(sheet.scale_up_bytes_per_s or REFERENCE_NIC_BYTES_PER_S["ampere"]),
        architecture=str(sheet.architecture) if sheet.architecture in ARCHITECTURES else "hopper",
    )
