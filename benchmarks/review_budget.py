"""From unlabelled galaxies to a catalogue with 400 key presses: rows labelled, and how precisely.

    python -m benchmarks.review_budget [--draws 3] [--budget 400]

A scripted expert works with the program's own functions: names categories in questions of the
default strategy until twenty in a row bring no new one, labels further rows in the review, and
accepts the suggestions above a threshold, in one of two ways:

* *accepts*: labels rows in random order, and accepts from the threshold on at which the program
  promises .9;
* *checks and corrects*: labels the least clear rows, which are learnt again after every twenty;
  looks at 300 of the rows above a threshold in random order, counts those that are wrong, and
  moves the threshold until nine of ten are right with what will be corrected; accepts, and with
  the presses that are left corrects rows that look wrong.

The peer is logistic regression with uncertainty sampling, with the same costs, rules, checks and
corrections. ``KERNOVA_DATA`` is the folder of the tables.

What presses cost, a click of the mouse as much as a key:

* an answer, a guess that is accepted, or a row labelled in the review: 1;
* a new category: every letter of its name, and 2 for the dialog;
* opening the review, a choice of rows or an order, and accepting a block: 5;
* moving the threshold for a check: 2;
* correcting: 1 for every row that is selected, and 1 for its category in every fifty of them.

Looking is free; how many rows the expert has looked at is reported. The expert knows the labels of
the rows that are looked at, and no others: how many to accept follows from what the program says.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.measuring import report
from benchmarks.suggestions import Labelled, labelled_table
from kernova.tables.table import Table
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery
from kernova.workbench.review.decisions import Decisions, Selection
from kernova.workbench.review.query import Order, ReviewQuery
from kernova.workbench.review.reviewing import Reviewing
from kernova.workbench.suggestions import HeldOutAnswers, Precision, wilson_interval

WANTED: Final = 0.9
#: Answers without a new category after which the expert leaves the questions.
_ENOUGH: Final = 20
#: Part of the presses that are left after the questions that goes to labels, not to corrections.
_FOR_LABELS: Final = 0.5
_OPENING: Final = 5
_BATCH: Final = 50
_CHECK: Final = 2
_N_CHECKS: Final = 6  # that halve the range of thresholds
_SAMPLE: Final = 300
#: Labels after which it is learnt again, as the page does by itself.
_RELEARNT: Final = 20
#: Answers after which the peer knows about as many categories, and what they cost.
_PEER_QUESTIONS: Final = 60


@dataclass
class Presses:
    """Key presses that are left."""

    left: float
    names: set[str] = field(default_factory=set)

    def label(self, name: str) -> bool:
        """Pay for the label of one row; return whether there were enough."""
        cost = 1 if name in self.names else len(name) + 2
        if cost > self.left:
            return False
        self.left -= cost
        self.names.add(name)
        return True

    def pay(self, cost: float) -> bool:
        """Pay for something else; return whether there were enough."""
        if cost > self.left:
            return False
        self.left -= cost
        return True


@dataclass(frozen=True)
class Outcome:
    """Labels of a catalogue: by hand, and accepted."""

    labels: np.ndarray
    n_by_hand: int
    n_looked_at: int
    promised: float

    def line(self, truth: np.ndarray) -> dict[str, object]:
        """Return rows labelled and their precision."""
        is_labelled = np.array([label is not None for label in self.labels])
        return {
            "rows labelled": float(is_labelled.mean()),
            "precision": float(np.mean(self.labels[is_labelled] == truth[is_labelled])),
            "by hand": self.n_by_hand,
            "looked at": self.n_looked_at,
            "promised": self.promised,
        }


# --- the program -----------------------------------------------------------------------------


class Expert:
    """Scripted expert at a workbench of its own."""

    def __init__(self, table: Labelled, folder: Path, budget: int) -> None:
        ids = pd.Series([f"g{row}" for row in range(len(table.labels))], name="id")
        source = Table(table.features, ids, None, "galaxies.csv", columns=("id",))
        discovery = open_discovery(source, folder / "galaxies.kernova-project")
        self.bench = Workbench(discovery)
        discovery.prepare()
        self.bench.preparation.start(lambda: None)
        self.bench.preparation.wait()
        self.truth = table.labels
        self.presses = Presses(budget)
        self.n_by_hand = self.n_checked = 0
        self._n_keys = 0

    def _save(self, request: Any) -> Any:
        return self.bench.questions.save(request)

    def _key(self) -> str:
        self._n_keys += 1
        return f"press {self._n_keys}"

    def answer_questions(self) -> None:
        """Answer until no category has been new for a while."""
        since_new = 0
        while since_new < _ENOUGH:
            question = self.bench.question("Anna").question
            if question is None:
                return
            name = self.truth[question.row]
            is_new = name not in self.presses.names
            if not self.presses.label(name):
                return
            self._save(self.bench.questions.answer("Anna", question.row, name, None, self._key()))
            since_new = 0 if is_new else since_new + 1
            self.n_by_hand += 1

    def label_in_review(self, reserve: float, *, least_clear: bool) -> None:
        """Label rows of the review, until only the reserve is left."""
        if not self.presses.pay(_OPENING):
            return
        order: Order = "margin" if least_clear else "random"
        query = ReviewQuery(status="suggested" if least_clear else "unlabelled", order=order)
        reviewing, decisions = self.bench.part(Reviewing), self.bench.part(Decisions)
        while self.presses.left > reserve:
            if least_clear:
                self.learn()
            for row in reviewing.numbers(query, 0, _RELEARNT).rows:
                if self.presses.left <= reserve or not self.presses.label(self.truth[row]):
                    return
                name, key = self.truth[row], self._key()
                self._save(decisions.move("Anna", Selection(rows=(row,)), name, key))
                self.n_by_hand += 1

    def learn(self) -> None:
        """Wait until what the labels say is learnt."""
        self.bench.learning.begin()
        self.bench.learning.wait(600)

    def accept(self, *, checks: bool) -> float:
        """Accept suggestions from a threshold on, one that is promised or one that was checked."""
        if not self.presses.pay(_OPENING):
            return 0.0
        reviewing = self.bench.part(Reviewing)
        points = reviewing.precision(ReviewQuery()).points
        if not checks:
            good = (one for one in points if one.rows and one.promised >= WANTED)
            chosen = next(good, None)
            promised = 0.0 if chosen is None else chosen.promised
        else:
            place, promised = checked(
                [one.rows for one in points], self._fraction_right, self.n_by_hand, self.presses
            )
            chosen = None if place is None else points[place]
            self.n_checked = _SAMPLE * _N_CHECKS
        if chosen is None:
            return 0.0
        query = ReviewQuery(status="suggested", lowest=chosen.threshold)
        selection = Selection(query=query, count=chosen.rows, learnt=self.bench.learning.generation)
        self._save(self.bench.part(Decisions).accept("Anna", selection, self._key()))
        return promised

    def _fraction_right(self, place: int) -> tuple[int, int]:
        """Return the number of right suggestions among some above a threshold, and of all."""
        query = ReviewQuery(status="suggested", lowest=place / 100, order="random")
        rows = self.bench.part(Reviewing).page(query, 0, _SAMPLE).rows
        return sum(one.suggested == self.truth[one.row] for one in rows), len(rows)

    def correct(self) -> int:
        """Correct accepted rows, those that look most wrong first; return how many were seen."""
        self.presses.pay(_OPENING)
        query = ReviewQuery(status="accepted", order="disagreement")
        page = self.bench.part(Reviewing).page(query, 0, 10_000)
        decisions = self.bench.part(Decisions)
        wrong: dict[str, list[int]] = {}
        n_seen = 0
        for one in page.rows:
            name = str(self.truth[one.row])
            n_seen += 1
            if one.label == name:
                continue
            # The last batch of each category needs a press of its own.
            if name not in self.presses.names or not self.presses.pay(1 + 1 / _BATCH):
                break
            wrong.setdefault(name, []).append(one.row)
        for name, rows in wrong.items():
            self._save(decisions.move("Anna", Selection(rows=tuple(rows)), name, self._key()))
            self.n_by_hand += len(rows)
        return n_seen

    def outcome(self, n_seen: int, promised: float) -> Outcome:
        """Return the catalogue."""
        labels = self.bench.discovery.session.labels_
        n_looked_at = n_seen + self.n_by_hand + self.n_checked
        return Outcome(labels, self.n_by_hand, n_looked_at, promised)


def checked(
    n_rows: Sequence[int],
    fraction_right: Callable[[int], tuple[int, int]],
    n_by_hand: int,
    presses: Presses,
) -> tuple[int | None, float]:
    """Return the lowest of the thresholds whose check is passed, and the precision it shows.

    The lower end of an interval that holds three times out of four counts, as in the promises of
    the program. The catalogue has rows by hand, too, and some of the others will be corrected.
    """
    n_corrections = _n_corrections(presses)
    low, high, found, shown = 0, len(n_rows) - 1, None, 0.0
    for _ in range(_N_CHECKS):
        place = (low + high) // 2
        if not presses.pay(_CHECK):
            break
        right, n = fraction_right(place) if n_rows[place] else (0, 0)
        at_least = wilson_interval(right, n, 1.15).low
        n_right = at_least * n_rows[place] + n_corrections + n_by_hand
        if n and n_right >= WANTED * (n_rows[place] + n_by_hand):
            found, shown, high = place, at_least, place
        else:
            low = place + 1
        if low >= high:
            break
    return found, shown


def _reserve(left: float, *, corrects: bool) -> float:
    """Return the presses to keep for what follows the labels."""
    if not corrects:
        return _OPENING
    fixed = 2 * _OPENING + _N_CHECKS * _CHECK
    return fixed + (1 - _FOR_LABELS) * max(left - fixed, 0)


def _n_corrections(presses: Presses) -> int:
    """Return how many rows can be corrected after accepting."""
    left = presses.left - 2 * _OPENING - _N_CHECKS * _CHECK
    return max(0, int(left / (1 + 1 / _BATCH)))


def program(table: Labelled, budget: int, *, corrects: bool) -> Outcome:
    """Return the catalogue of the scripted expert."""
    with tempfile.TemporaryDirectory() as folder:
        expert = Expert(table, Path(folder), budget)
        expert.answer_questions()
        reserve = _reserve(expert.presses.left - _OPENING, corrects=corrects)
        expert.label_in_review(reserve, least_clear=corrects)
        expert.learn()
        promised = expert.accept(checks=corrects)
        n_seen = expert.correct() if corrects and promised else 0
        outcome = expert.outcome(n_seen, promised)
        expert.bench.close()
        return outcome


# --- the peer --------------------------------------------------------------------------------


def _regression() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


def _held_out(X: np.ndarray, y: np.ndarray, names: list[str]) -> HeldOutAnswers:
    """Return each answer with the suggestion of a regression on nine tenths of the others."""
    p, best = np.zeros(len(y)), np.zeros(len(y), dtype=np.intp)
    for others, part in KFold(10, shuffle=True, random_state=0).split(X):
        if len(set(y[others])) < 2:
            continue
        model = _regression().fit(X[others], y[others])
        found = model.predict_proba(X[part])
        p[part] = found.max(axis=1)
        best[part] = [names.index(model.classes_[code]) for code in found.argmax(axis=1)]
    codes = np.array([names.index(name) for name in y])
    return HeldOutAnswers(p, best, best == codes, np.ones(len(y)))


class Peer:
    """Logistic regression with uncertainty sampling, under the same costs."""

    def __init__(self, table: Labelled, budget: int) -> None:
        self.X = table.features.fillna(table.features.median()).to_numpy()
        self.truth = table.labels
        self.presses = Presses(budget)
        self.asked: list[int] = []
        self._order = np.random.default_rng(0).permutation(len(self.X)).tolist()
        self._margins = np.zeros(len(self.X))

    def ask(self, *, corrects: bool) -> None:
        """Ask about the row whose two best classes are nearest, until only the reserve is left."""
        reserve = 0.0
        while self.presses.left > reserve and self.presses.label(self.truth[row := self._next()]):
            self.asked.append(row)
            if len(self.asked) == _PEER_QUESTIONS:
                reserve = _reserve(self.presses.left, corrects=corrects)

    def _next(self) -> int:
        known = {*self.asked}
        if len({*self.truth[self.asked]}) < 2:
            return next(row for row in self._order if row not in known)
        if len(self.asked) % 10 == 0 or not self._margins.any():
            found = np.sort(self.fitted().predict_proba(self.X), axis=1)
            self._margins = found[:, -1] - found[:, -2]
        ranked = np.argsort(self._margins, kind="stable").tolist()
        return next(row for row in ranked if row not in known)

    def fitted(self) -> Any:
        """Return the regression on all answers."""
        return _regression().fit(self.X[self.asked], self.truth[self.asked])

    def outcome(self, *, corrects: bool) -> Outcome:
        """Accept, and correct if wanted; return the catalogue."""
        model = self.fitted()
        found = model.predict_proba(self.X)
        p, suggested = found.max(axis=1), model.classes_[found.argmax(axis=1)]
        p[self.asked] = -1.0
        self.presses.pay(_OPENING)
        threshold, promised = self._threshold(model, p, suggested, corrects=corrects)
        chosen = np.flatnonzero(p >= threshold)
        labels = np.full(len(p), None, dtype=object)
        labels[self.asked], labels[chosen] = self.truth[self.asked], suggested[chosen]
        n_by_hand, n_seen = len(self.asked), _SAMPLE * _N_CHECKS * corrects
        if corrects:
            self.presses.pay(_OPENING)
            wrong, n_more = self._wrong(chosen[np.argsort(p[chosen], kind="stable")], labels)
            labels[wrong] = self.truth[wrong]
            n_by_hand, n_seen = n_by_hand + len(wrong), n_seen + n_more
        return Outcome(labels, n_by_hand, n_seen + n_by_hand, promised)

    def _threshold(
        self, model: Any, p: np.ndarray, suggested: np.ndarray, *, corrects: bool
    ) -> tuple[float, float]:
        names = [str(name) for name in model.classes_]
        held_out = _held_out(self.X[self.asked], self.truth[self.asked], names)
        precision = Precision(held_out, p[p >= 0])
        points = [precision.at(step / 100) for step in range(101)]
        if not corrects:
            good = [one for one in points if one.rows and one.promised >= WANTED]
            return (good[0].threshold, good[0].promised) if good else (2.0, 0.0)
        random = np.random.default_rng(0)

        def fraction_right(place: int) -> tuple[int, int]:
            rows = random.permutation(np.flatnonzero(p >= place / 100))[:_SAMPLE]
            return int((suggested[rows] == self.truth[rows]).sum()), len(rows)

        n_rows = [one.rows for one in points]
        place, shown = checked(n_rows, fraction_right, len(self.asked), self.presses)
        return (2.0, 0.0) if place is None else (place / 100, shown)

    def _wrong(self, rows: np.ndarray, labels: np.ndarray) -> tuple[list[int], int]:
        """Return the wrong rows that there are presses for, and how many were seen for them."""
        wrong: list[int] = []
        for n_seen, row in enumerate(rows.tolist(), start=1):
            if labels[row] == self.truth[row]:
                continue
            if self.truth[row] not in self.presses.names or not self.presses.pay(1 + 1 / _BATCH):
                return wrong, n_seen
            wrong.append(row)
        return wrong, len(rows)


def peer(table: Labelled, budget: int, *, corrects: bool) -> Outcome:
    """Return the catalogue by logistic regression with uncertainty sampling."""
    found = Peer(table, budget)
    found.ask(corrects=corrects)
    return found.outcome(corrects=corrects)


# --- report ----------------------------------------------------------------------------------


def shuffled(table: Labelled, draw: int) -> Labelled:
    """Return the rows in another order, on which chance depends."""
    order = np.random.default_rng(draw).permutation(len(table.labels))
    return Labelled(table.features.iloc[order].reset_index(drop=True), table.labels[order])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--budget", type=int, nargs="+", default=[150, 200, 300, 400])
    options = parser.parse_args()
    galaxies = labelled_table("galaxies", Path(os.environ["KERNOVA_DATA"]))
    lines = []
    for draw in range(options.draws):
        table = shuffled(galaxies, draw)
        for budget in options.budget:
            for corrects in (False, True):
                for name, work in (("kernova", program), ("logistic regression", peer)):
                    found = work(table, budget, corrects=corrects).line(table.labels)
                    way = "checks and corrects" if corrects else "accepts"
                    lines.append({"draw": draw, "presses": budget, "way": way, "by": name, **found})
                    print(lines[-1], flush=True)
    report("review_budget", lines)
    means = pd.DataFrame(lines).groupby(["presses", "way", "by"]).mean(numeric_only=True)
    print(means.drop(columns="draw").round(3).to_string())


if __name__ == "__main__":
    main()
