"""Bad inputs of every plotting function and page part, each with its whole message."""

import base64

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import NearestNeighbors

from kernova import InputError, SpatialDepth
from kernova.report.figures import (
    explanation_figure,
    plot_aligned_shapes,
    plot_confusion,
    plot_deformation,
    plot_depth_contours,
    plot_discovery_curves,
    plot_error_rates,
    plot_false_alarm_curve,
    plot_map,
    plot_morphospace,
    plot_note_thresholds,
    plot_notes,
    plot_outlier_map,
    plot_p_values,
    plot_probabilities,
    plot_ranking,
    plot_recognized,
    plot_score_distributions,
    rank_stability_figure,
)
from kernova.report.page import LARGEST_PAGE, Section, page, picture, table
from tests.report.scans import scan_of

NAN = float("nan")
NAN_ROWS = np.full((3, 2), NAN)
CLOUD = np.random.default_rng(7).normal(size=(80, 2))
FITTED = SpatialDepth().fit(CLOUD)
NAMED = SpatialDepth().fit(pd.DataFrame(CLOUD, columns=["a", "b"]))
SHAPE = np.array([[-0.6, 0.0], [-0.1, 0.25], [0.5, 0.02], [0.0, -0.2], [0.1, 0.05]])
SPECIMENS = np.repeat(SHAPE[None], 30, axis=0)
ROWS = np.eye(4).repeat(15, axis=0)
EXPLANATION = pd.DataFrame(
    {"row": ["A"], "feature": ["f"], "value": [1.0], "ordinary_value": [2.0], "share": [1.0]}
)
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2PQAAAABJRU5ErkJggg=="
)

TOO_LARGE = "No picture can show numbers as large as 1e+200. Rescale them first."
NOT_FINITE = " must be finite; {0} of {0} are not, the first at position 0. Leave such rows out."
NOT_TWO = (
    "Contours need rows of 2 columns; the {} have {}. Choose two columns, or draw a map of all "
    "with plot_map."
)
NOT_FINITE_ROWS = "must be finite; 3 of 3 hold NaN or infinity. Leave such rows out, or fill them."
NO_CURVES = "There are no curves to draw. Give each strategy at least one run."

# fmt: off
BAD_INPUTS = [
    # Pages.
    (lambda: picture(PNG, "  "),
     "alt is empty; describe the picture in a sentence for screen readers."),
    (lambda: picture(b"GIF89a", "words"),
     "A picture on a page must be a matplotlib figure or the bytes of a PNG."),
    (lambda: table(pd.DataFrame(), "x"),
     "A table needs at least one column."),
    (lambda: table(pd.DataFrame({"a": [1, 2]}), "x", marked=[True]),
     "marked must hold True or False for each of 2 rows; got 1."),
    (lambda: page("t", [Section("s", ["x" * (LARGEST_PAGE + 100_000)])]),
     "The page has 3.1 MB; the limit is 3 MB. Leave out pictures, or rows of tables."),
    # p-values and false alarms.
    (lambda: plot_p_values([]),
     "The p-values are empty. Give at least one row."),
    (lambda: plot_p_values([0.5, 1.5]),
     "p-values lie between 0 and 1; got 0.5 to 1.5."),
    (lambda: plot_p_values([NAN] * 3),
     "The p-values" + NOT_FINITE.format(3)),
    (lambda: plot_p_values([0.5], false_discovery_rate=1),
     "false_discovery_rate must be a number above 0 and below 1; got 1."),
    (lambda: plot_false_alarm_curve([NAN]),
     "The held-out scores" + NOT_FINITE.format(1)),
    (lambda: plot_false_alarm_curve([0.5], 95),
     "confidence must be a number above 0 and below 1; got 95."),
    # Distributions.
    (lambda: plot_score_distributions([]),
     "The known scores are empty. Give at least one row."),
    (lambda: plot_score_distributions([NAN, NAN]),
     "The known scores" + NOT_FINITE.format(2)),
    (lambda: plot_score_distributions([1.0], [np.inf]),
     "The new scores" + NOT_FINITE.format(1)),
    (lambda: plot_score_distributions([1.0], labels=("one",)),
     "labels must be two texts, for known and for new rows; got ('one',)."),
    (lambda: plot_score_distributions([1.0], labels="ab"),
     "labels must be two texts, for known and for new rows; got 'ab'."),
    (lambda: plot_score_distributions([1e200]),
     TOO_LARGE),
    (lambda: plot_score_distributions([1.0], threshold=NAN),
     "The threshold must be a finite number; got nan."),
    # Contours.
    (lambda: plot_depth_contours(SpatialDepth().fit(np.eye(3))),
     NOT_TWO.format("known rows", 3)),
    (lambda: plot_depth_contours(FITTED, CLOUD, unknown=[[1.0]]),
     NOT_TWO.format("unknown rows", 1)),
    (lambda: plot_depth_contours(FITTED, NAN_ROWS),
     f"The known rows {NOT_FINITE_ROWS}"),
    (lambda: plot_depth_contours(FITTED, [["x", "y"]]),
     "The known rows must be numbers in rows and columns."),
    (lambda: plot_depth_contours(FITTED, np.empty((0, 2))),
     "There are no known rows. Give at least one."),
    (lambda: plot_depth_contours(FITTED, [1.0, 2.0]),
     "The known rows must be a table of rows and columns; got an array of shape (2,)."),
    (lambda: plot_depth_contours(FITTED, [[1e200, 0.0]]),
     TOO_LARGE),
    (lambda: plot_depth_contours(FITTED, labels="new"),
     "labels must be two texts, for known and for new rows; got 'new'."),
    (lambda: plot_depth_contours(FITTED, grid=1),
     "grid must be at least 2 points per side; got 1."),
    (lambda: plot_depth_contours(FITTED, feature_names=["a", "b", "c"]),
     "Give two names, one for each axis; got 3."),
    (lambda: plot_depth_contours(NAMED, pd.DataFrame({"a": [1.0], "c": [2.0]})),
     "The rows lack columns that the model was fitted on: b. Give a table with these columns."),
    (lambda: plot_depth_contours(IsolationForest(n_estimators=2).fit(CLOUD)),
     "IsolationForest does not store its training rows. Give the known rows as X."),
    (lambda: plot_depth_contours(NearestNeighbors().fit(CLOUD), CLOUD),
     "NearestNeighbors has no score_samples, so there are no contours to draw. Give a detector "
     "that has it, such as CalibratedDetector."),
    # Maps.
    (lambda: plot_map(CLOUD, [[1.0]], [True]),
     "The new rows have 1 column, the known ones 2. Give both the same columns."),
    (lambda: plot_map(CLOUD, [[1.0, 2.0]], [-1]),
     "is_novel must be True or False for each of the 1 new row; got int64 values of shape (1,)."),
    (lambda: plot_map(CLOUD, [[1.0, 2.0], [3.0, 4.0]], [True]),
     "is_novel must be True or False for each of the 2 new rows; got bool values of shape (1,)."),
    (lambda: plot_map(CLOUD, NAN_ROWS, [True] * 3),
     f"The new rows {NOT_FINITE_ROWS}"),
    # Recognised rows.
    (lambda: plot_recognized(ROWS, ROWS[:, :2], ["a"] * 60),
     "The new rows have 2 columns, the known ones 4. Give both the same columns."),
    (lambda: plot_recognized(ROWS, ROWS[:3], ["a"]),
     "recognized must name a class for each of 3 new rows; got 1."),
    (lambda: plot_recognized(ROWS, ROWS[:2], ["a", "b"], classes=["a"]),
     "'b' is recognised but is none of the classes; name them all."),
    (lambda: plot_confusion([[1, 2]], ["a", "b"], ["a"]),
     "counts must hold a number from 0 on for each of 2 labels and 1 verdict; got shape (1, 2)."),
    (lambda: plot_confusion([[-1]], ["a"], ["a"]),
     "counts must hold a number from 0 on for each of 1 label and 1 verdict; got shape (1, 1)."),
    (lambda: plot_probabilities([0.5, 1.5]),
     "probabilities must hold a number from 0 to 1 for each row; got shape (2,) and values from "
     "0.5 to 1.5."),
    (lambda: plot_probabilities([0.5, 0.6], [True]),
     "is_right must say of each of 2 rows whether it is right; got shape (1,)."),
    # Rankings.
    (lambda: plot_ranking([]),
     "The factors are empty. Give at least one row."),
    (lambda: plot_ranking([1, 2, 3], labels=["a", "b"]),
     "labels must have one name for each of 3 rows; got 2."),
    (lambda: plot_ranking([1], threshold=NAN),
     "The threshold must be a finite number; got nan."),
    (lambda: plot_outlier_map([[1.0], [2.0]], [1, 2], [True]),
     "is_outlier must have one entry for each of 2 rows; got (1,)."),
    (lambda: plot_outlier_map([[1.0], [2.0]], [1, 2, 3], [True, False]),
     "factors must have one entry for each of 2 rows; got (3,)."),
    (lambda: rank_stability_figure(np.ones((2, 2))),
     "The path must be a DataFrame of factors with a column for each k, as returned by "
     "outlier_factor_path; got ndarray."),
    (lambda: rank_stability_figure(pd.DataFrame({1: ["high"]})),
     "The path's factors must be numbers."),
    (lambda: rank_stability_figure(pd.DataFrame({"k": [1.0]})),
     "The path's columns must be numbers of neighbours, all above 0."),
    (lambda: rank_stability_figure(pd.DataFrame({1: [NAN]})),
     "The path must hold at least one row and one k, and no missing factor."),
    (lambda: rank_stability_figure(pd.DataFrame({1: [1.0]}), n_top=0),
     "n_top must be a whole number of at least 1; got 0."),
    # Explanations.
    (lambda: explanation_figure(EXPLANATION.iloc[:0]),
     "The explanation has no rows, so there is nothing to draw."),
    (lambda: explanation_figure(EXPLANATION.drop(columns=["share", "value"])),
     "An explanation has the columns 'row', 'feature', 'value', 'ordinary_value', 'share'; "
     "missing are 'value', 'share'."),
    (lambda: explanation_figure(EXPLANATION, n_features=0),
     "n_features must be a whole number of at least 1; got 0."),
    (lambda: explanation_figure(EXPLANATION, max_rows=True),
     "max_rows must be a whole number of at least 1; got True."),
    # Discovery curves.
    (lambda: plot_discovery_curves({}, 2), NO_CURVES),
    (lambda: plot_discovery_curves({"a": []}, 2), NO_CURVES),
    (lambda: plot_discovery_curves({"a": [[]]}, 2),
     "A curve of 'a' must hold the number of classes found after each question, at least one; "
     "got an array of shape (0,)."),
    # Notes.
    (lambda: plot_notes(scan_of(0.0)),
     "There is nothing to draw: the interval is shorter than one frame."),
    (lambda: plot_notes(scan_of(0.01)._replace(classes=["a"])),
     "The scan has 5 times, levels of shape (5, 20) for 20 bands and scores of shape (5, 2) for 1 "
     "classes; these must agree."),
    (lambda: plot_notes(scan_of(0.01)._replace(scores=np.full((5, 2), NAN))),
     "Levels and scores must be finite numbers to be drawn."),
    (lambda: plot_note_thresholds(pd.DataFrame()),
     "There is no curve to draw: no note was found that has a score."),
    # Shapes and groups.
    (lambda: plot_aligned_shapes(SPECIMENS.reshape(30, -1)),
     "The aligned specimens must be specimens × landmarks × 2 (or 3); got shape (30, 10)."),
    (lambda: plot_aligned_shapes(SPECIMENS[:0]),
     "There are no aligned specimens. Give at least one."),
    (lambda: plot_aligned_shapes(np.full((2, 3, 2), NAN)),
     "The aligned specimens must be finite; align them, which fills in missing landmarks."),
    (lambda: plot_aligned_shapes(SPECIMENS, SHAPE[:4]),
     "The consensus must have 5 landmarks, as the others; got 4."),
    (lambda: plot_deformation(SHAPE, SHAPE[0]),
     "The target must be landmarks × 2 (or 3); got shape (2,)."),
    (lambda: plot_deformation(SHAPE, SHAPE, enlargement=NAN),
     "The enlargement must be a finite number; got nan."),
    (lambda: plot_morphospace(np.eye(3), ["a"]),
     "groups must hold a group for each of 3 specimens; got 1."),
    (lambda: plot_morphospace(np.eye(3), "abc", most_groups=61),
     "most_groups must lie from 0 to 60; got 61."),
    (lambda: plot_error_rates([[0.1, 1.1]], ["a"], ["b", "c"]),
     "rates must hold a number from 0 to 1, or NaN, for each of 1 unknown group and 2 known "
     "groups; got shape (1, 2)."),
]
# fmt: on


@pytest.mark.parametrize(("call", "message"), BAD_INPUTS, ids=[case[1][:60] for case in BAD_INPUTS])
def test_bad_input_raises_with_the_whole_message(call, message):
    with pytest.raises(InputError) as raised:
        call()

    assert str(raised.value) == message
