"""Both catalogues of the report are complete, agree in placeholders, and hold every key that the code asks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import eastwest.report
from eastwest.errors import InternalError
from eastwest.finding import placeholders
from eastwest.report.wording import words_of

ROOM = Path(eastwest.report.__file__).parent
# A key in the code: words("a.b"), words(f"a.{x}") (checked by its prefix) and the templates' words("a.b").
ASKED = re.compile(r"""words\(\s*f?["']([a-z_.]+)(\{|["'])""")


def test_english_and_chinese_have_the_same_keys_and_placeholders() -> None:
    en, zh = words_of("en"), words_of("zh")
    keys = en.keys()
    assert keys == zh.keys()
    differing = [key for key in keys if placeholders(en.template(key)) != placeholders(zh.template(key))]
    assert differing == []


def test_chinese_texts_are_chinese() -> None:
    keys = words_of("zh").keys()
    sentences = [key for key in keys if len(words_of("en").template(key)) > 40]
    untranslated = [key for key in sentences if not re.search("[\u4e00-\u9fff]", words_of("zh").template(key))]
    assert sentences
    assert untranslated == []


def test_every_key_that_the_code_asks_for_exists() -> None:
    keys = words_of("en").keys()
    sources = [*ROOM.rglob("*.py"), *ROOM.rglob("*.j2")]
    asked = [match.groups() for path in sources for match in ASKED.finditer(path.read_text(encoding="utf-8"))]
    missing = [key for key, end in asked if not (any(k.startswith(key) for k in keys) if end == "{" else key in keys)]
    assert len(asked) > 100
    assert missing == []


def test_an_unknown_key_or_language_is_a_bug_of_ours() -> None:
    with pytest.raises(InternalError, match=r"no\.such\.label"):
        words_of("en")("no.such.label")
    with pytest.raises(InternalError, match="language"):
        words_of("fr")


def test_a_value_without_a_word_is_shown_as_it_is() -> None:
    assert words_of("zh").name("tier", "scale_up") == "scale-up 域内"
    assert words_of("zh").name("tier", "orbit") == "orbit"
    assert words_of("en").name("tier", None) == "not given"
