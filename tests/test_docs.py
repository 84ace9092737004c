"""README and site: examples run as shown, commands parse, nothing public is missing."""

import doctest
import importlib.metadata
import inspect
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from typer.testing import CliRunner

import kernova
from kernova.cli.app import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
START = DOCS / "guide" / "getting_started.rst"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.rst")), *sorted(DOCS.glob("[!_a]*/*.rst"))]
PUBLIC_NAMES = [name for name in kernova.__all__ if not name.startswith("__")]
PICTURE_BYTES = 900_000
# Comment on a page whose commands read files that its own examples write.
PREPARED = ".. The commands below read what was written above.\n"

_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
_CODE_BLOCKS = (
    re.compile(r"^\.\. code-block:: (console|bash)\n\n((?:   .*\n|\n)+)", re.M),  # RST
    re.compile(r"^```(console|bash)\n(.*?)^```$", re.M | re.S),  # Markdown
)


class Shown(NamedTuple):
    """A command line on a page, and the output shown below it (None: none is shown)."""

    words: list[str]
    output: str | None


def test_pages_are_found():
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "docs/index.rst", "docs/guide/depth.rst", "docs/benchmarks.rst"} <= names


# --- Python examples and command sessions run as shown ---------------------------------------


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """Make the tables that the pages use: those of the first page, and the demo's."""
    folder = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        first = START.read_text().split("Novelty detection on the command line")[0]
        _run_examples(first, START)
        assert CliRunner().invoke(app, ["demo"]).exit_code == 0
    assert {path.name for path in folder.iterdir()} == {"known.csv", "new.csv", "demo"}
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_is_true(page, tables, tmp_path, monkeypatch):
    text = page.read_text()
    folder = shutil.copytree(tables, tmp_path / "here")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    prepared, is_prepared, _ = text.partition(PREPARED)
    if is_prepared:
        _run_examples(prepared, page)
    for command in _shown_commands(text, "console"):
        result = CliRunner().invoke(app, command.words[1:], prog_name="kernova")
        assert _agree(command.output, result.output), _difference(command, result.output)
    _run_examples(text, page)


def _run_examples(text, page):
    # A fence is Markdown's, not a line of output.
    examples = doctest.DocTestParser().get_doctest(
        re.sub(r"^```.*$", "", text, flags=re.M), {}, page.stem, str(page), 0
    )
    failures = []
    doctest.DocTestRunner(optionflags=_FLAGS).run(examples, out=failures.append)
    assert not failures, "".join(failures)


def _shown_commands(text, *kinds):
    """Find ``$ kernova ...`` with its output in console blocks, ``kernova ...`` in bash blocks."""
    commands = []
    for kind, block in (found for blocks in _CODE_BLOCKS for found in blocks.findall(text)):
        if kind in kinds:
            prompt = "$ " if kind == "console" else ""
            commands += _commands_in(inspect.cleandoc(block), prompt)
    return commands


def _commands_in(block, prompt):
    commands = []
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith(f"{prompt}kernova "):
            words = shlex.split(line.removeprefix(prompt), comments=True)
            commands.append(Shown(words, "" if prompt else None))
        elif commands and prompt:
            commands[-1] = commands[-1]._replace(output=f"{commands[-1].output}{line}\n")
    return commands


def _agree(shown, output):
    return doctest.OutputChecker().check_output(shown, output, _FLAGS)


def _difference(command, output):
    return f"{shlex.join(command.words)}\n--- shown\n{command.output}\n--- now\n{output}"


# --- commands --------------------------------------------------------------------------------


def _leaf_commands(command, path=()):
    if not hasattr(command, "commands"):
        return {path: command}
    found = {}
    for name, below in command.commands.items():
        found |= _leaf_commands(below, (*path, name))
    return found


LEAVES = _leaf_commands(typer.main.get_command(app))


def _all_commands(text):
    inline = [words for words in re.findall(r"`(kernova [^`]+)`", text) if "..." not in words]
    return [
        *(command.words for command in _shown_commands(text, "console", "bash")),
        *(shlex.split(words) for words in inline),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_shown_would_parse(page):
    for words in _all_commands(page.read_text()):
        rest = words[1:]
        if rest and rest[-1] in ("--help", "--version", "COMMAND"):
            continue
        for path, leaf in LEAVES.items():
            if tuple(rest[: len(path)]) == path:
                arguments = rest[len(path) :]
                if arguments:  # a bare command is mentioned, not shown
                    leaf.make_context(shlex.join(words), arguments)
                break
        else:
            assert any(path[: len(rest)] == tuple(rest) for path in LEAVES), shlex.join(words)


def test_every_command_has_an_example_in_the_readme():
    shown = [tuple(words[1:]) for words in _all_commands((ROOT / "README.md").read_text())]
    for path in LEAVES:
        n = len(path)
        assert any(words[:n] == path and len(words) > n for words in shown), path


def test_every_option_is_on_the_command_line_page():
    page = (DOCS / "guide" / "command_line.rst").read_text()
    for path, leaf in LEAVES.items():
        for parameter in leaf.params:
            for option in parameter.opts:
                if option.startswith("-") and option not in ("--help", "-h"):
                    assert f"``{option}``" in page, (path, option)


# --- nothing is left out ---------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_public_names_are_documented(name):
    listed = re.findall(r"^   (\w+)$", (DOCS / "api" / "index.rst").read_text(), flags=re.M)
    assert name in listed
    assert f"`{name}`" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("module", ["kernova.kernels", "kernova.report.figures", "kernova.pyod"])
def test_public_parts_of_modules_are_documented(module):
    page = (DOCS / "api" / "index.rst").read_text()
    _, _, section = page.partition(f".. currentmodule:: {module}")
    listed = set(re.findall(r"^   (\w+)$", section.split(".. currentmodule::")[0], flags=re.M))
    found = __import__(module, fromlist=["_"])
    names = getattr(found, "__all__", None) or [
        name
        for name, value in vars(found).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module
    ]
    assert set(names) == listed


def test_every_decision_is_on_the_site():
    page = (DOCS / "design.rst").read_text()
    decisions = sorted((DOCS / "decisions").glob("*.md"))
    assert decisions
    for number, decision in enumerate(decisions, start=1):
        title = decision.read_text().splitlines()[0]
        assert decision.name.startswith(f"{number:03}-")
        assert title.startswith(f"# {number:03} ")
        assert f"{title[2:]}\n" in page
        assert f".. include:: decisions/{decision.name}\n" in page


def test_links_to_files_lead_somewhere():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert target.startswith("https://") or (ROOT / target).exists(), (page.name, target)


def test_pictures_are_there_used_and_small():
    pages = "".join(page.read_text() for page in PAGES)
    pictures = sorted((DOCS / "pictures").iterdir())
    assert sum(picture.stat().st_size for picture in pictures) < PICTURE_BYTES
    assert {f"pictures/{picture.name}" for picture in pictures} == set(
        re.findall(r"pictures/\w+\.png", pages)
    )


def test_one_version_everywhere():
    version = kernova.__version__
    assert importlib.metadata.version("kernova") == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert version in re.findall(
        r"^## .*?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.M
    )
