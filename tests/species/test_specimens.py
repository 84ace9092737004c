"""Tests of new specimens, one by one and as a sample."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, mannwhitneyu

from kernova.shapes import Landmarks
from kernova.species import SCORES
from kernova.species.space import SpeciesSettings
from kernova.species.specimens import judge_specimens, many_low_p_value
from kernova.species.verdicts import format_rate
from tests.species.drawn_shapes import drawn

QUICK = SpeciesSettings(components=5)
NO_COVARIATES = (
    "Covariates have no part in tests of single specimens: if these differ from the known ones in "
    "sex, age or site, shapes may differ for that reason. To adjust for them, test the specimens "
    "as a group, with --unknown and --covariate."
)


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
    assert tests.notes[0] == (
        "150 held-out specimens give no p-value below 0.00662: at a false discovery rate of 0.05, "
        "specimens are called new only where 6 or more of the 40 stand out together."
    )
    assert tests.notes[-1] == NO_COVARIATES


def test_enough_held_out_specimens_and_usual_ones_need_no_note():
    known, groups = drawn({"a": 90})
    new, _ = drawn({"a": 2}, seed=2)
    tests = judge_specimens(known, groups, new, QUICK)
    assert tests.rows["verdict"].tolist() == ["usual"] * 2
    assert tests.notes == []


# --- too few known specimens for a verdict ---------------------------------------------------


def test_specimens_are_undecided_where_the_false_discovery_rate_cannot_be_met():
    known, groups = drawn({"a": 40, "b": 40, "far": 0}, distance=1.5)
    new, truth = drawn({"a": 4, "b": 4, "far": 3}, distance=1.5, seed=3)

    tests = judge_specimens(known, groups, new, QUICK)

    assert tests.rows["p_value"][truth == "far"].tolist() == pytest.approx([1 / 41] * 3)
    assert tests.rows["verdict"].tolist() == ["usual"] * 8 + ["undecided"] * 3
    assert (tests.n_new, tests.n_undecided) == (0, 3)
    assert tests.notes[:2] == [
        "40 held-out specimens give no p-value below 0.0244: at a false discovery rate of 0.05, "
        "specimens are called new only where 6 or more of the 11 stand out together.",
        "3 specimens are undecided: they are as novel as few known ones (p-value 0.050 or less), "
        "but there are too few of them, or too few known specimens, to call them new at a false "
        "discovery rate of 0.05.",
    ]
    together = judge_specimens(known, groups, new.take(np.arange(6, 11)), QUICK)
    assert (together.n_new, together.n_undecided) == (3, 0)


def test_a_p_value_as_low_as_it_can_be_is_undecided_though_above_the_level():
    known, groups = drawn({"a": 12, "far": 0}, distance=1.5)
    new, _ = drawn({"a": 0, "far": 1}, distance=1.5, seed=3)

    tests = judge_specimens(known, groups, new, QUICK)

    assert tests.rows["p_value"].tolist() == pytest.approx([1 / 7])
    assert tests.rows["verdict"].tolist() == ["undecided"]
    assert tests.notes[:2] == [
        "6 held-out specimens give no p-value below 0.143: at a false discovery rate of 0.05, no "
        "specimen can be called new, which takes 38 known ones or more.",
        "1 specimen is undecided: it is as novel as few known ones (p-value 0.143 or less), but "
        "there are too few of them, or too few known specimens, to call it new at a false "
        "discovery rate of 0.05.",
    ]


# --- sizes -----------------------------------------------------------------------------------


def sized(landmarks, sizes, **entries):
    """The same shapes, in other sizes."""
    centred = landmarks.coordinates - landmarks.coordinates.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=(1, 2))
    return Landmarks(landmarks.ids, centred * (sizes / lengths)[:, None, None], **entries)


@pytest.fixture(scope="module")
def novel():
    """Known specimens of size 9 to 11, and new ones that are apart in shape, near to a."""
    known, groups = drawn({"a": 40, "b": 40, "far": 0}, distance=0.9)
    new, _ = drawn({"a": 0, "b": 0, "far": 12}, distance=0.9, seed=1)
    return sized(known, np.tile(np.linspace(9, 11, 40), 2)), groups, new


def size_note(known, groups, new):
    notes = judge_specimens(known, groups, new, QUICK).notes
    return [one for one in notes if "growth" in one or "sizes" in one]


def test_new_specimens_smaller_than_all_of_their_group_may_be_young(novel):
    known, groups, new = novel
    assert size_note(known, groups, sized(new, np.linspace(4, 6, 12))) == [
        "12 of the 12 specimens are smaller than every specimen of their closest group, in the "
        "units of the files: differences in shape may be due to growth."
    ]
    one = sized(new, np.linspace(14, 16, 12)).take([3])
    assert size_note(known, groups, one) == [
        "The specimen is larger than every specimen of its closest group, in the units of "
        "the files: differences in shape may be due to growth."
    ]
    assert size_note(known, groups, sized(new, np.linspace(9.2, 10.8, 12))) == []


def test_two_specimens_beyond_the_sizes_of_a_group_of_four_are_no_evidence(novel):
    known, groups, new = novel
    few = known.take([*range(4), *range(40, 80)])
    rows = [*range(4), *range(40, 80)]
    two = sized(new, np.linspace(4, 6, 12)).take([0, 1])
    assert judge_specimens(few, groups[rows], two, QUICK).rows["closest"].tolist() == ["a", "a"]
    assert size_note(few, groups[rows], two) == []


def test_smaller_specimens_within_the_range_are_noted_by_a_test(novel):
    known, groups, new = novel
    new = sized(new, np.linspace(9.05, 9.3, 12))
    (note,) = size_note(known, groups, new)
    rows = judge_specimens(known, groups, new, QUICK).rows
    assert set(rows["closest"]) == {"a"}
    p_value = mannwhitneyu(np.linspace(9.05, 9.3, 12), np.linspace(9, 11, 40)).pvalue
    assert note == (
        "The 12 specimens closest to a are on average smaller than those of that group, in the "
        f"units of the files (rank-sum test of centroid size, p-value {format_rate(p_value)}): "
        "differences in shape may be due to growth."
    )


def test_sizes_are_in_real_units_where_scales_are_given(novel):
    known, groups, new = novel
    scaled = sized(known, np.tile(np.linspace(9, 11, 40), 2), scales=np.ones(80))
    new = sized(new, np.linspace(9.2, 10.8, 12), scales=np.full(12, 0.5))
    assert size_note(scaled, groups, new) == [
        "12 of the 12 specimens are smaller than every specimen of their closest group: "
        "differences in shape may be due to growth."
    ]
    assert size_note(known, groups, new) == [
        "80 of 92 specimens have no scale, so that sizes of single specimens are not compared."
    ]


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
    assert whole.rank_sum_p_value == pytest.approx(expected)
    assert whole.p_value == pytest.approx(2 * min(expected, whole.low_p_values_p_value))
    assert whole.low_p_values == np.count_nonzero(shifted.rows["p_value"] <= 0.05)
    assert whole.low_p_values_expected == pytest.approx(0.05 * 25)
    ordinary = judge_specimens(known, groups, usual, QUICK).whole_sample
    assert not ordinary.is_more_novel
    assert ordinary.low_p_values == 1
    assert ordinary.sentence == (
        "On average, the sample is not shown to be more novel than held-out known specimens "
        f"(rank-sum test of novelty, p-value {ordinary.rank_sum_p_value:.3f}); 1 of 25 specimens "
        "has a p-value of 0.050 or less, where about 1.25 are expected of known groups mixed as in "
        f"the specimens (p-value {ordinary.low_p_values_p_value:.3f}). The two tests together do "
        "not show that the sample, or a part of it, is more novel (p-value "
        f"{ordinary.p_value:.3f})."
    )


def test_a_minority_of_a_sample_may_be_novel():
    known, groups = drawn({"a": 60, "far": 0}, distance=1.5)
    new, _ = drawn({"a": 21, "far": 4}, distance=1.5, seed=3)
    whole = judge_specimens(known, groups, new, QUICK).whole_sample
    assert whole.rank_sum_p_value > 0.05
    assert whole.low_p_values_p_value < 0.025
    assert whole.is_more_novel
    assert whole.sentence.startswith("On average, the sample is not shown to be more novel than")
    assert whole.sentence.endswith(
        "The two tests together show that the sample, or a part of it, is more novel (p-value "
        f"{whole.p_value:.3f})."
    )


def test_one_specimen_is_no_sample_and_few_held_out_ones_allow_no_low_p_values():
    known, groups = drawn({"a": 60})
    new, _ = drawn({"a": 1}, seed=2)
    tests = judge_specimens(known, groups, new, QUICK)
    whole, p_value = tests.whole_sample, tests.rows["p_value"].iloc[0]
    assert tests.counts == "The specimen of the specimens is usual."
    assert whole.p_value == pytest.approx(p_value)
    assert whole.low_p_values_p_value is None
    assert whole.sentence == (
        "Of held-out known specimens mixed as in the specimens, one is as novel with a "
        f"probability of {p_value:.3f} (p-value)."
    )
    two, _ = drawn({"a": 2}, seed=2)
    few = judge_specimens(known.take(np.arange(24)), groups[:24], two, QUICK)
    assert few.whole_sample.sentence == (
        "On average, the sample is not shown to be more novel than held-out known specimens "
        f"(rank-sum test of novelty, p-value {few.whole_sample.p_value:.3f})."
    )


def test_the_number_of_low_p_values_has_its_exact_distribution():
    """All orders of 4 new and 7 held-out specimens, against the formula."""
    orders = np.array([order for order in product([0, 1], repeat=11) if sum(order) == 4])
    for n_before in (1, 2, 3):
        n_low = ((np.cumsum(1 - orders, axis=1) < n_before) & (orders == 1)).sum(axis=1)
        for many in range(5):
            expected = (n_low >= many).mean()
            assert many_low_p_value(many, 4, 7, n_before) == pytest.approx(expected)


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
