"""Scenarios from end to end: closed forms, events, priorities, what does not depend on the network, determinism."""

from pathlib import Path

import numpy as np
import pytest

from eastwest.errors import UsageError
from eastwest.simulate.compare import compare
from eastwest.simulate.prepared import prepare, wire_bytes
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import parse_scenario
from tests.simulate.scenarios import FAT_TREE, LEAF_SPINE, RAILS, SERVERS, found, prepared, result

US = 10**6  # picoseconds
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCENARIOS = sorted((EXAMPLES / "scenarios").glob("*.yaml"))


def test_an_incast_takes_the_time_of_its_last_link() -> None:
    """n x S / rate + 6 links of 1 us; both engines agree as one link limits all."""
    text = FAT_TREE + "traffic: {pattern: incast, size: 1MB, senders: [h8, h9, h12, h13], receiver: h0}\n"
    assert result(text).time_ps == result(text, "analytic").time_ps == 4 * 80 * US + 6 * US
    assert set(result(text).flows.fct_ps.tolist()) == {326 * US}


def test_a_sprayed_permutation_on_a_non_blocking_fabric_runs_at_line_rate() -> None:
    text = FAT_TREE + "load_balancing: spray\nseed: 3\ntraffic: {pattern: permutation, size: 1MB}\n"
    fct = result(text).flows.fct_ps
    assert set(fct.tolist()) <= {82 * US, 84 * US, 86 * US}


@pytest.mark.parametrize(("uplink", "factor"), [("200G", 1), ("100G", 2), ("120G", 5 / 3)])
def test_a_leaf_of_2_to_1_takes_twice_as_long(uplink: str, factor: float) -> None:
    """4 hosts of 100G share 2 uplinks: down:up = 400G : 2 x uplink."""
    text = LEAF_SPINE.replace("rate: 100G", f"rate: 100G, uplink_rate: {uplink}")
    text += "load_balancing: spray\ntraffic: {pattern: stride, stride: 4, size: 1MB}\n"
    assert result(text).time_ps == pytest.approx(factor * 80 * US + 4 * US, abs=1)


def test_a_ring_is_paced_by_its_slowest_hop() -> None:
    """2(n-1) steps of S/n; hops across pods take 6 us."""
    text = FAT_TREE + "load_balancing: pinned\ntraffic: {collective: all_reduce, size: 16MB}\n"
    assert result(text).time_ps == result(text, "analytic").time_ps == 30 * (80 + 6) * US


def test_all_to_all_at_once_and_in_turn() -> None:
    """Under one switch: (n-1) parts leave each host; in turn each waits for the delay of the step before."""
    one = "fabric: {family: single-switch, hosts: 5, rate: 100G, delay: 1us}\noverhead: 0\n"
    text = one + "traffic: {collective: all_to_all, algorithm: %s, size: 5MB}\n"
    assert result(text % "direct").time_ps == 4 * 80 * US + 2 * US
    assert result(text % "pairwise").time_ps == 4 * (80 + 2) * US


def test_a_tree_in_chunks_fills_the_pipeline() -> None:
    one = "fabric: {family: single-switch, hosts: 8, rate: 100G, delay: 0s}\noverhead: 0\n"
    times = [
        result(one + f"traffic: {{collective: broadcast, size: 8MB, chunks: {chunks}}}\n").time_ps
        for chunks in (1, 8, 80)
    ]
    assert times == pytest.approx([640 * US * (7 + chunks - 1) / chunks for chunks in (1, 8, 80)], rel=1e-9)


def test_hierarchical_beats_one_ring_over_thin_links_by_the_servers_width() -> None:
    """2 servers of 4 GPUs on rails: across, each NIC carries 2(d-1)/d x S/g instead of the whole ring."""
    across = RAILS.replace("servers: 4,", "servers: 2,").replace("delay: 1us", "delay: 0s").replace("1T", "100T")
    text = across + "traffic: {collective: all_reduce, algorithm: %s, size: 80MB}\n"
    hierarchical, ring = result(text % "hierarchical").time_ps, result(text % "ring").time_ps
    assert hierarchical == pytest.approx(1600 * US, rel=0.02)
    assert ring == pytest.approx(14 * 800 * US, rel=0.02)


def test_nvls_takes_nine_eighths_of_the_buffer_each_way() -> None:
    text = SERVERS.replace("gpus_per_server: 4", "gpus_per_server: 8") + (
        "traffic: {collective: all_reduce, algorithm: nvls, group_size: 8, size: 8MB}\n"
    )
    outcome = result(text)
    assert outcome.time_ps == pytest.approx(9e6 * 8 / 1e12 * 1e12, rel=1e-9)
    assert found(outcome) == ["EW-SIM-030"]


def test_wire_bytes_count_every_packet_and_packet_hops_are_those_of_the_links() -> None:
    text = FAT_TREE.replace("overhead: 0", "payload: 1000\noverhead: 50")
    text += "traffic: {pattern: incast, size: 2500B, senders: [h8], receiver: h0}\n"
    outcome = result(text)
    assert outcome.flows.wire_bytes.tolist() == [2650]
    assert outcome.facts.packet_hops == 3 * 6
    assert dict(outcome.tier_bytes) == {"leaf": 0, "spine": 0, "core": 2650}
    assert wire_bytes(np.array([1, 1000, 1001]), 1000, 50).tolist() == [51, 1050, 1101]


def test_queue_pairs_share_a_message_and_its_end_is_that_of_the_last() -> None:
    text = FAT_TREE + "traffic: {pattern: incast, size: 1000001B, senders: [h8], receiver: h0, qps: 4}\n"
    tables = prepared(text)
    assert tables.flows.n_flows == 4
    assert int(tables.flows.size_bytes.sum()) == 1_000_001
    assert len(result(text).flows) == 1
    chained = prepared(FAT_TREE + "traffic: {collective: all_reduce, size: 16MB, qps: 2}\n").flows
    assert np.diff(chained.parent_offsets)[-1] == 4


def test_more_queue_pairs_use_more_uplinks() -> None:
    text = LEAF_SPINE.replace("spines: 2", "spines: 8") + (
        "traffic: {pattern: incast, size: 1MB, senders: [h4], receiver: h0, qps: %d}\n"
    )
    used = [int((result(text % qps).links.carried_bytes > 0).sum()) for qps in (1, 32)]
    assert used[0] == 4
    assert used[1] > 12


def test_equal_seeds_polarise_and_the_result_says_so() -> None:
    fat = FAT_TREE.replace("k: 4", "k: 8") + "seed: 7\ntraffic: {pattern: permutation, size: 1MB}\n"
    assert "EW-SIM-032" in found(result(fat + "hash: {function: crc, seeds: 1}\n"))
    assert "EW-SIM-032" in found(result(fat + "hash: {function: crc, seeds: {leaf: 1, spine: 2, core: 3}}\n"))
    assert "EW-SIM-032" not in found(result(fat + "hash: {function: crc, offsets: {leaf: 0, spine: 9, core: 18}}\n"))
    assert "EW-SIM-032" not in found(result(fat))


def test_traffic_inside_servers_says_nothing_about_the_network() -> None:
    """Case S01: tensor-parallel groups of 8 in servers of 8; twice the GPUs change nothing."""
    servers = SERVERS.replace("gpus_per_server: 4", "gpus_per_server: 8").replace("leaves: 2", "leaves: 8")
    text = servers + "traffic: {collective: all_reduce, group_size: 8, ranks: %d, size: 8MB}\n"
    outcomes = [result(text % ranks) for ranks in (32, 64)]
    assert outcomes[0].time_ps == outcomes[1].time_ps
    finding = next(finding for finding in outcomes[0].findings if finding.code == "EW-SIM-030")
    assert finding.sentence().startswith("0 B of 100 % cross the fabric: groups of 8 stay inside servers")


def test_traffic_under_one_leaf_says_that_no_spine_is_crossed() -> None:
    """Case S03: all senders and receivers under one leaf."""
    outcome = result(LEAF_SPINE + "traffic: {collective: all_to_all, ranks: 4, size: 4MB}\n")
    finding = next(finding for finding in outcome.findings if finding.code == "EW-SIM-031")
    assert finding.sentence().startswith("spine flows: 0 of 12")
    assert "EW-SIM-031" not in found(result(LEAF_SPINE + "traffic: {collective: all_to_all, size: 4MB}\n"))


def test_a_narrow_tier_and_a_collision_are_told_apart() -> None:
    thin = LEAF_SPINE.replace("rate: 100G", "rate: 100G, uplink_rate: 10G")
    narrow = result(thin + "traffic: {pattern: stride, stride: 4, size: 1MB, qps: 64}\n")
    assert "EW-SIM-034" in found(narrow)
    wide = LEAF_SPINE.replace("spines: 2", "spines: 4").replace("hosts_per_leaf: 4", "hosts_per_leaf: 4")
    hit = [result(wide + f"seed: {seed}\ntraffic: {{pattern: stride, stride: 4, size: 1MB}}\n") for seed in range(4)]
    assert any("EW-SIM-033" in found(outcome) for outcome in hit)


def test_a_link_that_fails_halfway_moves_its_flows() -> None:
    """One flow of 800 us over one of two spines; at 400 us its spine link dies and the other takes over at once, or
    after the time that switches need.
    """
    text = LEAF_SPINE + (
        "load_balancing: pinned\ntraffic: {pattern: incast, size: 10MB, senders: [h4], receiver: h0}\n"
        "events: [{at: 400us, link_down: [leaf1, spine0]}]\n"
    )
    assert result(text).time_ps == 804 * US
    assert result(text + "reroute_after: 100us\n").time_ps == 904 * US
    back = text.replace("}]", "}, {at: 500us, link_up: [leaf1, spine0]}]")
    assert result(back + "reroute_after: 1s\n").time_ps == 904 * US


def test_a_destination_that_is_cut_off_is_named_with_the_cut() -> None:
    text = LEAF_SPINE + (
        "traffic: {pattern: incast, size: 10MB, senders: [h4], receiver: h0}\n"
        "events: [{at: 400us, link_down: [leaf0, spine0]}, {at: 400us, link_down: [leaf0, spine1]}]\n"
    )
    outcome = result(text)
    assert outcome.status == "stalled"
    assert found(outcome) == ["EW-SIM-035", "EW-SIM-038"]
    assert "from h4 to h0; cut: spine0 - leaf0, spine1 - leaf0" in outcome.findings[0].sentence()
    assert outcome.as_json()["flows"][0]["fct_s"] is None


@pytest.mark.parametrize(
    ("event", "expected_us"),
    [
        ("{at: 400us, link_degraded: [h0, leaf0], rate: 50G}", 400 + 800 + 4),
        ("{at: 400us, nic_slow: h0, rate: 50G}", 400 + 800 + 4),
        ("{at: 400us, pcie_limit: h4, rate: 25G}", 400 + 1600 + 4),
        ("{at: 400us, config: {load_balancing: spray}}", 804),
    ],
)
def test_a_slow_link_nic_or_slot_slows_its_flow(event: str, expected_us: int) -> None:
    text = LEAF_SPINE + "traffic: {pattern: incast, size: 10MB, senders: [h4], receiver: h0}\n"
    assert result(text + f"events: [{event}]\n").time_ps == expected_us * US


def test_jobs_start_and_stop_and_the_higher_priority_goes_first() -> None:
    text = LEAF_SPINE + (
        "traffic:\n"
        "  - {name: low, pattern: incast, size: 10MB, senders: [h1], receiver: h0}\n"
        "  - {name: high, pattern: incast, size: 5MB, senders: [h2], receiver: h0, priority: 3}\n"
    )
    outcome = result(text + "events: [{at: 100us, job_start: high}]\n")
    assert outcome.flows.end_ps.tolist() == [1202 * US, 502 * US]
    stopped = result(text + "events: [{at: 100us, job_stop: high}]\n")
    assert stopped.flows.end_ps.tolist() == [902 * US, -1]
    assert stopped.status == "complete"
    document = stopped.as_json()
    assert document["summary"]["traffics"]["high"]["n_done"] == 0


def test_adaptive_routing_loses_less_than_spray_after_one_lost_cable() -> None:
    """8 flows of 100G over 4 spines x 2 cables; 7 of 8 are left: adaptive 8/7, spray 2 (half of one spine's pair)."""
    two = LEAF_SPINE.replace(
        "leaves: 4, spines: 2, hosts_per_leaf: 4", "leaves: 2, spines: 4, hosts_per_leaf: 8, links_per_pair: 2"
    )
    text = two + (
        "traffic: {pattern: stride, stride: 8, size: 10MB}\n"
        "events: [{at: 0s, link_down: [spine2, leaf1], count: 1}]\nload_balancing: "
    )
    assert result(text + "adaptive\n").time_ps == pytest.approx(800 * US * 8 / 7 + 4 * US, rel=1e-9)
    assert result(text + "spray\n").time_ps == pytest.approx(1600 * US + 4 * US, rel=1e-9)


def test_same_seed_same_result_and_another_seed_another() -> None:
    text = FAT_TREE + "seed: %d\ntraffic: {pattern: permutation, size: 1MB}\n"
    digests = [result(text % seed).digest() for seed in (5, 5, 6)]
    assert digests[0] == digests[1] != digests[2]


def test_the_document_has_the_keys_of_the_contract_and_no_made_up_numbers() -> None:
    document = result(FAT_TREE + "traffic: {pattern: permutation, size: 1MB}\n").as_json()
    assert {"flows", "ports", "engine", "tiers", "schema", "verdict", "findings"} <= set(document)
    assert {"id", "src", "dst", "bytes", "start_s", "fct_s", "retransmitted_packets"} <= set(document["flows"][0])
    port = document["ports"][0]
    assert port["drops"] is port["paused_s"] is port["peak_queue_bytes"] is None
    assert set(document["engine"]) == {"name", "packet_hops", "events", "cpu_s", "peak_memory_bytes"}
    assert sum(row["bytes"] for row in document["tiers"]) == 16 * 10**6


def test_the_analytic_engine_is_never_later_than_the_fluid_one() -> None:
    for lb in ("ecmp", "pinned", "spray"):
        for traffic in (
            "pattern: permutation",
            "collective: all_to_all, algorithm: direct",
            "collective: all_reduce, algorithm: tree",
        ):
            text = FAT_TREE + f"load_balancing: {lb}\ntraffic: {{{traffic}, size: 1MB}}\n"
            assert result(text, "analytic").time_ps <= result(text).time_ps + 1


def test_the_analytic_engine_says_that_it_leaves_events_out() -> None:
    text = (
        LEAF_SPINE + "traffic: {pattern: stride, stride: 4, size: 1MB}\nevents: [{at: 1us, nic_slow: h0, rate: 1G}]\n"
    )
    assert "EW-SIM-039" in found(result(text, "analytic"))


def test_an_unknown_engine_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="no engine 'magic'"):
        result(FAT_TREE + "traffic: {pattern: permutation, size: 1MB}\n", "magic")


def test_the_packet_engine_knows_queues_and_counts_the_same_bytes() -> None:
    text = FAT_TREE + "traffic: {pattern: permutation, size: 1MB}\n"
    packets, fluid = result(text, "packet"), result(text, "flow")
    assert packets.tier_bytes == fluid.tier_bytes
    ports = packets.as_json()["ports"]
    assert {port["priority"] for port in ports} <= {0, 3, 6}
    assert all(port["peak_queue_bytes"] is not None and port["drops"] == 0 for port in ports)
    assert [flow["retransmitted_packets"] for flow in packets.as_json()["flows"]] == [0] * 16


def test_an_interrupt_gives_the_result_so_far() -> None:
    def stop(_report: object) -> None:
        raise KeyboardInterrupt

    text = FAT_TREE.replace("k: 4", "k: 8") + "traffic: {collective: all_reduce, size: 128MB}\n"
    outcome = run_scenario(parse_scenario(text, "s.yaml"), "flow", stop)
    assert outcome.status == "interrupted"
    assert "EW-SIM-036" in found(outcome)
    done = int((outcome.flows.end_ps >= 0).sum())
    assert 0 < done < len(outcome.flows)


def test_two_results_stand_side_by_side() -> None:
    text = FAT_TREE + "load_balancing: %s\nseed: 3\ntraffic: {pattern: permutation, size: 1MB}\n"
    both = compare(result(text % "ecmp"), result(text % "spray"))
    rows = {row.name: row for row in both.rows}
    assert rows["wire_bytes"].ratio == 1
    assert rows["time_s"].second == pytest.approx(86e-6)
    assert rows["time_s"].ratio is not None
    assert rows["time_s"].ratio <= 1
    assert both.as_json()["schema"] == "eastwest.simulate/1"


@pytest.mark.parametrize("path", SCENARIOS, ids=[path.stem for path in SCENARIOS])
def test_every_example_runs_to_its_end(path: Path) -> None:
    outcome = run_scenario(parse_scenario(path.read_text(encoding="utf-8"), str(path), path.parent))
    assert outcome.status == "complete"
    assert outcome.scenario == path.stem
    assert outcome.verdict in ("pass", "warn")


def test_a_site_is_simulated_with_its_firewall_as_one_link_for_both_ways() -> None:
    text = "site: project-x-before.yaml\noverhead: 0\ntraffic: {flows: f}\n"
    text = text.replace("{flows: f}", "{pattern: incast, size: 1GB, senders: [b-01, b-02], receiver: a-01}")
    outcome = run_scenario(parse_scenario(text, "s.yaml", EXAMPLES))
    assert outcome.tier_bytes["room"] == 2 * 10**9
    assert outcome.time_ps == pytest.approx(2e9 * 8 / 100e9 * 1e12, rel=1e-3)
    tables = prepare(parse_scenario(text, "s.yaml", EXAMPLES))
    assert tables.network.links["rate_bps"][tables.network.links_between("fw1", "fw1:out")].tolist() == [10**11]


def test_what_a_scenario_leaves_open_its_sites_policy_says() -> None:
    text = "site: %s\ntraffic: {pattern: incast, size: 1MB, fan_in: 2}\n"
    tcp = prepare(parse_scenario(text % "project-x-before.yaml", "s.yaml", EXAMPLES)).scenario
    assert (tcp.transport, tcp.load_balancing) == ("tcp", "ecmp")
    assert tcp.hashes is not None
    assert "rdma_qp" in tcp.hashes.fields
    assert len(set(tcp.hashes.seeds.values())) == 3
    own = prepare(
        parse_scenario(text % "project-x-before.yaml" + "load_balancing: spray\n", "s.yaml", EXAMPLES)
    ).scenario
    assert own.load_balancing == "spray"


def test_bytes_in_time_add_up_to_what_the_links_carried() -> None:
    text = LEAF_SPINE + "record: {every: 10us}\ntraffic: {pattern: incast, size: 1MB, senders: [h4], receiver: h0}\n"
    document = result(text).as_json()
    assert document["series"]["bin_s"] == 10e-6
    for port in document["series"]["ports"]:
        assert port["bytes"] == [125_000] * 8 + [0]


def test_a_link_that_is_down_stays_down_when_its_nic_is_slowed() -> None:
    text = LEAF_SPINE + (
        "traffic: {pattern: incast, size: 10MB, senders: [h4], receiver: h0}\n"
        "events: [{at: 100us, link_down: [h0, leaf0]}, {at: 200us, nic_slow: h0, rate: 50G}%s]\n"
    )
    assert result(text % "").status == "stalled"
    assert result(text % ", {at: 300us, link_up: [h0, leaf0]}").time_ps == (100 + 200 + 700 + 4) * US


def test_a_cut_that_nobody_waits_for_is_no_finding() -> None:
    text = LEAF_SPINE + (
        "traffic: {pattern: incast, size: 1MB, senders: [h4], receiver: h0}\n"
        "events: [{at: %s, link_down: [h0, leaf0]}, {at: 2ms, link_up: [h0, leaf0]}]\n"
    )
    assert found(result(text % "1ms")) == []
    cut = result(text % "10us")
    assert cut.status == "complete"
    assert found(cut) == ["EW-SIM-035"]


def test_a_broken_run_counts_what_was_sent() -> None:
    """Every byte that was sent is on all links of its path: 2, 4 or 6 of them."""

    def stop(_report: object) -> None:
        raise KeyboardInterrupt

    text = FAT_TREE.replace("k: 4", "k: 8") + "traffic: {collective: all_reduce, size: 128MB}\n"
    outcome = run_scenario(parse_scenario(text, "s.yaml"), "flow", stop)
    sent = outcome.tier_bytes
    assert sum(sent.values()) < int(outcome.flows.wire_bytes.sum())
    on_links = 2 * sent["leaf"] + 4 * sent["spine"] + 6 * sent["core"]
    assert on_links == pytest.approx(int(outcome.links.carried_bytes.sum()), rel=1e-6)
    assert outcome.facts.packet_hops == pytest.approx(on_links / 4096, rel=0.01)
