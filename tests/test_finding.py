"""Findings and their messages: complete in both languages, with equal placeholders, every code worded and used."""

import re
from pathlib import Path

import pytest

from eastwest.errors import InputError, InternalError
from eastwest.finding import (
    LANGUAGES,
    MESSAGE_FIELDS,
    Evidence,
    Finding,
    message_of,
    messages,
    placeholders,
    sort_findings,
    terms,
    verdict_of,
)

SOURCE = Path(__file__).parents[1] / "src/eastwest"
CODE = re.compile(r"\bEW-[A-Z]+-\d{3}\b")
CODES = sorted(messages("en"))


def used_codes() -> set[str]:
    return {code for path in SOURCE.rglob("*.py") for code in CODE.findall(_without_docstrings(path))}


def _without_docstrings(path: Path) -> str:
    """Source text without what only mentions a code: docstrings, comments and help texts."""
    text = re.sub(r'"""[\s\S]*?"""', "", path.read_text(encoding="utf-8"))
    text = re.sub(r"#.*", "", text)
    return re.sub(r"help=\"[^\"]*\"", "", text)


def message_file_codes(lang: str) -> list[str]:
    text = (SOURCE / "messages" / f"{lang}.yaml").read_text(encoding="utf-8")
    return re.findall(r"^(EW-[A-Z]+-\d{3}):", text, re.MULTILINE)


def test_both_languages_have_the_same_codes() -> None:
    assert set(messages("zh")) == set(messages("en"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_code_stands_once_and_is_spelled_right(lang: str) -> None:
    codes = message_file_codes(lang)
    assert len(set(codes)) == len(codes)
    assert set(codes) == set(messages(lang))


@pytest.mark.parametrize("code", CODES)
def test_a_message_is_complete_and_alike_in_both_languages(code: str) -> None:
    english, chinese = message_of(code, "en"), message_of(code, "zh")
    for entry in (english, chinese):
        assert set(entry) == set(MESSAGE_FIELDS)
        assert entry["title"].strip()
        assert entry["message"].strip()
        assert entry["explain"].strip()
    for field in ("message", "hint"):
        assert placeholders(english[field]) == placeholders(chinese[field])
    assert bool(english["hint"].strip()) == bool(chinese["hint"].strip())
    assert re.search(r"[\u4e00-\u9fff]", chinese["title"])
    assert not re.search(r"[\u4e00-\u9fff]", english["message"] + english["title"])


def test_every_code_in_the_source_has_a_message() -> None:
    assert used_codes() - set(CODES) == set()


def test_every_message_is_used() -> None:
    assert set(CODES) - used_codes() == set()


SAMPLE = Finding(
    "EW-SITE-001", "error", "site.yaml", args={"where": "site.yaml"}, evidence=(Evidence("site.yaml", None, ""),)
)


def test_a_finding_speaks_both_languages_and_json() -> None:
    assert SAMPLE.sentence() == "site.yaml: there is no such file"
    assert SAMPLE.sentence("zh") == "site.yaml: 文件不存在"
    document = SAMPLE.as_json()
    assert set(document) == {
        "code",
        "severity",
        "subject",
        "message",
        "expected",
        "observed",
        "unit",
        "hint",
        "waived",
        "evidence",
    }
    assert document["message"] == SAMPLE.sentence()
    assert document["evidence"] == [{"source": "site.yaml", "line": None, "text": ""}]


def test_words_of_our_own_are_said_in_the_language_and_names_of_the_user_are_not() -> None:
    args = {"job": "firewall", "link": "home - east", "kind": "firewall"}
    finding = Finding("EW-FAB-011", "error", "fw1", "stateless", "stateful", args=args)
    assert finding.sentence("zh").startswith("firewall：机房间链路 home - east 经过 fw1（防火墙）")
    assert set(terms("en")) == set(terms("zh"))
    assert all(terms("zh").values())


def test_a_finding_without_words_or_arguments_is_a_bug_of_ours() -> None:
    with pytest.raises(InternalError, match="has no message"):
        Finding("EW-NONE-999", "error", "x").sentence()
    with pytest.raises(InternalError, match="message needs"):
        Finding("EW-SITE-001", "error", "x").sentence()
    with pytest.raises(InternalError, match="no messages in language"):
        messages("fr")


def test_the_verdict_follows_the_worst_finding_that_nobody_waived() -> None:
    error, warning = SAMPLE, Finding("EW-SITE-002", "warning", "b")
    info = Finding("EW-SITE-003", "info", "c")
    assert verdict_of([]) == "pass"
    assert verdict_of([info]) == "pass"
    assert verdict_of([info, warning]) == "warn"
    assert verdict_of([warning, error]) == "fail"
    assert verdict_of([warning, error.waive("accepted until the next window")]) == "warn"


def test_findings_are_sorted_by_severity_code_and_subject() -> None:
    info, late = Finding("EW-A-001", "info", "a"), Finding("EW-B-002", "error", "b")
    early, twin = Finding("EW-B-001", "error", "c"), Finding("EW-B-001", "error", "a")
    assert sort_findings([info, late, early, twin]) == (twin, early, late, info)


def test_an_input_error_carries_every_mistake() -> None:
    error = InputError([SAMPLE, SAMPLE])
    assert error.exit_code == 2
    assert error.findings == (SAMPLE, SAMPLE)
    assert str(error) == "site.yaml: there is no such file\nsite.yaml: there is no such file"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (
            {"leaves": 1, "servers_behind": 1, "servers_down": 1, "controllers_down": 0},
            ["1 live cable moves", "1 leaf runs", "1 server behind"],
        ),
        (
            {"leaves": 2, "servers_behind": 8, "servers_down": 3, "controllers_down": 0},
            ["1 live cable moves", "2 leaves run", "3 servers lose"],
        ),
    ],
)
def test_one_of_a_thing_is_no_plural(args: dict[str, int], words: list[str]) -> None:
    sentence = Finding("EW-GRO-002", "warning", "phase2", 0, 1, "cables", args).sentence()
    assert all(part in sentence for part in words), sentence


def test_names_of_the_user_keep_their_letters() -> None:
    finding = Finding(
        "EW-GRO-002",
        "warning",
        "1 servers",
        0,
        2,
        args={"leaves": 1, "servers_behind": 2, "servers_down": 2, "controllers_down": 0},
    )
    assert "step 1 servers: 2 live cables move; 1 leaf runs" in finding.sentence()
