"""Synthetic sites for the tests of the plan, as text."""

PRETRAIN = """
name: synthetic-{servers}
transport: {transport}
servers:
  - {{model: dgx-h100, count: {servers}}}
fabric:
  family: {family}
  switch: {switch}
  oversubscription: {oversubscription}
jobs:
  - name: pretrain
    model: llama3-8b
    parallel: {{tp: {tp}, zero: 1}}
    sequence: 8192
    global_batch: {batch}
"""


def pretrain_site(
    servers: int = 8,
    *,
    transport: str = "roce",
    family: str = "leaf_spine",
    switch: str = "64x400G",
    oversubscription: str = "1:1",
    tp: int = 8,
    batch: int = 1024,
) -> str:
    """A site with one llama3-8b training job on DGX H100 servers."""
    return PRETRAIN.format(
        servers=servers,
        transport=transport,
        family=family,
        switch=switch,
        oversubscription=oversubscription,
        tp=tp,
        batch=batch,
    )
