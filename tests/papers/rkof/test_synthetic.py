"""Synthetic sets and Theorem 1 of the RKOF paper."""

import numpy as np
import pandas as pd
import pytest

from kernova.papers.rkof import synthetic


def test_the_synthetic_sets_have_the_rows_of_the_paper():
    first, second = (synthetic.drawn(name, 0) for name in synthetic.SETS)
    assert (len(first.rows), first.is_outlier.sum()) == (1516, 16)
    assert (len(second.rows), second.is_outlier.sum()) == (1020, 20)
    clusters = first.rows[:1500].reshape(3, 500, 2)
    centres = clusters.mean(axis=1)
    sides = [np.linalg.norm(centres[i] - centres[j]) for i, j in ((0, 1), (1, 2), (0, 2))]
    np.testing.assert_allclose(sides, 10, atol=0.3)
    np.testing.assert_allclose(clusters.std(axis=1), 1, atol=0.15)
    np.testing.assert_allclose(first.rows[1500:1515].std(axis=0), 0.2, atol=0.1)
    np.testing.assert_array_equal(first.rows[-1], [0, -10])
    radii = np.linalg.norm(second.rows[:500], axis=1)
    assert 9 <= radii.min() < 9.1
    assert 9.9 < radii.max() <= 10
    np.testing.assert_allclose(second.rows[500:1000].std(axis=0), 0.5, atol=0.1)
    inner, outer = second.rows[1000:1006], second.rows[1006:]
    np.testing.assert_allclose(inner.mean(axis=0), [0, 5], atol=0.4)
    np.testing.assert_allclose(outer.mean(axis=0), [14.5, 0], atol=0.3)
    again = synthetic.drawn("Synthetic-2", 0)
    np.testing.assert_array_equal(again.rows, second.rows)


def test_found_is_counted_among_as_many_top_rows():
    is_outlier = np.array([True, False, True, False])
    assert synthetic.fraction_found(np.array([9.0, 1.0, 5.0, 7.0]), is_outlier) == 0.5
    assert synthetic.fraction_found(np.array([9.0, 1.0, 8.0, 7.0]), is_outlier) == 1.0


@pytest.mark.parametrize(
    ("found", "from_k", "first_k", "best", "best_k"),
    [
        ((1.0, 1.0, 1.0), 5, 5, 1.0, 5),
        ((0.5, 1.0, 1.0), 6, 6, 1.0, 6),
        ((1.0, 0.5, 1.0), 8, 5, 1.0, 5),
        ((0.2, 1.0, 0.5), np.nan, 6, 1.0, 6),
        ((0.2, 0.9, 0.5), np.nan, np.nan, 0.9, 6),
    ],
)
def test_from_which_k_on_all_are_found(found, from_k, first_k, best, best_k):
    lines = {"set": "s", "seed": 1, "method": "m", "k": [8, 5, 6]}  # not in order
    coverage = pd.DataFrame({**lines, "found": [found[2], found[0], found[1]]})
    line = synthetic.all_found_from(coverage).iloc[0]
    np.testing.assert_equal(
        [line["from_k"], line["first_k"], line["best"], line["best_k"]],
        [from_k, first_k, best, best_k],
    )


# The bar on the synthetic sets, over 20 draws under `make soak`, over 2 of them otherwise.
@pytest.mark.soak
def test_rkof_finds_groups_of_outliers_at_smaller_k_than_lof(long_bar, monkeypatch):
    monkeypatch.setattr(
        synthetic,
        "NUMBERS",
        {
            "Synthetic-1": (*range(14, 40, 2), *range(40, 130, 10)),
            "Synthetic-2": (10, 12, 14, 16, 20, 24, 30, 60, 200, 500, 1000),
        },
    )
    coverage = synthetic.coverage_experiment(range(long_bar(20)))
    found = synthetic.all_found_from(coverage)
    first = found[found["set"] == "Synthetic-1"].assign(from_k=lambda t: t["from_k"].fillna(130))
    by_method = first.pivot_table("from_k", index="seed", columns="method")
    assert (by_method["RKOF, sigma = 0.1"] <= by_method["LOF"]).all()
    assert by_method["RKOF, sigma = 0.1"].mean() <= 0.7 * by_method["LOF"].mean()
    second = found[found["set"] == "Synthetic-2"].pivot_table(
        "best", index="seed", columns="method"
    )
    assert (second["RKOF, sigma = 1"] == 1).mean() >= 0.8
    assert (second["LOF"] < 1).mean() >= 0.8


# --- Theorem 1 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1.0, 0.3, 0.01])
def test_the_curve_is_the_weighted_mean_of_a_neighbourhood(weight):
    n_outliers, n_ordinary, density, ratio = 3, 7, 0.4, 5.0
    total = n_outliers * weight * density + n_ordinary * ratio * density
    factor = total / (n_outliers * weight + n_ordinary) / density
    fraction = np.array([n_outliers / 10])
    assert synthetic.theoretical_factor(fraction, ratio, weight)[0] == pytest.approx(factor)


def test_up_to_the_fraction_still_seen_the_factor_is_nearly_constant():
    for weight in synthetic.WEIGHTS:
        fraction = synthetic.fraction_still_seen(weight, 7.0)
        factor = synthetic.theoretical_factor(np.array([fraction]), 7.0, weight)[0]
        assert factor == pytest.approx(0.9 * 7.0)
    curves = synthetic.theoretical_curves()
    by_weight = curves.pivot_table("factor", index="share", columns="weight")
    assert (by_weight[0.1] >= by_weight[1.0] - 1e-12).all()


def test_a_growing_group_is_masked_with_plain_means_first():
    experiment = synthetic.theorem_experiment((0, 1))
    assert (experiment[experiment["share"] == 0]["kept"] == 1).all()
    assert experiment["share"].max() == 1
    seen = synthetic.largest_seen_fractions(experiment)
    by_method = seen.pivot_table("share", index="seed", columns="method")
    assert (by_method["RKOF, sigma = 1"] > by_method["RKOF, plain mean"]).all()
    assert (by_method["LOF, sigma = 1"] > by_method["LOF"]).all()


def test_the_largest_fraction_seen_ends_before_the_first_with_a_masked_outlier():
    lines = {"seed": 0, "method": "LOF", "share": [0.5, 0.0, 0.2, 0.9]}
    table = pd.DataFrame({**lines, "found": [0.9, 1.0, 1.0, 1.0]})
    assert synthetic.largest_seen_fractions(table)["share"].tolist() == [0.2]
