"""The hardware catalogue: schema and sources of every file, names and aliases, numbers against arithmetic."""

import re
from importlib.resources import files

import pytest
from pydantic import ValidationError

from eastwest.cli import hardware_sheet as hardware
from eastwest.errors import InternalError, UsageError
from eastwest.spec import catalogue
from eastwest.spec.jobs import ModelWish

EVERY = [(kind, model) for kind in catalogue.KINDS for model in catalogue.names(kind)]
SWITCHES = [catalogue.get("switch", model) for model in catalogue.names("switch")]
PLAIN = {"id", "name", "aliases", "vendor", "notes", "sources"}
EXPECTED_KINDS = {"asic", "cable", "gpu", "model", "nic", "optic", "pcie", "server", "switch"}

# Ports x rate is not the chip's rate here, and why.
SWITCH_IS_NOT_ITS_ASIC = {"sn5400": "uses half of the chip's rate"}


def named(kind):
    return [catalogue.get(kind, model) for model in catalogue.names(kind)]


def test_every_kind_has_models():
    assert set(catalogue.KINDS) == EXPECTED_KINDS
    assert all(catalogue.names(kind) for kind in catalogue.KINDS)


@pytest.mark.parametrize(("kind", "model"), EVERY)
def test_every_file_passes_the_schema_and_every_value_has_its_source(kind, model):
    entry = catalogue.get(kind, model)
    assert entry.id == model == catalogue.canonical(model)
    set_fields = {field for field in entry.model_fields_set if field not in PLAIN}
    sourced = {key.partition(".")[0] for key in entry.sources}
    assert set_fields == sourced
    assert all(source.source.strip() for source in entry.sources.values())
    for field in ("peak_flops", "measured_matmul_flops"):
        assert set(getattr(entry, field, {})) == {k.split(".")[1] for k in entry.sources if k.startswith(f"{field}.")}


def test_names_and_aliases_are_unique_over_all_kinds():
    words = [word for kind, model in EVERY for word in (model, *catalogue.get(kind, model).aliases)]
    assert len(words) == len(set(words)), sorted(word for word in words if words.count(word) > 1)
    assert all(word == catalogue.canonical(word) for word in words)


@pytest.mark.parametrize(("kind", "model"), EVERY)
def test_every_alias_resolves_to_its_file(kind, model):
    entry = catalogue.get(kind, model)
    for alias in entry.aliases:
        assert catalogue.get(kind, alias) is entry
        assert catalogue.find(alias.upper()) == (kind, entry)


@pytest.mark.parametrize("spelling", ["H100-SXM5-80GB", "h100", "H100 SXM5 80GB", "h100_sxm5", " h100 "])
def test_spelling_of_case_blanks_and_underscores_does_not_matter(spelling):
    assert catalogue.get("gpu", spelling).id == "h100-sxm5-80gb"


@pytest.mark.parametrize(
    ("kind", "wrong", "near"),
    [
        ("switch", "qm97000", "qm9700"),
        ("gpu", "h1000", "h100"),
        ("server", "dgx-h10", "dgx-h100"),
        ("nic", "cx-77", "cx-7"),
    ],
)
def test_an_unknown_model_gives_the_nearest(kind, wrong, near):
    with pytest.raises(UsageError, match=re.escape(repr(wrong))) as caught:
        catalogue.get(kind, wrong)
    assert caught.value.hint == f"did you mean {near}?"


def test_a_model_like_nothing_lists_what_is_known():
    with pytest.raises(UsageError) as caught:
        catalogue.get("pcie", "zzzz")
    assert caught.value.hint == "known: gen3, gen4, gen5, gen6, gen7"


def test_an_unknown_kind_is_refused():
    with pytest.raises(UsageError, match="toaster"):
        catalogue.names("toaster")


def test_a_name_reads_no_other_file(monkeypatch):
    """A file's name opens that file only, so that planning a small site does not read the catalogue."""
    read = []
    monkeypatch.setattr(catalogue, "_read", lambda kind, model: read.append(model) or _text(kind, model))
    catalogue._load.cache_clear()
    catalogue.get("switch", "qm9700")
    assert read == ["qm9700"]


def _text(kind, model):
    return (files("eastwest.spec") / "hardware" / kind / f"{model}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name: X\nlane_rate: {value: 8G, provenance: read}\n", "source"),
        ("name: X\nlane_rate: {value: 8G, source: '', provenance: read}\n", "source"),
        ("name: X\nlane_rate: {value: 8G, source: s, provenance: guessed}\n", "provenance"),
        ("name: X\nlane_rate: 8G\n", "gen9.yaml"),
        ("name: X\nlane_rate: {value: 8GB, source: s, provenance: read}\n", "B is bytes"),
        ("name: X\nx16: {value: 16GB, source: s, provenance: read}\n", "bandwidth"),
        ("name: X\nlane_speed: {value: 8G, source: s, provenance: read}\n", "lane_speed"),
        ("name: [X\n", "gen9.yaml"),
        ("", "gen9.yaml"),
    ],
)
def test_a_broken_catalogue_file_is_a_bug_of_ours_and_is_named(text, why):
    with pytest.raises(InternalError, match=re.escape(why)):
        catalogue.parse("pcie", "gen9", text)


def test_an_entry_is_frozen_and_hashable():
    gpu = catalogue.get("gpu", "h100")
    with pytest.raises(ValidationError):
        gpu.power_w = 1.0
    assert len({gpu, catalogue.get("gpu", "h100-80gb")}) == 1


def test_recalled_values_say_that_they_are_unchecked():
    sources = catalogue.get("gpu", "h100").sources
    assert sources["memory_bytes"].checked
    assert not sources["power_w"].checked


# ---- numbers ------------------------------------------------------------------------------------------------------


def test_h100_is_the_printed_one():
    gpu = catalogue.get("gpu", "h100")
    assert gpu.memory_bytes == 80 * 10**9  # decimal, as printed
    assert gpu.peak_flops["bf16"] == 989e12
    assert gpu.scale_up_bytes_per_s == 900e9 / 2


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda s: s.id)
def test_ports_stand_on_cages_and_lanes_add_up(switch):
    assert switch.ports == switch.cages * switch.ports_per_cage
    assert switch.lanes_per_port * switch.lane_rate_bps == switch.port_rate_bps
    for parts, rate_bps in switch.breakouts:
        assert parts * rate_bps == switch.port_rate_bps
        assert rate_bps % switch.lane_rate_bps == 0, "a part of a port has whole lanes"


@pytest.mark.parametrize("switch", [s for s in SWITCHES if s.asic], ids=lambda s: s.id)
def test_ports_times_rate_is_the_rate_of_the_chips(switch):
    asic = catalogue.get("asic", switch.asic)
    total = switch.ports * switch.port_rate_bps
    if switch.id in SWITCH_IS_NOT_ITS_ASIC:
        assert total < switch.asics * asic.rate_bps
    else:
        assert total == switch.asics * asic.rate_bps
    if switch.buffer_total_bytes:
        assert switch.buffer_total_bytes == asic.buffer_total_bytes


@pytest.mark.parametrize("asic", named("asic"), ids=lambda a: a.id)
def test_serdes_and_port_layouts_carry_the_rate_of_the_chip(asic):
    for count, rate_bps in (*asic.serdes, *asic.port_layouts):
        assert count * rate_bps == asic.rate_bps


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda s: s.id)
def test_flow_control_agrees_with_transport_and_class(switch):
    assert switch.pfc == (switch.flow_control == "pfc")
    assert ("infiniband" in switch.transports) == (switch.flow_control == "credit")
    assert (switch.switch_class == "data_centre") == (switch.flow_control != "none")
    assert not switch.watchdog or switch.pfc
    assert switch.cage != "osfp-flat", "flat-top modules do not go into switch cages"


def test_nvidia_cells_are_those_of_sonic():
    cells = {f"spectrum{n}": catalogue.get("asic", f"spectrum-{n}").cell_bytes for n in (1, 2, 3, 4)}
    assert cells == {"spectrum1": 96, "spectrum2": 144, "spectrum3": 144, "spectrum4": 192}


@pytest.mark.parametrize("nic", [n for n in named("nic") if n.lanes], ids=lambda n: n.id)
def test_lanes_of_a_nic_make_its_port(nic):
    assert nic.lanes * nic.lane_rate_bps == nic.port_rate_bps


@pytest.mark.parametrize("pcie", named("pcie"), ids=lambda p: p.id)
def test_a_slot_is_its_lanes_less_line_code(pcie):
    """16 lanes x GT/s x encoding / 8; printed figures are rounded to three digits, hence 0.5 %."""
    assert pcie.x16_bytes_per_s == pytest.approx(16 * pcie.lane_rate_bps * pcie.encoding_ratio / 8, rel=0.005)
    if pcie.x16_usable_bytes_per_s:
        assert 0.80 < pcie.x16_usable_bytes_per_s / pcie.x16_bytes_per_s < 0.88
        assert pcie.x16_nic_rate_bps / 8 <= pcie.x16_usable_bytes_per_s


@pytest.mark.parametrize("server", named("server"), ids=lambda s: s.id)
def test_a_server_names_known_parts_and_feeds_its_nics(server):
    gpu, nic = catalogue.get("gpu", server.gpu), catalogue.get("nic", server.nic)
    assert server.nic_rate_bps == nic.port_rate_bps
    assert server.scale_up_domain % server.gpus == 0
    assert server.nics % server.nic_ports_per_cage == 0
    slot = catalogue.get("pcie", f"gen{server.pcie_generation}")
    assert slot.x16_usable_bytes_per_s * server.pcie_lanes / 16 >= server.nic_rate_bps / 8
    assert server.power_w > server.gpus * gpu.power_w


def test_a_gen4_slot_does_not_feed_a_400g_nic():
    slot = catalogue.get("pcie", "pcie-4")
    assert slot.x16_bytes_per_s < catalogue.get("nic", "cx7").port_rate_bps / 8


@pytest.mark.parametrize("optic", named("optic"), ids=lambda o: o.id)
def test_lanes_of_an_optic_make_its_rate_and_its_windows_are_ordered(optic):
    for lanes, lane_rate_bps in ((optic.lanes, optic.lane_rate_bps), (optic.host_lanes, optic.host_lane_rate_bps)):
        assert lanes * lane_rate_bps == optic.rate_bps
    assert (optic.connectors == 2) == optic.twin_port
    for window in (optic.tx_dbm, optic.rx_dbm):
        assert window is None or window[0] < window[1]
    if optic.rx_damage_dbm is not None and optic.rx_dbm:
        assert optic.rx_damage_dbm > optic.rx_dbm[1]
    is_multimode = bool(optic.fibre and "MMF" in optic.fibre)
    assert is_multimode == (optic.medium == "sr")
    assert not (is_multimode and optic.host_lane_rate_bps == 200e9), "no multimode module with 200G lanes is listed"


@pytest.mark.parametrize(
    "optic", [o for o in named("optic") if o.connector and "MPO-12" in o.connector], ids=lambda o: o.id
)
def test_pam4_100g_lanes_use_angled_ferrules(optic):
    assert optic.connector == ("MPO-12/APC" if optic.lane_rate_bps >= 100e9 else "MPO-12/UPC")


@pytest.mark.parametrize("cable", [c for c in named("cable") if c.rate_bps], ids=lambda c: c.id)
def test_the_ends_of_a_cable_carry_its_rate(cable):
    assert cable.ends * cable.end_rate_bps == cable.rate_bps
    if cable.lanes:
        assert cable.lanes * cable.lane_rate_bps == cable.rate_bps


def test_every_connector_of_an_optic_has_a_cord():
    cords = {(c.connector, c.fibre) for c in named("cable") if c.medium == "fibre"}
    for optic in named("optic"):
        assert (optic.connector, (optic.fibre or "").removesuffix(", DWDM")) in cords, optic.id


@pytest.mark.parametrize("preset", named("model"), ids=lambda p: p.id)
def test_the_dimensions_of_a_preset_make_its_parameters(preset):
    """Matrices only, norms and biases left out: within 1 % of the published count."""
    assert _matrix_parameters(preset) == pytest.approx(preset.params, rel=0.01)


def _matrix_parameters(preset):
    matrices, h = (3 if preset.gated else 2), preset.hidden
    embeddings = preset.vocab * h * (1 if preset.tied_embeddings else 2)
    moe = preset.moe
    dense_layers = moe.dense_layers if moe else preset.layers
    experts = (moe.experts * moe.ffn + moe.shared_experts * moe.ffn) if moe else 0
    ffn = matrices * h * (dense_layers * preset.ffn + (preset.layers - dense_layers) * experts)
    return embeddings + ffn + preset.layers * _attention_parameters(preset)


def _attention_parameters(preset):
    h, width = preset.hidden, preset.heads * preset.head_dim
    if (
        preset.kv_latent
    ):  # multi-head latent attention: q down/up, kv down/up, output (DeepSeek-V3 report, section 2.1.1)
        q_latent, rope, kv_rank = 1536, 64, 512
        query = h * q_latent + q_latent * preset.heads * (preset.head_dim + rope)
        return query + h * preset.kv_latent + kv_rank * 2 * width + width * h
    return 2 * h * width + 2 * h * preset.kv_heads * preset.head_dim


@pytest.mark.parametrize("preset", named("model"), ids=lambda p: p.id)
def test_a_preset_is_a_valid_model_of_a_site_file(preset):
    wish = ModelWish.model_validate(preset.as_wish())
    assert (wish.layers, wish.hidden, wish.params) == (preset.layers, preset.hidden, preset.params)
    if preset.id != "deepseek-v3":  # its heads are wider than hidden / heads
        assert preset.heads * preset.head_dim == preset.hidden


# ---- the verb -----------------------------------------------------------------------------------------------------


def test_the_list_names_every_model():
    answer = hardware.document()
    assert (answer["schema"], answer["verdict"], answer["findings"]) == ("eastwest.hardware/1", "pass", [])
    assert [(model["kind"], model["id"]) for model in answer["models"]] == EVERY
    shown = hardware.text(answer)
    assert all(model in shown for _, model in EVERY)


def test_one_model_shows_every_value_with_unit_and_source():
    (model,) = hardware.document("SN5600")["models"]
    values = model["values"]
    assert values["port_rate_bps"]["value"] == 800_000_000_000
    assert values["port_rate_bps"]["unit"] == "bit/s"
    assert values["breakouts"]["value"][0] == {"count": 2, "rate_bps": 400_000_000_000}
    assert values["buffer_total_bytes"]["disputed"]
    shown = hardware.text(hardware.document("SN5600"))
    assert re.search(r"port_rate_bps +800G +\[read\] S\. Bekman", shown)
    assert "recalled, not read in their source" in shown


def test_every_sheet_can_be_shown():
    for kind, model in EVERY:
        lines = hardware.text(hardware.document(model, kind)).splitlines()
        assert len(lines) > len(catalogue.get(kind, model).sources)


def test_json_numbers_are_short_decimals():
    (model,) = hardware.document("qm9700")["models"]
    assert model["values"]["latency_s"]["value"] == 150e-9


@pytest.mark.parametrize(
    ("model", "kind", "hint"),
    [
        ("qm9800", None, "did you mean qm9700?"),
        (None, "gpus", "did you mean gpu?"),
        ("h200", "nic", None),
        ("!", None, None),
    ],
)
def test_the_verb_refuses_what_it_does_not_know(model, kind, hint):
    with pytest.raises(UsageError) as caught:
        hardware.document(model, kind)
    assert hint is None or caught.value.hint == hint
