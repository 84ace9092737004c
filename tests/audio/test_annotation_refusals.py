"""Bad annotations are refused in words, whatever the format."""

import codecs
import math
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernova.audio.annotations import (
    ANNOTATION_FORMATS,
    Segment,
    read_annotations,
    write_annotations,
)
from kernova.errors import InputError
from tests.audio.annotated import LONG, written

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
