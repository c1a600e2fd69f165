"""What 2:1 costs: the closed form against steps counted by hand, its inverse, and the limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.errors import UsageError
from eastwest.simulate.analytic.oversubscription import StepParts, growth_curve, growth_ratio, share_needed_ratio


@pytest.mark.parametrize(
    ("compute", "communication", "hidden", "oversubscription", "expected"),
    [
        (6, 4, 0, 2, 0.4),  # nothing hidden: T / S
        (8, 4, 2, 2, 0.4),  # half hidden: (8 - 2 - 2) / 10
        (8, 4, 6, 2, 0.25),  # room to spare at 1:1, not at 2:1: (8 - 6) / 8
        (8, 2, 6, 2, 0),  # hidden at both
        (0, 4, 0, 5 / 3, 2 / 3),  # only communication: r - 1, the most there is
        (6, 4, 0, 1, 0),
    ],
)
def test_the_growth_is_that_of_the_step_counted_by_hand(
    compute: float, communication: float, hidden: float, oversubscription: float, expected: float
) -> None:
    parts = StepParts(compute, communication, hidden)
    assert growth_ratio(parts, oversubscription) == pytest.approx(expected, abs=1e-12)


@given(st.floats(0.01, 0.99), st.floats(1.01, 20), st.floats(0, 0.99))
def test_the_share_needed_gives_the_growth_back(share: float, oversubscription: float, hidden: float) -> None:
    parts = StepParts(1 - share * (1 - hidden), share, share * hidden)
    assert parts.step_s == pytest.approx(1)
    needed = share_needed_ratio(growth_ratio(parts, oversubscription), oversubscription, hidden)
    assert needed == pytest.approx(share, rel=1e-9)


def test_no_share_halves_the_efficiency_at_five_thirds() -> None:
    assert share_needed_ratio(1.0, 5 / 3) is None
    assert share_needed_ratio(1.0, 2.0) == pytest.approx(1)
    assert share_needed_ratio(0.4, 2.0, hidden_ratio=1.8) is None  # 0.4 / 0.2 of the step cannot be


def test_with_a_fixed_batch_the_growth_rises_with_size_and_without_it_does_not() -> None:
    first = StepParts(47.0, 0.25)
    curve = growth_curve(first, 64, 4096, 2.0)
    assert [row.gpus for row in curve] == [64, 128, 256, 512, 1024, 2048, 4096]
    assert curve[-1].growth_ratio == pytest.approx(0.25 / (47 / 64 + 0.25))
    growths = [row.growth_ratio for row in curve]
    assert growths == sorted(growths)
    alike = {row.growth_ratio for row in growth_curve(first, 64, 4096, 2.0, fixed_batch=False)}
    assert alike == {growth_ratio(first, 2.0)}


def test_a_ratio_of_one_has_no_share() -> None:
    with pytest.raises(UsageError):
        share_needed_ratio(0.4, 1.0)
