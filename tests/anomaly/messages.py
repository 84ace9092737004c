"""Messages of the package, whole."""

ENGINE = "There is no engine named 'fast'. Use one of auto, exact, low-rank, sparse."
TOLERANCE = "The tolerance must lie between 0 and 1; got 0."
DEPTH_KERNEL = (
    "There is no kernel named 'cosine'. Use one of gaussian, laplacian, matern, polynomial, "
    "linear, or pass a kernel object."
)
KERNEL_OBJECT = (
    "A kernel object needs __call__(X, Y), diagonal(X) and squared_distance(X, Y); object does "
    "not have them all. Subclass kernova.kernels.Kernel and define __call__."
)
KERNEL_VALUES = (
    "The kernel gives infinite or undefined values for these rows. Rescale the columns, or take "
    "another kernel."
)
BANDWIDTH_RULE = (
    "There is no bandwidth rule named 'mean'. Use one of half-nearest, "
    "nearest, reach, median, or a positive "
    "number."
)
BANDWIDTH = (
    "The bandwidth must be a positive number or the name of a rule "
    "(half-nearest, nearest, reach, median); "
    "got -1.0."
)
PROFILE = (
    "There is no kernel named 'cosine'. Use one of volcano, gaussian, epanechnikov, or give a "
    "function of u = distance / width."
)
PROFILE_VALUES = "The kernel must give finite values of zero or more; got -4."
MANY_AND_DUPLICATES = (
    "LocalDensityFactor: 30 neighbours were asked for, but each row has 2 others; all are taken. "
    "3 of 3 rows have 2 or more duplicates: their k-th neighbour is at distance zero, and the "
    "smallest positive distance is used instead. With more neighbours than duplicates they are "
    "compared with other rows."
)
NO_OTHER_ROW = (
    "LocalPeculiarityFactor: 9 neighbours were asked for, but each row has no other; all are taken."
)

ENSEMBLE_SPARSE = (
    "The table is a sparse matrix, whose zeros would be scaled to other numbers; pass X.toarray() "
    "if there is memory for all of it."
)
ENSEMBLE_TEXT = (
    "The array holds text (could not convert string to float: 'a'). Pass a DataFrame, whose "
    "columns of text are categories."
)
ENSEMBLE_TOO_LARGE = (
    "The array holds a number that is too large (int too large to convert to float); correct it."
)
ENSEMBLE_DIGITS = (
    "Column 'a' holds a number of more than 308 digits; correct it or drop the column."
)
ENSEMBLE_SAME_NAMES = "Two columns are named 'a'; give each a name of its own."
ENSEMBLE_INFINITE = "Column 'a' holds an infinite number in row 2; correct it or drop the column."
ENSEMBLE_DATES = (
    "Column 'a' holds datetime64 values; features are numbers, true/false or text. Drop it or "
    "turn it into numbers."
)
ENSEMBLE_WAS_NUMBER = (
    "Column 'length' held numbers in fit, but row 2 now holds 'long'; correct it or drop the "
    "column."
)
ENSEMBLE_MEMBERS = (
    'members must be "auto" or a list of names, detectors or pairs of a name and a detector; got '
)
ENSEMBLE_CLASS = "IsolationForest is a class; pass an object of it as a member."
ENSEMBLE_TWICE = "Two members are named 'linear'; give pairs with other names."
ENSEMBLE_NAME = (
    "There is no member named 'forest'. Use 'nearest-standard', 'nearest-range', "
    "'nearest-decorrelated', 'nearest-ranks', 'linear', 'central-half', 'columns', 'isolation', or "
    "a detector."
)


def ensemble_size(rows, columns, least):
    return f"The table has {rows} and {columns}; at least {least} and 1 column are needed."


def ensemble_cannot_score(name):
    return (
        f"Member {name} cannot score new rows: it needs fit, and score_samples or "
        "decision_function (LocalOutlierFactor: with novelty=True)."
    )


def contamination(value):
    return f'The contamination must be "auto" or a number above 0 and at most 0.5; got {value!r}.'


def neighbors(value):
    return (
        'n_neighbors must be a whole number of 1 or more, a list of such numbers, or "auto"; '
        f"got {value!r}."
    )


def algorithm(value):
    return f"There is no algorithm named {value!r}. Use one of auto, kd_tree, brute, approximate."


def positive(name, value, ending=""):
    return f"{name} must be a positive number{ending}; got {value!r}."


def exponent(name, value, ending=""):
    return f"{name} must be a number of 0 or more{ending}; got {value!r}."


def duplicates(detector, n_rows, n_all, least):
    return (
        f"{detector}: {n_rows} of {n_all} rows have {least} or more duplicates: their k-th "
        "neighbour is at distance zero, and the smallest positive distance is used instead. With "
        "more neighbours than duplicates they are compared with other rows."
    )


def new_rows(detector):
    return (
        f"{detector} scores new rows only with novelty=True. Set it before fitting, or call "
        "fit_predict on the training rows."
    )


def own_rows(detector):
    return (
        f"{detector} scores its training rows only with novelty=False. Set it, or call fit "
        "on the known rows and predict on new ones."
    )
