"""The field's words: no private dialect in anything that a user reads.

Each entry of ``DIALECT`` is a pattern and the plain words to use instead. What is scanned: every
string and docstring of the package, the page, the site and the README.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "kernova"

DIALECT = {
    r"(by|draw(n|s|ing)?) lots?\b|\blots would\b": "random sampling, random baseline",
    r"strangers?|strangeness": "sparse regions, outliers, novelty",
    r"crowds?|crowded": "dense regions",
    r"kin|kinship": "in-class, related",
    r"sayings?": "commands",
    r"(the|a|of|what|largest|smallest|small|large|same|this|that|which) shares?\b(?! the| a | one)"
    r"|\bshares? of": "fraction",
    r"stretch(es)?": "chunk, interval",
    r"lessons?": "training annotations",
    r"hear(s|d|ing)?": "detect, scan",
    r"(the|all|of|these|those|its|few|more|no|\d+) finds\b": "detections",
    r"pass(ed|es|ing)? over": "skip",
    r"(?<![\"'`])refus(e|es|ed|al|als|ing)(?![\"'`])": "reject, raise, cannot",
    r"rightly": "correctly",
    r"be it ever so|so manieth|(taken?|takes|taking) (home|along)": "a plain sentence",
    r"clear leads?|leads? over": "margin",
    r"piles?": "duplicate rows",
    r"the road|stations?": "pipeline, stage, package",
    r"kept back": "held out",
    r"told apart|tell(s|ing)? .{1,20} apart": "separated, distinguished",
    r"it takes a factor": "rows with a factor above ... are called outliers",
    r"loneliest|lonely": "most isolated",
}
# What may stay, and why.
EXCEPTIONS = {
    # (file, matched text): reason
    ("src/kernova/notes/demo.py", "lesson"): "file name of the demo, which frozen commands use",
    ("src/kernova/cli/notes.py", "lesson"): "file name of the demo, which frozen commands use",
    ("docs/guide/notes.rst", "lesson"): "file name of the demo, which frozen commands use",
    ("src/kernova/discover/strategies/__init__.py", "strangers"): "old name, stored in projects",
    ("src/kernova/discover/strategies/__init__.py", "crowds"): "old name, stored in projects",
    ("src/kernova/web/access.py", "refused"): "error code that scripts read",
}
# Values of parameters, which stay: missing="refuse".
VALUES = {"refuse"}
_PATTERNS = {re.compile(rf"\b(?:{pattern})\b", re.I): plain for pattern, plain in DIALECT.items()}
_ASKING = re.compile(r"(What|How|Which|Who|Whom|Whose|Where|Why|When)\b")


def _strings(path):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and node.value not in VALUES:
            yield node.lineno, node.value


def _texts():
    """Collect what users read: file, line and text."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield from ((path, line, text) for line, text in _strings(path))
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.rst")),
        *sorted((ROOT / "docs" / "decisions").glob("*.md")),
        *sorted((PACKAGE / "web" / "static").rglob("*.html")),
        *sorted((PACKAGE / "web" / "static").rglob("*.js")),
    ]
    for path in pages:
        if "generated" in path.parts or "_build" in path.parts:
            continue
        for line, text in enumerate(path.read_text().splitlines(), start=1):
            yield path, line, text


def dialect_found():
    """List every place where the dialect stands."""
    found = []
    for path, line, text in _texts():
        name = str(path.relative_to(ROOT))
        for pattern, plain in _PATTERNS.items():
            for match in pattern.finditer(text):
                if (name, match[0].lower()) not in EXCEPTIONS:
                    line_of_match = line + text.count("\n", 0, match.start())
                    found.append(f"{name}:{line_of_match}: {match[0]!r} -> {plain}")
    return found


def test_no_dialect_is_left():
    found = dialect_found()
    assert not found, "\n".join(found[:60])


def test_exceptions_are_needed():
    texts = {}
    for path, _, text in _texts():
        texts.setdefault(str(path.relative_to(ROOT)), []).append(text.lower())
    for name, match in EXCEPTIONS:
        assert any(match in text for text in texts.get(name, [])), (name, match)


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_docstrings_begin_with_what_one_would_search_for(path):
    tree = ast.parse(path.read_text())
    assert not _ASKING.match(ast.get_docstring(tree) or "")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            assert not first.startswith(("Give ", "Gives ", "Tell ", "Say ")), (node.name, first)


if __name__ == "__main__":
    print("\n".join(dialect_found()))
