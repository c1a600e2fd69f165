"""Ports kept free: up to half of what faces down is planned, more is refused before a cable is drawn."""

import pytest

import eastwest
from eastwest.errors import InputError
from tests.fabric.sites import fabric_of


def refused(family: str, **more) -> dict[str, tuple[int, int]]:
    """Path -> (most, wished) of what is refused."""
    try:
        fabric_of(family, 64, **more)
    except InputError as error:
        return {f.subject: (f.expected, f.observed) for f in error.findings}
    return {}


def test_sixty_of_64_ports_are_refused_with_the_remedy() -> None:
    with pytest.raises(InputError) as caught:
        fabric_of("rail_optimized", 64, spare_ports=60)
    (finding,) = caught.value.findings
    assert finding.code == "EW-FAB-041"
    assert (finding.expected, finding.observed) == (16, 60)  # 32 of 64 face down at 1:1
    assert "growth.steps" in finding.hint()


@pytest.mark.parametrize(
    ("family", "more", "most"),
    [
        ("rail_optimized", {}, 16),
        ("leaf_spine", {"oversubscription": "3:1", "switch": "64x400G"}, 24),  # 48 of 64 face down
        ("rail_optimized", {"switch": "64x800G"}, 32),  # 32 ports broken out 2 x 400G: 64 links
        ("rail_only", {}, 32),  # all 64 face down
    ],
)
def test_half_of_what_faces_down_is_the_most(family: str, more: dict, most: int) -> None:
    assert refused(family, spare_ports=most, **more) == {}
    assert refused(family, spare_ports=most + 1, **more) == {"fabric.spare_ports.leaf": (most, most + 1)}


def test_every_tier_is_judged_at_once() -> None:
    wish = {"leaf": 17, "spine": 33, "core": 33}
    found = refused("three_tier", rail_optimized=True, spare_ports=wish)
    assert found == {
        "fabric.spare_ports.leaf": (16, 17),
        "fabric.spare_ports.spine": (32, 33),
        "fabric.spare_ports.core": (32, 33),
    }


def test_the_only_switch_may_keep_what_it_has() -> None:
    assert fabric_of("single_switch", 3, spare_ports=40).tier_ports["leaf"].free == 40


def test_the_refusal_quotes_the_line() -> None:
    text = """name: t
servers: [{model: dgx-h100, count: 8}]
fabric:
  switch: 64x400G
  spare_ports: 60
"""
    with pytest.raises(InputError) as caught:
        eastwest.make_plan(eastwest.parse_site(text, "site.yaml"))
    assert [(e.line, e.text) for e in caught.value.findings[0].evidence] == [(5, "spare_ports: 60")]
