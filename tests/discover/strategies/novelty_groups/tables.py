"""Tables of all kinds, random answers about them, and an asker that has observed some."""

import numpy as np
from hypothesis import strategies as st

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer, observe_answers
from kernova.discover.strategies.novelty_groups import NoveltyGroupsStrategy


def mixed_table(seed, n_rows, n_columns):
    """Rows around a few places, near or far, with ties, copies and constant columns at times."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(rng.integers(1, 5), n_columns)) * rng.choice([1.0, 100.0])
    widths = rng.choice([0.02, 0.3, 1.0], len(places))
    which = rng.integers(len(places), size=n_rows)
    X = places[which] + rng.normal(size=(n_rows, n_columns)) * widths[which, None]
    X = X.round(rng.choice([0, 1, 9]))
    X[:, rng.random(n_columns) < 0.2] = 7.0
    X[rng.random(n_rows) < 0.2] = X[0]
    return X


def several_groups(rng, n_groups=8):
    """Rows of a bulk and of tight groups around it, of different density."""
    sizes, widths = rng.integers(3, 9, n_groups), rng.choice([0.02, 0.1, 0.3], n_groups)
    parts = [
        rng.normal(4 * rng.normal(size=2), width, (size, 2))
        for size, width in zip(sizes, widths, strict=True)
    ]
    return np.concatenate([rng.normal(size=(60, 2)), *parts])


TABLES = st.builds(mixed_table, st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 4))


def asker_for(X, standardize="none"):
    return NoveltyGroupsStrategy(standardize).start(Preparation(np.asarray(X, dtype=float)))


def observed(X, answers):
    asker = asker_for(X)
    observe_answers(asker, answers)
    return asker


def is_group(question):
    return "group_bits" in question.evidence


def as_values(question):
    """What a question consists of; None stands for no question."""
    return question and (
        question.row,
        question.members.tolist(),
        question.reason,
        dict(question.evidence),
        question.alternatives,
    )


def random_answers(rng, rows, n_labels, asked=0.8):
    """Return answers about some rows: some skipped, some not asked for."""
    codes = rng.integers(n_labels + 1, size=len(rows)).tolist()
    labels = [f"kind {code}" if code else None for code in codes]
    is_asked = (rng.random(len(rows)) < asked).tolist()
    return [Answer(int(row), *one) for row, *one in zip(rows, labels, is_asked, strict=True)]
