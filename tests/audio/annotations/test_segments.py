"""Faults of segments are reported with file, label and times."""

import math

import numpy as np
import pytest

from kernova.audio.annotations import Segment, check_segments, segment_faults, segments_by_file
from kernova.errors import InputError
from tests.audio import messages


def test_faults_are_reported_with_file_label_and_times():
    segments = [
        Segment(0.5, 1.5, "a", file="1.wav"),
        Segment(1.0, 1.2, "b", file="2.wav"),  # another recording
        Segment(1.25, 1.5, "b", file="1.wav"),
        Segment(1.4, 1.6, np.str_("c"), file="1.wav"),
        Segment(1.6, 2.009, "d", file="1.wav"),  # rounded by hand
        Segment(2.0, 2.02, "e", file="2.wav"),
        Segment(0.3, 0.2, "f", file="2.wav"),
        Segment(0.4, 0.4, "g", file="2.wav"),
        Segment(-0.4, 0.0, "h", file="2.wav"),
        Segment(math.nan, 0.1, "i"),
    ]
    assert segment_faults(segments, 2.0) == messages.FAULTS + messages.OVERLAPS
    assert segment_faults(segments, 2.0, may_overlap=True) == messages.FAULTS
    assert segment_faults(segments[:5]) == messages.OVERLAPS
    with pytest.raises(InputError) as raised:
        check_segments(segments, 2.0, source="songs.csv")
    assert str(raised.value) == messages.UNUSABLE.format(faults="; ".join(messages.FAULTS))


def test_valid_segments_have_no_faults():
    check_segments([Segment(1.0, 2.0, "a"), Segment(0.0, 1.0, "b"), Segment(2.0, 3.0, "c")], 3.0)
    check_segments([Segment(0.0, 2.0, "a"), Segment(1.0, 3.0, "b")], may_overlap=True)


def test_segments_are_grouped_by_recording():
    segments = [Segment(0, 1, "a", file=file) for file in ("b.wav", "a.wav", None, "b.wav")]
    assert segments_by_file(segments) == {
        "b.wav": [segments[0], segments[3]],
        "a.wav": [segments[1]],
        None: [segments[2]],
    }
    assert list(segments_by_file(segments, "songs")) == ["songs/b.wav", "songs/a.wav", None]
