"""Transport in scenarios: TCP's windows, losses, policers, flowlets, NICs that fail over; keys and findings."""

from pathlib import Path

import numpy as np
import pytest

from eastwest.simulate.analytic.loss import go_back_n_ratio
from eastwest.simulate.analytic.tcp_rate import mathis_window, pftk_window, slow_start_s
from eastwest.simulate.result import SimResult
from tests.simulate.scenarios import FAT_TREE, LEAF_SPINE, RAILS, codes, found, mistakes, prepared, result

US, MS, PS = 10**6, 10**9, 10**12
FAR = "fabric: {family: single-switch, hosts: 4, rate: 100G, delay: 2500us}\noverhead: 0\n"  # round trip 10 ms
NEAR = "fabric: {family: single-switch, hosts: 4, rate: 100G, delay: 2500ns}\noverhead: 0\n"  # round trip 10 us
BURSTS = "traffic: {pattern: incast, senders: [h1], receiver: h0, size: 100MB, repeat: 5, every: 1s}\n"
ONE = "traffic: {pattern: incast, senders: [h1], receiver: h0, size: 100MB}\n"
TCP = "transport: tcp\ntcp: {max_window: 1GB, slow_start_after_idle: %s}\n"
SEGMENT = 4096


def seconds(outcome: SimResult) -> list[float]:
    """Completion times."""
    return [value / PS for value in outcome.flows.fct_ps.tolist()]


def sentence(outcome: SimResult, code: str, lang: str = "en") -> str:
    """What a finding says."""
    return next(finding for finding in outcome.findings if finding.code == code).sentence(lang)


def test_slow_start_does_not_fit_periodic_bursts_and_a_kept_window_does() -> None:
    """100 MB every second at 100 Gb/s over 10 ms: 8 ms of sending take 117 ms in every burst, or only in the first."""
    cold = slow_start_s(1e8, 10 * SEGMENT, 0.01, 100e9) + 0.005
    again = result(FAR + BURSTS + TCP % "rfc5681")
    assert seconds(again) == pytest.approx([cold] * 5, rel=1e-9)
    kept = result(FAR + BURSTS + TCP % "0")
    assert seconds(kept)[0] == pytest.approx(cold, rel=1e-9)
    assert seconds(kept)[2:] == pytest.approx([0.013] * 3, rel=1e-9)
    assert seconds(result(FAR + BURSTS + "transport: roce\n")) == pytest.approx([0.013] * 5, rel=1e-9)
    assert again.details["transport"]["restarts_after_idle"] == 4
    assert kept.details["transport"]["restarts_after_idle"] == 0
    assert again.details["transport"]["slow_start_ratio"] > 0.9
    assert "4 restarts" in sentence(again, "EW-SIM-040")
    assert "4 次" in sentence(again, "EW-SIM-040", "zh")


def test_linux_halves_so_that_short_pauses_cost_less_than_the_rfc_says() -> None:
    linux, rfc = (sum(seconds(result(FAR + BURSTS + TCP % rule))[1:]) for rule in ("1", "rfc5681"))
    kept = sum(seconds(result(FAR + BURSTS + TCP % "off"))[1:])
    assert kept < linux < rfc


def test_bursts_closer_than_the_time_out_do_not_begin_again() -> None:
    """Pauses of 150 ms at most, time-out 210 ms."""
    text = FAR + BURSTS.replace("every: 1s", "every: 160ms") + TCP % "rfc5681"
    assert result(text).details["transport"]["restarts_after_idle"] == 0
    shorter = text.replace("max_window: 1GB", "max_window: 1GB, min_rto: 20ms")
    assert result(shorter).details["transport"]["restarts_after_idle"] == 4


def test_the_usual_window_limits_a_long_link_and_the_result_says_what_would_fill_it() -> None:
    outcome = result(FAR + ONE.replace("100MB", "10GB") + "transport: tcp\n")
    limit = 4 * 2**20 / 0.01
    assert seconds(outcome)[0] == pytest.approx(10e9 / limit, rel=0.01)  # and 7 round trips of slow start
    assert "3.36G where their path carries 100G" in sentence(outcome, "EW-SIM-042")
    assert "125 MB would fill it" in sentence(outcome, "EW-SIM-042")


@pytest.mark.parametrize("response", ["pftk", "mathis"])
def test_loss_holds_tcp_at_its_closed_form(response: str) -> None:
    """From the first expected loss (1/p packets) on, the mean window under loss."""
    loss, size = 1e-3, 10**8
    text = FAR + ONE + f"transport: tcp\ntcp: {{response: {response}, slow_start: false, max_window: 1GB}}\n"
    outcome = result(text + f"loss: {{flow: {loss}, tail: ignored}}\n")
    window = pftk_window(loss, 0.01, 0.21, 2) if response == "pftk" else mathis_window(loss, 2)
    first = SEGMENT / loss
    assert first < size
    late = (size / (1 - loss) - first) / (window * SEGMENT / 0.01)
    assert seconds(outcome)[0] == pytest.approx(first * 8 / 100e9 + late + 0.005, rel=1e-9)
    assert response.upper() in sentence(outcome, "EW-SIM-043")
    assert outcome.details["transport"]["loss_limited_connections"] == 1


def test_one_lossy_burst_is_short_of_its_first_loss() -> None:
    """100 packets at 1e-5 are not held at the mean of a long transfer."""
    text = NEAR + ONE.replace("100MB", "400KB") + "transport: tcp\ntcp: {slow_start: false}\n"
    lossy = result(text + "loss: {flow: 1e-5, tail: ignored}\n")
    assert seconds(lossy)[0] == pytest.approx(seconds(result(text))[0], rel=1e-4)


def test_a_lossy_roce_flow_has_the_goodput_of_go_back_n() -> None:
    outcome = result(NEAR + ONE + "loss: {flow: 1e-3, tail: ignored}\n")
    gain = go_back_n_ratio(1e-3, 100e9 * 10e-6 / 8 / SEGMENT)
    assert seconds(outcome)[0] == pytest.approx(0.008 / gain + 5e-6, rel=1e-9)
    details = outcome.details["transport"]
    assert details["goodput_ratio"] == pytest.approx(gain, rel=1e-9)
    assert details["retransmitted_packets"] == pytest.approx(1e8 / SEGMENT * (1 / gain - 1), abs=1)
    assert "sent again" in sentence(outcome, "EW-SIM-044")


@pytest.mark.parametrize(
    "loss",
    [
        "1e-3",
        "0.1%",
        "{flow: 1e-3}",
        "{levels: {nic: 0.0005001250625}}",  # twice in line
        "{links: [{link: [h1, leaf0], ratio: 1e-3}]}",
    ],
)
def test_the_same_loss_said_in_five_ways(loss: str) -> None:
    expected = result(NEAR + ONE + "loss: {flow: 1e-3, tail: ignored}\n")
    ignored = loss if loss.startswith("{") else f"{{flow: {loss}}}"
    found_now = result(NEAR + ONE + f"loss: {ignored[:-1]}, tail: ignored}}\n")
    assert seconds(found_now) == pytest.approx(seconds(expected), rel=1e-6)


def test_traffic_inside_servers_loses_nothing() -> None:
    text = RAILS + "traffic: {pattern: incast, senders: [h1], receiver: h0, size: 1MB}\nloss: 0.5\n"
    assert seconds(result(text)) == seconds(result(text.replace("loss: 0.5\n", "")))


def test_the_share_of_messages_that_wait_for_a_time_out_is_the_loss() -> None:
    """4,000 messages, 2 %: 80 within five deviations; each waits whole multiples of 4.096 us x 2^10."""
    text = NEAR + "traffic: {pattern: incast, senders: [h1], receiver: h0, size: 4KB, repeat: 4000, every: 1ms}\n"
    outcome = result(text + "loss: {flow: 0.02, timeout: 10}\n")
    base = min(outcome.flows.fct_ps.tolist())
    extra = (outcome.flows.fct_ps - base) / (4.096e-6 * 2**10 * PS)
    waited = int((extra > 0.5).sum())
    assert abs(waited - 80) < 5 * (4000 * 0.02 * 0.98) ** 0.5
    assert np.allclose(extra, np.rint(extra), atol=1e-6)
    assert f"{waited} of 4000" in sentence(outcome, "EW-SIM-045")
    other = result(text + "loss: {flow: 0.02, timeout: 10}\nseed: 2\n")
    assert other.digest() != outcome.digest()
    assert result(text + "loss: {flow: 0.02, timeout: 10}\n").digest() == outcome.digest()


def test_retries_that_run_out_are_an_error() -> None:
    text = NEAR + "traffic: {pattern: incast, senders: [h1], receiver: h0, size: 4KB, repeat: 200, every: 1s}\n"
    outcome = result(text + "loss: {flow: 0.9, timeout: 5, retries: 2}\n")
    assert outcome.verdict == "fail"
    assert "more than 2 times" in sentence(outcome, "EW-SIM-046")


def test_tcp_probes_for_a_lost_tail_and_waits_200_ms_without_the_probe() -> None:
    text = NEAR + "traffic: {pattern: incast, senders: [h1], receiver: h0, size: 100KB, repeat: 300, every: 1s}\n"
    text += "loss: 0.05\ntransport: tcp\ntcp: {tail_loss_probe: %s, slow_start: false}\n"
    probed, waits = (result(text % flag).flows.fct_ps for flag in ("true", "false"))
    hit = waits > waits.min() + 100 * MS
    assert 1 <= hit.sum() <= 40
    once = hit & (waits < waits.min() + 300 * MS)
    assert waits[once] - probed[once] == pytest.approx(200 * MS - 10 * US, rel=1e-6)  # RTO = RTT + 200 ms; 2 RTT


def test_a_policer_costs_roce_far_more_than_a_shaper_of_the_same_rate() -> None:
    shaped = result(NEAR.replace("100G", "80G") + ONE)
    policed = result(NEAR + ONE + "policers: [{link: [leaf0, h0], rate: 80G}]\n")
    gain = go_back_n_ratio(0.2, 100e9 * 10e-6 / 8 / SEGMENT)
    assert seconds(policed)[0] == pytest.approx(0.008 / gain + 5e-6, rel=1e-9)
    assert seconds(policed)[0] > 5 * seconds(shaped)[0]
    assert "EW-SIM-048" in found(policed)
    assert policed.details["transport"]["policers"][0]["goodput_ratio"] == pytest.approx(gain)


def test_a_policer_leaves_tcp_three_quarters_and_a_deep_bucket_all() -> None:
    text = NEAR + ONE + "transport: tcp\npolicers: [{link: [leaf0, h0], rate: 50G, burst: %s}]\n"
    flat, deep = result(text % "0B"), result(text % "10MB")
    assert seconds(flat)[0] == pytest.approx(0.016 / 0.75 + 5e-6, rel=1e-3)  # and a round trip of slow start
    assert seconds(deep)[0] == pytest.approx(0.016 + 5e-6, rel=1e-3)
    assert "use 75 %" in sentence(flat, "EW-SIM-047")
    assert "EW-SIM-047" not in found(deep)


def test_a_link_event_does_not_lift_a_policer() -> None:
    text = NEAR + ONE + "policers: [{link: [leaf0, h0], rate: 80G}]\nloss: {recovery: selective_repeat}\n"
    events = "events: [{at: 1ms, link_down: [leaf0, h0]}, {at: 2ms, link_up: [leaf0, h0]}]\n"
    assert seconds(result(text + events))[0] == pytest.approx(seconds(result(text))[0] + 0.001, rel=1e-9)


def test_flowlets_keep_their_way_without_a_gap_and_the_least_loaded_is_balanced() -> None:
    text = LEAF_SPINE + "traffic: {pattern: stride, stride: 4, size: 10MB}\nload_balancing: flowlet\n"
    drawn, chosen = result(text), result(text + "flowlet: {choice: least_loaded}\n")
    assert chosen.time_ps == 1604 * US  # 4 hosts over 2 uplinks, two on each
    assert drawn.time_ps > chosen.time_ps
    assert "EW-SIM-033" not in found(chosen)
    repeated = LEAF_SPINE.replace("spines: 2", "spines: 8") + "load_balancing: flowlet\nflowlet: {gap: %s}\n"
    repeated += "traffic: {pattern: incast, senders: [h4], receiver: h0, size: 1MB, repeat: 40, every: 100us}\n"
    used = [int((result(repeated % gap).links.carried_bytes > 0).sum()) for gap in ("10us", "50us")]
    assert used[0] > 4
    assert used[1] == 4


LIST = RAILS + "traffic: {flows: f.csv}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two flows on two rails of two servers: 10 MB in 800 us each."""
    (tmp_path / "f.csv").write_text("h0,h12,10MB\nh1,h13,10MB\n", encoding="utf-8")
    return tmp_path


def test_a_dead_nic_stalls_its_traffic_and_is_named(folder: Path) -> None:
    outcome = result(LIST + "events: [{at: 400us, nic_down: h0}]\n", folder=folder)
    assert outcome.status == "stalled"
    assert "h0 is down from 400 µs: 0 pairs go over another port or NIC, 1 wait" in sentence(outcome, "EW-SIM-041")
    assert "cut: h0 - leaf0" in sentence(outcome, "EW-SIM-035")
    back = result(LIST + "events: [{at: 400us, nic_down: h0}, {at: 500us, nic_up: h0}]\n", folder=folder)
    assert back.status == "complete"
    assert back.flows.end_ps.tolist() == [904 * US, 804 * US]


@pytest.mark.parametrize("host", ["h0", "h12"])
def test_the_next_rail_takes_over_for_a_dead_nic_at_either_end(host: str, folder: Path) -> None:
    """From 400 us two flows share one NIC: 5 MB each at half the rate end 800 us later."""
    text = LIST + f"nic_failover: rail\nevents: [{{at: 400us, nic_down: {host}}}]\n"
    outcome = result(text, folder=folder)
    assert outcome.flows.end_ps.tolist() == [1204 * US] * 2
    assert "1 pairs go over another port or NIC, 0 wait" in sentence(outcome, "EW-SIM-041")
    assert outcome.verdict != "fail"


def test_without_a_scale_up_domain_no_rail_takes_over() -> None:
    text = LEAF_SPINE + "nic_failover: rail\ntraffic: {pattern: incast, senders: [h4], receiver: h0, size: 10MB}\n"
    assert result(text + "events: [{at: 1us, nic_down: h4}]\n").status == "stalled"


def test_connections_are_of_one_traffic_and_queue_pair() -> None:
    text = FAR + "transport: tcp\ntraffic:\n- {pattern: incast, senders: [h1], receiver: h0, size: 1MB, qps: 2}\n"
    text += "- {pattern: incast, senders: [h1], receiver: h0, size: 1MB, start: 1s}\n"
    assert result(text).details["transport"]["connections"] == 3


def test_the_analytic_engine_says_that_it_leaves_transport_out() -> None:
    assert "EW-SIM-037" in found(result(FAR + ONE + "transport: tcp\n", "analytic"))
    assert "EW-SIM-037" in found(result(FAR + ONE + "loss: 1e-3\n", "analytic"))
    assert "EW-SIM-037" not in found(result(FAR + ONE + "transport: tcp\n"))


def test_without_transport_keys_no_tables_are_made() -> None:
    from eastwest.simulate.transport_tables import transport_of

    assert transport_of(prepared(FAT_TREE + "traffic: {pattern: permutation, size: 1MB}\n")).table is None


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("transport: roce\ntcp: {}\n", ["EW-SIM-004"]),
        ("transport: tcp\ntcp: {initial_window: 0}\n", ["EW-SIM-004"]),
        ("transport: tcp\ntcp: {slow_start_after_idle: maybe}\n", ["EW-SIM-006"]),
        ("transport: tcp\ntcp: {initial_windw: 3}\n", ["EW-SIM-007"]),
        ("loss: 1\n", ["EW-SIM-004"]),
        ("loss: -0.1\n", ["EW-SIM-004"]),
        ("loss: lots\n", ["EW-SIM-004"]),
        ("loss: {timeout: 40}\n", ["EW-SIM-004"]),
        ("loss: {levels: {cloud: 0.1}}\n", ["EW-SIM-008"]),
        ("loss: {links: [{link: [h0], ratio: 0.1}]}\n", ["EW-SIM-004"]),
        ("loss: {links: [{link: [h0, h1], ratio: 0.1}]}\n", ["EW-SIM-029"]),
        ("loss: {boxes: {fw: 0.1}}\n", ["EW-SIM-023"]),
        ("policers: [{link: [leaf0, h0]}]\n", ["EW-SIM-009"]),
        ("policers: [{box: fw, rate: 1G}]\n", ["EW-SIM-023"]),
        ("policers: {box: fw}\n", ["EW-SIM-004"]),
        ("policers: [{rate: 1G}]\n", ["EW-SIM-015"]),
        ("flowlet: {ways: 0}\n", ["EW-SIM-004"]),
        ("nic_failover: everything\n", ["EW-SIM-006"]),
        ("events: [{at: 1s, nic_down: h9}]\n", ["EW-SIM-020"]),
        ("events: [{at: 1s, nic_down: h0, count: 2}]\n", ["EW-SIM-025"]),
    ],
)
def test_mistakes_are_named_with_their_line(keys: str, expected: list[str]) -> None:
    assert codes(NEAR + ONE + keys) == expected
    assert all("s.yaml:" in text for _, text in mistakes(NEAR + ONE + keys))


def test_crc_with_the_offsets_of_the_policy_is_not_polarised() -> None:
    """Seeds alone do not cure a linear hash on 4 uplinks; the policy's bits of the hash do, over 20 seeds."""
    from eastwest.policy.hashing import offsets, seeds

    text = FAT_TREE.replace("k: 4", "k: 8") + "traffic: {pattern: permutation, size: 1MB}\n"
    for number in range(20):
        tiers = ", ".join(f"{tier}: {seed}" for tier, seed in seeds(f"site{number}").items())
        bits = ", ".join(f"{tier}: {bit}" for tier, bit in offsets().items())
        hashes = f"hash: {{function: crc, seeds: {{{tiers}}}, offsets: {{%s}}}}\nseed: {number}\n"
        assert "EW-SIM-032" not in found(result(text + hashes % bits))
    assert "EW-SIM-032" in found(result(text + hashes % "leaf: 0, spine: 0"))
