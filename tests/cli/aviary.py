"""Made-up birds that the tests of ``kernova notes`` share, and how they run commands."""

from typer.testing import CliRunner

from kernova.cli.app import app

LEARN = ["notes", "learn", "lesson.wav", "lesson.selections.txt"]
FIND = ["notes", "find", "model.kernova"]
CHECK = ["notes", "check", "model.kernova"]
DUSK = ["night/dusk.wav", "truth/dusk.selections.txt"]
CLASSES = ["buzz", "falling", "rising"]


def run(*arguments, exit_code=0):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == exit_code, result.output
    if exit_code == 0:
        assert result.stderr == ""  # neither bars where nobody watches, nor Python's warnings
    return result.stdout
