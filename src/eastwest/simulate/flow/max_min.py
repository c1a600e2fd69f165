"""Max-min fair rates of flows that all send at once: one solve, no time."""

from __future__ import annotations

from eastwest.simulate.flow.build import event_table, flow_table
from eastwest.simulate.flow.engine import Run
from eastwest.simulate.flow.tables import Float64, FlowTable, LinkTable, PathTable, RecordWish


def max_min_rates(links: LinkTable, paths: PathTable, flows: FlowTable) -> Float64:
    """Weighted max-min fair rate of every flow, bit/s (n_flows,), under links, caps and strict priorities.

    Starts, parents and sizes are not looked at. A flow that nothing limits (empty path, no cap) has rate 0: it would
    need no time.

    Raises:
        UsageError: a table is malformed or an index points nowhere.
    """
    together = flow_table(
        [1] * flows.n_flows, flows.path, weight=flows.weight, cap_bps=flows.cap_bps, priority=flows.priority
    )
    return Run(links, paths, together, event_table(), RecordWish()).start_at_zero()
