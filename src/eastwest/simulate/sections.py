"""A scenario's mappings read key by key: each value in its unit, each mistake with its line, all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from eastwest import units
from eastwest.errors import InputError
from eastwest.finding import Evidence, Finding
from eastwest.registry import nearest
from eastwest.spec.document import Path
from eastwest.spec.keys import dotted
from eastwest.spec.mistakes import quoted, shown
from eastwest.units import PS_PER_S

MAX_MISTAKES = 100  # more than that is one mistake many times over
MAX_TIME_S = 86_400.0 * 30  # a month in picoseconds is 2.6e18, a quarter of what 64 bits hold


class Mistakes:
    """The mistakes of one scenario; it lives while the scenario is read and prepared."""

    def __init__(self, source: str, lines: Sequence[str], line_numbers: Mapping[Path, int]) -> None:
        self.source, self.lines, self.line_numbers = source, lines, line_numbers
        self.found: list[Finding] = []

    def line_of(self, path: Path) -> int | None:
        """The line of a path, or of the nearest mapping above it."""
        while path and path not in self.line_numbers:
            path = path[:-1]
        return self.line_numbers.get(path)

    def add(self, code: str, path: Path, **words: Any) -> None:
        """One mistake at a path of the scenario, with the user's line."""
        self.add_at(code, self.source, self.line_of(path), self._text(self.line_of(path)), path, **words)

    def add_at(self, code: str, source: str, line: int | None, text: str, path: Path = (), **words: Any) -> None:
        """One mistake on a line of any file."""
        where = f"{source}:{line}" if line else source
        evidence = (Evidence(source, line, quoted(text)),) if line else ()
        subject = dotted(path) or source
        expected, observed = words.get("expected"), words.get("found")
        args = {"where": where, "key": subject, **{name: value for name, value in words.items() if name != "expected"}}
        self.found.append(Finding(code, "error", subject, expected, observed, "", args, evidence))

    def _text(self, line: int | None) -> str:
        return self.lines[line - 1] if line and line <= len(self.lines) else ""

    def stop(self) -> None:
        """Raise InputError when there is any."""
        if self.found:
            raise InputError(sorted(self.found, key=_place)[:MAX_MISTAKES])

    def refuse(self, code: str, path: Path, **words: Any) -> NoReturn:
        """One more mistake, and no going on."""
        self.add(code, path, **words)
        raise InputError(self.found[:MAX_MISTAKES])


def _place(finding: Finding) -> tuple[str, int]:
    """Source and line of a mistake, by which they are shown in order."""
    first = finding.evidence[0] if finding.evidence else None
    return (first.source, first.line or 0) if first else ("", 0)


class Section:
    """One mapping: keys are taken one by one, and `close` finds those that nobody took."""

    def __init__(self, data: Any, path: Path, mistakes: Mistakes) -> None:
        self.path, self.mistakes = path, mistakes
        self._is_mapping = isinstance(data, dict)
        self._data: dict[str, Any] = data if isinstance(data, dict) else {}
        self._taken: list[str] = []
        if not self._is_mapping:
            mistakes.add("EW-SIM-003", path, found=shown(data))

    def __contains__(self, key: str) -> bool:
        return self._data.get(key) is not None

    def raw(self, key: str, default: Any = None) -> Any:
        """The plain value of a key."""
        self._taken.append(key)
        found = self._data.get(key)
        return default if found is None else found

    def at(self, key: str) -> Path:
        """The path of a key."""
        return (*self.path, key)

    def rate(self, key: str, default: int | None = 0) -> int:
        """Bit/s of `100G`, above zero; a missing key without default (None) is a mistake."""
        return self._quantity(key, default, units.parse_rate, "a rate such as 100G")

    def size(self, key: str, default: int | None = 0, *, least: int = 1) -> int:
        """Bytes of `10MB` or `1GiB`."""
        return self._quantity(key, default, units.parse_size, "a size such as 10MB or 1GiB", least)

    def time_ps(self, key: str, default: int | None = 0) -> int:
        """Picoseconds of `1us`, zero or more."""
        return self._quantity(key, default, parse_time_ps, "a time such as 0s, 1us or 20ms", 0)

    def whole(self, key: str, default: int | None = 0, *, least: int = 1, most: int = 10_000_000) -> int:
        """A whole number between two bounds."""

        def parse(value: object) -> int:
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ValueError
            return value

        return self._quantity(key, default, parse, f"a whole number from {least:,} to {most:,}", least)

    def number(self, key: str, default: float) -> float:
        """A number above zero."""
        value = self.raw(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
            self.mistakes.add("EW-SIM-004", self.at(key), found=shown(value), expected="a number above zero")
            return default
        return float(value)

    def choice(self, key: str, choices: Sequence[str], default: str | None) -> str:
        """One of the words, `-` and `_` alike."""
        value = self._needed(key, default)
        word = str(value).lower().replace("-", "_")
        if value is not None and word not in choices:
            near = nearest(value[:60], choices) if isinstance(value, str) else None
            code = "EW-SIM-005" if near else "EW-SIM-006"
            words = {"found": shown(value), "choices": ", ".join(choices)} | ({"near": near} if near else {})
            self.mistakes.add(code, self.at(key), **words)
        return word if word in choices else choices[0]

    def text(self, key: str, default: str | None = "") -> str:
        """A text."""
        value = self._needed(key, default)
        if value is not None and not isinstance(value, str):
            self.mistakes.add("EW-SIM-004", self.at(key), found=shown(value), expected="a name")
        return str(value) if value is not None else ""

    def names(self, key: str) -> tuple[str, ...]:
        """A list of names; one name stands for a list of one."""
        value = self.raw(key, [])
        listed = value if isinstance(value, list) else [value]
        if not all(isinstance(item, str) for item in listed):
            self.mistakes.add("EW-SIM-004", self.at(key), found=shown(value), expected="a list of names")
            return ()
        return tuple(listed)

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self.raw(key, default)
        if not isinstance(value, bool):
            self.mistakes.add("EW-SIM-004", self.at(key), found=shown(value), expected="true or false")
        return value is True

    def close(self) -> None:
        """Complain about keys that this mapping does not have."""
        for key in self._data:
            if key in self._taken:
                continue
            near = nearest(str(key)[:60], self._taken)
            words = {"known": ", ".join(sorted(set(self._taken)))} | ({"near": near} if near else {})
            self.mistakes.add("EW-SIM-007" if near else "EW-SIM-008", self.at(key), **words)

    def _needed(self, key: str, default: Any) -> Any:
        value = self.raw(key, default)
        if value is None and self._is_mapping:
            self.mistakes.add("EW-SIM-009", self.path, missing=key)
        return value

    def _quantity(self, key: str, default: Any, parse: Callable[[object], int], expected: str, least: int = 1) -> int:
        value = self._needed(key, default)
        if value is None:
            return 0
        if key not in self:
            return int(value)
        try:
            found = parse(value)
        except ValueError:
            found = least - 1
        if not least <= found < 1 << 62:
            self.mistakes.add("EW-SIM-004", self.at(key), found=shown(value), expected=expected)
            return least
        return found


def parse_time_ps(text: object) -> int:
    """Picoseconds of a time with its unit; a plain 0 is a time as well. Raises UnitError."""
    if text in (0, "0") and not isinstance(text, bool):
        return 0
    found = units.parse_time(text)
    if found > MAX_TIME_S:
        raise units.UnitError("time", text, "at most 30 days")
    return round(found * PS_PER_S)
