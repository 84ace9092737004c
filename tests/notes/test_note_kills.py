"""A search killed at any moment: what is done stays, what was left goes, and the rest is done."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernova.notes.journal import JOURNAL_NAME
from tests.notes.loud_finder import write_song
from tests.notes.test_note_search import NOTES, contents, outcomes, search

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


def running(songs, out, drawing=0.002):
    command = [sys.executable, "-c", RUN, str(songs), str(out), str(drawing)]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def run_and_kill(songs, out, n_lines, delay):
    """Run until it has said so much, and a little longer; give what was done."""
    with running(songs, out) as process:
        said = []
        for line in process.stdout:
            said.append(line.strip())
            if len(said) > n_lines:
                time.sleep(delay)
                process.send_signal(signal.SIGKILL)
                break
        said += [line.strip() for line in process.stdout]
    return said[1:]


def test_what_a_killed_writer_left_is_cleared_away(tmp_path):
    songs = tmp_path / "songs"
    for name in ("a", "b", "c"):
        write_song(songs / f"{name}.wav", *NOTES)

    def draw(recording, segments, path):
        path.write_text(str(len(segments)))

    out = tmp_path / "out"
    with running(songs, out, drawing=60) as process:
        deadline = time.monotonic() + 60
        while not list(out.glob(".a-*.png")) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert len(list(out.glob(".a-*.png"))) == 1
    assert set(outcomes(search(songs, out, draw=draw)).values()) == {"searched"}
    assert {path.name for path in out.iterdir()} == {
        "a.csv", "a.png", "b.csv", "b.png", "c.csv", "c.png", JOURNAL_NAME,
    }  # fmt: skip


@pytest.mark.soak
def test_killed_at_any_moment_it_goes_on_and_comes_to_the_same(tmp_path, long_bar):
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
            said = [line.rsplit(" ", 1) for line in run_and_kill(
                songs, out, len(done) + chance.randrange(1, 12), chance.uniform(0, 0.01)
            )]  # fmt: skip
            before = {name for outcome, name in said if outcome == "done before"}
            assert done & {name for _, name in said} <= before
            done |= {name for _, name in said}
            for name, content in last_time.items():
                if name.endswith((".csv", ".png")) and not Path(name).name.startswith("."):
                    assert contents(out)[name] == content
        run_and_kill(songs, out, 99, 0)
        results, expected = contents(out), contents(whole)
        del results[JOURNAL_NAME], expected[JOURNAL_NAME]
        assert results == expected
