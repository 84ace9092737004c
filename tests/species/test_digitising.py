"""Digitising checks: errors put into shapes are found and named, and new species are not errors."""

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.shapes import Landmarks
from kernova.species.digitising import DigitisingSettings, check_digitising
from kernova.species.digitising.deviations import (
    fit_tail,
    group_centres,
    learn_precision,
    squared_deviations,
)
from kernova.species.digitising.suspicions import gather_evidence, swap_p_values
from tests.species.drawn_shapes import drawn


def file_of(coordinates):
    return Landmarks(tuple(f"s{k}" for k in range(len(coordinates))), coordinates)


@pytest.fixture(scope="module")
def clean():
    landmarks, groups = drawn({"a": 60, "b": 40, "c": 20})
    return landmarks.coordinates, groups.tolist()


def found(coordinates, groups=None):
    report = check_digitising(file_of(coordinates), groups)
    return {one.row: (one.kind, one.landmarks) for one in report.findings}


# --- formulas --------------------------------------------------------------------------------


def literal_deviations(rows, codes, row, shrinkage, floor, prior, d):
    """Deviations of one specimen, with mean and covariance of all others computed anew.

    Shrinkage and prior are those of all specimens, and so is the divisor.
    """
    n_free = len(rows) - len(set(codes))
    others = np.arange(len(rows)) != row
    scatter = np.zeros((rows.shape[1],) * 2)
    for code in set(codes):
        members = rows[others & (codes == code)]
        centred = members - members.mean(axis=0)
        scatter += centred.T @ centred
    covariance = (1 - shrinkage) * scatter / n_free + floor + prior
    mean = rows[others & (codes == codes[row])].mean(axis=0)
    r = rows[row] - mean
    squared = []
    for start in range(0, len(r), d):
        own = np.arange(start, start + d)
        rest = np.setdiff1d(np.arange(len(r)), own)
        weights = covariance[np.ix_(own, rest)] @ np.linalg.inv(covariance[np.ix_(rest, rest)])
        left = r[own] - weights @ r[rest]
        conditional = covariance[np.ix_(own, own)] - weights @ covariance[np.ix_(rest, own)]
        squared.append(left @ np.linalg.solve(conditional, left))
    return np.array(squared), r @ np.linalg.solve(covariance, r)


@pytest.mark.parametrize("d", [2, 3])
def test_deviations_are_those_from_a_covariance_without_the_specimen(d):
    rng = np.random.default_rng(d)
    shapes = rng.normal(size=(5, d)) + 0.1 * rng.normal(size=(30, 5, d))
    codes = np.repeat([0, 1], [18, 12])
    rows, used = shapes.reshape(30, -1), np.ones(30, dtype=bool)
    expected = group_centres(shapes, codes, used, 5)
    differences = shapes - expected.centres
    scatter = differences.reshape(30, -1) * expected.fractions[:, None]
    consensus = shapes.mean(axis=0)
    precision = learn_precision(scatter, 28, consensus)
    deviations = squared_deviations(differences, precision, expected.fractions)
    shrinkage = 1 - precision.weight * 28
    rest = np.linalg.inv(precision.matrix) - (1 - shrinkage) * scatter.T @ scatter / 28
    for row in (0, 7, 29):
        each, whole = literal_deviations(rows, codes, row, shrinkage, 0, rest, d)
        np.testing.assert_allclose(deviations.landmarks[row], each, rtol=1e-9)
        np.testing.assert_allclose(deviations.whole[row], whole, rtol=1e-9)


def test_a_tail_is_recovered_and_a_few_errors_do_not_move_it():
    rng = np.random.default_rng(0)
    squared = 3 * 2 * rng.f(2, 8, size=20_000)
    tail = fit_tail(squared, 2)
    assert tail.freedom == pytest.approx(8, rel=0.3)
    assert tail.scale == pytest.approx(3, rel=0.05)
    squared[:100] = 1e9
    assert fit_tail(squared, 2).freedom == pytest.approx(tail.freedom, rel=0.2)
    assert (tail.p_values(squared[100:]) < 0.001).mean() == pytest.approx(0.001, abs=0.0008)


def test_a_tail_is_wider_by_what_few_degrees_of_freedom_leave_open():
    tail = fit_tail(np.random.default_rng(1).chisquare(2, size=50_000), 2)
    wide = tail.widened(20)
    assert wide.median == pytest.approx(tail.median)
    assert wide.freedom == pytest.approx(1 / (1 / tail.freedom + 1 / 20))
    # Squared deviations over a variance from 20 degrees of freedom follow an F distribution.
    rng = np.random.default_rng(2)
    squared = rng.chisquare(2, size=200_000) / (rng.chisquare(20, size=200_000) / 20)
    assert (wide.p_values(squared) < 0.001).mean() == pytest.approx(0.001, rel=0.4)


def test_swap_p_values_of_ordinary_specimens_are_not_small(clean):
    coordinates, groups = clean
    codes = np.unique(groups, return_inverse=True)[1]
    evidence = gather_evidence(coordinates, codes, 5, 0.05)
    p = swap_p_values(evidence.by_group, evidence.shapes, np.arange(len(codes)))
    assert p.min() > 0.01
    swapped = evidence.shapes[:1].copy()
    swapped[0, [2, 3]] = swapped[0, [3, 2]]
    assert swap_p_values(evidence.by_group, swapped, np.array([0]))[0] < 1e-6


# --- findings --------------------------------------------------------------------------------


def test_clean_shapes_have_no_finding(clean):
    coordinates, groups = clean
    assert found(coordinates, groups) == {}
    assert found(coordinates) == {}


def test_every_kind_of_error_is_found_and_named(clean):
    coordinates, groups = clean[0].copy(), clean[1]
    coordinates[3] *= [-1, 1]
    coordinates[70, [1, 2]] = coordinates[70, [2, 1]]
    size = np.ptp(coordinates[110])
    coordinates[110, 4] += 0.3 * size
    coordinates[20] = coordinates[20, ::-1]
    coordinates[21] = np.roll(coordinates[21], 2, axis=0)
    coordinates[22, 6] = 0
    coordinates[23, 5] = coordinates[23, 7]
    coordinates[80] = np.random.default_rng(5).normal(size=coordinates[80].shape)
    report = check_digitising(file_of(coordinates), groups)
    assert {one.row: (one.kind, one.landmarks) for one in report.findings} == {
        3: ("mirrored", ()),
        70: ("swapped pair", (2, 3)),
        110: ("single landmark", (5,)),
        20: ("other order", ()),
        21: ("other order", ()),
        22: ("at zero", (7,)),
        23: ("coinciding", (6, 8)),
        80: ("whole shape", ()),
    }
    sentences = {one.row: one.sentence for one in report.findings}
    single = next(one for one in report.findings if one.row == 110)
    assert sentences[110] == (
        f"Specimen s110 (c): landmark 5 lies {single.deviation:.1f} times its usual deviation from "
        "where the other 8 place it; the others are in order. Check it against the image."
    )
    assert "digitised in each other's place" in sentences[70]
    assert "shifted by 2" in sentences[21]
    assert "reversed" in sentences[20]
    assert report.rows["landmarks"].tolist()[0] == "7"
    assert list(report.rows["p_value"].dropna()) == sorted(report.rows["p_value"].dropna())
    placed = report.aligned(single)
    apart = np.linalg.norm(placed.specimen - placed.expected, axis=1)
    assert apart.argmax() == 4
    assert np.median(apart) < apart.max() / 5


def test_errors_in_a_tenth_of_the_specimens_do_not_hide_one_another(clean):
    coordinates, groups = clean[0].copy(), clean[1]
    bad = np.arange(0, 120, 10)
    for row in bad:
        coordinates[row, 2] += 0.25 * np.ptp(coordinates[row])
    names = found(coordinates, groups)
    assert [row for row in bad if names.get(row) == ("single landmark", (3,))] == bad.tolist()
    assert len(names) <= len(bad) + 1


def test_the_minority_is_mirrored_even_if_it_is_large(clean):
    coordinates, groups = clean[0].copy(), clean[1]
    coordinates[:48] *= [1, -1]
    names = found(coordinates, groups)
    mirrored = [row for row, name in names.items() if name == ("mirrored", ())]
    assert sorted(mirrored) == list(range(48))
    assert len(names) <= 50  # the false discovery rate allows 48 / 20


@pytest.mark.parametrize("label", ["new", None, "split"])
def test_a_new_species_is_not_an_error(label):
    landmarks, groups = drawn({"a": 60, "b": 40, "new": 8}, distance=1.2)
    names = [label if group == "new" else group for group in groups]
    if label == "split":
        names = [f"{name}{k}" if name == "split" else name for k, name in enumerate(names)]
    report = check_digitising(landmarks, names)
    assert sum(one.row >= 100 for one in report.findings) == 0
    whose = {"new": None, None: "have no group", "split": "belong to groups of fewer than 5"}[label]
    assert [note for note in report.notes if "most similar" in note] == (
        []
        if whose is None
        else [
            f"8 specimens {whose}; their digitising was checked against the most similar specimens "
            "of all groups, which may overlook errors."
        ]
    )


@pytest.mark.parametrize("label", [None, "rare"])
def test_specimens_of_a_shape_that_no_group_has_are_noted_and_not_listed(clean, label):
    coordinates, groups = clean[0].copy(), [*clean[1]]
    rng = np.random.default_rng(5)
    for row in (80, 95):
        coordinates[row] = rng.normal(size=coordinates[row].shape)
        groups[row] = label
    coordinates[90, 4] += 0.4 * np.ptp(coordinates[90])
    groups[90] = label
    report = check_digitising(file_of(coordinates), groups)
    assert {one.row: (one.kind, one.landmarks) for one in report.findings} == {
        90: ("single landmark", (5,))
    }
    which, few = "none of the known groups", "A few landmarks alone do not explain this."
    if label:
        which = "no larger group"
        few = "This is not explained by a few landmarks that others of their group have elsewhere."
    assert report.notes[0] == (
        f"2 specimens are either digitised differently or of a shape that {which} has: s80, s95. "
        f"{few}"
    )
    assert report.unlike == (80, 95)


def test_landmarks_that_a_small_species_has_elsewhere_are_no_errors(clean):
    coordinates, groups = clean[0].copy(), [*clean[1]]
    rows = [100, 101, 102, 103]
    for row in rows:
        groups[row] = "rare"
        frame = coordinates[row] - coordinates[row].mean(axis=0)
        coordinates[row, 4] += 0.5 * frame[4]
    report = check_digitising(file_of(coordinates), groups)
    assert not {one.row for one in report.findings} & set(rows)
    assert report.unlike == tuple(rows)
    wrong = coordinates.copy()
    wrong[101, [1, 2]] = coordinates[101, [2, 1]]
    wrong[102, 7] += 0.4 * np.ptp(coordinates[102])
    wrong[103] *= [-1, 1]
    names = found(wrong, groups)
    assert {row: names.get(row) for row in rows} == {
        100: None,
        101: ("swapped pair", (2, 3)),
        102: ("single landmark", (8,)),
        103: ("mirrored", ()),
    }


@pytest.mark.parametrize("n_landmarks", [12, 30])
def test_clean_files_of_small_groups_seldom_have_a_finding(n_landmarks):
    """Aimed at 5 %; scales, means and covariances from few specimens vary, too."""
    rng, n_files = np.random.default_rng(n_landmarks), 0
    for _ in range(40):
        means = rng.normal(size=(5, n_landmarks, 2)) * 0.05 + rng.normal(size=(n_landmarks, 2))
        axes = rng.normal(size=(4, n_landmarks * 2)) * 0.02
        drawn_rows = rng.normal(size=(30, 4)) @ axes + 0.01 * rng.normal(size=(30, 2 * n_landmarks))
        shapes = np.repeat(means, 6, axis=0) + drawn_rows.reshape(30, n_landmarks, 2)
        n_files += bool(found(shapes, np.repeat([*"abcde"], 6).tolist()))
    assert n_files <= 6  # 0.1 % of the time if 5 % have one


def test_without_any_group_a_shape_that_deviates_is_listed(clean):
    coordinates = clean[0].copy()
    coordinates[80] = np.random.default_rng(5).normal(size=coordinates[80].shape)
    report = check_digitising(file_of(coordinates))
    (one,) = [one for one in report.findings if one.row == 80]
    assert one.kind == "whole shape"
    assert one.sentence == (
        f"Specimen s80: its whole shape lies {one.deviation:.1f} times the usual deviation from "
        "what is expected: it is either digitised differently or of a shape that no other specimen "
        "has. Check the image and the order of the landmarks."
    )


def test_specimens_with_the_same_landmarks_are_noted(clean):
    coordinates, groups = clean[0].copy(), clean[1]
    coordinates[5] = coordinates[4]
    assert check_digitising(file_of(coordinates), groups).notes == (
        "Specimens s4 and s5 have the same landmarks. Each took part in the tests; leave one of "
        "them out.",
    )
    coordinates[9, 2] = np.nan
    coordinates[7] = coordinates[9]
    assert check_digitising(file_of(coordinates[:10]), groups[:10]).notes[1] == (
        "Specimens s4 and s5 have the same landmarks; so has 1 other pair. Each took part in the "
        "tests; leave one of them out."
    )


def test_missing_landmarks_are_allowed_and_three_axes_too():
    rng = np.random.default_rng(1)
    base = rng.normal(size=(8, 3))
    shapes = base + 0.03 * rng.normal(size=(50, 8, 3))
    shapes[rng.random((50, 8)) < 0.05] = np.nan
    shapes[5, [0, 1]] = shapes[6, [0, 1]] = base[[1, 0]]
    shapes[9] = shapes[9] * [1, 1, -1]
    shapes[12, 2:] = np.nan  # too few landmarks
    report = check_digitising(file_of(shapes), ["g"] * 50)
    names = {one.row: (one.kind, one.landmarks) for one in report.findings}
    assert names[5] == names[6] == ("swapped pair", (1, 2))
    assert names[9][0] == "mirrored"
    assert report.notes == (
        "1 specimen with fewer than 4 landmarks, or all in one place, is not compared with others.",
    )


def test_a_mirror_image_that_looks_the_same_is_not_claimed():
    rng = np.random.default_rng(2)
    half = np.array([[0.0, 1.0], [1.0, 2.0], [2.5, 1.5], [3.0, 0.5]])
    whole = np.concatenate([half, half * [1, -1], [[-1.0, 0.0], [4.0, 0.0]]])
    shapes = whole + 0.05 * rng.normal(size=(60, 10, 2))
    # The image is mirrored, and left and right are digitised as they appear.
    sides = np.array([4, 5, 6, 7, 0, 1, 2, 3, 8, 9])
    shapes[4] = (shapes[4] * [1, -1])[sides]
    assert found(shapes, ["g"] * 60) == {}
    flat = np.dstack([shapes, 0.001 * rng.normal(size=(60, 10))])
    flat[7] *= [1, 1, -1]
    assert found(flat, ["g"] * 60) == {}


def test_the_origin_of_the_coordinates_is_not_missing(clean):
    coordinates, groups = clean
    shifted = coordinates - coordinates[:, :1]
    assert found(shifted, groups) == {}


def test_a_landmark_that_deviates_in_many_is_noted(clean):
    coordinates, groups = clean[0].copy(), clean[1]
    for row in range(60, 66):
        coordinates[row, 2] += 0.25 * np.ptp(coordinates[row])
    report = check_digitising(file_of(coordinates), groups)
    assert report.notes == (
        "Landmark 3 deviates in 6 of 40 specimens of b: it may be a difference in shape, or in how "
        "it was digitised, rather than an error.",
    )


def test_few_specimens_and_wrong_settings_are_named(clean):
    report = check_digitising(file_of(clean[0][:6]), clean[1][:6])
    assert report.rows.empty
    assert "too few to show how far" in report.notes[0]
    with pytest.raises(InputError, match="There are 3 groups for 120 specimens"):
        check_digitising(file_of(clean[0]), ["a"] * 3)
    with pytest.raises(InputError, match="false_discovery_rate must lie between 0 and 1; got 2"):
        DigitisingSettings(false_discovery_rate=2)
    with pytest.raises(InputError, match="least_group is 1"):
        DigitisingSettings(least_group=1)


# --- real specimens --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tropheus(data_folder):
    path = data_folder / "landmarks" / "tropheus" / "tropheus.csv"
    if not path.is_file():
        pytest.skip(f"no landmarks at {path}")
    table = pd.read_csv(path)
    columns = [f"{axis}{k}" for k in range(1, 20) for axis in "xy"]
    coordinates = table[columns].to_numpy(float).reshape(len(table), 19, 2)
    return Landmarks(tuple(table["id"]), coordinates), table


@pytest.mark.parametrize("column", ["taxon", "population", None])
def test_published_outliers_of_tropheus_are_found(tropheus, column):
    landmarks, table = tropheus
    groups = None if column is None else table[column].astype(str).tolist()
    report = check_digitising(landmarks, groups)
    names = {one.row: (one.kind, one.landmarks) for one in report.findings}
    published = np.flatnonzero(table["lm2_outlier"] == 1)
    assert len(published) == 5
    assert all(names.get(row) == ("single landmark", (2,)) for row in published)
    assert len(names) <= 15


def test_cichlids_have_few_findings_in_little_time(cichlids):
    landmarks, tribes = cichlids
    assert len(check_digitising(landmarks, tribes.tolist()).findings) <= 22
