"""Keys of categories: given out once, kept whatever happens to other categories."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova import CategoryDiscovery, InputError
from kernova.workbench.remarks import CategoryKeys
from kernova.workbench.remarks.category_keys import KEYS

NAMES = [f"kind {number}" for number in range(60)]


class Session:
    """A session, and the keys of its categories as they are read after every entry."""

    def __init__(self, n_rows=200):
        self.told = CategoryDiscovery("random").start(np.zeros((n_rows, 1)))
        self.reader = CategoryKeys()

    def keys(self, reader=None):
        """Return the key of every category."""
        reader = self.reader if reader is None else reader
        results = self.told.results_
        names = list(results.category_sizes)
        reader.read(results.n_records, results.record)
        return dict(zip(names, reader.of(names, results.annotations.keys), strict=True))


@pytest.fixture
def session():
    started = Session()
    for row in range(12):
        started.told.label_row(row, NAMES[row])
    return started


def test_twelve_categories_have_one_key_or_two(session):
    keys = list(session.keys().values())
    assert keys == [*"123456789", "00", "01", "02"]
    assert len(set(KEYS)) == 45


def test_no_key_moves_when_another_category_is_emptied_renamed_merged_or_deleted(session):
    before = session.keys()
    session.told.label_row(2, NAMES[0])  # empties kind 2
    session.told.rename(NAMES[4], "renamed")
    session.told.merge(NAMES[5], NAMES[6])
    session.told.delete(NAMES[7])
    session.told.label_row(20, "new")
    now = session.keys()
    assert now.pop("renamed") == before[NAMES[4]] == "5"
    # The first free one: of the category that was merged. That of an emptied one stays its own.
    assert now.pop("new") == "7"
    assert now == {name: before[name] for name in now}
    session.told.label_row(30, NAMES[2])
    assert session.keys()[NAMES[2]] == "3"


def test_undo_gives_categories_their_keys_back(session):
    before = session.keys()
    for record in (
        lambda: session.told.merge(NAMES[0], *NAMES[1:4]),
        lambda: session.told.delete(NAMES[8]),
        lambda: session.told.rename(NAMES[8], "nine"),
        lambda: session.told.label_row(50, "typed by mistake"),
    ):
        record()
        assert session.keys() != before
        session.told.undo()
        assert session.keys() == before
    session.told.label_row(50, "meant")
    assert session.keys()["meant"] == "03"


def test_an_undo_from_the_middle_moves_no_key():
    session = Session()
    for row, expert in enumerate(("Anna", "Bob", "Bob")):
        session.told.label_row(row, NAMES[row], expert=expert)
    session.told.undo(expert="Anna")
    assert session.keys() == {NAMES[1]: "2", NAMES[2]: "3"}


def test_a_chosen_key_is_swapped_with_the_category_that_had_it(session):
    session.told.review.choose_key(NAMES[0], "2")
    assert (session.keys()[NAMES[0]], session.keys()[NAMES[1]]) == ("2", "1")
    session.told.review.choose_key(NAMES[2], "1")
    keys = session.keys()
    assert [keys[name] for name in NAMES[:3]] == ["2", "3", "1"]
    session.told.undo()
    session.told.review.choose_key(NAMES[0], "g")
    assert [session.keys()[name] for name in NAMES[:2]] == ["g", "2"]
    session.told.review.choose_key(NAMES[3], "G")
    assert [session.keys()[name] for name in (NAMES[0], NAMES[3])] == ["1", "g"]
    session.told.review.choose_key(NAMES[3], None)
    assert session.keys()[NAMES[3]] is None


def test_a_restart_reads_the_same_keys(session):
    session.told.merge(NAMES[0], NAMES[1])
    session.keys()
    session.told.undo()
    session.told.label_row(60, NAMES[20])
    assert session.keys(CategoryKeys()) == session.keys()


def test_with_more_categories_than_keys_the_last_have_none():
    session = Session()
    for row, name in enumerate(NAMES):
        session.told.label_row(row, name)
    keys = list(session.keys().values())
    assert keys == [*KEYS, *[None] * (len(NAMES) - len(KEYS))]


@pytest.mark.parametrize("letter", ["0", "12", "", "0ab", "!", "10"])
def test_other_keys_are_rejected(session, letter):
    with pytest.raises(InputError) as raised:
        session.told.review.choose_key(NAMES[0], letter)
    assert str(raised.value) == (
        "The key of a category must be a digit from 1 to 9 or a letter, or 0 and then a digit or "
        f"letter; got '{letter}'."
    )


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["label", "rename", "merge", "delete", "undo", "choose"]),
        st.integers(0, 7),
        st.integers(0, 7),
    ),
    max_size=30,
)


@given(STEPS)
def test_keys_differ_and_are_those_of_a_reader_who_comes_late(steps):
    session = Session(8)
    for kind, first, second in steps:
        name, other = NAMES[first], NAMES[second]
        acts = {
            "label": lambda: session.told.label_row(first, other),  # noqa: B023
            "rename": lambda: session.told.rename(name, other),  # noqa: B023
            "merge": lambda: session.told.merge(name, other),  # noqa: B023
            "delete": lambda: session.told.delete(name),  # noqa: B023
            "undo": session.told.undo,
            "choose": lambda: session.told.review.choose_key(name, KEYS[second]),  # noqa: B023
        }
        try:
            acts[kind]()
        except InputError:
            continue
        keys = [key for key in session.keys().values() if key is not None]
        assert len(set(keys)) == len(keys)
    assert session.keys(CategoryKeys()) == session.keys()
