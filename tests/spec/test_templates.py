"""Templates and examples load, are commented, consistent, and short for the common case; `full` shows every key."""

import re
from pathlib import Path

import pytest

from eastwest.cli.init import template_names, template_summary, template_text, write_template
from eastwest.errors import UsageError
from eastwest.spec import keys
from eastwest.spec.checks_jobs import gpus_of_job
from eastwest.spec.jobs import TrainingWish
from eastwest.spec.load import load_site, parse_site
from eastwest.spec.resolve import resolve_server

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
COMMON_LINES = 20  # "about 15 lines for the common case"; two rooms need a few more
TEMPLATES = (
    "direct",
    "dual-plane",
    "dual-tor",
    "full",
    "inference",
    "multi-plane",
    "nvl72",
    "rail-only",
    "rail-optimized",
    "single-switch",
    "three-tier",
    "two-rooms",
    "two-tier",
)


def lines_without_comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def test_the_templates_of_the_contract_are_there() -> None:
    assert template_names() == TEMPLATES


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_loads_and_says_what_it_is(name: str) -> None:
    site = parse_site(template_text(name), f"{name}.yaml").site
    assert site.jobs
    assert len(template_summary(name)) < 110
    assert template_text(name).isascii()


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name != "full"])
def test_a_template_of_the_common_case_is_short_and_commented(name: str) -> None:
    lines = lines_without_comments(template_text(name))
    assert len(lines) <= COMMON_LINES + 3 * (name == "two-rooms")
    keys_with_values = [line for line in lines if re.search(r":\s+[^#\s{]", line)]
    silent = [line for line in keys_with_values if "#" not in line]
    assert [line for line in silent if not line.lstrip().startswith(("- name", "- {", "- between"))] == []


def test_full_shows_every_key_at_its_place() -> None:
    """Keys are given, or stand in a comment as an alternative, below the same parent."""
    text = template_text("full")
    given = parse_site(text, "full.yaml").line_numbers
    shown = {re.sub(r"\[\d+\]", "", keys.dotted(path)) for path in given}
    commented = set(re.findall(r"^ +# +(?:- )?(\w+):", text, re.MULTILINE))
    missing = []
    for place, _ in keys.walk():
        plain = place.replace("[]", "")
        if plain not in shown and plain.rpartition(".")[2] not in commented and not _is_repeated(plain):
            missing.append(place)
    assert missing == []


def _is_repeated(place: str) -> bool:
    """Whether the same keys are shown for a sibling: other switches as leaf, cables as those of server_leaf."""
    switches = ("fabric.switch.", "fabric.spine.", "fabric.core.", "storage.switch.")
    return place.startswith((*switches, "cabling.leaf_spine.", "cabling.spine_core."))


def test_an_unknown_template_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        template_text("two-teir")
    assert (caught.value.message, caught.value.hint) == ("unknown template 'two-teir'", "did you mean two-tier?")


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    assert write_template(path, "two-tier") == path
    with pytest.raises(UsageError, match="is there already"):
        write_template(path, "inference")
    assert path.read_text(encoding="utf-8") == template_text("two-tier")
    write_template(path, "inference", force=True)
    assert path.read_text(encoding="utf-8") == template_text("inference")
    with pytest.raises(UsageError, match="cannot be written"):
        write_template(tmp_path / "none" / "site.yaml", "inference")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_what_it_shows_and_loads(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# ")
    assert load_site(path).site.name == path.stem


@pytest.mark.parametrize(
    ("name", "servers", "gpus"),
    [
        ("project-x", 8, 64),
        ("project-x-before", 8, 64),
        ("h100-512-rail", 64, 512),
        ("gpu-1024-1to1", 128, 1024),
        ("gpu-1024-2to1", 128, 1024),
        ("inference-64", 8, 64),
        ("deepseek-2048-h800", 256, 2048),
        ("gpu-4096-three-tier", 512, 4096),
        ("gpu-4096-two-tier-800g", 512, 4096),
        ("hpn-2x15k", 3840, 30_720),
        ("superpod-b200-16su", 512, 4096),
        ("two-rooms-10km", 64, 512),
    ],
)
def test_examples_have_the_promised_sizes_and_their_layouts_fill_them(name: str, servers: int, gpus: int) -> None:
    site = load_site(ROOT / "examples" / f"{name}.yaml").site
    facts = [resolve_server(wish) for wish in site.servers]
    assert sum(group.count for group in facts) == servers
    assert sum(group.count * group.gpus for group in facts) == gpus
    for index, job in enumerate(site.jobs):
        assert gpus_of_job(site, index, gpus) == gpus
        if isinstance(job, TrainingWish):
            split = job.parallel
            assert split.tp * split.pp * split.cp * (split.dp or 0) == gpus


def test_project_x_differs_only_where_it_was_rebuilt() -> None:
    after = load_site(ROOT / "examples/project-x.yaml").site
    before = load_site(ROOT / "examples/project-x-before.yaml").site
    assert (before.servers, before.jobs, before.rooms) == (after.servers, after.jobs, after.rooms)
    assert (before.transport, after.transport) == ("tcp", "roce")
    assert [box.kind for box in before.room_links[0].boxes] == ["firewall"]
    assert after.room_links[0].boxes == ()
