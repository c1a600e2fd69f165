"""Reading a scenario: defaults, every key, every mistake with its line, and no text that ends otherwise."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eastwest.errors import InputError, UsageError
from eastwest.simulate.flow_list import FlowList
from eastwest.simulate.prepared import prepare
from eastwest.simulate.run import run_scenario
from eastwest.simulate.scenario import parse_scenario
from eastwest.simulate.scenario_traffic import CollectiveWish
from tests.simulate.scenarios import FAT_TREE, LEAF_SPINE, RAILS, SERVERS, codes, mistakes

RING = "traffic: {collective: all_reduce, size: 1MB}\n"


def said(act: Callable[[], object]) -> list[str]:
    """What an InputError says in both languages; nothing when there is none."""
    try:
        act()
    except InputError as error:
        return [finding.sentence(lang) for finding in error.findings for lang in ("en", "zh")]
    return []


def test_a_short_scenario_has_defaults_with_another_seed_on_each_tier() -> None:
    found = parse_scenario(FAT_TREE + RING, "folder/demo.yaml")
    assert (found.name, found.transport, found.load_balancing, found.payload_bytes) == ("demo", "roce", "ecmp", 4096)
    assert len(set(found.hashes.seeds.values())) == 3
    assert found.hashes.function == "mixed"
    wish = found.traffics[0].what
    assert isinstance(wish, CollectiveWish)
    assert (wish.algorithm, wish.size_bytes, wish.ranks) == ("ring", 10**6, 0)


def test_every_key_is_read_in_its_unit(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("src,dst,bytes,start\nh0,h1,10MB,5us\n# note\nh1,h2,1000\nh2,h3,1,0.5,0 1\n")
    text = """\
fabric: {family: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 4, rate: 100G, delay: 500ns, switch_latency: 700ns}
transport: dcqcn
load_balancing: adaptive
payload: 1024
overhead: 64
seed: 9
reroute_after: 2ms
record: {every: 10us}
hash: {function: crc, fields: [src_ip, dst_ip], seeds: {leaf: 1, spine: 2}, offsets: 3, fixed_source_port: true}
traffic:
  - {name: list, flows: flows.csv, priority: 2, weight: 2.5, cap: 10G, start: 1us, repeat: 3, every: 1ms}
  - {name: job, collective: all-gather, algorithm: pat, size: 1GiB, ranks: 4, group_size: 2, stride: 2, qps: 2}
events:
  - {at: 2ms, link_up: [leaf0, spine1]}
  - {at: 1ms, link_degraded: [leaf0, spine1], rate: 50G, count: 1}
  - {at: 0s, nic_slow: h1, rate: 25G}
  - {at: 3ms, job_stop: job}
  - {at: 4ms, config: {load_balancing: spray}}
"""
    found = parse_scenario(text, "s.yaml", tmp_path)
    assert (found.payload_bytes, found.overhead_bytes, found.seed, found.reroute_ps) == (1024, 64, 9, 2 * 10**9)
    assert found.hashes.offsets == {"leaf": 3, "spine": 3, "core": 3}
    assert found.hashes.seeds["leaf"] == 1
    assert found.hashes.fixed_port
    assert found.record.bin_ps == 10**7
    flows = found.traffics[0].what
    assert isinstance(flows, FlowList)
    assert flows.size_bytes.tolist() == [10_000_000, 1000, 1]
    assert flows.start_ps.tolist() == [5_000_000, 0, 5 * 10**11]
    assert flows.after.tolist() == [0, 1]
    assert flows.lines.tolist() == [2, 4, 5]
    assert [event.kind for event in found.events] == ["nic_slow", "link_degraded", "link_up", "job_stop", "config"]
    assert found.fabric is not None
    assert (found.fabric.delay_ps, found.fabric.switch_delay_ps) == (500_000, 700_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: x\nservers: [1]\n", ["EW-SIM-001"]),
        (RING, ["EW-SIM-002"]),
        ("site: a.yaml\n" + FAT_TREE + RING, ["EW-SIM-002"]),
        ("fabric: 5\n" + RING, ["EW-SIM-003"]),
        (FAT_TREE, ["EW-SIM-009"]),
        (FAT_TREE + "traffic: []\n", ["EW-SIM-009"]),
        (FAT_TREE + "traffic: {size: 1MB}\n", ["EW-SIM-015"]),
        (FAT_TREE + "traffic: {collective: all_reduce, pattern: incast, size: 1MB}\n", ["EW-SIM-015"]),
        (FAT_TREE + "traffic: {collective: all_reduse, size: 1MB}\n", ["EW-SIM-005"]),
        (FAT_TREE + "traffic: {collective: all_reduce, size: 0}\n", ["EW-SIM-004"]),
        (FAT_TREE + "traffic: {collective: all_reduce, size: -5MB}\n", ["EW-SIM-004"]),
        (FAT_TREE + "traffic: {collective: all_reduce, size: 1Mb}\n", ["EW-SIM-004"]),
        (FAT_TREE + "traffic: {collective: all_reduce}\n", ["EW-SIM-009"]),
        (FAT_TREE + RING + "trafic: 5\n", ["EW-SIM-007"]),
        (FAT_TREE + RING + "zzz: 5\n", ["EW-SIM-008"]),
        (FAT_TREE + RING + "transport: [tcp]\n", ["EW-SIM-006"]),
        (FAT_TREE + RING + "hash: {fields: [colour]}\n", ["EW-SIM-006"]),
        (FAT_TREE + RING + "seed: yes\n", ["EW-SIM-004"]),
        (FAT_TREE + RING + "events: 3\n", ["EW-SIM-004"]),
        (FAT_TREE + RING + "events: [{at: 5, link_down: [leaf0, spine0]}]\n", ["EW-SIM-004"]),
        (FAT_TREE + RING + "events: [{link_down: [leaf0, spine0]}]\n", ["EW-SIM-009"]),
        (FAT_TREE + RING + "events: [{at: 1ms, link_down: [leaf0]}]\n", ["EW-SIM-004"]),
        (FAT_TREE + RING + "events: [{at: 1ms}]\n", ["EW-SIM-015"]),
        (FAT_TREE.replace("k: 4", "k: 5") + RING, ["EW-SIM-004"]),
        (FAT_TREE.replace("k: 4", "k: 400") + RING, ["EW-SIM-017"]),
        (FAT_TREE.replace("k: 4, ", "") + RING, ["EW-SIM-009"]),
        (SERVERS.replace("gpus_per_server: 4", "gpus_per_server: 3") + RING, ["EW-SIM-004"]),
        (FAT_TREE + "traffic: {flows: nowhere.csv}\n", ["EW-SIM-010"]),
        (
            FAT_TREE
            + "traffic: [{name: a, pattern: permutation, size: 1B}, {name: a, pattern: incast, fan_in: 2, size: 1B}]\n",
            ["EW-SIM-014"],
        ),
        # what only the network can tell
        (FAT_TREE + "traffic: {step: pretrain}\n", ["EW-SIM-018"]),
        (FAT_TREE + "traffic: {pattern: incast, size: 1MB, fan_in: 3, receiver: h99}\n", ["EW-SIM-020"]),
        (FAT_TREE + "traffic: {pattern: incast, size: 1MB, senders: [h1, h0], receiver: h0}\n", ["EW-SIM-021"]),
        (FAT_TREE + "traffic: {pattern: stride, size: 1MB, stride: 16}\n", ["EW-SIM-021"]),
        (FAT_TREE + "traffic: {pattern: incast, size: 1MB, fan_in: 16}\n", ["EW-SIM-025"]),
        (FAT_TREE + "traffic: {collective: all_reduce, size: 1MB, ranks: 17}\n", ["EW-SIM-025"]),
        (FAT_TREE + "traffic: {collective: all_reduce, size: 1MB, ranks: 16, group_size: 3}\n", ["EW-SIM-026"]),
        (FAT_TREE + "traffic: {collective: all_reduce, algorithm: hierarchical, size: 1MB}\n", ["EW-SIM-027"]),
        (SERVERS + "traffic: {collective: all_reduce, algorithm: nvls, size: 1MB, group_size: 8}\n", ["EW-SIM-028"]),
        (FAT_TREE + "traffic: {pattern: all_to_all, size: 1B, repeat: 100000}\n", ["EW-SIM-017"]),
        (FAT_TREE + RING + "events: [{at: 1ms, link_down: [leaf0, core0]}]\n", ["EW-SIM-029"]),
        (FAT_TREE + RING + "events: [{at: 1ms, link_down: [leaf0, spine99]}]\n", ["EW-SIM-023"]),
        (LEAF_SPINE + RING + "events: [{at: 1ms, link_down: [leaf0, spine1], count: 2}]\n", ["EW-SIM-025"]),
        (FAT_TREE + RING + "events: [{at: 1ms, nic_slow: h77, rate: 1G}]\n", ["EW-SIM-020"]),
        (FAT_TREE + RING + "events: [{at: 1ms, middlebox_rate: fw1, rate: 1G}]\n", ["EW-SIM-023"]),
        (FAT_TREE + RING + "events: [{at: 1ms, job_stop: other}]\n", ["EW-SIM-023"]),
    ],
)
def test_a_mistake_is_named(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_all_mistakes_come_at_once_with_their_lines() -> None:
    text = FAT_TREE + "traffic:\n  collective: all_reduce\n  size: 1Mb\n  ranks: 0\nseed: x\n"
    found = mistakes(text)
    assert [code for code, _ in found] == ["EW-SIM-004"] * 3
    assert [sentence.split(" ")[0] for _, sentence in found] == ["s.yaml:5:", "s.yaml:6:", "s.yaml:7:"]


@pytest.mark.parametrize(
    ("rows", "expected", "words"),
    [
        ("h0,h99,5", "EW-SIM-020", 'f.csv:1: there is no host "h99": the network has 16 hosts, h0 … h15'),
        ("h0,h1,5\nh3,h3,5", "EW-SIM-021", 'f.csv:2: "h3" sends to itself'),
        ("h0,h1,0", "EW-SIM-013", "f.csv:1: a flow of 0 bytes: expected more than zero"),
        ("h0,h1,-7", "EW-SIM-013", "f.csv:1: a flow of -7 bytes: expected more than zero"),
        ("h0,h1,ten", "EW-SIM-012", "f.csv:1"),
        ("h0,h1,5,-1", "EW-SIM-012", "f.csv:1"),
        ("h0,h1", "EW-SIM-011", "f.csv:1"),
        ("h0,h1,5,0,9", "EW-SIM-012", "rows from 0 to 0"),
        ("h0,h1,5,0,1\nh1,h2,5,0,0\nh3,h4,5", "EW-SIM-024", "rows 0, 1 wait for each other in a circle"),
        ("", "EW-SIM-010", "no flows in it"),
        ('h0,"h1,5', "EW-SIM-011", "f.csv:1"),
        ("src,dst,bytes,start\n", "EW-SIM-010", "no flows in it"),
    ],
)
def test_a_bad_row_is_named_with_its_line(tmp_path: Path, rows: str, expected: str, words: str) -> None:
    (tmp_path / "f.csv").write_text(rows)
    ((code, sentence),) = mistakes(FAT_TREE + "traffic: {flows: f.csv}\n", tmp_path)
    assert code == expected
    assert words in sentence


def test_a_list_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eastwest.simulate.flow_list.MAX_FLOWS", 3)
    (tmp_path / "f.csv").write_text("h0,h1,5\n" * 4)
    assert codes(FAT_TREE + "traffic: {flows: f.csv}\n", tmp_path) == ["EW-SIM-016"]
    monkeypatch.setattr("eastwest.simulate.flow_list.MAX_FILE_BYTES", 5)
    assert codes(FAT_TREE + "traffic: {flows: f.csv}\n", tmp_path) == ["EW-SIM-016"]


def test_a_list_with_an_error_in_every_row_ends_soon(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("h0,h1,0\n" * 5000)
    assert 1 <= len(codes(FAT_TREE + "traffic: {flows: f.csv}\n", tmp_path)) <= 100


def test_rails_that_no_switch_joins_leave_destinations_out_of_reach() -> None:
    """Without spines a rail-optimized fabric of two groups has no way from one group to the other."""
    text = RAILS.replace("spines: 4", "spines: 1").replace("overhead: 0", "overhead: 0\nevents: []")
    parse_scenario(text + RING, "s.yaml")
    single = "fabric: {family: leaf-spine, leaves: 2, spines: 0, hosts_per_leaf: 2}\n"
    assert codes(single + RING) == ["EW-SIM-004"]


@settings(max_examples=150)
@given(st.text(alphabet="abc: {}[],-\n\t#'\"h0125GMs_", max_size=80))
def test_any_text_ends_in_a_scenario_or_in_sentences(tail: str) -> None:
    """The reader's fuzz: what is no scenario is refused with codes, never a traceback."""
    assert all(said(lambda: prepare(parse_scenario(FAT_TREE + tail, "s.yaml"))))


KEYS = ("fabric", "traffic", "events", "hash", "record", "seed", "payload", "overhead", "site", "transport", "name")
WORDS = st.sampled_from(["all_reduce", "ring", "h0", "1MB", "1ms", "5us", "leaf0", "100G", "permutation", "x", ""])
LEAVES = st.one_of(WORDS, st.integers(-3, 10**7), st.booleans(), st.none(), st.floats(-1, 1e13))
INNER = st.sampled_from(
    [
        "collective",
        "pattern",
        "size",
        "ranks",
        "at",
        "link_down",
        "family",
        "k",
        "rate",
        "qps",
        "every",
        "count",
        "name",
    ]
)
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(INNER, inner, max_size=4), max_leaves=8
)


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(KEYS), TREES, max_size=5))
def test_any_values_end_in_a_scenario_or_in_sentences(data: dict[str, object]) -> None:
    assert all(said(lambda: parse_scenario(json.dumps(data), "s.yaml")))


def test_a_site_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert codes("site: nowhere.yaml\n" + RING, tmp_path) == ["EW-SITE-001"]


def test_an_endless_spray_is_refused_before_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eastwest.simulate.prepared.MAX_PATH_LINKS", 10)
    with pytest.raises(UsageError, match="do not fit memory"):
        prepare(parse_scenario(FAT_TREE + RING, "s.yaml"))


TRAFFIC = st.fixed_dictionaries(
    {"size": st.sampled_from(["1MB", "1B", "7GB"])},
    optional={
        "collective": st.sampled_from(["all_reduce", "all_to_all", "all_gather", "broadcast", "send_recv"]),
        "pattern": st.sampled_from(["incast", "permutation", "stride", "all_to_all"]),
        "algorithm": st.sampled_from(["ring", "tree", "hierarchical", "nvls", "pat", "direct", "halving_doubling"]),
        "ranks": st.integers(0, 20),
        "group_size": st.integers(1, 20),
        "stride": st.integers(-1, 20),
        "fan_in": st.integers(0, 20),
        "senders": st.lists(st.sampled_from(["h0", "h1", "h15", "h16", "s1"]), max_size=3),
        "receiver": st.sampled_from(["h0", "s0", "h99"]),
        "channels": st.integers(1, 5),
        "chunks": st.integers(1, 3),
        "qps": st.integers(0, 3),
        "repeat": st.integers(1, 3),
        "start": st.sampled_from(["0s", "5us", "1d"]),
    },
)
EVENT = st.fixed_dictionaries(
    {"at": st.sampled_from(["0s", "1us", "1ms"])},
    optional={
        "link_down": st.lists(st.sampled_from(["leaf0", "spine0", "spine1", "h0", "core0"]), min_size=2, max_size=2),
        "link_up": st.just(["leaf0", "spine0"]),
        "nic_slow": st.sampled_from(["h0", "s1", "h77"]),
        "rate": st.sampled_from(["1G", "500G"]),
        "job_stop": st.sampled_from(["traffic0", "x"]),
        "count": st.integers(1, 2),
    },
)


@settings(max_examples=200)
@given(
    st.sampled_from([FAT_TREE, LEAF_SPINE, SERVERS, RAILS]),
    st.lists(TRAFFIC, min_size=1, max_size=2),
    st.lists(EVENT, max_size=2),
    st.sampled_from(["ecmp", "spray", "adaptive", "flowlet", "pinned"]),
)
def test_any_traffic_and_events_run_to_an_end_or_end_in_sentences(
    fabric: str, traffic: list[object], events: list[object], how: str
) -> None:
    text = fabric + f"load_balancing: {how}\ntraffic: {json.dumps(traffic)}\nevents: {json.dumps(events)}\n"

    def run() -> None:
        outcome = run_scenario(parse_scenario(text, "s.yaml"))
        assert outcome.status in ("complete", "stalled")
        assert all(finding.sentence("zh") for finding in outcome.findings)
        json.dumps(outcome.as_json(), allow_nan=False)

    assert all(said(run))
