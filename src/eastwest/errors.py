"""The error tree: every error that leaves eastwest knows its exit code and what to do next.

EastwestError
├── InputError      exit 2   invalid input; carries one Finding per mistake, all mistakes of a stage at once
├── UsageError      exit 2   wrong use of the command line or of a function
├── CannotTell      exit 3   evidence is missing; says which, and the command that would produce it
└── InternalError   exit 70  a bug of ours
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

EXIT_OK, EXIT_FINDINGS, EXIT_USAGE, EXIT_CANNOT_TELL, EXIT_INTERNAL = 0, 1, 2, 3, 70


class Mistake(Protocol):
    """What an input error shows of one mistake; `eastwest.finding.Finding` is the only class that has it."""

    @property
    def code(self) -> str:
        """Stable code."""

    @property
    def subject(self) -> str:
        """Path of the key, device or file."""

    @property
    def evidence(self) -> tuple[Any, ...]:
        """The user's own lines."""

    def sentence(self, lang: str = "en") -> str:
        """The mistake in words."""

    def hint(self, lang: str = "en") -> str:
        """What to do about it."""

    def as_json(self, lang: str = "en") -> dict[str, Any]:
        """The mistake in JSON's types."""


class EastwestError(Exception):
    """Any error that eastwest raises on purpose."""

    exit_code = EXIT_INTERNAL

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class InputError(EastwestError):
    """Invalid input: one Finding per mistake, with file, line, what was found and expected, and the remedy."""

    exit_code = EXIT_USAGE

    def __init__(self, findings: Sequence[Mistake]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(finding.sentence() for finding in self.findings))


class UsageError(EastwestError):
    """Wrong use: the call itself cannot be carried out."""

    exit_code = EXIT_USAGE


class CannotTell(EastwestError):  # noqa: N818 - a verdict, not a failure
    """The answer needs evidence that is not there; `needs` names it, `hint` the command that would produce it."""

    exit_code = EXIT_CANNOT_TELL

    def __init__(self, message: str, *, needs: Sequence[str] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.needs = tuple(needs)


class InternalError(EastwestError):
    """A bug of ours: an invariant of the product does not hold."""

    exit_code = EXIT_INTERNAL
