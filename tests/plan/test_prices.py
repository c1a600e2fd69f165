"""Price files: what they do to a bill, and the exact text of every mistake in one."""

import csv

import pytest

from eastwest.errors import InputError
from eastwest.plan.bom import BomRow
from eastwest.plan.document import plan_document, plan_files
from eastwest.plan.price_book import apply_prices, book_of
from eastwest.plan.prices import load_prices, parse_prices
from eastwest.plan.write import csv_text
from tests.plan.wishes import finding, plan_of, site

GOOD = "currency: CNY\nprices:\n  hgx-h100: 2100000\n  64x400g-th4-100g: 250000.5\n"
SWITCH = "Generic 64 x 400G with 100G lanes, Tomahawk 4"

BROKEN = {
    "empty": ("p.yaml", "", ["p.yaml: there is no price in the file"]),
    "no-prices": (
        "p.yaml",
        "currency: USD\n",
        ["p.yaml: prices is missing"],
    ),
    "no-currency": ("p.yaml", "prices:\n  hgx-h100: 1\n", ["p.yaml: no currency is given"]),
    "list": ("p.yaml", "- hgx-h100\n", ["p.yaml:1: currency and prices is missing"]),
    "prices-list": (
        "p.yaml",
        "currency: USD\nprices: [1, 2]\n",
        ["p.yaml:2: prices: [1, 2]: expected one line `part: price` a part"],
    ),
    "unknown-key": (
        "p.yaml",
        "curency: USD\ncurrency: USD\nprices: {hgx-h100: 1}\n",
        ['p.yaml:1: "curency" is not known here: expected currency, prices'],
    ),
    "duplicate": (
        "p.yaml",
        "currency: USD\nprices:\n  hgx-h100: 1\n  hgx-h100: 2\n",
        ['p.yaml:4: "hgx-h100" is priced a second time; the first is in line 3'],
    ),
    "negative": (
        "p.yaml",
        "currency: USD\nprices:\n  hgx-h100: -5\n",
        ['p.yaml:3: "hgx-h100": -5 is below zero'],
    ),
    "word": (
        "p.yaml",
        "currency: USD\nprices:\n  hgx-h100: cheap\n",
        ['p.yaml:3: "hgx-h100": "cheap" is not a price: expected a plain number such as 1200 or 12.50'],
    ),
    "thousands": (
        "p.yaml",
        'currency: USD\nprices:\n  hgx-h100: "1,200"\n',
        ['p.yaml:3: "hgx-h100": "1,200" is not a price: expected a plain number such as 1200 or 12.50'],
    ),
    "nothing": (
        "p.yaml",
        "currency: USD\nprices:\n  hgx-h100:\n",
        ['p.yaml:3: "hgx-h100": null is not a price: expected a plain number such as 1200 or 12.50'],
    ),
    "endless": (
        "p.yaml",
        "currency: USD\nprices:\n  hgx-h100: 1e999\n",
        ['p.yaml:3: "hgx-h100": Infinity is not a price: expected a plain number such as 1200 or 12.50'],
    ),
    "sign": (
        "p.yaml",
        "currency: $\nprices: {hgx-h100: 1}\n",
        ['p.yaml:1: "$" is not a currency code: did you mean USD?'],
    ),
    "lower-case": (
        "p.yaml",
        "currency: usd\nprices: {hgx-h100: 1}\n",
        ['p.yaml:1: "usd" is not a currency code: did you mean USD?'],
    ),
    "csv-column": (
        "p.csv",
        "part,price,currency,note\nhgx-h100,1,USD,x\n",
        ['p.csv:1: "note" is not known here: expected part, price, currency'],
    ),
    "csv-missing": ("p.csv", "part,price\nhgx-h100,1\n", ["p.csv:1: currency is missing"]),
    "csv-cells": (
        "p.csv",
        "part,price,currency\nhgx-h100,1,200,USD\n",
        ["p.csv:2: 4 cells: expected 3, as in the header"],
    ),
    "csv-mixed": (
        "p.csv",
        "part,price,currency\nhgx-h100,1,USD\n64x400G,1,EUR\n",
        ["p.csv:3: EUR, where the rows above have USD"],
    ),
    "csv-duplicate": (
        "p.csv",
        "part,price,currency\nhgx-h100,1,USD\nHGX-H100,2,USD\n",
        ['p.csv:3: "HGX-H100" is priced a second time; the first is in line 2'],
    ),
    "csv-no-name": ("p.csv", "part,price,currency\n,1,USD\n", ["p.csv:2: the part has no name"]),
    "csv-quote": ("p.csv", 'part,price,currency\n"hgx,1,USD\n', ["p.csv: the text is not CSV: unexpected end of data"]),
    "csv-header-only": ("p.csv", "part,price,currency\n", ["p.csv: there is no price in the file"]),
    "two-at-once": (
        "p.csv",
        "part,price,currency\nhgx-h100,-1,USD\n64x400G,x,USD\n",
        [
            'p.csv:2: "hgx-h100": "-1" is below zero',
            'p.csv:3: "64x400G": "x" is not a price: expected a plain number such as 1200 or 12.50',
        ],
    ),
}
UNKNOWN = {
    "near": (
        "monitoring colector",
        'p.yaml:3: "monitoring colector" is no part of this bill and of no catalogue model: '
        "did you mean monitoring collector?",
    ),
    "far": ("zzzz", 'p.yaml:3: "zzzz" is no part of this bill and of no catalogue model'),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_text_of_a_mistake_is_exactly_this(name):
    source, text, expected = BROKEN[name]
    with pytest.raises(InputError) as error:
        parse_prices(text, source)
    assert [found.sentence() for found in error.value.findings] == expected
    assert all(found.sentence("zh") and found.hint("zh") for found in error.value.findings)


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_part_is_refused_with_its_line(name):
    part, expected = UNKNOWN[name]
    bom = plan_of(site(more="monitoring: {}\n")).bom
    with pytest.raises(InputError) as error:
        apply_prices(bom, parse_prices(f"currency: USD\nprices:\n  {part}: 5\n", "p.yaml"))
    assert [found.sentence() for found in error.value.findings] == [expected]
    assert error.value.findings[0].evidence[0].line == 3


def test_a_part_under_two_names_is_priced_twice():
    text = f'currency: USD\nprices:\n  64x400g-th4-100g: 1\n  "{SWITCH}": 2\n'
    with pytest.raises(InputError, match="priced a second time; the first is in line 3"):
        apply_prices(plan_of(site()).bom, parse_prices(text, "p.yaml"))


def test_a_missing_file_and_a_binary_one_are_refused(tmp_path):
    with pytest.raises(InputError, match="the file cannot be read: No such file or directory"):
        load_prices(tmp_path / "none.yaml")
    (tmp_path / "bin.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not text in UTF-8"):
        load_prices(tmp_path / "bin.yaml")


def test_yaml_that_is_none_says_where():
    with pytest.raises(InputError, match=r"p\.yaml:2"):
        parse_prices("currency: USD\n\tprices: {}\n", "p.yaml")


def test_prices_multiply_and_what_is_missing_is_listed_and_never_zero():
    plan = plan_of(site(), parse_prices(GOOD, "p.yaml"))
    servers = next(row for row in plan.bom if row.group == "servers")
    assert (servers.unit_price, servers.price, servers.currency) == (2_100_000.0, 16 * 2_100_000.0, "CNY")
    switches = sum(row.quantity for row in plan.bom if row.part == SWITCH)
    assert plan.bill.price == pytest.approx(16 * 2_100_000 + switches * 250_000.5)
    priced = {row.part for row in plan.bom if row.price is not None}
    included = {row.part for row in plan.bom if row.included}
    assert set(plan.bill.unpriced) == {row.part for row in plan.bom} - priced - included
    assert all(row.price != 0 for row in plan.bom)
    found = finding(plan, "EW-ADV-018")
    assert found.observed == len(plan.bill.unpriced)
    assert "CNY" in found.sentence()
    assert "CNY" in found.sentence("zh")


def test_shares_are_of_the_priced_cost():
    text = "currency: USD\nprices:\n  hgx-h100: 300\n  monitoring collector: 200\n"
    plan = plan_of(site(more="monitoring: {}\n"), parse_prices(text, "p.yaml"))
    share = next(row for row in plan.decisions if row.id == "bill.monitoring.share")
    assert share.value == pytest.approx(200 / (16 * 300 + 200))


def test_csv_and_yaml_give_the_same_bill():
    table = "part,price,currency\n# a comment\nhgx-h100,2100000,CNY\n64x400g-th4-100g,250000.5,CNY\n"
    bom = plan_of(site()).bom
    assert apply_prices(bom, parse_prices(GOOD, "p.yaml")) == apply_prices(bom, parse_prices(table, "p.csv"))


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_spreadsheet_with_another_separator_was_refused(separator):
    text = "part,price,currency\nqm9700,36000.50,EUR\n"
    assert parse_prices(text.replace(",", separator), "p.csv").prices == parse_prices(text, "p.csv").prices
    with pytest.raises(InputError, match="36000,50"):
        parse_prices("part;price;currency\nqm9700;36000,50;EUR\n", "p.csv")


def test_parts_of_other_designs_may_stand_in_the_file():
    text = "currency: USD\nprices:\n  dgx-b200: 1\n  DAC 800G 1 m: 2\n  hgx-h100: 3\n"
    assert plan_of(site(), parse_prices(text, "p.yaml")).bill.price == 48.0


def test_no_price_file_means_no_price():
    bill = plan_of(site()).bill
    assert (bill.price, bill.currency) == (None, None)
    assert finding(plan_of(site()), "EW-ADV-018") is None


def test_a_filled_in_bill_was_refused_as_a_price_file():
    plan = plan_of(site(more="cabling: {spare_ratio: 0.1}\n"))
    lines = plan_files(plan, plan_document(plan), "")["bom.csv"].splitlines()
    header = lines[0].split(",")
    each, currency = header.index("unit_price"), header.index("currency")
    table = list(csv.reader(lines[1:]))
    for row in table[:3]:
        row[each], row[currency] = "10", "USD"
    text = csv_text(header, table)
    bom = apply_prices(plan.bom, parse_prices(text, "bom.csv"))
    names = {row[0] for row in table[:3]}
    assert {row.part for row in bom if row.unit_price == 10.0} == {
        r.part for r in bom if r.part in names and not r.included
    }
    assert all(row.currency == "USD" for row in bom if row.unit_price)


def test_the_price_of_a_line_of_the_bill_is_divided_by_its_quantity():
    text = "part,quantity,unit_price,price,currency\nDAC 800G 1 m,4,,10,EUR\nDAC 800G 2 m,4,,,\n"
    (price,) = parse_prices(text, "bom.csv").prices
    assert (price.part, price.price) == ("DAC 800G 1 m", 2.5)


def test_two_prices_of_one_part_in_a_bill_are_a_mistake_and_one_price_twice_is_none():
    text = "part,unit_price,currency\nDAC 800G 1 m,4,EUR\nDAC 800G 1 m,{again},EUR\n"
    assert len(parse_prices(text.format(again=4), "bom.csv").prices) == 1
    with pytest.raises(InputError, match="priced a second time"):
        parse_prices(text.format(again=5), "bom.csv")


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("MPO-12 fibre", "MPO-12 OM4 fibre 30 m"),
        ("MPO-12 OM4 fibre", "MPO-12 OM4 fibre 30 m"),
        ("MPO-12 OM4 1:2 splitter fibre", "MPO-12 OM4 1:2 splitter fibre 5 m"),
        ("DAC 800G (1:2 splitter)", "DAC 800G 1.5 m (1:2 splitter)"),
        ("dac 400g", "DAC 400G 2 m"),
        ("Cat 6 patch cord", "Cat 6 patch cord 5 m"),
        ("LC duplex OS2 fibre", "LC duplex OS2 fibre 2 km"),
    ],
)
def test_a_name_without_length_prices_every_length(name, part):
    book = book_of(parse_prices(f'currency: USD\nprices: {{"{name}": 7}}\n', "p.yaml"))
    assert book.price_of(part) == 7.0
    row = BomRow(part, "", 3, "cable", "fabric")
    assert apply_prices([row], parse_prices(f'currency: USD\nprices: {{"{name}": 7}}\n', "p.yaml"))[0].price == 21.0


def test_the_line_of_one_length_wins_over_that_of_any():
    text = 'currency: USD\nprices: {"DAC 400G": 7, "DAC 400G 1 m": 5}\n'
    book = book_of(parse_prices(text, "p.yaml"))
    assert (book.price_of("DAC 400G 1 m"), book.price_of("DAC 400G 2 m")) == (5.0, 7.0)
    assert book.price_of("DAC 400G 2 m (1:2 splitter)") is None


def test_prices_of_which_none_is_in_the_bill_were_taken_without_a_word():
    plan = plan_of(site(), parse_prices("currency: USD\nprices: {dgx-b200: 1, qm9700: 2}\n", "p.yaml"))
    found = finding(plan, "EW-PRICE-017")
    assert (found.severity, found.observed) == ("warning", 0)
    assert "none of the 2 prices in p.yaml" in found.sentence()
    assert finding(plan_of(site(), parse_prices(GOOD, "p.yaml")), "EW-PRICE-017") is None


def test_nics_that_come_with_the_server_were_paid_twice():
    text = "currency: USD\nprices: {hgx-h100: 300000, connectx-7: 2000}\n"
    plan = plan_of(site(), parse_prices(text, "p.yaml"))
    assert plan.bill.price == 16 * 300_000
    found = finding(plan, "EW-PRICE-018")
    assert found.severity == "info"
    assert "part of the server" in found.sentence()
    assert finding(plan, "EW-PRICE-017") is None
