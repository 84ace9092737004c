"""Options: names and defaults against the library's, and parameters in messages as options."""

import dataclasses
import inspect
import json
import re
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.audio.reading import AUDIO_SUFFIXES
from kernova.cli.app import app
from kernova.cli.console import print_json
from kernova.cli.discover import discover
from kernova.cli.notes import check, find
from kernova.cli.notes import learn as learn_notes
from kernova.cli.novelty import novelty
from kernova.cli.options import in_options, running
from kernova.cli.outliers import outliers
from kernova.cli.recognize import learn, recognize
from kernova.cli.reproduce import ksd
from kernova.cli.simulate import simulate
from kernova.cli.species import species
from kernova.discover.strategies import DEFAULT_STRATEGY, STRATEGIES
from kernova.notes.evaluation import ONSET_TOLERANCE_SECONDS
from kernova.species.space import SpeciesSettings
from kernova.workflows.detectors import ALL, detector_names
from kernova.workflows.settings import (
    LearnSettings,
    NoveltySettings,
    OutlierSettings,
    RecognizeSettings,
    SimulationSettings,
)
from tests.cli import messages


def help_of(command, name):
    """Return the help of one argument or option."""
    info = get_args(inspect.signature(command).parameters[name].annotation)[1]
    return info.help


# --- the same choices and defaults as in the library ------------------------------------------


# Settings that the command line reads in another form, or not at all.
OTHERWISE = {
    outliers: {"n_neighbors", "path", "contamination"},
    recognize: {"n_nearest"},
    simulate: {"strategies"},
    species: {"weighting", "remainder", "least_group"},
}


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        (novelty, NoveltySettings()),
        (outliers, OutlierSettings()),
        (learn, LearnSettings()),
        (recognize, RecognizeSettings()),
        (simulate, SimulationSettings()),
        (species, SpeciesSettings()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_defaults_are_those_of_the_settings(command, settings):
    parameters = inspect.signature(command).parameters
    names = {field.name for field in dataclasses.fields(settings)} - OTHERWISE.get(command, set())
    defaults = {name: getattr(settings, name) for name in names}
    assert {name: parameters[name].default for name in names} == defaults


def test_the_default_tolerance_is_that_of_the_library():
    assert inspect.signature(check).parameters["tolerance"].default == ONSET_TOLERANCE_SECONDS


@pytest.mark.parametrize("command", [novelty, outliers])
def test_every_detector_can_be_chosen(command):
    annotation = inspect.signature(command).parameters["method"].annotation
    offered = get_args(get_args(annotation)[0])
    also = (ALL,) if command is outliers else ()
    assert offered == (*detector_names(command.__name__), *also)


def test_help_lists_every_audio_format():
    for suffix in AUDIO_SUFFIXES:
        assert suffix.removeprefix(".").upper() in help_of(find, "files")


def test_help_lists_every_strategy():
    text = help_of(discover, "strategy")
    assert f" {DEFAULT_STRATEGY} (default)" in text
    assert set(STRATEGIES) <= set(re.findall(r"[a-z-]+", text))


# --- parameters in messages -------------------------------------------------------------------


@pytest.mark.parametrize(("name", "message", "shown"), messages.IN_OPTIONS)
def test_parameters_become_options_of_the_running_command(name, message, shown):
    command = {
        "novelty": novelty, "outliers": outliers, "recognize": recognize, "species": species,
        "notes learn": learn_notes, "notes find": find, "discover": discover, "ksd": ksd,
    }[name]  # fmt: skip
    with running(command):
        assert in_options(message) == shown
    assert in_options(message) == message  # no command, no options


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(40, 2)), columns=["length", "width"])
    rows.to_csv("rows.csv", index=False)
    selections = pd.DataFrame({"Begin Time (s)": [1.0], "End Time (s)": [2.0]})
    selections.to_csv("selections.txt", sep="\t", index=False)
    return tmp_path


@pytest.mark.parametrize("line", messages.COMMANDS)
def test_messages_of_commands_name_options(folder, line):
    result = CliRunner().invoke(app, line.split())
    assert (result.exit_code, result.stderr) == (2, f"kernova: {messages.COMMANDS[line]}\n")


def test_notes_name_options_in_text_and_json(folder):
    words = ["outliers", "rows.csv", "--method", "rkof", "--neighbors", "20"]
    words += ["--max-false-alarm", "0.2", "--top", "0"]
    text = CliRunner().invoke(app, words).stdout
    notes = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["notes"]
    assert notes == messages.OUTLIER_NOTES
    assert all(note in text for note in notes)


# --- JSON -------------------------------------------------------------------------------------


def test_json_has_one_rule_for_all_values(capsys, tmp_path):
    values = {
        "counts": (np.int64(3), np.float32(0.5)),
        "flags": [np.bool_(True), None],
        "far": {"up": float("inf"), "down": -np.inf, "missing": np.nan, "no time": pd.NaT},
        "path": tmp_path,
        "day": pd.Timestamp("2020-01-31"),
    }
    print_json(values, one_line=True)
    assert json.loads(capsys.readouterr().out) == {
        "counts": [3, 0.5],
        "flags": [True, None],
        "far": {"up": "inf", "down": "-inf", "missing": None, "no time": None},
        "path": str(tmp_path),
        "day": "2020-01-31 00:00:00",
    }
