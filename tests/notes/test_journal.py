"""Journal of a search: damaged and foreign journals, and searches killed at any moment."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernova.errors import InputError
from kernova.notes.journal import JOURNAL_NAME, NoteJournal
from tests.notes import messages
from tests.notes.loud_finder import write_song
from tests.notes.searching import NOTES, contents, outcomes, search, write_songs

RUN = """
import sys, time
from pathlib import Path
from kernova.notes.search import SearchSettings, recordings_in, search_recordings
from tests.notes.loud_finder import LoudFinder

def draw(recording, segments, path):
    from kernova.files import replacing
    with replacing(path) as scratch:
        scratch.write_text(str(len(segments)))
        time.sleep(float(sys.argv[3]))  # so that kills come here, too

print("ready", flush=True)
for result in search_recordings(
    LoudFinder(), recordings_in([sys.argv[1]]), sys.argv[2], SearchSettings("csv"), draw=draw
):
    print(result.outcome, result.path.name, flush=True)
    time.sleep(0.002)
"""


@pytest.fixture
def songs(tmp_path):
    return write_songs(tmp_path / "songs")


def test_one_search_at_a_time(songs, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    with NoteJournal(out), pytest.raises(InputError) as raised:
        search(songs, out)
    assert str(raised.value) == messages.ANOTHER_SEARCH.format(path=out)
    assert len(search(songs, out)) == 3


@pytest.mark.parametrize("content", messages.JOURNALS)
def test_foreign_journals_are_rejected(songs, tmp_path, content):
    path = tmp_path / JOURNAL_NAME
    path.write_text(content)
    with pytest.raises(InputError) as raised:
        search(songs, tmp_path)
    assert str(raised.value) == messages.JOURNALS[content].format(path=path)
    assert path.read_text() == content


@pytest.mark.parametrize("length", range(21))
def test_a_journal_cut_in_its_first_line_begins_anew(songs, tmp_path, length):
    path = tmp_path / JOURNAL_NAME
    path.write_text('{"kernova_notes": 1}\n'[:length])
    with NoteJournal(tmp_path) as journal:
        assert journal.finished == {}
    assert path.read_text() == '{"kernova_notes": 1}\n'


def test_names_in_a_journal_stay_in_the_folder(songs, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    song = str(songs / "a.wav")
    begun = [{"begun": song, "name": name, "results": ["../a.csv"]} for name in ("../a", "/a", 7)]
    lines = [{"kernova_notes": 1}, *begun]
    (out / JOURNAL_NAME).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (result, *_) = search(songs, out)
    assert result.files == (out / "a.csv",)


# --- kills ----------------------------------------------------------------------------------------


def running(songs, out, drawing=0.002):
    command = [sys.executable, "-c", RUN, str(songs), str(out), str(drawing)]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def run_and_kill(songs, out, n_lines, delay):
    """Run until it has printed so many lines, and a little longer; return what was done."""
    with running(songs, out) as process:
        printed = []
        for line in process.stdout:
            printed.append(line.strip())
            if len(printed) > n_lines:
                time.sleep(delay)
                process.send_signal(signal.SIGKILL)
                break
        printed += [line.strip() for line in process.stdout]
    return printed[1:]


def test_leftovers_of_a_killed_search_are_removed(tmp_path):
    songs = tmp_path / "songs"
    for name in ("a", "b", "c"):
        write_song(songs / f"{name}.wav", *NOTES)

    def draw(recording, segments, path):
        path.write_text(str(len(segments)))

    out = tmp_path / "out"
    with running(songs, out, drawing=60) as process:
        deadline = time.monotonic() + 60
        while not list(out.glob(".kernova-*.png")) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert len(list(out.glob(".kernova-*.png"))) == 1
    assert set(outcomes(search(songs, out, draw=draw)).values()) == {"searched"}
    assert {path.name for path in out.iterdir()} == {
        "a.csv", "a.png", "b.csv", "b.png", "c.csv", "c.png", JOURNAL_NAME,
    }  # fmt: skip


@pytest.mark.soak
def test_a_search_killed_at_any_moment_resumes_to_the_same_results(tmp_path, long_bar):
    chance = random.Random(0)
    songs = tmp_path / "songs"
    names = [f"{place:02}.wav" for place in range(20)]
    for place, name in enumerate(names):
        write_song(songs / str(place % 3) / name, *NOTES[: place % 3])
    whole = tmp_path / "whole"
    run_and_kill(songs, whole, 99, 0)
    for trial in range(long_bar(10)):
        out, done = tmp_path / f"out{trial}", set()
        while len(done) < len(names):
            last_time = contents(out)
            printed = [line.rsplit(" ", 1) for line in run_and_kill(
                songs, out, len(done) + chance.randrange(1, 12), chance.uniform(0, 0.01)
            )]  # fmt: skip
            before = {name for outcome, name in printed if outcome == "done before"}
            assert done & {name for _, name in printed} <= before
            done |= {name for _, name in printed}
            for name, content in last_time.items():
                if name.endswith((".csv", ".png")) and not Path(name).name.startswith("."):
                    assert contents(out)[name] == content
        run_and_kill(songs, out, 99, 0)
        results, expected = contents(out), contents(whole)
        del results[JOURNAL_NAME], expected[JOURNAL_NAME]
        assert results == expected
