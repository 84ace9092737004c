"""Damaged projects: every flipped bit and every missing end is reported, the rest is kept."""

import random
import subprocess
import sys

import pytest

from kernova.discover.events import Changed, Lost, Record
from kernova.discover.project.content import read_content
from kernova.discover.project.lines import HEADER_LENGTH
from kernova.discover.project.reading import check_whole, losses, read_project
from kernova.discover.project.recovery import (
    back_up,
    damage_report,
    labels_table,
    recover,
    write_repaired,
)
from kernova.discover.store import open_project
from kernova.errors import InputError
from tests.discover.project.projects import IDS, labels_of, session_on, write_project


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a project, its labels and its records."""
    path = tmp_path_factory.mktemp("whole") / "fish.kernova-project"
    labels, records = write_project(path)
    return path.read_bytes(), labels, records


def report_on(path):
    reading = read_project(path)
    return damage_report(path, reading.content, recover(reading.content))


def test_an_intact_project_has_no_damage(tmp_path, whole):
    data, labels, records = whole
    (tmp_path / "p").write_bytes(data)
    assert report_on(tmp_path / "p") == []
    content = read_content(data)
    assert list(content.records.values()) == records
    table = labels_table(content, recover(content))
    assert dict(zip(table["id"], table["category"], strict=True)) == labels
    assert [content.id_of(row) for row in range(len(IDS))] == IDS


@pytest.mark.soak
def test_every_flipped_bit_is_reported_and_corrected(tmp_path, whole, long_bar):
    """One bit anywhere in the file: what is read is what was written, and the flip is named."""
    data, _, records = whole
    path = tmp_path / "p"
    bits = random.Random(3).sample(range(8 * len(data)), long_bar(400))
    n_line_ends = 0
    for bit in bits:
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        reading = read_project(path)
        assert list(reading.content.records.values()) == records
        assert [reading.content.id_of(row) for row in range(len(IDS))] == IDS
        is_line_end = data[bit // 8] == ord("\n")
        n_line_ends += is_line_end
        assert damage_report(path, reading.content, recover(reading.content)) != []
        with open_project(path) as store:  # it goes on, and says what was wrong
            assert store.records == records
            assert store.notes != []
    print({"flips": len(bits), "line ends": n_line_ends, "silent": 0})


def test_the_bits_of_an_entry_and_of_the_row_table_are_all_guarded(tmp_path, whole):
    data, _, records = whole
    begin, end = data.index(b"\ne 7 ") + 1, data.index(b"\ne 8 ") + 1
    rows = data.index(b"\nr 100 ") + 1
    for bit in [*range(8 * begin, 8 * end, 3), *range(8 * rows, 8 * rows + 400, 13)]:
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        content = read_content(bytes(damaged))
        assert list(content.records.values()) == records
        assert content.corrected or content.gaps


@pytest.mark.soak
def test_a_damaged_entry_is_lost_alone(tmp_path, whole, long_bar):
    """Several wrong bytes in one entry: it is named, all others are kept, no row gets its label."""
    data, labels, records = whole
    rng = random.Random(4)
    path = tmp_path / "p"
    for number in rng.choices(range(1, len(records) + 1), k=long_bar(200)):
        begin = data.index(b"\ne %d " % number) + 1
        end = data.index(b"\n", begin)
        damaged = bytearray(data)
        for position in rng.sample(range(begin, end), 4):
            damaged[position] = rng.randrange(256)
        path.write_bytes(damaged)
        content = read_project(path).content
        recovery = recover(content)
        assert recovery.unreadable == [number]
        assert all(content.records[one] == records[one - 1] for one in content.records)
        assert len(content.records) == len(records) - 1
        named = f"entry {number} of" if number < len(records) else "its end is missing or not"
        with pytest.raises(InputError, match=f"is damaged: {named}"):
            open_project(path)
        _check_labels(labels_table(content, recovery), labels, records, number)


def _check_labels(table, labels, records, lost):
    """Every label is one that the row had at some time, and most are as they were."""
    found = dict(zip(table["id"], table["category"], strict=True))
    assert set(found) <= set(labels) | {IDS[row] for row in _rows_of(records, lost)}
    names = {"carp", "pike", "äsche", "eel", "roach", "bream", "mistake"}
    names |= {f"{age} {turn}" for age in ("new", "old") for turn in range(4)}
    assert set(found.values()) <= names
    affected = {IDS[row] for row in _rows_of(records, lost)}
    renamed = {"äsche": "carp"} | {f"new {turn}": f"old {turn}" for turn in range(4)}
    for row_id, label in labels.items():
        if row_id not in affected and row_id in found:
            assert label in (found[row_id], renamed.get(found[row_id]))


def _rows_of(records, number):
    """The rows that an entry, or the one that it undoes, is about."""
    event = records[number - 1].event
    if getattr(event, "entry", None):
        event = records[event.entry - 1].event
    events = [event, *(one.event for one in records if _is_changed_by(one.event, event))]
    return [
        row
        for one in events
        for row in (getattr(one, "row", None), *_several(one))
        if isinstance(row, int)
    ]


def _is_changed_by(answer, event):
    return isinstance(event, Changed) and getattr(answer, "row", None) == event.row


def _several(event):
    return (*getattr(event, "others", ()), *getattr(event, "rows", ()))


@pytest.mark.soak
def test_every_missing_end_is_reported(tmp_path, whole, long_bar):
    data, _, records = whole
    path = tmp_path / "p"
    rng = random.Random(5)
    line_ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")][:-1]
    n_cuts = long_bar(200)
    cuts = rng.choices(line_ends, k=n_cuts // 2) + rng.choices(range(1, len(data) - 1), k=n_cuts)
    for n_bytes in cuts[:n_cuts]:
        path.write_bytes(data[:n_bytes])
        with pytest.raises(InputError, match=r"not a kernova project|is damaged: its "):
            open_project(path)
        assert path.read_bytes() == data[:n_bytes]
        if n_bytes > HEADER_LENGTH:
            content = read_project(path).content
            assert list(content.records.values()) == records[: len(content.records)]
            assert report_on(path) != []


def test_the_end_of_the_last_line_is_not_missed(tmp_path, whole):
    data, _, records = whole
    (tmp_path / "p").write_bytes(data[:-1])
    with open_project(tmp_path / "p") as store:
        assert store.records == records
        store.append(Record(records[0].event, key="more"))
    with open_project(tmp_path / "p") as store:
        assert (len(store.records), store.notes) == (len(records) + 1, [])


def test_an_unfinished_entry_is_left_out_with_a_sentence(tmp_path, whole):
    data, _, records = whole
    unfinished = data + b'e 99 120 0123456789abcdef {"at": "2026-'
    (tmp_path / "p").write_bytes(unfinished)
    with open_project(tmp_path / "p") as store:
        assert store.records == records
        assert store.notes == [
            f"39 bytes of {tmp_path / 'p'} belong to no entry and were left out. They may be an "
            "entry that was being written when the process ended; such an entry was never "
            "acknowledged."
        ]
        store.append(Record(records[0].event, key="more"))
    with open_project(tmp_path / "p") as store:
        assert (len(store.records), store.notes) == (len(records) + 1, [])


def test_lines_of_another_project_are_not_read(tmp_path, whole):
    data, _, records = whole
    write_project(tmp_path / "other", n_rounds=6)
    other = (tmp_path / "other").read_bytes().splitlines(keepends=True)
    foreign = b"".join(line for line in other if line.startswith(b"e "))
    (tmp_path / "p").write_bytes(data + foreign)
    with open_project(tmp_path / "p") as store:
        assert store.records == records
    lines = data.splitlines(keepends=True)
    lines[10] = next(line for line in other if line.startswith(lines[10][:4]))
    (tmp_path / "p").write_bytes(b"".join(lines))
    with pytest.raises(InputError, match="is damaged: entry"):
        open_project(tmp_path / "p")


def test_moved_and_repeated_entries_are_not_taken_for_others(tmp_path, whole):
    data, _, records = whole
    lines = data.splitlines(keepends=True)
    lines[8], lines[9] = lines[9], lines[8]
    content = read_content(b"".join([*lines, lines[8]]))
    assert list(content.records.values()) == records
    assert len(content.gaps) == 1  # the repeated one


def test_a_damaged_header_and_damaged_settings(tmp_path, whole):
    data, _, records = whole
    content = read_content(b"?" * 20 + data[20:])
    assert list(content.records.values()) == records
    assert losses(content)[0].startswith("its first line is not readable; 45 entries can be read")
    begin = data.index(b"\nh 0 ")
    content = read_content(data[: begin + 60] + b"????" + data[begin + 64 :])
    assert losses(content) == ["its settings are not readable."]
    assert list(content.records.values()) == records
    with pytest.raises(InputError, match="cannot be continued"):
        write_repaired(tmp_path / "new", content, recover(content))
    table = labels_table(content, recover(content))
    assert len(table) > 20


def test_a_damaged_row_table_is_restored_from_the_table(tmp_path, whole):
    data, labels, _ = whole
    begin = data.index(b"\nr 100 ")
    path = tmp_path / "p"
    path.write_bytes(data[: begin + 60] + b"????" + data[begin + 64 :])
    content = read_project(path).content
    table = labels_table(content, recover(content))
    assert table.loc[table["row"].between(100, 199), "id"].isna().all()
    assert table.loc[~table["row"].between(100, 199), "id"].notna().all()
    assert check_whole(path, content) == [
        f"The stored ids of the rows 100 to 199 are not readable in {path}; the entries are not "
        "affected."
    ]
    with session_on(path) as session:
        assert labels_of(session) == labels
    with open_project(path) as store:
        assert store.digest.ids[150] == f'"{IDS[150]}"'


def test_a_damaged_line_of_columns_is_named_and_written_again(tmp_path, whole):
    data, labels, _ = whole
    begin = data.index(b"\nc 0 ")
    path = tmp_path / "p"
    path.write_bytes(data[: begin + 40] + b"????" + data[begin + 44 :])
    assert report_on(path) == [
        f"The stored names of the table's columns are not readable in {path}; the entries are not "
        "affected."
    ]
    with session_on(path) as session:
        assert labels_of(session) == labels
    with open_project(path) as store:
        assert store.digest.columns == ("0", "1", "2")


def test_ids_do_not_move_when_settings_and_rows_are_damaged(whole):
    data, _, _ = whole
    damaged = bytearray(data)
    for line in (b"\nh 0 ", b"\nr 0 "):
        begin = data.index(line)
        damaged[begin + 40 : begin + 60] = b"?" * 20
    content = read_content(bytes(damaged))
    assert content.digest is None
    assert (content.id_of(30), content.id_of(130)) == (None, IDS[130])


def test_a_repaired_project_goes_on(tmp_path, whole):
    data, labels, records = whole
    begin = data.index(b"\ne 9 ")  # a rename: entries that name the new category depend on it
    path = tmp_path / "p"
    path.write_bytes(data[: begin + 60] + b"????" + data[begin + 64 :])
    content = read_project(path).content
    recovery = recover(content)
    write_repaired(tmp_path / "new", content, recovery)
    with session_on(tmp_path / "new") as session:
        assert len(session.records_) == len(records)
        assert session.records_[8].event == Lost()
        assert set(labels_of(session)) == set(labels)
        session.next_question()
        session.answer("carp")
    with pytest.raises(InputError, match="it already exists"):
        write_repaired(tmp_path / "new", content, recovery)


def test_a_backup_is_complete_and_overwrites_nothing(tmp_path, whole):
    data, _, _ = whole
    (tmp_path / "fish.kernova-project").write_bytes(data)
    copy = back_up(tmp_path / "fish.kernova-project")
    assert copy.name.startswith("fish-backup-20")
    assert copy.read_bytes() == data
    with pytest.raises(InputError, match="it already exists"):
        back_up(tmp_path / "fish.kernova-project", copy)
    assert back_up(tmp_path / "fish.kernova-project") != copy


def test_a_forged_file_that_promises_lines_everywhere_is_read_at_once(tmp_path, whole):
    data, _, _ = whole
    fake = b"e 1 900000 0123456789abcdef "
    program = (
        "import sys; from kernova.discover.project.content import read_content\n"
        "content = read_content(open(sys.argv[1], 'rb').read())\n"
        "print(len(content.records))"
    )
    path = tmp_path / "p"
    path.write_bytes(data + fake * 40_000)
    said = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert said.stdout == "45\n"
