"""JSDoc types for the page, generated from the server's OpenAPI description.

``make page-types`` writes ``static/js/types.js``; a test compares the file with the app. The
models of requests and replies are thus declared once, in Python, and ``tsc`` checks the page
against them.
"""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

TYPES_FILE: Final = (
    Path(__file__).parents[1] / "src" / "kernova" / "web" / "static" / "js" / "types.js"
)
Schema = Mapping[str, Any]

_HEADER: Final = """\
/**
 * Types of the server's requests and replies.
 *
 * Generated from the server's schema by web-tools/page_types.py: run `make page-types`.
 * Types that only the page knows are in page_types.js.
 */
"""
_WIDTH: Final = 120
_JSON: Final = "application/json"
_METHODS: Final = ("get", "post", "put", "patch", "delete")
_SIMPLE: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def page_types(openapi: Schema) -> str:
    """Write the JSDoc typedefs for an OpenAPI description.

    Parameters
    ----------
    openapi : mapping
        The description, as ``app.openapi()`` gives it.

    Returns
    -------
    str
        The text of an ES module: a typedef for each model, and for each HTTP method one typedef
        (``GetCalls``, ``PostCalls`` ...) from path to parameters, body and reply.

    Examples
    --------
    >>> from page_types import page_types
    >>> point = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    >>> print(page_types({"components": {"schemas": {"Point": point}}}).split("*/")[1])
    <BLANKLINE>
    <BLANKLINE>
    /**
     * @typedef {object} Point
     * @property {number} x
    <BLANKLINE>
    """
    models = openapi.get("components", {}).get("schemas", {})
    blocks = [_model(name, model) for name, model in sorted(models.items())]
    blocks += [block for method in _METHODS if (block := _calls(method, openapi.get("paths", {})))]
    return "\n".join([_HEADER, *blocks, "export {};\n"])


# --- models ----------------------------------------------------------------------------------


def _model(name: str, model: Schema) -> str:
    lines = list(_wrapped(model.get("description", "")))
    if "properties" not in model:
        return _comment([*lines, f"@typedef {{{_type(model)}}} {_plain(name)}"])
    lines.append(f"@typedef {{object}} {_plain(name)}")
    required = set(model.get("required", ()))
    for field, schema in model["properties"].items():
        shown = field if field in required else f"[{field}]"
        text = f"@property {{{_type(schema)}}} {shown} {schema.get('description', '')}"
        lines.extend(_wrapped(text, "  "))
    return _comment(lines)


def _comment(lines: list[str]) -> str:
    return "\n".join(["/**", *(f" * {line}".rstrip() for line in lines), " */", ""])


def _wrapped(text: str, indent: str = "") -> Iterator[str]:
    """Break a text into lines that may stand in a comment."""
    harmless = " ".join(text.split()).replace("*/", "*\u200b/")
    yield from textwrap.wrap(
        harmless,
        _WIDTH - 3,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


# --- types -----------------------------------------------------------------------------------


def _type(schema: Schema) -> str:
    """Return the type expression of a schema."""
    if "$ref" in schema:
        return _plain(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "enum" in schema:
        return "|".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    for many in ("anyOf", "oneOf", "allOf"):
        if many in schema:
            parts = [_type(part) for part in schema[many]]
            return ("&" if many == "allOf" else "|").join(dict.fromkeys(parts))
    return _type_by_kind(schema)


def _type_by_kind(schema: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        return _array_type(schema)
    if kind == "object":
        return _object_type(schema)
    return _SIMPLE.get(str(kind), "unknown")


def _array_type(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(part) for part in schema['prefixItems'])}]"
    item = _type(schema.get("items", {}))
    return f"({item})[]" if "|" in item or "&" in item else f"{item}[]"


def _object_type(schema: Schema) -> str:
    if "properties" in schema:
        required = set(schema.get("required", ()))
        return _literal(
            (name if name in required else f"{name}?", _type(one))
            for name, one in schema["properties"].items()
        )
    values = schema.get("additionalProperties", True)
    value = _type(values) if isinstance(values, Mapping) else "unknown"
    return f"Object<string, {value}>"


def _literal(fields: Iterator[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{name}: {type_}' for name, type_ in fields)}}}"


def _plain(name: str) -> str:
    """Return a model's name as an identifier; pydantic has ``Card-Output`` and ``Page[Card]``."""
    return re.sub(r"\W", "", name)


# --- addresses -------------------------------------------------------------------------------


def _calls(method: str, paths: Schema) -> str:
    """Return the typedef of all addresses that take a method and reply in JSON."""
    calls = [
        f'  "{path}": {call},'
        for path, operations in sorted(paths.items())
        if method in operations and (call := _call(operations[method]))
    ]
    if not calls:
        return ""
    name = f"{method.capitalize()}Calls"
    told = f"Addresses that take {method.upper()}: their parameters, request body and reply."
    return _comment([*_wrapped(told), "@typedef {{", *calls, f"}}}} {name}"])


def _call(operation: Schema) -> str:
    replies = [
        _type(reply["content"][_JSON]["schema"])
        for status, reply in operation.get("responses", {}).items()
        if status.startswith("2") and _JSON in reply.get("content", {})
    ]
    if not replies:
        return ""
    parameters = [
        (one["name"] if one.get("required") else f"{one['name']}?", _type(one["schema"]))
        for one in operation.get("parameters", ())
        if one["in"] in {"path", "query"}
    ]
    body = operation.get("requestBody", {}).get("content", {}).get(_JSON)
    fields = [("parameters", _literal(iter(parameters)))]
    if body is not None:
        fields.append(("body", _type(body["schema"])))
    fields.append(("reply", "|".join(dict.fromkeys(replies))))
    return _literal(iter(fields))


def main() -> None:
    """Write the page's types as the app describes itself now."""
    TYPES_FILE.write_text(page_types(app_description()), encoding="utf-8")


def app_description() -> dict[str, Any]:
    """Return the app's OpenAPI description; the workbench behind it is never called."""
    from unittest.mock import MagicMock

    from kernova.web.app import create_app
    from kernova.web.login import Key

    return create_app(MagicMock(), Key("")).openapi()


if __name__ == "__main__":
    main()
