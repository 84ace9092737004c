"""Maps of all rows: within the square, deterministic, and readable despite outlying rows."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from kernova.discover.cache_file import write_cache
from kernova.progress import reporting
from kernova.workbench.row_map import (
    axes_map,
    coarse_map,
    near_rows,
    neighbours,
    neighbours_map,
    save_map,
    saved_map,
)
from tests.workbench import messages


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
    variance = 100 * pca.explained_variance_ratio_.sum()
    assert drawn.words == messages.PRINCIPAL_AXES.format(percent=variance)


def test_many_columns_give_the_same_axes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 500)) * 0.1
    X[:, :2] += rng.normal(size=(120, 2)) * [20, 10]
    points = axes_map(X).points
    assert abs(np.corrcoef(points[:, 0], X[:, 0])[0, 1]) > 0.99
    assert abs(np.corrcoef(points[:, 1], X[:, 1])[0, 1]) > 0.99


def test_one_outlying_row_does_not_squeeze_all_others():
    X = np.random.default_rng(3).normal(size=(1000, 4))
    X[17] = 1e5
    drawn = axes_map(X)
    assert drawn.words.endswith(messages.OUTLYING_ROWS)
    others = np.delete(drawn.points, 17, axis=0)
    assert np.ptp(others, axis=0).max() > 0.1
    assert np.linalg.norm(others - drawn.points[17], axis=1).min() > 0.3


@pytest.mark.parametrize("value", [0.0, 3.0, 1e300, 1e-300])
def test_equal_rows_lie_in_the_middle(value):
    drawn = axes_map(np.full((7, 3), value))
    assert not drawn.points.any()


def test_huge_numbers_do_not_overflow():
    X = np.random.default_rng(4).normal(size=(30, 3)) * 1e300
    assert np.isfinite(axes_map(X).points).all()


def fraction_kept(X, points, k=10):
    """Oracle by scikit-learn: fraction of nearest neighbours among the nearest points."""
    true, drawn = (
        NearestNeighbors(n_neighbors=k + 1).fit(Z).kneighbors(Z, return_distance=False)[:, 1:]
        for Z in (X, points)
    )
    return np.mean([len({*a} & {*b}) / k for a, b in zip(true, drawn, strict=True)])


def test_neighbours_stay_neighbours():
    X = load_digits().data[:900]
    drawn = neighbours_map(X)
    assert drawn.kind == "neighbours"
    assert drawn.points.dtype == np.float32
    assert np.abs(drawn.points).max() <= 1
    kept, on_axes = fraction_kept(X, drawn.points), fraction_kept(X, axes_map(X).points)
    assert kept > 0.4 > 2 * on_axes
    stated = messages.NEIGHBOURS.fullmatch(drawn.words)
    # The search is approximate, so the stated fractions are, too.
    assert [int(percent) for percent in stated.groups()] == pytest.approx(
        [100 * kept, 100 * on_axes], abs=6
    )
    assert np.array_equal(drawn.points, neighbours_map(X.copy()).points)


def test_nearly_all_neighbours_are_found():
    X = np.random.default_rng(5).normal(size=(1500, 12))
    found = near_rows(X, 10)
    true = NearestNeighbors(n_neighbors=11).fit(X).kneighbors(X, return_distance=False)[:, 1:]
    recall = np.mean([len({*a} & {*b}) / 10 for a, b in zip(true, found, strict=True)])
    assert recall > 0.7
    assert (found != np.arange(1500)[:, None]).all()
    assert all(len({*line}) == 10 for line in found.tolist())


def test_duplicate_rows_coincide():
    X = np.random.default_rng(6).normal(size=(200, 6))
    points = neighbours_map(np.concatenate([X, X[:50], np.repeat(X[:1], 500, axis=0)])).points
    assert np.array_equal(points[200:250], points[:50])
    assert (points[250:] == points[0]).all()


def test_rows_that_are_equal_on_the_strong_axes_are_separated():
    indicators = np.eye(80)[np.arange(400) % 80]
    X = np.column_stack([indicators, np.arange(400) // 80 / 100])
    assert np.isfinite(neighbours_map(X).points).all()


@pytest.mark.parametrize("n_rows", [1, 49])
def test_too_few_rows_get_no_neighbour_map(n_rows):
    assert neighbours_map(np.random.default_rng(7).normal(size=(n_rows, 2))) is None


def test_very_many_rows_are_drawn_amid_a_sample(monkeypatch):
    monkeypatch.setattr(neighbours, "MOST_ROWS", 500)
    monkeypatch.setattr(neighbours, "_SAMPLED_ROWS", 300)
    X = load_digits().data[:900]
    drawn = neighbours_map(X)
    assert drawn.words.endswith("Most rows are drawn amid the nearest of a sample of 300.")
    assert fraction_kept(X, drawn.points) > 2 * fraction_kept(X, axes_map(X).points)
    assert np.array_equal(drawn.points, neighbours_map(X.copy()).points)
    X[-30:] += 1000 * np.eye(64)[0]  # perhaps none of them is in the sample
    assert np.isfinite(neighbours_map(X).points).all()


def test_a_neighbour_map_that_is_not_better_is_dropped():
    assert neighbours_map(np.random.default_rng(8).uniform(size=(300, 2))) is None


def test_drawing_reports_its_progress():
    seen = []
    with reporting(seen.append):
        neighbours_map(np.random.default_rng(9).normal(size=(60, 5)))
    assert {step.task for step in seen} == {"finding neighbours", "drawing the map"}
    assert (seen[-1].done, seen[-1].total) == (200, 200)


# --- the coarse map --------------------------------------------------------------------------


def test_the_coarse_map_keeps_more_neighbours_than_the_axes(monkeypatch):
    monkeypatch.setattr(neighbours, "COARSE_FROM", 500)
    monkeypatch.setattr(neighbours, "_COARSE_ROWS", 300)
    X = load_digits().data[:900]
    coarse, whole = coarse_map(X), neighbours_map(X)
    assert coarse.kind == "sample"
    assert coarse.words == messages.COARSE
    assert coarse.points.dtype == np.float32
    assert np.abs(coarse.points).max() <= 1
    kept = [fraction_kept(X, drawn.points) for drawn in (axes_map(X), coarse, whole)]
    assert kept == sorted(kept)
    assert np.array_equal(coarse.points, coarse_map(X.copy()).points)


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((900, 4)),
        np.repeat(np.random.default_rng(8).uniform(size=(30, 3)), 30, axis=0),
        np.random.default_rng(8).uniform(size=(900, 2)),
    ],
)
def test_there_is_no_coarse_map_that_is_not_better(X, monkeypatch):
    monkeypatch.setattr(neighbours, "COARSE_FROM", 500)
    monkeypatch.setattr(neighbours, "_COARSE_ROWS", 300)
    assert coarse_map(X) is None


def test_few_rows_have_no_coarse_map():
    assert coarse_map(load_digits().data) is None


# --- the saved map ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn():
    return neighbours_map(load_digits().data[:200])


@pytest.fixture
def path(tmp_path, drawn):
    path = tmp_path / "digits.map.cache"
    save_map(path, "key", drawn)
    return path


def test_a_saved_map_is_read_again(path, drawn):
    found = saved_map(path, "key", 200)
    assert (found.kind, found.words) == (drawn.kind, drawn.words)
    assert np.array_equal(found.points, drawn.points)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_map_of_another_table_or_version_is_not_read(path):
    assert saved_map(path, "another", 200) is None
    assert saved_map(path, "key", 199) is None


def test_a_damaged_map_is_not_read(path, drawn):
    content = path.read_bytes()
    for broken in (b"", content[:500], content[:-9], content.replace(b"points", b"things")):
        path.write_bytes(broken)
        assert saved_map(path, "key", 200) is None
    for place in range(0, len(content), 97):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        found = saved_map(path, "key", 200)
        assert found is None or np.array_equal(found.points, drawn.points)


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((200, 3), np.float32),
        np.zeros((200, 2)),
        np.full((200, 2), np.nan, np.float32),
        np.full((200, 2), 2, np.float32),
        [[0.0, 0.0]] * 200,
    ],
)
def test_points_that_are_no_map_are_not_read(path, points):
    write_cache(path, "key", {"kind": "neighbours", "points": points, "words": "Words."})
    assert saved_map(path, "key", 200) is None


def test_a_file_that_is_too_large_is_not_read(path, drawn):
    parts = {"kind": drawn.kind, "points": drawn.points, "words": "x" * 100_000}
    write_cache(path, "key", parts)
    assert saved_map(path, "key", 200) is None
