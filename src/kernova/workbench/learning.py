"""Learning from the answers so far: what is known by now, and what is worth asking next."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.discover.events import PriorLabels, Said
from kernova.progress import Step
from kernova.workbench.messages import rows_of
from kernova.workbench.recognizer import VERDICTS, Learnt, learn_from_answers
from kernova.workbench.shared import BackgroundJob, Desk, WorkbenchError

# How rows are coloured by what was learnt, besides the places of categories.
UNKNOWN: Final = 65533
AMBIGUOUS: Final = 65534


class LearntFrom(NamedTuple):
    """What was learnt, and how much had been said by then."""

    learnt: Learnt
    n_said: int
    n_labelled: int


class UnknownRow(NamedTuple):
    """A row that what was learnt does not know, and why it is asked."""

    row: int
    reason: str


def named_together(said: Iterable[Said], n_rows: int) -> NDArray[np.intp]:
    """Give rows that were named in one step the same number, and every other row its own.

    Examples
    --------
    >>> from kernova.discover.events import Answered, RowLabelled
    >>> from kernova.discover.events import Said
    >>> from kernova.workbench.learning import named_together
    >>> cluster = Said(1, "", None, Answered(0, "carp", others=(2, 3)), counts=True, question=1)
    >>> corrected = Said(2, "", None, RowLabelled(3, "pike"), counts=True, question=None)
    >>> named_together([cluster, corrected], 4).tolist()
    [1, -2, 1, -4]
    """
    numbers = -1 - np.arange(n_rows, dtype=np.intp)
    for one in said:
        rows = list(rows_of(one.event))
        if one.counts and rows and not isinstance(one.event, PriorLabels):
            numbers[rows] = one.number if len(rows) > 1 else -1 - rows[0]
    return numbers


class Learning:
    """Fits a model to the answers so far, and judges all other rows by it.

    Parameters
    ----------
    desk : Desk
        The session.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._job: BackgroundJob[LearntFrom] = BackgroundJob(desk.changed)

    def begin(self) -> dict[str, Any]:
        """Begin to learn, unless that is under way."""
        with self._desk.lock:
            session = self._desk.session
            labels, n_said, n_labelled = session.labels_, session.n_records_, session.n_labelled_
            together = named_together(session.said_, self._desk.n_rows)
        table = self._desk.discovery.table

        def learn() -> LearntFrom:
            learnt = learn_from_answers(table, labels, groups=together)
            return LearntFrom(learnt, n_said, n_labelled)

        self._job.start(learn)
        return self.state()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; tell whether it has come."""
        return self._job.wait(seconds)

    def state(self) -> dict[str, Any]:
        """Say what was learnt, or how far it is."""
        job, found = self._job, self._job.result
        step = job.step or Step("", 0, 0)
        with self._desk.lock:
            n_said = self._desk.session.n_records_
        return {
            "state": job.state,
            "message": job.message,
            "task": step.task,
            "done": step.done,
            "total": step.total,
            "summary": "" if found is None else found.learnt.summary,
            "notes": [] if found is None else found.learnt.notes,
            "classes": [] if found is None else found.learnt.classes,
            "counts": None if found is None else found.learnt.counts,
            "n_labelled": 0 if found is None else found.n_labelled,
            "is_stale": found is not None and found.n_said != n_said,
            "version": self._desk.version,
        }

    def rows(self, verdict: str, limit: int, offset: int) -> dict[str, Any]:
        """Give the rows of a verdict that nobody has named since."""
        learnt = self._learnt()
        open_rows = self._still_open(learnt.rows_of(verdict).tolist())
        lines = [learnt.line_of(row) for row in open_rows[offset : offset + limit]]
        return {"total": len(open_rows), "rows": lines}

    def next_unknown(self) -> UnknownRow | None:
        """Give the unknown row that is most worth asking and that is open nowhere."""
        learnt = self._learnt()
        with self._desk.lock:
            elsewhere = {one.row for one in self._desk.session.open_questions_.values()}
            open_rows = self._still_open(learnt.unknown_rows.tolist())
        for row in open_rows:
            if row not in elsewhere:
                return UnknownRow(
                    row, "None of the categories that were learnt from your answers claims it."
                )
        return None

    def codes(self) -> tuple[bytes, int]:
        """Give each row's category as learnt, by its place in the state, or its verdict."""
        learnt = self._learnt()
        with self._desk.lock:
            version = self._desk.version
            categories = self._desk.session.categories_
        places = {name: place for place, name in enumerate(categories, start=1)}
        codes = np.zeros(self._desk.n_rows, dtype="<u2")
        claimed = learnt.recognized >= 0
        of_class = np.array([*(places.get(name, 0) for name in learnt.names), 0], dtype="<u2")
        codes[claimed] = of_class[learnt.recognized[claimed]]
        codes[learnt.verdicts == VERDICTS.index("ambiguous")] = AMBIGUOUS
        codes[learnt.verdicts == VERDICTS.index("unknown")] = UNKNOWN
        for place, rows in enumerate(categories.values(), start=1):
            codes[list(rows)] = min(place, UNKNOWN - 1)
        return codes.tobytes(), version

    def model_file(self) -> bytes:
        """Give the model as the file that `kernova recognize` takes."""
        learnt = self._learnt()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.kernova"
            learnt.save(path)
            return path.read_bytes()

    def _still_open(self, rows: list[int]) -> list[int]:
        """Leave out rows that were asked or named since."""
        with self._desk.lock:
            session = self._desk.session
            labels, asked = session.labels_, set(session.asked_)
        return [row for row in rows if labels[row] is None and row not in asked]

    def _learnt(self) -> Learnt:
        found = self._job.result
        if found is None:
            raise WorkbenchError(
                "Nothing has been learnt yet. Begin with POST /api/learn.", "nothing learnt"
            )
        return found.learnt
