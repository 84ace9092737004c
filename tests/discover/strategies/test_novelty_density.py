"""Novelty-density strategy: against a literal version, and on plain tables."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer, observe_answers
from kernova.discover.simulation import simulate
from kernova.discover.strategies.novelty_density import NoveltyDensityStrategy
from kernova.discover.strategies.spacing import spacing_of
from tests.discover import messages
from tests.oracles.novelty_groups import row_novelty, row_spacings, taught_metric

SMALL_GRIDS = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 14), st.integers(1, 3)),
    elements=st.integers(-3, 3).map(float),
)


def asker_for(X, standardize="none"):
    return NoveltyDensityStrategy(standardize).start(Preparation(np.asarray(X, dtype=float)))


def run(asker, answers):
    """Ask to the end; return the questions."""
    questions = []
    while (question := asker.propose()) is not None:
        questions.append(question)
        asker.observe(Answer(question.row, answers[question.row]))
    return questions


def literal_score(row, X, spacing, said, power, metric):
    """Novelty times a power of the spacing; ``said`` has rows and what was said of each."""
    return row_novelty(row, X, said, metric) * spacing[row] ** power


@given(SMALL_GRIDS, st.integers(0, 10**6))
def test_every_question_is_the_best_by_a_literal_count(X, seed):
    np.testing.assert_allclose(spacing_of(X).spacing, row_spacings(X), rtol=1e-12)
    rng = np.random.default_rng(seed)
    check_against_a_literal_count(X, rng.choice(["a", "b", "c", None], len(X)).tolist())


@pytest.mark.parametrize("n_columns", [1, 3])
def test_questions_are_the_best_under_the_learned_metric(n_columns):
    rng = np.random.default_rng(n_columns)
    groups = np.repeat([0, 1, 2], [60, 20, 10])
    X = rng.normal(size=(90, n_columns)) * [3.0, 0.3, 1.0][:n_columns] + groups[:, None]
    answers = np.array(["a", "b", "c"], dtype=object)[groups]
    answers[rng.random(90) < 0.1] = None
    check_against_a_literal_count(X, answers.tolist())


def is_in_dense_region(question):
    """Return whether a question is about a dense region, by its reason."""
    return question.reason.startswith("A ")


def check_against_a_literal_count(X, answers):
    spacing = row_spacings(X)
    asker = asker_for(X)
    said, wait, left = [], 2, 1
    while (question := asker.propose()) is not None:
        opened = [row for row in range(len(X)) if row not in {r for r, _ in said}]
        assert question.row in opened
        is_dense = bool(said) and left == 0
        if said:
            power = -2 / 3 if is_dense else 1 / 2
            metric = taught_metric(X, said)
            scores = {row: literal_score(row, X, spacing, said, power, metric) for row in opened}
            assert scores[question.row] >= max(scores.values()) * (1 - 1e-9)
            assert is_in_dense_region(question) is (
                is_dense and question.evidence["distance_to_shown"] > 0
            )
        label = answers[question.row]
        is_new = label is not None and label not in {other for _, other in said}
        if is_dense and is_new:
            wait = 2
        elif is_dense:
            left, wait = wait, min(2 * wait, 32)
        elif said:
            left -= 1
        said.append((question.row, label))
        asker.observe(Answer(question.row, label))
    assert sorted(row for row, _ in said) == list(range(len(X)))


def test_questions_in_dense_regions_wait_twice_as_long_after_each_miss_and_no_longer_than_32():
    X = np.random.default_rng(0).normal(size=(400, 2))
    questions = run(asker_for(X), ["a"] * 400)
    dense = [n for n, q in enumerate(questions) if is_in_dense_region(q)]
    gaps = np.diff(dense) - 1
    assert dense[0] == 2
    assert gaps[:7].tolist() == [2, 4, 8, 16, 32, 32, 32]


def test_questions_in_dense_regions_go_on_while_they_find_new_categories():
    X = np.random.default_rng(0).normal(size=(60, 2))
    questions = run(asker_for(X), [f"category {row}" for row in range(60)])
    dense = [n for n, q in enumerate(questions) if is_in_dense_region(q)]
    assert dense == list(range(2, 60))


def test_unasked_labels_change_novelty_but_not_the_turn():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [9.0], [9.5]])
    asker = asker_for(X)
    asker.observe(Answer(asker.propose().row, "common"))
    assert asker.propose().row == 6
    asker.observe(Answer(6, "rare"))  # the turn of sparse regions is over
    assert is_in_dense_region(asker.propose())
    asker.observe(Answer(4, "other", is_asked=False))  # out of turn
    assert is_in_dense_region(asker.propose())
    before = asker.propose()
    asker.observe(Answer(4, "told twice"))
    assert asker.propose() is before


@given(SMALL_GRIDS, st.data())
def test_many_answers_at_once_are_the_same_as_one_by_one(X, data):
    answers = [
        Answer(row, data.draw(st.sampled_from(["a", "b", None])), data.draw(st.booleans()))
        for row in data.draw(st.lists(st.integers(0, len(X) - 1), max_size=10))
    ]
    single, together = asker_for(X), asker_for(X)
    for answer in answers:
        single.observe(answer)
    observe_answers(together, answers[: len(answers) // 2])
    observe_answers(together, answers[len(answers) // 2 :])
    one, other = single.propose(), together.propose()
    assert (one is None) == (other is None)
    if one is not None:
        assert (one.row, one.reason, one.alternatives) == (
            other.row,
            other.reason,
            other.alternatives,
        )


def test_the_learned_metric_does_not_depend_on_how_many_answers_come_at_once():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 3)) * [2.0, 1.0, 0.2]
    order = rng.permutation(120)[:100]
    answers = [Answer(int(row), rng.choice(["a", "b", "c"]), False) for row in order]
    for n_answers in (15, 16, 17, 40, 70, 100):
        single, together = asker_for(X), asker_for(X)
        for answer in answers[:n_answers]:
            single.observe(answer)
        observe_answers(together, answers[:n_answers])
        one, other = single.propose(), together.propose()
        assert (one.row, one.alternatives) == (other.row, other.alternatives)
        assert one.evidence == pytest.approx(other.evidence, rel=1e-9)


def test_an_isolated_row_does_not_represent_the_nearest_bulk():
    bulk = np.random.default_rng(0).normal(size=(60, 2)) * 0.1
    X = np.vstack([bulk, [[5.0, 5.0]]])
    asker = asker_for(X)
    asker.observe(Answer(asker.propose().row, "common"))
    question = asker.propose()
    assert question.row == 60
    assert question.members.tolist() == [60]


def test_neighbours_of_a_skipped_row_are_not_asked_next():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [8.0], [8.0], [8.001], [-6.0]])
    asker = asker_for(X)
    asker.observe(Answer(0, "common"))
    asker.observe(Answer(7, "rare"))
    assert asker.propose().row in (4, 5, 6)
    asker.observe(Answer(asker.propose().row, None))
    assert asker.propose().row not in (4, 5, 6)


def test_reasons_members_and_alternatives():
    X = np.array([*range(8), 40, 42, 44], dtype=float)[:, None]
    asker = asker_for(X)
    first = asker.propose()
    assert first.reason == "No row is labelled yet, and this row lies in the densest region."
    assert first.row == 1
    asker.observe(Answer(0, "common"))
    sparse = asker.propose()
    assert sparse.row == 10
    assert sparse.reason == (
        "An isolated group of 3 rows, far from every row labelled so far: the nearest, "
        "labelled 'common', is 44 times as far away as neighbours typically are. No row "
        "is more isolated."
    )
    assert sparse.members.tolist() == [8, 9, 10]  # 1.5 spacings reach 4.2
    assert sparse.alternatives == (8, 9, 7, 6, 5)
    assert sparse.evidence == pytest.approx(
        {
            "spacing": math.sqrt(2 * 4),
            "share_spaced_closer": 9 / 11,
            "share_spaced_wider": 0.0,
            "distance_to_shown": 44.0,
            "novelty": 44.0,
            "n_shown": 1.0,
        }
    )
    asker.observe(Answer(10, None))
    dense = asker.propose()
    assert dense.row == 6
    assert dense.reason == (
        "A group of 3 rows, far from every row labelled so far: the nearest, labelled "
        "'common', is 6 times as far away as its rows are from each other."
    )
    assert next_sparse_reason(asker) == (
        "An isolated group of 2 rows, far from every row labelled so far: the nearest, "
        "skipped, is 4 times as far away as neighbours typically are."
    )


def next_sparse_reason(asker):
    """Name the dense, and give the beginning of what is said of the next sparse."""
    asker.observe(Answer(asker.propose().row, "common"))
    return asker.propose().reason.partition(" No row")[0]


def test_duplicates_are_members_and_are_asked_last():
    X = np.array([[1.0, 2.0]] * 15 + [[3.0, 1.0], [0.0, 5.0]])
    questions = run(asker_for(X), ["a"] * 17)
    assert {q.row for q in questions[:3]} >= {15, 16}
    assert questions[3].reason == (messages.DUPLICATE_ROW)
    assert questions[3].members.tolist() == list(range(15))


@given(
    st.integers(0, 10**6),
    st.integers(1, 25),
    st.integers(1, 4),
    st.sampled_from([1e-150, 1.0, 1e150]),
)
@settings(max_examples=60)
def test_any_table_is_asked_to_the_end_with_finite_numbers(seed, n_rows, n_columns, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).round(1) * scale
    X[:, rng.random(n_columns) < 0.3] = 7.0  # constant columns
    X[rng.random(n_rows) < 0.3] = X[0]  # copies
    answers = rng.choice(np.array(["a", "b", None]), n_rows)
    questions = run(asker_for(X, "half-sphere"), answers.tolist())
    assert sorted(q.row for q in questions) == list(range(n_rows))
    for question in questions:
        assert question.row in question.members
        assert np.isfinite(list(question.evidence.values())).all()
        assert "nan" not in question.reason


def test_a_dense_spot_in_the_bulk_is_found_early():
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(0, 1, (800, 3)), rng.normal(0.3, 0.02, (12, 3))])
    labels = np.repeat(["common", "rare"], [800, 12])
    assert simulate(X, labels, NoveltyDensityStrategy()).questions_to_all <= 5


# --- many experts, undo and changed answers --------------------------------------------------


def random_answers(rng, n_rows, n_answers, n_labels):
    rows = rng.permutation(n_rows)[:n_answers].tolist()
    labels = [None if one == 0 else f"kind {one}" for one in rng.integers(n_labels, size=n_answers)]
    return [
        Answer(row, label, bool(rng.random() < 0.9))
        for row, label in zip(rows, labels, strict=True)
    ]


def changed_answers(rng, answers):
    """Return the answers without some, with others relabelled, and with new ones."""
    kept = [one for one in answers if rng.random() > 0.02]
    named = [one._replace(label="kind 3") if rng.random() < 0.02 else one for one in kept]
    return [one._replace(label="pike") if one.label == "kind 1" else one for one in named]


def observed(X, answers):
    asker = asker_for(X)
    observe_answers(asker, answers)
    return asker


def check_same_question(one, other):
    assert (one.row, one.members.tolist(), one.reason, one.evidence, one.alternatives) == (
        other.row,
        other.members.tolist(),
        other.reason,
        other.evidence,
        other.alternatives,
    )


@pytest.mark.parametrize("seed", range(8))
def test_an_asker_can_be_copied_and_revised(seed, monkeypatch):
    monkeypatch.setattr("kernova.discover.strategies.novelty._MOST_REVISED", 1.0)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3)).round(seed % 3)
    answers = random_answers(rng, 400, 300, 40)
    asker = observed(X, answers[:200])
    copied = asker.copy()
    observe_answers(asker, answers[200:])
    check_same_question(copied.propose(), observed(X, answers[:200]).propose())
    # The first answers are those that the metric is learnt from.
    others = answers[:100] + changed_answers(rng, answers[100:])
    revised = asker.revised(others)
    assert revised is not None
    fresh = observed(X, others)
    for one, other in ((revised, fresh), (revised.copy(), fresh.copy())):
        while (question := one.propose()) is not None:
            check_same_question(question, other.propose())
            check_same_question(one.propose([question.row]), other.propose([question.row]))
            for some in (one, other):
                some.observe(Answer(question.row, f"kind {question.row % 7}"))
            if len(np.flatnonzero(~one._novelty.is_shown)) < 20:
                break


@pytest.mark.parametrize(
    "setting", ["novelty_density._FIRST_RANKED", "novelty._CACHED_BYTES", "novelty._BULK"]
)
def test_what_is_measured_and_kept_does_not_change_questions(setting, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    answers = random_answers(rng, 300, 120, 12)

    def questions():
        asker = observed(X, answers)
        for row in np.flatnonzero(~asker._novelty.is_shown)[:40].tolist():
            yield asker.propose(rng_rows(asker, row))
            asker.observe(Answer(row, f"kind {row % 5}"))

    def rng_rows(asker, row):
        return np.random.default_rng(row).choice(np.flatnonzero(~asker._novelty.is_shown), 60)

    usual = list(questions())
    monkeypatch.setattr(f"kernova.discover.strategies.{setting}", 8)
    for one, other in zip(usual, questions(), strict=True):
        check_same_question(one, other)
