"""JSON Schema of the nouns: closed where we promise every key, and true to what the nouns print."""

from typing import Any

import pytest

from eastwest.cli import schema
from eastwest.decision import Alternative, Decision
from eastwest.errors import UsageError
from eastwest.finding import Evidence, Finding
from eastwest.spec import keys
from eastwest.targets import Target


def test_the_nouns_of_the_contract_have_a_schema() -> None:
    assert schema.nouns() == ("decision", "finding", "plan", "predict", "site", "size", "target")
    for noun in schema.nouns():
        document = schema.document(noun)
        assert document["$id"] == f"eastwest.{noun}/1"
        assert document["type"] == "object"
        assert list(_unresolved(document, document)) == []


def _unresolved(part: Any, root: dict[str, Any]) -> list[str]:
    """References that lead nowhere."""
    if isinstance(part, list):
        return [name for item in part for name in _unresolved(item, root)]
    if not isinstance(part, dict):
        return []
    reference = part.get("$ref", "")
    lost = (
        [reference]
        if isinstance(reference, str) and reference.removeprefix("#/$defs/") not in root.get("$defs", {"": 0})
        else []
    )
    return (lost if reference else []) + [name for item in part.values() for name in _unresolved(item, root)]


def test_the_site_schema_names_the_keys_that_people_write() -> None:
    document = schema.document("site")
    assert document["additionalProperties"] is False
    assert set(document["required"]) == {"name", "servers", "fabric"}
    assert set(document["properties"]) == {place for place, _ in keys.walk() if "." not in place}
    assert document["$defs"]["NicWish"]["properties"]["rate"]["description"] == "rate of one NIC"
    assert all("description" in field for model in document["$defs"].values() for field in model["properties"].values())


FINDING = Finding("EW-SITE-001", "error", "x", args={"where": "x"}, evidence=(Evidence("x", 1, "y"),))
ALTERNATIVES = (Alternative(1, "too few"),)


@pytest.mark.parametrize(
    ("noun", "printed"),
    [
        ("finding", FINDING.as_json()),
        ("decision", Decision("a.b", 2, "spines", "it fits", alternatives=ALTERNATIVES).as_json()),
        ("target", Target("a.b", "at_least", 1.0, "B/s", "test", "it follows").as_json()),
    ],
)
def test_a_noun_prints_exactly_the_keys_of_its_schema(noun: str, printed: dict[str, Any]) -> None:
    document = schema.document(noun)
    assert set(printed) == set(document["properties"]) == set(document["required"])
    assert document["additionalProperties"] is False


def test_an_unknown_noun_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        schema.document("sites")
    assert (caught.value.message, caught.value.hint) == ("no schema of 'sites'", "did you mean site?")
