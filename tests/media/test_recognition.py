"""Models learnt from landmarks or sounds, applied to new landmarks and sounds."""

import numpy as np
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from kernova.errors import InputError
from kernova.media.opening import open_discovery_data
from kernova.persist.models import load_model
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.tps import write_tps
from kernova.workbench.recognizer import learn_from_answers
from kernova.workflows.recognize import load_recognizer, read_new, recognize_rows
from tests.media import messages

pytestmark = pytest.mark.usefixtures("few_trees")

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

RATE = 16000
SHAPES = {
    "leaf": [[0, 0], [1, 0.5], [2, 0.6], [3, 0.4], [4, 0], [2, -0.6]],
    "arrow": [[0, 0], [1, 0.1], [2, 0.1], [3, 1.0], [4, 0], [3, -1.0]],
    "heart": [[0, 0], [1, 1.5], [2, 0.9], [3, 1.5], [4, 0], [2, -2.0]],
}


def specimens(path, kinds, seed):
    rng = np.random.default_rng(seed)
    placed = []
    for kind in kinds:
        angle, size = rng.uniform(0, 6), rng.uniform(1, 5)
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        shape = np.array(SHAPES[kind]) + rng.normal(0, 0.05, size=(6, 2))
        placed.append(size * shape @ turn + rng.normal(size=2))
    ids = tuple(f"{kind}-{k}" for k, kind in enumerate(kinds))
    write_tps(Landmarks(ids, np.stack(placed)), path)
    return path


def songs(folder, kinds, seed):
    """Write a recording of notes of different pitch, and a table of them."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    samples = rng.normal(0, 0.001, (len(kinds) + 1) * RATE // 4)
    lines = ["start,end"]
    for k, kind in enumerate(kinds):
        first, n = k * RATE // 4 + RATE // 20, RATE // 10 + rng.integers(200)
        hertz = {"low": 1000, "middle": 2200, "high": 4500}[kind] * (1 + 0.02 * rng.normal())
        samples[first : first + n] += 0.2 * np.sin(2 * np.pi * hertz * np.arange(n) / RATE)
        lines.append(f"{first / RATE},{(first + n) / RATE}")
    soundfile.write(folder / "song.wav", samples, RATE)
    (folder / "notes.csv").write_text("\n".join(lines) + "\n")
    return folder / "notes.csv"


@pytest.fixture
def shape_model(tmp_path):
    kinds = ["leaf", "arrow"] * 33
    data = open_discovery_data(specimens(tmp_path / "known.tps", kinds, 0))
    learn_from_answers(data.table, kinds[:60] + [None] * 6).save(tmp_path / "model.kernova")
    return tmp_path / "model.kernova"


@pytest.fixture
def sound_model(tmp_path):
    kinds = ["low", "middle"] * 30
    data = open_discovery_data(songs(tmp_path / "known", kinds, 0), audio=tmp_path / "known")
    learn_from_answers(data.table, kinds).save(tmp_path / "model.kernova")
    return tmp_path / "model.kernova"


def test_new_specimens_are_superimposed_on_the_learnt_consensus(shape_model, tmp_path):
    kinds = ["leaf"] * 8 + ["arrow"] * 8 + ["heart"] * 8
    new = specimens(tmp_path / "new.tps", kinds, 1)
    model = load_recognizer(shape_model)
    found = recognize_rows(model, read_new(new, model)).rows["recognized"].to_numpy()
    assert (found[16:] == "unknown").all()
    # How strict to be is learning's business; that none is taken for another class is ours.
    assert set(found[:8]) <= {"leaf", "unknown"}
    assert set(found[8:16]) <= {"arrow", "unknown"}
    assert (found[:16] != "unknown").sum() >= 6


def test_known_specimens_have_the_columns_they_were_learnt_with(shape_model, tmp_path):
    model = load_recognizer(shape_model)
    again = read_new(tmp_path / "known.tps", model)
    np.testing.assert_allclose(again.features[:60], model.known_table, atol=1e-9)


def test_the_command_reads_landmarks(shape_model, tmp_path):
    new = specimens(tmp_path / "new.tps", ["heart"] * 3, 1)
    result = CliRunner().invoke(app, ["recognize", str(shape_model), str(new)])
    assert result.exit_code == 0
    assert result.stdout.startswith("Of 3 new rows, 0 recognised as one of 2 classes ")
    assert " 3 unknown." in result.stdout


def test_new_sounds_are_measured_like_the_learnt_ones(sound_model, tmp_path):
    kinds = ["low"] * 6 + ["middle"] * 6 + ["high"] * 6
    new = songs(tmp_path / "new", kinds, 1)
    model = load_recognizer(sound_model)
    table = read_new(new, model, audio=tmp_path / "new")
    found = recognize_rows(model, table).rows["recognized"].to_numpy()
    assert (found[12:] == "unknown").all()
    assert set(found[:6]) <= {"low", "unknown"}
    assert set(found[6:12]) <= {"middle", "unknown"}
    assert (found[:12] != "unknown").sum() >= 4


def test_the_command_reads_sounds(sound_model, tmp_path):
    new = songs(tmp_path / "new", ["high"] * 3, 1)
    words = ["recognize", str(sound_model), str(new), "--audio", str(tmp_path / "new")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0
    assert "3 unknown." in result.stdout


def test_other_landmarks_are_rejected(shape_model, tmp_path):
    write_tps(
        Landmarks(("a",), np.random.default_rng(0).normal(size=(1, 5, 2))), tmp_path / "n.tps"
    )
    with pytest.raises(InputError) as rejected:
        read_new(tmp_path / "n.tps", load_recognizer(shape_model))
    assert str(rejected.value) == messages.OTHER_LANDMARKS


def test_recordings_with_a_low_sample_rate_are_rejected(sound_model, tmp_path):
    soundfile.write(tmp_path / "low.wav", np.zeros(2000), 2000)
    (tmp_path / "low.csv").write_text("start,end\n0.1,0.2\n")
    with pytest.raises(InputError) as rejected:
        read_new(tmp_path / "low.csv", load_recognizer(sound_model), audio=tmp_path / "low.wav")
    assert str(rejected.value) == messages.LOW_RATE


def test_other_kinds_of_data_are_rejected(shape_model, tmp_path):
    model = load_recognizer(shape_model)
    new = songs(tmp_path / "new", ["low"] * 3, 1)
    with pytest.raises(InputError) as rejected:
        read_new(new, model, audio=tmp_path / "new")
    assert str(rejected.value) == messages.OTHER_DATA.format(
        file=new, got="sounds", known="landmarks"
    )


def test_a_model_of_sounds_requires_audio(sound_model, tmp_path):
    with pytest.raises(InputError) as rejected:
        read_new(tmp_path / "known" / "notes.csv", load_recognizer(sound_model))
    table = tmp_path / "known" / "notes.csv"
    assert str(rejected.value) == messages.NO_AUDIO.format(file=table)


def test_models_of_tables_have_no_reader_and_reject_landmarks(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("length\n" + "".join(f"{k % 2 * 10 + k / 10}\n" for k in range(20)))
    data = open_discovery_data(table)
    learn_from_answers(data.table, ["a", "b"] * 10).save(tmp_path / "model.kernova")
    assert load_model(tmp_path / "model.kernova").reader is None
    new = specimens(tmp_path / "new.tps", ["leaf"] * 3, 1)
    with pytest.raises(InputError) as rejected:
        read_new(new, load_recognizer(tmp_path / "model.kernova"))
    assert str(rejected.value) == messages.OTHER_DATA.format(
        file=new, got="landmarks", known="a table of features"
    )
