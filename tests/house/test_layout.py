"""The layout of the package: sizes of folders, files and functions, and where private names go."""

import ast
from collections import Counter
from pathlib import Path
from statistics import median, quantiles

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "kernova"
MODULES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})
# Names that say nothing of what is inside.
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "misc", "tools"}


def _named(path):
    return str(path.relative_to(PACKAGE))


def _n_lines(path):
    return len(path.read_text().splitlines())


def _body_lines():
    """Count the lines of every function's body, without its docstring."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if body:
                    yield body[-1].end_lineno - body[0].lineno + 1


def test_no_package_outgrows_a_morning_of_reading():
    """A folder is read in a morning; one that is not should be divided by subject."""
    lines = Counter()
    for path in MODULES:
        lines[_named(path).rpartition("/")[0]] += _n_lines(path)
    assert {name for name, n in lines.items() if n > 6500} == set()
    assert len(MODULES) <= 520


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: _named(path) or "kernova")
def test_no_folder_is_crowded_and_no_prefix_does_a_folders_work(folder):
    names = [path.stem for path in folder.glob("*.py")]
    assert len(names) <= 20
    prefixes = Counter(name.split("_")[0] for name in names if not name.startswith("_"))
    assert {prefix for prefix, n in prefixes.items() if n >= 3} == set()
    assert set(names) & EMPTY_NAMES == set()


def test_files_are_neither_long_nor_scraps():
    lines = {_named(path): _n_lines(path) for path in MODULES}
    assert {name for name, n in lines.items() if n > 600} == set()
    assert 150 <= median(lines.values()) <= 300


def test_functions_are_short():
    lines = list(_body_lines())
    assert median(lines) <= 8
    assert quantiles(lines, n=10)[-1] <= 22


def test_one_module_imports_scikit_learns_private_names():
    found = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                parts = [*node.module.split("."), *(name.name for name in node.names)]
                if any(part.startswith("_") for part in parts):
                    found.add(_named(path))
    assert found == {"_sklearn.py"}


def test_nothing_but_the_command_line_imports_the_papers():
    importers = {
        _named(path).split("/")[0]
        for path in MODULES
        if "kernova.papers" in path.read_text() and not _named(path).startswith("papers/")
    }
    assert importers <= {"cli"}
