"""The documentation holds: links resolve, commands exist, generated parts are up to date, both READMEs say the same."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eastwest.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PEOPLES = [page for page in PAGES if "reference" not in page.parts and "decisions" not in page.parts]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^\$ |`|<!-- run[^:]*: )(eastwest .*?)(?=`|\||>| -->|$)", re.MULTILINE)
# Conventions, rule 1: the field's words, spelled once.
FIELD_WORDS = re.split(
    ", ",
    "rail, plane, leaf, spine, tier, port, lane, link, NIC, QP, queue, traffic class, priority group, ingress, egress, "
    "Xoff, Xon, headroom, Kmin, Kmax, Pmax, CNP, DSCP, ECMP, flowlet, spray, incast, oversubscription, bisection, "
    "busbw, algbw, FCT, RTT, BDP, TP, PP, DP, EP, CP, pre-FEC BER",
)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """What a link may jump to: headings as GitHub spells them, and explicit anchors."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)">', text))


def broken_links(page: Path) -> Iterator[str]:
    for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        found = (page.parent / path).resolve() if path else page
        if not found.exists():
            yield f"{target}: no such file"
        elif anchor and anchor not in anchors(found):
            yield f"{target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page: Path) -> None:
    assert list(broken_links(page)) == []


def verbs() -> dict[str, set[str]]:
    """Verb -> its options, from the functions behind the command line."""
    found: dict[str, set[str]] = {}
    for command in app.registered_commands:
        assert command.callback is not None
        options = {"--help", "-h"}
        for parameter in inspect.signature(command.callback, eval_str=True).parameters.values():
            info = parameter.annotation.__metadata__[0]
            declared = [info.default, *(info.param_decls or ())] if hasattr(info, "param_decls") else []
            options |= {word for word in declared if isinstance(word, str)}
        found[command.callback.__name__] = options
    return found


def commands(text: str) -> list[list[str]]:
    """Every `eastwest …` command line of a page, in words: of prompts, markers and code."""
    return [shlex.split(found) for found in COMMAND.findall(text)]


def test_commands_are_found_in_prompts_markers_and_code() -> None:
    text = "<!-- run (exit 1): eastwest plan a.yaml -->\n$ eastwest why | head\nsay `eastwest size --gpus 8` then\n"
    assert [words[1] for words in commands(text)] == ["plan", "why", "size"]


@pytest.mark.parametrize("page", PEOPLES, ids=name_of)
def test_commands_exist(page: Path) -> None:
    known = verbs()
    for _, verb, *words in commands(page.read_text(encoding="utf-8")):
        assert verb in known or verb.startswith("-"), verb
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert options <= known.get(verb, options), f"{verb} {options}"


@pytest.mark.slow
def test_generated_parts_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "docs.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def shape(page: Path) -> list[str]:
    """What two language versions share: depth of headings, commands that are run, code blocks, in order."""
    text = page.read_text(encoding="utf-8")
    kinds = re.findall(r"^(##? |<!-- run[^>]*-->|\|---)", text, re.MULTILINE)
    return [re.sub(r" --lang zh", "", kind) for kind in kinds]


def test_both_readmes_have_the_same_sections() -> None:
    assert shape(ROOT / "README.zh-CN.md") == shape(ROOT / "README.md")


def test_both_readmes_link_to_the_same_pages() -> None:
    pages = [set(LINK.findall((ROOT / name).read_text(encoding="utf-8"))) for name in ("README.md", "README.zh-CN.md")]
    languages = {"README.md", "README.zh-CN.md", "docs/reference/codes.md", "docs/reference/codes.zh-CN.md"}
    assert pages[0] - languages == pages[1] - languages


@pytest.mark.parametrize("word", FIELD_WORDS)
def test_the_glossary_has_the_word_in_both_languages(word: str) -> None:
    rows = (ROOT / "docs" / "explanation" / "glossary.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")]
    found = [cell for cell in cells if word in [term.strip() for term in cell[0].split(",")]]
    assert len(found) == 1
    assert all(found[0])


def test_every_decision_page_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(LINK.findall((folder / "README.md").read_text(encoding="utf-8")))
    assert {page.name for page in folder.glob("0*.md")} == listed
