"""Projects of discovery, and folders of searches, go on where the landed version left them."""

import json
import os
import shutil

import pytest

import kernova

from . import sessions
from .running import LANDED_STRATEGY, outcome_of, unlike, working_in
from .scenes import write_sounds
from .storage import DATA

# Old names must go on working; that they say what they are called now is no fault here.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

PROJECTS = DATA / "projects"
EXPECTED = json.loads((PROJECTS / "expected.json").read_text())
BEGUN_AS = {**{name: name for name in sessions.PROJECTS}, "format-1": "strangers-and-crowds"}
FORMATS = {
    "raven": "song.selections.txt",
    "audacity": "song.labels.txt",
    "textgrid": "song.TextGrid",
    "csv": "song.csv",
}


@pytest.fixture
def project(request, tmp_path):
    """Copy a project, since opening it may bring it to a newer format."""
    path = f"{request.param}.kernova-project"
    return request.param, shutil.copyfile(PROJECTS / path, tmp_path / path)


def test_every_project_is_compared():
    files = {path.name.removesuffix(".kernova-project") for path in PROJECTS.glob("*-project")}
    assert files == set(EXPECTED) == {*BEGUN_AS, "command"}


@pytest.mark.parametrize("project", BEGUN_AS, indirect=True)
def test_a_landed_project_says_what_it_said_and_goes_on_alike(project):
    name, path = project
    with sessions.start(BEGUN_AS[name], path) as session:
        now = json.loads(json.dumps(sessions.everything(session)))
    assert now == EXPECTED[name]


@pytest.mark.parametrize("project", BEGUN_AS, indirect=True)
def test_what_was_added_to_a_landed_project_is_there_when_it_is_opened_again(project):
    name, path = project
    with sessions.start(BEGUN_AS[name], path) as session:
        sessions.go_on(session)
        said = sessions.state(session)
    with sessions.start(BEGUN_AS[name], path) as session:
        assert sessions.state(session) == said


@pytest.mark.parametrize("name", sessions.PROJECTS)
def test_the_same_session_held_today_comes_to_the_same_end(name, tmp_path):
    # The default was changed on purpose: the landed one is passed by name.
    with sessions.start(name, tmp_path / "today.kernova-project", LANDED_STRATEGY) as session:
        now = json.loads(json.dumps(sessions.everything(sessions.speak(session))))
    then = json.loads(json.dumps(EXPECTED[name]))
    for told in (now, then):
        told["state"]["said"] = [[line[0], *line[2:]] for line in told["state"]["said"]]  # no times
    assert now == then


@pytest.mark.parametrize("project", ["hms-ci", "default", "format-1"], indirect=True)
def test_a_log_is_replayed(project):
    name, path = project
    with sessions.start(BEGUN_AS[name], path) as session:
        records = session.records_
    strategy, as_frame, _ = sessions.PROJECTS[BEGUN_AS[name]]
    again = kernova.CategoryDiscovery(strategy, random_state=5)
    again.replay(records, *sessions.table(as_frame))
    assert json.loads(json.dumps(sessions.state(again))) == EXPECTED[name]["state"]


@pytest.mark.parametrize("project", ["random", "format-1"], indirect=True)
def test_a_landed_project_refuses_another_table(project):
    name, path = project
    strategy, as_frame, _ = sessions.PROJECTS[BEGUN_AS[name]]
    rows, ids = sessions.table(as_frame)
    with pytest.raises(kernova.InputError):
        kernova.CategoryDiscovery(strategy, random_state=5).start(rows + 1, ids, project=path)


@pytest.mark.parametrize("has_cache", [True, False])
def test_a_project_of_the_command_goes_on(has_cache, tmp_path):
    """The file beside a project only saves time: with and without it the questions are the same."""
    words = ["discover", "rare.csv", "--id-column", "row", "--drop", "kind", "--terminal"]
    words += ["--project", "command.kernova-project", "--json"]
    shutil.copyfile(DATA / "tables" / "rare.csv", tmp_path / "rare.csv")
    for path in PROJECTS.glob("command.*"):
        if has_cache or path.suffix != ".cache":
            shutil.copyfile(path, tmp_path / path.name)
    with working_in(tmp_path):
        outcome = outcome_of(words, "bream\n")
    # One note is new: that the file of format 2 was converted to format 3, and is kept.
    assert len(outcome["json"]["notes"]) == 1
    outcome["json"]["notes"] = []
    found = unlike(outcome["json"], EXPECTED["command"])
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_search_that_the_landed_version_finished_is_not_done_again(kind, tmp_path):
    pytest.importorskip("soundfile", reason="the extra `audio` is not installed")
    folder = tmp_path.resolve()
    shutil.copytree(DATA / "notes_run" / "found", folder / "found")
    journal = folder / "found" / "kernova-notes.jsonl"
    journal.write_text(journal.read_text().replace("{folder}", str(folder)))
    shutil.copyfile(DATA / "models" / "command-notes-song.kernova", folder / "model.kernova")
    write_sounds(folder)
    os.utime(folder / "song.wav", ns=(10**18, 10**18))
    words = [
        "notes",
        "find",
        "model.kernova",
        "song.wav",
        "--format",
        kind,
        "-o",
        "found",
        "--json",
    ]
    with working_in(folder):
        outcome = outcome_of(words)
    assert outcome["exit"] == 0
    assert outcome["files"] == {}
    (recording,) = outcome["json"]["recordings"]
    notes = kernova.read_annotations(folder / "found" / FORMATS[kind])
    assert [note["label"] for note in recording["notes"]] == [note.label for note in notes]
    assert len(notes) == 5
