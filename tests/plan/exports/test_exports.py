"""The registry of formats, and that the plan's folder gets their files."""

from pathlib import PurePosixPath

import pytest

from eastwest.plan.document import plan_document, plan_files
from eastwest.plan.exports import EXPORTS, export_files
from eastwest.plan.plan import make_plan
from eastwest.spec.site import Site
from tests.plan.exports.plans import SITES, plan_of


@pytest.mark.parametrize("name", SITES)
def test_file_names_are_relative_and_their_texts_whole_lines(name):
    files = export_files(plan_of(name))
    assert len(files) == sum(len(export(plan_of(name))) for _, export in EXPORTS)  # no two formats share a file
    for path, text in files.items():
        assert not PurePosixPath(path).is_absolute()
        assert ".." not in PurePosixPath(path).parts
        assert text.endswith("\n")
        assert "\r" not in text


def test_the_plans_folder_holds_them():
    plan = plan_of("leaf_spine")
    files = plan_files(plan, plan_document(plan), "")
    for name in ("netbox/cables.csv", "topology.clab.yml", "ibsim/topology.net", "slurm/topology.conf", "labels.csv"):
        assert files[name] == export_files(plan)[name]
    assert files["cables.csv"] != files["netbox/cables.csv"]


def test_a_site_without_jobs_has_no_rank_order():
    site = {key: value for key, value in SITES["leaf_spine"].items() if key != "jobs"}
    assert not any(name.startswith("nccl/") for name in export_files(make_plan(Site.model_validate(site))))


def test_the_same_site_gives_the_same_files():
    site = Site.model_validate(SITES["hostile"])
    assert export_files(make_plan(site)) == export_files(make_plan(site))
