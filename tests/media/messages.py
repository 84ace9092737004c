"""Messages of the media package, as its tests expect them.

Templates take ``table``, ``folder`` and other names that the tests know.
"""

import re

# --- files -----------------------------------------------------------------------------------

NO_FILE = "There is no file {name} within {folder}. Restore it, or leave the row without a file."
NO_FILE_WITHIN = re.compile(r"^There is no file .* within ")
TOO_LARGE = "{name} in {folder} has {megabytes} MB; the limit is 64 MB. Reduce it."
UNREADABLE = "a.png in {folder} cannot be read: Permission denied. Make it readable."
DAMAGED_ENTRY = (
    "{name} in {folder} cannot be decompressed: it is damaged. Create the archive again."
)
DAMAGED_ARCHIVE = (
    "{folder} cannot be read as a ZIP archive: it is damaged, truncated, or another kind of file."
)
OTHER_COMPRESSION = (
    "a.png in {folder} uses an unsupported compression method; create the archive with deflate."
)

# --- tables with pictures --------------------------------------------------------------------

NAMED_BY_IDS = (
    "Name the files by the ids in id_column, or give the column that contains their names."
)
NO_PICTURES = (
    "No row of {table} has a picture in {folder}: the row ids are '1', '2', '3', and the files are "
    f"named '1.png'. {NAMED_BY_IDS}"
)
NO_PICTURES_AT_ALL = re.compile(r"^No row of .* has a picture in .*: the row ids are")
UNUSABLE_IMAGES = [
    (
        "nowhere",
        "'nowhere' is neither a folder nor a ZIP archive, nor a column of {table}, whose columns "
        "are 'fish', 'length', 'shot'. Check its name.",
    ),
    ("{table}", "{table} is not a ZIP archive; give a folder, a ZIP archive or a column."),
    (
        "{empty}",
        "No row of {table} has a picture in {empty}: the row ids are '000000000000000001', "
        "'000000000000000002', '000000000000000003', and there is no picture in it. "
        f"{NAMED_BY_IDS}",
    ),
]
PICTURES_AND_SOUNDS = "Rows can have pictures or sounds, not both. Leave out `images` or `audio`."
NOT_A_FEATURE = "Column '{column}' names files and is not used as a feature."
WITHOUT = "{n} rows {have} no {what}."

# --- specimens -------------------------------------------------------------------------------

ESTIMATED = "1 specimen has missing landmarks, which are estimated."
NO_COLUMNS = (
    "{table} contains landmarks of specimens, which have an ID and no columns; leave out audio and "
    "id column."
)

# --- tables of sounds ------------------------------------------------------------------------

LABELS_LEFT_OUT = "Column '{column}' is left out; use it as label_column to start with its labels."
MEASURED = (
    "The table has no measurements, so acoustic features were computed: duration, centre "
    "frequency, and 8 components of the spectra."
)
TIMES_ONLY = (
    "{table} contains times of sounds but no measurements. Pass audio=... to measure their "
    "recordings."
)
UNUSABLE_FOLDERS = [
    (
        {"audio": "x", "drop": ["y"]},
        "{folder} is a folder, and every recording in it is a row. Leave out audio and columns to "
        "drop, or give a table.",
    ),
    (
        {},
        "{folder}/empty is a folder without recordings; give a table, or a folder of recordings.",
    ),
]
UNUSABLE_SOUNDS = [
    (
        "file,start,end\na.wav,2,1\n",
        "songs",
        "Row 1 of {table} has start 2 s and end 1 s; the start must be 0 s or later and the end "
        "after it. Correct the row.",
    ),
    (
        "bird,weight\na,1\n",
        "songs/a.wav",
        "{folder}/songs/a.wav is one recording for all rows, but {table} has no times. Add columns "
        "start and end, in seconds.",
    ),
    (
        "bird,weight\na,1\n",
        "t.csv",
        "{table} is not a supported recording; use one of .wav, .flac, .ogg, .oga, .aif, .aiff, "
        ".mp3.",
    ),
    (
        "bird,weight\na,1\n",
        "nowhere",
        "'{folder}/nowhere' is neither a folder nor a recording, nor a column of {table}, whose "
        "columns are 'bird', 'weight'. Check its name.",
    ),
    (
        "bird,weight\nx,1\ny,2\n",
        "songs",
        "No row of {table} has a recording in {folder}/songs: the row ids are '1', '2', and the "
        f"files are named 'a.wav', 'b.wav'. {NAMED_BY_IDS}",
    ),
]

# --- media of rows ---------------------------------------------------------------------------

NOTHING_OF_ROW = "Row '{id}' has no {what}."
NO_ROW = "There is no row {row}; rows are counted from 0 to {last}."
NOT_A_PICTURE = (
    "{name} cannot be read as a picture: it is damaged, or not PNG, JPEG, GIF, WebP, BMP, TIFF or "
    "PPM. Save it again."
)
MANY_PIXELS = "vast.png has 10,000 × 5,001 pixels; the limit is 50 megapixels. Reduce it."
TOO_MANY_PIXELS = re.compile(r"^vast\.png has .* pixels; the limit is 50 megapixels")
BEYOND_THE_END = (
    "Row 'note-0' starts at 2.5 s of song.wav, which ends at 2 s. Correct its times or its file."
)
OTHER_SLOWNESS = "`slowness` must be 1, 2, 4 or 8; got 3."
LOW_RATE = (
    "Some recordings reach only 1,000 Hz, but the model was learnt from sounds up to 8,000 Hz. "
    "Leave out recordings with a lower sample rate."
)

# --- new data for a model, from kernova.workflows and kernova.shapes -------------------------

OTHER_LANDMARKS = (
    "The specimens have 5 landmarks in the plane, but those of the training set have 6 landmarks "
    "in the plane; digitise the same landmarks in the same order."
)
OTHER_DATA = (
    "{file} holds {got}, but the model was learnt from {known}. Name a file like the one it was "
    "learnt from."
)
NO_AUDIO = (
    "The model was learnt from sounds; name the folder with the recordings of {file} with audio."
)
