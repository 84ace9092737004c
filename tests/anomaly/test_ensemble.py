"""The ensemble's scores against literal versions, and what they must not depend on."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from kernova import DetectorEnsemble
from kernova.anomaly.ensemble.columns import Rows, learn_columns, prepared_rows
from kernova.anomaly.ensemble.committee import MEMBER_NAMES
from kernova.anomaly.ensemble.members import fit_linear_structure
from kernova.anomaly.ensemble.views import RANKS, learn_views
from kernova.surprise import learn_surprise
from tests import oracles

NUMBERS = ["length", "width", "count"]
CATEGORIES = ["sex", "place"]
# All but the forest, which is scikit-learn's own.
LITERAL_MEMBERS = [name for name in MEMBER_NAMES if name != "isolation"]


def mixed_table(n_rows=60, seed=0):
    """Three columns of numbers, one of them discrete, and two of categories."""
    random = np.random.default_rng(seed)
    length = random.gamma(4.0, size=n_rows)
    return pd.DataFrame(
        {
            "length": length,
            "width": 0.5 * length + random.normal(size=n_rows),
            "count": random.integers(0, 5, size=n_rows),
            "sex": random.choice(["f", "m"], size=n_rows),
            "place": random.choice([f"p{i}" for i in range(30)], size=n_rows),
        }
    )


# --- literal versions ----------------------------------------------------------------------------


class Literal:
    """The novelties of one table's rows, member by member, and their common scale."""

    def __init__(self, table, ensemble):
        self.members = ensemble.members_
        self.numbers = table[NUMBERS].to_numpy(dtype=float)
        self.categories = table[CATEGORIES].to_numpy().tolist()
        self.views = {
            view: np.array([self.seen(view, row, levels) for row, levels in self.pairs(table)])
            for view in ("standard", "range", "ranks")
        }
        covariance = oracles.shrunken_covariance(self.views["standard"])[0]
        # Distances after decorrelation are Mahalanobis distances: any root of C⁻¹ will do.
        self.root = np.linalg.cholesky(np.linalg.inv(covariance))
        # Row by row, as new rows: two rows are then at one distance from each other, exactly.
        self.views["decorrelated"] = np.array([row @ self.root for row in self.views["standard"]])

    @staticmethod
    def pairs(table):
        numbers = table[NUMBERS].to_numpy(dtype=float)
        return list(zip(numbers, table[CATEGORIES].to_numpy().tolist(), strict=True))

    def seen(self, view, row, levels):
        if view == "decorrelated":
            return np.array(self.seen("standard", row, levels)) @ self.root
        columns, spread = self.numbers.T, 1.0
        if view == "standard":
            scaled = [(x - c.mean()) / c.std() for x, c in zip(row, columns, strict=True)]
        elif view == "range":
            scaled = [(x - min(c)) / (max(c) - min(c)) for x, c in zip(row, columns, strict=True)]
            spread = math.sqrt(np.mean([c.var() / (max(c) - min(c)) ** 2 for c in columns]))
        else:
            scaled = [oracles.gaussian_rank(x, c) for x, c in zip(row, columns, strict=True)]
        indicators = oracles.weighted_indicators(levels, self.categories)
        return [*scaled, *(spread * one for one in indicators)]

    def novelty(self, name, row, levels, own, among):
        left_out = [] if own is None else [own]
        if name == "columns":
            return (
                oracles.smallest_tail(row, self.numbers, left_out)
                + oracles.summed_rarity(row, self.numbers, left_out)
                + oracles.summed_level_rarity(levels, self.categories, left_out)
            )
        if name == "linear":
            X = self.views["ranks"]
            covariance, a = oracles.shrunken_covariance(X)
            square = oracles.squared_mahalanobis(self.seen("ranks", row, levels), X, covariance)
            return square if own is None else square / (1 - (1 + (1 - a) * square) / len(X))
        if name == "central-half":
            n_numbers = len(NUMBERS)
            half = oracles.central_half(self.views["range"][:, :n_numbers])
            covariance = oracles.shrunken_covariance(half)[0]
            x = np.array(self.seen("range", row, levels)[:n_numbers])
            return oracles.squared_mahalanobis(x, half, covariance)
        view = name.removeprefix("nearest-")
        numbers = self.members[name].among if among else self.members[name].for_new
        x, X = self.seen(view, row, levels), self.views[view]
        return sum(oracles.kth_distance(x, X, k, own) for k in numbers) / len(numbers)

    def bits(self, names, rows, *, among):
        """Return the surprise of each row; each is its numbers, levels and number, or None."""
        own_pairs = list(zip(self.numbers, self.categories, strict=True))
        of_reference, of_rows = [], []
        for name in names:
            known = [
                self.novelty(name, *pair, number, among) for number, pair in enumerate(own_pairs)
            ]
            found = [self.novelty(name, *pair, number, among) for pair, number in rows]
            of_reference.append([oracles.surprise_bits(value, known, among) for value in known])
            of_rows.append([oracles.surprise_bits(value, known, among) for value in found])
        totals = np.mean(of_reference, axis=0).tolist()
        mean = np.mean(of_rows, axis=0).tolist()
        return [oracles.surprise_bits(value, totals, among) for value in mean]


@pytest.fixture(scope="module")
def fitted():
    table = mixed_table()
    ensemble = DetectorEnsemble(members=LITERAL_MEMBERS).fit(table)
    return table, ensemble, Literal(table, ensemble)


@pytest.mark.parametrize("name", LITERAL_MEMBERS)
def test_each_members_surprise_of_new_rows_is_the_literal_one(name, fitted):
    table, ensemble, literal = fitted
    new = mixed_table(8, seed=1)
    own = Literal.pairs(table)
    known = [literal.novelty(name, *pair, i, False) for i, pair in enumerate(own)]
    expected = [
        oracles.surprise_bits(literal.novelty(name, *pair, None, False), known)
        for pair in Literal.pairs(new)
    ]
    np.testing.assert_allclose(ensemble.member_scores(new)[name], expected, atol=1e-9)


@pytest.mark.parametrize("name", LITERAL_MEMBERS)
def test_each_members_surprise_of_own_rows_is_the_literal_one(name, fitted):
    table, ensemble, literal = fitted
    known = [literal.novelty(name, *pair, i, True) for i, pair in enumerate(literal.pairs(table))]
    expected = [oracles.surprise_bits(value, known, True) for value in known]
    np.testing.assert_allclose(ensemble.member_scores()[name], expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_whole_score_is_the_literal_one(seed):
    table, new = mixed_table(40, seed), mixed_table(8, seed + 10)
    table.iloc[:5] = table.iloc[5:10]  # copies
    names = LITERAL_MEMBERS
    ensemble = DetectorEnsemble(members=names).fit(table)
    literal = Literal(table, ensemble)
    of_new = literal.bits(names, [(pair, None) for pair in literal.pairs(new)], among=False)
    np.testing.assert_allclose(-ensemble.score_samples(new), of_new, atol=1e-9)
    own = [(pair, number) for number, pair in enumerate(literal.pairs(table))]
    of_own = literal.bits(names, own, among=True)
    np.testing.assert_allclose(-ensemble.training_scores_, of_own, atol=1e-9)


@pytest.mark.parametrize(
    "reference",
    [
        np.random.default_rng(0).normal(size=50),
        np.random.default_rng(0).integers(0, 4, size=50).astype(float),
        np.array([1.0, 1.0, 1.0]),
        np.array([0.0]),
        np.array([0.0, 0.0, 5.0]),
        np.array([0.1, 0.3, 0.1 + 0.2, 0.7]),
        np.append(np.random.default_rng(0).normal(size=90), [50.0, 5000.0]),
    ],
)
@pytest.mark.parametrize("has_outliers", [False, True])
def test_surprise_is_the_literal_one(reference, has_outliers):
    values = np.concatenate([reference, np.linspace(reference.min() - 1, reference.max() + 9, 40)])
    expected = [oracles.surprise_bits(v, reference.tolist(), has_outliers) for v in values.tolist()]
    scale = learn_surprise(reference, has_outliers=has_outliers)
    np.testing.assert_allclose(scale.of(values), expected, atol=1e-9)


def linear_novelties(X, shrinks=True):
    """Return the rows' own novelties by the linear member, and the ranks that it sees."""
    rows = Rows(X, np.zeros((len(X), 0), dtype=np.intp))
    seen = learn_views(rows, []).seen(rows)
    member, ranks = fit_linear_structure(seen), seen.under(RANKS)
    if not shrinks:
        variances, directions = np.linalg.eigh(np.cov(ranks.T, bias=True))
        member = replace(member, rotation=directions / np.sqrt(variances), shrinkage=0.0)
    return member.novelty(seen, np.arange(len(X)), among=False), ranks


def test_leaving_a_row_out_of_the_linear_structure_is_exact_without_shrinkage():
    X = np.random.default_rng(3).gamma(2.0, size=(30, 4))
    novelties, ranks = linear_novelties(X, shrinks=False)
    expected = [oracles.left_out_squared_mahalanobis(i, ranks) for i in range(len(X))]
    np.testing.assert_allclose(novelties, expected, rtol=1e-9)


@pytest.mark.parametrize(("n_rows", "n_columns", "error"), [(300, 5, 0.03), (40, 80, 0.5)])
def test_leaving_a_row_out_is_close_with_shrinkage(n_rows, n_columns, error):
    random = np.random.default_rng(3)
    X = random.normal(size=(n_rows, n_columns)) @ random.normal(size=(n_columns, n_columns))
    novelties, ranks = linear_novelties(X)
    literal = []
    for i in range(n_rows):
        others = np.delete(ranks, i, axis=0)
        covariance, _ = oracles.shrunken_covariance(others)
        literal.append(oracles.squared_mahalanobis(ranks[i], others, covariance))
    assert np.max(np.abs(np.log(novelties / np.array(literal)))) < error


# --- what scores depend on -----------------------------------------------------------------------


@pytest.mark.parametrize("random_state", [None, 7])
def test_results_repeat_whatever_the_number_of_threads(random_state):
    X = np.random.default_rng(0).normal(size=(2500, 12))  # more rows than the sample of own ones
    results = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            ensemble = DetectorEnsemble(random_state=random_state).fit(X)
            results.append([ensemble.training_scores_, ensemble.score_samples(X[:300] + 0.01)])
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)


def test_a_random_state_is_drawn_from_and_left_alone_in_the_parameters():
    X = np.random.default_rng(0).normal(size=(2500, 3))
    first, second = (DetectorEnsemble(random_state=seed).fit(X) for seed in (1, 2))
    assert not np.array_equal(first.training_scores_, second.training_scores_)
    assert clone(first).get_params() == {
        "members": "auto",
        "contamination": "auto",
        "random_state": 1,
    }


def test_scores_are_the_training_scores_for_rows_of_the_table():
    table = mixed_table(200)
    ensemble = DetectorEnsemble().fit(table)
    np.testing.assert_array_equal(ensemble.score_samples(table), ensemble.training_scores_)
    shuffled = table.sample(frac=1, random_state=0)
    np.testing.assert_array_equal(
        ensemble.score_samples(shuffled), ensemble.training_scores_[shuffled.index]
    )
    np.testing.assert_array_equal(ensemble.predict(table), ensemble.fit_predict(table))


def test_scores_do_not_depend_on_units_or_on_the_other_rows_scored():
    table, new = mixed_table(200), mixed_table(50, seed=1)
    ensemble = DetectorEnsemble().fit(table)
    scores = ensemble.score_samples(new)
    np.testing.assert_allclose(ensemble.score_samples(new[20:21]), scores[20:21], atol=1e-9)
    in_mm, new_in_mm = (one.assign(length=one["length"] * 1000 + 5) for one in (table, new))
    rescaled = DetectorEnsemble().fit(in_mm).score_samples(new_in_mm)
    np.testing.assert_allclose(rescaled, scores, atol=1e-6)


@pytest.mark.parametrize("contamination", ["auto", 0.02, 0.3])
def test_contamination_is_the_fraction_of_training_rows_called_outliers(contamination):
    X = np.random.default_rng(0).normal(size=(1000, 3))
    labels = DetectorEnsemble(contamination=contamination).fit_predict(X)
    expected = 0.05 if contamination == "auto" else contamination
    assert np.mean(labels == -1) == pytest.approx(expected, abs=0.002)


def test_copies_of_a_row_have_one_score():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[200:] = X[:100]
    scores = DetectorEnsemble().fit(X).training_scores_
    np.testing.assert_array_equal(scores[200:], scores[:100])


def test_many_copies_of_few_rows_leave_one_stranger_alone():
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 30, axis=0)
    X[0] = [9.0, 9.0]
    ensemble = DetectorEnsemble().fit(X)
    assert np.isfinite(ensemble.training_scores_).all()
    assert ensemble.training_scores_.argmin() == 0


@pytest.mark.parametrize("factor", [1.0, -1.0, 3.7, 1e-5])
def test_repeated_columns_change_nothing(factor):
    random = np.random.default_rng(0)
    X, new = random.integers(0, 1025, size=(200, 3)).astype(float), random.normal(500, 400, (9, 3))
    X[:2, 0] = [0, 1024]  # whole fractions of the range, which rounding must not split
    copied, new_copied = (np.column_stack([one, 11 + factor * one[:, 0]]) for one in (X, new))
    ensemble = DetectorEnsemble().fit(copied)
    assert ensemble.notes_ == ("Column 'x3' repeats another column and is not used.",)
    np.testing.assert_array_equal(
        ensemble.score_samples(new_copied), DetectorEnsemble().fit(X).score_samples(new)
    )


def test_columns_that_share_one_huge_cell_do_not_repeat_each_other():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[5, :2] = 1e12
    assert DetectorEnsemble().fit(X).notes_ == ()


def test_a_row_that_differs_in_a_constant_column_is_strange():
    random = np.random.default_rng(0)
    X, new = random.normal(size=(300, 8)), random.normal(size=(300, 8))
    X[:, 3] = new[:, 3] = 2.0
    new[7, 3] = 2.5
    ensemble = DetectorEnsemble().fit(X)
    assert ensemble.notes_ == (
        "Column 'x3' is constant; a row is compared in it only if it differs.",
    )
    assert ensemble.score_samples(new).argmin() == 7


def test_a_number_that_is_never_missing_is_missed():
    random = np.random.default_rng(0)
    X, new = random.normal(size=(300, 4)), random.normal(size=(300, 4))
    new[7, 2] = np.nan
    assert DetectorEnsemble().fit(X).score_samples(new).argmin() == 7
    X[::3, 2] = np.nan
    assert DetectorEnsemble().fit(X).score_samples(new).argmin() != 7


def test_rounding_does_not_make_a_constant_column_vary():
    column = np.array([0.1 + 0.2, 0.3] * 20)
    X = np.column_stack([np.random.default_rng(0).normal(size=40), column])
    columns = learn_columns(X)
    assert columns.is_constant.tolist() == [False, True]
    assert prepared_rows(X, columns).codes.max() == 0


# --- planted errors ------------------------------------------------------------------------------


def merchants(seed, n_rows=2000):
    """A table with a column of 400 merchants and ten gross errors; returns it and their rows."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "merchant": [f"m{i}" for i in random.integers(0, 400, n_rows)],
            "amount": random.lognormal(3, 0.5, n_rows),
            "age": random.normal(40, 10, n_rows),
            "items": random.poisson(3, n_rows),
            "kind": random.choice(list("abc"), n_rows),
        }
    )
    wrong = random.choice(n_rows, 10, replace=False)
    for number, row in enumerate(wrong):
        name, value = [("amount", 1e5), ("age", 400.0), ("items", 300)][number % 3]
        table.loc[row, name] = value + 10 * number
    return table, wrong


@pytest.mark.parametrize("seed", range(5))
def test_ten_gross_errors_beside_a_column_of_400_levels_rank_first(seed):
    table, wrong = merchants(seed)
    order = np.argsort(DetectorEnsemble().fit(table).training_scores_)
    assert set(order[:10]) == set(wrong)
