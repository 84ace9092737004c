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
BEGIN = "Suggestions begin with the second labelled row; "
TOO_FEW_LABELS = [
    ([None] * 6, f"{BEGIN}0 rows are labelled so far."),
    (["wren", *[None] * 5], f"{BEGIN}1 row is labelled so far."),
    (["wren", "unknown", *[None] * 4], f"{BEGIN}1 row is labelled so far."),
]
MANY_CATEGORIES = (
    "Suggestions need two rows of each category on average; 61 rows are labelled so far, in 60 "
    "categories. Label 59 more rows of known categories."
)
ONE_CATEGORY = (
    "There is only one category, wren, which is suggested for every row that is not unlike it. "
    "Label a row of another category, too."
)
CALLED_UNKNOWN = (
    "1 row labelled 'unknown' counts as unlabelled, since this is the verdict on rows of no "
    "category. Rename the category to learn it."
)
NOT_LEARNT = "No category 'owl' was learnt. Learn again after labelling rows of it."
NO_PROMISE = (
    "No precision of 90 % can be promised yet, so no row is called known: too few labelled rows "
    "are recognised correctly by models without them. All rows have suggestions, the most probable "
    "first."
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

# --- rows like a given one -----------------------------------------------------------------------

ALIKE = "{rows} before the cut. {measured}"
NONE_ALIKE = "No unlabelled row is before the cut."
NO_ALIKE_ROW = "There is no row 159: the table has 159 rows, counted from 0."
COARSE = (
    "A coarse map of a sample of 300 rows, with all others amid the nearest of them: similar rows "
    "lie together."
)
