"""The page's types are those of the server's schema."""

import runpy
from operator import itemgetter
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "web-tools" / "page_types.py"
page_types, app_description, TYPES_FILE = itemgetter("page_types", "app_description", "TYPES_FILE")(
    runpy.run_path(str(TOOL))
)


def test_the_types_in_the_page_are_those_of_the_server():
    generated = page_types(app_description())
    assert TYPES_FILE.read_text(encoding="utf-8") == generated, "run `make page-types`"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer"}, "number"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string|null"),
        ({"enum": ["a", "b"]}, '"a"|"b"'),
        ({"const": True}, "true"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Card"}}, "Card[]"),
        ({"type": "array", "items": {"enum": [1, 2]}}, "(1|2)[]"),
        ({"type": "array", "prefixItems": [{"type": "number"}] * 2}, "[number, number]"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "Object<string, number>"),
        ({"type": "object", "additionalProperties": True}, "Object<string, unknown>"),
        ({"$ref": "#/components/schemas/Card-Output"}, "CardOutput"),
        ({}, "unknown"),
    ],
)
def test_schemas_become_types(schema, expected):
    model = {"properties": {"field": schema}, "required": ["field"]}
    text = page_types({"components": {"schemas": {"Model": model}}})
    assert f" * @property {{{expected}}} field\n" in text


def test_what_is_not_required_may_be_missing():
    model = {"properties": {"field": {"type": "string", "description": "Text.\nMore */ of it."}}}
    text = page_types({"components": {"schemas": {"Model": model}}})
    assert "@property {string} [field] Text. More " in text
    assert text.count("*/") == 2  # the header's end and the model's


def test_addresses_have_their_parameters_bodies_and_replies():
    reply = {"content": {"application/json": {"schema": {"type": "number"}}}}
    operation = {
        "parameters": [
            {"name": "row", "in": "path", "required": True, "schema": {"type": "integer"}},
            {"name": "limit", "in": "query", "schema": {"type": "integer"}},
        ],
        "requestBody": {"content": {"application/json": {"schema": {"type": "string"}}}},
        "responses": {"200": reply, "404": {}},
    }
    picture = {"responses": {"200": {"content": {"image/png": {}}}}}
    text = page_types({"paths": {"/rows/{row}": {"post": operation, "get": picture}}})
    call = '"/rows/{row}": {parameters: {row: number, limit?: number}, body: string, reply: number}'
    assert call in text
    assert "GetCalls" not in text
