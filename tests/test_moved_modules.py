"""Imports that the pages of version 0.1.0 show keep working, with a warning."""

import subprocess
import sys
from importlib import import_module

import pytest

import kernova
from kernova._moved import MODULES, NAMES

# Deep imports of the guide, and the home of every exported name, as version 0.1.0 had them.
OLD_NAMES = """
decide.calibrated CalibratedDetector Judgement novelty_scale novelty_of
decide.false_alarms false_alarm_threshold critical_false_alarm equal_error_rate
decide.false_alarms FalseAlarmThreshold CriticalFalseAlarm EqualErrorRate allowed_false_alarms
decide.p_values conformal_p_values select_discoveries
describe.data_description MulticlassDataDescription
describe.one_class OneClassGaussianProcess
describe.possibilistic PossibilisticNeighbors
discover.gaussian_mean_shift GaussianMeanShift
discover.hierarchy HierarchicalMeanShift
load.annotations read_annotations write_annotations
load.audio Audio AudioInfo audio_blocks audio_info read_audio
load.landmarks Landmarks read_tps write_tps read_landmark_table
load.landmarks groups_from_table groups_from_pattern
load.segments Segment check_segments segments_by_file
load.tables read_table Table
represent.encoding TableEncoder align_columns
represent.linear_dynamics HierarchicalLinearDynamics
represent.procrustes GeneralizedProcrustes
represent.shape_features ShapeFeatures shape_features read_shape_features
score.baselines LocalDensityFactor LocalPeculiarityFactor
score.outlier_factor RobustKernelOutlierFactor outlier_factor_path
score.spatial_depth SpatialDepth KernelSpatialDepth
studies.note_check check_notes Compared
studies.note_learning load_note_finder
studies.notes NoteFinder NoteScan
studies.novelty NoveltySettings find_novelties read_known_and_new
studies.outliers find_outliers read_rows
studies.learn LearnSettings learn_classes read_labelled
studies.recognition recognize_rows read_new load_recognizer
studies.simulation SimulationSettings simulate_strategies read_labelled_rows
studies.species study_unknown study_each
studies.species_space SpeciesSettings
studies.species_specimens judge_specimens
"""
OLD = [
    (f"kernova.{line.split()[0]}", name)
    for line in OLD_NAMES.strip().splitlines()
    for name in line.split()[1:]
]


def import_old(name):
    sys.modules.pop(name, None)
    with pytest.warns(DeprecationWarning, match=f"^{name} has moved to {MODULES[name]}; import"):
        return import_module(name)


@pytest.mark.parametrize(("module", "name"), OLD)
def test_documented_names_of_old_modules_are_the_new_ones(module, name):
    found = getattr(import_old(module), name)
    if name in kernova.__all__:
        assert found is getattr(kernova, name)
    assert found.__name__ == NAMES.get(f"{module}.{name}", name).rpartition(".")[2]


@pytest.mark.parametrize("name", MODULES)
def test_every_old_module_stands_for_one_that_exists(name):
    assert set(dir(import_old(name))) == set(dir(import_module(MODULES[name])))


@pytest.mark.parametrize("old", NAMES)
def test_renamed_names_exist(old):
    module, _, name = old.rpartition(".")
    found = getattr(import_old(module), name)
    assert NAMES[old] == f"{found.__module__}.{found.__name__}"


def test_packages_of_old_modules_have_nothing_else():
    package = import_module("kernova.studies")
    with pytest.raises(AttributeError, match=r"kernova\.studies' has no attribute 'x"):
        package.x  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"kernova\.studies\.nothing"):
        import_module("kernova.studies.nothing")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        import_old("kernova.load.tables").nothing  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match=r"kernova\.nowhere"):
        import_module("kernova.nowhere")


def test_the_warning_points_at_the_import():
    code = "import warnings; warnings.simplefilter('always')\nfrom kernova.load import tables"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stderr.startswith("<string>:2: DeprecationWarning: kernova.load.tables has")
