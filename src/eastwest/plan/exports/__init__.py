"""Export files: the plan in the forms that other tools read, one file a format, listed here in alphabetical order.

Each format is a function from a plan to its files: relative name -> text. Nothing is read and nothing is run here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eastwest.plan.exports import containerlab, graphviz, ibsim, kubernetes, labels, nccl, netbox, slurm
from eastwest.plan.plan import Plan
from eastwest.registry import Registry

Export = Callable[[Plan], Mapping[str, str]]

EXPORTS: Registry[Export] = Registry(
    "export",
    [
        ("containerlab", containerlab.files),
        ("graphviz", graphviz.files),
        ("ibsim", ibsim.files),
        ("kubernetes", kubernetes.files),
        ("labels", labels.files),
        ("nccl", nccl.files),
        ("netbox", netbox.files),
        ("slurm", slurm.files),
    ],
)


def export_files(plan: Plan) -> dict[str, str]:
    """The files of every format: name relative to the plan's folder -> text."""
    return {name: text for _, export in EXPORTS for name, text in export(plan).items()}
