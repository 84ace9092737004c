"""``kernova project``: verify, show, export, back up and repair."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from kernova.discover.store import open_project
from tests.discover.project.projects import IDS, labels_of, session_on, write_project

NAME = "fish.kernova-project"


@pytest.fixture
def labels(tmp_path, monkeypatch):
    """The labels of a project in the working folder."""
    monkeypatch.chdir(tmp_path)
    return write_project(tmp_path / NAME)[0]


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["project", *arguments])
    assert result.exit_code == code, result.output
    return result


def damage(tmp_path, entry=9):
    """Overwrite some bytes of an entry."""
    data = bytearray((tmp_path / NAME).read_bytes())
    begin = data.index(b"\ne %d " % entry)
    data[begin + 60 : begin + 64] = b"????"
    (tmp_path / NAME).write_bytes(data)


def flip(tmp_path):
    data = bytearray((tmp_path / NAME).read_bytes())
    data[data.index(b"\ne 9 ") + 70] ^= 4
    (tmp_path / NAME).write_bytes(data)


def test_an_intact_project(labels):
    said = run("verify", NAME)
    assert said.stdout.startswith(
        f"{NAME}: intact, 45 entries (Anna 24, Bob 9), {len(labels)} labelled rows in "
    )
    assert said.stderr == ""
    answer = json.loads(run("verify", NAME, "--json").stdout)
    assert (answer["intact"], answer["damage"], answer["entries"]) == (True, [], 45)


def test_a_damaged_entry_is_named(tmp_path, labels):
    damage(tmp_path)
    said = run("verify", NAME, code=1)
    assert f"kernova: {NAME} is damaged: entry 9 of 45 is not readable." in said.stderr
    assert "renamed" in said.stderr  # what is legible of it
    answer = json.loads(run("verify", NAME, "--json", code=1).stdout)
    assert (answer["intact"], answer["unreadable_entries"]) == (False, [9])


def test_a_flipped_bit_is_named(tmp_path, labels):
    flip(tmp_path)
    said = run("verify", NAME, code=1)
    assert f"kernova: One bit was wrong in entry 9 of {NAME};" in said.stderr
    assert len(json.loads(run("show", NAME, "--json", code=1).stdout)["latest"]) == 10


def test_show(labels):
    said = run("show", NAME, "--entries", "2").stdout
    assert "äsche was merged into carp." in said
    assert "bream" in said
    answer = json.loads(run("show", NAME, "--entries", "2", "--json").stdout)
    assert answer["strategy"] == "shuffled"
    assert [one["entry"] for one in answer["latest"]] == [44, 45]


def test_export(tmp_path, labels):
    run("export", NAME, "-o", "labels.csv")
    table = pd.read_csv("labels.csv")
    assert dict(zip(table["id"], table["category"], strict=True)) == labels
    assert list(table.columns[:6]) == ["row", "id", "category", "question", "expert", "time"]
    assert [IDS[row] for row in table["row"]] == list(table["id"])


def test_what_is_intact_is_exported(tmp_path, labels):
    damage(tmp_path, entry=1)
    said = run("export", NAME, "-o", "labels.csv", code=1)
    assert "entry 1 of 45 is not readable" in said.stderr
    table = pd.read_csv("labels.csv")
    found = dict(zip(table["id"], table["category"], strict=True))
    assert len(found) == len(labels) - 1
    assert found.items() <= labels.items()


def test_an_open_project_is_exported_and_backed_up(tmp_path, labels):
    with session_on(tmp_path / NAME) as session:
        session.next_question()
        session.answer("a new kind")
        run("export", NAME, "-o", "labels.csv")
        run("backup", NAME, "-o", "copy.kernova-project")
        assert "a new kind" in set(pd.read_csv("labels.csv")["category"])
    with open_project("copy.kernova-project") as copy:
        assert len(copy.records) == 46
    assert run("backup", NAME, "-o", "copy.kernova-project", code=2).stderr == (
        "kernova: Cannot back up to copy.kernova-project: it already exists. Choose another path.\n"
    )


def test_a_repaired_project_goes_on(tmp_path, labels):
    damage(tmp_path)
    with pytest.raises(ValueError, match="kernova project repair"):
        session_on(tmp_path / NAME)
    said = run("repair", NAME, "-o", "repaired.kernova-project")
    assert "entry 9 of 45 is not readable" in said.stderr
    with session_on(tmp_path / "repaired.kernova-project") as session:
        assert set(labels_of(session)) == set(labels)
    assert run("verify", "repaired.kernova-project").stderr == ""


@pytest.mark.parametrize("command", ["verify", "show", "backup"])
def test_other_files(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fish.csv").write_text("id,label\n")
    assert run(command, "fish.csv", code=2).stderr == (
        "kernova: fish.csv is not a kernova project, or its beginning is lost. Choose another.\n"
    )
    assert run(command, "nothing", code=2).stderr == (
        "kernova: There is no project nothing; check its name and folder.\n"
    )


# --- report, formats and import --------------------------------------------------------------


def test_a_report_of_a_project_without_its_table(labels):
    said = run("report", NAME, "-o", "report.html").stdout
    assert said.endswith(f"{len(labels)} labelled rows: report.html\n")
    with open("report.html", encoding="utf-8") as file:  # noqa: PTH123
        html = file.read()
    assert "The random baseline needs the table" in html
    answer = json.loads(run("report", NAME, "-o", "report.html", "--json").stdout)
    assert (answer["labelled"], answer["damage"]) == (len(labels), [])


def test_a_damaged_project_is_reported_as_far_as_it_is_intact(tmp_path, labels):
    damage(tmp_path)
    said = run("report", NAME, "-o", "report.html", code=1)
    assert "entry 9 of 45 is not readable" in said.stderr
    assert (tmp_path / "report.html").exists()


def test_formats_that_need_the_table_say_so(labels):
    assert run("export", NAME, "--format", "coco", "-o", "coco.json", code=2).stderr == (
        f"kernova: COCO needs pictures of the rows. Name the table of the project after {NAME}, "
        "with --images or --audio as it was started.\n"
    )
    assert run("export", NAME, "--images", "photos", "-o", "x.csv", code=2).stderr == (
        "kernova: --images belong to a table: name it after the project, or leave them out.\n"
    )


def test_label_studio_of_a_project_without_its_table(labels):
    run("export", NAME, "--format", "label-studio", "-o", "tasks.json")
    with open("tasks.json", encoding="utf-8") as file:  # noqa: PTH123
        tasks = json.load(file)
    named = {
        task["data"]["id"]: task["annotations"][-1]["result"][0]["value"]["choices"][0]
        for task in tasks
        if task["annotations"]
    }
    assert named == labels


def test_labels_are_imported_into_a_project(tmp_path, labels):
    known = next(iter(labels))
    free = [one for one in IDS if one not in labels][:2]
    lines = [f"{free[0]},zander", f"{free[1]},bream", f"{known},zander", "nobody,zander"]
    (tmp_path / "more.csv").write_text("\n".join(["fish,species", *lines]) + "\n")
    said = run("import", NAME, "more.csv", "--dry-run").stdout
    assert said == (
        "3 rows with a label: 2 without one in the project, 0 with the same, 1 with another.\n"
        "1 id not in the project: nobody.\n"
        "New categories: zander.\n"
        "Nothing was changed.\n"
    )
    said = run("import", NAME, "more.csv", "--expert", "Carla").stdout
    assert said.endswith("Labels of 2 rows imported from more.csv.\n")
    run("export", NAME, "-o", "labels.csv")
    table = pd.read_csv("labels.csv").set_index("id")
    assert table.loc[free[0], ["category", "expert"]].tolist() == ["zander", "Carla"]
    assert table.loc[known, "category"] == labels[known]
    assert "changes nothing" in run("import", NAME, "more.csv", code=2).stderr
    answer = json.loads(
        run("import", NAME, "more.csv", "--on-conflict", "opinion", "--json").stdout
    )
    assert answer["imported"] == "Labels of 3 rows imported from more.csv."
    with session_on(tmp_path / NAME) as session:
        assert session.label_of(IDS.index(known)) == "zander"


def test_an_open_project_is_not_imported_into(tmp_path, labels):
    (tmp_path / "more.csv").write_text("fish,species\nfish 000,zander\n")
    with session_on(tmp_path / NAME):
        assert "is open in another process" in run("import", NAME, "more.csv", code=2).stderr
