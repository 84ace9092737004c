"""Random splits of the known specimens, and the novelty errors that they give."""

import numpy as np
import pytest
from scipy.stats import beta

from kernova.calibration.detector import Split as Halves
from kernova.errors import InputError
from kernova.species import SCORES
from kernova.species.space import SpeciesSettings
from kernova.species.splits import (
    area_under_curve,
    exact_bounds,
    fit_split,
    pair_lines,
    pooled_line,
    scores_in_group,
    split_in_half,
    with_all_landmarks,
)
from tests.species.drawn_shapes import drawn

QUICK = SpeciesSettings(halvings=2, components=5)


def test_halves_keep_groups_and_do_not_depend_on_the_unknown():
    groups = np.array(["a"] * 9 + ["b"] * 4 + ["c"] + ["d"] * 6)
    known = np.flatnonzero(groups != "d")

    split = split_in_half(groups, known, seed=3, number=1)

    assert sorted([*split.reference, *split.holdout]) == list(known)
    for name, expected in (("a", 4), ("b", 2)):
        assert (groups[split.reference] == name).sum() == expected
    fewer = split_in_half(groups, np.flatnonzero(groups < "b"), seed=3, number=1)
    assert set(fewer.reference) == {k for k in split.reference if groups[k] == "a"}
    other = split_in_half(groups, known, seed=3, number=2)
    assert not np.array_equal(other.reference, split.reference)


def test_exact_bounds_are_those_of_clopper_and_pearson():
    known, unknown = np.linspace(0.3, 1, 40), np.r_[np.full(7, 0.1), 0.36, 0.9]

    bounds = exact_bounds(known, unknown, 0.95)

    assert bounds["exact_false_alarm_bound"] == pytest.approx(beta.ppf(0.95, 3, 38))
    assert bounds["exact_detection_rate"] == pytest.approx(7 / 9)
    assert bounds["exact_detection_at_least"] == pytest.approx(beta.ppf(0.05, 7, 3))
    assert exact_bounds(known, known, 0.95)["exact_detection_at_least"] < 0.2


def test_area_is_that_of_all_pairs_and_ties_count_half():
    known, unknown = np.array([3.0, 2.0, 2.0, 5.0]), np.array([2.0, 1.0, 4.0])
    pairs = [(u < k) + (u == k) / 2 for u in unknown for k in known]
    assert area_under_curve(known, unknown) == pytest.approx(np.mean(pairs))
    assert area_under_curve(known, known) == 0.5


@pytest.fixture(scope="module")
def specimens():
    landmarks, groups = drawn({"a": 20, "b": 15, "new": 10})
    return landmarks.coordinates, groups


def fitted(specimens, settings=QUICK, number=0):
    coordinates, groups = specimens
    halves = split_in_half(groups, np.flatnonzero(groups != "new"), 0, number)
    return fit_split(coordinates, groups, halves, np.flatnonzero(groups == "new"), settings)


@pytest.mark.parametrize("score", SCORES)
def test_the_unknown_has_no_say_in_the_score(specimens, score):
    coordinates, groups = specimens
    settings = SpeciesSettings(halvings=2, components=5, score=score)
    spoilt = coordinates.copy()
    spoilt[groups == "new"] *= [3, -1]

    first, second = fitted(specimens, settings), fitted((spoilt, groups), settings)

    np.testing.assert_array_equal(first.holdout_scores, second.holdout_scores)
    assert not np.allclose(first.unknown_scores, second.unknown_scores)
    # A group apart is less typical than held-out specimens are.
    assert area_under_curve(first.holdout_scores, first.unknown_scores) > 0.8


def test_scores_in_one_group_are_of_its_held_out_specimens_and_of_others(specimens):
    _, groups = specimens
    split = fitted(specimens)

    found = scores_in_group(split, groups, "b", split.unknown)

    assert len(found.holdout) == 8  # the larger half of 15
    assert len(found.queries) == 10
    alone = scores_in_group(split, groups, "b", split.unknown[:1])
    assert alone.queries[0] == found.queries[0]


def test_lines_are_of_all_groups_together_and_of_each(specimens):
    _, groups = specimens
    split = fitted(specimens)

    pooled = pooled_line(split, 0.95)
    pairs = pair_lines(split, groups, ["a", "b"])

    assert (pooled["n_reference"], pooled["n_holdout"]) == (17, 18)
    assert pooled["auroc"] == area_under_curve(split.holdout_scores, split.unknown_scores)
    is_detected = split.unknown_novelty >= pooled["threshold"]
    assert pooled["detection_rate"] == pytest.approx(is_detected.mean())
    n_alarms = np.count_nonzero(split.holdout_novelty >= pooled["threshold"])
    bound = n_alarms / 18 + np.sqrt(np.log(20) / 36)
    assert pooled["false_alarm_bound"] == pytest.approx(bound)
    assert [line["known"] for line in pairs] == ["a", "b"]
    for line in pairs:
        alone = scores_in_group(split, groups, line["known"], split.unknown)
        assert line["auroc"] == area_under_curve(*alone)
        assert line["novelty_error"] <= 0.5


# --- missing landmarks ----------------------------------------------------------------------


def without(places, sizes):
    """Drawn specimens that lack these landmarks: pairs of specimen and landmark."""
    landmarks, groups = drawn(sizes)
    points = landmarks.coordinates.copy()
    for row, number in places:
        points[row, number] = np.nan
    return points, groups


@pytest.mark.parametrize("number", range(6))
def test_a_landmark_that_some_known_specimen_has_never_stops_a_study(number):
    """Of six specimens, each lacks some landmarks; each landmark is in some specimen."""
    places = [(0, 3), (0, 5), (1, 3), (2, 8), (1, 1), (4, 1), (5, 1)]
    points, groups = without(places, {"a": 3, "b": 3})
    known, unknown = np.arange(3), np.arange(3, 6)
    halves = split_in_half(groups, known, 0, number)
    split = fit_split(points, groups, halves, unknown, SpeciesSettings(components=2))
    assert np.isfinite(split.rows).all()
    assert sorted([*split.reference, *split.holdout]) == [0, 1, 2]


def test_specimens_are_exchanged_within_groups_until_no_landmark_is_absent():
    points, groups = without([(0, 3), (1, 3), (4, 3), (5, 3)], {"a": 4, "b": 4})
    is_known = np.isfinite(points).all(axis=2)
    halves = with_all_landmarks(Halves(np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7])), groups,
                                is_known)  # fmt: skip
    assert halves.reference.tolist() == [1, 2, 4, 5]
    assert halves.holdout.tolist() == [0, 3, 6, 7]
    again = with_all_landmarks(halves, groups, is_known)
    assert again.reference.tolist() == halves.reference.tolist()


@pytest.mark.parametrize(("name", "beside"), [("b", " beside those of 'b'"), ("", "")])
def test_a_landmark_that_no_known_specimen_has_is_named(name, beside):
    points, groups = without([(row, 3) for row in range(6)], {"a": 6, "b": 3})
    labels = np.where(groups == "b", name, groups)
    halves = split_in_half(labels, np.arange(6), 0, 0)
    with pytest.raises(InputError) as raised:
        fit_split(points, labels, halves, np.arange(6, 9), SpeciesSettings())
    assert str(raised.value) == (
        f"Landmark 4 is missing in all known specimens{beside}, so nothing is known of it. Leave "
        "it out."
    )
