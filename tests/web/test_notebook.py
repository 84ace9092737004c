"""The page opened from a program: labels come back, the frame is allowed, and all of it stops."""

import subprocess
import sys
import threading

import httpx
import numpy as np
import pandas as pd
import pytest
from PIL import Image

import kernova.workbench
from kernova import CategoryDiscovery, InputError
from kernova.discover.notebook_view import summary_html
from kernova.media.given import GivenPictures
from kernova.media.row_media import standard_size
from tests.web.in_process import client_of

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(0, 1, (20, 3)), RNG.normal(9, 1, (10, 3))])


def client_for(page):
    return client_of(page.address, Authorization=f"Bearer {page._endpoint.token}")


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"row {n}" for n in range(30)])
    with kernova.workbench.open(frame, show=False, labels={"row 29": "high"}) as opened:
        assert opened.workbench.preparation.wait(120)
        yield opened


def test_labels_come_back_with_the_index_of_the_table(page):
    with client_for(page) as client:
        asked = client.post("/api/question", json={"expert": "Anna"}).json()["question"]
        body = {"expert": "Anna", "row": asked["row"], "label": "low"}
        assert client.post("/api/answers", json=body).status_code == 200
    labels = page.labels()
    assert labels.index.tolist() == [f"row {n}" for n in range(30)]
    assert labels.loc[asked["id"], ["category", "expert", "status"]].tolist() == [
        "low", "Anna", "hand",
    ]  # fmt: skip
    assert labels.loc["row 29", ["category", "status"]].tolist() == ["high", "prior"]
    assert labels["category"].notna().sum() == 2


def test_only_pages_of_this_machine_may_frame_it(page):
    with client_for(page) as client:
        reply = client.get("/")
        policy = reply.headers["content-security-policy"]
    assert policy.endswith("frame-ancestors http://localhost:* http://127.0.0.1:*")
    assert "x-frame-options" not in reply.headers
    with httpx.Client(base_url=page.address, verify=False) as stranger:
        reply = stranger.get("/", headers={"accept": "text/html"})
        assert reply.status_code == 401
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]


def test_the_frame_has_a_link_that_works_once(page):
    html = page.frame_html(500)
    assert 'height="500"' in html
    code = html.split("login?code=")[1].split('"')[0]
    with httpx.Client(base_url=page.address, verify=False) as browser:
        first = browser.get(f"/login?code={code}", headers={"sec-fetch-site": "same-site"})
        assert first.status_code == 200
        assert "set-cookie" in first.headers
        assert browser.get("/").status_code == 200
    with httpx.Client(base_url=page.address, verify=False) as other:
        assert other.get(f"/login?code={code}").status_code == 401


def test_closing_stops_the_server_and_another_opens_the_project(page):
    address, project = page.address, page.project
    page.close()
    page.close()
    assert "kernova-page" not in [one.name for one in threading.enumerate()]
    with pytest.raises(httpx.ConnectError), httpx.Client(verify=False) as client:
        client.get(address)
    assert repr(page).startswith("<kernova workbench, closed, labels-")
    with kernova.workbench.open(
        pd.DataFrame(X, columns=["a", "b", "c"], index=[f"row {n}" for n in range(30)]),
        project=project, show=False,
    ) as again:  # fmt: skip
        assert again.labels()["category"].notna().sum() == 1


def test_the_same_cell_again_continues(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first = kernova.workbench.open(X)
    said = capsys.readouterr().out
    assert said.startswith(f"Open {first.address}login?code=")
    assert said.endswith(f"Labels are saved in {first.project}.\n")
    first.workbench.discovery.session.label_row("3", "low")
    with kernova.workbench.open(X, show=False) as second:
        assert "closed" in repr(first)
        assert second.labels()["category"][3] == "low"


def test_mixed_columns_missing_values_and_pictures(tmp_path):
    frame = pd.DataFrame({"size": [1.0, np.nan, 3.0, 4.5], "kind": ["a", "b", None, "a"]})
    Image.new("RGB", (9, 5), "red").save(tmp_path / "one.png")
    images = [np.zeros((6, 8)), Image.new("RGB", (4, 4)), tmp_path / "one.png", None]
    with kernova.workbench.open(
        frame, images=images, ids=["w", "x", "y", "z"], project=tmp_path / "p", show=False
    ) as page:
        media = page.workbench.media
        assert [media.has(row) for row in range(4)] == [True, True, True, False]
        assert {media.picture(row).media_type for row in range(3)} == {"image/png"}
        assert page.labels()["id"].tolist() == ["w", "x", "y", "z"]
        assert page.labels().index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"ids": ["a"]}, "There are 1 ids for 30 rows; give one for each row."),
        (
            {"images": np.zeros((3, 4, 4))},
            "There are 3 images for 30 rows; give one for each row, None where there is none.",
        ),
        (
            {"images": [np.zeros(4)] * 30},
            "The image of row 0, counted from 0, has shape (4,) and type float64; images are "
            "arrays of numbers of shape (height, width), (height, width, 3) or (height, width, 4), "
            "images of PIL, or paths.",
        ),
        (
            {"labels": ["low"]},
            "There are 1 labels for 30 rows; give one for each row, None where there is none, or a "
            "mapping of ids to labels.",
        ),
        ({"labels": {"zebra": "low"}}, "labels has 'zebra', which is not the id of any row."),
    ],
)
def test_what_does_not_fit_is_explained(tmp_path, words, expected):
    with pytest.raises(InputError) as caught:
        kernova.workbench.open(X, project=tmp_path / "p", show=False, **words)
    assert str(caught.value) == expected


def test_numbers_become_pictures_from_their_lowest_to_their_highest():
    media = GivenPictures(["a", "b"], [np.array([[-3.0, 5.0]]), np.full((2, 2, 3), 7, np.uint8)])
    assert standard_size(64) == 64
    for row in (0, 1):
        assert media.picture(row, 64).content.startswith(b"\x89PNG")


def test_sessions_and_models_describe_themselves():
    session = CategoryDiscovery("random")
    assert "has not started" in session._repr_html_()
    session.start(X, ids=range(30))
    session.label_row(3, "<b>low</b>")
    html = session._repr_html_()
    assert "&lt;b&gt;low&lt;/b&gt;" in html
    assert "0 questions asked, 1 row of 30 labelled, 1 category." in html
    assert "color" not in html.replace("currentColor", "")  # light and dark alike
    many = summary_html("x", [], {"n": range(40)})
    assert "and 28 more" in many


def test_importing_kernova_loads_no_server():
    code = (
        "import kernova, kernova.workbench, sys; "
        "assert 'fastapi' not in sys.modules and 'matplotlib' not in sys.modules; "
        "kernova.workbench.open; assert 'fastapi' in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], check=False, timeout=120)
    assert run.returncode == 0
