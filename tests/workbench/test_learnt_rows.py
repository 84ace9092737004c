"""Suggestions under the categories of now: renamed, merged, deleted and rejected ones."""

import numpy as np

from kernova.workbench.learnt.rows import LearntRows, at_present
from kernova.workbench.recognizer import JudgedRows
from kernova.workbench.suggestions import HeldOutAnswers


def learnt():
    """Return what three labelled rows of two categories say of three others."""
    ranking = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1], [0, 1, 2], [1, 0, 2], [0, 2, 1]])
    p = np.array([[0.7, 0.2, 0.1]] * 6)
    suggested = np.array([-1, -1, -1, 0, 1, 0])
    judged = JudgedRows(
        suggested, p[:, 0].copy(), p[:, 0] - p[:, 1], np.zeros(6), np.ones(6),
        np.zeros(6, dtype=bool), ranking, p,
    )  # fmt: skip
    held_out = HeldOutAnswers(p[:3, 0], np.zeros(3, dtype=int), np.ones(3, bool), np.ones(3))
    labels = np.array(["carp", "eel", "cod", None, None, None], dtype=object)
    return LearntRows(7, ["carp", "eel", "cod"], judged, held_out, labels)


def now(*labels, rejected=None):
    return at_present(learnt(), np.array(labels, dtype=object), rejected or {})


def test_a_renamed_category_is_found_by_its_rows():
    found = now("common carp", "eel", "cod", None, None, None)
    assert found.names == ["common carp", "eel", "cod"]
    assert found.suggested().tolist()[3:] == [0, 1, 0]


def test_merged_categories_are_one():
    found = now("carp", "carp", "cod", None, None, None)
    assert found.suggested().tolist()[3:] == [0, 0, 0]


def test_a_deleted_category_is_not_suggested():
    found = now(None, "eel", "cod", None, None, None)
    assert found.suggested().tolist()[3:] == [-1, 1, -1]


def test_a_category_whose_row_was_labelled_again_elsewhere_stays():
    found = now("eel", "eel", "cod", "carp", None, None)
    assert found.names == ["carp", "eel", "cod"]


def test_a_rejected_category_leaves_the_next_one_or_none():
    found = now("carp", "eel", "cod", None, None, None, rejected={3: {"carp": None}})
    assert found.suggested().tolist()[3:] == [-1, 1, 0]  # what is left is less than was rejected
    found = now("carp", "eel", "cod", None, None, None, rejected={3: {"eel": None}})
    assert found.suggested().tolist()[3:] == [0, 1, 0]
    assert found.judged.ranking[3].tolist() == [0, 2, 1]
    everything = {5: dict.fromkeys(["carp", "eel", "cod"])}
    assert now("carp", "eel", "cod", None, None, None, rejected=everything).suggested()[5] == -1


def test_what_was_learnt_is_left_as_it_was():
    before = learnt()
    at_present(before, before.labels, {3: {"carp": None}})
    assert before.judged.ranked_probabilities[3].tolist() == [0.7, 0.2, 0.1]
    assert before.judged.suggested[3] == 0
