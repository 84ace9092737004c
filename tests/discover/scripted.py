"""Small strategies for tests: a fixed order, one that uses answers, one for several experts."""

import numpy as np

from kernova.discover.questions import Question


class ShuffledRows:
    """Rows in a random order, each standing for itself and its two neighbours in the table."""

    name = "shuffled"

    def start(self, preparation):
        rng = np.random.default_rng(preparation.random_state)
        return _Shuffled(rng.permutation(preparation.n_rows).tolist())


class _Shuffled:
    def __init__(self, order):
        self.order = order
        self.observed = set()

    def propose(self):
        for row in self.order:
            if row not in self.observed:
                around = [other for other in (row - 1, row, row + 1) if other >= 0]
                members = [other for other in around if other < len(self.order)]
                return Question(row, np.array(members), "It is next in a random order.")
        return None

    def observe(self, answer):
        assert answer.row not in self.observed
        self.observed.add(answer.row)


class FarthestRow:
    """The row farthest from all answered ones, weighted by how often their categories were found.

    The questions depend on every label and on their order, so that they show any difference
    between the answers that a fresh asker and the previous one observe.
    """

    name = "farthest"

    def start(self, preparation):
        return _Farthest(preparation.X)


class _Farthest:
    def __init__(self, X):
        self.X = X
        self.observed = []

    def propose(self):
        open_rows = sorted(set(range(len(self.X))) - {answer.row for answer in self.observed})
        if not open_rows:
            return None
        labels = [answer.label for answer in self.observed]
        score = np.zeros(len(self.X))
        for position, answer in enumerate(self.observed):
            weight = 1 + labels.count(answer.label) + 0.01 * position
            score += np.abs(self.X - self.X[answer.row]).sum(axis=1) / weight
        best = max(open_rows, key=lambda row: (score[row], -row))
        members = np.flatnonzero(np.abs(self.X - self.X[best]).sum(axis=1) < 1.0)
        return Question(best, members, "It lies far from what was answered.", {"far": score[best]})

    def observe(self, answer):
        assert answer.row not in {old.row for old in self.observed}
        self.observed.append(answer)


class InTurn:
    """Rows as they stand in the table, each with the next two; made for several experts."""

    name = "in turn"

    def start(self, preparation):
        return _InTurn(preparation.n_rows)


class _InTurn:
    def __init__(self, n_rows):
        self.n_rows = n_rows
        self.observed = set()

    def propose(self, besides=()):
        free = [
            row for row in range(self.n_rows) if row not in {*self.observed, *map(int, besides)}
        ]
        if not free:
            return None
        members = [row for row in range(free[0], free[0] + 3) if row < self.n_rows]
        return Question(free[0], np.array(members), "It is next.")

    def observe(self, answer):
        self.observed.add(answer.row)
