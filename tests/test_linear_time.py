"""Regular expressions take time that grows with the length of a text, not with its square."""

import ast
import importlib
import pkgutil
import re
import time
from pathlib import Path

import pytest

import kernova

METHODS = {"match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
LENGTH, TIMES = 200_000, 4
# Quadratic growth takes sixteen times as long; a run below this is too short to be measured.
LARGEST_RATIO, LEAST_SECONDS = 9.0, 0.01
BAIT = (
    *(
        "1",
        "1.",
        "1e",
        "a",
        "a ",
        " ",
        "\t",
        "\n",
        "\r\n",
        '"',
        '""',
        "'",
        '"a',
        "!",
        "<",
        "=",
        "-",
    ),
    *("\\", "[", "(", "{", "`", ".", ",", "x0", "_", "\u00e4", "\u200d", "\u202e", "\U000e0100"),
    *("ooTextFile", "features", "features .", "LM=", "x=", "lm1", '"\n', "'b': '"),
)
# What the long run has to follow, so that the expression comes to it at all.
HEADS = ("", '"', "1", "a", '"ooTextFile', "features", "x='")


def module_names():
    found = pkgutil.walk_packages(kernova.__path__, "kernova.")
    return sorted(module.name for module in found if not module.name.endswith("__main__"))


def expressions():
    """Yield each expression of the package: its place, itself, and the method it is used with."""
    for name in module_names():
        module = importlib.import_module(name)
        source = Path(module.__file__).read_text()
        compiled = {key: one for key, one in vars(module).items() if isinstance(one, re.Pattern)}
        for key, expression in compiled.items():
            for method in sorted(set(re.findall(rf"\b{key}\.(\w+)\(", source)) & METHODS):
                yield f"{name}.{key}.{method}", expression, method
        for node in ast.walk(ast.parse(source)):
            if is_inline(node):
                constant = node.args[0].value
                yield f"{name}:{node.lineno}", re.compile(constant), node.func.attr


def is_inline(node):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in METHODS
        and getattr(node.func.value, "id", "") == "re"
        and isinstance(node.args[0], ast.Constant)
    )


EXPRESSIONS = {place: (expression, method) for place, expression, method in expressions()}


def seconds(expression, method, text):
    """Return the processor time of a use of the expression, the shortest of three."""
    found = []
    for _ in range(3):
        start = time.process_time()
        result = getattr(expression, method)(*([text[:0], text] if method == "sub" else [text]))
        if method == "finditer":
            for _ in result:
                pass
        found.append(time.process_time() - start)
        if found[-1] < LEAST_SECONDS:
            break
    return min(found)


def texts(expression, n):
    """Yield texts of about n characters that the expression might match in many ways."""
    own = set(expression.pattern if isinstance(expression.pattern, str) else "")
    for bait in (*BAIT, *sorted(own - set(BAIT))):
        for head in HEADS:
            text = head + bait * (n // len(bait)) + "x"
            yield text if isinstance(expression.pattern, str) else text.encode()


@pytest.mark.soak
@pytest.mark.parametrize("place", EXPRESSIONS)
def test_time_grows_with_the_length_of_the_text(place, long_bar):
    expression, method = EXPRESSIONS[place]
    n = long_bar(LENGTH)
    for short, long in zip(texts(expression, n // TIMES), texts(expression, n), strict=True):
        taken = seconds(expression, method, long)
        if taken > LEAST_SECONDS:
            ratio = taken / seconds(expression, method, short)
            assert ratio < LARGEST_RATIO, f"{short[:20]!r}…{short[-3:]!r}"


def test_all_expressions_are_found():
    places = set(EXPRESSIONS)
    assert {
        "kernova.textfiles._NUMBER.fullmatch",
        "kernova.audio.annotations.textgrid._TOKEN.finditer",
        "kernova.shapes.tps._KEYWORD.fullmatch",
        "kernova.text._INVISIBLE.sub",
        "kernova.web.hosts._HOST.fullmatch",
    } <= places
    assert len(places) >= 18


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        # Of coordinates and of keywords in TPS files, in version 1.0.
        (r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?", "1{}x"),
        (r"([A-Za-z][A-Za-z0-9_ ]*?)\s*=\s*(.*)", "a{}x"),
    ],
)
def test_the_measure_shows_backtracking(expression, text):
    slow = re.compile(expression)
    run = "1" if text.startswith("1") else " "
    short, long = (text.format(run * n) for n in (1000, TIMES * 1000))
    ratio = seconds(slow, "fullmatch", long) / seconds(slow, "fullmatch", short)
    assert ratio > LARGEST_RATIO
