"""Whole studies on drawn shapes, and on cichlids where they are at hand."""

import numpy as np
import pytest
from scipy.stats import binom

from kernova.progress import reporting
from kernova.shapes import Landmarks
from kernova.species.covariates import Covariates
from kernova.species.discriminant import discriminant_error
from kernova.species.pairs import comparisons_of
from kernova.species.scatter import scatter_within
from kernova.species.space import SpeciesSettings
from kernova.species.splits import area_under_curve, fit_split, split_in_half
from kernova.species.study import study_each, study_unknown
from tests.shapes.drawn_shapes import moved
from tests.species.drawn_shapes import OUTLINE, drawn

QUICK = SpeciesSettings(halvings=4, components=5)


def test_a_group_apart_looks_new():
    landmarks, groups = drawn({"a": 40, "b": 40, "c": 5, "d": 2, "new": 12})

    study = study_unknown(landmarks, groups, "new", QUICK)

    verdict = study.verdict
    assert verdict.kind == "looks new"
    assert verdict.sentence == (
        "new looks new: at 95% confidence its 12 specimens are not a random sample of any of the 3 "
        "known groups compared (permutation tests of mean shape, largest p-value 0.001)."
    )
    assert study.not_compared == ("d",)
    assert verdict.reasons[-1] == (
        "1 known group has fewer than 4 specimens, was not compared alone and is therefore not "
        "ruled out: d."
    )
    assert len(study.halvings) == 4
    assert not study.halvings.isna().any(axis=None)
    assert set(study.pairs["known"]) == {"a", "b", "c"}
    assert set(study.pairs["status"]) == {"ruled out"}
    assert study.pairs["p_value"].max() == verdict.p_value
    assert study.pairs["error"].is_monotonic_decreasing
    assert verdict.closest == study.pairs["known"].iloc[0]
    # Sizes do not differ and no covariate is given: nothing to adjust for.
    assert list(study.pairs.columns[study.pairs.isna().all()]) == ["adjusted_p_value"]
    assert study.pairs.drop(columns="adjusted_p_value").notna().all(axis=None)
    bound = study.halvings["false_alarm_bound"]
    assert ((bound <= study.halvings["e_star"] + 1e-12) & (bound > 0)).all()
    # 44 held-out specimens prove little by Hoeffding's bound.
    assert "With 44 held-out specimens the smallest bound of this kind is 0.185." in verdict.reasons


def test_pairs_are_those_of_all_specimens_aligned_together():
    landmarks, groups = drawn({"a": 20, "b": 14, "c": 9, "new": 11}, distance=0.15)

    study = study_unknown(landmarks, groups, "new", QUICK)

    together = comparisons_of(landmarks, groups, QUICK, Covariates())
    pairs = study.pairs.set_index("known")
    for name in "abc":
        line = together.compare("new", name).line()
        assert pairs.loc[name, "p_value"] == line["p_value"]
        assert pairs.loc[name, "error"] == line["error"]
        is_either = np.isin(groups, ["new", name])
        rows, others = together.rows[is_either], together.rows[~is_either]
        error = discriminant_error(
            rows,
            groups[is_either] == "new",
            scatter_within(others, groups[~is_either]),
            confidence=0.95,
            seed=0,
        )
        assert pairs.loc[name, ["error", "error_low", "error_high"]].tolist() == pytest.approx(
            [error.error, error.low, error.high]
        )
        assert pairs.loc[name, "specimens"] == (groups == name).sum()


def test_specimens_of_a_known_group_are_not_shown_to_be_new():
    landmarks, groups = drawn({"a": 60, "b": 60})
    groups = np.where(np.arange(120) < 30, "other", groups)  # in truth of a

    verdict = study_unknown(landmarks, groups, "other", QUICK).verdict

    assert verdict.kind == "not shown to be new"
    assert verdict.closest == "a"
    assert verdict.sentence == (
        "other is not shown to be new: its 30 specimens were not distinguished from a random "
        "sample of a "
        f"(permutation test of mean shape, p-value {verdict.p_value:.3f})."
    )
    assert verdict.reasons[1].startswith("A random sample of b is ruled out (p-value 0.001")
    assert verdict.reasons[2].startswith(
        "Single specimens were not distinguished from those of a: "
    )


def test_one_sex_of_a_known_group_is_not_new_where_sex_is_given():
    landmarks, groups = drawn({"a": 54, "b": 40}, seed=1)
    groups = np.where(np.arange(94) < 14, "unknown", groups)  # in truth of a, and all are males
    is_male = (np.arange(94) % 2 == 0) | (groups == "unknown")
    points = landmarks.coordinates.copy()
    points[is_male, 3] += 0.2 * (points[is_male, 3] - points[is_male, 7])
    changed = Landmarks(landmarks.ids, points)
    sex = Covariates({"sex": np.where(is_male, "male", "female")})

    without = study_unknown(changed, groups, "unknown", QUICK)
    given = study_unknown(changed, groups, "unknown", QUICK, sex)

    assert without.verdict.kind == "looks new"
    assert given.verdict.kind == "differs, but so do covariates"
    pairs = given.pairs.set_index("known")
    assert pairs["status"].to_dict() == {"a": "covariates may explain it", "b": "ruled out"}
    assert given.verdict.sentence == (
        "unknown is not shown to be new: it differs from a in mean shape (p-value "
        f"{pairs.loc['a', 'p_value']:.3f}), but not beyond what sex may explain (p-value "
        f"{pairs.loc['a', 'adjusted_p_value']:.3f} after adjusting)."
    )


def with_populations(n_unknown, n_known, apart=0.0, seed=0):
    """Groups of populations of six; ``apart`` is how far the unknown group is from a."""
    rng = np.random.default_rng(seed)
    way = np.random.default_rng(9).standard_normal(OUTLINE.shape)
    shapes, groups, population = [], [], []
    for name, n_units, mean in (
        ("new", n_unknown, OUTLINE + apart * way),
        ("a", n_known, OUTLINE),
        ("b", 6, OUTLINE + way),
    ):
        for k in range(n_units):
            own = mean + 0.06 * rng.standard_normal(OUTLINE.shape)
            shapes.append(own + 0.04 * rng.standard_normal((6, *OUTLINE.shape)))
            groups += [name] * 6
            population += [f"{name}{k}"] * 6
    landmarks = Landmarks(tuple(map(str, range(len(groups)))), np.concatenate(shapes))
    return landmarks, np.array(groups), Covariates({"population": np.array(population)})


def test_one_population_is_no_new_group_however_many_its_specimens():
    landmarks, groups, populations = with_populations(1, 6, apart=0.5)

    given = study_unknown(landmarks, groups, "new", QUICK, populations)

    assert study_unknown(landmarks, groups, "new", QUICK).verdict.kind == "looks new"
    assert given.verdict.kind == "too few populations to say"
    first, other = given.pairs["known"]
    assert given.verdict.sentence == (
        f"1 population of new and 6 of {first} (by population) are too few to say whether the two "
        "differ: "
        "exchanging whole populations gives no p-value below 0.143, and single specimens of one "
        f"population are no independent evidence. The same holds against {other}."
    )
    assert set(given.pairs["single_specimens"]) == {"too few to say"}
    assert given.pairs[["error_low", "error_high"]].isna().all(axis=None)


def test_populations_of_a_known_group_are_not_new_and_those_of_another_are():
    same = study_unknown(*_with(with_populations(5, 6)))
    other = study_unknown(*_with(with_populations(5, 6, apart=0.5)))

    assert same.verdict.kind == "not shown to be new"
    assert same.verdict.closest == "a"
    assert other.verdict.sentence == (
        "new looks new: at 95% confidence its 30 specimens are not a random sample of any of the "
        "2 known groups compared (permutation tests of mean shape in which populations are "
        f"exchanged whole, largest p-value {other.verdict.p_value:.3f}; "
        f"{other.pairs['adjusted_p_value'].max():.3f} after adjusting for size)."
    )
    assert other.pairs["left_out"].tolist() == ["one population at a time"] * 2
    assert other.pairs["p_value"].min() >= 1 / 462 - 1e-12


def _with(drawn_populations):
    landmarks, groups, populations = drawn_populations
    return landmarks, groups, "new", QUICK, populations


def test_a_sex_that_the_known_group_lacks_is_confounded():
    landmarks, groups = drawn({"a": 30, "b": 30, "new": 14}, distance=0.4)
    sex = np.where(np.arange(74) % 2, "F", "M")
    sex[groups == "a"], sex[groups == "new"] = "M", "F"

    study = study_unknown(landmarks, groups, "new", QUICK, Covariates({"sex": sex}))

    pairs = study.pairs.set_index("known")
    assert pairs["status"].to_dict() == {"a": "confounded with covariates", "b": "ruled out"}
    assert np.isnan(pairs.loc["a", "adjusted_p_value"])
    assert study.verdict.kind == "differs, but so do covariates"
    assert study.verdict.sentence == (
        "new is not shown to be new: it differs from a in mean shape (p-value "
        f"{pairs.loc['a', 'p_value']:.3f}), but these samples do not separate that from a "
        "difference in sex, since hardly a level of it occurs in both."
    )


@pytest.mark.parametrize(
    ("sizes", "sentence", "needed"),
    [
        (
            {"a": 10, "b": 20, "new": 1},
            "1 specimen is too few to say whether new differs from a: exchanging so few gives no "
            "p-value of 0.050 or less. 2 or more specimens of new would allow one.",
            2,
        ),
        (
            {"a": 4, "new": 2},
            "2 specimens are too few to say whether new differs from a: exchanging so few gives no "
            "p-value of 0.050 or less. 3 or more specimens of new would allow one.",
            3,
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


def test_a_single_specimen_gives_no_discriminant():
    landmarks, groups = drawn({"a": 30, "new": 1}, distance=2)

    pairs = study_unknown(landmarks, groups, "new", QUICK).pairs

    # Left out, the only specimen leaves nothing to learn from.
    assert pairs["error"].isna().all()
    assert pairs["single_specimens"].tolist() == ["too few to say"]
    # It may still be ruled out: 1 of 31 exchanges is as extreme.
    assert pairs["p_value"].iloc[0] == pytest.approx(1 / 31, abs=0.02)


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

    wide = SpeciesSettings(
        halvings=4, components=2, remainder=False, score="depth", bandwidth="median"
    )
    study = study_unknown(landmarks, groups, "middle", wide)

    summary = study.summary
    assert summary["is_masked"]
    assert summary["equal_error_rate"] > summary["worst_novelty_error"] + 0.05
    assert summary["worst_novelty_error"] == study.pairs["novelty_error"].max()
    assert study.verdict.reasons[-1].startswith("By novelty alone the specimens are hidden among ")
    # Masking is a matter of novelty; the test of mean shapes and the discriminant see the group.
    assert study.verdict.kind == "looks new"
    assert summary["single_specimens"] == "distinguished"


def test_each_group_in_turn_fills_the_matrix():
    landmarks, groups = drawn({"a": 12, "b": 12, "c": 12, "d": 5}, distance=0.2)
    steps = []

    with reporting(steps.append):
        every = study_each(landmarks, groups, QUICK, least_specimens=10)

    assert [study.unknown for study in every.studies] == ["a", "b", "c"]
    assert every.too_small == ("d",)
    matrix = every.matrix
    assert list(matrix.columns) == ["a", "b", "c", "d"]
    assert list(matrix.index) == ["a", "b", "c"]
    assert matrix.isna().to_numpy().tolist() == np.eye(3, 4, dtype=bool).tolist()
    square = matrix[["a", "b", "c"]].to_numpy()
    np.testing.assert_array_equal(square, square.T)
    alone = study_unknown(landmarks, groups, "b", QUICK)
    line = every.summary.iloc[1]
    assert line.to_dict() == alone.summary
    assert line["error"] == alone.pairs["error"].max() == np.nanmax(matrix.loc["b"])
    assert matrix.loc["b", "c"] == alone.pairs.set_index("known").loc["c", "error"]
    assert {step.task for step in steps} == {"groups held out", "halvings", "known groups"}


def test_groups_that_are_too_small_to_compare_with_are_held_out_all_the_same():
    landmarks, groups = drawn({"a": 12, "b": 12, "c": 3, "d": 1})

    every = study_each(landmarks, groups, QUICK)

    assert every.studies[0].not_compared == ("c", "d")
    matrix = every.matrix
    assert matrix.index.tolist() == matrix.columns.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(matrix, matrix.T)
    # Of two small groups neither is compared with the other.
    assert np.isnan(matrix.loc["c", "d"])
    assert matrix.loc["a", "c"] <= 0.25
    one_large = study_each(landmarks.take(groups != "b"), groups[groups != "b"], QUICK)
    assert [study.verdict.kind for study in one_large.studies] == [
        "too few specimens to say",  # no other is large enough
        "looks new",
        "too few specimens to say",
    ]


@pytest.mark.parametrize("score", ["neighbors", "mahalanobis", "depth"])
def test_the_score_has_no_part_in_the_verdict(score):
    landmarks, groups = drawn({"a": 20, "b": 20, "new": 10}, distance=0.4)
    usual = study_unknown(landmarks, groups, "new", QUICK)

    other = study_unknown(
        landmarks, groups, "new", SpeciesSettings(halvings=4, components=5, score=score)
    )

    assert other.verdict.sentence == usual.verdict.sentence
    assert other.pairs["error"].tolist() == usual.pairs["error"].tolist()
    assert other.halvings["auroc"].mean() > 0.8
    assert not np.array_equal(other.halvings["threshold"], usual.halvings["threshold"])


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
    """Bars: AUROC of each tribe, and in the mean; by depth no worse than by 5 neighbours.

    A tribe has many species, so that its specimens are not normal about its mean, which the
    likelihood ratio assumes; on species it is the better score (docs/decisions/033).
    """
    landmarks, groups = cichlids
    found, counts = np.unique(groups, return_counts=True)
    areas = {score: [] for score in ("likelihood-ratio", "depth", "neighbors")}
    for tribe in found[counts >= 30]:
        unknown = np.flatnonzero(groups == tribe)
        lines = {score: [] for score in areas}
        for number in range(long_bar(20)):
            split = split_in_half(groups, np.flatnonzero(groups != tribe), 0, number)
            for score, line in lines.items():
                settings = SpeciesSettings(score=score)
                one = fit_split(landmarks.coordinates, groups, split, unknown, settings)
                line.append(area_under_curve(one.holdout_scores, one.unknown_scores))
        means = {score: np.mean(line) for score, line in lines.items()}
        print(tribe, *(f"{score} {mean:.4f}" for score, mean in means.items()))
        for score, mean in means.items():
            areas[score].append(mean)

    assert {len(line) for line in areas.values()} == {11}
    for score, least, mean in (("likelihood-ratio", 0.94, 0.98), ("depth", 0.97, 0.985)):
        assert min(areas[score]) >= least
        assert np.mean(areas[score]) >= mean
    if long_bar(20) == 20:
        assert (np.array(areas["depth"]) >= areas["neighbors"]).all()


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
    assert study.pairs[["p_value", "error", "distance", "novelty_error"]].notna().all(axis=None)
