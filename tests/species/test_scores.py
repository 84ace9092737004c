"""Novelty scores of shapes: their formulas literally, and inputs that are hard for them."""

import time
from functools import partial

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.spatial.distance import cdist
from scipy.stats import f as f_distribution
from scipy.stats import multivariate_normal

from kernova.errors import InputError
from kernova.kernels.bandwidth import chosen_bandwidth
from kernova.shapes import groups_from_table, read_tps
from kernova.species import SCORES
from kernova.species.scores import fit_score, kernel_width, scored_rows
from kernova.species.space import SpeciesSettings, fit_shape_space
from kernova.species.splits import area_under_curve, split_in_half
from tests.oracles import gaussian, kernel_spatial_depth
from tests.species.drawn_shapes import drawn

RATIO = "likelihood-ratio"


def specimens(sizes, n_columns=6, seed=0, between=3.0):
    """Rows of groups that vary by different amounts, correlated, and their groups."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((n_columns, n_columns))
    rows, groups = [], []
    for number, size in enumerate(sizes):
        mean = between * rng.standard_normal(n_columns)
        spread = rng.uniform(0.5, 1.5)
        rows.append(mean + spread * rng.standard_normal((size, n_columns)))
        groups += [f"g{number}"] * size
    return np.concatenate(rows) @ mixing, np.array(groups)


def literal_oas(covariance, df):
    """Shrunk covariance: Chen, Wiesel, Eldar and Hero (2010), equation (23)."""
    p = len(covariance)
    squared_trace, trace_of_square = np.trace(covariance) ** 2, np.trace(covariance @ covariance)
    numerator = trace_of_square / p**2 + squared_trace / p**2
    denominator = (df + 1) * (trace_of_square - squared_trace / p) / p**2
    rho = 1.0 if denominator <= numerator else numerator / denominator
    target = np.trace(covariance) / p * np.eye(p)
    return (1 - rho) * covariance + (rho + 1e-9) * target


def literal_spreads(white, groups):
    """Variances of groups, each drawn towards 1 as strongly as is most likely."""
    names, p = sorted(set(groups)), white.shape[1]
    squares = {n: np.sum((white[groups == n] - white[groups == n].mean(0)) ** 2) for n in names}
    freedom = {n: np.sum(groups == n) - 1 for n in names}
    seen = [n for n in names if freedom[n] > 0]
    common = sum(squares.values()) / (p * sum(freedom.values()))
    best, chosen = -np.inf, None
    for prior in 2.0 ** np.arange(-1, 11):
        fit = sum(
            f_distribution.logpdf(squares[n] / (p * freedom[n]) / common, p * freedom[n], p * prior)
            for n in seen
        )
        if fit > best:
            best, chosen = fit, prior
    return {n: (squares[n] / p + chosen) / (freedom[n] + chosen) for n in names}


def literal_log_densities(rows, groups, queries):
    """Log densities of queries in each known group, and in a new one, with whole matrices."""
    names, p = sorted(set(groups)), rows.shape[1]
    means = {n: rows[groups == n].mean(axis=0) for n in names}
    residuals = np.array([row - means[n] for row, n in zip(rows, groups, strict=True)])
    df = len(rows) - len(names)
    root = np.linalg.inv(np.real(sqrtm(literal_oas(residuals.T @ residuals / df, df))))
    center = np.mean(list(means.values()), axis=0)
    white, asked = (rows - center) @ root, (queries - center) @ root
    centers = {n: (means[n] - center) @ root for n in names}
    stacked = np.array(list(centers.values()))
    between = literal_oas(stacked.T @ stacked / (len(names) - 1), len(names) - 1)
    between -= np.mean([1 / np.sum(groups == n) for n in names]) * np.eye(p)
    values, axes = np.linalg.eigh(between)
    between = axes @ np.diag(np.maximum(values, 1)) @ axes.T
    spreads = literal_spreads(white, groups)
    known, new = {}, []
    for n in names:
        within = spreads[n] * np.eye(p)
        precision = np.linalg.inv(between) + np.sum(groups == n) * np.linalg.inv(within)
        uncertainty = np.linalg.inv(precision)
        mean = uncertainty @ (np.sum(groups == n) * np.linalg.inv(within) @ centers[n])
        known[n] = multivariate_normal(mean, within + uncertainty).logpdf(asked)
        wide = within + between * (1 + 1 / len(names))
        new.append(multivariate_normal(np.zeros(p), wide).logpdf(asked))
    return known, np.log(np.mean(np.exp(new), axis=0))


@pytest.mark.parametrize(
    ("sizes", "n_columns"), [((7, 5, 1, 9, 2), 4), ((3, 3), 5), ((4, 2, 3, 1), 12), ((30,) * 12, 6)]
)
def test_the_ratio_is_that_of_the_two_covariance_model(sizes, n_columns):
    rows, groups = specimens(sizes, n_columns)
    queries = np.vstack([rows[::3], rows.mean(axis=0), 0.5 * rows[:4] + 1])
    known, new = literal_log_densities(rows, groups, queries)

    score = fit_score(rows, groups)

    expected = np.log(np.mean(np.exp(list(known.values())), axis=0)) - new
    assert score.typicality(queries) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    for name in known:
        found = score.typicality_in_group(queries, name)
        assert found == pytest.approx(known[name] - new, rel=1e-9, abs=1e-9)


def test_with_one_known_group_the_ratio_is_its_density():
    rows, groups = specimens([20], n_columns=3)
    queries = rows[:5] + 0.3

    found = fit_score(rows, groups).typicality(queries)

    residuals = rows - rows.mean(axis=0)
    within = literal_oas(residuals.T @ residuals / 19, 19)
    density = multivariate_normal(rows.mean(axis=0), within * (1 + 1 / 20))
    constant = np.log(2 * np.pi) * 1.5 + np.linalg.slogdet(within)[1] / 2
    assert found == pytest.approx(density.logpdf(queries) + constant, rel=1e-9)
    assert fit_score(rows, groups).typicality_in_group(queries, "g0") == pytest.approx(found)


def test_mahalanobis_is_the_distance_to_the_nearest_mean():
    rows, groups = specimens([6, 4, 5])
    queries = rows + 0.5
    means = np.array([rows[groups == name].mean(axis=0) for name in ("g0", "g1", "g2")])
    residuals = rows - means[np.repeat([0, 1, 2], [6, 4, 5])]
    inverse = np.linalg.inv(literal_oas(residuals.T @ residuals / 12, 12))
    squared = cdist(queries, means, "mahalanobis", VI=inverse) ** 2

    score = fit_score(rows, groups, "mahalanobis")

    assert score.typicality(queries) == pytest.approx(-squared.min(axis=1), rel=1e-9)
    assert score.typicality_in_group(queries, "g1") == pytest.approx(-squared[:, 1], rel=1e-9)


def test_neighbors_are_the_five_nearest_or_all_of_fewer():
    rows, groups = specimens([6, 3])
    queries = rows + 0.5
    distances = cdist(queries, rows)

    score = fit_score(rows, groups, "neighbors")

    nearest = np.sort(distances, axis=1)[:, :5].mean(axis=1)
    assert score.typicality(queries) == pytest.approx(-nearest)
    in_group = distances[:, groups == "g1"].mean(axis=1)
    assert score.typicality_in_group(queries, "g1") == pytest.approx(-in_group)


def test_depth_is_that_of_the_paper():
    rows, groups = specimens([12, 9])
    queries = rows + 0.5

    score = fit_score(rows, groups, "depth", bandwidth="reach")

    own = rows[groups == "g1"]
    in_group = score.typicality_in_group(queries, "g1")
    for found, reference in ((score.typicality(queries), rows), (in_group, own)):
        kernel = partial(gaussian, bandwidth=chosen_bandwidth("reach", reference))
        expected = [kernel_spatial_depth(query, reference, kernel) for query in queries]
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rule", ["nearest", "reach", 0.3])
@pytest.mark.parametrize("copies", [0, 4, 12])
def test_width_of_few_rows_is_that_of_the_rule(rule, copies):
    rows = np.random.default_rng(copies).standard_normal((12, 3))
    rows[:copies] = rows[0]

    assert kernel_width(rule, rows) == pytest.approx(chosen_bandwidth(rule, rows), rel=1e-12)


HARD = {
    "singletons": lambda: specimens([1] * 8),
    "a singleton among groups": lambda: specimens([5, 1, 4]),
    "one group": lambda: specimens([9]),
    "more columns than rows": lambda: specimens([4, 3, 2], n_columns=40),
    "one column": lambda: specimens([5, 4], n_columns=1),
    "one specimen": lambda: specimens([1]),
    "equal specimens": lambda: (np.ones((6, 4)), np.array(["a"] * 3 + ["b"] * 3)),
    "groups of equal specimens": lambda: (
        np.repeat(np.eye(4), 3, axis=0), np.repeat(["a", "b", "c", "d"], 3)
    ),
    "one group of equal specimens": lambda: (
        np.vstack([np.zeros((4, 3)), np.arange(12.0).reshape(4, 3) ** 2]),
        np.array(["a"] * 4 + ["b"] * 4),
    ),
    "a constant column": lambda: (
        np.column_stack([specimens([6, 5], 3)[0], np.full(11, 7.0)]), specimens([6, 5], 3)[1]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("case", HARD)
def test_hard_inputs_have_scores_and_far_rows_the_lowest(case, name):
    rows, groups = HARD[case]()
    queries = np.vstack([rows, rows.mean(axis=0) + 100 * (1 + np.abs(rows).max())])

    score = fit_score(rows, groups, name)

    for found in (score.typicality(queries), score.typicality_in_group(queries, groups[0])):
        assert found.shape == (len(rows) + 1,)
        assert np.isfinite(found).all()
        # Rows beyond the reach of the kernel are about as deep as the outermost reference rows.
        assert name == "depth" or found[-1] < found[:-1].min()


@pytest.mark.parametrize("direction", range(5))
def test_far_rows_are_less_typical_in_every_direction_whatever_varies(direction):
    rng = np.random.default_rng(1)
    rows = np.vstack([rng.normal(0, 0.1, (20, 5)), rng.normal(0.05, 3.0, (20, 5))])
    groups = np.repeat(["narrow", "wide"], 20)
    steps = np.zeros((4, 5))
    steps[:, direction] = [0, 10, 30, 90]

    found = fit_score(rows, groups).typicality(steps)

    assert (np.diff(found) < 0).all()


@pytest.mark.parametrize("name", [RATIO, "mahalanobis"])
def test_an_unseen_value_of_a_constant_column_is_novel(name):
    rows, groups = HARD["a constant column"]()
    other = rows.copy()
    other[:, -1] = 40

    score = fit_score(rows, groups, name)

    assert score.typicality(other).max() < score.typicality(rows).min()


@pytest.mark.parametrize("name", [RATIO, "mahalanobis"])
def test_scores_do_not_depend_on_rotation_shift_scale_or_order(name):
    rows, groups = specimens([6, 5, 4], n_columns=5)
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((5, 5)))[0]
    order = np.random.default_rng(4).permutation(len(rows))

    found = fit_score(rows, groups, name).typicality(rows + 1)
    turned = fit_score((rows @ turn * 20 + 3)[order], groups[order], name)

    assert turned.typicality((rows + 1) @ turn * 20 + 3) == pytest.approx(found, rel=1e-8)


def placed(settings):
    landmarks, groups = drawn({"a": 12, "b": 10, "c": 8})
    reference = split_in_half(groups, np.arange(len(groups)), 0, 0).reference
    space = fit_shape_space(landmarks.coordinates[reference], groups[reference], settings)
    return space.place(landmarks.coordinates), reference


def test_rows_of_the_ratio_are_the_coordinates_turned():
    found, reference = placed(SpeciesSettings())
    coordinates = found.aligned.reshape(len(found.aligned), -1)

    rows = scored_rows(found, reference, RATIO, SpeciesSettings())

    # Nine landmarks have 14 directions of shape; 14 of 15 reference specimens span them all.
    assert rows.shape[1] in (14, 15)
    expected = cdist(coordinates[reference], coordinates[reference])
    assert cdist(rows[reference], rows[reference]) == pytest.approx(expected, abs=1e-12)
    for name in ("neighbors", "depth"):
        assert scored_rows(found, reference, name, SpeciesSettings()) is found.rows


def test_size_is_a_column_with_the_spread_of_the_first():
    settings = SpeciesSettings(size=True)
    found, reference = placed(settings)

    rows = scored_rows(found, reference, RATIO, settings)

    first, sizes = rows[reference, 0], rows[:, -1]
    assert sizes[reference].std() == pytest.approx(first.std())
    assert np.corrcoef(sizes, np.log(found.centroid_sizes))[0, 1] == pytest.approx(1)


def test_equal_reference_specimens_keep_their_coordinates():
    found, _ = placed(SpeciesSettings())
    same = found._replace(aligned=found.aligned[[0, 0, 0, 5]])

    rows = scored_rows(same, np.array([0, 1, 2]), RATIO, SpeciesSettings())

    typicality = fit_score(rows[:3], np.array(["a", "a", "b"])).typicality(rows)
    assert typicality[3] < typicality[0]


def test_two_hardly_different_groups_do_not_hide_a_third():
    rng = np.random.default_rng(5)
    rows, same = rng.standard_normal((60, 8)), rng.standard_normal((40, 8))
    score = fit_score(rows, np.repeat(["a", "b"], 30))

    auroc = area_under_curve(score.typicality(same), score.typicality(same + 1.5))

    assert auroc > 0.95


@pytest.mark.parametrize("name", SCORES)
def test_a_group_without_specimens_is_named(name):
    score = fit_score(*specimens([4, 3]), name)

    with pytest.raises(InputError, match=r"No reference specimen is of the group 'wren'\. Choose"):
        score.typicality_in_group(np.zeros((1, 6)), "wren")


def test_an_unknown_score_is_named():
    with pytest.raises(InputError, match=r"no score named 'knn'; choose one of likelihood-ratio, "):
        fit_score(*specimens([4, 3]), "knn")


def test_two_thousand_rows_take_less_than_a_second():
    rng = np.random.default_rng(0)
    rows, queries = rng.standard_normal((2, 2000, 40))
    groups = rng.integers(240, size=2000).astype(str)

    start = time.process_time()
    fit_score(rows, groups).typicality(queries)

    assert time.process_time() - start < 1


def test_the_ratio_finds_more_turtles_than_depth(data_folder):
    """One species of the choosing part of decision 033, where depth does worst."""
    folder = data_folder / "landmarks" / "turtles"
    if not folder.is_dir():
        pytest.skip(f"no landmarks at {folder}")
    turtles = read_tps(folder / "turtles.tps")
    groups = np.array(groups_from_table(folder / "turtles.csv", turtles.ids, group_column="sample"))
    part = np.isin(groups, ["picta", "guttata", "orbicularis", "muhlenbergii", "ornata"])
    coordinates, groups = turtles.coordinates[part], groups[part]
    is_unknown = groups == "orbicularis"
    halves = split_in_half(groups, np.flatnonzero(~is_unknown), 0, 0)
    space = fit_shape_space(
        coordinates[halves.reference], groups[halves.reference], SpeciesSettings()
    )
    specimens = space.place(coordinates)
    found = {}
    for name in (RATIO, "depth"):
        rows = scored_rows(specimens, halves.reference, name, SpeciesSettings())
        score = fit_score(rows[halves.reference], groups[halves.reference], name)
        found[name] = area_under_curve(
            score.typicality(rows[halves.holdout]), score.typicality(rows[is_unknown])
        )
    assert found[RATIO] > found["depth"] + 0.03
