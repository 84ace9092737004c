"""Whole sentences of the reproductions, as templates: change wording here."""

# --- data files -------------------------------------------------------------------------------

NO_FOLDER = "There is no folder {folder}; name the one that holds the {content}."
NO_FILE = 'There is no {file} in {folder}; put the set there, with its classes in a column "label".'
NO_DATA_SET = "There is no data set {name!r}; choose from {known}."
NO_NAME = "No data set was named; choose from {known}."
NOT_BUILT_IN = "{name} does not come with scikit-learn; name a folder that holds {name}.parquet."
BAD_COUNT = "{name} must be a whole number of at least {least}; got {value}."

# --- HMS --------------------------------------------------------------------------------------

OTHER_CLASSES = "There are 3 sizes for 2 classes; use the published set, with all its rows."
FEW_ROWS_OF_CLASS = (
    "Class 'a' has 2 rows, but 3 are to be drawn; use the published set, with all its rows."
)
FEW_ROWS = "1 random rows of 3 do not hold all 2 classes; use the published set, with all its rows."

# --- KSD --------------------------------------------------------------------------------------

NO_FISH = (
    "There is no cichlids.csv in {folder}, nor in tanganyika_cichlids or "
    "landmarks/tanganyika_cichlids under it; name the folder that holds the cichlids, or omit "
    "`data`."
)
NO_FISH_COLUMN = "{path} has no column {name!r}; the study needs it."
ONE_GROUP = "Fewer than two groups have {least} fish ({level}); there is nothing to compare."
OTHER_RADII = (
    "differs because the paper does not print its ring's radii; ours are 4 to 5, and 3.6 to 4.5 "
    "would give its figure"
)
OTHER_WIDTH = "differs because the printed figure needs a width near 3.0; here it is 0.25"
ONE_PAIR_ALIKE = "differs because 1 pair is more alike than that"

# --- MDD-KM on notes --------------------------------------------------------------------------

FEW_CLASSES = "{name} has {n} classes; at least 3 are needed."
FEW_NOTES = "Class 'a' of plain has 6 notes; at least 7 are needed."
NO_SILENCE = "The song has no silence of a fiftieth of a second between its notes."
NO_SONGS = "{name} has no whole songs; add songs/annotations.csv."
NO_LABEL_COLUMN = "{path} has no column 'label'; it needs file and label."
NO_NOTE = "{path} lists no note with a label; add at least one."
MISSING_SETS = "Missing, and left out: {names}."
NO_SET_WITH_SONGS = "No set has whole songs, so none was searched."

# --- RKOF -------------------------------------------------------------------------------------

OTHER_ROWS = (
    "Mammography: these are not the paper's rows; by label there are 150 -1, 5 1, and in the "
    "paper 10,923 -1, 260 1."
)
NO_LABELS = (
    "mammography.parquet has no rows labelled '-1', or none labelled '1'; both are needed to "
    "compare."
)
NO_MAMMOGRAPHY = (
    "Mammography is left out: there is no mammography.parquet in {folder}. It is data set 310 of "
    "https://www.openml.org."
)
NO_SHUTTLE = (
    "Shuttle is left out: there is no shuttle_test.parquet nor shuttle.tst in {folder}. It is "
    "shuttle.tst of https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/shuttle/, "
    "and part of data set 40685 of https://www.openml.org."
)
NO_NETWORK = (
    "Mammography is left out: OpenML (data set 310) did not answer: <urlopen error [Errno 111] "
    "Connection refused>. It is data set 310 of https://www.openml.org.",
    "Ann-thyroid is left out: OpenML does not have the paper's rows of it. It is ann-test.data of "
    "https://archive.ics.uci.edu/dataset/102/thyroid+disease; put that file into the folder "
    "`data`. (OpenML's thyroid-ann, 40497, holds the training rows.)",
)
SAMPLED_LPF = (
    "x: LPF with k = 120 scores all outliers and a sample of 60 other rows, each among all rows."
)
