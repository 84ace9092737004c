"""Inputs of a species study: groups, other columns, far and missing landmarks, preparation."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernova.errors import InputError
from kernova.shapes import Landmarks, write_landmarks
from kernova.shapes.features import shape_features
from kernova.species.inputs import (
    Reading,
    alignment_notes,
    check_landmarks,
    columns_of,
    feature_notes,
    groups_of,
    missing_landmark_notes,
    prepared_specimens,
    read_specimens,
    scale_notes,
    without_far_landmarks,
)
from tests.species.drawn_shapes import drawn

SLIDERS = np.array([[0, 1, 2], [1, 2, 3]])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Six fish: as a TPS file, as a wide table with columns, and a table of groups."""
    monkeypatch.chdir(tmp_path)
    landmarks, _ = drawn({"a": 6})
    landmarks = Landmarks(tuple(f"lake_{k}" for k in range(6)), landmarks.coordinates)
    write_landmarks("fish.tps", landmarks)
    write_landmarks("fish.csv", landmarks)
    wide = pd.read_csv("fish.csv")
    wide.insert(1, "sex", list("FMFMFM"))
    wide.insert(1, "species", list("aaabbb"))
    wide.to_csv("fish.csv", index=False)
    table = pd.DataFrame(
        {"specimen": landmarks.ids, "species": list("xxyyzz"), "sex": list("MFMFMF"), "site": 1}
    )
    table.iloc[::-1].to_csv("groups.csv", index=False)
    return tmp_path


# --- groups and columns ---------------------------------------------------------------------


def test_groups_come_from_a_table_a_column_or_a_pattern(folder):
    tps, wide = read_specimens("fish.tps"), read_specimens("fish.csv")
    assert groups_of(tps, groups="groups.csv", group_column="species") == tuple("xxyyzz")
    assert groups_of(wide, group_column="species") == tuple("aaabbb")
    assert groups_of(wide, groups="groups.csv", group_column="species") == tuple("xxyyzz")
    assert groups_of(tps, id_pattern="_([0-9])") == tuple("012345")


def test_other_columns_are_in_the_order_of_the_specimens(folder):
    tps, wide = read_specimens("fish.tps"), read_specimens("fish.csv")
    beside = columns_of(tps, groups="groups.csv", group_column="species")
    assert list(beside.columns) == ["sex", "site"]
    assert beside["sex"].tolist() == list("MFMFMF")
    own = columns_of(wide, group_column="species")
    assert list(own.columns) == ["sex"]
    assert own["sex"].tolist() == list("FMFMFM")
    # Where both have a column, the table of groups counts.
    both = columns_of(wide, groups="groups.csv", group_column="species")
    assert both["sex"].tolist() == list("MFMFMF")
    assert columns_of(read_specimens("fish.tps")) is None


def test_variables_of_a_tps_file_are_columns(folder):
    text = Path("fish.tps").read_text().splitlines()
    for place, line in reversed(list(enumerate(text))):
        if line.startswith("ID="):
            number = int(line.split("_")[1])
            text.insert(place + 1, f"VARIABLES=species={'ab'[number % 2]},sex={'FM'[number > 2]}")
    Path("fish.tps").write_text("\n".join(text))
    found = read_specimens("fish.tps")
    assert groups_of(found, group_column="species") == tuple("ababab")
    assert columns_of(found, group_column="species")["sex"].tolist() == list("FFFMMM")


def test_negative_coordinates_may_mean_missing(folder):
    Path("n.tps").write_text("LM=3\n-1 -1\n2 0\n0 3\nID=a\nLM=3\n1 1\n2 0\n0 3\nID=b\n")
    assert not read_specimens("n.tps").landmarks.is_missing.any()
    found = read_specimens("n.tps", Reading(negative="missing")).landmarks
    assert found.is_missing.tolist() == [[True, False, False], [False] * 3]


# --- landmarks ------------------------------------------------------------------------------


def gappy(far=((3, 2),), missing=(), **entries):
    points = drawn({"a": 20}, noise=0.05)[0].coordinates.copy()
    for row, number in far:
        points[row, number] = 1e200
    for row, number in missing:
        points[row, number] = np.nan
    return Landmarks(tuple(f"s{k}" for k in range(20)), points, source="fish.tps", **entries)


def test_landmarks_far_beyond_all_others_are_missing():
    landmarks = gappy(far=[(3, 2), (4, 0)])

    found = without_far_landmarks(landmarks)

    assert np.argwhere(found.landmarks.is_missing).tolist() == [[3, 2], [4, 0]]
    assert found.notes == [
        "2 landmarks of fish.tps lie far beyond those of all other specimens and were treated as "
        "missing, such as landmark 3 of 's3' at 1e+200, 1e+200. Correct the file, or leave such "
        "landmarks empty."
    ]
    usual = gappy(far=())
    assert without_far_landmarks(usual).landmarks is usual


def test_a_specimen_in_another_unit_is_not_far():
    landmarks = gappy(far=())
    points = landmarks.coordinates.copy()
    points[5] *= 1e6
    assert without_far_landmarks(Landmarks(landmarks.ids, points)).notes == []


def test_few_new_specimens_are_compared_with_the_known_ones():
    known = gappy(far=())
    new = gappy(far=[(0, 2)]).take([0])
    assert without_far_landmarks(new, beside=known).landmarks.is_missing.sum() == 1


def test_some_specimens_without_a_scale_are_noted():
    scales = np.r_[np.ones(17), [np.nan] * 3]
    assert scale_notes(gappy(far=(), scales=scales)) == [
        "3 of 20 specimens have no scale, so that sizes are taken in the units of the file, and "
        "are not comparable if magnifications differ."
    ]
    assert scale_notes(gappy(far=())) == scale_notes(gappy(far=(), scales=np.ones(20))) == []


def test_alignments_that_do_not_converge_are_notes_with_causes_that_are_there():
    what = "The consensus did not converge in 1,000 rounds: alignment is approximate."
    limit = "Results that are close to a limit may depend on it."
    for missing, advice in (
        ([], limit),
        ([(1, 1)], f"1 specimen lacks landmarks. {limit}"),
        (
            [(1, k) for k in range(5)],
            "1 specimen lacks most landmarks; compare the result without it.",
        ),
    ):
        with alignment_notes(gappy(far=(), missing=missing)) as notes:
            for _ in range(2):
                text = f"{what} Leave out specimens or landmarks of which most are missing."
                warnings.warn(text, ConvergenceWarning, stacklevel=1)
        assert notes == [f"{what} {advice}"]


def test_other_warnings_stay_warnings():
    def warn():
        with alignment_notes(gappy(far=())) as notes:
            warnings.warn("other", UserWarning, stacklevel=1)
        return notes

    with pytest.warns(UserWarning, match="other"):
        assert warn() == []


def test_missing_landmarks_are_counted():
    assert missing_landmark_notes(gappy(far=())) == []
    assert missing_landmark_notes(gappy(far=(), missing=[(1, 1), (1, 2), (7, 1)])) == [
        "3 of 180 landmarks of fish.tps are missing, in 2 of 20 specimens; each was estimated from "
        "the others."
    ]


def test_landmarks_that_a_whole_group_lacks_carry_no_information_on_it():
    groups = ["puma"] * 4 + ["lynx"] * 15 + ["felis"]
    missing = [(row, 3) for row in range(4)] + [(19, 1)]
    landmarks = gappy(far=(), missing=missing)
    assert missing_landmark_notes(landmarks, groups)[1:] == [
        "Landmark 4 is missing in all 4 specimens of puma: it is estimated from other groups and "
        "carries no information on puma. Leave it out."
    ]
    assert len(missing_landmark_notes(landmarks)) == 1
    assert missing_landmark_notes(landmarks.take([0, 1]))[1:] == [
        "Landmark 4 is missing in both specimens of fish.tps: it is estimated from the known "
        "specimens and carries no information on the new ones. Leave it out."
    ]
    more = gappy(far=(), missing=[(row, n) for row in range(20) for n in (3, row // 2 % 9)])
    notes = missing_landmark_notes(more, [f"g{row // 2}" for row in range(20)])
    assert notes[1] == (
        "Landmarks 1, 4 are missing in both specimens of g0: they are estimated from other groups "
        "and carry no information on g0. Leave them out."
    )
    assert notes[4] == (
        "7 more groups lack landmarks in all of their specimens: g3, g4, g5, g6, g7, g8, g9."
    )


def test_specimens_that_lack_many_landmarks_are_named():
    missing = [(row, number) for row in (2, 5) for number in range(4)] + [(7, 0), (7, 1), (7, 2)]
    assert missing_landmark_notes(gappy(far=(), missing=missing), ["a"] * 20)[1:] == [
        "2 specimens of fish.tps lack more than a third of their landmarks: s2, s5. Their shapes "
        "rest largely on estimates; compare the result without them."
    ]


def test_a_landmark_that_all_lack_is_named():
    landmarks = gappy(far=(), missing=[(row, 2) for row in range(20)])
    for check in (check_landmarks, lambda one: prepared_specimens([one], sliders=SLIDERS)):
        with pytest.raises(InputError) as raised:
            check(landmarks)
        assert str(raised.value) == (
            "Landmark 3 is missing in all 20 specimens of fish.tps. Leave it out."
        )


def test_notes_on_features():
    features = shape_features({"tilt": "angle(1-2, vertical)", "long": "|1-2|"})
    assert feature_notes(None, 2) == []
    assert feature_notes(features, 2) == [
        "tilt: measured on aligned shapes, where horizontal is the direction in which the "
        "consensus is longest, from the end of landmark 1 to the other.",
        "long: measured on shapes of centroid size 1, since alignment removes size. Divide by a "
        "length, or add the size as a column of its own.",
    ]
    assert feature_notes(features, 3)[-1] == (
        "Of three axes, vertical is the second and horizontal the first."
    )


# --- preparation ----------------------------------------------------------------------------


def test_far_landmarks_do_not_spoil_what_slides():
    """Sliding needs a consensus, which one landmark at 1e200 would be all of."""
    landmarks = gappy(missing=[(7, 1)], notes=("A comment was left out.",))

    prepared = prepared_specimens([landmarks], sliders=SLIDERS)
    (found,), (digitised,) = prepared.landmarks, prepared.digitised

    assert np.isfinite(found.coordinates).all()
    assert np.abs(found.coordinates[3]).max() < 100
    assert found.notes == (
        "A comment was left out.",
        "1 landmark of fish.tps lies far beyond those of all other specimens and was treated as "
        "missing, such as landmark 3 of 's3' at 1e+200, 1e+200. Correct the file, or leave such "
        "landmarks empty.",
        "2 semilandmarks slid to the least bending energy.",
    )
    assert np.argwhere(digitised.is_missing).tolist() == [[3, 2], [7, 1]]
    is_known = ~digitised.is_missing
    np.testing.assert_array_equal(digitised.coordinates[is_known], found.coordinates[is_known])


def test_specimens_are_kept_as_digitised_where_sides_are_averaged():
    rng = np.random.default_rng(0)
    half = np.array([[0.0, 1.0], [1.0, 2.0], [2.5, 1.5], [3.0, 0.5]])
    whole = np.concatenate([half, half * [1, -1], [[-1.0, 0.0], [4.0, 0.0]]])
    points = whole + 0.05 * rng.standard_normal((30, 10, 2))
    points[4, 2] = np.nan
    beetles = Landmarks(tuple(f"s{k}" for k in range(30)), points)

    found = prepared_specimens([beetles], symmetric=True)

    np.testing.assert_array_equal(found.digitised[0].coordinates, points)
    assert np.isfinite(found.landmarks[0].coordinates).all()
    assert found.landmarks[0].notes[-1].endswith("found from the consensus. Check these pairs.")


def test_without_preparation_missing_landmarks_are_left_to_the_study():
    (found,) = prepared_specimens([gappy(far=(), missing=[(7, 1)])]).landmarks
    assert found.is_missing.sum() == 1
    assert found.notes == ()


def test_new_specimens_are_prepared_beside_the_known_ones():
    known = gappy(far=())
    new = gappy(far=[(0, 5)]).take([0])
    found, digitised = prepared_specimens([known, new], sliders=SLIDERS)
    assert [len(one) for one in found] == [20, 1]
    assert found[0].notes == (
        "2 semilandmarks slid to the least bending energy.",
        "Sliding stopped after 9 rounds, before it converged; places along curves are approximate.",
    )
    assert [note[:10] for note in found[1].notes] == ["1 landmark", "2 semiland", "Sliding st"]
    assert [int(one.is_missing.sum()) for one in digitised] == [0, 1]
