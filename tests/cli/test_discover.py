"""``kernova discover`` with its page, as it is started and left."""

import json
import queue
import re
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
from kernova.errors import InputError
from kernova.workbench import Workbench
from tests.cli import messages
from tests.web.in_process import TOKEN, fish  # skips all of this without the extra `web`

serve = pytest.importorskip("kernova.web.serve", reason="the extra `web` is not installed")
login = pytest.importorskip("kernova.web.login")
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


def rejected(*words):
    result = run(*words, exit_code=2)
    assert result.stdout == ""
    return result.stderr


class Seen(NamedTuple):
    address: str
    port: int
    token: str


@pytest.fixture
def left_at_once(monkeypatch):
    """A server that everybody leaves as soon as it could be spoken to."""
    seen = []

    def leave(workbench, place, *, on_ready, on_signal):
        assert isinstance(workbench, Workbench)
        on_ready()
        assert workbench.preparation.wait(120)
        seen.append(Seen(place.address, place.port, place.token))

    monkeypatch.setattr(serve, "serve", leave)
    return seen


# --- started and left ------------------------------------------------------------------------


@pytest.mark.parametrize("left_by", [signal.SIGINT, signal.SIGTERM])
def test_a_page_is_served_until_a_signal(folder, left_by):
    command = [sys.executable, "-m", "kernova", "discover", "fish.csv", *COLUMNS, "--port", "0"]
    process = subprocess.Popen(
        [*command, "--no-browser", "--token", TOKEN, "--json", "-o", "out.csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    told = json.loads(process.stdout.readline())
    assert told["token"] == TOKEN
    assert re.fullmatch(rf"{told['address']}login\?code=[\w-]{{22}}", told["url"])
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


def test_the_address_is_printed_and_the_summary(folder, left_at_once, monkeypatch):
    opened = queue.Queue()
    monkeypatch.setattr(login.webbrowser, "open", opened.put)
    lines = run("fish.csv", *COLUMNS, "--port", "0").stdout.splitlines()
    (place,) = left_at_once
    assert lines[0] == messages.SAVED_IN
    assert re.fullmatch(messages.OPEN_PAGE, lines[1])[1].startswith(place.address)
    assert re.fullmatch(messages.NEW_LINK, lines[2])
    assert opened.get(timeout=120).startswith("file://")
    assert lines[3:5] == ["", "0 questions asked, 0 rows of 60 labelled, 0 categories."]
    assert lines[-1] == messages.ALL_SAVED
    assert len(place.token) == 32
    run("fish.csv", *COLUMNS, "--port", "0", "--no-browser")
    assert opened.empty()
    assert left_at_once[1].token != place.token


def test_a_browser_that_blocks_does_not_block_the_server(monkeypatch):
    left, opened = threading.Event(), queue.Queue()

    def browse(url):
        opened.put(url)
        assert left.wait(120)

    monkeypatch.setattr(login.webbrowser, "open", browse)
    browser = login.open_browser("http://127.0.0.1:1/", login.Key(TOKEN, link_seconds=0))
    assert opened.get(timeout=120).startswith("file://")
    assert browser.is_alive()
    left.set()
    browser.join(120)
    assert not browser.is_alive()


def test_the_demo_has_its_own_table(folder, left_at_once):
    lines = run("--demo", "--no-browser", "--port", "0").stdout.splitlines()
    assert lines[0] == messages.SAVED_IN.replace("fish", "digits")
    assert "0 rows of 750 labelled" in lines[4]


def test_the_next_free_port_is_used(folder, left_at_once, monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        monkeypatch.setattr(serve, "DEFAULT_PORT", taken)
        run("fish.csv", *COLUMNS, "--no-browser")
    assert taken < left_at_once[0].port < taken + 20


# --- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fish.csv", "--demo"],
        ["--demo", "--images", "photos", "--drop", "kind"],
        ["fish.csv", "--questions", "3"],
        ["fish.csv", "--host", "0.0.0.0"],
        ["fish.csv", "--token", "short"],
        ["fish.csv", "--token", TOKEN, "--token-file", "fish.csv"],
        ["fish.csv", "--token-file", "none"],
        ["fish.csv", "--token-file", "."],
        ["fish.csv", "--token-file", "/dev/zero"],
        ["fish.csv", "--token-file", "/dev/null"],
        ["fish.csv", "--tls-key", "fish.csv"],
        ["fish.csv", "--tls-cert", "none"],
        ["fish.csv", "--tls-cert", "fish.csv", "--tls-key", "none"],
        ["fish.csv", "--tls-cert", "fish.csv"],
        ["fish.csv", "--host", "no.such.host.invalid", "--token", TOKEN],
    ],
    ids=" ".join,
)
def test_bad_combinations_are_rejected_before_a_file_is_made(folder, words):
    assert rejected(*words) == f"kernova: {messages.DISCOVER[' '.join(words)]}\n"
    assert {path.name for path in folder.iterdir()} == {"fish.csv"}


def test_a_taken_port_is_reported(folder):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        sentence = messages.PORT_TAKEN.format(port=port)
        assert rejected("fish.csv", "--port", str(port)) == f"kernova: {sentence}\n"


def test_other_machines_need_a_token_and_cause_a_warning(folder, left_at_once):
    words = ["--host", "0.0.0.0", "--token", TOKEN, "--port", "0", "--no-browser"]
    result = run("fish.csv", *COLUMNS, *words)
    assert result.stderr == f"kernova: {messages.NO_TLS}\n"
    address = f"http://{socket.gethostname()}:{left_at_once[0].port}/"
    assert messages.OTHERS.format(address=address) in result.stdout.splitlines()


def test_a_missing_extra_is_reported(folder, monkeypatch):
    for name in [one for one in sys.modules if one.startswith("kernova.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert rejected("fish.csv") == f"kernova: {messages.NO_WEB_EXTRA}\n"


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
def test_invalid_host_names(folder, host):
    shown = host.encode("ascii", "backslashreplace").decode()
    sentence = InputError(messages.NO_HOST_NAME.format(host=shown))  # which shortens long names
    assert rejected("fish.csv", "--host", host, "--token", TOKEN) == f"kernova: {sentence}\n"
