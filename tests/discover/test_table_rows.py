"""What a session begins with: tables, ids, labels known before, and names of categories."""

import numpy as np
import pandas as pd
import pytest

from kernova.discover.names import category_name
from kernova.discover.session import CategoryDiscovery
from kernova.discover.strategies import STRATEGIES
from kernova.errors import InputError
from tests.discover.scripted import ShuffledRows

X = np.random.default_rng(1).normal(size=(8, 2))
IDS = list("abcdefgh")


def refused(act, *args, **kwargs):
    with pytest.raises(InputError) as caught:
        act(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("  great   crested\tgrebe\n", "great crested grebe"),
        (3, "3"),
        (np.int64(3), "3"),
        (3.0, "3"),
        (np.float32(0.5), "0.5"),
        (10**400, str(10**400)),
        (True, "True"),
        (np.True_, "True"),
        (np.str_("carp"), "carp"),
        ("cafe\u0301", "caf\u00e9"),
        ("Größe 名", "Größe 名"),
        ("nan", "nan"),
        ("<NA>", "<NA>"),
    ],
)
def test_a_label_becomes_a_readable_name(label, name):
    assert category_name(label) == name
    assert type(category_name(label)) is str


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("\x1b[A", "A category's name is readable text; got '\\x1b[A'. Type it again."),
        ("a\x00b", "A category's name is readable text; got 'a\\x00b'. Type it again."),
        ("caf\udce9", "A category's name is readable text; got 'caf\\udce9'. Type it again."),
        (["carp"], "A category's name is text or a number; got ['carp'], a list."),
        (b"carp", "A category's name is text or a number; got b'carp', a bytes."),
    ],
)
def test_a_label_that_is_no_text_is_refused(label, sentence):
    assert refused(category_name, label) == sentence


def test_ids_come_from_a_frames_index_or_are_places():
    frame = pd.DataFrame(X, columns=["u", "v"], index=[f"fish {i}" for i in range(8)])
    session = CategoryDiscovery(ShuffledRows()).start(frame)
    question = session.next_question()
    assert question.id == frame.index[question.row]
    assert CategoryDiscovery(ShuffledRows()).start(X).next_question().id == question.row
    numbered = CategoryDiscovery(ShuffledRows()).start(X, ids=np.arange(8, 0, -1))
    numbered.label_row(8, "first")
    assert numbered.categories_ == {"first": (0,)}
    assert all(type(one) is int for one in numbered.ids_)


@pytest.mark.parametrize(
    "known",
    [
        {"c": "carp", "a": "pike"},
        ["pike", None, "carp", float("nan"), pd.NA, "", " ", None],
        np.array(["pike", None, " carp "] + [None] * 5, dtype=object),
        pd.Series(["pike", None, "carp"] + [None] * 5, index=range(5, 13)),
    ],
    ids=["by id", "list", "array", "series"],
)
def test_prior_labels_by_id_or_one_for_each_row(known):
    session = CategoryDiscovery(ShuffledRows()).start(X, IDS, known)
    assert session.labels_.tolist() == ["pike", None, "carp"] + [None] * 5
    assert len(session.log_) == 1
    assert session.curve_ == []
    while session.next_question() is not None:
        session.answer("x")
    assert sorted(session.asked_) == [1, 3, 4, 5, 6, 7]
    assert session.curve_ == [3] * 6


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            {"ids": list("abcdefgc")},
            "Ids must differ, but 'c' is the id of both row 2 and row 7, counted from 0.",
        ),
        ({"ids": list("abc")}, "There are 3 ids for 8 rows; give one for each row."),
        ({"known": {"z": "x"}}, "No row has the id 'z'."),
        (
            {"ids": [f"carp-{i}" for i in range(8)], "known": {"carp-9": "x"}},
            "No row has the id 'carp-9'. Did you mean 'carp-7'?",
        ),
        (
            {"known": ["x"]},
            "Prior labels come as one for each of the 8 rows, missing where none is known, or as a "
            "mapping from ids; got an array of shape (1,).",
        ),
        (
            {"X": [1.0, 2.0]},
            "A table has two dimensions, rows and columns; got an array of shape (2,).",
        ),
        (
            {"X": np.empty((0, 2))},
            "The table has 0 rows and 2 columns; at least one of each is needed.",
        ),
        (
            {"X": pd.DataFrame({"u": [1, 2], "v": pd.array([1, None], dtype="Int64")})},
            "The table holds nan in row 1 and column 1, counted from 0. Only finite numbers can be "
            "used: fill in or drop missing values first.",
        ),
        (
            {"X": [["f"]] * 8},
            "The table does not hold numbers only. Encode it first, for example with "
            "TableEncoder().fit_transform(X).",
        ),
        (
            {"X": pd.DataFrame({"sex": ["f"] * 8})},
            "Column 'sex' does not hold numbers. Encode the table first, for example with "
            "TableEncoder().fit_transform(X).",
        ),
        (
            {"strategy": "guess"},
            f"There is no strategy named 'guess'. Take one of {', '.join(STRATEGIES)}.",
        ),
    ],
)
def test_a_session_that_cannot_begin_says_why(words, sentence):
    words = {"X": X, "ids": IDS, "strategy": ShuffledRows(), **words}
    strategy, table = words.pop("strategy"), words.pop("X")
    assert refused(CategoryDiscovery(strategy).start, table, **words) == sentence
