"""A project that is deleted, replaced or overwritten under a running server: nothing is lost."""

import json
import random
import signal
import subprocess
import sys

import httpx
import pytest

from kernova.discover.store import open_project
from tests.web.in_process import TOKEN, Expert, fish, opened, served

PROJECT = "fish.kernova-project"


def _delete(path):
    path.unlink()


def _move(path):
    path.rename(path.with_name("moved"))


def _replace(path):
    path.with_name("other").write_bytes(b"something else")
    path.with_name("other").replace(path)


def _overwrite(path):
    path.write_bytes(b"something else")


def _restore(path):
    """Restore an older copy over the open file."""
    path.write_bytes(path.with_name("older").read_bytes())


ACCIDENTS = [_delete, _move, _replace, _overwrite, _restore]


@pytest.mark.soak
def test_every_answer_is_in_the_rescue_file(tmp_path, long_bar):
    rng = random.Random(2)
    n_accidents, n_answers = long_bar(100), 0
    fish(tmp_path)
    for case in range(n_accidents):
        folder = tmp_path / str(case)
        folder.mkdir()
        (folder / "fish.csv").write_bytes((tmp_path / "fish.csv").read_bytes())
        bench = opened(folder, strategy="random")
        path = folder / PROJECT
        with served(bench) as client:
            experts = [Expert(client, name) for name in ("Anna", "Bob")]
            (folder / "older").write_bytes(path.read_bytes())
            said = [
                _answered(rng.choice(experts), warned=False) for _ in range(rng.randrange(1, 6))
            ]
            ACCIDENTS[case % len(ACCIDENTS)](path)
            left = path.read_bytes() if path.exists() else None
            said += [_answered(rng.choice(experts), warned=True) for _ in range(rng.randrange(5))]
        rescue = bench.discovery.session.project_.rescue
        with open_project(rescue) as store:
            assert [(one.event.row, one.event.label) for one in store.records] == said
        assert (path.read_bytes() if path.exists() else None) == left
        n_answers += len(said)
    print({"accidents": n_accidents, "answers": n_answers, "lost": 0})


def _answered(expert, *, warned):
    row = (expert.question or expert.ask())["row"]
    saved = expert.answer(f"kind {row % 7}")["saved"]
    assert (saved["warning"] is not None) == warned
    return row, f"kind {row % 7}"


def test_the_command_ends_with_another_exit_code(tmp_path):
    fish(tmp_path)
    command = [sys.executable, "-m", "kernova", "discover", "fish.csv", "--id-column", "fish"]
    command += ["--drop", "kind", "--strategy", "random", "--port", "0", "--no-browser", "--json"]
    process = subprocess.Popen(
        [*command, "--token", TOKEN], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    address = json.loads(process.stdout.readline())["address"]
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=address, headers=headers, timeout=120, verify=False) as client:
        client.post("/api/answers", json={"row": 3, "label": "carp"}).raise_for_status()
        (tmp_path / PROJECT).unlink()
        saved = client.post("/api/answers", json={"row": 4, "label": "carp"}).json()["saved"]
        assert saved["warning"].startswith(f"The project {PROJECT} was deleted or moved while")
    process.send_signal(signal.SIGINT)
    text, complaint = process.communicate(timeout=120)
    assert process.returncode == 1
    assert complaint.startswith(f"kernova: The project {PROJECT} was deleted or moved while it was")
    assert json.loads(text)["warning"] in complaint.replace("--project", "`project`")
    (rescue,) = tmp_path.glob("fish-rescue-*.kernova-project")
    with open_project(rescue) as store:
        assert [record.event.row for record in store.records] == [3, 4]
