"""Each broken site file gives exactly the promised text; `rewrite_broken.py` beside this file writes the texts anew."""

from pathlib import Path

import pytest

from eastwest.errors import InputError
from eastwest.spec.load import parse_site
from tests.spec.rewrite_broken import BROKEN, CHINESE, mistakes_of

SITES = sorted(BROKEN.glob("*.yaml"))
LEAST_PAIRS = 50


def test_there_are_many_pairs_and_each_is_complete() -> None:
    assert len(SITES) >= LEAST_PAIRS
    expected = {path.with_suffix(".txt") for path in SITES} | {BROKEN / f"{name}.zh.txt" for name in CHINESE}
    assert set(BROKEN.glob("*.txt")) == expected


@pytest.mark.parametrize("path", SITES, ids=lambda path: path.stem)
def test_text_is_exactly_as_promised(path: Path) -> None:
    assert mistakes_of(path) == path.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CHINESE)
def test_text_in_chinese_is_exactly_as_promised(name: str) -> None:
    assert mistakes_of(BROKEN / f"{name}.yaml", "zh") == (BROKEN / f"{name}.zh.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", SITES, ids=lambda path: path.stem)
def test_each_finding_says_where_and_what_in_both_languages(path: Path) -> None:
    with pytest.raises(InputError) as caught:
        parse_site(path.read_text(encoding="utf-8"), path.name)
    assert caught.value.exit_code == 2
    for finding in caught.value.findings:
        assert finding.severity == "error"
        assert finding.subject
        for lang in ("en", "zh"):
            assert finding.sentence(lang).startswith(path.name)
            assert finding.hint(lang)
        for evidence in finding.evidence:
            line = path.read_text(encoding="utf-8").splitlines()[(evidence.line or 0) - 1]
            assert line.strip().startswith(evidence.text[:50])


def test_no_two_files_are_broken_alike() -> None:
    texts = [path.with_suffix(".txt").read_text(encoding="utf-8").replace(path.stem, "") for path in SITES]
    assert len(set(texts)) == len(texts)
