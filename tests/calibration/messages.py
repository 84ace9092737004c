"""Messages and sentences of calibration, in one place: a change of wording is a change here."""

import re

import numpy as np
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernova.calibration.discoveries import false_discovery_bound
from kernova.calibration.drift import drift_test
from kernova.calibration.p_values import (
    combined_p_value,
    conformal_p_values,
    select_discoveries,
)
from tests.calibration.detectors import HighForOutliers

ADVICE = re.compile(r"max_false_alarm above (\S+)\.$")
GUARANTEE = (
    "With 99.9 % confidence, at most 4.53 % of ordinary rows are called novel "
    "(5 % was asked for; of 200 held-out rows 1 was)."
)
NOTHING_TO_CALIBRATE = (
    "There is no fitted detector to calibrate. Call fit, or pass a fitted estimator."
)
NOT_FINITE = (
    "The scores of Broken must be finite; 1 of 2 are not, the first at position 1. "
    "Leave such rows out."
)
FEW_ROWS = (
    "With 95 % confidence, at most 9.51 % of ordinary rows are called novel (5 % was asked for, "
    "which takes 59 held-out rows; of 30 held-out rows none was)."
)
CROSS = (
    "With 95 % confidence, at most 4.52 % of ordinary rows are called novel (5 % was asked for; "
    "all 2 detectors must agree, each calibrated on at least 200 rows that it was not fitted to; "
    "of 400 rows, each judged by its own, 8 were)."
)
CROSS_AGAIN = (
    "With 95 % confidence, at most 4.77 % of ordinary rows are called novel (5 % was asked for; "
    "all 2 detectors must agree, each calibrated on at least 300 rows that it was not fitted to; "
    "of 600 verdicts of single detectors on such rows 16 were)."
)
FEW_ROWS_CROSS = (
    "With 95 % confidence, at most 5.82 % of ordinary rows are called novel (5 % was asked for, "
    "which takes 59 rows in each fold; all 2 detectors must agree, each calibrated on at least 50 "
    "rows that it was not fitted to; of 100 rows, each judged by its own, none was)."
)
GROUPED = (
    "With 95 % confidence, at most 4.96 % of ordinary rows of other groups are called novel (5 % "
    "was asked for; of 59 rows, one from each held-out group, none was)."
)
ONE_FRAME = (
    "frames must be an iterable of tables; got one {}. Put a single table into a list, or use "
    "judge."
)
GROUPS_NEEDED = "groups must be given to recalibrate if they were given before, and only then."
BAD_GROUPS = [
    (["a"] * 5, "groups must have one label for each row; got 5 for 100 rows."),
    (
        ["a"] * 98 + [None, float("nan")],
        "2 rows have no group, the first at position 98. Give each row a group, or leave such "
        "rows out.",
    ),
    (["a"] * 100, "Rows to learn from and rows to hold out need at least 2 groups; got 1 group."),
]
_HIGH_FOR_OUTLIERS = (
    "HighForOutliers gives high scores to outliers; here high scores are ordinary. Wrap it in "
    "kernova.pyod.from_pyod, which changes the sign."
)
_BAD_HOLDOUT = (
    "holdout must be 'auto', a fraction of the rows above 0 and below 1, or a number of rows of at "
    "least 1; got {}."
)

# Parameters beside a usable estimator, the number of rows, and the message of fit.
BAD_DETECTORS = [
    (
        {"holdout": 0.5},
        40,
        "No threshold keeps false alarms below 0.05: 20 held-out rows cannot prove a rate below "
        "0.14. Hold out at least 59 rows, or set max_false_alarm above 0.14. With holdout=0.5 that "
        "takes 118 rows in all; there are 40.",
    ),
    (
        {"holdout": 30},
        40,
        "No threshold keeps false alarms below 0.05: 30 held-out rows cannot prove a rate below "
        "0.0951. Hold out at least 59 rows, or set max_false_alarm above 0.0951. Set holdout to 59 "
        "or more; there are 40.",
    ),
    (
        {"holdout": 40},
        40,
        "holdout=40 leaves no row to learn from: there are 40 rows. Hold out fewer, or a fraction "
        "such as 0.5.",
    ),
    ({}, 1, "Rows to learn from and rows to hold out need at least 2 rows; got 1 sample."),
    ({}, 0, "Rows to learn from and rows to hold out need at least 2 rows; got 0 samples."),
    (
        {"max_false_alarm": 0.04},
        40,
        "No threshold keeps false alarms below 0.04: 30 held-out rows cannot prove a rate below "
        "0.0951. Hold out at least 74 rows, or set max_false_alarm above 0.0951. With 10 rows to "
        "learn from, that takes 84 rows in all; there are 40.",
    ),
    (
        {"calibration": "cross", "n_folds": 2},
        100,
        "2 folds of 100 rows cannot prove a rate of 0.05: every fold needs 59 rows. Set a higher "
        "max_false_alarm, or calibration='holdout'.",
    ),
    (
        {"calibration": "cross", "n_folds": 4},
        200,
        "4 folds of 200 rows cannot prove a rate of 0.05: every fold needs 59 rows. Set fewer "
        "folds, a higher max_false_alarm, or calibration='holdout'.",
    ),
    (
        {"calibration": "cross", "max_false_alarm": 0.04},
        100,
        "2 folds of 100 rows cannot prove a rate of 0.04: every fold needs 74 rows. Set a higher "
        "max_false_alarm, or calibration='holdout'.",
    ),
    (
        {"calibration": "cross", "n_folds": 1},
        400,
        "n_folds must be 'auto' or a number of at least 2; got 1.",
    ),
    ({"calibration": "split"}, 400, "calibration must be 'holdout' or 'cross'; got 'split'."),
    ({"holdout": 1.0}, 400, _BAD_HOLDOUT.format(1.0)),
    ({"holdout": True}, 400, _BAD_HOLDOUT.format(True)),
    ({"bound": "exact"}, 400, "bound must be 'hoeffding' or 'binomial'; got 'exact'."),
    (
        {"estimator": LocalOutlierFactor()},
        400,
        "LocalOutlierFactor cannot score new rows: it has neither score_samples nor "
        "decision_function. Choose a detector that has one (LocalOutlierFactor: with "
        "novelty=True).",
    ),
    ({"estimator": HighForOutliers()}, 400, _HIGH_FOR_OUTLIERS),
    ({"estimator": make_pipeline(StandardScaler(), HighForOutliers())}, 400, _HIGH_FOR_OUTLIERS),
]

# Number of held-out rows, wanted rate, bound, and the message of false_alarm_threshold.
TOO_FEW_ROWS = [
    (
        40,
        0.01,
        "hoeffding",
        "No threshold keeps false alarms below 0.01: 40 held-out rows cannot prove a rate below "
        "0.194. Hold out at least 14979 rows, or set max_false_alarm above 0.194.",
    ),
    (
        40,
        0.01,
        "binomial",
        "No threshold keeps false alarms below 0.01: 40 held-out rows cannot prove a rate below "
        "0.0722. Hold out at least 299 rows, or set max_false_alarm above 0.0722.",
    ),
    (
        1,
        0.00001,
        "hoeffding",
        "No threshold keeps false alarms below 0.00001: 1 held-out row cannot prove any rate. "
        "Hold out at least 14978661368 rows.",
    ),
    (
        1,
        0.5,
        "binomial",
        "No threshold keeps false alarms below 0.5: 1 held-out row cannot prove a rate below 0.95. "
        "Hold out at least 5 rows, or set max_false_alarm above 0.95.",
    ),
]

# Arguments of false_alarm_threshold beside usable ones, and its message.
BAD_ARGUMENTS = [
    ({"holdout_scores": []}, "The held-out scores are empty. Give at least one row."),
    (
        {"holdout_scores": [1, np.nan, np.inf]},
        "The held-out scores must be finite; 2 of 3 are not, the first at position 1. "
        "Leave such rows out.",
    ),
    (
        {"holdout_scores": [[1, 2]]},
        "The held-out scores must be one number for each row; got an array of shape (1, 2).",
    ),
    ({"holdout_scores": ["deep"]}, "The held-out scores must be numbers, one for each row."),
    ({"max_false_alarm": 0}, "max_false_alarm must be a number above 0 and below 1; got 0."),
    ({"max_false_alarm": True}, "max_false_alarm must be a number above 0 and below 1; got True."),
    ({"confidence": float("nan")}, "confidence must be a number above 0 and below 1; got nan."),
    ({"confidence": "95%"}, "confidence must be a number above 0 and below 1; got '95%'."),
    (
        {"confidence": 0.4},
        "bound='hoeffding' needs a confidence of at least 0.5; got 0.4. "
        "Set a higher confidence, or bound='binomial'.",
    ),
    ({"bound": "chebyshev"}, "bound must be 'hoeffding' or 'binomial'; got 'chebyshev'."),
]

# Calls on p-values, and their messages.
BAD_P_VALUES = [
    (
        lambda: conformal_p_values([], [1.0]),
        "The calibration scores are empty. Give at least one row.",
    ),
    (
        lambda: conformal_p_values([1.0], [np.nan]),
        "The scores must be finite; 1 of 1 are not, the first at position 0. Leave such rows out.",
    ),
    (
        lambda: select_discoveries([0.1, np.nan], 0.1),
        "The p-values must be finite; 1 of 2 are not, the first at position 1. "
        "Leave such rows out.",
    ),
    (
        lambda: select_discoveries([0.1, 1.5], 0.1),
        "p-values lie between 0 and 1; got 0.1 to 1.5.",
    ),
    (
        lambda: conformal_p_values([1.0, 2.0], [1.0], weights=[1.0, 0.0]),
        "The weights must be 2 numbers above 0, one for each row; got 2, the smallest 0.",
    ),
    (
        lambda: false_discovery_bound([0.1, 0.2], [0.5, 1.0], 10),
        "selected must be true or false for each of the 2 p-values; got an array of float64 and "
        "shape (2,).",
    ),
    (
        lambda: false_discovery_bound([0.1], [True], 0),
        "n_calibration must be at least 1; got 0.",
    ),
    (
        lambda: drift_test([[1.0]], [[1.0, 2.0]]),
        "known and new must have the same columns; got 1 and 2.",
    ),
    (
        lambda: drift_test([[np.nan]], [[1.0]]),
        "A test for drift takes rows of finite numbers; got an array of shape (1, 1). Encode the "
        "rows first.",
    ),
    (lambda: combined_p_value([0.5, 1.5]), "p-values lie between 0 and 1; got 0.5 to 1.5."),
    (
        lambda: select_discoveries([0.1], 1),
        "false_discovery_rate must be a number above 0 and below 1; got 1.",
    ),
]
