"""Synthetic experiments of the KSD paper, against literal oracles."""

import numpy as np
import pandas as pd
import pytest

from kernova.papers.ksd import experiments, reproduction
from tests import oracles
from tests.papers.stand_ins import verdicts


def test_depths_of_ring_and_cloud_agree_with_the_oracle():
    seeds = (3, 1, 4, 1592)
    for line in experiments.ring_experiment(seeds).itertuples():
        rows = experiments.ring(experiments.ring_generator(line.seed))
        radii = np.linalg.norm(rows, axis=1)
        assert rows.shape == (100, 2)
        assert 4 <= radii.min() <= radii.max() <= 5
        origin = np.zeros(2)
        assert line.spatial_centre == pytest.approx(oracles.spatial_depth(origin, rows), abs=1e-9)
        by_pairs = oracles.kernel_spatial_depth(
            origin, rows, lambda a, b: oracles.gaussian(a, b, 3.0)
        )
        assert line.kernelized_centre == pytest.approx(by_pairs, abs=1e-9)
        scaled = experiments.depth_model(3.0).fit(line.matching_scale * rows)
        assert scaled.score_samples([[0, 0]])[0] == pytest.approx(0.2651, abs=1e-4)
    for line in experiments.cloud_experiment(seeds).itertuples():
        rows = experiments.gaussian_cloud(experiments.cloud_generator(line.seed))
        marked = max(range(100), key=lambda i: rows[i].sum())
        assert line.marked_depth == pytest.approx(
            oracles.spatial_depth(rows[marked], rows), abs=1e-9
        )


def test_the_cloud_has_the_covariance_of_the_paper():
    rows = experiments.gaussian_cloud(np.random.default_rng(0), 200_000)
    np.testing.assert_allclose(np.cov(rows.T), [[2.5, 1.5], [1.5, 2.5]], atol=0.05)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=0.02)


def test_the_masking_sample_is_that_of_figure_6():
    sample = experiments.masking_sample(np.random.default_rng(0))
    assert [rows.shape for rows in sample.known] == [(100, 2)] * 4
    means = [rows.mean(axis=0) for rows in sample.known]
    np.testing.assert_allclose(means, [[2, 2], [-2, 2], [2, -2], [-2, -2]], atol=0.4)
    assert sample.unknown.shape == (20, 2)
    assert 0.8 < np.abs(sample.unknown).max() <= 1
    reference, holdout = experiments.halves(sample.known[0], np.random.default_rng(0))
    assert len(reference) == len(holdout) == 50
    both = np.concatenate([reference, holdout])
    np.testing.assert_array_equal(np.sort(both, axis=0), np.sort(sample.known[0], axis=0))


@pytest.mark.parametrize(
    ("reading", "width"),
    [  # rows at 0, 1, 3 and 10 of a line; d_i for each, then their median
        ("nearest", (1 + 2) / 2),  # 1 1 2 7
        ("to the mean", (3.5 + 2.5) / 2),  # 3.5 2.5 0.5 6.5
        ("largest", (9 + 10) / 2),  # 10 9 7 10
        ("spatial depth", np.inf),
    ],
)
def test_readings_of_the_missing_line(reading, width):
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [10.0, 0.0]])
    assert experiments.READINGS[reading](rows) == pytest.approx(width)


# --- Theorem 1 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_slack_is_bound_minus_truth_in_a_population_that_is_known(seed):
    rng = np.random.default_rng(seed)
    depths = np.sort(rng.choice(rng.random(60), 80))  # ties as well
    population = experiments.Population(depths, fixed_threshold=float(depths[9]))
    holdout = np.sort(rng.choice(depths, 50))
    slacks = experiments.slack_of_each_bound(population, holdout)
    margin = np.sqrt(np.log(20) / 100)

    def slack_at(threshold):
        observed = oracles.share_at_most(holdout, threshold)
        return observed + margin - oracles.share_at_most(depths, threshold)

    assert slacks.by_bound[experiments.FIXED] == pytest.approx(slack_at(depths[9]))
    worst = min(slack_at(t) for t in oracles.thresholds_to_try(depths))
    assert slacks.by_bound[experiments.EVERY] == pytest.approx(worst)
    for name, upper, counted in (
        (experiments.CHOSEN, oracles.hoeffding_upper, None),
        (experiments.BINOMIAL, oracles.clopper_pearson_upper, "allowed"),
    ):
        threshold = oracles.highest_threshold(holdout, 0.2, 0.95, upper)
        # Without ties the bound's count is what is seen; with ties the binomial keeps its own.
        allowed = max(n for n in range(50) if upper(n, 50, 0.95) <= 0.2)
        n_alarms = allowed if counted else sum(score <= threshold for score in holdout)
        truth = oracles.share_at_most(depths, threshold)
        assert slacks.by_bound[name] == pytest.approx(upper(n_alarms, 50, 0.95) - truth)


@pytest.mark.parametrize(
    ("failures", "n_looser", "expected"),
    [
        (5, 0, ("reproduced", "reproduced")),
        (14, 0, ("not reproduced", "reproduced")),  # the interval starts above 5 %
        (5, 1, ("reproduced", "not reproduced")),
    ],
)
def test_failures_are_counted_and_a_bad_bound_is_not_called_reproduced(
    failures, n_looser, expected
):
    slacks = [-0.01] * failures + [0.02] * (100 - failures)
    lines = [
        {"bound": bound, "n_holdout": n, "slack": slack}
        for bound in experiments.BOUNDS
        for n in experiments.HOLDOUTS
        for slack in (slacks if (bound, n) == (experiments.BINOMIAL, 200) else [0.1] * 100)
    ]
    counted = experiments.counted_failures(pd.DataFrame(lines))
    assert counted["failures"].tolist() == [0] * 10 + [failures, 0]
    assert counted["failure_share"][10] == failures / 100
    lowest = 1 - oracles.clopper_pearson_upper(100 - failures, 100, 0.995)
    assert counted["lowest_share"][10] == pytest.approx(lowest, abs=1e-9)

    claims = reproduction.theorem_claims(experiments.BoundCheck(counted, n_looser, 300))
    assert verdicts(claims) == ["reproduced"] * 3 + list(expected)
