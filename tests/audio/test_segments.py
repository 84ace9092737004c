"""What can be wrong with segments is told with file, label and times."""

import math

import numpy as np
import pytest

from kernova.audio.annotations import Segment, check_segments, segment_faults, segments_by_file
from kernova.errors import InputError


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
