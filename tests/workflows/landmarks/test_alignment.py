"""The step that aligns specimens: a transformer like any other of scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from kernova import InputError, load_model, save_model
from kernova.workflows.landmarks.alignment import (
    LOG_SIZE,
    LandmarkColumns,
    ShapeCoordinates,
    alignment_step,
)
from tests.workflows.landmarks.messages import ODD_COLUMNS
from tests.workflows.landmarks.specimens import (
    KNOWN,
    NEW,
    known,
    laid,
    new,
    shapes,
    wide,
    with_gaps,
)


def scaled(frame):
    """Add a last column: the log of a factor of size."""
    return frame.assign(**{LOG_SIZE: np.linspace(-1, 1, len(frame))})


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("has_gaps", [False, True])
def test_position_size_and_rotation_have_no_effect(dimensions, has_gaps):
    upright = shapes(NEW, seed=3, dimensions=dimensions)
    upright = with_gaps(upright) if has_gaps else upright
    step = ShapeCoordinates(dimensions).fit(wide(known(dimensions)))
    first, second = (step.transform(wide(laid(upright, seed=seed))) for seed in (5, 6))
    # Estimates of missing landmarks are accurate to 1e-7 of the size, and then rounded.
    np.testing.assert_allclose(first, second, rtol=0, atol=2e-6 if has_gaps else 1.01e-6)


@pytest.mark.parametrize("has_gaps", [False, True])
def test_specimens_that_were_aligned_before_are_aligned_alike(has_gaps):
    rows = wide(with_gaps(new()) if has_gaps else new())
    step = ShapeCoordinates().fit(wide(known()))
    aligned = step.align(rows)
    assert aligned.isna().equals(rows.isna())  # what is missing stays missing
    np.testing.assert_allclose(step.transform(aligned), step.transform(rows), rtol=0, atol=2e-6)


def test_the_projection_is_on_the_plane_at_the_consensus():
    step = ShapeCoordinates().fit(wide(known()))
    pole = step.procrustes_.consensus_.reshape(-1)
    pole /= np.linalg.norm(pole)
    np.testing.assert_allclose(step.transform(wide(new())) @ pole, 1, atol=1e-5)


def test_log_size_is_that_of_the_specimen_times_its_factor():
    rows = scaled(wide(known()))
    step = ShapeCoordinates(size=True).fit(rows)
    points = known()
    sizes = np.linalg.norm(points - points.mean(axis=1, keepdims=True), axis=(1, 2))
    np.testing.assert_allclose(step.transform(rows)[LOG_SIZE], np.log(sizes) + rows[LOG_SIZE],
                               atol=1e-6)  # fmt: skip
    twice = rows.copy()
    twice.iloc[:, :-1] *= 2
    grown = step.transform(twice)[LOG_SIZE] - step.transform(rows)[LOG_SIZE]
    np.testing.assert_allclose(grown, np.log(2), atol=2e-6)
    # Aligned specimens have the size 1, and the whole size as their factor.
    aligned = step.align(rows)
    np.testing.assert_allclose(step.transform(aligned), step.transform(rows), atol=2e-6)


@pytest.mark.parametrize("size", [False, True])
def test_names_and_kinds_of_tables_are_kept(size):
    rows = wide(known())
    rows = (scaled(rows) if size else rows).set_axis(range(100, 160))
    step = ShapeCoordinates(size=size).fit(rows)
    out = step.transform(rows)
    assert out.index.equals(rows.index)
    assert list(out.columns) == list(rows.columns) == list(step.get_feature_names_out())
    assert step.n_features_in_ == rows.shape[1]
    assert step.n_landmarks == 6
    array = clone(step).fit(rows.to_numpy()).transform(rows.to_numpy())
    assert isinstance(array, np.ndarray)
    np.testing.assert_array_equal(array, out)


def test_the_output_can_be_set():
    rows = wide(known())
    pandas = ShapeCoordinates().set_output(transform="pandas").fit_transform(rows.to_numpy())
    assert isinstance(pandas, pd.DataFrame)
    assert pandas.columns[0] == "x0"
    chain = make_pipeline(ShapeCoordinates(), PCA(3)).set_output(transform="pandas")
    assert list(chain.fit_transform(rows).columns) == ["pca0", "pca1", "pca2"]


def test_a_clone_is_not_fitted_and_has_the_same_parameters():
    step = ShapeCoordinates(size=True).fit(scaled(wide(known())))
    copy = clone(step)
    assert copy.get_params() == {"dimensions": 2, "size": True}
    for call in (copy.transform, copy.align):
        with pytest.raises(NotFittedError):
            call(wide(new()))


def test_other_columns_are_rejected():
    step = ShapeCoordinates().fit(wide(known()))
    with pytest.raises(ValueError, match="feature names should match"):
        step.transform(wide(new()).iloc[:, ::-1])
    of_arrays = ShapeCoordinates().fit(known().reshape(-1, 12))
    with pytest.raises(ValueError, match="X has 10 features"):
        of_arrays.transform(new().reshape(-1, 12)[:, :10])
    with pytest.raises(InputError) as raised:
        ShapeCoordinates(3).fit(wide(known()).iloc[:, :-1])
    assert str(raised.value) == ODD_COLUMNS


def test_a_saved_alignment_answers_as_before(tmp_path):
    step = ShapeCoordinates().fit(wide(with_gaps(known())))
    chain = make_pipeline(step, PCA(3)).fit(wide(known()))
    save_model(chain, tmp_path / "chain.kernova")
    rows = wide(with_gaps(new()))
    loaded = load_model(tmp_path / "chain.kernova")  # no type has to be named
    np.testing.assert_array_equal(loaded.transform(rows), chain.transform(rows))


def test_a_pipeline_begins_with_a_step_of_the_same_kind():
    step = ShapeCoordinates(3, size=True).fit(scaled(wide(known(dimensions=3))))
    reader = LandmarkColumns(step, has_scales=False, id_column=None, label_column="species")
    assert reader.layout == (6, 3)
    first = alignment_step(reader)
    assert first.get_params() == step.get_params()
    assert not hasattr(first, "procrustes_")
    assert alignment_step(None) is None


def test_specimens_become_what_the_noise_left_of_their_species():
    rows = ShapeCoordinates().fit_transform(wide(known())).to_numpy()
    is_pike = np.array(KNOWN) == "pike"
    apart = np.linalg.norm(rows[is_pike].mean(axis=0) - rows[~is_pike].mean(axis=0))
    spread = rows[is_pike].std(axis=0).max()
    assert apart > 5 * spread
