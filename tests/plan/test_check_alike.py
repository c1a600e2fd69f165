"""Lines of a list that are read as one kind say what each of them says alone."""

from hypothesis import given
from hypothesis import strategies as st

from eastwest.plan.checking.alike import blur, outline
from eastwest.plan.checking.optics_line import _of_text

PARTS = st.sampled_from(
    [
        "400G DR4 MPO-12 fibre OS2",
        "2x400G SR4 twin-port OSFP",
        "HDR 200G SR4, MPO-12/UPC OM4",
        "NDR DAC",
        "64x400G switch",
    ]
)
PLACES = st.sampled_from(["leaf", "leaf-", "spine ", "port", "NIC ", "server-", "rack "])


@given(PARTS, PLACES, st.integers(0, 99_999), st.integers(1, 99), st.sampled_from(["", "C{n}; ", "{n}; "]))
def test_a_blurred_line_says_the_same_of_its_part(part, place, number, metres, label):
    text = f"{label.format(n=number)}{part}; {place}{number} to spine {number % 64}; {metres} m"
    assert _of_text(blur(text)) == _of_text(text)


@given(st.integers(1, 9), st.integers(1, 9))
def test_rates_types_and_counts_are_not_blurred(one, other):
    for text in (f"{one} x {other}00G", f"SR{one} OM{other}", f"leaf {one}x{other}00G", f"Gen{one} x16", f"H{one}00"):
        assert blur(text) == text


def test_lines_that_differ_in_digits_have_one_outline():
    assert outline("leaf-017 port 3, 30 m") == outline("leaf-202 port 9, 45 m")
    assert outline("leaf-017 port 3") != outline("leaf-17 port 3")
