"""Error messages and remarks of ``kernova.audio``, whole, in one place.

``{path}`` is the file. A change of wording touches this module only.
"""

# --- recordings ---------------------------------------------------------------------------------

_NOT_FINITE = (
    "{path} holds a sample that is NaN or infinite at 2.000000 s; repair it or cut it out."
)
RECORDINGS = {
    "missing.wav": "There is no file {path}; check its name and folder.",
    "folder.wav": "{path} is a folder; name a file in it.",
    "empty.wav": "{path} is an empty file; record or copy it again.",
    "words.wav": (
        "{path} cannot be read as a recording: Format not recognised. Save it as WAV, FLAC or OGG."
    ),
    "samples.raw": (
        "{path} cannot be read as a recording: no known format. Save it as WAV, FLAC or OGG."
    ),
    "head.wav": (
        "{path} cannot be read as a recording: Error in WAV file. No 'data' chunk marker. "
        "Save it as WAV, FLAC or OGG."
    ),
    "nan.wav": _NOT_FINITE,
    "inf.wav": _NOT_FINITE,
    "piped.flac": (
        "The header of {path} has no length, as in FLAC files written to a pipe; save it again "
        "with a sound editor."
    ),
    "cut.flac": (
        "{path} is damaged or truncated: its header promises 2.000 s, and it cannot be read from "
        "{seconds} s on. Copy it again, or read an interval before that."
    ),
}
TRUNCATED = (
    "{path} is truncated: its header promises 4.000 s, of which 1.500 s are in the file and are "
    "read."
)
UNFINISHED_HEADER = (
    "The header of {path} has a size of zero, but sound follows: the recorder did not finish the "
    "file. Repair the header with a sound editor."
)
NO_CHANNEL = "{path} has no channel {channel!r}; it has 2. Use 'mean' or a number from 1 to 2."
PAST_THE_END = (
    "Cannot read {path} from {start} s to {end} s: it ends at 0.5 s. Choose an interval within it."
)
NO_INTERVAL = (
    "Cannot read {path} from {start} s to {end} s: an interval starts at 0 s or later and does not "
    "end before it starts."
)
NOT_POSITIVE = "{name} must be a number above zero; got {value}."
NOT_WHOLE = "sample_rate must be a whole number; got 0.5."
NO_SIMPLE_RATIO = (
    "Cannot resample from 8000 to 1073741825 samples per second: the two have no simple ratio. "
    "Choose another sample rate."
)
RATE_TOO_LOW = (
    "{path} has 1 samples per second, less than a 64th of the 32,000 to resample it to; correct "
    "its header, or record it at a higher rate."
)
NO_SOUNDFILE = (
    "Reading recordings needs soundfile, which is not installed: pip install 'kernova[audio]'."
)

# --- frames, chains and layers ------------------------------------------------------------------

NOT_ONE_CHANNEL = "The samples have shape (5, 2); give one channel."
SAMPLES_NOT_FINITE = "The samples have values that are NaN or beyond 1e+15."
NO_FRAMING = (
    "Frames of 0.008 s every 0.002 s are 1 samples every 0 at 100 Hz; a hop needs at least 1 "
    "sample and at most a frame's."
)
NO_BANDS = (
    "There is no room for 20 bands from 500 to 500 Hz at a sample rate of 1000 Hz; choose others."
)
NOT_A_MATRIX = "The frames have shape (3,); give one row per frame and one column per band."
FRAMES_NOT_FINITE = "The frames have values that are NaN or infinite."
OBSERVATION_NOISE = "observation_noise is {value}; it must be a positive number."
COUPLINGS = "couplings are (0.0,); they must be positive numbers."
OTHER_WIDTH = (
    "The frames have shape (3, 5), but the model has 4 columns; give one row per frame and one "
    "column for each."
)
LAYERS_OF_FRAMES = (
    "layers are (96, 24, 12), but frames have 8 columns; the first layer must have as many."
)
LAYERS_OF_OBSERVATION = (
    "layers are (8, 4), but observation has 6 columns; the first layer must have as many."
)
LAYERS_NOT_DIVISIBLE = (
    "layers are (8, 3), but 3 does not divide 8; each layer must divide the one before."
)
LAYERS_NOT_POSITIVE = "layers are {value}; give one positive number or more."
OUTPUT = "output is 'slope'; choose one of top, level, all."
NOT_CONVERGED = (
    "The gain has not converged after 20000 frames: observation_noise is too large relative to "
    "state_noise. Choose a smaller one."
)
STATE_NOISE = "state_noise is (1.0, 2.0); give one positive number for each of the 3 layers."
OBSERVATION_SHAPE = (
    "observation has shape {shape}, but frames have 8 columns; give one row for each of them and "
    "one column for each state of the first layer."
)
OBSERVATION_TYPE = "observation must be a matrix of numbers; got {kind}."
OBSERVATION_NOT_FINITE = "observation has values that are NaN or infinite; correct them."

# --- annotations --------------------------------------------------------------------------------

ANNOTATIONS = {
    "empty.csv": "{path} is empty; a table of annotations needs at least a header line.",
    "empty.txt": "{path} is empty; a selection table needs at least a header line.",
    "what.txt": (
        "The annotation format of {path} cannot be recognised from its first line, 'Dear diary,'; "
        "choose format= from 'raven', 'audacity', 'textgrid', 'csv'."
    ),
    "binary.txt": "{path} holds binary data, not text; name a file of annotations.",
    "format.csv": (
        "There is no annotation format 'xml'; choose one of 'raven', 'audacity', 'textgrid', 'csv'."
    ),
    "names.csv": (
        "{path} has no column 'start'; its columns are 'onset', 'end', 'label'. Name the column of "
        "the start: columns={{'start': ...}}."
    ),
    "chosen.csv": (
        "{path} has no column 'Label'; its columns are 'start', 'end', 'label'. Name one of them."
    ),
    "roles.csv": (
        "columns has the unknown key 'onset'; its keys are 'start', 'end', 'label', 'score', "
        "'low', 'high', 'file', each with the name of a column."
    ),
    "ragged.csv": "Line 5 of {path} has 2 fields where the header has 3; correct it.",
    "quote.csv": (
        "Line 3 of {path} cannot be read as separated text: a quotation mark is unbalanced."
    ),
    "word.csv": "Line 2 of {path} has 'two' as the end, which is not a number; correct it.",
    "nan.csv": "Line 2 of {path} has 'nan' as the start, which is not a number; correct it.",
    "huge.csv": "Line 2 of {path} has '1e999' as the score, which is not a number; correct it.",
    "order.csv": "Line 3 of {path} ends at 1 s, before it starts at 2 s; correct it.",
    "negative.csv": "Line 2 of {path} starts before the recording, at -1 s; correct it.",
    "raven.txt": (
        "{path} has no column 'Annotation'; its columns are 'Selection', 'Begin Time (s)', 'End "
        "Time (s)', 'Remark'. Name the column of the label: columns={{'label': ...}}."
    ),
    "raven_word.txt": "Line 3 of {path} has '' as the end time, which is not a number; correct it.",
    "raven_ragged.txt": "Line 2 of {path} has 5 fields where the header has 4; correct it.",
    "labels.txt": (
        "Line 2 of {path} is not an Audacity label: it needs a start, an end and a text, separated "
        "by tabs."
    ),
    "early.txt": "Line 1 of {path} holds frequencies before any label; add the label.",
    "frequency.txt": (
        "Line 2 of {path} begins with a backslash and needs a low and a high frequency, separated "
        "by tabs."
    ),
    "no_columns.txt": "{path} has no columns to choose: it is read as 'audacity'.",
    "no_tiers.txt": "{path} has no tiers to choose: it is read as 'audacity'.",
    "tier.TextGrid": (
        "{path} has no tier 'Notes'; its tiers are 'notes', 'clicks'. Name one of them."
    ),
    "other.TextGrid": ("{path} is not a TextGrid in text form; save it from Praat as a text file."),
    "cut.TextGrid": (
        "{path} ends on line 20, where an end is expected: it is truncated, or a number of tiers "
        "or intervals in it is too high."
    ),
    "open.TextGrid": "Line 35 of {path} opens a quotation mark that is not closed; close it.",
    "count.TextGrid": (
        "Line 7 of {path} has 1.5 as the number of tiers, which is not a whole number; correct it."
    ),
    "kind.TextGrid": (
        "Line 28 of {path} has a tier of class 'PitchTier'; a TextGrid has 'IntervalTier' and "
        "'TextTier'."
    ),
    "shift.TextGrid": (
        "Line 22 of {path} has the text 'the \"b\" ! note' where an end is expected; correct it."
    ),
    "order.TextGrid": "Line 20 of {path} ends at 1.5 s, before it starts at 1.75 s; correct it.",
}
NO_FILE = "There is no file {path}; check its name and folder."
IS_A_FOLDER = "{path} is a folder; name a file in it."
NOT_UTF8 = "{path} is not UTF-8 text: line 2 holds the byte 0xe4; save it as UTF-8."
NOT_UTF16 = "{path} is not UTF-16 text: line 2 holds the byte 0x62; save it as UTF-8."
WRITE_ORDER = (
    "Cannot write 'a' from 2 s to 1 s: a segment starts at 0 s or later and does not end before it "
    "starts."
)
WRITE_NOT_FINITE = "Cannot write 'a' from 1 s to 2 s: one of its numbers is not finite."
WRITE_NO_LABEL = (
    "The segment from 1 s to 2 s has no label, which means silence in a TextGrid; set a label, or "
    "use another format."
)
WRITE_SEVERAL_FILES = (
    "{kind} describes one recording, but the segments belong to 2; write one file for each, or use "
    "the format 'csv' or 'raven'."
)
WRITE_NO_DURATION = (
    "A TextGrid without notes spans its recording, whose length is not known; set duration."
)
FAULTS = [
    "'e' from 2 s to 2.02 s in 2.wav lies past the end of the recording (2 s)",
    "'f' from 0.3 s to 0.2 s in 2.wav ends before it starts",
    "'g' from 0.4 s to 0.4 s in 2.wav has no length",
    "'h' from -0.4 s to 0 s in 2.wav starts before the recording",
    "'i' from nan s to 0.1 s has a time that is not finite",
]
OVERLAPS = [
    "'a' from 0.5 s to 1.5 s in 1.wav and 'b' from 1.25 s to 1.5 s in 1.wav overlap",
    "'a' from 0.5 s to 1.5 s in 1.wav and 'c' from 1.4 s to 1.6 s in 1.wav overlap",
]
UNUSABLE = "songs.csv cannot be used: {faults}; and 2 more faults. Correct it."
