"""Birds that nobody has heard: plain clips, songs of synthetic notes, and folders of both."""

import numpy as np
import pytest

from kernova.audio.reading import Audio
from kernova.papers.mddkm_notes.data import (
    SAMPLE_RATE,
    AnnotatedSong,
    NoteSet,
    joined,
    synthetic_notes,
)

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

RATE = 8000


def plain_set(n_each=6, n_recordings=3, names="abcd"):
    """Clips of unlike samples; of each class there are a few recordings."""
    labels = [name for name in names for _ in range(n_each)]
    clips = [Audio(np.full(100 + place, 0.01 * place), RATE) for place in range(len(labels))]
    recordings = [f"{label}{place % n_recordings}" for place, label in enumerate(labels)]
    return NoteSet("plain", tuple(clips), tuple(labels), tuple(recordings))


def bird(name, keep, n_each, n_songs=0):
    """Some classes of synthetic notes, and songs of further ones with quiet between them."""
    notes = synthetic_notes(n_each, seed=3)
    places = [place for place, label in enumerate(notes.labels) if label in keep]
    return NoteSet(
        name,
        tuple(notes.clips[place] for place in places),
        tuple(notes.labels[place] for place in places),
        tuple(map(str, places)),
        synthetic_songs(keep, n_songs),
    )


def synthetic_songs(keep, n_songs, n_each=3):
    rng = np.random.default_rng(5)
    songs = []
    for number in range(n_songs):
        notes = synthetic_notes(n_each, seed=50 + number)
        order = rng.permutation([p for p, label in enumerate(notes.labels) if label in keep])
        quiet = rng.normal(0, 0.003, (len(order) + 1, round(0.12 * SAMPLE_RATE)))
        clip = joined(notes, order, list(quiet[1:]))
        first = np.resize(quiet[0], SAMPLE_RATE // 2)
        samples = np.concatenate([first, clip.audio.samples, first])
        late = len(first) / SAMPLE_RATE
        marks = [n._replace(start=n.start + late, end=n.end + late) for n in clip.notes]
        songs.append(AnnotatedSong(f"{number}.wav", Audio(samples, SAMPLE_RATE), tuple(marks)))
    return tuple(songs)


def write_set(notes, folder):
    """Write a set as a folder of notes."""
    (folder / "clips").mkdir(parents=True)
    lines = ["file,label,recording"]
    for place, (clip, label) in enumerate(zip(notes.clips, notes.labels, strict=True)):
        soundfile.write(folder / "clips" / f"{place}.wav", clip.samples, clip.sample_rate)
        lines.append(f"clips/{place}.wav,{label},{notes.recordings[place]}")
    (folder / "index.csv").write_text("\n".join(lines))
    if notes.songs:
        (folder / "songs").mkdir()
        marks = ["file,label,start,end"]
        for song in notes.songs:
            soundfile.write(folder / "songs" / song.name, song.audio.samples, SAMPLE_RATE)
            marks += [f"{song.name},{n.label},{n.start!r},{n.end!r}" for n in song.notes]
        (folder / "songs" / "annotations.csv").write_text("\n".join(marks))
