"""What a format can hold comes back, and files of other programs are read."""

import codecs

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernova.audio.annotations import (
    ANNOTATION_ENDINGS,
    ANNOTATION_FORMATS,
    Segment,
    check_segments,
    read_annotations,
    segments_by_file,
)
from kernova.audio.reading import audio_info
from tests.audio.annotations.examples import LONG, NOTES, read_back, written

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
