"""The registry: explicit, alphabetical, frozen, and helpful about a name that it does not have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.errors import InternalError, UsageError
from eastwest.registry import Registry, nearest

FAMILIES = Registry("family", [("leaf_spine", 1), ("rail_optimized", 2)])


def test_members_are_found_by_name_in_alphabetical_order() -> None:
    assert FAMILIES.names() == ("leaf_spine", "rail_optimized")
    assert FAMILIES.get("rail_optimized") == 2
    assert list(FAMILIES) == [("leaf_spine", 1), ("rail_optimized", 2)]
    assert len(FAMILIES) == 2
    assert "leaf_spine" in FAMILIES
    assert "dragonfly" not in FAMILIES


@pytest.mark.parametrize("names", [["b", "a"], ["a", "a"]])
def test_a_list_out_of_order_or_with_a_double_is_a_bug(names: list[str]) -> None:
    with pytest.raises(InternalError, match="unique and alphabetical"):
        Registry("family", [(name, 0) for name in names])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("leaf-spine", "did you mean leaf_spine?"),
        ("Rail_Optimised", "did you mean rail_optimized?"),
        ("zzz", "known: leaf_spine, rail_optimized"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        FAMILIES.get(name)
    assert caught.value.message == f"unknown family {name!r}"
    assert caught.value.hint == hint
    assert caught.value.exit_code == 2


def test_the_nearest_word_ignores_case_dashes_and_underscores() -> None:
    assert nearest("GLOBAL-BATCH", ["micro_batch", "global_batch"]) == "global_batch"
    assert nearest("qm9800", ["qm9700", "sn5600"]) == "qm9700"
    assert nearest("zzz", ["leaf"]) is None
    assert nearest("", ["leaf"]) is None
    assert nearest("leaf", []) is None


@given(st.lists(st.from_regex("[a-z]{1,8}", fullmatch=True), unique=True, min_size=1))
def test_a_known_name_is_its_own_nearest(names: list[str]) -> None:
    assert all(nearest(name, names) == name for name in names)
