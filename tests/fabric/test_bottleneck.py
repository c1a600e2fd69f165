"""What bounds a row against closed forms: the busiest server's NICs, and uplinks that carry more than their share."""

import numpy as np
import pytest

import eastwest
from eastwest.fabric.bottleneck import bottleneck
from eastwest.workload.ledger import Grid, LedgerRow
from tests.plan.sites import pretrain_site

SIZE = 10**9


def ring(servers, oversubscription="1:1", tp=8):
    """One ring a tensor rank over all servers of eight GPUs."""
    text = pretrain_site(servers, oversubscription=oversubscription, batch=servers * 8)
    fabric = eastwest.make_plan(eastwest.parse_site(text, "site.yaml")).fabric
    dp = servers * 8 // tp
    row = LedgerRow("j", "ring", "dp_cp", f"dp{dp}", dp, "all_gather", SIZE, dp - 1, SIZE, "step")
    return bottleneck(fabric, Grid(tp=tp, dp=dp), np.arange(servers * 8), row)


def test_a_ring_a_rank_fills_one_nic_each():
    found = ring(16)
    assert found.nics_s == pytest.approx(SIZE / 50e9)
    assert found.network_s == pytest.approx(found.nics_s)
    assert (found.stretch, found.wait_s) == (1.0, 0.0)


def test_a_ring_over_all_gpus_shares_the_nics_of_a_server():
    assert ring(16, tp=1).nics_s == pytest.approx(SIZE / 8 / 50e9)


def test_oversubscription_stretches_the_uplinks_and_not_the_nics():
    even, four = ring(64), ring(64, "4:1")
    assert four.nics_s == pytest.approx(even.nics_s)
    assert four.network_s >= even.network_s


def test_inside_one_server_no_nic_is_used():
    found = ring(1, tp=1)
    assert (found.network_s, found.nics_s, found.link) == (0.0, 0.0, "")
    assert found.scale_up_bytes == pytest.approx(SIZE)
