"""Requests that record something, derived from the server's own description.

A route that replies with ``SavedReply`` records an entry. Valid bodies are generated from its
schema, with knowledge of rows and categories by the names of fields, so that the tests of keys,
kills and several experts send requests of every route without naming any. Where a field needs
values that its schema does not tell, give it ``examples``.
"""

import itertools
import re
import string
from functools import cache
from typing import NamedTuple

_METHODS = ("post", "patch", "put", "delete")
_SAVED = "#/components/schemas/SavedReply"
_ROWS = ("row", "rows", "members", "row_ids")
_CATEGORIES = (
    "label", "labels", "name", "names", "old", "into", "others", "under", "category", "categories",
)  # fmt: skip
_NEW_NAMES = ("new", "under")
_MOST_ITEMS = 3


class Route(NamedTuple):
    """A route that changes something."""

    method: str
    path: str  # with the names of its parameters in braces
    body: dict | None  # schema of its JSON body; None for another kind of body
    parameters: tuple[dict, ...]
    is_recorded: bool

    @property
    def name(self):
        return f"{self.method.upper()} {self.path}"


class World(NamedTuple):
    """What requests can be about."""

    n_rows: int
    categories: list[str]
    n_questions: int


class Wish(NamedTuple):
    """A request to send."""

    method: str
    path: str
    body: dict


def writing_routes(description):
    """Return all routes of a description that change something."""
    found = []
    for path, methods in description["paths"].items():
        for method in set(methods) & set(_METHODS):
            route = methods[method]
            content = route.get("requestBody", {}).get("content", {})
            body = content.get("application/json", {}).get("schema")
            good = next((one for code, one in route["responses"].items() if code[0] == "2"), {})
            reply = good.get("content", {}).get("application/json", {}).get("schema", {})
            parameters = tuple(route.get("parameters", ()))
            found.append(Route(method, path, body, parameters, _SAVED in str(reply)))
    return sorted(found, key=lambda route: route.name)


def recorded_routes(description):
    """Return the routes that record an entry."""
    return [route for route in writing_routes(description) if route.is_recorded]


class Requests:
    """Valid requests of all recorded routes, generated from a description.

    Parameters
    ----------
    description : dict
        The OpenAPI description.
    chance : random.Random
        Makes all choices.
    """

    def __init__(self, description, chance):
        self.routes = recorded_routes(description)
        self._schemas = description["components"]["schemas"]
        self._chance = chance
        self._numbers = itertools.count()

    def request(self, route, world, **given):
        """Return a request of a route, with some fields given."""
        path = route.path
        for parameter in route.parameters:
            if parameter["in"] == "path":
                value = self._value(parameter["schema"], parameter["name"], world)
                path = path.replace(f"{{{parameter['name']}}}", str(value))
        schema = self._resolved(route.body)
        body = self._body(schema, world) | {
            name: value for name, value in given.items() if name in schema["properties"]
        }
        return Wish(route.method.upper(), path, body)

    def any_request(self, world, **given):
        """Return a request of any route."""
        return self.request(self._chance.choice(self.routes), world, **given)

    def _resolved(self, schema):
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        return schema

    def _body(self, schema, world):
        required = schema.get("required", ())
        return {
            name: self._value(field, name, world)
            for name, field in schema.get("properties", {}).items()
            if name not in ("expert", "key") and (name in required or self._chance.random() < 0.5)
        }

    def _value(self, schema, name, world):
        schema = self._resolved(schema)
        if schema.get("examples"):
            return self._chance.choice(schema["examples"])
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self._value(self._chance.choice(schema[several]), name, world)
        if "const" in schema or "enum" in schema:
            return self._chance.choice(schema.get("enum") or [schema["const"]])
        return getattr(self, f"_{schema.get('type', 'null')}")(schema, name, world)

    def _object(self, schema, name, world):
        return self._body(schema, world)

    def _null(self, schema, name, world):
        return None

    def _boolean(self, schema, name, world):
        return self._chance.random() < 0.5

    def _integer(self, schema, name, world):
        low, high = int(schema.get("minimum", 0)), int(schema.get("maximum", 10))
        if name in _ROWS:
            high = min(high, world.n_rows - 1)
        elif name in ("question", "number"):
            high = min(high, max(low, world.n_questions))
        return self._chance.randint(low, min(high, max(low, 10**6)))

    def _number(self, schema, name, world):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        return round(self._chance.uniform(low, high), 3)

    def _string(self, schema, name, world):
        if "pattern" in schema:
            return self._chance.choice(_examples_of(schema["pattern"]))
        longest = schema.get("maxLength", 200)
        if longest <= 2:
            return self._chance.choice("abcxyz123")
        is_new = name in _NEW_NAMES or self._chance.random() < 0.2
        if name in _CATEGORIES and world.categories and not is_new:
            return self._chance.choice(world.categories)
        return f"made {name} {next(self._numbers)}"[:longest]

    def _array(self, schema, name, world):
        least = schema.get("minItems", 0)
        most = min(schema.get("maxItems", _MOST_ITEMS), max(least, _MOST_ITEMS))
        items = [
            self._value(schema["items"], name, world)
            for _ in range(self._chance.randint(max(1, least), most))
        ]
        return list(dict.fromkeys(items)) if all(map(_is_plain, items)) else items


@cache
def _examples_of(pattern):
    """Return texts that a pattern matches: short ones, or those that Hypothesis finds."""
    short = [*string.ascii_lowercase, *string.digits]
    found = [text for text in short if re.search(pattern, text)]
    if found:
        return found
    from hypothesis import find, strategies

    return [find(strategies.from_regex(pattern), lambda _: True)]


def _is_plain(value):
    return isinstance(value, str | int | float)
