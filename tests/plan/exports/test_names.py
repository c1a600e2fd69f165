"""Names that every reader accepts, whatever the site file holds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.plan.exports.names import dns_labels, hostlist, label_value

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")  # RFC 1123 label, as Kubernetes checks it
VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")  # Kubernetes label value
NAMES = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,80}\Z")


@given(st.lists(NAMES, max_size=30), st.integers(min_value=12, max_value=63))
def test_every_name_becomes_a_label_of_its_own(names, limit):
    labels = dns_labels(names, limit)
    assert all(LABEL.fullmatch(label) and len(label) <= limit for label in labels)
    assert len(set(labels)) == len(names)


@given(st.lists(st.from_regex(r"\A[a-z]([a-z0-9-]{0,20}[a-z0-9])?\Z"), unique=True))
def test_a_label_stays_as_it_is(names):
    assert dns_labels(names) == names


def test_a_changed_name_never_takes_the_name_of_another():
    assert dns_labels(["GPU_node", "gpu-node", "gpu.node"]) == ["gpu-node-2", "gpu-node", "gpu-node-3"]


@given(NAMES)
def test_label_values_fit_kubernetes(text):
    assert VALUE.fullmatch(label_value(text))
    assert len(label_value(text)) <= 63


def expand(text: str) -> list[str]:
    """Naive reader of a host list: ranges in one pair of brackets at the end of a name."""
    found = []
    for piece in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        prefix, _, ranges = piece.strip(",").partition("[")
        for part in ranges.rstrip("]").split(",") if ranges else [""]:
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last) + 1) if last else []
            found += [f"{prefix}{n:0{len(first)}d}" for n in numbers] or [prefix + first]
    return found


@given(st.lists(st.from_regex(r"\A[a-c]-?[0-9]{0,3}\Z"), unique=True))
def test_a_host_list_reads_back(names):
    assert sorted(expand(hostlist(names))) == sorted(names)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([f"a-{n:02d}" for n in range(1, 17)], "a-[01-16]"),
        (["a-9", "a-10", "a-11"], "a-[9,10-11]"),  # no zero in front: the width changes
        (["a-1", "b-1"], "a-1,b-1"),
        ([], ""),
    ],
)
def test_host_lists_are_short(names, text):
    assert hostlist(names) == text
