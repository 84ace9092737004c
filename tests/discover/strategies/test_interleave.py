"""Interleave: the mixture by literal loops, and the rows that its components propose."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer
from kernova.discover.strategies.interleave import (
    Interleave,
    Mixture,
    expectation_maximization,
    first_mixture,
    log_densities,
    memberships,
    reestimated,
    with_component_at,
)
from tests.discover.strategies.tables import asked_rows, groups


def random_mixture(rng, n_components=3, n_columns=2):
    roots = rng.standard_normal((n_components, n_columns, n_columns))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(n_columns)
    weights = rng.dirichlet(np.ones(n_components))
    return Mixture(weights, rng.standard_normal((n_components, n_columns)), covariances)


def test_log_densities_are_those_of_scipy():
    rng = np.random.default_rng(0)
    mixture = random_mixture(rng)
    Z = rng.standard_normal((20, 2))
    for which in range(3):
        frozen = multivariate_normal(mixture.means[which], mixture.covariances[which])
        np.testing.assert_allclose(log_densities(Z, mixture)[:, which], frozen.logpdf(Z))


def test_memberships_do_not_overflow_and_respect_clamped_rows():
    densities = np.array([[-1e6, -1e6 + np.log(3)], [-5.0, -900.0], [0.0, 0.0]])
    shares = memberships(densities, np.array([0.5, 0.5]), np.array([-1, 1, 0]))
    np.testing.assert_allclose(shares, [[0.25, 0.75], [0.0, 1.0], [1.0, 0.0]], atol=1e-9)


def test_a_small_component_takes_the_common_shape_and_a_large_one_its_own():
    rng = np.random.default_rng(0)
    wide = rng.normal(0, 3.0, (4000, 2))
    single = np.array([[50.0, 50.0]])
    Z = np.concatenate([wide, single])
    shares = np.zeros((4001, 2))
    shares[:4000, 0] = 1.0
    shares[4000, 1] = 1.0
    mixture = reestimated(Z, shares)
    np.testing.assert_allclose(mixture.weights, [4000 / 4001, 1 / 4001])
    np.testing.assert_allclose(mixture.means[1], [50, 50])
    np.testing.assert_allclose(np.diag(mixture.covariances[0]), 9, rtol=0.1)
    # One row against two that speak for the common shape: two thirds of it.
    np.testing.assert_allclose(np.diag(mixture.covariances[1]), 6, rtol=0.15)


def test_em_raises_the_likelihood():
    rng = np.random.default_rng(1)
    Z = np.concatenate([rng.normal(c, 0.5, (150, 2)) for c in (-4, 0, 4)])
    nobody = np.full(len(Z), -1)

    def likelihood(mixture):
        joint = log_densities(Z, mixture) + np.log(mixture.weights)
        return np.logaddexp.reduce(joint, axis=1).sum()

    start = first_mixture(Z, 3, np.random.default_rng(3))
    found = [likelihood(expectation_maximization(Z, start, nobody, n)) for n in (1, 5, 50)]
    assert likelihood(start) < found[0] < found[1] <= found[2] + 1e-6 * abs(found[2])
    fitted = expectation_maximization(Z, start, nobody, 50)
    np.testing.assert_allclose(np.sort(fitted.means[:, 0]), [-4, 0, 4], atol=0.2)


def test_clamped_rows_hold_their_component_in_place():
    rng = np.random.default_rng(2)
    Z = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(6, 0.3, (6, 2))])
    clamped = np.full(len(Z), -1)
    clamped[200:203] = 1
    mixture = first_mixture(Z[:200], 1, rng)
    mixture = with_component_at(mixture, Z[200], len(Z))
    assert mixture.weights.sum() == pytest.approx(1)
    fitted = expectation_maximization(Z, mixture, clamped, 20)
    owner = memberships(log_densities(Z, fitted), fitted.weights, clamped).argmax(axis=1)
    assert set(owner[200:]) == {1}
    np.testing.assert_allclose(fitted.means[1], [6, 6], atol=0.5)


def test_a_category_without_a_component_gets_a_new_one():
    X, labels = groups(sizes=(60, 20, 10))
    asker = Interleave(n_components=1, seed=0).start(Preparation(X))
    assert " of 1 fits" in asker.propose().reason
    for row in (0, 60, 80):
        asker.observe(Answer(row, str(labels[row])))
    asker.observe(Answer(asker.propose().row, "class 0"))
    known = {0: 0, 1: 60, 2: 80}  # a row that was answered, by component
    seen = set()
    for _ in range(12):
        question = asker.propose()
        assert " of 3 fits" in question.reason
        component = int(question.evidence["component"])
        assert known[component] in question.members  # what was answered is held to its component
        seen.add(component)
        asker.observe(Answer(question.row, str(labels[question.row])))
    assert seen == {0, 1, 2}


def test_another_seed_starts_elsewhere():
    preparation = Preparation(groups()[0], random_state=3)
    rows = [
        asked_rows(Interleave(4, seed=seed).start(preparation), groups()[1], 8)
        for seed in (None, 3, 4)
    ]
    assert rows[0] == rows[1] != rows[2]


def test_the_row_with_the_lowest_density_of_a_component_is_asked(preparation):
    asker = Interleave(n_components=3, seed=1).start(preparation)
    asked, is_open = [], np.ones(preparation.n_rows, dtype=bool)
    for _ in range(3):
        question = asker.propose()
        asked.append(question.evidence["log_density"] < question.evidence["median_log_density"])
        is_open[question.row] = False
        asker.observe(Answer(question.row, None))
    assert asked == [True] * 3
