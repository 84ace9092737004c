"""The application: help, version, start-up time, and the demo."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import kernova
from kernova.cli.app import app


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # no progress bars without a terminal
    return result.stdout


def commands():
    """List every command as words, by walking the application."""
    import typer.main

    def walk(command, words):
        yield words
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, [*words, name])

    return list(walk(typer.main.get_command(app), []))


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_has_help_with_an_example(words):
    text = run(*words, "--help")
    assert "Usage:" in text
    example = " ".join(["kernova", *words])
    assert f"  {example}" in text.split("Options:")[1]


def test_version():
    assert run("--version") == f"kernova {kernova.__version__}\n"


@pytest.mark.parametrize(
    "code",
    ["import kernova", "from kernova.cli.app import app; app(['--help'], standalone_mode=False)"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    heavy = (
        "sklearn",
        "pandas",
        "scipy",
        "numpy",
        "matplotlib",
        "pyarrow",
        "skops",
        "rich.markdown",
    )
    check = (
        f"{code}; import sys; print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_python_dash_m_is_the_same_command():
    done = subprocess.run(
        [sys.executable, "-m", "kernova", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"kernova {kernova.__version__}\n"


def test_demo_writes_reports_and_figures(tmp_path):
    text = run("demo", "--folder", str(tmp_path / "demo"))
    assert "87 %" in text  # of the fours are found
    files = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"report.html", "known.csv", "new.csv", "verdicts.csv", "novelty_map.png"} <= files
    for line in text.split("Commands to try next")[1].splitlines()[1:]:
        assert line.startswith("  kernova ")
