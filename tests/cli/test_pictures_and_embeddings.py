"""Pictures without a table, and embeddings, in each command that takes a table."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from kernova import load_model
from kernova.cli.app import app
from kernova.images.columns import PictureColumns
from kernova.tables.embeddings import EmbeddingColumns
from tests.cli import picture_messages as messages
from tests.media.albums import KINDS, album, vectors

pytestmark = pytest.mark.usefixtures("few_trees")

N = 48


@pytest.fixture
def photos(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    album(tmp_path / "photos")
    album(tmp_path / "more", 4, first=20)
    return tmp_path


@pytest.fixture
def fish(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"fish": [f"f{number:02d}" for number in range(N)], "note": "?"})
    rows["kind"] = np.repeat(list(KINDS), N // 4)
    rows["site"] = np.arange(N) // 2
    rows.to_csv("fish.csv", index=False)
    np.save("fish.npy", vectors(N))
    # Twelve further rows, the last three of them of no kind.
    more = np.vstack([vectors(N, seed=0)[::4][:9] + 0.1, np.full((3, 64), 9.0)])
    pd.DataFrame({"fish": [f"g{number:02d}" for number in range(12)]}).to_csv(
        "more.csv", index=False
    )
    keyed = pd.DataFrame(more, columns=[f"v{j}" for j in range(64)])
    keyed.insert(0, "id", [f"g{number:02d}" for number in range(12)])
    keyed.iloc[::-1].to_parquet("more.parquet", index=False)
    return tmp_path


def run(*arguments, stdin=None):
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    assert result.exit_code == 0, result.output + result.stderr
    return result.stdout


def error(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.split())


def test_discover_asks_about_pictures(photos):
    output = run("discover", "photos", "--terminal", "--json", stdin="a\nb\n")
    summary = json.loads(output)
    assert summary["data"] == {"source": "photos", "rows": N}
    assert (photos / "photos.kernova-project.descriptors").is_file()
    again = json.loads(run("discover", "photos", "--terminal", "--json", stdin=""))
    assert again["categories"] == summary["categories"]


def test_projects_of_pictures_grow(photos):
    project = "photos.kernova-project"
    run("discover", "photos", "--terminal", "--json", stdin="a\nb\n")
    answer = json.loads(run("discover", project, "--add", "more", "--json"))
    assert answer["rows"] == N + 16
    assert answer["batches"][0]["added"] == 16
    # A picture that came into the folder since does not change what the others are compared by.
    album(photos / "photos", 1, ("discs",), first=60)
    output = json.loads(run("discover", project, "--terminal", "--json", stdin="c\n"))
    assert output["questions"] == 3
    assert messages.NOT_IN_PROJECT in output["notes"]


def test_projects_of_embeddings_grow(fish):
    run(
        "discover", "fish.csv", "--id-column", "fish", "--embeddings", "fish.npy", "--terminal",
        "--json", stdin="a\n",
    )  # fmt: skip
    answer = json.loads(
        run("discover", "fish.kernova-project", "--add", "more.csv", "--embeddings",
            "more.parquet", "--json")
    )  # fmt: skip
    assert answer["batches"][0]["added"] == 12
    assert answer["batches"][0]["counts"]["new"] >= 3
    again = json.loads(run("discover", "fish.kernova-project", "--terminal", "--json", stdin=""))
    assert again["questions"] == 1


def test_discover_asks_about_embeddings(fish):
    output = run(
        "discover", "fish.csv", "--id-column", "fish", "--embeddings", "fish.npy", "--terminal",
        "--json", stdin="a\nb\nc\nd\n",
    )  # fmt: skip
    assert json.loads(output)["questions"] == 4


def test_models_of_pictures_recognise_pictures(photos):
    run("learn", "photos", "--label-column", "folder", "-o", "m.kernova", "--rotation-invariant")
    reader = load_model("m.kernova").reader
    assert isinstance(reader, PictureColumns)
    assert reader.rotation_invariant
    answer = json.loads(
        run("recognize", "m.kernova", "more", "--label-column", "folder", "--json", "--reject", "0")
    )
    assert len(answer["rows"]) == 16
    right = [row["recognized"] == row["picture"].split("/")[0] for row in answer["rows"]]
    assert np.mean(right) > 0.9


def test_labels_of_pictures_come_from_elsewhere(photos):
    files = sorted(path.name for path in (photos / "photos").rglob("*.png"))
    kinds = [next(kind for kind in KINDS if kind[0] == name[0]) for name in files]
    # Discs and rings have different letters; of one picture nothing is known.
    pd.DataFrame({"file": files[1:], "kind": kinds[1:]}).to_csv("labels.csv", index=False)
    by_file = json.loads(
        run("learn", "photos", "--labels", "labels.csv", "--label-column", "kind", "-o",
            "m.kernova", "--json")
    )  # fmt: skip
    assert [line["class"] for line in by_file["classes"]] == list(KINDS)
    assert by_file["labelled"]["rows"] == N - 1
    by_pattern = json.loads(
        run("learn", "photos", "--id-pattern", "(.*)/", "-o", "m.kernova", "--json")
    )
    assert by_pattern["labelled"]["rows"] == N


def test_models_of_embeddings_recognise_embeddings(fish):
    learn = ["learn", "fish.csv", "--id-column", "fish", "--label-column", "kind"]
    run(*learn, "--embeddings", "fish.npy", "--group-column", "site", "-o", "m.kernova")
    assert isinstance(load_model("m.kernova").reader, EmbeddingColumns)
    recognize = ["recognize", "m.kernova", "more.csv", "--id-column", "fish", "--json"]
    answer = json.loads(run(*recognize, "--embeddings", "more.parquet"))
    verdicts = [row["recognized"] for row in answer["rows"]]
    assert verdicts[9:] == ["unknown"] * 3
    assert sum(verdict != "unknown" for verdict in verdicts[:9]) >= 7
    assert error(*recognize) == messages.EMBEDDINGS_NEEDED


def test_novelty_of_pictures_and_embeddings(photos, fish):
    album(photos / "odd", 6, ("stripes",), first=40)
    answer = json.loads(run("novelty", "photos/discs", "odd", "--json", "--max-false-alarm", "0.4"))
    assert answer["novel_rows"] == 6
    command = [
        "novelty", "fish.csv", "more.csv", "--id-column", "fish", "--label-column", "kind",
        "--embeddings", "fish.npy", "--max-false-alarm", "0.2", "--json",
    ]  # fmt: skip
    answer = json.loads(run(*command, "--new-embeddings", "more.parquet"))
    assert [row["verdict"] for row in answer["rows"]][9:] == ["novel"] * 3


def test_one_file_of_embeddings_serves_known_and_new_rows(fish):
    known = pd.DataFrame(vectors(N), columns=[f"v{j}" for j in range(64)])
    known.insert(0, "id", pd.read_csv("fish.csv")["fish"])
    pd.concat([known, pd.read_parquet("more.parquet")]).to_parquet("all.parquet", index=False)
    command = ["novelty", "fish.csv", "more.csv", "--id-column", "fish", "--drop", "kind"]
    answer = json.loads(
        run(*command, "--embeddings", "all.parquet", "--max-false-alarm", "0.2", "--json")
    )
    assert [row["verdict"] for row in answer["rows"]][9:] == ["novel"] * 3


def test_outliers_and_rows_alike(photos, fish):
    answer = json.loads(run("outliers", "photos", "--json", "--label-column", "folder"))
    assert len(answer["rows"]) == N
    answer = json.loads(
        run("outliers", "fish.csv", "--id-column", "fish", "--embeddings", "fish.npy", "--json")
    )
    assert len(answer["rows"]) == N
    alike = json.loads(run("find-like", "photos", "--row", "discs/d03", "--json", "--top", "5"))
    assert {row["picture"].split("/")[0] for row in alike["rows"][:5]} == {"discs"}


WRONG = [
    (["outliers", "photos", "--size"], messages.NO_MEANING_FOR_PICTURES),
    (["outliers", "fish.csv", "--rotation-invariant"], None),
    (["learn", "photos", "-o", "m.kernova"], messages.NO_LABELS_OF_PICTURES),
    (["novelty", "photos", "fish.csv"], messages.NOT_BOTH_PICTURES),
    (["novelty", "fish.csv", "more.csv", "--new-embeddings", "fish.npy"],
     messages.NEW_EMBEDDINGS_ALONE),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_what_cannot_be_done_is_said(photos, fish, arguments, message):
    found = error(*arguments)
    assert found == (message or messages.NOT_PICTURES)


@pytest.mark.parametrize("command", ["outliers", "discover"])
def test_pillow_is_named_where_it_is_missing(photos, monkeypatch, command):
    for name in [name for name in sys.modules if name.startswith(("PIL", "kernova.media"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert error(command, "photos") == messages.NO_PILLOW[command]


def test_models_judge_what_they_learnt_from(photos, fish):
    run("learn", "photos", "--label-column", "folder", "-o", "pictures.kernova")
    assert error("recognize", "pictures.kernova", "fish.csv") == messages.MODEL_OF_PICTURES
    assert (
        error("recognize", "pictures.kernova", "more", "--embeddings", "fish.npy")
        == messages.MODEL_WITHOUT_EMBEDDINGS
    )
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 3)), columns=list("abc"))
    table.assign(kind=np.repeat(["x", "y"], N // 2)).to_csv("numbers.csv", index=False)
    run("learn", "numbers.csv", "--label-column", "kind", "-o", "table.kernova")
    assert error("recognize", "table.kernova", "more") == messages.MODEL_OF_A_TABLE
