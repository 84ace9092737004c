"""The journal of finished runs: what a killed process leaves, and what others may not do."""

import os
from dataclasses import replace

import pytest

from kernova.errors import InputError
from kernova.proving.journal import FILE_NAME, RunKey, RunRecord, opened_journal
from kernova.proving.runs import Course, Measures
from tests.proving import messages


def record(draw=0, *, error="", fingerprint="code"):
    course = None if error else Course(Measures(9.0, 7.5, 0.1 + 0.2, True), (1.0, 7.5, 9.0))
    key = RunKey("tiny", draw, "nndm", 0.05)
    return RunRecord(key, fingerprint, "rows", course, 0.25, error)


def written(folder, *records):
    with opened_journal(folder) as journal:
        for one in records:
            journal.append(one)
    return folder / FILE_NAME


def read(folder):
    with opened_journal(folder) as journal:
        return list(journal.records.values())


@pytest.mark.parametrize("one", [record(), record(error="Why.")], ids=["done", "failed"])
def test_a_record_is_read_as_it_was_written(tmp_path, one):
    written(tmp_path, one)
    assert read(tmp_path) == [one]


def test_of_records_with_one_key_the_last_counts(tmp_path):
    written(tmp_path, record(error="Why."), record(1), record(fingerprint="newer"))
    assert read(tmp_path) == [record(1), record(fingerprint="newer")]


def test_the_newest_rows_of_a_draw_are_those_that_were_run_last(tmp_path):
    changed = replace(record(fingerprint="newer"), rows="changed")
    not_drawn = replace(record(error="Why."), rows="")
    written(tmp_path, record(), record(1), changed, not_drawn)
    with opened_journal(tmp_path) as journal:
        assert journal.newest_rows() == {("tiny", 1): "rows"}
        journal.append(changed)
        journal.append(replace(record(), key=RunKey("tiny", 1, "random", 0.0), rows="changed"))
        assert journal.newest_rows() == {("tiny", 0): "changed", ("tiny", 1): "changed"}


def test_half_a_line_at_the_end_is_ignored_and_removed(tmp_path):
    path = written(tmp_path, record(0), record(1))
    whole = path.read_bytes()
    for n_bytes in (1, 10, len(record(1).to_line()) - 1):
        path.write_bytes(whole[:-n_bytes])
        assert read(tmp_path) == [record(0)]
        written(tmp_path, record(2))
        assert read(tmp_path) == [record(0), record(2)]
    path.write_bytes(whole[:5])
    assert read(tmp_path) == []


@pytest.mark.parametrize("line", [b"{}", b"[]", b"7", b'"text"', b"null", b"\xff", b""])
def test_a_damaged_line_is_named(tmp_path, line):
    path = written(tmp_path, record())
    path.write_bytes(path.read_bytes() + line + b"\n" + record(1).to_line())
    with pytest.raises(InputError) as error, opened_journal(tmp_path):
        pass
    assert str(error.value) == messages.DAMAGED.format(path=path)


@pytest.mark.skipif(os.name != "posix", reason="needs fcntl")
def test_one_process_at_a_time(tmp_path):
    path = tmp_path / FILE_NAME
    with opened_journal(tmp_path):
        with pytest.raises(InputError) as error, opened_journal(tmp_path):
            pass
        assert str(error.value) == messages.TAKEN.format(path=path)
    assert read(tmp_path) == []


def test_a_folder_that_is_not_there(tmp_path):
    folder = tmp_path / "nowhere"
    with pytest.raises(InputError) as error, opened_journal(folder):
        pass
    assert str(error.value) == messages.NO_FOLDER_OF_JOURNAL.format(path=folder / FILE_NAME)
