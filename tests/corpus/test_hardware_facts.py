"""Our hardware catalogue against the reference facts (`hardware.yaml`), row by row; differences are listed."""

import re
from functools import cache
from pathlib import Path

import pytest

from eastwest.spec import catalogue

FACTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "validation" / "hardware.yaml"

ROWS_WE_LEAVE_OUT = {
    "sw-sn6xxx": "a family of switches, no model with ports",
    "sw-price-ib-64x400": "prices age and are not part of a data sheet",
    "link-nvlink6": "no GPU of that generation in the catalogue",
    "rule-apc-upc": "held by the schema test on connectors",
    "rule-single-port-osfp": "held by the schema test on cages",
    "rule-bf3": "held below on the cage of the NIC",
    "rule-xdr": "held by the schema test on multimode modules",
}
DIFFERENCES = {  # (row, fact): why our value is another one
    ("gpu-v100-sxm2-32gb", "bf16_dense_tflops"): "that GPU has no bf16: ours is fp16",
    ("gpu-ascend-910b", "bf16_dense_tflops"): "sources conflict: ours is fp16, the lower end, with the dispute noted",
    ("gpu-ascend-910c", "bf16_dense_tflops"): "sources conflict: ours is fp16, the lower end, with the dispute noted",
    ("sw-spectrum4", "buffer_mb"): "sources disagree, 128 or 160 MB: ours is the smaller, with the dispute noted",
    ("sw-qm8790", "tbps"): "printed as both directions: ours is one way",
    ("sw-qm9700", "tbps"): "printed as both directions: ours is one way",
}
OURS = {  # row: model of ours, where the name does not follow from the row's
    "gpu-gb200": "gb200",
    "gpu-mi300x": "mi300x",
    "nic-bluefield-3-b3140h-etc": "bluefield-3",
    "nic-broadcom-thor2-bcm57608": "thor2",
    "nic-amd-pollara-400": "pollara-400",
    "nic-intel-e810": "e810",
    "nic-efa-v1-p4d-p4de": "efa-p4d",
    "nic-efa-v2-p5": "efa-p5",
    "nic-efa-v3-p5en": "efa-p5en",
    "nic-efa-v4-p6-b200": "efa-p6-b200",
    "nic-efa-v4-p6-b300": "efa-p6-b300",
    "optic-400g-dr4plus": "400g-dr4-plus",
    "cable-dac-hdr": "dac-200g",
    "cable-aoc-hdr": "aoc-200g",
}
NVLINK = {"nvlink2": "v100", "nvlink3": "a100", "nvlink4": "h100", "nvlink5": "b200"}
KIND = {"gpu": "gpu", "pcie": "pcie", "nic": "nic", "switch_asic": "asic", "switch_switch": "switch"}
KIND |= {"optic": "optic", "cable": "cable"}
ROUNDED_RATIO = 0.02  # reference figures are printed with two or three digits (16 for 15.75 GB/s, 113 for 113.66 MB)


@cache
def rows():
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(FACTS.read_text(encoding="utf-8"))["rows"] if FACTS.exists() else ()


pytestmark = pytest.mark.skipif(not FACTS.exists(), reason="the reference facts are not beside the project")


def facts_of(*classes):
    return [pytest.param(row, id=row["id"]) for row in rows() if row["class"] in classes]


def ours(row):
    kind, name = KIND[row["class"]], OURS.get(row["id"]) or row["id"].split("-", 1)[1]
    return catalogue.get(kind, row["id"] if kind == "pcie" else name)


def close(row, fact, value, unit):
    """Whether our value (base unit) is the row's fact times `unit`; so too when the row lacks it or we differ."""
    if (row["id"], fact) in DIFFERENCES or fact not in row["facts"]:
        return True
    found = _number(row["facts"][fact])
    return value is not None and value == pytest.approx(found * unit, rel=ROUNDED_RATIO)


def _number(text):
    return float(re.search(r"[\d.]+", str(text))[0])


def test_every_row_is_compared_or_left_out_for_a_reason():
    for row in rows():
        if row["id"] in ROWS_WE_LEAVE_OUT:
            continue
        if row["class"] == "scale_up":
            assert row["id"].removeprefix("link-") in NVLINK
        else:
            assert ours(row).id
    known = {row["id"] for row in rows()}
    assert set(ROWS_WE_LEAVE_OUT) | {row for row, _ in DIFFERENCES} | set(OURS) <= known


@pytest.mark.parametrize("row", facts_of("gpu"))
def test_gpu(row):
    gpu, tera, giga = ours(row), 1e12, 1e9
    assert close(row, "bf16_dense_tflops", gpu.peak_flops.get("bf16"), tera)
    assert close(row, "fp8_dense_tflops", gpu.peak_flops.get("fp8"), tera)
    assert close(row, "measured_max_matmul_tflops", gpu.measured_matmul_flops.get("bf16"), tera)
    assert close(row, "hbm_gb", gpu.memory_bytes, giga)
    assert close(row, "hbm_tbps", gpu.memory_bytes_per_s, tera)
    assert close(row, "scaleup_oneway_GBps", gpu.scale_up_bytes_per_s, giga)
    assert close(row, "tdp_w", gpu.power_w, 1)
    match = re.match(r"(\d) x(\d+)$", str(row["facts"].get("pcie", "")))
    assert match is None or (gpu.pcie_generation, gpu.pcie_lanes) == (int(match[1]), int(match[2]))


def test_disputed_figures_keep_the_other_figure():
    for model, field in (("910b", "peak_flops.fp16"), ("910c", "peak_flops.fp16")):
        assert catalogue.get("gpu", model).sources[field].disputed
    assert catalogue.get("gpu", "910b").peak_flops["fp16"] == 256e12
    assert catalogue.get("gpu", "v100").peak_flops["fp16"] == 125e12
    assert catalogue.get("asic", "spectrum4").sources["buffer_total_bytes"].disputed == "160MB in other sources"


@pytest.mark.parametrize("row", facts_of("scale_up"))
def test_scale_up_link(row):
    generation = row["id"].removeprefix("link-")
    if row["id"] not in ROWS_WE_LEAVE_OUT:
        gpu = catalogue.get("gpu", NVLINK[generation])
        assert close(row, "oneway_GBps_per_gpu", gpu.scale_up_bytes_per_s, 1e9)


@pytest.mark.parametrize("row", facts_of("pcie"))
def test_pcie(row):
    slot = ours(row)
    assert close(row, "spec_oneway_GBps", slot.x16_bytes_per_s, 1e9)
    assert close(row, "typical_usable_GBps", slot.x16_usable_bytes_per_s, 1e9)
    assert close(row, "max_nic_gbps", slot.x16_nic_rate_bps, 1e9)


@pytest.mark.parametrize("row", facts_of("nic"))
def test_nic(row):
    nic, facts = ours(row), row["facts"]
    assert close(row, "max_gbps", nic.port_rate_bps, 1e9)
    assert close(row, "gbps_each", nic.port_rate_bps, 1e9)
    assert close(row, "nics_per_node", nic.per_server, 1)
    if "node_gbps" in facts:
        assert nic.per_server * nic.port_rate_bps == facts["node_gbps"] * 10**9
        assert nic.transports == ("srd",)
    if match := re.match(r"(\d)", str(facts.get("pcie", ""))):
        assert nic.pcie_generation == int(match[1])
    if "cage" in facts and nic.cage:
        assert nic.cage.removesuffix("-flat") in facts["cage"].lower()


@pytest.mark.parametrize("row", facts_of("switch_asic"))
def test_switching_chip(row):
    asic = ours(row)
    assert close(row, "tbps", asic.rate_bps, 1e12)
    assert close(row, "buffer_mb", asic.buffer_total_bytes, 1e6)
    assert "asic_power_w" not in row["facts"] or 450 <= asic.power_w <= 500
    ports = _splits(row["facts"].get("ports", ""))
    assert ports <= set(asic.port_layouts)


@pytest.mark.parametrize("row", [r for r in facts_of("switch_switch") if r.id not in ROWS_WE_LEAVE_OUT])
def test_switch(row):
    switch, facts = ours(row), row["facts"]
    assert close(row, "tbps", switch.ports * switch.port_rate_bps, 1e12)
    assert close(row, "radix", switch.ports, 1)
    assert close(row, "power_typ_w", switch.power_w, 1)
    assert close(row, "latency_ns", switch.latency_s, 1e-9)
    if "radix_400g" in facts:
        assert switch.ports * {rate: parts for parts, rate in switch.breakouts}[400 * 10**9] == facts["radix_400g"]
    assert (switch.ports, switch.port_rate_bps) in _splits(facts["ports"])
    if match := re.search(r"on (\d+) OSFP", facts["ports"]):
        assert switch.cages == int(match[1])
    if "asic" in facts:
        assert facts["asic"].lower() in catalogue.get("asic", switch.asic).name.lower()


def test_printed_two_way_rates_are_twice_ours():
    """51.2T printed for the QM9700 is 25.6T one way; 16T for the QM8790 is 8T."""
    for model, printed_bps in (("qm9700", 51.2e12), ("qm8790", 16e12)):
        switch = catalogue.get("switch", model)
        assert 2 * switch.ports * switch.port_rate_bps == printed_bps


def _splits(text):
    return {
        (int(n), round(float(r) * (10**12 if u == "T" else 10**9)))
        for n, r, u in re.findall(r"(\d+)x([\d.]+)([GT])", text)
    }


@pytest.mark.parametrize("row", facts_of("optic"))
def test_optic(row):
    optic, facts = ours(row), row["facts"]
    assert close(row, "reach_m", optic.reach_m, 1)
    for key in ("power_w", "power_max_w"):
        assert close(row, key, optic.power_w, 1)
    assert close(row, "power_typ_w", optic.power_typical_w, 1)
    assert close(row, "los_assert_dbm", optic.los_assert_dbm and -optic.los_assert_dbm, 1)
    assert close(row, "damage_dbm", optic.rx_damage_dbm, 1)
    for key, window in (("tx_dbm", optic.tx_dbm), ("rx_dbm", optic.rx_dbm)):
        assert key not in facts or list(window) == facts[key]
    if "connector" in facts:
        assert optic.connector in facts["connector"]
    if "form" in facts:
        assert optic.cage.removesuffix("-flat") in facts["form"].lower()
        assert optic.twin_port == ("twin-port" in facts["form"])
        assert ("flat" in optic.cage) == ("flat" in facts["form"])
    if match := re.match(r"4\d\dGAUI-(\d)", facts.get("host", "")):
        assert optic.host_lanes == int(match[1])


@pytest.mark.parametrize("row", facts_of("cable"))
def test_cable(row):
    cable, facts = ours(row), row["facts"]
    assert close(row, "reach_m", cable.reach_m, 1)
    assert facts.get("power_w") == "near 0" or close(row, "power_w", cable.power_w, 1)
    assert str(cable.rate_bps // 10**9) + "G" in facts["type"] or "G" not in re.findall(r"\d+(G)", facts["type"])
    assert (cable.ends == 2) == ("splitter" in facts["type"])
    if "aoc" in facts["type"].lower() or "active copper" in facts["type"]:
        assert cable.medium == ("aoc" if "aoc" in facts["type"].lower() else "acc")
    else:
        assert cable.medium == "dac"


def test_bluefield_3_takes_qsfp112_only():
    assert catalogue.get("nic", "bf3").cage == "qsfp112"
