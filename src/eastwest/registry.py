"""An explicit, alphabetical list of plug-ins of one kind: name -> object, frozen once written in the folder's
`__init__.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Generic, TypeVar

from eastwest.errors import InternalError, UsageError

Plugin = TypeVar("Plugin")


class Registry(Generic[Plugin]):
    """The members of one kind of plug-in, in alphabetical order.

    Raises InternalError when two members share a name or the list is not alphabetical: the neighbour is then easy to
    find.

    >>> Registry("family", [("leaf_spine", 1), ("rail_optimized", 2)]).names()
    ('leaf_spine', 'rail_optimized')
    """

    def __init__(self, kind: str, members: Iterable[tuple[str, Plugin]]) -> None:
        listed = list(members)
        names = [name for name, _ in listed]
        if names != sorted(set(names)):
            raise InternalError(f"registry of {kind}: names must be unique and alphabetical, found {names}")
        self.kind = kind
        self._members = dict(listed)

    def names(self) -> tuple[str, ...]:
        """The registered names in alphabetical order."""
        return tuple(self._members)

    def get(self, name: str) -> Plugin:
        """The member of that name. Raises UsageError with the nearest name when there is none."""
        if name not in self._members:
            near = nearest(name, self._members)
            known = ", ".join(self._members)
            hint = f"did you mean {near}?" if near else f"known: {known}"
            raise UsageError(f"unknown {self.kind} {name!r}", hint=hint)
        return self._members[name]

    def __iter__(self) -> Iterator[tuple[str, Plugin]]:
        return iter(self._members.items())

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __len__(self) -> int:
        return len(self._members)


def nearest(word: str, choices: Iterable[str], least: float = 0.5) -> str | None:
    """The choice that looks most like `word` (difflib ratio of at least `least`, case and -/_ ignored), or None."""
    by_fold = {choice.lower().replace("-", "_"): choice for choice in choices}
    close = get_close_matches(word.lower().replace("-", "_"), by_fold, n=1, cutoff=least)
    return by_fold[close[0]] if close else None
