"""Tables of sounds: recordings matched with rows, times, and measured features."""

import numpy as np
import pytest

from kernova.audio.annotations import Segment, read_annotations, write_annotations
from kernova.discover.simulation import simulate
from kernova.errors import InputError
from kernova.media.opening import open_discovery_data
from tests.media import messages

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

RATE = 16000
HERTZ = {"low": 1000, "middle": 2500, "high": 5000}


@pytest.fixture
def songs(tmp_path):
    """Two recordings with ten notes each, of three kinds."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "songs"
    folder.mkdir()
    segments = []
    for name in ("a.wav", "b.wav"):
        samples = rng.normal(0, 0.001, 6 * RATE)
        for k in range(10):
            kind = ("low", "middle", "high")[k % 3]
            start, seconds = 0.2 + 0.5 * k, 0.08 + 0.02 * rng.random()
            first, n = round(start * RATE), round(seconds * RATE)
            hertz = HERTZ[kind] * (1 + 0.02 * rng.normal())
            samples[first : first + n] += 0.2 * np.sin(2 * np.pi * hertz * np.arange(n) / RATE)
            segments.append(Segment(start, start + seconds, kind, file=name))
        soundfile.write(folder / name, samples, RATE)
    return folder, segments


def intervals(data):
    return [(clip.start + clip.note_start, clip.note_end - clip.note_start)
            for clip in map(data.media.clip, range(len(data.table.ids)))]  # fmt: skip


def test_a_raven_table_and_a_folder_are_sufficient(songs, tmp_path):
    folder, segments = songs
    path = tmp_path / "songs.selections.txt"
    write_annotations(segments, path, format="raven", sample_rate=RATE)
    data = open_discovery_data(path, audio=folder)
    assert data.media.kind == "sound"
    assert data.table.ids.tolist()[:2] == ["1", "2"]
    assert data.table.features.columns[:3].tolist() == ["duration (s)", "centre (Hz)", "sound 1"]
    assert data.notes == [
        messages.LABELS_LEFT_OUT.format(column="Annotation"),
        messages.MEASURED,
        messages.NOT_A_FEATURE.format(column="Begin File"),
    ]
    for found, segment in zip(intervals(data), segments, strict=True):
        assert found == pytest.approx((segment.start, segment.end - segment.start), abs=1e-4)
    kinds = [segment.label for segment in segments]
    assert simulate(data.table.features.to_numpy(), kinds).questions_to_all <= 6


def test_existing_measurements_are_kept_and_times_are_no_features(songs, tmp_path):
    folder, segments = songs
    path = tmp_path / "measured.csv"
    lines = [f"{s.file},{s.start},{s.end},{HERTZ[s.label]},{s.label}" for s in segments]
    path.write_text("\n".join(["file,start,end,peak,label", *lines]) + "\n")
    data = open_discovery_data(path, label_column="label", audio=folder)
    assert list(data.table.features) == ["peak"]
    assert data.table.ids.tolist()[:2] == ["a.wav 0.200 s", "a.wav 0.700 s"]
    assert data.table.labels.tolist()[:3] == ["low", "middle", "high"]
    assert data.notes == [messages.NOT_A_FEATURE.format(column="file")]
    assert data.table.reader is None


def test_selections_that_raven_lists_per_view_are_one_row(songs, tmp_path):
    folder, segments = songs
    write_annotations(segments, tmp_path / "once.txt", format="raven")
    lines = (tmp_path / "once.txt").read_text().splitlines()
    views = [line.replace("Spectrogram 1", view) for line in lines[1:]
             for view in ("Waveform 1", "Spectrogram 1")]  # fmt: skip
    (tmp_path / "twice.txt").write_text("\n".join([lines[0], *views]) + "\n")
    once, twice = (
        open_discovery_data(tmp_path / name, audio=folder) for name in ("once.txt", "twice.txt")
    )
    assert once.table.ids.tolist() == twice.table.ids.tolist()
    np.testing.assert_array_equal(once.table.features, twice.table.features)


def test_times_of_concatenated_recordings_are_relative_to_each(songs, tmp_path):
    folder, segments = songs
    head = "Selection\tBegin Time (s)\tEnd Time (s)\tFile Offset (s)\tBegin File\tPeak Freq (Hz)"
    lines = [head]
    for number, segment in enumerate(segments, 1):
        shift = 6.0 if segment.file == "b.wav" else 0.0
        times = f"{segment.start + shift}\t{segment.end + shift}\t{segment.start}"
        lines.append(f"{number}\t{times}\t{segment.file}\t{HERTZ[segment.label]}")
    path = tmp_path / "table.txt"
    path.write_text("\n".join(lines) + "\n")
    data = open_discovery_data(path, audio=folder)
    assert list(data.table.features) == ["Peak Freq (Hz)"]
    starts = [start for start, _ in intervals(data)]
    np.testing.assert_allclose(starts, [segment.start for segment in segments], atol=1e-4)
    own = [segment.start for segment in read_annotations(path, columns={"label": "Begin File"})]
    np.testing.assert_allclose(starts, own, atol=1e-4)


@pytest.mark.parametrize("audio", ["songs", "songs/a.wav"])
def test_the_recording_of_a_table_is_found_by_its_name(songs, tmp_path, audio):
    _, segments = songs
    path = tmp_path / "a.Table.1.selections.txt"
    one = [segment._replace(file=None) for segment in segments if segment.file == "a.wav"]
    write_annotations(one, path, format="raven", sample_rate=RATE)
    data = open_discovery_data(path, audio=tmp_path / audio)
    assert [data.media.has(row) for row in range(10)] == [True] * 10


def test_a_table_without_audio_uses_its_own_features(songs, tmp_path):
    _, segments = songs
    path = tmp_path / "songs.selections.txt"
    boxed = [s._replace(low_hz=HERTZ[s.label] - 200, high_hz=5500) for s in segments[1:]]
    write_annotations([segments[0], *boxed], path, format="raven", sample_rate=RATE)
    data = open_discovery_data(path)
    assert list(data.table.features) == ["Low Freq (Hz)", "High Freq (Hz)"]
    assert data.media.kind == "none"
    write_annotations(segments, path, format="raven", sample_rate=RATE)
    with pytest.raises(InputError) as rejected:
        open_discovery_data(path)
    assert str(rejected.value) == messages.TIMES_ONLY.format(table=path)


def test_whole_recordings_are_matched_by_their_names(songs, tmp_path):
    folder, _ = songs
    path = tmp_path / "birds.csv"
    path.write_text("bird,weight\na,12.5\nb,13\nc,14\n")
    data = open_discovery_data(path, id_column="bird", audio=folder)
    assert [data.media.has(row) for row in range(3)] == [True, True, False]
    assert data.media.clip(0).seconds == pytest.approx(6)
    assert data.notes == [messages.WITHOUT.format(n="1 of 3", have="has", what="recording")]


def test_a_folder_of_recordings_is_sufficient(songs):
    folder, segments = songs
    for number, segment in enumerate(segments):
        samples, _ = soundfile.read(folder / segment.file)
        note = samples[round(segment.start * RATE) : round(segment.end * RATE)]
        (folder / "notes").mkdir(exist_ok=True)
        soundfile.write(folder / "notes" / f"{number:02d}.flac", note, RATE)
    data = open_discovery_data(folder / "notes")
    assert data.table.ids.tolist()[:2] == ["00.flac", "01.flac"]
    assert len(data.notes) == 1
    assert len(data.table.features.columns) == 10
    kinds = [segment.label for segment in segments]
    assert simulate(data.table.features.to_numpy(), kinds).questions_to_all <= 6


def test_whole_recordings_without_measurements_are_measured(songs, tmp_path):
    folder, _ = songs
    path = tmp_path / "birds.csv"
    path.write_text("file,species\na.wav,tit\nb.wav,finch\n")
    data = open_discovery_data(path, audio=folder)
    assert list(data.table.features)[:2] == ["duration (s)", "centre (Hz)"]
    assert data.table.features["duration (s)"].tolist() == [6.0, 6.0]
    assert data.notes[0] == messages.LABELS_LEFT_OUT.format(column="species")


@pytest.mark.parametrize(("options", "message"), messages.UNUSABLE_FOLDERS)
def test_unusable_folders_are_rejected(songs, options, message):
    folder, _ = songs
    (folder / "empty").mkdir()
    with pytest.raises(InputError) as rejected:
        open_discovery_data(folder if options else folder / "empty", **options)
    assert str(rejected.value) == message.format(folder=folder)


def test_sounds_follow_the_rows_that_are_kept(songs, tmp_path):
    folder, _ = songs
    path = tmp_path / "notes.csv"
    path.write_text("file,start,end,peak\na.wav,0.2,0.3,1\nb.wav,0.7,0.8,\nb.wav,1.2,1.3,3\n")
    data = open_discovery_data(path, missing="drop", audio=folder)
    assert data.table.ids.tolist() == ["a.wav 0.200 s", "b.wav 1.200 s"]
    assert [start for start, _ in intervals(data)] == pytest.approx([0.2, 1.2])


@pytest.mark.parametrize(("table", "audio", "message"), messages.UNUSABLE_SOUNDS)
def test_unusable_recordings_are_rejected(songs, tmp_path, table, audio, message):
    path = tmp_path / "t.csv"
    path.write_text(table)
    with pytest.raises(InputError) as rejected:
        open_discovery_data(path, audio=tmp_path / audio)
    assert str(rejected.value) == message.format(table=path, folder=tmp_path)


def test_finch_notes_are_discovered_in_few_questions(data_folder):
    folder = data_folder / "notes" / "bengalese_finch_bird0"
    unneeded = ["source_song", "source_start"]
    data = open_discovery_data(folder / "index.csv", drop=unneeded, audio=folder)
    kinds = [segment.label for segment in read_annotations(folder / "index.csv")]
    assert len(kinds) == len(data.table.ids) == 270
    # By random sampling about 24.
    assert simulate(data.table.features.to_numpy(), kinds).questions_to_all <= 18
