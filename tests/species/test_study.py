"""Whole studies on drawn shapes, and on cichlids where they are at hand."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.neighbors import NearestNeighbors

from kernova.progress import reporting
from kernova.shapes import Landmarks
from kernova.species.space import SpeciesSettings
from kernova.species.splits import (
    area_under_curve,
    fit_split,
    split_in_half,
    whole_group_p_value,
)
from kernova.species.study import study_each, study_unknown
from kernova.species.verdicts import HALVES, WHOLE
from tests.shapes.drawn_shapes import moved
from tests.species.drawn_shapes import OUTLINE, drawn

QUICK = SpeciesSettings(halvings=4, components=5)


def test_a_group_apart_looks_new():
    landmarks, groups = drawn({"a": 40, "b": 40, "c": 5, "d": 2, "new": 12})

    study = study_unknown(landmarks, groups, "new", QUICK)

    verdict = study.verdict
    assert verdict.kind == "looks new"
    assert verdict.sentence == (
        "new looks new: at 95% confidence its 12 specimens are not of any of the 3 known groups "
        f"compared, {verdict.closest} being the closest."
    )
    assert study.not_compared == ("d",)
    assert verdict.reasons[-1] == (
        "1 known group is too small to be compared alone, and so is not ruled out: d."
    )
    assert len(study.halvings) == 4
    assert list(study.pairs["known"]) == [
        *study.pairs.sort_values("equal_error_rate", ascending=False)["known"]
    ]
    assert set(study.pairs["known"]) == {"a", "b", "c"}
    assert study.pairs["p_value"].max() == verdict.p_value <= 0.05
    assert not study.halvings.isna().any(axis=None)
    assert not study.pairs.isna().any(axis=None)
    bound = study.halvings["false_alarm_bound"]
    assert ((bound <= study.halvings["e_star"] + 1e-12) & (bound > 0)).all()
    # 44 held-out specimens prove little by Hoeffding's bound.
    assert any(reason.startswith("That bound is loose: 44 held-out") for reason in verdict.reasons)


def test_specimens_of_a_known_group_are_not_separable_from_it():
    landmarks, groups = drawn({"a": 60, "b": 60})
    groups = np.where(np.arange(120) < 30, "other", groups)  # in truth of a

    verdict = study_unknown(landmarks, groups, "other", QUICK).verdict

    assert verdict.kind == "not separable"
    assert verdict.closest == "a"
    assert verdict.sentence.startswith("other is not separable from a: no threshold on depth gets")


@pytest.mark.parametrize(
    ("sizes", "sentence", "needed"),
    [
        (
            {"a": 10, "b": 20, "new": 1},
            "1 specimen is too few to say whether new differs from b and a; about 2 would do, if "
            "they go on to differ as these do.",
            2,
        ),
        (
            {"a": 4, "new": 1},
            "1 specimen is too few to say whether new differs from a; about 8 would do, if they "
            "go on to differ as these do.",
            8,
        ),
        (
            {"a": 3, "b": 2, "new": 5},
            "There are too few specimens to say whether new is new: no known group has 4 "
            "specimens or more.",
            None,
        ),
    ],
)
def test_too_few_specimens_and_how_many_would_do(sizes, sentence, needed):
    landmarks, groups = drawn(sizes, distance=2)

    verdict = study_unknown(landmarks, groups, "new", QUICK).verdict

    assert (verdict.kind, verdict.sentence) == ("too few specimens to say", sentence)
    assert verdict.specimens_needed == needed


def test_specimens_needed_are_enough_once_they_are_there():
    for n_unknown, kind in ((1, "too few specimens to say"), (2, "looks new")):
        landmarks, groups = drawn({"a": 10, "b": 20, "new": n_unknown}, distance=2)
        assert study_unknown(landmarks, groups, "new", QUICK).verdict.kind == kind


def test_masking_is_seen_where_pooling_hides_the_unknown():
    """Known groups on the corners of a square, in shape; the unknown in the middle."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, *OUTLINE.shape))
    corners = {"ne": (1, 1), "nw": (-1, 1), "se": (1, -1), "sw": (-1, -1), "middle": (0, 0)}
    shapes, groups = [], []
    for name, place in corners.items():
        n = 15 if name == "middle" else 60
        spread = 0.05 if name == "middle" else 0.55
        at = np.array(place) + spread * rng.standard_normal((n, 2))
        shapes.append(OUTLINE + 0.1 * (at[:, :1, None] * first + at[:, 1:, None] * second))
        groups += [name] * n
    landmarks = Landmarks(tuple(map(str, range(255))), moved(np.concatenate(shapes), 0))

    wide = SpeciesSettings(halvings=4, components=2, remainder=False, bandwidth="median")
    study = study_unknown(landmarks, groups, "middle", wide)

    assert study.summary["is_masked"]
    assert study.summary["equal_error_rate"] > study.pairs["equal_error_rate"].max() + 0.05
    assert any(reason.startswith("Masking: the specimens lie") for reason in study.verdict.reasons)


def test_each_group_in_turn_fills_the_matrix():
    landmarks, groups = drawn({"a": 12, "b": 12, "c": 12, "d": 5})
    steps = []

    with reporting(steps.append):
        every = study_each(landmarks, groups, QUICK, least_specimens=10)

    assert [study.unknown for study in every.studies] == ["a", "b", "c"]
    assert every.too_small == ("d",)
    assert list(every.matrix.columns) == ["a", "b", "c", "d"]
    assert list(every.matrix.index) == ["a", "b", "c"]
    assert every.matrix.isna().to_numpy().tolist() == np.eye(3, 4, dtype=bool).tolist()
    alone = study_unknown(landmarks, groups, "b", QUICK)
    assert every.summary.iloc[1].to_dict() == alone.summary
    assert every.matrix.loc["b", "c"] == alone.pairs.set_index("known").loc["c", "equal_error_rate"]
    assert {step.task for step in steps} == {"groups held out", "halvings", "small groups"}


def test_small_groups_are_compared_whole_and_large_ones_by_halves():
    landmarks, groups = drawn({"a": 30, "b": 12, "c": 8, "new": 9}, distance=0.15)

    pairs = study_unknown(landmarks, groups, "new", QUICK).pairs.set_index("known")

    assert pairs["test"].to_dict() == {"a": HALVES, "b": WHOLE, "c": WHOLE}
    for name in ("b", "c"):
        others = np.flatnonzero((groups != name) & (groups != "new"))
        known, unknown = np.flatnonzero(groups == name), np.flatnonzero(groups == "new")
        assert pairs.loc[name, "p_value"] == whole_group_p_value(
            landmarks.coordinates, groups, known, unknown, others, QUICK
        )


@pytest.mark.soak
def test_known_groups_rarely_look_new(long_bar):
    """Bar: of 500 studies whose unknown is drawn from a known group, at most 5 % look new."""
    n_studies, n_new = long_bar(500), 0
    for study in range(n_studies):
        rng = np.random.default_rng([study, 5])
        names = ("a", "b", "c", "d")[: rng.integers(1, 5)]
        sizes = {name: int(rng.integers(10, 40)) for name in names}
        landmarks, groups = drawn(sizes, study, rng.uniform(0, 1), population=study)
        own = np.flatnonzero(groups == rng.choice(names))
        groups = groups.astype(object)
        groups[rng.permutation(own)[: rng.integers(3, len(own) - 4)]] = "unknown"
        settings = SpeciesSettings(components=6, halvings=int(rng.choice([1, 3])), seed=study)
        n_new += study_unknown(landmarks, groups, "unknown", settings).verdict.kind == "looks new"

    print(f"{n_new} of {n_studies} null studies look new")
    # A tenth of the bar is so short that chance has a say.
    assert n_new <= (0.05 * n_studies if n_studies == 500 else binom.ppf(0.999, n_studies, 0.05))


@pytest.mark.soak
def test_held_out_tribes_are_separated_from_the_others(cichlids, long_bar):
    """Bar: AUROC of each tribe at least .97, .985 in the mean, and no worse than 5-NN."""
    landmarks, groups = cichlids
    found, counts = np.unique(groups, return_counts=True)
    settings = SpeciesSettings()
    depth, neighbours = [], []
    for tribe in found[counts >= 30]:
        lines = []
        for number in range(long_bar(20)):
            split = split_in_half(groups, np.flatnonzero(groups != tribe), 0, number)
            unknown = np.flatnonzero(groups == tribe)
            one = fit_split(landmarks.coordinates, groups, split, unknown, settings)
            rows = one.placed.rows
            nearest = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(rows[one.reference])
            near = [-nearest.kneighbors(rows[k])[0].mean(axis=1) for k in (one.holdout, unknown)]
            lines.append(
                (area_under_curve(one.holdout_depths, one.unknown_depths), area_under_curve(*near))
            )
        ours, theirs = np.mean(lines, axis=0)
        print(f"{tribe}: {ours:.4f}, 5-NN {theirs:.4f}")
        depth.append(ours)
        neighbours.append(theirs)

    assert len(depth) == 11
    assert min(depth) >= 0.97
    assert np.mean(depth) >= 0.985
    if long_bar(20) == 20:
        assert (np.array(depth) >= neighbours).all()


def test_missing_landmarks_do_not_stop_a_study():
    landmarks, groups = drawn({"a": 40, "b": 40, "new": 12})
    is_removed = np.random.default_rng(0).random(landmarks.coordinates.shape[:2]) < 0.05
    gappy = np.where(is_removed[..., None], np.nan, landmarks.coordinates)

    study = study_unknown(Landmarks(landmarks.ids, gappy), groups, "new", QUICK)

    assert study.verdict.kind == "looks new"
    assert np.isfinite(study.first.placed.rows).all()


def test_landmarks_on_one_line_in_space_are_shapes_too():
    along = np.linspace(0, 1, 6) + 0.02 * np.random.default_rng(3).standard_normal((48, 6))
    along[32:, 2] += 0.15
    lines = along[:, :, None] * [1.0, 2.0, -1.0]
    landmarks = Landmarks(tuple(f"s{k}" for k in range(48)), lines)

    study = study_unknown(landmarks, np.repeat(["a", "b", "c"], 16), "c", QUICK)

    assert study.verdict.kind == "looks new"
    assert not study.pairs.isna().any(axis=None)
