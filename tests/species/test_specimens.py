"""Tests of new specimens, one by one and as a sample."""

import numpy as np
import pytest
from scipy.stats import binom, mannwhitneyu

from kernova.species import SCORES
from kernova.species.space import SpeciesSettings
from kernova.species.specimens import judge_specimens
from tests.species.drawn_shapes import drawn

QUICK = SpeciesSettings(components=5)


@pytest.mark.parametrize("score", SCORES)
def test_specimens_are_tested_one_by_one(score):
    known, groups = drawn({"a": 150, "b": 150, "unknown": 0})
    new, truth = drawn({"a": 15, "b": 15, "unknown": 10}, seed=1)

    tests = judge_specimens(known, groups, new, SpeciesSettings(components=5, score=score))

    is_new = (tests.rows["verdict"] == "new").to_numpy()
    assert is_new[truth == "unknown"].all()
    assert is_new[truth != "unknown"].mean() < 0.15
    assert tests.n_new == is_new.sum()
    assert list(tests.rows["id"]) == list(new.ids)
    np.testing.assert_array_equal(tests.rows["novelty"], -tests.split.unknown_scores)
    closest = tests.rows["closest"].to_numpy()
    assert (closest[truth != "unknown"] == truth[truth != "unknown"]).mean() > 0.9
    p_values = tests.rows["p_value"].to_numpy()
    assert p_values.min() == pytest.approx(1 / 151)
    assert p_values[truth != "unknown"].mean() == pytest.approx(0.5, abs=0.15)
    assert tests.rows["closest_p_value"].to_numpy()[truth == "unknown"].max() <= 2 / 76
    assert tests.notes == [
        "150 held-out specimens give no p-value below 0.00662: at a false discovery rate of 0.05, "
        "specimens are called new only where 6 or more of the 40 stand out together."
    ]


def test_enough_held_out_specimens_need_no_note():
    known, groups = drawn({"a": 90})
    new, _ = drawn({"a": 2}, seed=1)
    assert judge_specimens(known, groups, new, QUICK).notes == []


def test_p_values_of_known_groups_are_valid():
    """Of 400 specimens of known groups, few have p-values below any level."""
    p_values = []
    for seed in range(10):
        known, groups = drawn({"a": 40, "b": 40}, seed=seed)
        new, _ = drawn({"a": 20, "b": 20}, seed=100 + seed)
        rows = judge_specimens(known, groups, new, QUICK).rows
        p_values += rows["p_value"].tolist()
    for level in (0.05, 0.1, 0.25, 0.5):
        # Specimens of one study share their held-out half: twice the spread of independent ones.
        most = 400 * level + 2 * (binom.ppf(0.999, 400, level) - 400 * level)
        assert np.count_nonzero(np.array(p_values) <= level) <= most


def test_a_sample_as_a_whole_may_be_novel_though_no_specimen_is():
    known, groups = drawn({"a": 60, "b": 0}, distance=0.15)
    new, _ = drawn({"a": 0, "b": 25}, distance=0.15, seed=1)
    usual, _ = drawn({"a": 25}, distance=0.15, seed=2)

    shifted = judge_specimens(known, groups, new, QUICK)
    whole = shifted.whole_sample

    assert shifted.n_new == 0
    assert whole.is_more_novel
    held_out, scores = shifted.split.holdout_scores, shifted.split.unknown_scores
    expected = mannwhitneyu(scores, held_out, alternative="less", method="exact").pvalue
    assert whole.p_value == pytest.approx(expected)
    assert whole.low_p_values == np.count_nonzero(shifted.rows["p_value"] <= 0.05)
    assert whole.low_p_values_expected == pytest.approx(0.05 * 25)
    ordinary = judge_specimens(known, groups, usual, QUICK).whole_sample
    assert not ordinary.is_more_novel
    assert ordinary.low_p_values == 1
    assert ordinary.sentence == (
        "As a whole, the sample is as novel as held-out known specimens (rank-sum test of novelty, "
        f"p-value {ordinary.p_value:.3f}): 1 of 25 specimens has a p-value "
        "of 0.050 or less, where about 1.25 is expected of known groups mixed as in the specimens."
    )


def test_a_group_too_small_to_test_against_gives_no_evidence():
    known, groups = drawn({"a": 40, "b": 3})
    new, _ = drawn({"a": 0, "b": 5}, seed=1)

    rows = judge_specimens(known, groups, new, QUICK).rows

    assert set(rows["closest"]) == {"b"}
    assert rows["closest_p_value"].tolist() == [1.0] * 5


def test_new_specimens_have_no_say_in_each_others_scores():
    known, groups = drawn({"a": 30, "b": 30})
    new, _ = drawn({"a": 6, "b": 6}, seed=1)
    columns = ["id", "novelty", "p_value", "closest", "closest_p_value"]

    together = judge_specimens(known, groups, new, QUICK).rows[columns]
    alone = judge_specimens(known, groups, new.take([4]), QUICK).rows[columns]

    assert alone.iloc[0].to_dict() == pytest.approx(together.iloc[4].to_dict())
