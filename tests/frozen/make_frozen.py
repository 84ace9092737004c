"""Freeze what the landed version gives, before the restructuring; see ``tests/data``.

Run it with the landed version, never with the one under ``src`` of this checkout::

    cd CHECKOUT
    OMP_NUM_THREADS=1 PYTHONPATH=LANDED/src .venv/bin/python -m tests.frozen.make_frozen [PART ...]

where LANDED is an untouched checkout of the landed version with its ``docs``. Parts are
``inputs``, ``tables``, ``models``, ``outputs``, ``projects``, ``notes``, ``commands`` and ``page``,
in this order; all of them by default. Everything is computed twice; what differs is reported.

Fit any ``HierarchicalMeanShift`` and ``GaussianMeanShift`` in another process before, so that numba
loads what it has compiled: the process that compiles gets other last digits.
"""

import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import kernova

from . import model_recipes, outputs_media, outputs_tables, sessions
from .drawn_inputs import draw_inputs
from .landed_pages import page_scenes, write_tables
from .model_answers import answers, restored_input, stored_input
from .page import played
from .running import outcome_of, run_command, unlike, working_in
from .scenes import prepare, scenes, write_sounds
from .storage import DATA, differences, flatten, joined, pack, split

ROOT = Path(__file__).parents[2]
LANDED = Path(kernova.__file__).parents[2]
MODELS, PROJECTS, NOTES = DATA / "models", DATA / "projects", DATA / "notes_run"
SLOW_SECONDS = 1.0
IRISES = "known.csv new.csv --id-column specimen --drop species --max-false-alarm 0.1"
METHODS = ("depth", "spatial-depth", "isolation-forest", "one-class-svm", "lof")
FORMATS = ("raven", "audacity", "textgrid", "csv")


def main():
    """Make the parts that are named, or all."""
    if LANDED == ROOT:
        sys.exit("Set PYTHONPATH to the src folder of the landed version; this is the new one.")
    print(f"freezing kernova of {LANDED}")
    for name in sys.argv[1:] or list(PARTS):
        began = time.monotonic()
        PARTS[name]()
        print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)


def make_inputs():
    """Draw the inputs."""
    np.savez_compressed(DATA / "frozen_inputs.npz", **draw_inputs())


def make_tables():
    """Write the tables that commands read."""
    write_tables(LANDED)


def make_outputs():
    """Freeze the outputs of public names."""
    cases = {**outputs_tables.CASES, **outputs_media.CASES}
    first = joined({name: compute() for name, compute in cases.items()})
    packed = split(first)
    for name, compute in cases.items():
        _report(name, differences(compute(), packed[name]))
    np.savez_compressed(DATA / "frozen_outputs.npz", **first)


# Models


def make_models():
    """Save a model of every kind, and what it answers."""
    shutil.rmtree(MODELS, ignore_errors=True)
    MODELS.mkdir()
    for name, (model, value) in model_recipes.recipes().items():
        _freeze_model(name, model, value)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one in ("known.csv", "new.csv", "fish.tps", "species.csv"):
            shutil.copyfile(DATA / "tables" / one, folder / one)
        write_sounds(folder)
        for one, (model, value) in model_recipes.learnt_from_files(folder).items():
            _freeze_model(one, model, value)
        with working_in(folder):
            _freeze_commands_models()


def _freeze_commands_models():
    """Freeze the models that commands write."""
    table = kernova.read_table("new.csv", id_column="specimen", label_column="species").features
    table = table[::4].reset_index(drop=True)
    song = outputs_media.song_of_inputs()
    written = {
        **{f"command-novelty-{m}": (f"novelty {IRISES} --method {m} --save-model", table)
           for m in METHODS},
        "command-learn": ("learn known.csv --label-column species --id-column specimen -o", table),
        "command-notes-song": ("notes learn song.wav song.txt -o", song),
        "command-notes-paper": (
            "notes learn song.wav song.txt --preset paper --labels falling -o", song,
        ),
    }  # fmt: skip
    for name, (command, value) in written.items():
        path = f"{name}.kernova"
        code, _, complaints = run_command([*command.split(), path])
        assert code == 0, complaints
        _freeze_model(name, kernova.load_model(path), value)
        shutil.copyfile(path, MODELS / path)


def _freeze_model(name, model, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as types that would have to be trusted
        kernova.save_model(model, MODELS / f"{name}.kernova")
    given = stored_input(value)
    value = restored_input(given)
    expected = pack(flatten(answers(model, value)))
    loaded = kernova.load_model(MODELS / f"{name}.kernova")
    _report(name, differences(answers(loaded, value), expected))
    np.savez_compressed(
        MODELS / f"{name}.npz",
        **{f"input|{key}": array for key, array in given.items()},
        **{f"output|{key}": array for key, array in expected.items()},
    )


# Projects


def make_projects():
    """Hold a session with every strategy, and keep its file and what it says of itself."""
    shutil.rmtree(PROJECTS, ignore_errors=True)
    PROJECTS.mkdir()
    expected = {}
    for name in sessions.PROJECTS:
        path = PROJECTS / f"{name}.kernova-project"
        sessions.speak(sessions.start(name, path)).close()
        expected[name] = _project_says(name, path)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain"
        sessions.speak_plainly(sessions.start("strangers-and-crowds", plain)).close()
        old = PROJECTS / "format-1.kernova-project"
        _write_format_1(plain, old)
        expected["format-1"] = _project_says("strangers-and-crowds", old)
    _make_project_of_the_command(expected)
    text = json.dumps(expected, separators=(",", ":"))
    (PROJECTS / "expected.json").write_text(text.replace('},"', '},\n"') + "\n")


def _project_says(name, path):
    """Ask copies of the project, since asking goes on with it."""
    found = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copyfile(path, Path(folder) / path.name)
            with sessions.start(name, copy) as session:
                found.append(json.loads(json.dumps(sessions.everything(session))))
    _report(path.name, [] if found[0] == found[1] else ["two readings differ"])
    return found[0]


def _write_format_1(source, target):
    """Write a project as format 1 had it: without experts, keys and digest."""
    with sqlite3.connect(source) as old, sqlite3.connect(target) as new:
        new.executescript(
            """
            CREATE TABLE head (name TEXT PRIMARY KEY, value NOT NULL);
            CREATE TABLE events
                (number INTEGER PRIMARY KEY, written TEXT NOT NULL, event TEXT NOT NULL);
            PRAGMA application_id = 0x6B6E7661;
            PRAGMA user_version = 1;
            """
        )
        head = old.execute("SELECT name, value FROM head").fetchall()
        events = old.execute("SELECT number, written, event FROM events").fetchall()
        new.executemany("INSERT INTO head VALUES (?, ?)", head)
        new.executemany("INSERT INTO events VALUES (?, ?, ?)", events)
    old.close()
    new.close()


def _make_project_of_the_command(expected):
    """Keep a project of ``kernova discover`` with the file beside it that keeps preparations."""
    words = ["discover", "rare.csv", "--id-column", "row", "--drop", "kind", "--terminal"]
    words += ["--project", "command.kernova-project", "--json"]
    with tempfile.TemporaryDirectory() as folder, working_in(folder):
        shutil.copyfile(DATA / "tables" / "rare.csv", "rare.csv")
        said = "cod\neel\nskip\nall cod\nundo\npike\nchange 1 = tench\nrename eel = conger\n"
        code, _, complaints = run_command(words, said)
        assert code == 0, complaints
        for path in Path().glob("command.kernova-project*"):
            shutil.copyfile(path, PROJECTS / path.name)
        expected["command"] = outcome_of(words, "bream\n")["json"]


# Notes


def make_notes():
    """Keep the folder of a search for notes: its journal, and its results in every format."""
    shutil.rmtree(NOTES, ignore_errors=True)
    NOTES.mkdir()
    with tempfile.TemporaryDirectory() as name, working_in(name):
        folder = Path(name).resolve()
        write_sounds(folder)
        shutil.copyfile(MODELS / "command-notes-song.kernova", folder / "model.kernova")
        os.utime("song.wav", ns=(10**18, 10**18))
        for kind in FORMATS:
            words = ["notes", "find", "model.kernova", "song.wav", "--format", kind, "-o", "found"]
            code, _, complaints = run_command(words)
            assert code == 0, complaints
        journal = folder / "found" / "kernova-notes.jsonl"
        journal.write_text(journal.read_text().replace(str(folder), "{folder}"))
        shutil.copytree("found", NOTES / "found")


# Commands


def make_commands():
    """Run every command in scenes, and keep what it answers."""
    found = {}
    for name, commands in {**scenes(), **page_scenes(LANDED)}.items():
        first, again = _play(commands), _play(commands)
        for one, other in zip(first, again, strict=True):
            there = unlike(other["outcome"], one["outcome"], rtol=0.0)
            _report(f"{name}: {' '.join(one['words'])}", there)
            one["seconds"] = min(one["seconds"], other["seconds"])  # the first may import much
        found[name] = first
        print(f"  {name}: {sum(one['seconds'] for one in first):.1f} s", flush=True)
    lines = []
    for name, commands in found.items():
        inside = ",\n".join(json.dumps(one, ensure_ascii=False) for one in map(_marked, commands))
        lines.append(f"{json.dumps(name)}: [\n{inside}\n]")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (DATA / "golden_commands.json").write_text(text)


def _marked(one):
    """Leave out the time that a command took, but mark it if it took long.

    What the paper's search for a length-scale leads to depends on the number of threads.
    """
    marks = {"slow": True} if one["seconds"] > SLOW_SECONDS else {}
    if any("paper" in word or word == "mddkm" for word in one["words"]):
        marks["rtol"] = 1e-4
    elif one["words"] == ["demo"]:
        marks["rtol"] = 1e-7
    elif one["words"][:2] == ["reproduce", "hms"]:  # see test_outputs.py
        marks["rtol"] = 1e-5
    return {"words": one["words"], "stdin": one["stdin"], **marks, "outcome": one["outcome"]}


def _play(commands):
    played = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        with working_in(folder), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for words, stdin in commands:
                began = time.process_time()
                outcome = json.loads(json.dumps(outcome_of(words, stdin)))
                seconds = time.process_time() - began
                played.append(
                    {"words": words, "stdin": stdin, "seconds": seconds, "outcome": outcome}
                )
    return played


def make_page():
    """Play a session at the page twice, and keep what the server answers."""
    found = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(DATA / "tables" / "rare.csv", Path(folder) / "rare.csv")
            found.append(played(Path(folder)))
    _report("page", unlike(found[1], found[0], rtol=0.0))
    lines = [f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in found[0].items()]
    (DATA / "golden_page.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _report(name, found):
    for difference in found[:8]:
        print(f"NOT REPEATABLE {name}: {difference}", flush=True)


PARTS = {
    "inputs": make_inputs,
    "tables": make_tables,
    "models": make_models,
    "outputs": make_outputs,
    "projects": make_projects,
    "notes": make_notes,
    "commands": make_commands,
    "page": make_page,
}

if __name__ == "__main__":
    main()
