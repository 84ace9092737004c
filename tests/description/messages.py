"""Messages of the package, whole."""

GROUPED = (
    "Rows cannot be added to classes that were fitted with groups: the groups are not stored. Fit "
    "again with all rows and their groups."
)
ONE_ROW = (
    "One row cannot be left out of itself, so the threshold is a convention: a row is an inlier "
    "if 0.5 of its variance is explained. Fit more rows to have a better one."
)
NO_TABLE = (
    "TableRecognizer learns from a DataFrame; got an object of type ndarray. For an array, take "
    "OpenSetClassifier."
)


def alone(label):
    return (
        f"Nothing can be left out of {label}: a class needs two rows (or two groups) for a "
        "threshold of its own. The threshold of all classes together is taken; add rows to have a "
        "better one."
    )


def groups(n_groups, n_rows):
    return (
        f"groups has the shape ({n_groups},), but there are {n_rows} rows; give one group for each "
        "row."
    )


def grid(sides):
    return f"n_prototypes must be two whole numbers above 0, the sides of a grid; got {sides!r}."
