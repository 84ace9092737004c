"""Maps of all rows: within their square, the same every time, and readable despite far rows."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from kernova.studies.discovery_map import axes_map


@pytest.mark.parametrize("shape", [(300, 5), (300, 1), (50, 700), (2, 3), (1, 4), (450, 450)])
def test_every_row_is_within_the_square(shape):
    X = np.random.default_rng(0).normal(size=shape)
    drawn = axes_map(X)
    assert drawn.kind == "axes"
    assert drawn.points.dtype == np.float32
    assert drawn.points.shape == (shape[0], 2)
    assert np.abs(drawn.points).max() <= 1
    assert np.array_equal(drawn.points, axes_map(X.copy()).points)


def test_the_axes_are_the_principal_ones():
    rng = np.random.default_rng(1)
    X = (
        rng.normal(size=(500, 6))
        * [5, 3, 1, 1, 0.5, 0.1]
        @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    )
    drawn = axes_map(X)
    pca = PCA(2).fit(X)
    for ours, theirs in zip(drawn.points.T, pca.transform(X).T, strict=True):
        assert abs(np.corrcoef(ours, theirs)[0, 1]) == pytest.approx(1, abs=1e-5)
    share = 100 * pca.explained_variance_ratio_.sum()
    assert drawn.words == (
        f"The two axes along which rows differ most: {share:.0f} % of all differences."
    )


def test_many_columns_give_the_same_axes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 500)) * 0.1
    X[:, :2] += rng.normal(size=(120, 2)) * [20, 10]
    points = axes_map(X).points
    assert abs(np.corrcoef(points[:, 0], X[:, 0])[0, 1]) > 0.99
    assert abs(np.corrcoef(points[:, 1], X[:, 1])[0, 1]) > 0.99


def test_one_far_row_does_not_squeeze_all_others():
    X = np.random.default_rng(3).normal(size=(1000, 4))
    X[17] = 1e5
    drawn = axes_map(X)
    assert drawn.words.endswith(" Rows far out are drawn nearer.")
    others = np.delete(drawn.points, 17, axis=0)
    assert np.ptp(others, axis=0).max() > 0.1
    assert np.linalg.norm(others - drawn.points[17], axis=1).min() > 0.3


@pytest.mark.parametrize("value", [0.0, 3.0, 1e300, 1e-300])
def test_rows_that_are_all_alike_lie_in_the_middle(value):
    drawn = axes_map(np.full((7, 3), value))
    assert not drawn.points.any()


def test_huge_numbers_do_not_overflow():
    X = np.random.default_rng(4).normal(size=(30, 3)) * 1e300
    assert np.isfinite(axes_map(X).points).all()
