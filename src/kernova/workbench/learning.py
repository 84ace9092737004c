"""Learning from the answers so far: a model of the categories and a verdict on all other rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

import numpy as np

from kernova.discover.events import LogEntry, PriorLabels
from kernova.files import scratch_folder
from kernova.typing import Indices
from kernova.workbench.messages import rows_of
from kernova.workbench.recognizer import VERDICTS, LearntModel, LearntRow, learn_from_answers
from kernova.workbench.shared import BackgroundJob, JobState, Part, SharedState, WorkbenchError

# Codes of rows without a category, in the colours of the map.
UNKNOWN: Final = 65533
AMBIGUOUS: Final = 65534


@dataclass(frozen=True)
class LearnCounts:
    """Number of unlabelled rows that are known, ambiguous and unknown."""

    known: int
    ambiguous: int
    unknown: int


@dataclass(frozen=True)
class LearnReply:
    """The state of learning and its result."""

    state: JobState
    message: Annotated[str, "Reason of a failure."]
    task: str
    done: int
    total: int
    summary: str
    notes: list[str]
    classes: Annotated[list[dict[str, Any]], "One line per category."]
    counts: LearnCounts | None
    n_labelled: Annotated[int, "Number of labelled rows that the model was learnt from."]
    is_stale: Annotated[bool, "Whether there are newer log entries."]
    version: int


@dataclass(frozen=True)
class LearntRowsReply:
    """Unlabelled rows with one verdict, the most informative first."""

    total: int
    rows: list[LearntRow]


class LearntState(NamedTuple):
    """A model, and the size of the log and of the training set when it was learnt."""

    model: LearntModel
    n_entries: int
    n_labelled: int


class UnknownRow(NamedTuple):
    """A row that no category claims, and the reason to ask about it."""

    row: int
    reason: str


def labelling_groups(entries: Iterable[LogEntry], n_rows: int) -> Indices:
    """Return a group number per row; rows that were labelled in one step share it.

    Examples
    --------
    >>> from kernova.discover.events import Answered, LogEntry, RowLabelled
    >>> from kernova.workbench.learning import labelling_groups
    >>> answer, label = Answered(0, "carp", others=(2, 3)), RowLabelled(3, "pike")
    >>> cluster = LogEntry(1, "", None, answer, counts=True, question=1)
    >>> corrected = LogEntry(2, "", None, label, counts=True, question=None)
    >>> labelling_groups([cluster, corrected], 4).tolist()
    [1, -2, 1, -4]
    """
    numbers = -1 - np.arange(n_rows, dtype=np.intp)
    for entry in entries:
        rows = list(rows_of(entry.event))
        if entry.counts and rows and not isinstance(entry.event, PriorLabels):
            numbers[rows] = entry.number if len(rows) > 1 else -1 - rows[0]
    return numbers


class Learning(Part):
    """Model of the categories, fitted to the answers so far in the background."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._job: BackgroundJob[LearntState] = BackgroundJob(shared.changed)

    def begin(self) -> LearnReply:
        """Start learning unless it is running."""
        with self._shared.lock:
            session = self._shared.session
            labels, n_entries, n_labelled = session.labels_, session.n_records_, session.n_labelled_
            groups = labelling_groups(session.entries_, self._shared.n_rows)
        table = self._shared.discovery.table

        def learn() -> LearntState:
            model = learn_from_answers(table, labels, groups=groups)
            return LearntState(model, n_entries, n_labelled)

        self._job.start(learn)
        return self.state()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, with a timeout; return whether learning has ended."""
        return self._job.wait(seconds)

    def state(self) -> LearnReply:
        """Return the progress of learning and its last result."""
        job, found = self._job, self._job.result
        with self._shared.lock:
            n_entries = self._shared.session.n_records_
        model = None if found is None else found.model
        task, done, total = job.progress
        return LearnReply(
            state=job.state,
            message=job.message,
            task=task,
            done=done,
            total=total,
            summary="" if model is None else model.summary,
            notes=[] if model is None else model.notes,
            classes=[] if model is None else model.classes,
            counts=None if model is None else LearnCounts(**model.counts),
            n_labelled=0 if found is None else found.n_labelled,
            is_stale=found is not None and found.n_entries != n_entries,
            version=self._shared.version,
        )

    def rows(self, verdict: str, limit: int, offset: int) -> LearntRowsReply:
        """Return the rows with a verdict that have not been labelled since."""
        model = self._model()
        open_rows = self._still_open(model.rows_of(verdict).tolist())
        shown = [model.line_of(row) for row in open_rows[offset : offset + limit]]
        return LearntRowsReply(len(open_rows), shown)

    def next_unknown(self) -> UnknownRow | None:
        """Return the most informative unknown row that no expert has open."""
        model = self._model()
        with self._shared.lock:
            elsewhere = {one.row for one in self._shared.session.open_questions_.values()}
            open_rows = self._still_open(model.unknown_rows.tolist())
        for row in open_rows:
            if row not in elsewhere:
                return UnknownRow(
                    row, "None of the categories that were learnt from your answers claims it."
                )
        return None

    def codes(self) -> tuple[bytes, int]:
        """Return each row's category code or verdict code, and the version that they hold for."""
        model = self._model()
        with self._shared.lock:
            version = self._shared.version
            results = self._shared.session.results_
            labelled, names = results.codes(UNKNOWN - 1), list(results.category_sizes)
        positions = {name: position for position, name in enumerate(names, start=1)}
        codes = np.zeros(self._shared.n_rows, dtype="<u2")
        claimed = model.recognized >= 0
        of_class = np.array([*(positions.get(name, 0) for name in model.names), 0], dtype="<u2")
        codes[claimed] = of_class[model.recognized[claimed]]
        codes[model.verdicts == VERDICTS.index("ambiguous")] = AMBIGUOUS
        codes[model.verdicts == VERDICTS.index("unknown")] = UNKNOWN
        codes[labelled > 0] = labelled[labelled > 0]
        return codes.tobytes(), version

    def model_file(self) -> bytes:
        """Return the model as a file for ``kernova recognize``."""
        model = self._model()
        with scratch_folder() as folder:
            path = folder / "model.kernova"
            model.save(path)
            return path.read_bytes()

    def _still_open(self, rows: list[int]) -> list[int]:
        """Return the rows that have been neither asked nor labelled since."""
        with self._shared.lock:
            session = self._shared.session
            results = session.results_
            return [
                row for row in rows if results.label_of(row) is None and not results.is_asked(row)
            ]

    def _model(self) -> LearntModel:
        found = self._job.result
        if found is None:
            raise WorkbenchError(
                "Nothing has been learnt yet. Start with POST /api/learn.", "nothing learnt"
            )
        return found.model
