"""Messages, notes and sentences of the workflows: a change of wording is a change here."""

from kernova.discover.strategies import STRATEGIES

BAD_NOVELTY_METHOD = (
    "There is no method named 'magic'. Use one of ensemble, spatial-depth, isolation-forest, "
    "one-class-svm, lof, depth."
)
UNUSED_NEIGHBORS = (
    "n_neighbors was given, but the method ensemble does not use it; rkof, lof, ldf, lpf do."
)
MEMBERS_ON_A_SAMPLE = (
    "Members of the ensemble are compared on 50 rows, drawn at random, and on the first ones."
)
LEFT_OUT = [
    "Column 'twice' repeats another column and is not used.",
    "The ensemble works without its members central-half, nearest-decorrelated, linear: "
    "Correlations of 401 columns would take long; the limit is 400.",
]
UNUSED_BANDWIDTH = "bandwidth was given, but the method ensemble does not use it; depth does."

DRIFT = (
    "Even without the rows called novel, the new rows differ from the known ones: a region with "
)
RANKED_ONLY = (
    "200 rows ranked by robust kernel outlier factor, the most outlying first.",
    "No row is called an outlier without a rule: max_false_alarm=0.05 would set a threshold with a "
    "proven bound, contamination=0.05 one by a fraction of the rows.",
)
MANY_OUTLIERS = (
    "20 % of the rows are called outliers, which is a lot: the rule allows so many whether or not "
    "they are errors. Look at the first ones, or set a smaller fraction; a table that mixes "
    "several kinds of rows is better split by kind."
)
COMPARED = (
    "200 rows ranked by 7 methods; the order is that of the mean rank.",
    "The method all compares ranks and calls no row an outlier. Leave max_false_alarm and "
    "contamination out, or choose one method.",
)
SAMPLED = "The detector learnt from 1,000 of 1,200 rows, drawn at random: all would take too long."
OUTLIERS_BY_CONTAMINATION = "The threshold was set so that 5 % of the rows are above it."
NO_OUTLIERS_POSSIBLE = (
    "0 of 101 rows are outliers; with so few rows none can be called an outlier.",
    "With so few rows the bound can only be proven by calling none an outlier. Give more rows, or "
    "set a larger max_false_alarm.",
)
TOO_FEW_ROWS = (
    "No threshold keeps false alarms below 0.05: 50 held-out rows cannot prove a rate below "
    "0.0712. Hold out at least 72 rows, or set max_false_alarm above 0.0712. Each half of the "
    "table is held out in turn, so that takes 144 rows in all; there are 101."
)
DUPLICATES_FOR_LOF = (
    "Some rows have 20 duplicates or more, which makes the factors of rows beside them huge and "
    "meaningless. Use more neighbours, or the method rkof."
)
FEW_EXPLAINED = (
    "Reasons are given for 1 of 20 rows only: with 1,500 columns and 30 rows, more would take long."
)
BAD_OUTLIER_SETTINGS = {
    "There is no method named 'magic'. Use one of ensemble, isolation-forest, rkof, lof, ldf, lpf, "
    "depth.": {"method": "magic"},
    "n_neighbors must be a whole number of 1 or more, a list of such numbers, or "
    '"auto"; got (0,).': {"method": "rkof", "n_neighbors": (0,)},
    "Method lof takes one number of neighbours; got 5, 10. Give one, or use the method rkof or ldf "
    "or lpf.": {"method": "lof", "n_neighbors": (5, 10)},
    "Method lof cannot use these settings: The 'contamination' parameter of LocalOutlierFactor "
    "must be a str among {'auto'} or a float in the range (0.0, 0.5]. Got 0.9 instead.": {
        "method": "lof",
        "contamination": 0.9,
    },
    "A path over numbers of neighbours exists for the method rkof only; got the method lpf.": {
        "method": "lpf",
        "path": (5, 10),
    },
    "max_false_alarm=0.1 and contamination=0.1 both set the threshold. Give only one.": {
        "max_false_alarm": 0.1,
        "contamination": 0.1,
    },
}

ONE_CLASS = "There is only one class, carp: rows will be recognised as that or called unknown."
ONE_CLASS_LEARNT = "1 class was learnt from 60 rows of "
DUPLICATES_ACROSS_CLASSES = (
    "6 rows have duplicates with another label; rows like them are ambiguous."
)
ONE_ROW = "eel could not be tested, because it has only one row."
GIVEN_AWAY = (
    "Column 'sample' alone determines the class of every row; drop it with drop='sample' if it is "
    "not measured on new rows."
)
LOST_CLASS = (
    "No row of pike was recognised; class_weight='balanced' gives rare classes more weight."
)
NOTHING_TESTED = "Nothing could be tested: no row could be held out."
NOT_HELD_OUT = (
    "No training row could be held out, so that the fraction of known rows that would be called "
    "unknown is not known."
)
UNLABELLED = {
    "open-set": "2 rows of {} have no label. They help to scale the columns, but no class is "
    "learnt from such rows.",
    "mddkm": "2 rows of {} have no label and were left out.",
}
SPREAD_ROWS = (
    "40 of 60 rows were learnt from, spread over the classes; rows of larger classes are weighted "
    "accordingly."
)
UNUSED_BY_MDDKM = [
    "per_class was given, but the method mddkm does not use it; open-set does.",
    "class_weight was given, but the method mddkm does not use it; open-set does.",
]
DAYS_UNUSED = (
    "Days are not used, since those of new rows would all be later: 'caught (days since "
    "2020-01-01)'. Name a column of dates with keep to use them."
)
BAD_REJECT = "reject is {}; it must be a fraction of the rows of known classes, from 0 to below 1."
FEWER_ROWS = "Classes described by only their 20 most informative rows: carp, pike."
NO_LABELS = (
    "{} has no labels, so there are no classes to learn. Name the column that holds them with "
    "label_column."
)
BAD_LABELS = {
    "no label at all": (
        lambda frame: frame.assign(kind=None),
        "No row of {} has a label in column 'kind'. Fill in the classes of some rows.",
    ),
    "unknown": (
        lambda frame: frame.replace("pike", "unknown"),
        "A class of {} is called 'unknown', which is the verdict on rows of no class. Rename it, "
        "or leave the labels of these rows empty.",
    ),
    "ids": (
        lambda frame: frame.assign(kind=[f"x{i}" for i in range(len(frame))]),
        "Column 'kind' of {} looks like an id: 60 different labels in 60 rows. Name the column "
        "that holds the classes with label_column.",
    ),
}

CONFUSION = [
    "Rows labelled with known classes: 6, of which 6 (100.0 %) recognised correctly, 0 called "
    "unknown, 0 taken for another class.",
    "Rows of classes absent from the training data (eel): 1, of which 1 (100.0 %) correctly "
    "called unknown.",
    "Rows without a label, counted in neither: 1.",
]
RECOGNIZED = {
    "open-set": "Of 8 new rows, 7 recognised as one of 2 classes (0 with a probability below 0.9), "
    "1 unknown.",
    "mddkm": "Of 8 new rows, 7 recognised as one of 2 classes (0 ambiguously), 1 unknown.",
}
FIXED_RATE = (
    "This model was learnt by the published method, mddkm, with reject=0.05, which its thresholds "
    "depend on. Learn it again with another reject, or with the method open-set, which takes any."
)
ABSENT_CLASSES = "Of no known class, and correctly unknown: 4."
OTHER_COLUMNS = (
    "rows.csv does not match the training table: The columns of the new table are not those of "
    "the known one: {}. Give both tables the same columns."
)
IGNORED_COLUMNS = "2 columns that the model does not know are ignored: 'd', 'e'."
ALL_COPIES = "5 of 5 rows are also training rows; figures on them say nothing about new rows."
SOME_COPIES = "4 of 14 rows are also training rows; figures on them say nothing about new rows."
NOT_SEEN = "Column 'country' holds 'ZZ' (2 rows), 'YY' (1 row), which were not seen in training."
MISSING_NOW = (
    "Column 'a' is missing in 3 rows, but never was in training; they are judged as if it were "
    "ordinary."
)
NO_VALUES = (
    "{} no value in any column of the model, so that {} class and {} probability mean nothing; "
    "leave such rows out."
)
MISSING_THEN = (
    "{} has missing values, as the training table has, counted by column: 'c' 1. Each is replaced "
    "by its column's median, or is a category of its own; whether a number is missing is one more "
    "feature."
)
OTHER_MODEL = (
    "{} holds a SpatialDepth, not a model of classes. Pass a file written by kernova learn."
)

WRONG_LABELS = "; 60 % of the rows are labelled wrongly."
NO_ANSWERS = (
    "{} was read without labels, so there are no answers to simulate. Read it with label_column."
)
UNLABELLED_ROW = (
    "1 of 3 rows in {} has no kind, so a simulated expert cannot label them. Leave them out."
)
BAD_SIMULATIONS = [
    ({"seeds": 0}, "seeds must be a whole number of at least 1; got 0."),
    ({"strategies": ()}, "There is no strategy to simulate. Name at least one."),
    (
        {"strategies": ("best",)},
        f"There is no strategy named 'best'. Use one of {', '.join(STRATEGIES)}.",
    ),
]

# --- rows like a given one -----------------------------------------------------------------------

CUT_AT_DROP = (
    "{cut} of {n_rows} other rows are alike: walks from the given row are at row {cut} of the "
    "ranking {ratio} times as often as at the next one, the most marked drop."
)
ALL_ALIKE = "{n_rows} of {n_rows} other rows are alike: there is no drop after any of them."
NO_CHAIN = (
    "{cut} of {n_rows} other rows are alike: no chain of neighbours leads from them to the next "
    "row."
)
NO_ROW_TO_RANK = "The table has 1 row, and all of them were given; there is none to rank."
UNKNOWN_ROW = "No row of fish.csv has the id {id!r}."
UNKNOWN_ROW_BUT = "No row of fish.csv has the id {id!r}. Did you mean {close!r}?"
BOTH_GIVEN_AND_RULED_OUT = (
    "The row {id!r} is given both as a row to search from and as one that does not belong."
)
