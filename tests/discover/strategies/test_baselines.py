"""Density jumps and mixtures: by literal loops, and on tables where the right question is plain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import multivariate_normal

from kernova.discover.strategies.interleave import (
    Mixture,
    expectation_maximization,
    first_mixture,
    log_densities,
    memberships,
    reestimated,
    with_component_at,
)
from kernova.discover.strategies.mean_shift_interleave import nearest_level, round_robin
from kernova.discover.strategies.nndm import density_scales, steepest_row


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.just(2)),
        elements=st.integers(0, 6).map(float),
    ),
    st.integers(1, 14),
)
def test_density_scales_are_the_densest_ball_and_its_counts(Z, size):
    (scale,) = density_scales(Z, [size])
    distances = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    wanted = min(size, len(Z))
    radius = min(np.sort(line)[wanted - 1] for line in distances)
    assert scale.size == wanted
    assert scale.radius == pytest.approx(radius, rel=1e-8)
    assert scale.counts.tolist() == [int((line <= radius + 1e-9).sum()) for line in distances]


@given(st.integers(0, 10**6), st.integers(1, 90), st.floats(0.05, 3.0))
def test_the_steepest_row_is_that_of_all_pairs(seed, n_rows, reach):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n_rows, 2))
    (scale,) = density_scales(Z, [4])
    is_open = rng.random(n_rows) < 0.8
    is_open[rng.integers(n_rows)] = True
    found = steepest_row(Z, scale, reach, is_open)
    steps = {}
    for i in np.flatnonzero(is_open):
        near = np.sqrt(((Z - Z[i]) ** 2).sum(axis=1)) <= reach
        steps[int(i)] = int(scale.counts[i] - scale.counts[near].min())
    assert found.step == max(steps.values())
    assert steps[found.row] == found.step


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


def test_memberships_neither_overflow_nor_let_a_clamped_row_go():
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


def test_em_never_lowers_what_it_maximises_but_for_the_shrinking():
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


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_round_robin_takes_the_farthest_open_row_of_every_owner_in_turn(pairs):
    owners, shifts = np.array([o for o, _ in pairs]), np.array([float(s) for _, s in pairs])
    queues = {
        owner: sorted(np.flatnonzero(owners == owner), key=lambda row: (-shifts[row], row))
        for owner in sorted(set(owners))
    }
    expected = []
    while any(queues.values()):
        expected += [queue.pop(0) for queue in queues.values() if queue]
    assert round_robin(owners, shifts).tolist() == expected


@pytest.mark.parametrize(("bandwidth", "level"), [(0.0, 0), (0.1, 0), (1.4, 1), (3.1, 2), (9, 2)])
def test_nearest_level(bandwidth, level):
    assert nearest_level(np.array([0.5, 1.5, 4.5]), bandwidth) == level


def test_many_rows_are_counted_by_a_tree_as_few_are_by_blocks(monkeypatch):
    from kernova.discover.strategies import nndm as density_steps

    Z = np.random.default_rng(0).standard_normal((300, 3))
    exact = density_scales(Z, [4, 30])
    monkeypatch.setattr(density_steps, "_MANY_ROWS", 100)
    monkeypatch.setattr(density_steps, "_SAMPLED_CENTRES", 300)
    for one, other in zip(density_scales(Z, [4, 30]), exact, strict=True):
        assert one.radius == other.radius
        assert one.counts.tolist() == other.counts.tolist()
    monkeypatch.setattr(density_steps, "_SAMPLED_CENTRES", 30)
    for sampled, other in zip(density_scales(Z, [4, 30]), exact, strict=True):
        assert sampled.radius >= other.radius  # fewer centres, no smaller ball among them
