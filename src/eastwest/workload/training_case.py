"""`TrainingCase`: one training job with everything resolved, the input of rows, memory and facts."""

from __future__ import annotations

from dataclasses import dataclass

from eastwest.spec.jobs import TrainingWish
from eastwest.workload.model import Transformer
from eastwest.workload.parallelism import Layout, Stage


@dataclass(frozen=True, slots=True)
class TrainingCase:
    """One training job with everything resolved: the wish, the model, the layout and its pipeline stages."""

    job: TrainingWish
    model: Transformer
    layout: Layout
    stages: tuple[Stage, ...]

    @property
    def busiest(self) -> Stage:
        """The stage with the most layers, and of those the most parameters: its GPUs send the most inside tp, cp,
        ep.
        """
        return max(self.stages, key=lambda stage: (len(stage.layers), stage.params))

    @property
    def heaviest(self) -> Stage:
        """The stage whose GPUs hold the most parameters: its GPUs send the most in the gradient exchange."""
        return max(self.stages, key=lambda stage: stage.params)

    @property
    def forward_passes(self) -> int:
        """Forward passes of a layer in one step: 1, or 2 when all activations are computed again."""
        return 2 if self.job.recompute == "full" else 1
