"""The note finder: from marked examples to every further instance."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

from kernova import Audio, InputError, NoteFinder, Segment, load_model, save_model
from kernova.audio.reading import chunks
from kernova.notes.evaluation import Compared, check_notes
from tests.notes import messages

RATE = 22050


def note(kind, rng, rate=RATE):
    """One note of a synthetic bird, a little different each time."""
    seconds = {"rise": 0.09, "fall": 0.07, "buzz": 0.11, "unknown": 0.08}[kind]
    t = np.arange(int(seconds * rng.uniform(0.93, 1.07) * rate)) / rate
    bent = t / t[-1]
    pitch = (
        rng.normal(0, 40)
        + {
            "rise": 2500 + 2500 * bent,
            "fall": 6000 - 3000 * bent,
            "buzz": 3000 + 400 * np.sign(np.sin(2 * np.pi * 90 * t)),
            "unknown": 4200 + 1500 * np.sin(6 * bent),
        }[kind]
    )
    sound = np.sin(2 * np.pi * np.cumsum(pitch) / rate)
    return 0.3 * rng.uniform(0.7, 1.3) * sound * np.hanning(len(t)) ** 0.3


def song(kinds, rng, rate=RATE, gap=(0.02, 0.15), noise=0.001):
    """Notes with gaps, in noise, and where they are."""
    pieces, truth, n = [np.zeros(int(0.3 * rate))], [], int(0.3 * rate)
    for kind in kinds:
        sound = note(kind, rng, rate)
        quiet = np.zeros(int(rng.uniform(*gap) * rate))
        truth.append(Segment(n / rate, (n + len(sound)) / rate, kind))
        pieces += [sound, quiet]
        n += len(sound) + len(quiet)
    samples = np.concatenate([*pieces, np.zeros(int(0.3 * rate))])
    return Audio(samples + rng.normal(0, noise, len(samples)), rate), truth


@pytest.fixture(scope="module")
def learnt():
    rng = np.random.default_rng(0)
    kinds = ["rise", "fall", "buzz"] * 6
    return NoteFinder().fit([Audio(note(kind, rng), RATE) for kind in kinds], kinds)


def kinds_drawn(rng, n):
    return rng.choice(["rise", "fall", "buzz", "unknown"], n).tolist()


def checked(finder, audio, truth):
    classes = [str(name) for name in finder.classes_]
    return check_notes([Compared(truth, finder.find(audio), audio.seconds)], classes)


def test_known_notes_are_found_and_unknown_ones_are_not(learnt):
    rng = np.random.default_rng(1)
    audio, truth = song(kinds_drawn(rng, 60), rng)
    check = checked(learnt, audio, truth)
    assert check.note_f > 0.95
    assert check.frame_error < 0.05


def test_notes_back_to_back_are_kept_apart(learnt):
    rng = np.random.default_rng(2)
    audio, truth = song(["rise", "rise", "fall", "rise", "buzz", "buzz"] * 5, rng, gap=(0, 0))
    assert checked(learnt, audio, truth).note_f > 0.9


def test_a_class_that_is_not_there_is_not_found(learnt):
    rng = np.random.default_rng(3)
    audio, _ = song(["unknown", "fall"] * 30, rng)
    found = [one.label for one in learnt.find(audio)]
    assert found.count("rise") == found.count("buzz") == 0
    assert found.count("fall") >= 27


@pytest.mark.parametrize("loudness", [0.03, 0.1, 3.0, 10.0, 32768.0])
def test_a_recording_may_be_louder_or_softer_than_the_examples(learnt, loudness):
    rng = np.random.default_rng(4)
    audio, truth = song(kinds_drawn(rng, 40), rng)
    assert checked(learnt, Audio(loudness * audio.samples, RATE), truth).note_f > 0.85


def test_a_recording_may_have_another_sample_rate(learnt):
    rng = np.random.default_rng(5)
    audio, truth = song(kinds_drawn(rng, 40), rng, rate=44100)
    assert checked(learnt, audio, truth).note_f > 0.9


def test_long_recordings_are_searched_in_chunks_without_a_seam(learnt, tmp_path):
    soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")
    rng = np.random.default_rng(6)
    audio, truth = song(kinds_drawn(rng, 900), rng)
    assert audio.seconds > 120
    assert len(list(chunks([audio.samples], RATE))) > 1
    path = tmp_path / "long.wav"
    soundfile.write(path, audio.samples, RATE, subtype="DOUBLE")
    found = learnt.find(path)
    assert found == learnt.find(audio)
    assert found == sorted(found)
    assert all(a.end <= b.start + 1e-6 for a, b in pairwise(found))
    check = check_notes([Compared(truth, found, audio.seconds)], ["buzz", "fall", "rise"])
    assert check.note_f > 0.95


def test_notes_are_learnt_from_annotations_as_from_clips():
    rng = np.random.default_rng(7)
    audio, truth = song(["rise", "fall"] * 6, rng)
    clips = [Audio(audio.samples[round(s.start * RATE) : round(s.end * RATE)], RATE) for s in truth]
    by_marks = NoteFinder().fit_recordings([(audio, truth[:6]), (audio, truth[6:])])
    by_clips = NoteFinder().fit(clips, [s.label for s in truth])
    np.testing.assert_array_equal(by_marks.n_notes_, [6, 6])
    assert by_marks.find(audio) == by_clips.find(audio)
    assert len(by_marks.find(audio)) == 12


def test_a_lower_threshold_finds_no_fewer_notes(learnt):
    rng = np.random.default_rng(8)
    audio, _ = song(kinds_drawn(rng, 40), rng)
    counts = [
        len(clone(learnt).set_params(threshold=least).fit(*_training()).find(audio))
        for least in (0.0, 0.3, 0.8, 0.99)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def _training():
    rng = np.random.default_rng(0)
    kinds = ["rise", "fall", "buzz"] * 6
    return [Audio(note(kind, rng), RATE) for kind in kinds], kinds


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"method": "pknn"},
        {"preset": "paper"},
        {"preset": "paper", "method": "pknn"},
        {"preset": "paper", "decoder": "viterbi"},
    ],
    ids=lambda parameters: " ".join(parameters.values()) or "default",
)
def test_every_preset_finds_saves_and_scans(parameters, tmp_path):
    rng = np.random.default_rng(9)
    audio, _ = song(kinds_drawn(rng, 12), rng)
    finder = NoteFinder(**parameters).fit(*_training())
    found = finder.find(audio)
    assert {one.label for one in found} <= {"rise", "fall", "buzz"}
    assert all(0 <= one.start < one.end <= audio.seconds for one in found)
    save_model(finder, tmp_path / "notes.kernova")
    assert load_model(tmp_path / "notes.kernova").find(audio) == found
    scan = finder.scan(audio, 0.2, 1.2)
    assert len(scan.times) == len(scan.levels) == len(scan.scores)
    assert scan.scores.shape[1] == len(finder.classes_) == 3
    assert scan.levels.shape[1] == len(scan.band_hz)
    assert scan.times[0] == pytest.approx(0.2, abs=0.005)
    assert scan.times[-1] == pytest.approx(1.2, abs=0.01)
    assert np.isfinite(scan.levels).all()
    assert np.isfinite(scan.scores).all()
    assert scan.scores.max() > 0


@pytest.mark.parametrize("n_samples", [0, 1, 95, 97, 400, 22050])
def test_silence_and_very_short_sound_have_no_notes(learnt, n_samples):
    assert learnt.find(Audio(np.zeros(n_samples), RATE)) == []
    hiss = np.random.default_rng(0).normal(0, 0.01, n_samples)
    assert learnt.find(Audio(hiss, RATE)) == []


@pytest.mark.parametrize("n_samples", [0, 1, 95, 97])
def test_the_preset_paper_takes_very_short_sound(n_samples):
    finder = NoteFinder(preset="paper").fit(*_training())
    assert finder.find(Audio(np.zeros(n_samples), RATE)) == []


@pytest.mark.parametrize("n_notes", [1, 2])
def test_one_or_two_notes_of_a_class_suffice(n_notes):
    rng = np.random.default_rng(10)
    kinds = ["rise", "fall"] * n_notes
    finder = NoteFinder().fit([Audio(note(kind, rng), RATE) for kind in kinds], kinds)
    audio, truth = song(["rise", "fall"] * 10, rng)
    assert checked(finder, audio, truth).note_f > 0.6


def clip(n_samples=2000, value=None):
    rng = np.random.default_rng(0)
    samples = rng.normal(size=n_samples) if value is None else np.full(n_samples, value)
    return Audio(samples, RATE)


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda: NoteFinder().fit([clip()], ["a", "b"]), messages.CLIPS_AND_LABELS),
        (lambda: NoteFinder().fit([], []), messages.NO_CLIPS),
        (lambda: NoteFinder().fit([clip(), clip(0)], ["a", "b"]), messages.CLIP_WITHOUT_SOUND),
        (lambda: NoteFinder().fit([clip(value=0.0)], ["a"]), messages.SILENT_CLIP),
        (lambda: NoteFinder().fit([Audio(np.ones(300), 1500)], ["a"]), messages.LOW_RATE),
        (
            lambda: NoteFinder(preset="paper").fit([clip(90)], ["a"]),
            messages.SHORT_NOTE.format(frame=4.4),
        ),
        (
            lambda: NoteFinder().fit([clip(), clip(90)], ["a", "a"]),
            messages.SHORT_NOTE.format(frame=8.0),
        ),
        (lambda: NoteFinder().fit([clip(value=np.nan)], ["a"]), messages.CLIP_NOT_FINITE),
    ],
)
def test_bad_examples_are_rejected(fit, message):
    with pytest.raises(InputError) as raised:
        fit()
    assert str(raised.value) == message


def test_annotations_past_the_end_are_rejected():
    with pytest.raises(InputError, match=r"'b' from 0\.05 s to 0\.5 s lies past the end"):
        NoteFinder().fit_recordings([(clip(), [Segment(0.0, 0.05, "a"), Segment(0.05, 0.5, "b")])])


def test_recordings_with_values_that_are_not_finite_are_rejected(learnt):
    samples = np.zeros(5000)
    samples[300] = np.nan
    with pytest.raises(InputError, match="NaN"):
        learnt.find(Audio(samples, RATE))


def test_clips_of_lower_rate_set_the_rate_of_the_model():
    rng = np.random.default_rng(11)
    clips = [Audio(note("rise", rng, rate), rate) for rate in (RATE, 44100, 32000)]
    finder = NoteFinder().fit(clips, ["rise"] * 3)
    assert finder.sample_rate_ == RATE


def test_one_channel_of_a_file_can_be_searched(learnt, tmp_path):
    soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")
    rng = np.random.default_rng(12)
    audio, _ = song(["rise", "fall"] * 5, rng)
    hiss = rng.normal(0, 0.2, len(audio.samples))
    path = tmp_path / "stereo.wav"
    soundfile.write(path, np.column_stack([hiss, audio.samples]), RATE, subtype="DOUBLE")
    finder = NoteFinder(channel=2).fit(*_training())
    assert finder.find(path) == learnt.find(audio)
    assert len(finder.find(path)) == 10
    assert len(finder.set_params(channel=1).find(path)) < 3
