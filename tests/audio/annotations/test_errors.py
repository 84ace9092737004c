"""Bad annotations are rejected with a message, whatever the format."""

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
from tests.audio import messages
from tests.audio.annotations.examples import LONG, written

RAVEN_HEAD = "Selection\tBegin Time (s)\tEnd Time (s)\tAnnotation\n"

BAD_TEXTS = {
    "empty.csv": ("", {}),
    "empty.txt": ("\n\n", {"format": "raven"}),
    "what.txt": ("Dear diary,\ntoday", {}),
    "binary.txt": ("a\0b", {}),
    "format.csv": ("start,end,label\n", {"format": "xml"}),
    "names.csv": ("onset,end,label\n1,2,a\n", {}),
    "chosen.csv": ("start,end,label\n1,2,a\n", {"columns": {"label": "Label"}}),
    "roles.csv": ("start,end,label\n1,2,a\n", {"columns": {"onset": "start"}}),
    "ragged.csv": ('start,end,label\n1,2,"a\nb"\n\n3,4\n', {}),
    "quote.csv": ('start,end,label\n1,2,a\n1,2,"a\n3,4,b\n', {}),
    "word.csv": ("start,end,label\n1,two,a\n", {}),
    "nan.csv": ("start,end,label\nnan,2,a\n", {}),
    "huge.csv": ("start,end,label,score\n1,2,a,1e999\n", {}),
    "order.csv": ("start,end,label\n1,2,a\n2,1,b\n", {}),
    "negative.csv": ("start,end,label\n-1,2,a\n", {}),
    "raven.txt": ("Selection\tBegin Time (s)\tEnd Time (s)\tRemark\n", {}),
    "raven_word.txt": (RAVEN_HEAD + "\n1\t0.5\t\ta\n", {}),
    "raven_ragged.txt": (RAVEN_HEAD + "1\t0.5\t1.0\ta\tb\n", {}),
    "labels.txt": ("1.0\t2.0\ta\n3.0\n", {}),
    "early.txt": ("\\\t100\t200\n", {"format": "audacity"}),
    "frequency.txt": ("1.0\t2.0\ta\n\\\t100\n", {}),
    "no_columns.txt": ("1.0\t2.0\ta\n", {"columns": {"label": "x"}}),
    "no_tiers.txt": ("1.0\t2.0\ta\n", {"tier": "x"}),
    "tier.TextGrid": (LONG, {"tier": "Notes"}),
    "other.TextGrid": (LONG.replace('"TextGrid"', '"PitchTier"'), {}),
    "cut.TextGrid": (LONG[: LONG.index("xmax = 1.5")], {}),
    "open.TextGrid": (LONG.replace('mark = "7"', 'mark = "7'), {}),
    "count.TextGrid": (LONG.replace("size = 2", "size = 1.5"), {}),
    "kind.TextGrid": (LONG.replace("TextTier", "PitchTier"), {}),
    "shift.TextGrid": (LONG.replace("xmin = 0.5", "xmin = none"), {}),
    "order.TextGrid": (LONG.replace("xmin = 0.5", "xmin = 1.75"), {}),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_bad_files_are_rejected(tmp_path, name):
    text, options = BAD_TEXTS[name]
    path = written(tmp_path / name, text)
    with pytest.raises(InputError) as raised:
        read_annotations(path, **options)
    assert str(raised.value) == messages.ANNOTATIONS[name].format(path=path)


def test_every_message_has_a_file():
    assert BAD_TEXTS.keys() == messages.ANNOTATIONS.keys()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, messages.NO_FILE),
        (b"1.0\t2.0\ta\n3.0\t4.0\tK\xe4fer\n", messages.NOT_UTF8),
        (codecs.BOM_UTF16_LE + b"a\0\n\0b", messages.NOT_UTF16),
    ],
)
def test_unreadable_files_are_rejected(tmp_path, content, message):
    path = tmp_path / "labels.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_annotations(path)
    assert str(raised.value) == message.format(path=path)
    with pytest.raises(InputError) as raised:
        read_annotations(tmp_path)
    assert str(raised.value) == messages.IS_A_FOLDER.format(path=tmp_path)


@pytest.mark.parametrize(
    ("segment", "format", "message"),
    [
        (Segment(2, 1, "a"), "csv", messages.WRITE_ORDER),
        (Segment(1, 2, "a", math.nan), "raven", messages.WRITE_NOT_FINITE),
        (Segment(1, 2, " \t", file="1.wav"), "textgrid", messages.WRITE_NO_LABEL),
        (
            Segment(1, 2, "a", file="2.wav"),
            "audacity",
            messages.WRITE_SEVERAL_FILES.format(kind="A file of Audacity labels"),
        ),
        (
            Segment(1, 2, "a", file="2.wav"),
            "textgrid",
            messages.WRITE_SEVERAL_FILES.format(kind="A TextGrid"),
        ),
    ],
)
def test_segments_that_a_format_cannot_hold_are_not_written(tmp_path, segment, format, message):
    path = tmp_path / "song.txt"
    path.write_text("as it was")
    with pytest.raises(InputError) as raised:
        write_annotations([Segment(0, 1, "x", file="1.wav"), segment], path, format=format)
    assert str(raised.value) == message
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_textgrid_needs_a_length(tmp_path):
    with pytest.raises(InputError) as raised:
        write_annotations([], tmp_path / "song.TextGrid", format="textgrid")
    assert str(raised.value) == messages.WRITE_NO_DURATION


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
def test_any_text_is_read_or_rejected(tmp_path, text, format):
    path = written(tmp_path / "any.txt", text)
    with suppress(InputError):
        for segment in read_annotations(path, format=format):
            assert 0 <= segment.start <= segment.end < math.inf
            assert isinstance(segment.label, str)
