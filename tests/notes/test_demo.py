"""Demonstration recordings: their annotations are where the sound is."""

import pytest
from numpy.testing import assert_array_equal

from kernova.audio.annotations import read_annotations
from kernova.audio.reading import read_audio
from kernova.notes.demo import SAMPLE_RATE, UNKNOWN, write_note_demo
from kernova.notes.training import read_training_annotations

pytest.importorskip("soundfile", reason="the extra `audio` is not installed")


def test_the_annotations_are_where_the_sound_is(tmp_path):
    files = write_note_demo(tmp_path)
    assert set(read_training_annotations([files.training, files.annotations]).labels) == {
        "rising",
        "falling",
        "buzz",
    }
    audio = read_audio(files.night / "dusk.wav")
    assert audio.sample_rate == SAMPLE_RATE
    notes = read_annotations(files.truth[0])
    assert UNKNOWN not in {note.label for note in notes}
    loud = abs(audio.samples) > 0.05
    for note in notes:
        inside = loud[round(note.start * SAMPLE_RATE) : round(note.end * SAMPLE_RATE)]
        before = loud[round((note.start - 0.03) * SAMPLE_RATE) : round(note.start * SAMPLE_RATE)]
        assert inside.mean() > 0.3
        assert not before.any()
    again = write_note_demo(tmp_path)
    assert_array_equal(read_audio(again.night / "dusk.wav").samples, audio.samples)
