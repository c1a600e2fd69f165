"""`Finding`, the only verdict type: a stable code and its arguments; the sentence comes from `messages/<lang>.yaml` at
output.

A message entry has `title`, `message`, `hint` and `explain`; `{name}` in them is filled from `args`, `subject`,
`expected`, `observed`, words of the product's own among them said by `messages/terms.yaml`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from eastwest.errors import InternalError

Severity = Literal["error", "warning", "info"]
Verdict = Literal["pass", "warn", "fail", "unknown"]
LANGUAGES = ("en", "zh")
MESSAGE_FIELDS = ("title", "message", "hint", "explain")
_TERM_ARGS = ("expected", "observed", "unit", "kind", "tier", "largest", "one", "other")  # never names of the user
_NOUNS = (  # what the sentences count
    "bytes|cables|cells|channels|chunks|controllers|cores|devices|domains|ends|experts|failures|functions|GPU-hours|GPUs|"
    "groups|heads|keys|layers|leaves|levels|links|micro-batches|modules|networks|NICs|parameters|parts|planes|"
    "points|ports|queues|racks|rails|ranks|replicas|rooms|servers|spares|spines|stages|switches|times|tokens|"
    "trays|units|uplinks|values"
)
_SINGULARS = {"leaves": "leaf", "micro-batches": "micro-batch", "switches": "switch"}
_VERBS_OF_ONE = {
    **{verb: f"{verb}s" for verb in ("draw", "find", "fit", "hold", "leave", "move", "need", "run", "stand", "take")},
    **{"are": "is", "do": "does", "have": "has", "lose": "loses"},
}
_COUNTED = re.compile(  # {n}, up to two words between, the plural, and the verb behind it
    r"\{(?P<name>\w+)\}(?P<between>(?: (?!(?:between|cross|facing|have|if|need|of|span|the)\b)[\w-]+){0,2}?)"
    rf" (?P<noun>{_NOUNS})\b(?: (?P<verb>{'|'.join(_VERBS_OF_ONE)})\b)?"
)
_SEVERITY_ORDER = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One line of the user's own text: `source` (file or command), `line` (from 1; None when it has no lines), `text`
    as found.
    """

    source: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One verdict on one subject.

    `code` is stable (`EW-FAB-001`), `subject` the device, port, key or job, `expected` and `observed` the two values in
    `unit`, `args` further words for the sentence, `evidence` the lines that prove it, `waived` the reason when somebody
    accepted it, `path` the key of the site file that it is about (`servers[0].nic.rate`; "" when it is about none),
    from which whoever knows the file quotes the user's line.
    """

    code: str
    severity: Severity
    subject: str
    expected: Any = None
    observed: Any = None
    unit: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    waived: str | None = None
    path: str = ""

    def sentence(self, lang: str = "en") -> str:
        """The finding in words, in English (`en`) or Chinese (`zh`)."""
        return _fill(message_of(self.code, lang)["message"], self, lang)

    def hint(self, lang: str = "en") -> str:
        """What to do about it, in words; empty when the message has none."""
        return _fill(message_of(self.code, lang).get("hint", ""), self, lang)

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The finding in the shape of the command line's contract."""
        return {
            "code": self.code,
            "severity": self.severity,
            "subject": self.subject,
            "message": self.sentence(lang),
            "expected": self.expected,
            "observed": self.observed,
            "unit": self.unit,
            "hint": self.hint(lang),
            "waived": self.waived,
            "evidence": [{"source": e.source, "line": e.line, "text": e.text} for e in self.evidence],
        }

    def waive(self, reason: str) -> Finding:
        """The same finding, accepted by somebody for a reason; it no longer fails a verdict."""
        return replace(self, waived=reason)


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """`fail` with an unwaived error, else `warn` with an unwaived warning, else `pass`."""
    severities = {finding.severity for finding in findings if finding.waived is None}
    if "error" in severities:
        return "fail"
    return "warn" if "warning" in severities else "pass"


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings, then information; by code and subject inside each."""
    return tuple(sorted(findings, key=lambda f: (_SEVERITY_ORDER[f.severity], f.code, f.subject)))


@cache
def messages(lang: str = "en") -> Mapping[str, Mapping[str, str]]:
    """Every message of one language: code -> {title, message, hint, explain}."""
    from ruamel.yaml import YAML

    if lang not in LANGUAGES:
        raise InternalError(f"no messages in language {lang!r}; there are {', '.join(LANGUAGES)}")
    text = (files("eastwest") / "messages" / f"{lang}.yaml").read_text(encoding="utf-8")
    loaded: Mapping[str, Mapping[str, str]] = YAML(typ="safe").load(text) or {}
    return loaded


def message_of(code: str, lang: str = "en") -> Mapping[str, str]:
    """The message entry of a code. Raises InternalError when the code has none: a finding without words is a bug of
    ours.
    """
    try:
        return messages(lang)[code]
    except KeyError as error:
        raise InternalError(f"finding {code} has no message in {lang}.yaml") from error


def placeholders(template: str) -> frozenset[str]:
    """The `{names}` of a message template."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name)


@cache
def terms(lang: str = "en") -> Mapping[str, str]:
    """Words of findings' arguments in one language: `firewall` -> 防火墙, `data_centre` -> data centre."""
    from ruamel.yaml import YAML

    text = (files("eastwest") / "messages" / "terms.yaml").read_text(encoding="utf-8")
    return {word: said[lang] for word, said in YAML(typ="safe").load(text).items()}


def _said(value: Any, lang: str) -> Any:
    """A word, or words with commas between them, in one language; anything else as it is."""
    if not isinstance(value, str):
        return value
    return ", ".join(terms(lang).get(part, part) for part in value.split(", "))


def _one(template: str, words: Mapping[str, Any]) -> str:
    """The template with `{n} links are` as `{n} link is` where n is one; only its own words change, never the user's.

    >>> _one("{n} live cables move; {m} leaves run", {"n": 1, "m": 2})
    '{n} live cable moves; {m} leaves run'
    """

    def singular(match: re.Match[str]) -> str:
        name, between, noun, verb = match["name"], match["between"], match["noun"], match["verb"]
        value = words.get(name)
        if value != 1 or isinstance(value, bool):
            return match[0]
        one = _SINGULARS.get(noun, noun.removesuffix("s"))
        return f"{{{name}}}{between} {one}" + (f" {_VERBS_OF_ONE[verb]}" if verb else "")

    return _COUNTED.sub(singular, template)


def _fill(template: str, finding: Finding, lang: str) -> str:
    words = {
        "subject": finding.subject,
        "expected": finding.expected,
        "observed": finding.observed,
        "unit": finding.unit,
        **finding.args,
    }
    words |= {name: _said(words[name], lang) for name in _TERM_ARGS if name in words}
    template = _one(template, words) if lang == "en" else template
    try:
        return template.format(**words)
    except (KeyError, IndexError, ValueError) as error:
        raise InternalError(f"finding {finding.code}: message needs {error}, found {sorted(words)}") from error
