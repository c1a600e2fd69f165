"""Reading and parsing a site file: lines are kept, odd files end in a sentence, no input ends in a traceback."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eastwest.errors import InputError
from eastwest.finding import Evidence
from eastwest.spec.document import MAX_TEXT_CHARACTERS, read_document, resolve_scalar
from eastwest.spec.load import LoadedSite, decode, load_site, parse_site
from eastwest.spec.mistakes import MAX_MISTAKES

GOOD = """\
name: demo
servers:
  - model: hgx-h100
    count: 8
    nic: {rate: 400G}
fabric:
  switch: 64x400G
  oversubscription: 2:1
jobs:
  - name: train
    model: llama3-70b
    parallel: {tp: 8, pp: 4}
    global_batch: 64
"""


def codes(text: str, source: str = "site.yaml") -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_site(text, source)
    return [finding.code for finding in caught.value.findings]


def file_codes(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_site(path)
    return [finding.code for finding in caught.value.findings]


def test_a_good_file_gives_its_site_and_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(GOOD, encoding="utf-8")
    loaded = load_site(path)
    assert loaded.source == str(path)
    assert loaded.site.servers[0].nic is not None
    assert loaded.site.servers[0].nic.rate_bps == 400_000_000_000
    assert loaded.site.fabric.oversubscription.leaf == 2.0
    assert loaded.line_of("servers[0].nic.rate") == 5
    assert loaded.line_of("jobs[0].parallel.tp") == 12
    assert loaded.line_of("servers[0].gpu") is None
    assert loaded.where("servers[0].gpu") == f"{path}:3"
    assert loaded.evidence("fabric.switch.rate") == (Evidence(str(path), 7, "switch: 64x400G"),)
    assert loaded.evidence("qos.dscp") == ()
    assert loaded.where("qos.dscp") == str(path)


@pytest.mark.parametrize(
    "change", ["\ufeff" + GOOD, GOOD.replace("\n", "\r\n"), GOOD.replace("\n", "\r"), "---\n" + GOOD]
)
def test_byte_order_marks_and_line_ends_do_not_matter(change: str, tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_bytes(change.encode("utf-8"))
    loaded = load_site(path)
    assert loaded.site == parse_site(GOOD, "site.yaml").site
    assert loaded.line_of("fabric") == 6 + change.startswith("---")


def test_merge_keys_fill_what_is_not_given() -> None:
    servers = "servers:\n  - &one {name: a, model: hgx-h100, count: 4}\n  - {<<: *one, name: b}\n"
    text = f"name: demo\n{servers}fabric: {{switch: 64x400G}}\n"
    first, second = parse_site(text, "site.yaml").site.servers
    assert (first.name, second.name, second.model, second.count) == ("a", "b", "hgx-h100", 4)


def test_mistakes_of_one_stage_come_together_in_the_order_of_the_file() -> None:
    text = GOOD.replace("demo", "my demo").replace("count: 8", "count: eight").replace("hgx-h100", "hgx-h1000")
    assert codes(text + "zzz: 1\nname: again\n") == [
        "EW-SITE-053",
        "EW-SITE-061",
        "EW-SITE-033",
        "EW-SITE-020",
        "EW-SITE-013",
    ]


def test_a_missing_file_a_folder_and_a_locked_file_are_three_things(tmp_path: Path) -> None:
    assert file_codes(tmp_path / "none.yaml") == ["EW-SITE-001"]
    assert file_codes(tmp_path) == ["EW-SITE-002"]
    assert file_codes(tmp_path / "a\0b") == ["EW-SITE-003"]
    assert file_codes(tmp_path / ("x" * 5000)) == ["EW-SITE-003"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser reads every file")
def test_a_file_without_permission_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(GOOD, encoding="utf-8")
    path.chmod(0)
    assert file_codes(path) == ["EW-SITE-003"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (GOOD.encode("utf-16"), "EW-SITE-060"),
        (GOOD.encode("utf-16-le"), "EW-SITE-060"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "EW-SITE-004"),
        (b"name: caf\xe9\n", "EW-SITE-004"),
        (b"\x1f\x8b\x08\x00", "EW-SITE-003"),
        (b"", "EW-SITE-005"),
        (b"\n\n# only a comment\n", "EW-SITE-005"),
        (b"---\n", "EW-SITE-005"),
        (b"null\n", "EW-SITE-005"),
        (b"a" * (4 * MAX_TEXT_CHARACTERS + 1), "EW-SITE-006"),
        (b"a" * (MAX_TEXT_CHARACTERS + 1), "EW-SITE-006"),
        (b"[" * 100_000, "EW-SITE-007"),
        (b"- " * 100_000, "EW-SITE-007"),
        (b"{a: " * 10_000, "EW-SITE-007"),
        (b"a: &a {b: *a}\n", "EW-SITE-017"),
        (b"%YAML 3.0\n---\na: 1\n", "EW-SITE-009"),
    ],
    ids=lambda value: repr(value[:12]) if isinstance(value, bytes) else value,
)
def test_odd_files_end_in_one_sentence(content: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_bytes(content)
    assert file_codes(path) == [code]


def test_the_line_of_a_wrong_byte_is_named() -> None:
    with pytest.raises(InputError) as caught:
        decode(b"name: demo\n# caf\xe9\n", "site.yaml")
    assert str(caught.value) == "site.yaml:2: 0xE9 is no character of a text file: expected YAML in UTF-8"


def test_a_thousand_mistakes_are_cut_short() -> None:
    assert len(codes(GOOD + "".join(f"zzz{i}: 1\n" for i in range(1000)))) == MAX_MISTAKES


def test_numbers_that_would_cost_minutes_are_refused_at_once() -> None:
    for value in ("1e99999999G", "9" * 5000, "1e999999999999", f"{'9' * 200}G", "0." + "3" * 4000):
        assert codes(GOOD.replace("rate: 400G", f"rate: {value}")) in (["EW-SITE-040"], ["EW-SITE-052"])
        assert codes(GOOD.replace("count: 8", f"count: {value}"))[0] in ("EW-SITE-033", "EW-SITE-052", "EW-SITE-037")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("010", 10),
        ("0o10", 8),
        ("0xff", 255),
        ("-7", -7),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1_000", "1_000"),
        ("2:1", "2:1"),
        ("400G", "400G"),
        (".inf", ".inf"),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_plain_scalars_follow_the_core_rules_of_yaml_1_2(text: str, value: object) -> None:
    resolved = resolve_scalar(text)
    assert resolved == value
    assert type(resolved) is type(value)


def test_lines_are_those_of_keys_and_items() -> None:
    document = read_document("a:\n  - 1\n  -\n    b: >\n      long\n      text\n    c: [1,\n      2]\n")
    assert document.line_numbers[("a", 0)] == 2
    assert document.line_numbers[("a", 1, "b")] == 4
    assert document.line_numbers[("a", 1, "c", 1)] == 8


def only_a_site_or_an_input_error(content: bytes) -> None:
    assert isinstance(loaded_or_refused(content), LoadedSite | InputError)


def loaded_or_refused(content: bytes) -> LoadedSite | InputError:
    try:
        return parse_site(decode(content, "fuzz.yaml"), "fuzz.yaml")
    except InputError as error:
        for finding in error.findings:
            finding.as_json("zh")
        return error


@given(st.binary(max_size=300))
def test_random_bytes_give_a_site_or_an_input_error(content: bytes) -> None:
    only_a_site_or_an_input_error(content)


@given(st.text(alphabet=st.sampled_from("abn:-[]{}&*!|>'\"%@`#,? \n\t0123456789.~<"), max_size=120))
def test_random_yaml_like_text_gives_a_site_or_an_input_error(text: str) -> None:
    only_a_site_or_an_input_error(text.encode())


FULL = (Path(__file__).parents[2] / "src/eastwest/spec/templates/full.yaml").read_text(encoding="utf-8")
QUANTITIES = ("400G", "400GB", "30m", "-30m", "2:1", "1:0", "64x400G", "99999999", "1e9", "0.5", ".nan")
OTHERS = (
    "0",
    "-1",
    "1",
    "8",
    "true",
    "null",
    "~",
    "[]",
    "{}",
    "[1]",
    "{a: 1}",
    "text",
    "'x'",
    '""',
    "*a",
    "&a",
    "!t x",
    "|",
)
SCALARS = st.sampled_from(QUANTITIES + OTHERS)


@given(st.data())
def test_mutations_of_a_good_file_give_a_site_or_an_input_error(data: st.DataObject) -> None:
    """One to three lines of the full template change their value or place, are lost, or are given twice."""
    lines = [
        line.split(" # ")[0].rstrip()
        for line in FULL.splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        kind = data.draw(st.sampled_from(["value", "drop", "double", "indent", "swap"]))
        key, _, _ = lines[at].partition(":")
        other = data.draw(st.integers(0, len(lines) - 1))
        if kind == "value":
            lines[at] = f"{key}: {data.draw(SCALARS)}"
        elif kind == "double":
            lines.insert(at, lines[at])
        elif kind == "indent":
            lines[at] = " " * data.draw(st.integers(0, 8)) + lines[at].lstrip()
        elif kind == "swap":
            lines[at], lines[other] = lines[other], lines[at]
        elif len(lines) > 1:
            del lines[at]
    only_a_site_or_an_input_error("\n".join(lines).encode())
