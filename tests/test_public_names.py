"""Public names: what the API reference lists is exported, and the reverse."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kernova

ROOT = Path(__file__).parents[1]
API = ROOT / "docs" / "api" / "index.rst"
# Public modules beside kernova itself, whose names have a section of their own.
PUBLIC_MODULES = ("kernova.kernels", "kernova.report.figures", "kernova.pyod",
                  "kernova.progress")  # fmt: skip


def documented_names():
    """Return the names of the API reference by the module of their section."""
    names, module, is_list = {}, "", False
    for line in API.read_text().splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif line.startswith(".. autosummary::"):
            is_list = True
        elif line and not line.startswith("   "):
            is_list = False
        elif is_list and re.fullmatch(r"   [\w.]+", line):
            names.setdefault(module, []).append(line.strip())
    return names


def own_names(module):
    """Return what a module defines or exports without an underscore."""
    exported = getattr(module, "__all__", None)
    if exported is not None:
        return set(exported)
    tree = ast.parse(Path(module.__file__).read_text())
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {name for name in defined if not name.startswith("_")}


def test_the_reference_lists_the_exported_names():
    listed = [name for name in documented_names()["kernova"] if "." not in name]
    assert len(listed) == len(set(listed))
    assert {*listed, "__version__"} == set(kernova.__all__)


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_the_reference_lists_the_names_of_public_modules(name):
    assert set(documented_names()[name]) == own_names(import_module(name))


def test_every_name_of_the_reference_exists():
    for module, names in documented_names().items():
        for name in names:
            inside, _, attribute = f"{module}.{name}".rpartition(".")
            found = getattr(import_module(inside), attribute)
            assert getattr(found, "__doc__", ""), name


def test_exported_names_are_found_in_a_new_process():
    """The name explain is also that of a package, which other tests may have imported."""
    code = (
        "import kernova\n"
        "for name in sorted(kernova.__all__):\n"
        "    assert name == '__version__' or getattr(kernova, name).__name__ == name, name\n"
        "    assert name in dir(kernova)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_type_checkers_see_the_same_names():
    """The names are listed once for the interpreter and once for type checkers."""
    tree = ast.parse(Path(kernova.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("kernova")
        for alias in node.names
    }
    assert {*imported, "__version__"} == set(kernova.__all__)


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, kernova\n"
        "heavy = {'numpy', 'sklearn', 'matplotlib', 'kernova._moved'} & set(sys.modules)\n"
        "sys.exit(str(sorted(heavy)) if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Packages in which functions and constants that only their own module uses begin with "_".
MARKED = ("workflows", "tables", "calibration", "persist")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def names_by_file():
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder, patterns in {"src": ["*.py"], "tests": ["*.py"], "benchmarks": ["*.py"],
                             "docs": ["*.py", "*.rst"]}.items():  # fmt: skip
        files += [file for pattern in patterns for file in (ROOT / folder).rglob(pattern)]
    return {file: set(_IDENTIFIER.findall(file.read_text())) for file in files if file.exists()}


def defined_names(tree):
    """Yield functions and constants; a class may be what a public function returns."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_what_only_its_own_module_uses_is_private():
    names = names_by_file()
    for package in MARKED:
        for path in sorted((ROOT / "src" / "kernova" / package).glob("*.py")):
            elsewhere = set().union(*(used for file, used in names.items() if file != path))
            defined = defined_names(ast.parse(path.read_text()))
            unused = [name for name in defined if name not in elsewhere and name[0] != "_"]
            assert not unused, (path.name, unused)
