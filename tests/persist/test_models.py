"""Models come back as they went; what could not come back is not saved."""

import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
import skops
from sklearn.base import BaseEstimator, clone
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import GradientBoostingRegressor, IsolationForest, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.tree import DecisionTreeRegressor

import kernova
from kernova import (
    CalibratedDetector,
    InputError,
    KernelSpatialDepth,
    LocalDensityFactor,
    LocalPeculiarityFactor,
    RobustKernelOutlierFactor,
    TableEncoder,
    load_model,
    save_model,
)
from kernova.kernels.functions import Gaussian, Linear, Matern, Polynomial

from .examples import FOR_THREE_COLUMNS, NEW_ROWS, ROWS, SimilarityToMean, assert_same_answers
from .messages import (
    A_CLASS,
    CANNOT_WRITE,
    DIFFERS,
    GRADIENT_BOOSTING,
    NO_ESTIMATOR,
    NOT_FITTED,
    RECURSION,
    cannot_save,
)

TARGET = ROWS @ [1.0, 2.0, 3.0]

MODELS = {
    "isolation forest": IsolationForest(n_estimators=20, random_state=0).fit(ROWS),
    "pipeline": make_pipeline(StandardScaler(), OneClassSVM()).fit(ROWS),
    "kd tree": LocalOutlierFactor(novelty=True).fit(ROWS),
    "ball tree": LocalOutlierFactor(novelty=True, algorithm="ball_tree", p=3).fit(ROWS),
    "weighted kd tree": KernelDensity().fit(ROWS, sample_weight=np.arange(1, 81)),
    "forest": RandomForestRegressor(n_estimators=5, random_state=0).fit(ROWS, TARGET),
    "pruned tree": DecisionTreeRegressor(ccp_alpha=0.5, random_state=0).fit(ROWS, TARGET),
    "best-first tree": DecisionTreeRegressor(max_leaf_nodes=9, random_state=0).fit(ROWS, TARGET),
    "lone leaf": DecisionTreeRegressor().fit(ROWS, np.ones(80)),
    "dtype inside": make_pipeline(SimpleImputer(), EllipticEnvelope(random_state=0)).fit(ROWS),
    "ufunc inside": make_pipeline(FunctionTransformer(np.tanh), OneClassSVM()).fit(ROWS),
}


def saved_and_loaded(model, folder, **options):
    save_model(model, folder / "m.kernova")
    return load_model(folder / "m.kernova", **options)


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_restored_bit_for_bit(name, tmp_path):
    loaded = saved_and_loaded(MODELS[name], tmp_path)
    assert repr(loaded) == repr(MODELS[name])
    assert_same_answers(MODELS[name], loaded)


def test_sparse_arrays_are_restored(tmp_path):
    model = OneClassSVM().fit(scipy.sparse.csr_array(np.maximum(ROWS, 0)))
    loaded = saved_and_loaded(model, tmp_path)
    assert_same_answers(model, loaded, scipy.sparse.csr_array(np.maximum(NEW_ROWS, 0)))


OURS = {
    name: getattr(kernova, name)
    for name in kernova.__all__
    if isinstance(getattr(kernova, name), type)
    and issubclass(getattr(kernova, name), BaseEstimator)
    # It learns from recordings: tests/studies/test_notes.py saves it.
    and name != "NoteFinder"
}

MIXED = pd.DataFrame(
    {
        "length": ROWS[:, 0],
        "is_adult": ROWS[:, 1] > 0,
        "place": np.where(ROWS[:, 2] > 0, "river", "sea"),
        "kind": pd.Categorical.from_codes(np.arange(80) % 3, ["c", "a", "b"]),
    }
)

# Engines, kernels and tables beyond the defaults, by the class that they show.
OUR_VARIANTS = {
    "low rank": (KernelSpatialDepth(engine="low-rank"), ROWS),
    "composed kernel": (KernelSpatialDepth(Gaussian(2.0) + 0.5 * Linear()), ROWS),
    "mixed columns": (TableEncoder(), MIXED),
    "the whole road": (
        CalibratedDetector(
            make_pipeline(TableEncoder(), KernelSpatialDepth()),
            max_false_alarm=0.2,
            random_state=np.random.RandomState(0),
        ),
        MIXED,
    ),
    "other detector": (
        CalibratedDetector(IsolationForest(n_estimators=5), max_false_alarm=0.2, random_state=0),
        ROWS,
    ),
}


@pytest.mark.parametrize("name", OURS)
def test_all_our_estimators_are_restored_without_naming_types(name, tmp_path):
    rows = np.random.default_rng(2).normal(size=(150, 3))  # enough for every default
    model = OURS[name](**FOR_THREE_COLUMNS.get(name, {})).fit(
        rows, np.arange(150) % 2
    )  # classes, for those that need them
    assert_same_answers(model, saved_and_loaded(model, tmp_path))


@pytest.mark.parametrize("name", OUR_VARIANTS)
def test_variants_of_ours_are_restored_without_naming_types(name, tmp_path):
    model, rows = OUR_VARIANTS[name]
    model = clone(model).fit(rows)
    assert_same_answers(model, saved_and_loaded(model, tmp_path), rows)


@pytest.mark.parametrize("novelty", [False, True])
@pytest.mark.parametrize("algorithm", ["kd_tree", "brute", "approximate"])
@pytest.mark.parametrize(
    "detector", [RobustKernelOutlierFactor, LocalDensityFactor, LocalPeculiarityFactor]
)
def test_local_factors_are_restored_with_their_neighbours(detector, algorithm, novelty, tmp_path):
    rows = np.random.default_rng(3).normal(size=(5200 if algorithm == "approximate" else 150, 3))
    rows[10:14] = rows[9]  # copies
    model = detector([5, 9], algorithm=algorithm, novelty=novelty).fit(rows)
    assert model.algorithm_ == algorithm
    loaded = saved_and_loaded(model, tmp_path)
    assert_same_answers(model, loaded)
    numbers = np.arange(len(NEW_ROWS))
    np.testing.assert_array_equal(
        loaded.score_replaced(NEW_ROWS, numbers), model.score_replaced(NEW_ROWS, numbers)
    )


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(0.1), Matern(2.0, 2.5), Gaussian(2.0) * Polynomial(1.5, 2) + 0.5 * Linear()],
    ids=repr,
)
def test_our_kernels_need_no_trust(kernel, tmp_path):
    model = make_pipeline(StandardScaler(), SimilarityToMean(kernel)).fit(ROWS)
    with pytest.warns(UserWarning, match=r"trusted=\['tests.persist.examples.SimilarityToMean'\]"):
        loaded = saved_and_loaded(model, tmp_path, trusted=SimilarityToMean)
    assert loaded[-1].kernel == kernel
    assert_same_answers(model, loaded)


def test_names_of_columns_survive(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["height", "weight", "größe"])
    model = make_pipeline(StandardScaler(), IsolationForest(n_estimators=3)).fit(frame)
    loaded = saved_and_loaded(model, tmp_path)
    assert list(loaded.feature_names_in_) == list(frame.columns)
    assert loaded.feature_names_in_.dtype == model.feature_names_in_.dtype
    assert_same_answers(model, loaded, frame)
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame.rename(columns={"height": "length"}))


@pytest.mark.parametrize("seed", [None, 7, np.random.RandomState(3)], ids=str)
def test_random_state_survives(seed, tmp_path):
    loaded = saved_and_loaded(
        IsolationForest(n_estimators=2, random_state=seed).fit(ROWS), tmp_path
    )
    if isinstance(seed, np.random.RandomState):
        np.testing.assert_array_equal(loaded.random_state.random(9), seed.random(9))
    else:
        assert loaded.random_state == seed


def test_shared_objects_stay_shared(tmp_path):
    shared = np.random.RandomState(0)
    detectors = [IsolationForest(n_estimators=2, random_state=shared).fit(ROWS) for _ in "ab"]
    model = FunctionTransformer(kw_args={"detectors": detectors}).fit(ROWS)
    first, second = saved_and_loaded(model, tmp_path).kw_args["detectors"]
    assert first is not second
    assert first.random_state is second.random_state


# The file

SAVE_ONE = """
import sys, numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.preprocessing import FunctionTransformer
from sklearn.pipeline import make_pipeline
from kernova import save_model
rows = np.arange(60.0).reshape(20, 3) % 7
words = FunctionTransformer(kw_args={"words": set("these words come in any order".split())})
model = make_pipeline(words, IsolationForest(n_estimators=3, random_state=0).fit(rows))
save_model(model, sys.argv[1])
"""


def test_same_model_same_bytes_in_every_process(tmp_path, monkeypatch):
    here, elsewhere, again = (tmp_path / name for name in ("a.kernova", "b.model", "c"))
    monkeypatch.setattr("sys.argv", ["", here])
    exec(SAVE_ONE, {})
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    subprocess.run([sys.executable, "-c", SAVE_ONE, elsewhere], check=True, env=environment)
    save_model(load_model(elsewhere), again)
    assert here.read_bytes() == elsewhere.read_bytes() == again.read_bytes()


def test_header_names_versions_and_no_paths(tmp_path):
    save_model(MODELS["pipeline"], tmp_path / "m.kernova")
    with zipfile.ZipFile(tmp_path / "m.kernova") as archive:
        assert archive.namelist() == ["kernova.json", "model.skops"]
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert json.loads(archive.read("kernova.json")) == {
            "format": 1,
            "model": "sklearn.pipeline.Pipeline",
            "kernova": kernova.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "skops": skops.__version__,
        }


@pytest.mark.parametrize(("n_rows", "is_packed"), [(300, True), (100_000, False)])
def test_models_that_would_look_like_bombs_are_stored_uncompressed(tmp_path, n_rows, is_packed):
    rows = np.zeros((n_rows, 40))  # would deflate to next to nothing
    model = FunctionTransformer(kw_args={"rows": rows}).fit(ROWS)
    save_model(model, tmp_path / "m.kernova")
    size = (tmp_path / "m.kernova").stat().st_size
    assert size < rows.nbytes / 10 if is_packed else size > rows.nbytes
    assert load_model(tmp_path / "m.kernova").kw_args["rows"].shape == rows.shape


# What cannot be saved


def holding(extra):
    return SimilarityToMean(Linear(), extra).fit(ROWS)


def local_class():
    class Local(StandardScaler):
        pass

    return Local().fit(ROWS)


def complaint_of_python(value):
    with pytest.raises(TypeError) as caught:
        value.__reduce__()
    return f"TypeError: {caught.value}"


UNSAVABLE = {
    "class": (
        StandardScaler,
        A_CLASS,
    ),
    "no estimator": (
        {"a": 1},
        NO_ESTIMATOR,
    ),
    "not fitted": (
        make_pipeline(StandardScaler(), OneClassSVM()),
        NOT_FITTED,
    ),
    "lambda": (
        make_pipeline(FunctionTransformer(lambda X: X), StandardScaler()).fit(ROWS),
        cannot_save(
            "Pipeline",
            "its steps[0][1].func (of type function)",
            f"AttributeError: module '{__name__}' has no attribute '<lambda>'",
        ),
    ),
    "open file": (
        holding({"log": [1, sys.__stderr__]}),
        cannot_save(
            "SimilarityToMean",
            "its extra['log'][1] (of type TextIOWrapper)",
            complaint_of_python(sys.__stderr__),
        ),
    ),
    "module": (
        holding(os),
        cannot_save("SimilarityToMean", "its extra (of type module)", complaint_of_python(os)),
    ),
    "local class": (
        local_class(),
        cannot_save("Local", "it", f"AttributeError: module '{__name__}' has no attribute 'Local'"),
    ),
    "keys that change": (
        holding({True: "yes", False: "no"}),
        cannot_save("SimilarityToMean", "its extra (of type dict)", DIFFERS),
    ),
    "gradient boosting": (
        make_pipeline(GradientBoostingRegressor(n_estimators=2)).fit(ROWS, TARGET),
        cannot_save(
            "Pipeline",
            "its steps[0][1] (of type GradientBoostingRegressor)",
            GRADIENT_BOOSTING,
        ),
    ),
}


@pytest.mark.parametrize("name", UNSAVABLE)
def test_what_cannot_be_saved_is_named_and_leaves_no_file(name, tmp_path):
    model, message = UNSAVABLE[name]
    with pytest.raises(InputError) as caught:
        save_model(model, tmp_path / "m.kernova")
    assert str(caught.value) == message
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_holds_itself_cannot_be_saved(tmp_path):
    ring = []
    ring.append(ring)
    with pytest.raises(InputError) as caught:
        save_model(holding({"ring": ring}), tmp_path / "m.kernova")
    # How Python words the rest depends on where it ran out.
    expected = cannot_save("SimilarityToMean", "its extra['ring'] (of type list)", RECURSION)
    assert str(caught.value).startswith(expected.partition(RECURSION)[0] + RECURSION)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    save_model(MODELS["pipeline"], tmp_path / "m.kernova")
    before = (tmp_path / "m.kernova").read_bytes()
    with pytest.raises(InputError):
        save_model(StandardScaler(), tmp_path / "m.kernova")
    assert (tmp_path / "m.kernova").read_bytes() == before


def test_paths_that_cannot_be_written(tmp_path):
    folder = tmp_path / "no"
    with pytest.raises(InputError) as caught:
        save_model(MODELS["pipeline"], folder / "m.kernova")
    assert str(caught.value) == CANNOT_WRITE.format(folder / "m.kernova", folder)
