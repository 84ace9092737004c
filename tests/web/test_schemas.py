"""Schemas of replies, derived from the dataclasses of the workbench."""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

import pytest
from pydantic import ValidationError

from kernova.web.schemas import reply_model
from kernova.workbench.cards import Card, QuestionShown
from kernova.workbench.feature_drawings import CategoryShare, Feature

Described = Annotated[int, "Two numbers, described once."]


@dataclass(frozen=True)
class Inner:
    """An inner value."""

    x: int


@dataclass(frozen=True)
class Outer:
    """An outer value.

    More about it.
    """

    kind: Literal["a", "b"]
    first: Described
    second: Described
    many: list[Inner]
    by_name: Annotated[dict[str, Inner], "Inner values by name."]
    one: Inner | None = None


def test_a_model_has_the_fields_and_descriptions_of_its_dataclass():
    schema = reply_model(Outer).model_json_schema()
    assert (schema["title"], schema["description"]) == ("Outer", "An outer value.")
    assert schema["required"] == ["kind", "first", "second", "many", "by_name"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["second"]["description"] == "Two numbers, described once."
    assert schema["properties"]["by_name"]["description"] == "Inner values by name."
    assert "description" not in schema["properties"]["kind"]
    assert list(schema["$defs"]) == ["Inner"]


def test_a_dataclass_becomes_json_with_its_nested_ones():
    value = Outer("a", 1, 2, [Inner(3)], {"four": Inner(4)}, Inner(5))
    model = reply_model(Outer).model_validate(value, from_attributes=True)
    assert model.model_dump() == {
        "kind": "a", "first": 1, "second": 2, "many": [{"x": 3}], "by_name": {"four": {"x": 4}},
        "one": {"x": 5},
    }  # fmt: skip


def test_a_wrong_value_is_an_error():
    with pytest.raises(ValidationError):
        reply_model(Inner).model_validate(Inner("three"), from_attributes=True)


@pytest.mark.parametrize("source", [Card, QuestionShown, Feature, CategoryShare])
def test_the_fields_of_a_row_card_are_those_of_the_library(source):
    assert list(reply_model(source).model_fields) == [field.name for field in fields(source)]
