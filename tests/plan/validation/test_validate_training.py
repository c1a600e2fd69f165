"""The whole answer: shape of the document, verdicts, text in both languages."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from eastwest.cli.main import app
from eastwest.plan.validate_training import validate_training
from eastwest.plan.validation.reasons import Skip
from eastwest.report.formats.text_training import training_text
from tests.plan.validation.rows import ARCH, changed, nothing_assumed, table, toy, toy_seconds

EXPERTS = {**ARCH, "moe_experts": 16, "moe_topk": 2, "moe_ffn": 512}
ROWS = (
    changed(id="good"),
    changed(id="doubted", suspect="twice its neighbour"),
    changed(id="tuned", task="LoRA"),
    changed(id="unknown", gpu="TPU v4", colour="red"),
    changed(id="mixture", ep=4, arch=EXPERTS, warning="printed twice"),
)


def validated(*rows, model=None, assume=nothing_assumed):
    return validate_training(table(*rows), "t.yaml", model or toy(100e12), assume)


def test_the_document_has_the_shape_of_the_contract():
    document = validated(*ROWS).as_json()
    json.dumps(document, allow_nan=False)
    assert document["schema"] == "eastwest.validate/1"
    assert [row["id"] for row in document["rows"]] == [row["id"] for row in ROWS]
    good = document["rows"][0]
    assert good["measured"] == {"value": 1.5, "unit": "s"}
    assert good["abs_error_ratio"] == pytest.approx(abs(good["predicted"]["value"] / 1.5 - 1))
    assert good["loso_abs_error_ratio"] == good["abs_error_ratio"]
    assert (good["skipped"], good["scored"], good["family"]) == (None, True, "dense-a100")
    assert document["rows"][2]["skipped"].startswith("LoRA")
    keys = {"n", "judged", "median_abs_error_ratio", "p90_abs_error_ratio", "naive_median_abs_error_ratio"}
    keys |= {"loso_median_abs_error_ratio", "loso_p90_abs_error_ratio"}
    assert all(keys <= set(family) for family in document["summary"].values())


def test_suspect_rows_are_predicted_listed_and_not_scored():
    document = validated(*ROWS).as_json()
    doubted = document["rows"][1]
    assert (doubted["suspect"], doubted["scored"]) == ("twice its neighbour", False)
    assert doubted["abs_error_ratio"] is not None
    assert document["summary"]["dense-a100"]["judged"] == 2
    assert document["summary"]["dense-a100"]["scored"] == 1
    assert [f["code"] for f in document["findings"] if f["subject"] == "doubted"] == ["EW-VAL-031"]


def test_a_row_that_cannot_be_is_listed_with_its_reason():
    row = validated(changed(id="odd", global_batch=7)).as_json()["rows"][0]
    assert (row["scored"], row["suspect"]) == (
        False,
        "odd is suspect and not scored: its replicas cannot share out the batch",
    )
    assert row["abs_error_ratio"] is not None


def test_a_missed_target_warns_and_a_met_one_does_not():
    rate = toy(100e12)
    seconds = validated(ROWS[0]).judged.predicted[0]
    met = validated(changed(measured={"iter_time_s": float(f"{seconds:.6g}")}), model=rate)
    assert met.verdict == "pass"
    missed = validated(changed(measured={"iter_time_s": float(f"{2 * seconds:.6g}")}), model=rate)
    assert missed.verdict == "warn"
    assert {finding.args["figure"] for finding in missed.findings} == {"median", "p90"}
    assert missed.findings[0].observed == "50.0 %"


def test_nothing_judged_is_unknown():
    result = validated(*ROWS[2:4])
    assert result.verdict == "unknown"
    assert result.as_json()["summary"]["all"]["median_abs_error_ratio"] is None


def test_a_run_outside_the_model_is_skipped_with_that_reason():
    def seconds(runs, rate):
        return np.where([run.ep > 1 for run in runs], np.nan, toy_seconds(runs, rate))

    result = validated(*ROWS, model=replace(toy(100e12), seconds=seconds))
    assert [case.skip for case in result.judged.skipped if case.row.id == "mixture"] == [Skip.not_computable]
    assert result.as_json()["rows"][4]["skipped"]


def test_too_few_judged_rows_of_a_family_are_said():
    broken = [changed(id=str(number), precision="int3") for number in range(3)]
    result = validated(ROWS[0], *broken)
    codes = {finding.code: finding.observed for finding in result.findings}
    assert codes["EW-VAL-033"] == "25.0 %"
    assert result.families["dense-a100"]["complete"] == 4


def test_what_the_step_model_assumes_stands_beside_what_the_reader_assumed():
    document = validated(changed(dp=8), assume=lambda run: ["assumed: overlap on"]).as_json()
    assert document["rows"][0]["assumed"] == ["dp 4: the printed 8 does not multiply to 16 GPUs", "overlap on"]


def test_keys_that_nothing_reads_are_listed():
    findings = {finding.code: finding.sentence() for finding in validated(*ROWS).findings}
    assert findings["EW-VAL-030"] == "1 key is not read: colour"


@pytest.mark.parametrize(
    ("lang", "total"), [("en", "5 rows, 3 judged, 2 scored"), ("zh", "5 行，判定 3 行，计分 2 行")]
)
def test_the_text_has_totals_first_then_families_and_every_row(lang, total):
    text = training_text(validated(*ROWS).as_json(lang), lang, 100)
    lines = text.splitlines()
    assert total in lines[0]
    assert any(line.startswith("dense-a100") and " 6 %" in line and " 15 %" in line for line in lines[:8])
    assert all(any(row["id"] in line for line in lines) for row in ROWS)
    assert "twice its neighbour" in text
    assert "printed twice" in text


def test_leaving_a_term_out_is_shown_beside_the_whole_model():
    def ablate(runs, rate, term):
        return toy_seconds(runs, rate) * {"needed": 0.1, "idle": 1.0}[term]

    seconds = validated(ROWS[0]).judged.predicted[0]
    row = changed(measured={"iter_time_s": float(f"{seconds:.6g}")})
    model = replace(toy(100e12), ablations=("needed", "idle"), ablate=ablate)
    whole, needed, idle = validated(row, model=model).as_json()["ablations"]
    assert (whole["without"], needed["without"], idle["without"]) == (None, "needed", "idle")
    assert needed["p90_abs_error_ratio"] == pytest.approx(0.9, abs=1e-5)
    assert (whole["worsens"], needed["worsens"], idle["worsens"]) == (None, True, False)
    assert validated(row).as_json()["ablations"] == []
    text = training_text(validated(row, model=model).as_json(), "en", 100)
    assert "no figure gets worse" in text


def test_the_command_line_prints_one_document_and_its_exit_code(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(table(*ROWS))
    answer = CliRunner().invoke(app, ["validate", "training", str(path), "--json"])
    assert answer.exit_code == 0
    document = json.loads(answer.stdout)
    assert document["summary"]["all"]["judged"] == 3
    assert any("FlashAttention" in said or "attention" in said for said in document["rows"][0]["assumed"])
    assert "计分" in CliRunner().invoke(app, ["validate", "training", str(path), "--lang", "zh"]).stdout
    path.write_text(table(ROWS[2]))
    assert CliRunner().invoke(app, ["validate", "training", str(path)]).exit_code == 3
    path.write_text(table(changed(gpus="several")))
    refused = CliRunner().invoke(app, ["validate", "training", str(path)])
    assert refused.exit_code == 2
    assert f"{path}:2" in refused.stderr
