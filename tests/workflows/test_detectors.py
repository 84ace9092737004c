"""The registry of detectors: the command line offers what it holds, with its defaults."""

import dataclasses
import inspect
import subprocess
import sys
from importlib import import_module
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from kernova import (
    CalibratedDetector,
    KernelSpatialDepth,
    MulticlassDataDescription,
    OpenSetClassifier,
    RobustKernelOutlierFactor,
)
from kernova.workflows.detectors import (
    ALL,
    detector_help,
    detector_named,
    detector_names,
    novelty_estimator,
    outlier_estimator,
)
from kernova.workflows.settings import (
    LearnSettings,
    NoveltySettings,
    OutlierSettings,
    RecognizeSettings,
    SimulationSettings,
)

COMMANDS = ("novelty", "outliers")


def options_of(command):
    module = "recognize" if command == "learn" else command
    function = getattr(import_module(f"kernova.cli.{module}"), command)
    return inspect.signature(function).parameters


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_offers_the_registered_detectors(command):
    literal = options_of(command)["method"].annotation.__origin__
    also = (ALL,) if command == "outliers" else ()
    assert get_args(literal) == (*detector_names(command), *also)
    for name in detector_names(command):
        assert name in detector_help(command)
        assert detector_named(name, command).title in detector_help(command)


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        ("novelty", NoveltySettings),
        ("outliers", OutlierSettings),
        ("learn", LearnSettings),
        ("recognize", RecognizeSettings),
        ("simulate", SimulationSettings),
    ],
)
def test_the_defaults_of_a_command_are_those_of_its_settings(command, settings):
    options = options_of(command)
    compared = 0
    for name, default in dataclasses.asdict(settings()).items():
        # Lists and "no limit" are written differently on the command line.
        if name in options and not isinstance(default, tuple) and options[name].default is not None:
            assert options[name].default == default, name
            compared += 1
    assert compared >= 1


@pytest.mark.parametrize(
    ("settings", "estimator", "names"),
    [
        (NoveltySettings, CalibratedDetector, "max_false_alarm confidence bound holdout"),
        (NoveltySettings, KernelSpatialDepth, "bandwidth"),
        (OutlierSettings, CalibratedDetector, "confidence"),
        (OutlierSettings, KernelSpatialDepth, "bandwidth contamination"),
        (OutlierSettings, RobustKernelOutlierFactor, "n_neighbors kernel contamination"),
        (LearnSettings, MulticlassDataDescription, "reject scale robust"),
        (
            LearnSettings,
            OpenSetClassifier,
            "reject per_class scale class_weight max_rows_per_class robust",
        ),
    ],
)
def test_settings_have_the_defaults_of_their_estimators(settings, estimator, names):
    parameters = inspect.signature(estimator).parameters
    for name in names.split():
        default = parameters[name].default
        assert getattr(settings(), name) in (default, (default,)), name


@pytest.mark.parametrize("name", detector_names("outliers"))
def test_the_registry_knows_where_each_detector_keeps_its_own_scores(name):
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    chain = outlier_estimator(OutlierSettings(method=name), for_new_rows=False).fit(rows)
    attribute = detector_named(name, "outliers").training_scores
    scores = chain.score_samples(rows) if attribute is None else getattr(chain[-1], attribute)
    assert scores.shape == (40,)


@pytest.mark.parametrize("name", detector_names("novelty"))
def test_every_detector_of_novelty_scores_new_rows(name):
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    chain = novelty_estimator(NoveltySettings(method=name)).fit(rows)
    assert chain.score_samples(rows.head(3)).shape == (3,)


def test_the_registry_and_the_settings_are_imported_cheaply():
    code = (
        "import sys, kernova.workflows.detectors, kernova.workflows.settings\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(str(sorted(heavy)) if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
