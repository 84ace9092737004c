"""Fixtures of the command line's tests."""

import json
import shutil

import pytest

from kernova.notes.demo import SAMPLE_RATE
from tests.cli.aviary import CLASSES, LEARN, run


@pytest.fixture(scope="session")
def aviary(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aviary")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert "  kernova notes learn " in run("notes", "demo", "--folder", ".")
        answer = json.loads(run(*LEARN, "-o", "model.kernova", "--json"))
    assert answer["files"] == {"model": "model.kernova"}
    assert [line["class"] for line in answer["classes"]] == CLASSES
    assert [line["notes"] for line in answer["classes"]] == [11, 11, 11]
    assert answer["sample_rate"] == SAMPLE_RATE
    return folder


@pytest.fixture
def birds(aviary, tmp_path, monkeypatch):
    present = shutil.copytree(aviary, tmp_path / "here")
    monkeypatch.chdir(present)
    return present
