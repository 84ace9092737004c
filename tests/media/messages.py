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
        "{folder}/empty is a folder without recordings or pictures; give a table, or a folder of "
        "recordings or pictures.",
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

# --- pictures without a table ----------------------------------------------------------------

PICTURES_KNOWN = (
    "{n} pictures compared by {components} components of colour, layout, edges and texture, "
    "whichever way they are turned. No objects are recognised: pictures that differ in none of "
    "these look alike."
)
PICTURES_SEEN = (
    "{n} pictures compared by {components} components of colour, layout, edges and texture"
    "{turned}. No objects are recognised: pictures that differ in none of these look alike. "
    "Embeddings of a trained network see more (`embeddings`)."
)
PICTURES_LEFT_OUT = (
    "3 of 15 pictures of {folder} are left out: 'bars/broken.png', 'discs/cut.png', 'huge.png'. "
    "bars/broken.png cannot be read as a picture: it is damaged, or not PNG, JPEG, GIF, WebP, BMP, "
    "TIFF or PPM. Save it again. discs/cut.png cannot be read as a picture: it is damaged, or not "
    "PNG, JPEG, GIF, WebP, BMP, TIFF or PPM. Save it again."
)
EMPTY_FOLDER = (
    "{folder} is a folder without recordings or pictures; give a table, or a folder of recordings "
    "or pictures."
)
NO_READABLE_PICTURE = (
    "No picture of {folder} can be read. a.png cannot be read as a picture: it is damaged, or not "
    "PNG, JPEG, GIF, WebP, BMP, TIFF or PPM. Save it again."
)
ONE_PICTURE = (
    "{folder} holds one picture, and there is nothing to compare it with. Add pictures that differ."
)
SAME_PICTURES = (
    "The 12 pictures of {folder} have the same colours, edges and textures. Add pictures that "
    "differ."
)
PICTURES_AND_RECORDINGS = (
    "{folder} holds 1 picture and 2 recordings. Give a folder of either, or a table."
)
ARCHIVE_WITHOUT_PICTURES = (
    "{folder} holds no pictures. Give a folder or ZIP archive of pictures, such as PNG, JPEG or "
    "FITS, or a table."
)
PICTURES_ARE_ROWS = (
    "{folder} holds pictures, and each of them is a row. Leave out {what}, or give a table."
)
NO_LABEL_OF_PICTURES = "{folder} has no column 'kind' to use as label column. "
NOT_TURNED = (
    "rotation_invariant=True is for a folder or ZIP archive of pictures without a table. Leave it "
    "out for {path}."
)

# --- embeddings ------------------------------------------------------------------------------

COMPARED_BY_EMBEDDINGS = (
    "Rows are compared by their embeddings in {path}: 9 components of 64 numbers each."
)
SURPLUS = (
    "36 embeddings of {path} are of no row of {folder}: 'f12', 'f13', 'f14', 'f15', 'f16', 'f17', "
    "'f18', 'f19', 'f20', 'f21', 'f22', 'f23', 'f24', 'f25', 'f26', 'f27', 'f28', 'f29', 'f30', "
    "'f31', and 16 more. They are not used."
)
NO_EMBEDDING = (
    "2 of 48 rows of {fish} have no embedding in {path}: 'f00', 'f01'. Add them, or leave them out "
    "with missing='drop'."
)
NO_NUMBER = (
    "Row 8 of {path}, the embedding of 'f07', has no number in column 4. Compute it again, or "
    "leave the row out."
)
INFINITE = NO_NUMBER.replace("no number", "inf")
TOO_LARGE_NUMBER = NO_NUMBER.replace("no number", "1e+200")
WRONG_LENGTH = (
    "{path} has 52 embeddings for 48 rows of {fish}. Save one for each, in the order of the rows, "
    "or a table with a column of ids."
)
ONE_DIMENSION = (
    "{path} holds an array of shape (64,); embeddings need one row of numbers for each row of the "
    "table. Save them as an array of two dimensions."
)
NO_VECTORS = ONE_DIMENSION.replace("(64,)", "(0, 64)")
COMPLEX = (
    "{path} holds values of type complex64; embeddings are real numbers. Save them as float32."
)
EQUAL_VECTORS = (
    "All embeddings of {path} are equal, so that there is nothing to compare. Give the embeddings "
    "of rows that differ."
)
NO_KEY = (
    "No row of {fish} has an embedding in {path}: the row ids are 'f00', 'f01', 'f02', and the "
    "keys are 'x0', 'x1', 'x2' in 'id'. Name the rows by id or by file."
)
REPEATED_KEY = (
    "'f00' is repeated in column 'id' of {path}: row 2 has it again. Give each row one entry."
)
DIFFERENT_LENGTHS = (
    "Row 48 of {path} has an embedding of 1 number, but row 1 has one of 2. All embeddings must "
    "have the same length."
)
NO_EMBEDDINGS_IN_IT = (
    "{path} holds no embeddings: its columns are 'fish', 'note'. Give a column for each number, or "
    "one column of lists."
)
SPECIMENS_HAVE_NO_EMBEDDINGS = (
    "{path} contains landmarks of specimens, which have an ID and no columns; leave out embeddings."
)
OTHER_LENGTH = (
    "The embeddings of {path} have 32 numbers, but those that were learnt from have 64. Compute "
    "them with the same network."
)
