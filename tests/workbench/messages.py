"""Messages of the workbench, as its tests expect them."""

import re

NO_STRATEGY = re.compile(r"^There is no strategy named 'guess'\.")
OTHER_TABLE = re.compile(r"^The project .* belongs to another table: ")
SUMMARY = "1 question asked, 1 row of 40 labelled, 1 category."
ALONE = "It represents only itself."
CLUSTER = "It represents itself and {others}: {names}."
LABELLED_AMONG = " Labelled among them: x {n}."

NO_MEMORY = "Not enough memory. Use fewer rows or columns."

# --- learning --------------------------------------------------------------------------------

NO_VERDICT = "There is no verdict 'odd'; choose one of known, ambiguous, unknown."
VERDICTS = " Of the 90 other rows, {known} are known, {ambiguous} ambiguous and {unknown} unknown."
NO_OTHER_ROWS = "No other rows are left."
FEW_ROWS = (
    "These categories have only one or two labelled rows, so their extent is uncertain: jay, tit."
)
TOO_FEW = "Too few labels to learn from: "
AT_LEAST = "at least 3 are needed, two of them in the same category."
TOO_FEW_LABELS = [
    ([None] * 6, f"{TOO_FEW}0 rows are labelled, {AT_LEAST}"),
    (["wren", *[None] * 5], f"{TOO_FEW}1 row is labelled, {AT_LEAST}"),
    (
        ["wren", "tit", "jay", None, None, None],
        f"{TOO_FEW}3 rows are labelled, each in a category of its own. The extent of a category "
        "can only be estimated from two rows or more: label another row of one.",
    ),
    (
        ["wren", "wren", "wren", "unknown", None, None],
        "A category is called 'unknown', which is reserved for rows of no category. Rename it, "
        "then learn again.",
    ),
]
MANY_CATEGORIES = (
    f"{TOO_FEW}61 rows are labelled, in 60 categories. Label 59 more rows of known categories, so "
    "that there are two of each on average."
)
EMPTY_COLUMN = "Columns without a value in any labelled row are left out: 'song'."
NO_VALUES = "The labelled rows have no values at all. Label other rows, too."
NOTHING_KNOWN = (
    "No row can be called known yet: in leave-one-out cross-validation of your labels, less than "
    "90 % are recognised correctly at any margin. Label more rows or whole clusters."
)

# --- features and map ------------------------------------------------------------------------

LOG_AXIS = "logarithmic axis"
CLIPPED_AXIS = "0.1 % of all rows lie outside the axis"
PRINCIPAL_AXES = "The first two principal components: {percent:.0f} % of the variance."
OUTLYING_ROWS = " Outlying rows are drawn nearer."
NEIGHBOURS = re.compile(
    r"Similar rows lie together: (\d+) % of each row's 10 nearest neighbours are among the nearest "
    r"on this map \((\d+) % on the map of principal components\)\. Distances between distant "
    r"groups have no meaning\."
)
