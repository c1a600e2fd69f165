"""`Words`: the report's own texts in one language, from `labels/<lang>.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from eastwest.errors import InternalError
from eastwest.finding import LANGUAGES


class Words:
    """The texts of one language by dotted key; `words("answer.step", step="4 s")` fills the placeholders."""

    def __init__(self, lang: str, texts: Mapping[str, str]) -> None:
        self.lang = lang
        self._texts = texts

    def __call__(self, key: str, **fill: object) -> str:
        """The text of a key. Raises InternalError when the catalogue lacks it: a label without words is a bug of
        ours.
        """
        try:
            return self._texts[key].format(**fill)
        except (KeyError, IndexError) as error:
            raise InternalError(f"report label {key} ({self.lang}) lacks {error}") from error

    def name(self, kind: str, value: object) -> str:
        """The word for one value of an enumeration (`name("tier", "spine")`); the value itself when the catalogue has
        none.
        """
        if value is None or value == "":
            return self("not_given")
        return self._texts.get(f"{kind}.{value}", str(value))

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def keys(self) -> frozenset[str]:
        """Every key of the catalogue."""
        return frozenset(self._texts)

    def template(self, key: str) -> str:
        """The text of a key before its placeholders are filled."""
        return self._texts[key]


@cache
def words_of(lang: str) -> Words:
    """The report's texts in English (`en`) or Chinese (`zh`). Raises InternalError for another language."""
    from ruamel.yaml import YAML

    if lang not in LANGUAGES:
        raise InternalError(f"no report labels in language {lang!r}; there are {', '.join(LANGUAGES)}")
    text = (files("eastwest.report") / "labels" / f"{lang}.yaml").read_text(encoding="utf-8")
    return Words(lang, _flat(YAML(typ="safe").load(text)))


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested labels as dotted keys."""
    flat: dict[str, str] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = str(value)
    return flat
