"""Rows of a session: numbers, ids and prior labels."""

import numpy as np
import pandas as pd
import pytest

from kernova.discover.session import CategoryDiscovery
from tests.discover import messages
from tests.discover.scripted import ShuffledRows
from tests.discover.sessions import IDS, X, rejected


def test_ids_are_the_index_of_a_data_frame_or_row_indices():
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
    ("options", "sentence"),
    [
        (
            {"ids": list("abcdefgc")},
            messages.REPEATED_ID.format(id="c", row=2, other=7),
        ),
        ({"ids": list("abc")}, messages.WRONG_NUMBER_OF_IDS.format(n_ids=3, n_rows=8)),
        ({"known": {"z": "x"}}, messages.NO_SUCH_ID.format(id="z")),
        (
            {"ids": [f"carp-{i}" for i in range(8)], "known": {"carp-9": "x"}},
            messages.NO_SUCH_ID_BUT.format(id="carp-9", close="carp-7"),
        ),
        (
            {"known": ["x"]},
            messages.WRONG_PRIOR_LABELS.format(n_rows=8, shape=(1,)),
        ),
        (
            {"X": [1.0, 2.0]},
            messages.NOT_TWO_DIMENSIONS.format(shape=(2,)),
        ),
        (
            {"X": np.empty((0, 2))},
            messages.EMPTY_TABLE,
        ),
        (
            {"X": pd.DataFrame({"u": [1, 2], "v": pd.array([1, None], dtype="Int64")})},
            messages.NOT_FINITE.format(value="nan", row=1, column=1),
        ),
        (
            {"X": [["f"]] * 8},
            messages.NOT_NUMERIC,
        ),
        (
            {"X": pd.DataFrame({"sex": ["f"] * 8})},
            messages.COLUMN_NOT_NUMERIC.format(name="sex"),
        ),
        (
            {"strategy": "guess"},
            messages.NO_SUCH_STRATEGY.format(name="guess"),
        ),
    ],
)
def test_bad_input_is_rejected(options, sentence):
    options = {"X": X, "ids": IDS, "strategy": ShuffledRows(), **options}
    strategy, table = options.pop("strategy"), options.pop("X")
    assert rejected(CategoryDiscovery(strategy).start, table, **options) == sentence
