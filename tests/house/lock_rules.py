"""What a lock must be: every requirement pinned and hashed, no address in it."""

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

Pins = dict[str, set[str]]


def _entries(text: str) -> Iterator[tuple[str, int]]:
    """The lock's requirements, each with its number of hashes."""
    joined = re.sub(r"\\\n\s*", " ", text)
    for line in joined.splitlines():
        bare = line.split(" #")[0].strip()
        if bare and not bare.startswith("#"):
            requirement, *hashes = bare.split(" --hash=")
            yield requirement.strip(), sum(bool(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", digest)) for digest in hashes)


def complaints(text: str) -> Iterator[str]:
    """What keeps this text from being a lock that means the same on every machine."""
    for number, line in enumerate(text.splitlines(), start=1):
        if "://" in line or re.match(r"\s*(-i|-f|-e|--(?!hash=))", line):
            yield f"line {number} names a place or an option: {line.strip()}"
    for requirement, n_hashes in _entries(text):
        if not n_hashes:
            yield f"{requirement} has no hash"
        if not re.match(r"[A-Za-z0-9._-]+(\[.*\])?==[^,*=]+$", requirement.split(";")[0].strip()):
            yield f"{requirement} is not pinned to one version"


def pins(text: str) -> Pins:
    """Locked versions by canonical name; a name has several where markers choose between them."""
    found: Pins = {}
    for line, _ in _entries(text):
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        found.setdefault(canonicalize_name(requirement.name), set()).add(str(requirement.specifier))
    return found
