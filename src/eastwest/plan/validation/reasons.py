"""Why a row of a training table is skipped, or predicted and not scored: fixed lists, each reason with its sentence in
both languages.
"""

from __future__ import annotations

from enum import StrEnum


class Skip(StrEnum):
    """One reason; its value is the code of its sentence in the messages."""

    other_task = "EW-VAL-010"  # LoRA, SFT: another workload than pre-training
    calibration_table = "EW-VAL-011"
    not_measured = "EW-VAL-012"  # simulation, specification, arithmetic
    unhealthy = "EW-VAL-013"
    no_measurement = "EW-VAL-014"  # no time, rate or utilisation of a training step
    no_gpus = "EW-VAL-015"
    no_sequence = "EW-VAL-016"
    no_batch = "EW-VAL-017"
    no_layout = "EW-VAL-018"
    no_model = "EW-VAL-019"
    no_decoder = "EW-VAL-020"  # encoder or encoder-decoder
    no_hardware = "EW-VAL-021"  # GPU without a data sheet in the catalogue
    no_precision = "EW-VAL-022"  # GPU or model cannot compute in it
    uneven_layout = "EW-VAL-023"  # tp x pp x cp does not divide the GPUs
    not_computable = "EW-VAL-024"  # the step model yields no finite time


class Doubt(StrEnum):
    """Why a row that can be predicted cannot be as it is written; its value is the code of its sentence."""

    uneven_batch = "EW-VAL-034"  # the replicas do not share out the batch
    beyond_peak = "EW-VAL-035"  # more FLOP/s than the data sheet's peak
    layout_of_another_model = "EW-VAL-036"  # heads, layers or experts do not split so
    repeated_id = "EW-VAL-037"  # of a row with the same run
