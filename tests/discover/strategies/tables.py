"""Tables of a few separated groups, and a loop of questions and answers over them."""

import numpy as np

from kernova.discover.questions import Answer


def groups(seed=0, sizes=(40, 12, 5), places=(0.0, 6.0, -5.0), n_columns=2):
    rng = np.random.default_rng(seed)
    X = np.concatenate(
        [
            rng.normal(place, 0.7, (size, n_columns))
            for size, place in zip(sizes, places, strict=True)
        ]
    )
    return X, np.repeat([f"class {number}" for number in range(len(sizes))], sizes)


def asked_rows(asker, labels, n=None):
    rows = []
    while (question := asker.propose()) is not None and len(rows) != n:
        rows.append(question.row)
        asker.observe(Answer(question.row, str(labels[question.row])))
    return rows
