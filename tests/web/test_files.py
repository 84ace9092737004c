"""Media, downloads and learning over HTTP, and their safety."""

import io
import os
import zipfile

import pandas as pd
import pytest
from PIL import Image
from typer.testing import CliRunner

from kernova.cli.app import app
from tests.web import messages
from tests.web.in_process import KINDS, Expert, fish, opened, rejected, served, served_idle

SCRIPT = "<script>alert(1)</script>"


def png(color="red", size=(8, 8)):
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, "PNG")
    return file.getvalue()


def shown(client, row, **query):
    return client.get(f"/api/media/{row}/picture", params=query)


# --- pictures --------------------------------------------------------------------------------


def test_pictures_of_a_folder_are_encoded_again_and_nothing_else_is_served(tmp_path):
    ids = fish(tmp_path)["fish"]
    folder = tmp_path / "pictures"
    folder.mkdir()
    outside = tmp_path / "outside.png"
    outside.write_bytes(png("blue"))
    (folder / f"{ids[0]}.png").write_bytes(png(size=(400, 200)))
    (folder / f"{ids[1]}.png").symlink_to(outside)
    (folder / f"{ids[2]}.png").write_bytes(b"<svg onload='alert(1)'/>")
    with (folder / f"{ids[3]}.png").open("wb") as file:
        file.truncate(2 * 1024**3)  # 2 GB, and no room on the disk
    (folder / f"{ids[4]}.svg").write_bytes(b"<svg onload='alert(1)'/>")
    (folder / f"{ids[5]}.html").write_bytes(SCRIPT.encode())
    with served(opened(tmp_path, images=str(folder))) as client:
        assert client.get("/api/session").json()["media"] == "picture"
        media = client.get("/api/rows/0").json()["media"]
        assert media["picture"] == "/api/media/0/picture"
        reply = client.get(media["picture"], params={"largest": 64})
        assert reply.headers["content-type"] in ("image/png", "image/jpeg")
        with Image.open(io.BytesIO(reply.content)) as picture:
            assert max(picture.size) == 64
        assert client.get("/api/rows/1").json()["media"] == {
            "kind": "none", "picture": None, "sound": None, "spectrogram": None, "outline": None,
            "files": [],
        }  # fmt: skip
        assert rejected(shown(client, 1), 404) == messages.NO_PICTURE.format(id=ids[1])
        assert f"{ids[2]}.png" in rejected(shown(client, 2), 409)
        assert messages.SIZE_LIMIT in rejected(shown(client, 3), 409)
        for row in (4, 5, 6, 60, 10**9):
            assert rejected(shown(client, row), 404)
        assert rejected(client.get("/api/media/0/sound"), 404)
        assert rejected(client.get("/api/media/0/spectrogram"), 404)


def test_an_archive_is_served_without_writing_files(tmp_path):
    ids = fish(tmp_path)["fish"]
    archive = tmp_path / "pictures.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr(f"{ids[0]}.png", png())
        zipped.writestr(f"../../{ids[1]}.png", png())
        zipped.writestr(f"/tmp/{ids[2]}.png", png())
        zipped.writestr(f"{ids[3]}.png", b"\0" * (65 * 1024**2))
    before = sorted(os.walk(tmp_path.parent))
    with served(opened(tmp_path, images=str(archive))) as client:
        assert shown(client, 0).status_code == 200
        assert rejected(shown(client, 1), 404)
        assert rejected(shown(client, 2), 404)
        assert messages.SIZE_LIMIT in rejected(shown(client, 3), 409)
        after = sorted(os.walk(tmp_path.parent))
    made = {name for _, _, names in after for name in names} - {
        name for _, _, names in before for name in names
    }
    assert {name for name in made if not name.startswith("fish.kernova-project")} == set()


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py",
        "/static/%2e%2e%2fapp.py", "/static/....//app.py", "/static/..%5capp.py",
        "/static//etc/passwd", "/static/%2fetc%2fpasswd",
        "/static/index.html%00.js", "/static/", "/static", "/api/media/..%2f..%2f0/picture",
        "/api/downloads/..%2f..%2ffish.csv", "/api/downloads/fish.csv",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_static_files(idle, path):
    address = str(idle.base_url).rstrip("/")
    target = f"{address}{path}"
    reply = idle.get(target)
    # The raw path: a client would normalise it.
    raw = idle.build_request("GET", address)
    raw.url = raw.url.copy_with(raw_path=path.encode())
    for one in (reply, idle.send(raw)):
        assert rejected(one, one.status_code)
        assert one.status_code in (404, 405, 422)


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    with served_idle(tmp_path_factory.mktemp("idle")) as client:
        yield client


def test_markup_in_cells_is_served_as_data(tmp_path):
    rows = fish(tmp_path)
    rows["fish"] = [f"{SCRIPT}{place}" for place in range(len(rows))]
    rows["sex"] = [SCRIPT, '"><img src=x onerror=alert(1)>'] * 30
    rows = rows.rename(columns={"length": SCRIPT})
    rows.to_csv(tmp_path / "fish.csv", index=False)
    with served(opened(tmp_path)) as client:
        anna = Expert(client, SCRIPT)
        anna.answer(f"{SCRIPT}x")
        paths = ["/api/state", "/api/history", f"/api/rows/{anna.question['row']}",
                 f"/api/rows?find={SCRIPT}", "/api/session"]  # fmt: skip
        for path in paths:
            reply = client.get(path)
            assert reply.headers["content-type"] == "application/json"
            assert reply.headers["x-content-type-options"] == "nosniff"
            assert SCRIPT in reply.text
        assert anna.question["id"].startswith(SCRIPT)
        assert client.get(f"/{SCRIPT}").headers["content-type"] == "application/json"
        labels = client.get("/api/downloads/labels.csv")
        assert labels.headers["content-type"] == "text/csv; charset=utf-8"
        assert labels.headers["content-disposition"] == 'attachment; filename="labels.csv"'


# --- downloads -------------------------------------------------------------------------------


def test_exported_labels_have_experts_and_times(tmp_path):
    kinds = fish(tmp_path)["kind"]
    known = kinds.where(kinds.index < 3)
    fish(tmp_path, prior=known)
    words = {"label_column": "prior"}
    with served(opened(tmp_path, **words)) as client:
        anna = Expert(client, "Anna")
        row = anna.ask()["row"]
        anna.answer("carp")
        anna.say("labels", rows=[2], label="eel")
        rows = pd.read_csv(
            io.BytesIO(client.get("/api/downloads/labels.csv").content),
            dtype=str,
            keep_default_na=False,
        )
        parquet = client.get("/api/downloads/labels.parquet")
        same = pd.read_parquet(io.BytesIO(parquet.content))
        at = client.get("/api/history").json()["entries"][1]["at"]
    assert list(rows.columns) == [
        "fish", "category", "question", "expert", "time", "status", "probability", "confidence",
        "heading", "further_labels", "flagged", "note", "prior",
    ]  # fmt: skip
    assert rows["fish"].tolist() == [f"{5877 * 10**14 + place}" for place in range(60)]
    no_remark = ["", "", "", "", "False", ""]
    assert rows.loc[row].tolist()[1:] == ["carp", "1", "Anna", at, "hand", *no_remark, ""]
    assert rows.loc[0].tolist()[1:6] == [kinds[0], "", "", "", "prior"]
    assert rows.loc[2].tolist()[1:6] == ["eel", "", "Anna", rows["time"][2], "hand"]
    assert (rows["category"] != "").sum() == 4
    assert same["fish"].tolist() == rows["fish"].tolist()
    assert same["category"].fillna("").tolist() == rows["category"].tolist()


def check_suggestions(client):
    """Compare the suggestions with the curve of their precision."""
    curve = client.get("/api/learn/precision").json()
    assert [point["threshold"] for point in curve["points"]] == [n / 100 for n in range(101)]
    assert curve["answers"] == 40
    counts = [point["rows"] for point in curve["points"]]
    assert counts == sorted(counts, reverse=True)
    for threshold in (0.0, 0.5, 0.97):
        reply = client.get("/api/learn/suggestions", params={"threshold": threshold}).json()
        assert reply["precision"] == curve["points"][round(100 * threshold)]
        assert reply["total"] == len(reply["rows"]) == reply["precision"]["rows"]
        probabilities = [row["probability"] for row in reply["rows"]]
        assert probabilities == sorted(probabilities, reverse=True)
    first = client.get("/api/learn/suggestions?threshold=0&limit=1").json()["rows"][0]
    assert client.get(f"/api/learn/rows/{first['row']}").json() == first
    of_one = {"threshold": 0, "category": first["suggested"]}
    found = client.get("/api/learn/suggestions", params=of_one).json()
    assert {row["suggested"] for row in found["rows"]} == {first["suggested"]}
    assert client.get("/api/learn/suggestions?category=owl").status_code == 409
    assert client.get("/api/learn/suggestions?threshold=2").status_code == 422


def test_what_was_learnt_is_there_after_a_restart(tmp_path):
    kinds = fish(tmp_path)["kind"]
    bench = opened(tmp_path)
    with served(bench) as client:
        anna = Expert(client, "Anna")
        for _ in range(12):
            anna.answer(kinds[(anna.question or anna.ask())["row"]])
        client.post("/api/learn", json={})
        assert bench.learning.wait(120)
        before = client.get("/api/learn/suggestions?threshold=0").json()
        assert before["total"] == 48
    again = opened(tmp_path)
    with served(again) as client:
        assert again.learning.wait(120)
        learnt = client.get("/api/learn").json()
        assert (learnt["state"], learnt["n_labelled"], learnt["is_stale"]) == ("ready", 12, False)
        assert client.get("/api/learn/suggestions?threshold=0").json() == before


def test_the_learnt_model_is_shown_asked_about_and_downloaded(tmp_path, monkeypatch):
    kinds = fish(tmp_path)["kind"]
    bench = opened(tmp_path)
    with served(bench) as client:
        for path in ("/api/learn/rows", "/api/downloads/model.kernova"):
            assert rejected(client.get(path), 409) == messages.NOTHING_LEARNT
        assert client.get("/api/learn").json()["state"] == "none"
        begun = client.post("/api/learn", json={}).json()
        assert (begun["state"], begun["message"]) == ("none", messages.NOTHING_LABELLED)
        anna = Expert(client, "Anna")
        for _ in range(40):
            anna.answer(kinds[(anna.question or anna.ask())["row"]])
        assert client.post("/api/learn", json={"expert": "Anna"}).status_code == 202
        assert bench.learning.wait(120)
        learnt = client.get("/api/learn").json()
        assert (learnt["state"], learnt["n_labelled"], learnt["is_stale"]) == ("ready", 40, False)
        assert sum(learnt["counts"].values()) == 20
        total = 0
        for verdict in ("known", "ambiguous", "unknown"):
            reply = client.get("/api/learn/rows", params={"verdict": verdict, "limit": 5}).json()
            total += reply["total"]
            assert {one["verdict"] for one in reply["rows"]} <= {verdict}
        assert total == 20
        check_suggestions(client)
        codes = client.get("/api/map/labels?colour=learnt").content
        assert len(codes) == 120
        wish = {"expert": "Anna", "source": "unknown"}
        asked = client.post("/api/question", json=wish).json()
        if learnt["counts"]["unknown"]:
            anna.question = asked["question"]
            assert anna.question["reason"].startswith(messages.UNKNOWN_REASON)
            anna.answer("carp")
            assert client.get("/api/learn").json()["is_stale"]
        else:
            assert asked["message"] == messages.NO_UNKNOWN_ROWS
        model = client.get("/api/downloads/model.kernova").content
    (tmp_path / "model.kernova").write_bytes(model)
    monkeypatch.chdir(tmp_path)
    command = ["recognize", "model.kernova", "fish.csv", "--id-column", "fish"]
    done = CliRunner().invoke(app, [*command, "--label-column", "kind", "-o", "verdicts.csv"])
    assert done.exit_code == 0, done.output
    assert set(pd.read_csv(tmp_path / "verdicts.csv")["kind"]) == set(KINDS)


def test_a_table_with_an_undecodable_name_is_served(tmp_path):
    fish(tmp_path)
    odd = os.fsdecode(b"\xff.csv")
    (tmp_path / "fish.csv").rename(tmp_path / odd)
    bench = opened(tmp_path, data=odd, project=odd)
    with served(bench) as client:
        session = client.get("/api/session").json()
        assert session["data"] == str(tmp_path / r"\udcff.csv")
        assert session["project"] == str(tmp_path / r"\udcff.csv.kernova-project")
        expert = Expert(client)
        for label in ("carp", "carp", "pike"):
            expert.answer(label)
        client.post("/api/learn", json={})
        assert bench.learning.wait(120)
        assert "rows of " in client.get("/api/learn").json()["summary"]
        assert client.get("/api/state").status_code == 200
