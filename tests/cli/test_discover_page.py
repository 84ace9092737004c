"""``kernova discover`` with its page, as it is started and left."""

import json
import queue
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from kernova.discover.store import open_project
from kernova.workbench import Workbench
from tests.web.in_process import TOKEN, fish  # skips all of this without the extra `web`

serve = pytest.importorskip("kernova.web.serve", reason="the extra `web` is not installed")
COLUMNS = ["--id-column", "fish", "--drop", "kind", "--strategy", "random"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fish(tmp_path)
    return tmp_path


def run(*words, exit_code=0):
    result = CliRunner().invoke(app, ["discover", *words])
    assert result.exit_code == exit_code, result.output
    return result


def refused(*words):
    result = run(*words, exit_code=2)
    assert result.stdout == ""
    return result.stderr


class Seen(NamedTuple):
    url: str
    port: int
    token: str


@pytest.fixture
def left_at_once(monkeypatch):
    """A server that everybody leaves as soon as it could be spoken to."""
    seen = []

    def leave(workbench, place, *, on_ready):
        assert isinstance(workbench, Workbench)
        on_ready()
        assert workbench.preparation.wait(120)
        seen.append(Seen(place.url, place.port, place.token))

    monkeypatch.setattr(serve, "serve", leave)
    return seen


# --- started and left ------------------------------------------------------------------------


@pytest.mark.parametrize("left_by", [signal.SIGINT, signal.SIGTERM])
def test_a_page_is_served_until_someone_leaves(folder, left_by):
    command = [sys.executable, "-m", "kernova", "discover", "fish.csv", *COLUMNS, "--port", "0"]
    process = subprocess.Popen(
        [*command, "--no-browser", "--token", TOKEN, "--json", "-o", "out.csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    told = json.loads(process.stdout.readline())
    assert told["token"] == TOKEN
    assert told["url"] == f"{told['address']}?token=a%20token%20for%20tests"
    body = json.dumps({"row": 3, "label": "carp"}).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    wish = urllib.request.Request(f"{told['address']}api/answers", body, headers)
    directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with directly.open(wish, timeout=120) as reply:
        assert json.loads(reply.read())["saved"]["number"] == 1
    process.send_signal(left_by)
    text, complaint = process.communicate(timeout=120)
    assert (process.returncode, complaint) == (0, "")
    end = json.loads(text)
    assert (end["questions"], end["files"]) == (1, {"output": "out.csv"})
    with open_project(told["project"]) as store:  # nobody holds it any more
        assert len(store.records) == 1
    assert not (folder / f"{told['project']}-wal").exists()


def test_people_are_told_the_address_and_the_end(folder, left_at_once, monkeypatch):
    opened = queue.Queue()
    monkeypatch.setattr(serve.webbrowser, "open", opened.put)
    lines = run("fish.csv", *COLUMNS, "--port", "0").stdout.splitlines()
    (place,) = left_at_once
    assert lines[:3] == [
        "Answers are kept in fish.kernova-project.",
        f"Open {place.url} in a browser; Ctrl-C leaves.",
        "",
    ]
    assert opened.get(timeout=120) == place.url
    assert lines[3] == "0 questions asked, 0 rows of 60 named, 0 categories."
    assert lines[-1] == (
        "Everything is saved in fish.kernova-project; the same command goes on from here."
    )
    assert len(place.token) == 32
    run("fish.csv", *COLUMNS, "--port", "0", "--no-browser")
    assert opened.empty()
    assert left_at_once[1].token != place.token


def test_a_browser_that_does_not_return_holds_up_nobody(monkeypatch):
    left, opened = threading.Event(), queue.Queue()

    def browse(url):
        opened.put(url)
        assert left.wait(120)

    monkeypatch.setattr(serve.webbrowser, "open", browse)
    browser = serve.open_browser("http://127.0.0.1:1/")
    assert opened.get(timeout=120) == "http://127.0.0.1:1/"
    assert browser.is_alive()
    left.set()
    browser.join(120)
    assert not browser.is_alive()


def test_the_demo_brings_its_own_table(folder, left_at_once):
    lines = run("--demo", "--no-browser", "--port", "0").stdout.splitlines()
    assert lines[0] == "Answers are kept in digits.kernova-project."
    assert "0 rows of 750 named" in lines[3]


def test_the_usual_port_gives_way_to_the_next(folder, left_at_once, monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        monkeypatch.setattr(serve, "DEFAULT_PORT", taken)
        run("fish.csv", *COLUMNS, "--no-browser")
    assert taken < left_at_once[0].port < taken + 20


# --- refused before a file is made -----------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "There is no table to ask about. Name one, or pass --demo."),
        (
            ["fish.csv", "--demo"],
            "--demo brings its own table; leave out fish.csv, or leave out --demo.",
        ),
        (
            ["--demo", "--images", "photos", "--drop", "kind"],
            "--demo brings its own table and pictures; leave out --images and --drop, or leave out "
            "--demo.",
        ),
        (
            ["fish.csv", "--questions", "3"],
            "--questions counts what is asked at the terminal: pass --terminal with it. A page is "
            "left when you like.",
        ),
        (
            ["fish.csv", "--host", "0.0.0.0"],
            "Whoever can reach 0.0.0.0 could try to get in: choose a token of your own with "
            "--token, or leave --host as it is.",
        ),
        (
            ["fish.csv", "--token", "short"],
            "A token is a readable text of at least 8 characters, so that nobody guesses it; got "
            "5.",
        ),
        (
            ["fish.csv", "--host", "no.such.host.invalid", "--token", TOKEN],
            "no.such.host.invalid is no address of this machine: Name or service not known.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(folder, words, sentence):
    assert refused(*words) == f"kernova: {sentence}\n"
    assert {path.name for path in folder.iterdir()} == {"fish.csv"}


def test_a_port_that_is_taken_is_named(folder):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert refused("fish.csv", "--port", str(port)) == (
            f"kernova: Cannot listen on port {port} of 127.0.0.1: Address already in use. Name "
            "another with --port, or leave it out.\n"
        )


def test_others_can_be_let_in_with_a_token_and_a_warning(folder, left_at_once):
    words = ["--host", "0.0.0.0", "--token", TOKEN, "--port", "0", "--no-browser"]
    result = run("fish.csv", *COLUMNS, *words)
    assert result.stderr == (
        "kernova: There is no TLS: whoever listens on the way to 0.0.0.0 sees the token and all "
        "answers.\n"
    )


def test_without_the_extra_there_is_a_sentence(folder, monkeypatch):
    for name in [one for one in sys.modules if one.startswith("kernova.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert refused("fish.csv") == (
        "kernova: The page needs uvicorn, which is not installed: pip install 'kernova[web]', or "
        "pass --terminal.\n"
    )


def test_help_knows_the_page():
    text = run("--help").stdout
    assert "kernova discover --demo" in text
    assert "--no-browser" in text


def test_the_command_line_starts_without_the_server():
    code = (
        "import sys, kernova.cli.app; "
        "print({'fastapi', 'starlette', 'uvicorn', 'pydantic', 'PIL'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("host", ["a..b", "x" * 300, "f\u202eish"])
def test_what_can_be_no_name_of_a_machine(folder, host):
    assert refused("fish.csv", "--host", host, "--token", TOKEN) == (
        f"kernova: {host.encode('ascii', 'backslashreplace').decode()} is no address of this "
        "machine: it is no name of a machine.\n"
    )
