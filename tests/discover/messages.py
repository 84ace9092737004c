"""Whole sentences of sessions, projects and strategies, as templates: change wording here."""

from kernova.discover.project.lines import FORMAT
from kernova.discover.stopping import TRIAL
from kernova.discover.strategies import STRATEGIES

# --- session -----------------------------------------------------------------------------------

NOT_STARTED = "This session has not started: call start(X) first."
NO_OPEN_QUESTION = "No question is open: call next_question() first."
NO_SUCH_QUESTION = "There is no question {number} to change: there are questions 1 to {last}."
NO_QUESTION_YET = "There is no question {number} to change: no question has been asked yet."
NOT_A_QUESTION_NUMBER = "question must be its number, counted from 1; got {value!r}."
NO_SUCH_ID = "No row has the id {id!r}."
NO_SUCH_ID_BUT = "No row has the id {id!r}. Did you mean {close!r}?"
NO_SUCH_CATEGORY = "There is no category {name!r}. There are {known}."
NO_CATEGORY_YET = "There is no category {name!r}. There is no category yet."
CATEGORY_EXISTS = "There is a category {new!r} already. To make one of both, merge {old!r} into it."
SAME_NAME = "The category {name!r} has that name already."
NOTHING_TO_MERGE = "Nothing to merge into {name!r}: name at least one other category."
MERGE_INTO_ITSELF = "The category {name!r} cannot be merged into itself."
NO_ROW_TO_LABEL = "There is no row to label: give at least one id."
NOTHING_TO_UNDO = "There is nothing to undo."
NOTHING_BY_EXPERT = "There is nothing by {expert!r} to undo."
CANNOT_UNDO = (
    "Log entry {number} cannot be undone: entry {later} depends on it ({description}). Undo that "
    "one first."
)
NOTHING_TO_SETTLE = (
    "There is no disagreement about the row {id!r} to settle: fewer than two experts have labelled "
    "it."
)
ROW_IS_CLOSED = (
    "The row {id!r} is already labelled or skipped, so it is not asked again. Use label_row to "
    "change its label."
)
ROW_IS_OPEN = "The row {id!r} is being labelled by another expert; choose another row."
ASKED_AGAIN = (
    "The strategy {strategy!r} asks again for the row {id!r}, which has been answered; correct the "
    "strategy."
)
OTHER_PRIOR_LABELS = (
    "The prior labels differ from those that the project was started with. Give the same ones or "
    "none, or start another project."
)
NEXT_FREE_ROW = "It is the next row that is not open for another expert."

# --- names and keys ----------------------------------------------------------------------------

NEEDS_NAME = (
    "A category needs a name; got {label!r}. To leave the row unlabelled, skip the question."
)
UNREADABLE_NAME = "A category name must be readable text; got {label!r}. Type it again."
INVISIBLE_NAME = (
    "A category name must not contain invisible characters; got '{label}'. Type it again."
)
LONG_NAME = "A category name must have at most 1,000 characters; got {n}. Give it a shorter name."
NOT_A_NAME = "A category name must be text or a number; got {label!r}, a {kind}."
BAD_EXPERT = "An expert name must be readable text of 1 to 100 characters; got {name}."
BAD_KEY = "key must be printable text of 1 to 200 characters; got {key}."

# --- rows --------------------------------------------------------------------------------------

REPEATED_ID = (
    "Ids must differ, but {id!r} is the id of both row {row} and row {other}, counted from 0."
)
WRONG_NUMBER_OF_IDS = "There are {n_ids} ids for {n_rows} rows; give one for each row."
WRONG_PRIOR_LABELS = (
    "known must give one label for each of the {n_rows} rows, missing where unknown, or map ids to "
    "labels; got an array of shape {shape}."
)
NOT_TWO_DIMENSIONS = "X must have two dimensions, rows and columns; got an array of shape {shape}."
EMPTY_TABLE = "The table has 0 rows and 2 columns; at least one of each is needed."
NOT_FINITE = (
    "The table contains {value} in row {row} and column {column}, counted from 0. Only finite "
    "numbers can be used: fill or drop missing values first."
)
NOT_NUMERIC = (
    "The table is not all numeric. Encode it first, for example with "
    "TableEncoder().fit_transform(X)."
)
COLUMN_NOT_NUMERIC = (
    "Column {name!r} is not numeric. Encode the table first, for example with "
    "TableEncoder().fit_transform(X)."
)

# --- log and projects --------------------------------------------------------------------------

NOT_AN_EVENT = "The log is damaged: {text!r} is not an event."
LOG_DOES_NOT_FIT = "The log does not fit the table, or is damaged: {reason}."
UNDOES_TOO_MUCH = "The log is damaged: it undoes more than was done."
ROW_OUT_OF_RANGE = "it refers to row {row}, but the table has {n_rows} rows"
ROW_TWICE = "it labels a row twice in one event"
PRIOR_LABELS_FIRST = "prior labels must come first, one for each row"
ASKED_BUT_CLOSED = "row {row} was asked, but was already labelled or skipped"
SETTLED_TOO_SOON = "row {row} was settled, but fewer than two experts had labelled it"
NOT_SAVED = (
    "Could not save to {path}: {reason}. The last entry was not recorded; earlier entries are safe."
)
OPEN_ELSEWHERE = "The project {path} is open in another process. Close it there first."
DAMAGED = (
    "The project {path} is damaged: part of the file is missing or was overwritten. Restore a copy "
    "of it, or start another."
)
NOT_A_PROJECT = "{path} is not a kernova project, or its beginning is lost. Choose another."
NOT_A_FILE = "{path} is not a file, so it is not a kernova project. Choose another."
NEWER_FORMAT = (
    f"{{path}} was written by a newer kernova: its format is {FORMAT + 1}, and this version reads "
    f"up to {FORMAT}. Update kernova."
)
OTHER_TABLE = (
    "The project {path} belongs to another table: {difference} Give the table that the project was "
    "started with, or another project."
)
OTHER_VALUES = (
    "{n_rows} rows and {n_columns} columns; the one given now has the same shape, but other "
    "values, columns or ids."
)
OTHER_SETTINGS = (
    "The project {path} uses the strategy 'random' and the seed 0; got {strategy!r} and {seed}. "
    "Use the same, or another project."
)
NO_SUCH_PROJECT = "There is no project {path}; check its name and folder."
CANNOT_CREATE = (
    "Cannot create a project at {path}: there is no folder {folder}. Choose another path."
)
CANNOT_WRITE = (
    "The project {path} cannot be written or locked. Make the file and its folder writable, or "
    "choose another."
)

NO_LOCKS = (
    "Files cannot be locked in the folder of {path}, as on some network drives, so two processes "
    "could write to the project at once. Copy it to a local disk and use it there."
)
CLOSED = "it is closed"

# --- random baseline, simulation, stopping -----------------------------------------------------

BAD_SIZES = "Sizes must lie between 0 and the number of rows, 10; got sizes from 3 to 11."
BAD_SAMPLE_SIZE = "Between 0 and 10 rows can be sampled; got 1 to 11 questions."
ONE_LABEL_PER_ROW = "labels must have one label for each of the 3 rows; got an array of shape (1,)."
BAD_ERROR_RATE = "error_rate must be at least 0 and below 1; got {value}."
BAD_MAX_QUESTIONS = "max_questions must be at least 1, or None; got 0."
NO_SUCH_STRATEGY = f"There is no strategy named {{name!r}}. Use one of {', '.join(STRATEGIES)}."
NOTHING_ASKED = "None of the {n_rows} rows has been asked about yet."
ALL_LABELLED = "All {n_rows} rows are labelled: {categories}, no others."
NO_BOUND = (
    " The other {} rows may contain more: questions chosen by a strategy, unlike a random sample, "
    "give no bound."
)
BOUND = (
    " The last rows were a random sample without a new category: with 95 % confidence at most {} "
    "of the {} unlabelled rows belong to undiscovered categories, if all answers are correct."
)
ESTIMATE_LATER = "Estimate: possible from 10 answers and two categories on."
ESTIMATE = (
    "Estimate: probably {number} unmet{limit}. It follows from how many categories were asked "
    "about only once ({n_once}), and from how late new ones were met."
)
LARGEST_UNMET = (
    "A category of more than {rows} of the table) would probably have been met. On tables with "
    f"known categories, a larger one than stated was unmet at {TRIAL.n_larger} of {TRIAL.n_stops} "
    f"stops, and more than stated were unmet at {TRIAL.n_more}."
)
STOP = "Advice: stop {when}, unless categories {small} matter."
TOO_MANY_ANSWERS = (
    "A table of {n_rows} rows cannot have 3 answers besides {n_before} labelled rows; count each "
    "row once."
)
BAD_N_RANDOM = (
    "n_random is 4, but there were 3 questions; give how many of the last ones were sampled at "
    "random."
)
BAD_CONFIDENCE = "confidence is 1.0; it must lie between 0 and 1."

# --- reasons of strategies ---------------------------------------------------------------------

BAD_PRIORS = (
    "priors must give each category a fraction of the rows, above 0 and at most 1; got {priors!r}."
)
FAR_FROM_OTHER_EXPERTS = (
    "No row is labelled yet, and this row lies far from those of other experts."
)
DUPLICATE_ROW = "This row duplicates one that was shown, as do all remaining rows."
DUPLICATE_OF_SHOWN = "This row duplicates one that was shown."
FIRST_ROW = "No row is labelled yet, and this row lies in the densest region."
BETWEEN = "Between {first!r} and {second!r}: by the labels so far, neither is much more likely."
BEYOND = (
    "Nearest to {label!r}, but its {column!r} is {side} than that of any of the {n} rows labelled "
    "so."
)
ONE_OF_GROUP = "One of {n} rows that lie close together and apart from others; {none} among them."
SECOND_OF_GROUP = (
    "One of {n} rows that lie close together: the label of another of them differs from that of "
    "the nearest row, so another one is asked."
)
FAR_FROM_LABELLED = (
    "{subject}, far from every row labelled so far: the nearest, labelled {label!r}, is {distance}."
)
NEAREST_SHOWN = "The nearest row shown, {label}, is {distance}."
TIMES_NEIGHBOURS = "{ratio} times as far away as neighbours typically are"
TIMES_DENSE = "{ratio} times as far away as its rows are from each other"
TIMES_GROUP = "{ratio} times as far away as they are from each other"
AS_FAR_AS_GROUP = "no farther away than they are from each other"
MOST_ISOLATED = "No row is more isolated."

# --- rows like a few given ones ------------------------------------------------------------------

NOT_A_POSITION = "{name} must be positions of rows, from 0 to {last}; got {value}."
NO_ROW_TO_SEARCH_FROM = "rows is empty; give the position of at least one row to search from."
GIVEN_AND_RULED_OUT = "Row {row} is both in rows and in not_rows; leave it out of one of them."
NO_ROW_LEFT = "The table has {n_rows}, and all of them were given; there is none to rank."
