"""Note sets, splits, and joined and silenced sounds."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernova.audio.annotations.segments import Segment
from kernova.audio.reading import Audio
from kernova.errors import InputError
from kernova.papers.mddkm_notes.data import (
    Clip,
    draw_split,
    joined,
    note_folders,
    quiet_part,
    read_note_set,
    silenced,
    song_clips,
    spaced,
    synthetic_notes,
)
from kernova.papers.mddkm_notes.experiments import JOINED_SEEDS
from tests.notes.made_up_birds import RATE, bird, plain_set, write_set
from tests.papers import messages


@pytest.fixture(scope="module")
def whistles():
    return synthetic_notes()


# --- splits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_training_notes_and_searched_notes_have_no_recording_in_common(seed):
    notes = plain_set()
    split = draw_split(notes, 2, seed)
    assert len(split.classes) == 3 == len(set(split.classes))
    assert split.classes == sorted(split.classes)
    assert [notes.labels[index] for index in split.train] == [
        n for n in split.classes for _ in "12"
    ]
    assert len(set(split.train)) == 6
    used = {notes.recordings[index] for index in split.train}
    free = [index for index, recording in enumerate(notes.recordings) if recording not in used]
    assert sorted(split.rest) == free
    # Every foreign note is among the others.
    assert {*notes.of_class(next(iter(set("abcd") - set(split.classes))))} <= {*split.rest}


def test_clips_that_are_recordings_by_themselves_are_all_searched(whistles):
    splits = [draw_split(whistles, 2, seed) for seed in JOINED_SEEDS]
    for split in splits:
        assert sorted([*split.train, *split.rest]) == list(range(56))
    assert len({tuple(split.classes) for split in splits}) > 10
    assert len({tuple(split.rest) for split in splits}) == len(splits)
    again = draw_split(whistles, 2, JOINED_SEEDS[3])
    assert_array_equal(again.rest, splits[3].rest)


@pytest.mark.parametrize(
    ("notes", "n_each", "sentence"),
    [
        (plain_set(names="ab"), 2, messages.FEW_CLASSES.format(name="plain", n=2)),
        (plain_set(names="abc"), 7, messages.FEW_NOTES),
    ],
)
def test_too_few_notes_are_rejected(notes, n_each, sentence):
    with pytest.raises(InputError) as caught:
        draw_split(notes, n_each, 0)
    assert str(caught.value) == sentence


# --- sounds ---------------------------------------------------------------------------------------


def test_joined_clips_follow_each_other_and_know_where_they_are():
    notes = plain_set()
    order = [7, 2, 19]
    clip = joined(notes, order)
    assert_array_equal(clip.audio.samples, np.concatenate([notes.clips[i].samples for i in order]))
    assert [note.label for note in clip.notes] == ["b", "a", "d"]
    for earlier, later in itertools.pairwise(clip.notes):
        assert earlier.end == later.start
    assert clip.notes[-1].end == clip.audio.seconds
    gaps = [np.full(50, -1.0), np.full(30, -2.0)]
    apart = joined(notes, order, gaps)
    for note, index in zip(apart.notes, order, strict=True):
        cut = apart.audio.samples[round(note.start * RATE) : round(note.end * RATE)]
        assert_array_equal(cut, notes.clips[index].samples)
    assert len(apart.audio.samples) == len(clip.audio.samples) + 50 + 30 + 50


def loud_song():
    """Noise, louder towards the end, with notes of two classes; one pair touches."""
    rng = np.random.default_rng(0)
    samples = rng.normal(0, 1, 3 * RATE) * np.linspace(0.01, 0.05, 3 * RATE)
    notes = [(0.3, 0.4, "a"), (1.0, 1.1, "a"), (1.1, 1.2, "b"), (1.6, 1.7, "b"), (2.9, 3.0, "a")]
    for start, end, _ in notes:
        samples[round(start * RATE) : round(end * RATE)] += 0.8
    return Clip(Audio(samples, RATE), tuple(Segment(*note) for note in notes))


def test_the_quiet_part_is_quiet_and_touches_no_note():
    song = loud_song()
    quiet = quiet_part(song)
    assert len(quiet) == RATE // 2
    windows = np.lib.stride_tricks.sliding_window_view(song.audio.samples, len(quiet))
    (first,) = np.flatnonzero((windows == quiet).all(axis=1))
    for note in song.notes:
        assert first + len(quiet) <= (note.start - 0.0049) * RATE or first >= note.end * RATE
    # The noise grows: the first part between notes is the quietest.
    assert 0.4 <= first / RATE <= 0.45


def test_a_silenced_class_is_gone_and_the_other_is_untouched():
    song = loud_song()
    without = silenced(song, "a")
    assert [note.label for note in without.notes] == ["b", "b"]
    before, after = song.audio.samples, without.audio.samples
    assert len(before) == len(after)
    for start, end, label, *_ in song.notes:
        inside = slice(round(start * RATE) + 8, round(end * RATE) - 8)
        if label == "a":
            assert np.abs(after[inside]).max() < 0.3
        else:
            assert_array_equal(after[inside], before[inside])
    changed = np.flatnonzero(before != after) / RATE
    for time in changed:
        assert any(n.start - 0.006 <= time <= n.end + 0.006 for n in song.notes if n.label == "a")
    # No fringe reaches into a note that touches.
    assert not ((changed >= 1.1) & (changed <= 1.2)).any()
    assert_array_equal(silenced(song, "never").audio.samples, before)


def test_a_song_without_silence_is_rejected():
    full = Clip(Audio(np.ones(RATE), RATE), (Segment(0.0, 1.0, "a"),))
    with pytest.raises(InputError) as caught:
        quiet_part(full)
    assert str(caught.value) == messages.NO_SILENCE


def test_spaced_notes_have_noise_as_quiet_as_their_quietest_parts(whistles):
    clip = spaced(whistles)
    assert sorted(note.label for note in clip.notes) == sorted(whistles.labels)
    first, second = clip.notes[:2]
    rate = whistles.sample_rate
    gap = clip.audio.samples[round(first.end * rate) : round(second.start * rate)]
    assert len(gap) == round(0.25 * rate)
    assert 0.002 < gap.std() < 0.2


# --- folders --------------------------------------------------------------------------------------


def test_a_folder_is_read_as_it_was_written(tmp_path):
    aviary = bird("aviary", ("rise", "hill", "low stack", "high stack"), n_each=6, n_songs=2)
    folder = tmp_path / "deep" / "bird"
    write_set(aviary, folder)
    read = read_note_set(folder)
    assert read.name == "bird"
    assert (read.labels, read.recordings) == (aviary.labels, aviary.recordings)
    for one, other in zip(read.clips, aviary.clips, strict=True):
        assert_allclose(one.samples, other.samples, atol=1e-4)
    assert [song.name for song in read.songs] == ["0.wav", "1.wav"]
    assert [n[:3] for n in read.songs[1].notes] == [n[:3] for n in aviary.songs[1].notes]
    assert note_folders(folder) == note_folders(folder.parent) == [folder]


def test_without_a_column_of_recordings_every_clip_is_one(tmp_path):
    write_set(plain_set(n_each=1), tmp_path / "bird")
    index = tmp_path / "bird" / "index.csv"
    rows = [line.split(",")[:2] for line in index.read_text().splitlines()]
    index.write_text("\n".join(",".join(row) for row in rows).replace(",a", ",01"))
    read = read_note_set(tmp_path / "bird", "wren")
    assert read.recordings == tuple(f"clips/{index}.wav" for index in range(4))
    assert read.labels == ("01", "b", "c", "d")
    assert (read.name, read.songs) == ("wren", ())
    with pytest.raises(InputError) as caught:
        song_clips(read)
    assert str(caught.value) == messages.NO_SONGS.format(name="wren")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("file,name\n1.wav,a\n", messages.NO_LABEL_COLUMN),
        ("file,label\n1.wav,\n", messages.NO_NOTE),
    ],
)
def test_an_index_without_notes_is_rejected(text, sentence, tmp_path):
    (tmp_path / "index.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_note_set(tmp_path)
    assert str(caught.value) == sentence.format(path=tmp_path / "index.csv")
