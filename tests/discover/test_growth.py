"""Sessions and project files that grow: events, undo, damage and repair, questions first."""

import numpy as np
import pandas as pd
import pytest

from kernova import CategoryDiscovery
from kernova.discover.events import RowsAdded, event_from_json, event_to_json
from kernova.discover.growth.batches import BatchJudgement
from kernova.discover.project.content import read_content
from kernova.discover.project.lines import HEADER_LENGTH, Header
from kernova.discover.project.reading import read_project
from kernova.discover.project.recovery import back_up, recover, write_repaired
from kernova.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(250, 3))
MORE = RNG.normal(size=(130, 3)) + 5
JUDGED = BatchJudgement([3, 7, 9], [0.001, 0.002, 0.003], [1, 1, 0], 1, 100, 50)
UNLIKE = "It is unlike all 250 rows before it. Of 130 new rows 3 look new; 1 or fewer would be "


@pytest.fixture
def grown(tmp_path):
    """A project of 250 rows with an answer, a batch of 130 rows, and another answer; closed."""
    path = tmp_path / "rows.kernova-project"
    with CategoryDiscovery("random").start(X, project=path) as session:
        session.label_row(5, "carp")
        session.add_rows(MORE, judgement=JUDGED)
        session.label_row(300, "pike")
    return path


def reopened(path):
    return CategoryDiscovery("random").start(np.vstack([X, MORE]), project=path)


def test_the_event_has_one_json_form():
    event = RowsAdded(250, 5, "f1ce", (251,), (1,), (1000,), 1, 90, 2, (252,), ("carp",))
    assert event_from_json(event_to_json(event)) == event
    plain = '{"event": "rows added", "first": 2, "n_rows": 3, "fingerprint": "f1ce"}'
    assert event_from_json(plain) == RowsAdded(2, 3, "f1ce")


def test_rows_that_look_new_are_asked_first_one_of_each_group(grown):
    with reopened(grown) as session:
        question = session.next_question()
        assert (question.row, question.members.tolist()) == (253, [253, 257])
        assert question.reason == (UNLIKE + "expected by chance. Another of them lies near it.")
        assert question.evidence == {"p_value": 0.001, "rows_before": 250.0}
        other = session.next_question("Bob")  # no row of a group that is open for another
        assert other.row == 259
        session.release("Bob")
        session.answer("eel")
        assert session.next_question().row == 259
        session.skip()
        assert session.n_waiting_(0) == 0
        assert not session.next_question().reason.startswith("It is unlike")
        session.undo()
        assert session.next_question().row == 259


def test_state_and_log_are_those_of_a_replay(grown):
    with reopened(grown) as session:
        assert len(session.ids_) == 380
        assert session.categories_ == {"carp": (5,), "pike": (300,)}
        again = CategoryDiscovery("random").replay(session.records_, np.vstack([X, MORE]))
        assert again.categories_ == session.categories_
        assert again.batches_ == session.batches_
        assert again.next_question().row == session.next_question().row


def test_a_batch_stays_when_everything_else_is_undone(grown):
    with reopened(grown) as session:
        session.undo()
        session.undo()
        with pytest.raises(InputError) as caught:
            session.undo()
        assert str(caught.value) == "There is nothing to undo."
        assert (len(session.ids_), session.categories_) == (380, {})


def test_labels_known_in_advance_come_with_the_batch(tmp_path):
    path = tmp_path / "rows"
    with CategoryDiscovery("random").start(X, known={1: "carp"}, project=path) as session:
        session.add_rows(MORE, known=["eel", *[None] * 129])
        assert session.categories_ == {"carp": (1,), "eel": (250,)}
    known = ["eel" if row == 250 else "carp" if row == 1 else None for row in range(380)]
    with CategoryDiscovery("random").start(np.vstack([X, MORE]), known=known, project=path) as one:
        assert one.categories_ == {"carp": (1,), "eel": (250,)}


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            X,
            "The project {path} has 380 rows, 130 of which were added in 1 batch; got only the 250 "
            "that it was started with. Give all rows, those that were added behind the others.",
        ),
        (
            np.vstack([X, np.vstack([MORE[:129], [[0, 0, 0]]])]),
            "The rows that batch 1 added to the project {path} have changed. The row 379 has other "
            "values in '0', '1' and '2'. Give them as they were when they were added.",
        ),
        (
            np.vstack([X, MORE[:100]]),
            "The project {path} belongs to another table: 100 rows (250, 251, 252, 253, 254 and 95 "
            "more) were added. Give the table that the project was started with, or another "
            "project.",
        ),
    ],
)
def test_other_rows_are_rejected(grown, rows, sentence):
    with pytest.raises(InputError) as caught:
        CategoryDiscovery("random").start(rows, project=grown)
    assert str(caught.value) == sentence.format(path=grown)


@pytest.mark.parametrize(
    ("more", "ids", "sentence"),
    [
        (
            np.zeros((2, 4)), None,
            "New rows must have the columns of the table, 3 in the same order; got 4.",
        ),
        (
            MORE, range(130),
            "New rows need ids that no row has, but the table has 0, 1, 2, 3, 4, and 125 more "
            "already. Leave such rows out, or give them other ids.",
        ),
    ],
)  # fmt: skip
def test_rows_that_do_not_fit_are_not_added(more, ids, sentence):
    session = CategoryDiscovery("random").start(X)
    with pytest.raises(InputError) as caught:
        session.add_rows(more, ids)
    assert str(caught.value) == sentence
    assert session.n_records_ == 0


def test_a_repeated_request_adds_once():
    session = CategoryDiscovery("random").start(X)
    assert session.add_rows(MORE, key="night 1") == session.add_rows(MORE, key="night 1") == 1
    assert len(session.ids_) == 380


def test_wherever_writing_ends_the_batch_is_there_or_not(grown):
    data = grown.read_bytes()
    project = read_content(data).project
    begin = data.index(b"\n", data.index(b"e 1 ")) + 1
    end = data.index(b"\n", data.index(b"e 2 ")) + 1
    header = Header(project, 1).to_bytes()
    for cut in range(begin, end + 1):
        content = read_content(header + data[HEADER_LENGTH:cut])
        is_in = cut >= end - 1  # the line end may be missing
        assert (content.n_rows, len(content.records)) == ((380, 2) if is_in else (250, 1)), cut
        assert content.length == (end if is_in else begin)
        assert content.lost_rows == []


def test_what_was_never_finished_is_written_over(grown):
    data = grown.read_bytes()
    begin = data.index(b"r 250 ")
    project = read_content(data).project
    header = Header(project, 1).to_bytes()
    grown.write_bytes(header + data[HEADER_LENGTH : data.index(b"e 2 ")])
    with CategoryDiscovery("random").start(X, project=grown) as session:
        assert session.n_records_ == 1
        session.label_row(6, "carp")
        session.add_rows(MORE[:30])
    content = read_project(grown).content
    assert (content.n_rows, content.gaps, content.lost_rows) == (280, [], [])
    assert content.id_of(279) == 279
    assert grown.read_bytes()[:begin][HEADER_LENGTH:] == data[HEADER_LENGTH:begin]


def test_a_lost_entry_of_a_batch_is_recovered_from_its_ids(grown, tmp_path):
    data = grown.read_bytes()
    begin = data.index(b"e 2 ")
    grown.write_bytes(data[:begin] + b"#" * 60 + data[begin + 60 :])
    content = read_project(grown).content
    recovery = recover(content)
    assert (recovery.unreadable, recovery.dependent) == ([2], [])
    assert recovery.log.state.categories == {"carp": [5], "pike": [300]}
    write_repaired(tmp_path / "repaired", content, recovery)
    with reopened(tmp_path / "repaired") as session:
        assert session.categories_ == {"carp": (5,), "pike": (300,)}
        assert session.batches_[0].unlike == ()  # what was found out is lost


@pytest.mark.parametrize("where", [b"s 1 ", b"r 350 "])
def test_damage_beside_the_entries_does_no_harm(grown, where):
    data = grown.read_bytes()
    begin = data.index(where) + 40
    grown.write_bytes(data[:begin] + b"#" * 9 + data[begin + 9 :])
    with reopened(grown) as session:
        assert session.categories_ == {"carp": (5,), "pike": (300,)}
        assert len(session.project_.notes) == 1


def test_copies_hold_the_batches(grown, tmp_path):
    copy = back_up(grown, tmp_path / "copy")
    content = read_project(copy).content
    write_repaired(tmp_path / "repaired", content, recover(content))
    for path in (copy, tmp_path / "repaired"):
        with reopened(path) as session:
            assert session.batches_[0].unlike == (253, 257, 259)
        assert read_project(path).content.id_of(379) == 379


def test_a_rescue_file_holds_the_batches(grown):
    session = reopened(grown)
    grown.unlink()
    session.label_row(301, "pike")
    rescue = session.project_.rescue
    session.close()
    with reopened(rescue) as again:
        assert again.categories_ == {"carp": (5,), "pike": (300, 301)}
        assert read_project(rescue).content.id_of(370) == 370


def test_a_table_with_names_and_texts_grows(tmp_path):
    rows = pd.DataFrame(X[:60], columns=list("abc"), index=[f"a{row}" for row in range(60)])
    more = pd.DataFrame(MORE[:9], columns=list("abc"), index=[f"b{row}" for row in range(9)])
    with CategoryDiscovery("random").start(rows, project=tmp_path / "p") as session:
        session.add_rows(more)
    both = pd.concat([rows, more])
    with CategoryDiscovery("random").start(both, project=tmp_path / "p") as session:
        assert session.ids_[-1] == "b8"
        with pytest.raises(InputError) as caught:
            session.add_rows(more[["b", "a", "c"]])
        assert str(caught.value) == (
            "New rows must have the columns of the table, 3 in the same order; got 3: b, a, c."
        )
