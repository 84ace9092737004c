"""Who gets into the page of ``kernova discover``: tokens, links at the terminal, and HTTPS."""

import contextlib
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kernova.cli.app import app
from tests.cli import messages
from tests.web.in_process import TOKEN, fish  # skips all of this without the extra `web`

serve = pytest.importorskip("kernova.web.serve", reason="the extra `web` is not installed")
START = [sys.executable, "-m", "kernova", "discover", "fish.csv", "--id-column", "fish",
         "--drop", "kind", "--strategy", "random", "--port", "0"]  # fmt: skip
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KERNOVA_TOKEN", raising=False)
    fish(tmp_path)
    return tmp_path


def rejected(*words):
    result = CliRunner().invoke(app, ["discover", "fish.csv", *words])
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr.removeprefix("kernova: ").removesuffix("\n")


@contextlib.contextmanager
def started(*words, **options):
    """Start the command; yield its process and its first line."""
    process = subprocess.Popen(
        [*START, "--json", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        **options,
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield process, json.loads(line)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)


def status_of(url, headers=None, context=None):
    handlers = [urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor()]
    if context is not None:
        handlers.append(urllib.request.HTTPSHandler(context=context))
    opener = urllib.request.build_opener(*handlers)
    try:
        with opener.open(urllib.request.Request(url, headers=headers or {}), timeout=60) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


# --- the token -------------------------------------------------------------------------------


def write_token(text, mode=0o600):
    path = Path("token.txt")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)


def test_a_token_comes_from_a_file_or_the_environment(folder):
    write_token(f"{TOKEN}\n")
    others = {**os.environ, "KERNOVA_TOKEN": "another token"}
    with started("--no-browser", "--token-file", "token.txt", env=others) as (process, page):
        assert page["token"] == TOKEN
        assert status_of(f"{page['address']}api/session", BEARER) == 200
        arguments = Path(f"/proc/{process.pid}/cmdline")
        assert not arguments.exists() or TOKEN.encode() not in arguments.read_bytes()
    with started("--no-browser", env={**os.environ, "KERNOVA_TOKEN": TOKEN}) as (_, page):
        assert page["token"] == TOKEN


def test_a_token_file_that_others_can_read_causes_a_warning(folder, monkeypatch):
    def leave(workbench, place, *, on_ready, on_signal):
        workbench.preparation.wait(120)

    monkeypatch.setattr(serve, "serve", leave)
    words = ["discover", *START[4:], "--token-file", "token.txt"]
    write_token(TOKEN, 0o644)
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stderr) == (0, f"kernova: {messages.READABLE_TOKEN}\n")
    write_token(TOKEN)
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stderr) == (0, "")


def test_bad_tokens_are_rejected_before_a_file_is_made(folder, monkeypatch):
    write_token("two\nlines of text\n")
    assert rejected("--token-file", "token.txt") == messages.TWO_LINES
    write_token(b"\xff\xfe a token of bytes")
    assert rejected("--token-file", "token.txt") == messages.NOT_UTF8
    monkeypatch.setenv("KERNOVA_TOKEN", "")
    assert rejected() == messages.EMPTY_VARIABLE
    assert {path.name for path in folder.iterdir()} == {"fish.csv", "token.txt"}


# --- links -----------------------------------------------------------------------------------


def test_no_secret_stands_in_the_arguments_of_the_browser(folder):
    browser = folder / "browser"
    browser.write_text(
        '#!/bin/sh\nprintf "%s" "$*" > arguments.part\nmv arguments.part arguments\n'
    )
    browser.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(browser)}
    with started(env=environment) as (_, page):
        arguments = folder / "arguments"
        end = time.monotonic() + 60
        while not arguments.exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        address = arguments.read_text()
        assert re.fullmatch(r"file:///\S+/open\.html", address)
        opening = Path(address.removeprefix("file://"))
        link = re.search('url=([^"]+)', opening.read_text())[1]
        assert link.startswith(f"{page['address']}login?code=")
        assert status_of(link) == 200
        assert status_of(link) == 401
        while opening.parent.exists():
            assert time.monotonic() < end
            time.sleep(0.02)


def test_the_file_of_the_browser_goes_with_the_server(folder):
    browser = folder / "browser"
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o755)
    scratch = folder / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "BROWSER": str(browser), "TMPDIR": str(scratch)}
    with started(env=environment):
        end = time.monotonic() + 60
        while not list(scratch.glob("kernova-*/open.html")):
            assert time.monotonic() < end
            time.sleep(0.02)
    assert list(scratch.iterdir()) == []


def test_a_signal_prints_a_new_link(folder):
    with started("--no-browser") as (process, page):
        assert status_of(page["url"]) == 200
        assert status_of(page["url"]) == 401
        process.send_signal(signal.SIGUSR1)
        again = json.loads(process.stdout.readline())
        assert again["address"] == page["address"]
        assert again["url"] != page["url"]
        assert status_of(again["url"]) == 200


def test_enter_prints_a_new_link_at_a_terminal(folder):
    pty = pytest.importorskip("pty")
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [*START, "--no-browser"], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, preexec_fn=_in_a_terminal_of_its_own,
    )  # fmt: skip
    try:
        lines = [process.stdout.readline().rstrip() for _ in range(3)]
        assert lines[2] == messages.ENTER
        first = re.fullmatch(messages.OPEN_PAGE, lines[1])[1]
        os.write(main, b"\n")
        second = re.fullmatch(messages.OPEN_PAGE, process.stdout.readline().rstrip())[1]
        assert first != second
        assert (status_of(second), status_of(first)) == (200, 200)
        os.write(main, b"\x04")  # Ctrl-D: nothing more is read, and the server goes on
        assert status_of(second) == 401
        os.write(main, b"\x03")
        out, complaint = process.communicate(timeout=60)
        assert (process.returncode, complaint) == (0, "")
        assert out.splitlines()[-1] == messages.ALL_SAVED
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
        os.close(main)
        os.close(terminal)


def _in_a_terminal_of_its_own():
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


# --- HTTPS -----------------------------------------------------------------------------------


@pytest.fixture
def certificates(folder):
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes certificates, is not installed")
    for words in (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem "
        "-out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1",
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out other.pem",
        "pkey -in key.pem -aes256 -passout pass:secret -out encrypted.pem",
    ):
        subprocess.run(["openssl", *words.split()], check=True, capture_output=True)
    Path("both.pem").write_text(Path("cert.pem").read_text() + Path("key.pem").read_text())
    return folder


@pytest.mark.parametrize("files", [("cert.pem", "key.pem"), ("both.pem",)])
def test_the_page_is_served_by_https(certificates, files):
    words = ["--tls-cert", files[0], *(["--tls-key", files[1]] if files[1:] else [])]
    words += ["--host", "0.0.0.0", "--token", TOKEN, "--no-browser"]
    context = ssl.create_default_context(cafile="cert.pem")
    with started(*words) as (process, page):
        assert page["address"].startswith("https://127.0.0.1:")
        assert page["url"].startswith(page["address"])
        assert status_of(f"{page['address']}api/session", BEARER, context) == 200
        handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
        with urllib.request.build_opener(*handlers).open(page["url"], timeout=60) as reply:
            assert reply.headers["Set-Cookie"].endswith("HttpOnly; Path=/; SameSite=Strict; Secure")
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            status_of(page["address"].replace("https", "http"))
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60)[1] == ""  # in particular, no warning


def test_unusable_keys_are_rejected_before_a_file_is_made(certificates):
    before = set(certificates.iterdir())
    for key, sentence in (
        ("encrypted.pem", messages.ENCRYPTED_KEY),
        ("other.pem", messages.OTHER_KEY),
    ):
        assert rejected("--tls-cert", "cert.pem", "--tls-key", key) == sentence
    assert set(certificates.iterdir()) == before


# --- invitations and overlap -----------------------------------------------------------------


def test_invitations_are_printed_once_for_each_name(folder):
    words = ("--invite", " Anna  B.", "--invite", "Bob", "--invite", "Bob", "--no-browser")
    with started(*words) as (_, told):
        assert list(told["invitations"]) == ["Anna B.", "Bob"]
        [link] = told["invitations"]["Bob"]
        assert link.startswith(f"{told['address']}invitation?code=")
        assert status_of(link) == 200
        assert status_of(link) == 200  # it is used up by the button only
        assert status_of(f"{link}x") == 401


def test_the_terminal_says_who_can_open_the_links(folder):
    process = subprocess.Popen(
        [*START, "--invite", "Anna", "--no-browser"],
        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        lines = iter(process.stdout.readline, "")
        seen = []
        for line in lines:
            seen.append(line)
            if "Ctrl-C" in line:
                break
        text = " ".join("".join(seen).split())
        assert re.search(r"For Anna: http://127\.0\.0\.1:\d+/invitation\?code=\S+ ", text)
        assert "Send each link to its expert: it works once, within 72 hours." in text
        assert (
            "Other machines cannot open these links, because the page is served to this machine "
            "only: pass --host 0.0.0.0 with --token-file."
        ) in text
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)


def test_overlap_is_stored_in_the_project(folder):
    def plan_of(*words):
        with started("--no-browser", *words) as (_, told):
            token = {"Authorization": f"Bearer {told['token']}"}
            request = urllib.request.Request(f"{told['address']}api/overlap", headers=token)
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=60) as reply:
                plan = json.load(reply)
        return plan["fraction"], plan["experts"]

    assert plan_of("--overlap", "0.1") == (0.1, 2)
    assert plan_of() == (0.1, 2)
    assert plan_of("--overlap", "0.25", "--overlap-experts", "3") == (0.25, 3)
    assert plan_of("--overlap", "0") == (0.0, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--overlap-experts", "3"],
            "--overlap-experts needs the fraction of the rows; pass it with --overlap, such as "
            "--overlap 0.1.",
        ),
        (
            ["--terminal", "--invite", "Anna"],
            "--invite makes links to the page, and --terminal serves none; leave one of them out.",
        ),
        (
            ["--invite", "\u200b"],
            "An expert name must be readable text of 1 to 100 characters; got '\\u200b'.",
        ),
    ],
)
def test_options_of_colleagues_that_do_not_fit(folder, words, message):
    assert " ".join(rejected(*words).split()) == message
