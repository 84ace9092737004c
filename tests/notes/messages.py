"""Error messages, remarks and summaries of ``kernova.notes``, whole, in one place.

``{path}`` is the file. A change of wording touches this module only.
"""

# --- recordings ---------------------------------------------------------------------------------

RECORDINGS = {
    "8000.wav": (
        "{path} holds no frequencies above 4 kHz (8000 samples per second), and the model uses "
        "frequencies up to 11 kHz: notes may be missed."
    ),
    "cut.wav": (
        "{path} is truncated: its header promises 3.000 s, of which 1.500 s are in the file and "
        "are read."
    ),
    "no-sound.wav": "{path} holds no sound: it is 0 s long. Record or copy it again.",
    "no-number.wav": (
        "{path} holds a sample that is NaN or infinite at 0.226757 s; repair it or cut it out."
    ),
    "half-a-header.wav": (
        "{path} cannot be read as a recording: Error in WAV file. No 'data' chunk marker. Save it "
        "as WAV, FLAC or OGG."
    ),
    "words.wav": (
        "{path} cannot be read as a recording: Format not recognised. Save it as WAV, FLAC or OGG."
    ),
    "no-bytes.wav": "{path} is an empty file; record or copy it again.",
    "cut.flac": (
        "{path} is damaged or truncated: its header promises 3.000 s, and it cannot be read from "
        "0.000 s on. Copy it again, or read an interval before that."
    ),
}
EMPTY_CLIP = "none.wav holds no sound: it is 0 s long. Leave it out, or record or copy it again."
PAST_A_TRUNCATED_END = (
    "marks.txt cannot be used: 'buzz' from 2 s to 2.1 s lies past the end of the recording "
    "(1.5 s). Correct it. cut.wav is truncated: its header promises 3.000 s, of which 1.500 s are "
    "in the file and are read."
)
CHECK_OF_NOTHING = (
    "Of 0 notes, 0 were found within 20 ms of their onset; 0 detections are false, 0.00 per "
    "minute.\nF1 score 1.000 over notes, 1.000 over windows; 0.0 % of windows are wrong.\n"
)
NO_RECORDING_IN_FOLDER = (
    "There is no recording in the folder {path}: no file in it or its subfolders ends in "
    "{suffixes}."
)
NO_RECORDING = "No recording was given. Name recordings, or folders of recordings."
NO_FILE = "There is no file {path}; check its name and folder."

# --- results and journal ------------------------------------------------------------------------

FOREIGN_RESULT = (
    "Cannot write {path}: the file exists, and no search wrote it, or it was changed since. Move "
    "it away, or name another folder."
)
ANOTHER_SEARCH = "Another search is writing to {path}. Wait for it, or name another folder."
JOURNALS = {
    "hello\n": (
        "{path} is not the journal of a note search, or its beginning is damaged. Name another "
        "folder, or move it away to search everything again."
    ),
    '{"kernova_notes": 2}\n': (
        "{path} was written by a newer kernova (format 2; this one knows 1). Name another folder, "
        "or update."
    ),
}

# --- finder -------------------------------------------------------------------------------------

CLIPS_AND_LABELS = "There are 1 clips and 2 labels; give one label for each."
NO_CLIPS = "There are no notes to learn from; give at least one clip."
CLIP_WITHOUT_SOUND = "A clip of 'b' holds no sound; leave it out, or annotate the note."
SILENT_CLIP = "A clip of 'a' is silent; leave it out, or correct its annotation."
LOW_RATE = (
    "Sound of 1500 samples per second holds no frequencies above 750 Hz; notes need recordings of "
    "at least 2001 samples per second."
)
SHORT_NOTE = "A note lasts 4.1 ms, which is less than one frame of {frame} ms; leave it out."
CLIP_NOT_FINITE = "A clip of 'a' holds values that are NaN or infinite; leave it out."

# --- candidates and decoding --------------------------------------------------------------------

INTERVAL_SHAPES = (
    "Intervals have starts, stops and gains of shapes (2,), (1,) and (1,); give three lists of one "
    "length."
)
INTERVALS_NOT_FINITE = "Intervals have starts, stops or gains that are NaN or infinite."
EMPTY_INTERVAL = "Interval 1 starts at 3 and stops at 3; it must stop later than it starts."
SCORES_SHAPE = "The scores have shape (1,); give one row per frame and one column per class."
SCORES_NOT_FINITE = "The scores have values that are NaN or infinite."
SHORTEST_OF_ZERO = "shortest is 0 and gap is 0; a note has at least 1 frame, a gap at least 0."
SHORTEST_ABOVE_LONGEST = "shortest is 35 and longest is 20; shortest must not exceed longest."
SHORTEST_PER_CLASS = (
    "shortest is [1, 2]; give one number of frames, or one for each of the 1 classes."
)

# --- evaluation ---------------------------------------------------------------------------------

SUMMARY = [
    "Of 3 notes, 0 were found within 20 ms of their onset; 5 detections are false, 75.00 per "
    "minute.",
    "F1 score 0.000 over notes, {window_f} over windows; 37.5 % of windows are wrong.",
    "Annotated but not learnt, so that none is the correct answer: 1 of 'x'.",
]
EVALUATION = {
    "overlap": (
        "The annotation cannot be used: 'a' from 0.5 s to 1 s and 'b' from 0.9 s to 1.2 s "
        "overlap. Correct it."
    ),
    "past the end": (
        "The annotation cannot be used: 'a' from 3 s to 4.5 s lies past the end of the recording "
        "(4 s). Correct it."
    ),
    "found past the end": (
        "The list of found notes cannot be used: 'a' from 3 s to 4.5 s lies past the end of the "
        "recording (4 s). Correct it."
    ),
    "no class": "Notes were found of 'c', which is none of the classes.",
    "none": "A class labelled 'none' cannot be distinguished from no note; use another label.",
    "no classes": "There must be at least one class, each named once; got [].",
    "tolerance": "tolerance must be a number of at least zero; got -1.0.",
    "frames": "frame_seconds must be a number above zero; got 0.0.",
}

# --- training annotations -----------------------------------------------------------------------

TRAINING = {
    "no annotation": (
        "one.wav has no annotation: give the annotation file right after the recording."
    ),
    "no annotation before the next": (
        "one.wav has no annotation: give the annotation file right after the recording."
    ),
    "no recording": (
        "1.txt does not name the recording of each note. Name the recording before it, or add a "
        "column 'file'."
    ),
    "other recordings": "1.txt holds no note of one.wav; it annotates 'three.wav'.",
    "past the end": (
        "1.txt cannot be used: 'a' from 0.9 s to 1.2 s lies past the end of the recording (1 s). "
        "Correct it."
    ),
    "overlap": (
        "1.txt cannot be used: 'a' from 0.1 s to 0.4 s and 'b' from 0.2 s to 0.5 s overlap. "
        "Correct it."
    ),
    "no such label": "No note is labelled 'b'. The labels are 'a'.",
    "no label at all": "There is no labelled note in 1.txt.",
    "no file": "There is no file nowhere.wav; check its name and folder.",
    "no clip": "There is no file clips/none.wav; check its name and folder.",
    "a clip without a label": "Line 2 of index.csv lacks a file or a label; correct it.",
    "a quotation mark": (
        "index.csv cannot be read as separated text: a quotation mark is unbalanced."
    ),
    "no columns": (
        "index.csv has no column 'start'; its columns are 'name', 'kind'. Name the column of the "
        "start: columns={'start': ...}."
    ),
}
UNLABELLED = "Annotations without a label, left out: 1."
