"""Answers of a species study: sentences, JSON, tables, aligned specimens and notes."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernova.shapes import Landmarks, read_landmarks, write_landmarks
from kernova.shapes.features import shape_features
from kernova.species.covariates import NOT_STATED, Covariates
from kernova.species.digitising import check_digitising
from kernova.species.results import (
    answer_each,
    answer_specimens,
    answer_unknown,
    digitising_notes,
)
from kernova.species.space import SpeciesSettings
from kernova.species.specimens import judge_specimens
from kernova.species.verdicts import format_rate
from tests.species.drawn_shapes import OUTLINE, drawn

QUICK = SpeciesSettings(halvings=2, components=4)
WITHOUT_COVARIATES = (
    "No covariate was given: if the samples differ in sex, age or site, shapes may differ for that "
    "reason."
)

SMALL_GROUPS = (
    "3 specimens belong to groups of fewer than 5; their digitising was checked against the most "
    "similar specimens of all groups, which may overlook errors."
)


def named(landmarks, source):
    return Landmarks(landmarks.ids, landmarks.coordinates, source=source)


@pytest.fixture(scope="module")
def fish():
    landmarks, groups = drawn({"a": 24, "b": 20, "d": 3, "new": 9}, distance=0.9)
    return named(landmarks, "fish.tps"), groups


@pytest.fixture(scope="module")
def unknown(fish):
    return answer_unknown(*fish, "new", QUICK)


@pytest.fixture(scope="module")
def each(fish):
    return answer_each(*fish, QUICK)


@pytest.fixture(scope="module")
def specimens(fish):
    landmarks, groups = fish
    is_new = groups == "new"
    new = named(landmarks.take(is_new), "nets.tps")
    return answer_specimens(landmarks.take(~is_new), groups[~is_new].tolist(), new, QUICK)


def plain(answer):
    """The answer as a program reads it."""
    return json.loads(json.dumps(answer.to_json_dict(), allow_nan=False))


# --- one unknown group ----------------------------------------------------------------------


def test_sentences_on_a_group_are_verdict_reasons_and_notes(unknown):
    verdict = unknown.study.verdict
    assert unknown.sentences == [verdict.sentence, *verdict.reasons, *unknown.notes]
    assert unknown.notes == (
        WITHOUT_COVARIATES,
        SMALL_GROUPS,
    )


def test_json_on_a_group_has_both_questions_for_every_known_group(unknown):
    found = plain(unknown)

    assert list(found) == [
        "unknown", "specimens", "verdict", "pooled", "is_masked", "pairs", "not_compared",
        "halvings", "rows", "digitising", "covariates", "notes", "settings",
    ]  # fmt: skip
    assert (found["unknown"], found["specimens"]) == ("new", 9)
    verdict = found["verdict"]
    assert list(verdict) == [
        "kind", "sentence", "reasons", "closest", "p_value", "specimens_needed",
    ]  # fmt: skip
    assert verdict["kind"] == "looks new"
    assert verdict["reasons"] == list(unknown.study.verdict.reasons)
    assert verdict["specimens_needed"] is None
    assert {pair["known"] for pair in found["pairs"]} == {"a", "b"}
    assert found["not_compared"] == ["d"]
    for pair in found["pairs"]:
        assert list(pair) == [
            "known", "specimens", "status", "p_value", "adjusted_p_value", "smallest_p_value",
            "exchanged", "exchanged_unknown", "exchanged_known", "population_column",
            "adjusted_for", "confounded_with", "too_rarely_stated", "shared_populations",
            "distance", "critical_distance", "dispersion_ratio", "dispersion_p_value", "smaller",
            "size_p_value", "sizes_apart", "distance_by_growth", "distance_beyond_growth", "error",
            "error_low", "error_high", "left_out", "single_specimens", "novelty_error", "auroc",
            "novelty_error_spread",
        ]  # fmt: skip
        assert (pair["status"], pair["exchanged"]) == ("ruled out", "specimens")
        assert pair["single_specimens"] == "distinguished"
        assert (pair["adjusted_p_value"] is None) == (pair["adjusted_for"] == "")
        assert pair["error_low"] <= pair["error"] <= pair["error_high"]
    assert [line["halving"] for line in found["halvings"]] == [1, 2]
    mean = np.mean([line["auroc"] for line in found["halvings"]])
    assert found["pooled"]["auroc"] == pytest.approx(mean)
    assert found["is_masked"] is False
    assert found["covariates"] == []
    assert found["notes"] == list(unknown.notes)
    assert found["settings"]["score"] == "likelihood-ratio"
    assert found["settings"]["features"] is None


def test_rows_on_a_group_are_its_specimens(unknown):
    rows = unknown.rows
    assert list(rows.columns) == [
        "id", "novelty", "p_value", "verdict", "closest", "closest_p_value", "digitising",
    ]  # fmt: skip
    assert list(rows["id"]) == [f"s{k}" for k in range(47, 56)]
    assert set(rows["digitising"]) == {"in order"}
    assert [row["id"] for row in plain(unknown)["rows"]] == list(rows["id"])


def test_the_table_shown_has_the_hardest_group_first(unknown):
    assert list(unknown.shown.columns) == [
        "known", "specimens", "status", "p_value", "adjusted_p_value", "error", "error_low",
        "error_high", "novelty_error",
    ]  # fmt: skip
    assert unknown.shown["known"].iloc[0] == unknown.study.verdict.closest
    assert unknown.title == "Known groups, the hardest to distinguish first"


def test_a_group_without_any_to_compare_with_is_an_answer_too():
    landmarks, groups = drawn({"a": 3, "b": 2, "new": 5})
    answer = answer_unknown(landmarks, groups, "new", QUICK)
    found = plain(answer)
    assert (found["pairs"], found["verdict"]["closest"]) == ([], None)
    assert found["not_compared"] == ["a", "b"]
    assert answer.shown.empty
    assert not any(note.startswith("No covariate") for note in answer.notes)


def test_the_score_and_features_are_among_the_settings(fish):
    features = shape_features({"long": "|1-6| / |3-9|", "wide": "|4-8| / |1-6|"})
    settings = SpeciesSettings(halvings=1, features=features, score="mahalanobis")
    found = plain(answer_unknown(*fish, "new", settings))["settings"]
    assert found["features"] == {"long": "|1-6| / |3-9|", "wide": "|4-8| / |1-6|"}
    assert (found["score"], found["halvings"]) == ("mahalanobis", 1)


# --- notes ----------------------------------------------------------------------------------


def test_columns_of_the_table_are_compared_and_offered(fish):
    landmarks, groups = fish
    sex = np.where(groups == "new", "M", np.where(np.arange(56) % 3, "F", "M"))
    columns = pd.DataFrame({"sex": sex, "museum": list("xy") * 28})

    without = answer_unknown(landmarks, groups, "new", QUICK, None, columns)
    given = answer_unknown(landmarks, groups, "new", QUICK, Covariates({"sex": sex}), columns)

    nearest = without.study.pairs.set_index("known")["distance"].idxmin()
    share = np.mean(sex[groups == nearest] == "M")
    assert without.notes[:2] == (
        f"Of the unknown specimens 100% have sex = M, of {nearest} {share:.0%}: a difference "
        "between such specimens would look the same. Add --covariate sex to adjust for it.",
        WITHOUT_COVARIATES,
    )
    assert given.notes[0] == (
        "The tests of samples are adjusted for sex and size; other differences between the "
        "samples, such as in season or preservation, are not ruled out."
    )
    assert plain(given)["covariates"] == ["sex"]
    assert all(pair["adjusted_p_value"] <= 0.05 for pair in plain(given)["pairs"])


def test_usual_covariates_that_are_balanced_are_offered(fish):
    columns = pd.DataFrame({"sex": list("FM") * 28, "site": list("xxyy") * 14})
    answer = answer_unknown(*fish, "new", QUICK, None, columns)
    assert answer.notes[0] == f"{WITHOUT_COVARIATES} Add --covariate sex --covariate site."


def test_covariates_that_are_rarely_stated_and_shared_populations_are_noted(fish):
    landmarks, groups = fish
    sex = np.where(np.arange(56) % 2, "F", "M").astype("<U10")
    sex[groups == "new"] = NOT_STATED
    site = np.char.add(groups, (np.arange(56) % 3).astype(str))
    site[0] = "new0"  # of a
    answer = answer_unknown(landmarks, groups, "new", QUICK, Covariates({"sex": sex, "site": site}))
    named = answer.study.pairs["known"].tolist()
    assert answer.notes[:2] == (
        "sex is stated for too few specimens of new or of the known group, and so was not adjusted "
        f"for, against {named[0]} and {named[1]}.",
        "new and a both have specimens of new0: these were exchanged as separate populations. "
        "Check that they are not labelled wrongly.",
    )
    assert plain(answer)["verdict"]["kind"] == "too few populations to say"


def test_growth_within_groups_is_noted_where_size_has_a_part():
    landmarks, groups = drawn({"a": 30, "b": 30, "new": 12}, noise=0.04)
    answer = answer_unknown(landmarks, groups, "new", QUICK, Covariates(has_size=True))
    assert plain(answer)["covariates"] == ["size"]
    (note,) = [one for one in answer.notes if one.startswith("Within groups, log centroid size")]
    # Sizes are drawn at random, so that shapes do not change with them.
    assert "slopes do not differ significantly between groups" in note
    share = float(note.split("explains ")[1].split("%")[0])
    assert share < 10


def test_young_specimens_are_told_from_new_ones():
    """Shapes become longer with size; the unknown are young specimens of a."""
    landmarks, groups = drawn({"a": 50, "b": 40}, noise=0.03)
    rng = np.random.default_rng(2)
    log_sizes = rng.normal(0, 0.1, 90)
    log_sizes[:14] -= 1
    ways = np.random.default_rng([0, 7]).standard_normal((2, *OUTLINE.shape))
    bent = OUTLINE + 0.6 * ways[(groups == "b").astype(int)] / np.linalg.norm(ways[0])
    shapes = bent * np.column_stack([1 + 0.25 * log_sizes, np.ones(90)])[:, None]
    shapes += 0.03 * rng.standard_normal(shapes.shape)
    lengths = np.linalg.norm(shapes - shapes.mean(axis=1, keepdims=True), axis=(1, 2))
    shapes *= (np.exp(log_sizes) / lengths)[:, None, None]
    labels = np.where(np.arange(90) < 14, "young", groups)

    answer = answer_unknown(Landmarks(landmarks.ids, shapes), labels, "young", QUICK)

    assert answer.study.verdict.kind == "differs, but so does size"
    assert answer.sentences[0] == (
        "young is not shown to be new: it differs from a in mean shape (p-value 0.001), but every "
        "specimen of young is smaller than every one of a, and shape differences of this amount "
        "are expected from growth."
    )
    assert any(note.startswith("Within groups, log centroid size ") for note in answer.notes)
    every = answer_each(Landmarks(landmarks.ids, shapes), labels, QUICK)
    assert every.sentences[1] == (
        "2 of 3 groups differ from every other group, but from at least one no more than size may "
        "explain."
    )


def test_notes_of_the_file_and_on_its_landmarks_are_told_once():
    landmarks, groups = drawn({"a": 20, "b": 20, "new": 8})
    points = landmarks.coordinates.copy()
    points[2, 4] = np.nan
    points[3, 5] = 1e200
    gappy = Landmarks(landmarks.ids, points, source="fish.tps", notes=("A comment was left out.",))
    notes = (
        "1 landmark of fish.tps lies far beyond those of all other specimens and was treated as "
        "missing, such as landmark 6 of 's3' at 1e+200, 1e+200. Correct the file, or leave such "
        "landmarks empty.",
        "A comment was left out.",
        "2 of 432 landmarks of fish.tps are missing, in 2 of 48 specimens; each was estimated "
        "from the others.",
    )

    for answer in (
        answer_unknown(gappy, groups, "new", QUICK),
        answer_each(gappy, groups, QUICK),
    ):
        start = answer.notes.index(notes[0])
        assert answer.notes[start : start + 3] == notes
        assert len(set(answer.notes)) == len(answer.notes)
    new = Landmarks(("x",), drawn({"a": 1}, seed=4)[0].coordinates, notes=gappy.notes)
    tests = answer_specimens(gappy, groups.tolist(), new, QUICK)
    assert [note for note in tests.notes if note in notes] == list(notes)


def test_one_specimen_to_check_and_several():
    landmarks, groups = drawn({"a": 40, "b": 40}, noise=0.05)
    points = landmarks.coordinates.copy()
    assert digitising_notes(check_digitising(landmarks, groups.tolist())) == []
    for row, number in ((3, 2), (50, 6)):
        points[row, number] += 0.4 * np.ptp(points[row], axis=0)
        report = check_digitising(Landmarks(landmarks.ids, points), groups.tolist())
        first = report.findings[0]
        n_found = len({one.row for one in report.findings})
        assert n_found == (1 if row == 3 else 2)
        strongest = "The strongest case: " if n_found > 1 else ""
        assert digitising_notes(report) == [
            f"{n_found} of 80 specimens may be misdigitised, and took part in the tests "
            f"nevertheless. {strongest}{first.sentence}"
        ]
        assert first.sentence.startswith(f"Specimen {first.id} ({first.group}): landmark ")


def test_several_findings_on_a_specimen_are_in_one_cell():
    landmarks, groups = drawn({"a": 40, "new": 10}, noise=0.05)
    points = landmarks.coordinates.copy()
    points[44, 2] = points[44, 3]
    points[44, 6] += 0.5 * np.ptp(points[44], axis=0)
    answer = answer_unknown(Landmarks(landmarks.ids, points), groups, "new", QUICK)
    cell = answer.rows.set_index("id").loc["s44", "digitising"]
    assert cell.startswith("coinciding 3, 4; ")


# --- every group ----------------------------------------------------------------------------


def test_sentences_on_every_group_count_verdicts_and_pairs(each):
    assert each.sentences == [
        "3 of 3 groups would look new if they were unknown: they differ in mean shape from every "
        "other group compared.",
        "Single specimens are distinguished in 3 of 3 pairs of groups by a cross-validated "
        "discriminant (an error of at most 0.25, its whole interval included).",
        "Never held out, since they are smaller: d.",
        "Not compared alone, since they are too small, and therefore ruled out for no group: d.",
        "The tests of samples are adjusted for size.",
        "No covariate was given: if the samples differ in sex, age or site, shapes may differ for "
        "that reason.",
        SMALL_GROUPS,
    ]


def test_json_on_every_group_has_a_symmetric_matrix(each):
    found = plain(each)
    assert list(found) == [
        "groups", "verdicts", "pairs", "matrix", "too_small", "not_compared", "covariates",
        "digitising", "notes", "settings",
    ]  # fmt: skip
    assert [line["unknown"] for line in found["groups"]] == ["a", "b", "new"]
    assert [line["verdict"] for line in found["groups"]] == ["looks new"] * 3
    assert found["verdicts"]["b"]["sentence"] == each.study.studies[1].verdict.sentence
    assert (found["too_small"], found["not_compared"]) == (["d"], ["d"])
    matrix = found["matrix"]
    assert matrix["groups"] == matrix["others"] == ["a", "b", "new"]
    rates = pd.DataFrame(matrix["discriminant_error"], dtype=float).to_numpy()
    np.testing.assert_array_equal(rates, rates.T)
    assert np.isnan(np.diag(rates)).all()
    assert {(pair["unknown"], pair["known"]) for pair in found["pairs"]} == {
        (x, y) for x in matrix["groups"] for y in matrix["groups"] if x != y
    }
    assert len(each.rows) == len(each.shown) == 3
    assert "single_specimens" in each.rows


def test_groups_that_overlap_are_counted():
    landmarks, groups = drawn({"a": 40, "b": 20, "c": 3}, distance=0.9)
    halves = np.where((groups == "a") & (np.arange(63) % 2 == 0), "a2", groups)
    answer = answer_each(landmarks, halves, QUICK, least_specimens=2)
    assert answer.sentences[:4] == [
        "2 of 4 groups would look new if they were unknown: they differ in mean shape from every "
        "other group compared.",
        "2 of 4 groups were not distinguished, as samples, from another one.",
        "Single specimens are distinguished in 2 of 6 pairs of groups by a cross-validated "
        "discriminant (an error of at most 0.25, its whole interval included); there are too few "
        "to say in 3 and the error is not below that of guessing in 1.",
        "Not compared alone, since they are too small, and therefore ruled out for no group: c.",
    ]


def test_no_pair_makes_no_sentence_on_pairs():
    landmarks, groups = drawn({"a": 2, "b": 2, "c": 1}, noise=0.02)
    answer = answer_each(landmarks, groups, QUICK, least_specimens=1)
    assert answer.sentences == [
        "None of the 3 groups would look new if it were unknown.",
        "3 of 3 groups have too few specimens to say.",
        "Not compared alone, since they are too small, and therefore ruled out for no group: a, b "
        "and c.",
        *answer.notes,
    ]


# --- single specimens -----------------------------------------------------------------------


def test_sentences_on_specimens_are_of_each_and_of_the_sample(specimens):
    tests = specimens.tests
    assert specimens.sentences[:2] == [
        "9 of 9 specimens of nets.tps look like none of the known groups and 0 are usual; "
        "of those called new, at most 5 % are expected to be ordinary.",
        tests.whole_sample.sentence,
    ]
    p_value = format_rate(tests.whole_sample.p_value)
    assert specimens.sentences[1].endswith(
        f"The two tests together show that the sample, or a part of it, is more novel (p-value "
        f"{p_value})."
    )
    assert specimens.sentences[2:] == list(specimens.notes)
    assert specimens.notes[0] == tests.notes[0]


def test_nothing_is_promised_of_new_specimens_where_there_are_none():
    known, groups = drawn({"a": 40, "b": 40, "far": 0}, distance=1.5)
    new, _ = drawn({"a": 4, "b": 4, "far": 1}, distance=1.5, seed=3)
    answer = answer_specimens(known, groups.tolist(), named(new, "nets.tps"), QUICK)
    assert answer.sentences[0] == (
        "0 of 9 specimens of nets.tps look like none of the known groups, 1 is undecided and 8 are "
        "usual."
    )
    assert plain(answer)["undecided_specimens"] == 1


def test_digitising_is_checked_before_sides_are_averaged():
    """What is missing or misplaced shows in the specimens as they were digitised alone."""
    landmarks, groups = drawn({"a": 30, "b": 30, "new": 10}, noise=0.05)
    points = landmarks.coordinates.copy()
    points[4, 2] = np.nan
    points[9, 6] += 0.5 * np.ptp(points[9], axis=0)
    digitised = Landmarks(landmarks.ids, points, source="fish.tps")
    is_new, names = groups == "new", groups.tolist()
    known, new = landmarks.take(~is_new), landmarks.take(is_new)
    both = (digitised.take(~is_new), digitised.take(is_new))
    for answer in (
        answer_unknown(landmarks, groups, "new", QUICK, digitised=digitised),
        answer_each(landmarks, groups, QUICK, digitised=digitised),
        answer_specimens(known, groups[~is_new].tolist(), new, QUICK, both),
    ):
        assert ("s9", (7,)) in {(one.id, one.landmarks) for one in answer.digitising.findings}
        assert any(note.startswith("1 of ") and " missing, " in note for note in answer.notes)
    assert not any("missing" in note for note in answer_unknown(landmarks, names, "new").notes)


def test_scales_of_some_specimens_and_slow_alignment_are_noted(monkeypatch):
    """Whether or not a question is asked that compares sizes."""
    landmarks, groups = drawn({"a": 20, "b": 20, "new": 10})
    scales = np.where(np.arange(50) < 30, 2.0, np.nan)
    landmarks = Landmarks(landmarks.ids, landmarks.coordinates, scales=scales, source="fish.tps")

    def judge(*given):
        text = "The consensus did not converge in 9 rounds: x."
        warnings.warn(text, ConvergenceWarning, stacklevel=1)
        return judge_specimens(*given)

    monkeypatch.setattr("kernova.species.results.judge_specimens", judge)
    answer = answer_unknown(landmarks, groups.tolist(), "new", QUICK)
    assert (
        "20 of 50 specimens have no scale, so that sizes are taken in the units of the file, and "
        "are not comparable if magnifications differ."
    ) in answer.notes
    assert (
        "The consensus did not converge in 9 rounds: x. Results that are close to a limit may "
        "depend on it."
    ) in answer.notes
    scaled = answer_each(replace(landmarks, scales=np.ones(50)), groups.tolist(), QUICK)
    assert not any("scale" in note for note in scaled.notes)


def test_far_landmarks_are_sought_in_coordinates_as_read_alone():
    landmarks, groups = drawn({"a": 20, "b": 20, "new": 10})
    points = landmarks.coordinates.copy()
    points[3, 2] = 1e9
    averaged = replace(landmarks, coordinates=points)
    given = (groups.tolist(), "new", QUICK)
    assert any("far beyond" in note for note in answer_unknown(averaged, *given).notes)
    answer = answer_unknown(averaged, *given, digitised=landmarks)
    assert not any("far beyond" in note for note in answer.notes)


def test_specimens_unlike_any_group_are_not_in_order():
    known, groups = drawn({"a": 40, "b": 40})
    rng = np.random.default_rng(5)
    new = Landmarks(("n0", "n1"), np.stack([rng.normal(size=(9, 2)), known.coordinates[0] + 0.001]))
    answer = answer_specimens(known, groups.tolist(), new, QUICK)
    assert answer.rows["digitising"].tolist() == ["unlike any group", "in order"]


def test_json_on_specimens_has_the_test_of_the_whole_sample(specimens):
    found = plain(specimens)
    assert list(found) == [
        "new_specimens", "undecided_specimens", "specimens", "held_out_specimens", "whole_sample",
        "rows", "digitising", "notes", "settings",
    ]  # fmt: skip
    assert (found["new_specimens"], found["specimens"]) == (9, 9)
    assert found["held_out_specimens"] == 24
    whole = found["whole_sample"]
    assert whole == {
        "p_value": specimens.tests.whole_sample.p_value,
        "is_more_novel": True,
        "rank_sum_p_value": specimens.tests.whole_sample.rank_sum_p_value,
        "low_p_values": 9,
        "low_p_values_expected": pytest.approx(0.45),
        "low_p_values_p_value": specimens.tests.whole_sample.low_p_values_p_value,
        "sentence": specimens.sentences[1],
    }
    assert whole["p_value"] < 0.001
    assert [row["verdict"] for row in found["rows"]] == ["new"] * 9


def test_specimens_are_shown_with_the_most_unusual_first(specimens):
    assert specimens.shown["p_value"].is_monotonic_increasing
    novelty = specimens.shown["novelty"].tolist()
    assert novelty == sorted(specimens.rows["novelty"], reverse=True)
    assert list(specimens.rows["id"]) == list(specimens.tests.new.ids)


def test_known_and_new_specimens_are_checked_in_one_report():
    known, groups = drawn({"a": 40, "b": 40}, noise=0.05)
    new, _ = drawn({"a": 6}, seed=3, noise=0.05)
    points, others = known.coordinates.copy(), new.coordinates.copy()
    points[7, 4] += 0.5 * np.ptp(points[7], axis=0)
    others[2, 5] += 0.5 * np.ptp(others[2], axis=0)

    answer = answer_specimens(
        Landmarks(known.ids, points), groups.tolist(), Landmarks(new.ids, others), QUICK
    )

    assert {(one.id, one.group, one.landmarks) for one in answer.digitising.findings} == {
        ("s7", "a", (5,)),
        ("s2 (new)", "", (6,)),
    }
    cells = answer.rows.set_index("id")["digitising"]
    assert cells["s2"] == "single landmark 6"
    assert (cells.drop("s2") == "in order").all()
    assert [one["id"] for one in plain(answer)["digitising"]] == [
        one.id for one in answer.digitising.findings
    ]


# --- aligned specimens ----------------------------------------------------------------------


def test_aligned_specimens_are_those_of_the_file_without_position_size_and_direction(
    fish, unknown, each
):
    landmarks, groups = fish
    for answer in (unknown, each):
        aligned, labels = answer.aligned
        assert aligned.ids == landmarks.ids
        assert labels == tuple(groups)
        np.testing.assert_allclose(aligned.coordinates.mean(axis=1), 0, atol=1e-9)
        sizes = np.linalg.norm(aligned.coordinates, axis=(1, 2))
        np.testing.assert_allclose(sizes, 1, atol=0.05)
        # A similarity keeps ratios of distances.
        for points in (aligned.coordinates, landmarks.coordinates):
            ratio = np.linalg.norm(points[:, 0] - points[:, 4], axis=1) / np.linalg.norm(
                points[:, 2] - points[:, 7], axis=1
            )
            if points is aligned.coordinates:
                ours = ratio
        np.testing.assert_allclose(ours, ratio)


def test_new_specimens_are_aligned_as_group_new(specimens, tmp_path):
    aligned, groups = specimens.aligned
    assert len(aligned) == 56
    assert groups[:47] == tuple(specimens.tests.groups)
    assert groups[47:] == ("new",) * 9
    write_landmarks(tmp_path / "aligned.csv", aligned, groups)
    again = read_landmarks(tmp_path / "aligned.csv")
    np.testing.assert_allclose(again.landmarks.coordinates, aligned.coordinates)
    assert again.landmarks.ids == aligned.ids


def test_new_specimens_with_the_ids_of_known_ones_are_marked():
    known, groups = drawn({"a": 10, "b": 10})
    ids = ("s0 (new)", *known.ids[1:])
    new, _ = drawn({"a": 2}, seed=1)
    twins = Landmarks(("s1", "s0 (new)"), new.coordinates)
    answer = answer_specimens(Landmarks(ids, known.coordinates), groups.tolist(), twins, QUICK)
    assert answer.aligned.landmarks.ids[20:] == ("s1 (new)", "s0 (new) (new)")
    assert list(answer.rows["id"]) == ["s1", "s0 (new)"]
