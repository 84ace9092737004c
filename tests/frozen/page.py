"""Play a session at the page of ``kernova discover`` over HTTP, and keep what the server answers.

The command runs in a process of its own; nothing but its addresses is used.
"""

import io
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pandas as pd

import kernova

from .running import condensed, condensed_table, outcome_of, working_in
from .storage import inputs

WORDS = ["discover", "rare.csv", "--id-column", "row", "--drop", "kind", "--no-browser", "--json"]
TOKEN = "frozen-session-token-of-the-tests"
# What differs from run to run: moments, and how often something had changed.
_PASSING = {"at", "time", "version"}
# Columns of the labels that the landed version had; others were added behind them.
_COLUMNS = ["row", "category", "question", "expert", "time"]


class Page:
    """The server of a page in a folder; use it as a context manager."""

    def __init__(self, folder, options=()):
        self._folder, self._options = folder, options

    def __enter__(self):
        # The kernova that is tested here, whichever is installed.
        source = str(Path(kernova.__file__).parents[1])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kernova", *WORDS, *self._options, "--port", "0",
             "--token", TOKEN],
            cwd=self._folder, stdout=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "PYTHONPATH": source},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        self._base = json.loads(self._process.stdout.readline())["address"].rstrip("/")
        return self

    def __exit__(self, *error):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self.rest, _ = self._process.communicate(timeout=60)

    def ask(self, method, path, body=None):
        """Send a request; give the status and the content."""
        request = urllib.request.Request(
            f"{self._base}/api{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


def played(folder, options=()):
    """Play the session, and return all replies, condensed; ``options`` are of the command."""
    found = {}
    with Page(folder, options) as page:

        def ask(name, method, path, body=None):
            status, content = page.ask(method, path, body)
            answer = json.loads(content)
            found[name] = {"status": status, "answer": condensed(_without_passing(answer))}
            return answer

        _answer_questions(ask, inputs()["rare_labels"])
        _correct_answers(ask)
        for path in ("/session", "/state", "/history?limit=60", "/rows/7", "/rows?find=r01"):
            ask(path, "GET", path)
        found["learn"] = page.ask("POST", "/learn", {"expert": "Anna"})[0]
        _wait_until_learnt(page)
        ask("learnt", "GET", "/learn")
        for verdict in ("known", "ambiguous", "unknown"):
            ask(verdict, "GET", f"/learn/rows?verdict={verdict}&limit=20")
        found |= _downloads(page)
        (folder / "page.kernova").write_bytes(page.ask("GET", "/downloads/model.kernova")[1])
    found["end"] = condensed(json.loads(page.rest))
    words = ["recognize", "page.kernova", "rare.csv", "--id-column", "row", "--drop", "kind"]
    with working_in(folder):
        found["recognized"] = outcome_of([*words, "--json"])
    return json.loads(json.dumps(found))


def _answer_questions(ask, truth):
    """Let two experts answer in turn; one question is skipped, two answers label a cluster."""
    for name in ("Anna", "Bob"):
        ask(f"join {name}", "POST", "/experts", {"name": name})
    for number in range(14):
        expert = ("Anna", "Bob")[number % 2]
        asked = ask(f"question {number}", "POST", "/question", {"expert": expert})
        row = asked["question"]["row"]
        body = {"expert": expert, "row": row, "key": f"key-{number}"}
        if number == 3:
            ask(f"skip {number}", "POST", "/skips", body)
            continue
        body |= {"label": f"kind-{truth[row]}"}
        if number in (5, 8):
            body["members"] = asked["question"]["members"][:6]
        ask(f"answer {number}", "POST", "/answers", body)


def _correct_answers(ask):
    """Correct answers in every way that the page offers, and once in a way that fails."""
    ask("change", "PATCH", "/answers/2", {"expert": "Bob", "label": "kind-z"})
    ask("undo", "POST", "/undo", {"expert": "Anna"})
    ask("labels", "POST", "/labels", {"expert": "Anna", "rows": [50, 51, 52], "label": "kind-y"})
    ask("contradict", "POST", "/labels", {"expert": "Bob", "rows": [50], "label": "kind-a"})
    ask("disagreements", "GET", "/disagreements")
    ask("settle", "POST", "/disagreements/50", {"expert": "Bob", "label": "kind-y"})
    ask("rename", "POST", "/categories/rename", {"old": "kind-y", "new": "kind-x"})
    ask("merge", "POST", "/categories/merge", {"into": "kind-a", "others": ["kind-x"]})
    ask("delete", "POST", "/categories/delete", {"name": "kind-z"})
    ask("bad", "POST", "/categories/delete", {"name": "nobody"})


def _downloads(page):
    """Return the colours of the map and the downloaded tables of labels, condensed."""
    codes = page.ask("GET", "/map/labels")[1], page.ask("GET", "/map/labels?colour=learnt")[1]
    labels = pd.read_csv(io.BytesIO(page.ask("GET", "/downloads/labels.csv")[1]))
    columns = pd.read_parquet(io.BytesIO(page.ask("GET", "/downloads/labels.parquet")[1]))
    return {
        "codes": condensed([list(memoryview(one).cast("H")) for one in codes]),
        "labels.csv": condensed_table(labels[_COLUMNS].assign(time=labels["time"].notna())),
        "labels.parquet": condensed_table(columns[_COLUMNS].assign(time=columns["time"].notna())),
    }


def _wait_until_learnt(page):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        learnt = json.loads(page.ask("GET", "/learn")[1])
        # It learns by itself, too: earlier answers may have led to another model.
        if learnt["state"] == "ready" and not learnt["is_stale"]:
            return
        time.sleep(0.1)


def _without_passing(value):
    if isinstance(value, list):
        return [_without_passing(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: "passing" if key in _PASSING else _without_passing(one) for key, one in value.items()
    }
