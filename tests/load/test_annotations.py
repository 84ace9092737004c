import codecs
import math
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernova.errors import InputError
from kernova.load.annotations import (
    ANNOTATION_ENDINGS,
    ANNOTATION_FORMATS,
    Segment,
    check_segments,
    read_annotations,
    segment_faults,
    segments_by_file,
    write_annotations,
)
from kernova.load.audio import audio_info

NOTES = [
    Segment(0.5, 0.75, "01", 0.875, 1500.0, 8000.5),
    Segment(0.75, 1.25, "trill", 0.25),
    Segment(2.0, 2.5, "ä λ 🐦", None, 0.0, 4000.0),
]


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def read_back(segments, path, format, **options):
    write_annotations(segments, path, format=format, **options)
    assert read_annotations(path) == read_annotations(path, format=format)  # it is recognised
    return read_annotations(path)


# --- what a format can hold comes back ---------------------------------------------------------

LABELS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
FREQUENCIES = st.none() | st.floats(0, 1e5)


@st.composite
def any_segments(draw, labels=LABELS):
    start, end = sorted(draw(st.lists(st.floats(0, 1e5), min_size=2, max_size=2)))
    return Segment(
        start,
        end,
        draw(labels),
        draw(st.none() | st.floats(-1e9, 1e9)),
        draw(FREQUENCIES),
        draw(FREQUENCIES),
    )


def to_resolution(segment, keep):
    """Do to a segment what the table in the module says that a format does."""
    label = segment.label.replace("\0", " ")
    if "label" not in keep:
        label = label.replace("\t", " ").replace("\n", " ").replace("\r", " ")
    low, high = (
        round(hertz, 3) if hertz is not None and "frequencies" in keep else None
        for hertz in (segment.low_hz, segment.high_hz)
    )
    has_score = segment.score is not None and "score" in keep
    return Segment(
        round(segment.start, 9),
        round(segment.end, 9),
        label,
        float(f"{segment.score:.6g}") if has_score else None,
        low,
        high,
        segment.file if "file" in keep else None,
    )


KEPT = {
    "csv": {"label", "score", "frequencies", "file"},
    "raven": {"score", "frequencies", "file"},
    "audacity": {"frequencies"},
    "textgrid": set(),
}


@pytest.mark.parametrize("format", ["csv", "raven", "audacity"])
@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(segments=st.lists(any_segments(), max_size=5))
@example(segments=[Segment(0.0, 1.0, label) for label in ("\r", "\n", '"', ",", "\t", "a\r\nb")])
def test_tables_survive_a_round_trip(tmp_path, format, segments):
    path = tmp_path / f"song{ANNOTATION_ENDINGS[format]}"
    expected = [to_resolution(segment, KEPT[format]) for segment in segments]
    assert read_back(segments, path, format) == expected


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    segments=st.lists(any_segments(LABELS.filter(str.strip)), max_size=6),
    is_dense=st.booleans(),
)
def test_textgrids_survive_a_round_trip(tmp_path, segments, is_dense):
    if is_dense:  # notes that touch, overlap, and stand at one time
        segments = [
            segment._replace(start=segment.start // 25e3, end=segment.end // 25e3)
            for segment in segments
        ]
    # A label that is all breaks is no label once they are spaces.
    segments = [segment for segment in segments if to_resolution(segment, set()).label.strip()]
    got = read_back(segments, tmp_path / "song.TextGrid", "textgrid", duration=7.5)
    assert sorted(got) == sorted(to_resolution(segment, set()) for segment in segments)
    assert [segment.start for segment in got] == sorted(segment.start for segment in got)


@pytest.mark.parametrize("format", ["csv", "raven"])
def test_tables_of_several_recordings_survive_a_round_trip(tmp_path, format):
    files = ["songs/1.wav", None, "Käfer 2.wav"]
    segments = [note._replace(file=file) for note, file in zip(NOTES, files, strict=True)]
    assert read_back(segments, tmp_path / f"all{ANNOTATION_ENDINGS[format]}", format) == segments


@pytest.mark.parametrize("format", ANNOTATION_FORMATS)
def test_no_segments_make_a_table_all_the_same(tmp_path, format):
    path = tmp_path / f"song{ANNOTATION_ENDINGS[format]}"
    assert read_back([], path, format, duration=12.25) == []
    text = path.read_text()
    heads = {
        "csv": "file,label,start,end,score,low,high\n",
        "raven": "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\t"
        "High Freq (Hz)\tAnnotation\tScore\n",
        "audacity": "",  # an empty label track is an empty file
    }
    if format == "textgrid":
        assert text.count("xmax = 12.25\n") == 3  # grid, tier and its one interval
    else:
        assert text == heads[format]


@pytest.mark.parametrize("format", ["raven", "audacity", "csv"])
def test_no_frequency_is_above_nyquist(tmp_path, format):
    path = tmp_path / "song.txt"
    boxes = [Segment(0, 1, "a", None, 500.0, 16000.0), Segment(1, 2, "b", None, 11026.0, 12000.0)]
    got = read_back(boxes, path, format, sample_rate=22050)
    assert [(box.low_hz, box.high_hz) for box in got] == [(500, 11025), (11025, 11025)]


def test_a_raven_selection_without_frequencies_spans_all_of_them(tmp_path):
    got = read_back([Segment(0, 1, "a")], tmp_path / "a.txt", "raven", sample_rate=32000)
    assert got == [Segment(0, 1, "a", None, 0.0, 16000.0)]


# --- files as other programs write them --------------------------------------------------------

VIEWS = """\
Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\tSpecies
1\tWaveform 1\t1\t0.5\t0.75\t0.0\t16000.0\tEATO
1\tSpectrogram 1\t1\t0.5\t0.75\t2878.2\t4049.0\tEATO
2\tWaveform 1\t1\t1.5\t1.75\t0.0\t16000.0\tEATO
2\tSpectrogram 1\t1\t1.5\t1.75\t2731.9\t3902.7\tEATO
"""

# The second recording begins ten seconds after the first.
OFFSETS = """\
Selection\tBegin Time (s)\tEnd Time (s)\tBegin File\tFile Offset (s)\tConfidence\tAnnotation
1\t1.5\t1.75\tone.wav\t1.5\t0.9\t01
2\t12.34\t12.4\ttwo.wav\t2.34\t\t02
"""

FREQUENCY_LINES = """\
0.100000\t0.350000\tSP
\\\t6441.064453\t12296.577148
0.500000\t0.500000\tpoint

1,250000\t1,500000
\\\t-1.000000\t900.000000
"""

LONG = """\
File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 2.3
tiers? <exists>
size = 2
item []:
    item [1]:
        class = "IntervalTier"
        name = "notes"
        xmin = 0
        xmax = 2.3
        intervals: size = 3
        intervals [1]:
            xmin = 0
            xmax = 0.5
            text = " "
        intervals [2]:
            xmin = 0.5
            xmax = 1.5
            text = "the ""b"" ! note"
        intervals [3]:
            xmin = 1.5
            xmax = 2.3
            text = ""
    item [2]:
        class = "TextTier"
        name = "clicks"
        xmin = 0
        xmax = 2.3
        points: size = 1
        points [1]:
            number = 0.25
            mark = "7"
"""

SHORT = """\
File type = "ooTextFile short"
"TextGrid"

0
2.3
<exists>
2
"IntervalTier"
"notes"
0
2.3
3
0
0.5
" "
0.5
1.5
"the ""b"" ! note"
1.5
2.3
""
"TextTier"
"clicks"
0
2.3
1
0.25
"7"
"""

SPACED = """\
"ooTextFile" "TextGrid" ! a "comment" 5
0 2.3 <exists> 2 tiers of v2 with [3] words
"IntervalTier" "notes" 0 2.3 3  0 0.5 " "  0.5 1.5 "the ""b"" ! note"  1.5 2.3 ""
"TextTier" "clicks" 0 2.3 1  0.25 "7"
"""

GRID = [Segment(0.25, 0.25, "7"), Segment(0.5, 1.5, 'the "b" ! note')]

FILES = {
    "views.txt": (
        VIEWS,
        [
            Segment(0.5, 0.75, "EATO", None, 2878.2, 4049.0),
            Segment(1.5, 1.75, "EATO", None, 2731.9, 3902.7),
        ],
    ),
    "offsets.txt": (
        OFFSETS,
        [
            Segment(1.5, 1.75, "01", 0.9, file="one.wav"),
            Segment(2.34, 2.4, "02", file="two.wav"),
        ],
    ),
    "labels.txt": (
        FREQUENCY_LINES,
        [
            Segment(0.1, 0.35, "SP", None, 6441.064453, 12296.577148),
            Segment(0.5, 0.5, "point"),
            Segment(1.25, 1.5, "", None, None, 900.0),
        ],
    ),
    "long.TextGrid": (LONG, GRID),
    "long.txt": (LONG, GRID),
    "short.TextGrid": (SHORT, GRID),
    "spaced.TextGrid": (SPACED, GRID),
    "absent.TextGrid": ('"ooTextFile"\n"TextGrid"\n0\n2.3\n<absent>\n', []),
    "plain.csv": (
        'label,start,end,sr,low_hz\n0,1,2,32000,\n"a, ""b""\nc",2.5,3,32000,900\n',
        [Segment(1, 2, "0"), Segment(2.5, 3, 'a, "b"\nc', None, 900.0)],
    ),
    "german.csv": ("Start;End;Label\n\n0,5;1;NA\n", [Segment(0.5, 1.0, "NA")]),
    "table.txt": ("start\tend\tlabel\n0.5\t1\tx\n", [Segment(0.5, 1.0, "x")]),
    "spreadsheet.tsv": ("start\tend\tlabel\n", []),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be with mark"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", FILES)
def test_files_of_other_programs_are_recognised_and_read(tmp_path, name, line_end, encoding):
    text, expected = FILES[name]
    text = text.replace("\n", line_end)
    if encoding.endswith("mark"):
        content = codecs.BOM_UTF16_BE + text.encode("utf-16-be")
    else:
        content = text.encode(encoding)
    path = tmp_path / name
    path.write_bytes(content)
    expected = [note._replace(label=note.label.replace("\n", line_end)) for note in expected]
    assert read_annotations(path) == expected


def test_a_tier_is_chosen_by_name(tmp_path):
    path = written(tmp_path / "song.TextGrid", LONG)
    assert read_annotations(path, tier="notes") == GRID[1:]
    assert read_annotations(path, tier="clicks") == GRID[:1]


def test_columns_are_chosen_by_name(tmp_path):
    path = written(tmp_path / "song.csv", "onset_s,offset_s,note,start,p\n1,2,x,9,.5\n")
    names = {"start": "onset_s", "end": "offset_s", "label": "note", "score": "p"}
    assert read_annotations(path, columns=names) == [Segment(1, 2, "x", 0.5)]
    path = written(tmp_path / "song.txt", OFFSETS)
    got = read_annotations(path, columns={"label": "Selection"})
    assert [segment.label for segment in got] == ["1", "2"]


def test_raven_rows_of_one_number_are_kept_if_they_differ(tmp_path):
    head = "Selection\tView\tBegin Time (s)\tEnd Time (s)\tAnnotation\n"
    rows = ["1\tSpectrogram 1\t1.0\t2.0\ta", "1\tSpectrogram 1\t1.0\t2.0\tb"]
    path = written(tmp_path / "song.txt", head + "\n".join([*rows, "\t\t1.0\t2.0\tc"] * 2))
    assert [segment.label for segment in read_annotations(path)] == ["a", "b", "c", "c"]


def test_the_finch_tables_are_read(data_folder):
    finch = data_folder / "notes" / "bengalese_finch_bird0"
    notes = segments_by_file(read_annotations(finch / "index.csv"), finch)
    assert len(notes) == 270
    assert {segment.label for [segment] in notes.values()} == set("012345678")
    songs = segments_by_file(read_annotations(finch / "songs" / "annotations.csv"))
    assert {file: len(segments) for file, segments in songs.items()} == {
        "1.wav": 46,
        "2.wav": 71,
        "4.wav": 44,
        "6.wav": 65,
        "8.wav": 69,
    }
    assert songs["1.wav"][0] == Segment(1.063, 1.151, "0", file="1.wav")
    for file, segments in songs.items():
        check_segments(segments, audio_info(finch / "songs" / file).seconds)


# --- what an independent reader makes of ours, and we of its examples --------------------------


@pytest.fixture(scope="module")
def crowsetta():
    return pytest.importorskip("crowsetta", reason="the independent reader is not installed")


# Of crowsetta's own calls.
pandas_may_warn = pytest.mark.filterwarnings("ignore:The inplace keyword")


@pandas_may_warn
def test_crowsetta_reads_our_raven_tables(tmp_path, crowsetta):
    path = tmp_path / "song.selections.txt"
    write_annotations(NOTES, path, format="raven", sample_rate=32000)
    boxes = crowsetta.formats.bbox.Raven.from_file(path).to_bbox()
    got = [(box.onset, box.offset, box.label, box.low_freq, box.high_freq) for box in boxes]
    assert got == [
        (0.5, 0.75, "01", 1500.0, 8000.5),
        (0.75, 1.25, "trill", 0.0, 16000.0),
        (2.0, 2.5, "ä λ 🐦", 0.0, 4000.0),
    ]


def test_crowsetta_reads_our_labels(tmp_path, crowsetta):
    path = tmp_path / "song.labels.txt"
    write_annotations(
        [note._replace(low_hz=None, high_hz=None) for note in NOTES], path, format="audacity"
    )
    got = crowsetta.formats.seq.AudSeq.from_file(path)
    assert list(got.start_times) == [0.5, 0.75, 2.0]
    assert list(got.end_times) == [0.75, 1.25, 2.5]
    assert list(got.labels) == ["01", "trill", "ä λ 🐦"]

    write_annotations([NOTES[0], NOTES[2]], path, format="audacity")
    boxes = crowsetta.formats.bbox.AudBBox.from_file(path).to_bbox()
    got = [(box.onset, box.offset, box.label, box.low_freq, box.high_freq) for box in boxes]
    assert got == [(0.5, 0.75, "01", 1500.0, 8000.5), (2.0, 2.5, "ä λ 🐦", 0.0, 4000.0)]


def test_crowsetta_reads_our_textgrids(tmp_path, crowsetta):
    path = tmp_path / "song.TextGrid"
    write_annotations(NOTES, path, format="textgrid", duration=3.0)
    grid = crowsetta.formats.seq.TextGrid.from_file(path, keep_empty=True)
    assert (grid.xmin, grid.xmax, grid.tier_names) == (0.0, 3.0, ["notes"])
    assert [(i.xmin, i.xmax, i.text) for i in grid["notes"]] == [
        (0.0, 0.5, ""),
        (0.5, 0.75, "01"),
        (0.75, 1.25, "trill"),
        (1.25, 2.0, ""),
        (2.0, 2.5, "ä λ 🐦"),
        (2.5, 3.0, ""),
    ]

    crowd = [Segment(0, 2, "a"), Segment(1, 2, "b"), Segment(2, 3, "a"), Segment(2.5, 4, "a")]
    points = [Segment(1, 1, "c"), Segment(3, 3, "c"), Segment(3, 3, "d")]
    write_annotations([*crowd, *points], path, format="textgrid")
    grid = crowsetta.formats.seq.TextGrid.from_file(path)
    assert [(tier.name, [(i.xmin, i.xmax, i.text) for i in tier]) for tier in grid.tiers[:3]] == [
        ("a", [(0.0, 2.0, "a"), (2.0, 3.0, "a")]),
        ("a", [(2.5, 4.0, "a")]),
        ("b", [(1.0, 2.0, "b")]),
    ]
    # Praat has no two points at one time in one tier.
    assert [
        (tier.name, [(point.number, point.mark) for point in tier]) for tier in grid.tiers[3:]
    ] == [("points", [(1.0, "c"), (3.0, "c")]), ("points", [(3.0, "d")])]


@pandas_may_warn
def test_we_read_what_crowsetta_reads(crowsetta):
    examples = Path(crowsetta.__file__).parent / "examples"
    path = examples / "Recording_1_Segment_02.Table.1.selections.txt"
    raven = crowsetta.formats.bbox.Raven.from_file(path, annot_col="Species").to_bbox()
    assert [(s.start, s.end, s.label, s.low_hz, s.high_hz) for s in read_annotations(path)] == [
        (box.onset, box.offset, box.label, box.low_freq, box.high_freq) for box in raven
    ]

    path = examples / "405_marron1_June_14_2016_69640887.audacity.txt"
    audacity = crowsetta.formats.seq.AudSeq.from_file(path)
    assert [segment[:3] for segment in read_annotations(path)] == list(
        zip(audacity.start_times, audacity.end_times, audacity.labels, strict=True)
    )

    path = examples / "spinetail.txt"
    boxes = crowsetta.formats.bbox.AudBBox.from_file(path).to_bbox()
    assert [(s.start, s.end, s.label, s.low_hz, s.high_hz) for s in read_annotations(path)] == [
        (box.onset, box.offset, box.label, box.low_freq, box.high_freq) for box in boxes
    ]

    path = examples / "AVO-maea-basic.TextGrid"
    grid = crowsetta.formats.seq.TextGrid.from_file(path)
    assert [segment[:3] for segment in read_annotations(path, tier="Gloss")] == [
        (i.xmin, i.xmax, i.text) for i in grid["Gloss"]
    ]
    assert [(s.start, s.label) for s in read_annotations(path, tier="Tones")] == [
        (point.number, point.mark) for point in grid["Tones"]
    ]


# --- bad input ---------------------------------------------------------------------------------

RAVEN_HEAD = "Selection\tBegin Time (s)\tEnd Time (s)\tAnnotation\n"

BAD_TEXTS = {
    "empty.csv": (
        "",
        {},
        "{path} is empty; a table of annotations needs at least a header line.",
    ),
    "empty.txt": (
        "\n\n",
        {"format": "raven"},
        "{path} is empty; a selection table needs at least a header line.",
    ),
    "what.txt": (
        "Dear diary,\ntoday",
        {},
        "Cannot tell what kind of annotation {path} is from its first line, 'Dear diary,'; say so "
        "with format=, one of 'raven', 'audacity', 'textgrid', 'csv'.",
    ),
    "binary.txt": (
        "a\0b",
        {},
        "{path} holds binary data, not text; name a file of annotations.",
    ),
    "format.csv": (
        "start,end,label\n",
        {"format": "xml"},
        "There is no annotation format 'xml'; take one of 'raven', 'audacity', 'textgrid', 'csv'.",
    ),
    "names.csv": (
        "onset,end,label\n1,2,a\n",
        {},
        "{path} has no column 'start'; its columns are 'onset', 'end', 'label'. Say which one "
        "holds the start: columns={{'start': ...}}.",
    ),
    "chosen.csv": (
        "start,end,label\n1,2,a\n",
        {"columns": {"label": "Label"}},
        "{path} has no column 'Label'; its columns are 'start', 'end', 'label'. Name one of them.",
    ),
    "roles.csv": (
        "start,end,label\n1,2,a\n",
        {"columns": {"onset": "start"}},
        "columns has no use for 'onset'; it takes 'start', 'end', 'label', 'score', 'low', 'high', "
        "'file', each with the name of a column.",
    ),
    "ragged.csv": (
        'start,end,label\n1,2,"a\nb"\n\n3,4\n',
        {},
        "Line 5 of {path} has 2 fields where the header has 3; correct it.",
    ),
    "quote.csv": (
        'start,end,label\n1,2,a\n1,2,"a\n3,4,b\n',
        {},
        "Line 3 of {path} cannot be read as separated text; a quotation mark is never closed, or "
        "stands where none belongs.",
    ),
    "word.csv": (
        "start,end,label\n1,two,a\n",
        {},
        "Line 2 of {path} has 'two' as the end, which is no number; correct it.",
    ),
    "nan.csv": (
        "start,end,label\nnan,2,a\n",
        {},
        "Line 2 of {path} has 'nan' as the start, which is no number; correct it.",
    ),
    "huge.csv": (
        "start,end,label,score\n1,2,a,1e999\n",
        {},
        "Line 2 of {path} has '1e999' as the score, which is no number; correct it.",
    ),
    "order.csv": (
        "start,end,label\n1,2,a\n2,1,b\n",
        {},
        "Line 3 of {path} ends at 1 s, before it begins at 2 s; correct it.",
    ),
    "negative.csv": (
        "start,end,label\n-1,2,a\n",
        {},
        "Line 2 of {path} begins before the recording, at -1 s; correct it.",
    ),
    "raven.txt": (
        "Selection\tBegin Time (s)\tEnd Time (s)\tRemark\n",
        {},
        "{path} has no column 'Annotation'; its columns are 'Selection', 'Begin Time (s)', 'End "
        "Time (s)', 'Remark'. Say which one holds the label: columns={{'label': ...}}.",
    ),
    "raven_word.txt": (
        RAVEN_HEAD + "\n1\t0.5\t\ta\n",
        {},
        "Line 3 of {path} has '' as the end time, which is no number; correct it.",
    ),
    "raven_ragged.txt": (
        RAVEN_HEAD + "1\t0.5\t1.0\ta\tb\n",
        {},
        "Line 2 of {path} has 5 fields where the header has 4; correct it.",
    ),
    "labels.txt": (
        "1.0\t2.0\ta\n3.0\n",
        {},
        "Line 2 of {path} is no label of Audacity: it needs a start, an end and a text with tabs "
        "between them.",
    ),
    "early.txt": (
        "\\\t100\t200\n",
        {"format": "audacity"},
        "Line 1 of {path} holds frequencies before any label; put one above it.",
    ),
    "frequency.txt": (
        "1.0\t2.0\ta\n\\\t100\n",
        {},
        "Line 2 of {path} begins with a backslash and needs a low and a high frequency with tabs "
        "between them.",
    ),
    "no_columns.txt": (
        "1.0\t2.0\ta\n",
        {"columns": {"label": "x"}},
        "{path} has no columns to name: it is read as 'audacity'.",
    ),
    "no_tiers.txt": (
        "1.0\t2.0\ta\n",
        {"tier": "x"},
        "{path} has no tiers to choose from: it is read as 'audacity'.",
    ),
    "tier.TextGrid": (
        LONG,
        {"tier": "Notes"},
        "{path} has no tier 'Notes'; its tiers are 'notes', 'clicks'. Name one of them.",
    ),
    "other.TextGrid": (
        LONG.replace('"TextGrid"', '"PitchTier"'),
        {},
        "{path} is no TextGrid in text form; save it from Praat as text file.",
    ),
    "cut.TextGrid": (
        LONG[: LONG.index("xmax = 1.5")],
        {},
        "{path} ends on line 20, where an end is expected; it was cut short, or a number of tiers "
        "or intervals in it is too high.",
    ),
    "open.TextGrid": (
        LONG.replace('mark = "7"', 'mark = "7'),
        {},
        "Line 35 of {path} opens a quotation mark that is never closed; close it.",
    ),
    "count.TextGrid": (
        LONG.replace("size = 2", "size = 1.5"),
        {},
        "Line 7 of {path} has 1.5 as the number of tiers, which is no whole number; correct it.",
    ),
    "kind.TextGrid": (
        LONG.replace("TextTier", "PitchTier"),
        {},
        "Line 28 of {path} has a tier of class 'PitchTier'; a TextGrid has 'IntervalTier' and "
        "'TextTier'.",
    ),
    "shift.TextGrid": (
        LONG.replace("xmin = 0.5", "xmin = none"),
        {},
        "Line 22 of {path} has the text 'the \"b\" ! note' where an end is expected; correct it.",
    ),
    "order.TextGrid": (
        LONG.replace("xmin = 0.5", "xmin = 1.75"),
        {},
        "Line 20 of {path} ends at 1.5 s, before it begins at 1.75 s; correct it.",
    ),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_bad_files_are_refused_in_words(tmp_path, name):
    text, options, sentence = BAD_TEXTS[name]
    path = written(tmp_path / name, text)
    with pytest.raises(InputError) as raised:
        read_annotations(path, **options)
    assert str(raised.value) == sentence.format(path=path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file {path}; check its name and folder."),
        (
            b"1.0\t2.0\ta\n3.0\t4.0\tK\xe4fer\n",
            "{path} is not UTF-8 text: line 2 holds the byte 0xe4; save it as UTF-8.",
        ),
        (
            codecs.BOM_UTF16_LE + b"a\0\n\0b",
            "{path} is not UTF-16 text: line 2 holds the byte 0x62; save it as UTF-8.",
        ),
    ],
)
def test_unreadable_files_are_refused_in_words(tmp_path, content, sentence):
    path = tmp_path / "labels.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_annotations(path)
    assert str(raised.value) == sentence.format(path=path)
    with pytest.raises(InputError) as raised:
        read_annotations(tmp_path)
    assert str(raised.value) == f"{tmp_path} is a folder; name a file in it."


@pytest.mark.parametrize(
    ("segment", "format", "sentence"),
    [
        (
            Segment(2, 1, "a"),
            "csv",
            "Cannot write 'a' from 2 s to 1 s: a segment begins at 0 s or later and ends no sooner "
            "than it begins.",
        ),
        (
            Segment(1, 2, "a", math.nan),
            "raven",
            "Cannot write 'a' from 1 s to 2 s: one of its numbers is not finite.",
        ),
        (
            Segment(1, 2, " \t", file="1.wav"),
            "textgrid",
            "The segment from 1 s to 2 s has no label, which means silence in a TextGrid; give it "
            "one, or write another format.",
        ),
        (
            Segment(1, 2, "a", file="2.wav"),
            "audacity",
            "A file of Audacity labels describes one recording, and these segments belong to 2; "
            "write one file for each, or write 'csv' or 'raven'.",
        ),
        (
            Segment(1, 2, "a", file="2.wav"),
            "textgrid",
            "A TextGrid describes one recording, and these segments belong to 2; write one file "
            "for each, or write 'csv' or 'raven'.",
        ),
    ],
)
def test_what_no_file_can_say_is_not_written(tmp_path, segment, format, sentence):
    path = tmp_path / "song.txt"
    path.write_text("as it was")
    with pytest.raises(InputError) as raised:
        write_annotations([Segment(0, 1, "x", file="1.wav"), segment], path, format=format)
    assert str(raised.value) == sentence
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_textgrid_needs_a_length(tmp_path):
    with pytest.raises(InputError) as raised:
        write_annotations([], tmp_path / "song.TextGrid", format="textgrid")
    assert str(raised.value) == (
        "A TextGrid without notes still spans its recording, whose length is not known; give "
        "duration."
    )


PIECES = st.sampled_from(
    [
        *("0", "1", "2.5", "-1", "\t", "\n", ",", ";", '"', '""', "\\", "!", " ", "a", '"x"'),
        *("start", "end", "label", "Begin Time (s)", "End Time (s)", "Annotation", "<exists>"),
        *('"ooTextFile" "TextGrid"', '"IntervalTier"', '"TextTier"'),
        *("start,end,label\n", RAVEN_HEAD),
    ]
)


@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.lists(PIECES, max_size=30).map("".join)
    | st.lists(PIECES, max_size=30).map(lambda p: '"ooTextFile" "TextGrid" 0 2 ' + " ".join(p)),
    format=st.sampled_from([None, *ANNOTATION_FORMATS]),
)
def test_any_text_is_read_or_refused(tmp_path, text, format):
    path = written(tmp_path / "any.txt", text)
    with suppress(InputError):
        for segment in read_annotations(path, format=format):
            assert 0 <= segment.start <= segment.end < math.inf
            assert isinstance(segment.label, str)


# --- segments ----------------------------------------------------------------------------------


def test_faults_are_told_with_file_label_and_times():
    segments = [
        Segment(0.5, 1.5, "a", file="1.wav"),
        Segment(1.0, 1.2, "b", file="2.wav"),  # another recording
        Segment(1.25, 1.5, "b", file="1.wav"),
        Segment(1.4, 1.6, np.str_("c"), file="1.wav"),
        Segment(1.6, 2.009, "d", file="1.wav"),  # people round
        Segment(2.0, 2.02, "e", file="2.wav"),
        Segment(0.3, 0.2, "f", file="2.wav"),
        Segment(0.4, 0.4, "g", file="2.wav"),
        Segment(-0.4, 0.0, "h", file="2.wav"),
        Segment(math.nan, 0.1, "i"),
    ]
    alone = [
        "'e' from 2 s to 2.02 s in 2.wav lies past the end of the recording (2 s)",
        "'f' from 0.3 s to 0.2 s in 2.wav ends before it begins",
        "'g' from 0.4 s to 0.4 s in 2.wav has no length",
        "'h' from -0.4 s to 0 s in 2.wav begins before the recording",
        "'i' from nan s to 0.1 s has a time that is no number",
    ]
    together = [
        "'a' from 0.5 s to 1.5 s in 1.wav and 'b' from 1.25 s to 1.5 s in 1.wav overlap",
        "'a' from 0.5 s to 1.5 s in 1.wav and 'c' from 1.4 s to 1.6 s in 1.wav overlap",
    ]
    assert segment_faults(segments, 2.0) == alone + together
    assert segment_faults(segments, 2.0, may_overlap=True) == alone
    assert segment_faults(segments[:5]) == together
    with pytest.raises(InputError) as raised:
        check_segments(segments, 2.0, source="songs.csv")
    assert str(raised.value) == (
        f"songs.csv cannot be used: {'; '.join(alone)}; and 2 more faults. Correct it."
    )


def test_sound_segments_are_let_pass():
    check_segments([Segment(1.0, 2.0, "a"), Segment(0.0, 1.0, "b"), Segment(2.0, 3.0, "c")], 3.0)
    check_segments([Segment(0.0, 2.0, "a"), Segment(1.0, 3.0, "b")], may_overlap=True)


def test_segments_are_sorted_by_recording():
    segments = [Segment(0, 1, "a", file=file) for file in ("b.wav", "a.wav", None, "b.wav")]
    assert segments_by_file(segments) == {
        "b.wav": [segments[0], segments[3]],
        "a.wav": [segments[1]],
        None: [segments[2]],
    }
    assert list(segments_by_file(segments, "songs")) == ["songs/b.wav", "songs/a.wav", None]
