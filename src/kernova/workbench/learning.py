"""Learning from the answers so far: a model of the categories, and suggestions for other rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

import numpy as np

from kernova.discover.events import Imported, LogEntry, PriorLabels
from kernova.files import scratch_folder
from kernova.progress import Stage
from kernova.typing import Indices, Mask
from kernova.workbench.messages import rows_of
from kernova.workbench.recognizer import (
    PROMISED,
    VERDICTS,
    LearntModel,
    LearntRow,
    learn_from_answers,
    what_is_missing,
)
from kernova.workbench.shared import BackgroundJob, JobState, Part, SharedState, WorkbenchError
from kernova.workbench.suggestions import PrecisionAt

# Codes of rows without a category, in the colours of the map.
UNKNOWN: Final = 65533
AMBIGUOUS: Final = 65534
_CURVE_STEPS: Final = 101
# What learning reports, and about how long that takes.
_STAGES: Final = (
    Stage("", 0.1),
    Stage("cross-validation", 0.4),
    Stage("leaving classes out", 0.3),
    Stage("judging rows", 0.2),
)


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
    message: Annotated[str, "Reason of a failure, or what is missing to begin."]
    task: str
    done: int
    total: int
    left: Annotated[str, "Time left in words; empty while it is unknown."]
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


@dataclass(frozen=True)
class PrecisionReply:
    """How many suggestions from a probability on are right."""

    threshold: Annotated[float, "Lowest probability of a suggestion."]
    rows: Annotated[int, "Unlabelled rows with a suggestion that is at least as probable."]
    precision: Annotated[float | None, "Fraction of right ones among the answers above it."]
    low: Annotated[float, "Lower end of its 95 % interval (Wilson)."]
    high: Annotated[float, "Upper end."]
    answers: Annotated[
        float,
        "Answers above it, each judged by a model without it; rows labelled in one step are one.",
    ]
    promised: Annotated[float, "Precision that is promised for the unlabelled rows."]


@dataclass(frozen=True)
class PrecisionCurveReply:
    """Precision of the suggestions from every probability on, in steps of 0.01."""

    category: Annotated[str | None, "Only suggestions of this category; null for all."]
    points: list[PrecisionReply]
    promised: Annotated[float, "Precision that the recommended threshold promises."]
    recommended: Annotated[float | None, "Lowest threshold that promises it; null if none does."]
    answers: Annotated[float, "Answers that the figures are from."]


@dataclass(frozen=True)
class SuggestionsReply:
    """Rows with a suggestion from a probability on, the most probable first."""

    precision: PrecisionReply
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
        # The rows of a file are no cluster: they were labelled one by one.
        if entry.counts and rows and not isinstance(entry.event, PriorLabels | Imported):
            numbers[rows] = entry.number if len(rows) > 1 else -1 - rows[0]
    return numbers


class Learning(Part):
    """Model of the categories, fitted to the answers so far in the background."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._job: BackgroundJob[LearntState] = BackgroundJob(shared.changed)

    def begin(self, after: BackgroundJob[Any] | None = None) -> LearnReply:
        """Start learning unless it is running, or there is too little to learn from.

        Parameters
        ----------
        after : BackgroundJob, optional
            A more urgent job to wait for.
        """
        with self._shared.lock:
            session = self._shared.session
            labels, n_entries, n_labelled = session.labels_, session.n_records_, session.n_labelled_
            groups = labelling_groups(session.entries_, self._shared.n_rows)
            sizes = session.results_.category_sizes
        table = self._shared.discovery.table

        def learn() -> LearntState:
            if after is not None:
                after.wait()
            self._job.begin_steps(_STAGES)
            model = learn_from_answers(table, labels, groups=groups)
            return LearntState(model, n_entries, n_labelled)

        if what_is_missing(sizes) is None:
            self._job.start(learn)
        return self.state()

    def resume(self, after: BackgroundJob[Any]) -> None:
        """Learn again what was learnt before the program ended.

        The project file holds answers only. The same answers give the same model, so that it need
        not be stored; it is ready a few seconds after the first question.
        """
        if self._shared.discovery.is_resumed:
            self.begin(after)

    def wait(self, seconds: float) -> bool:
        """Wait for the end, with a timeout; return whether learning has ended."""
        return self._job.wait(seconds)

    def model(self) -> LearntModel | None:
        """Return the model that was learnt last, if any."""
        found = self._job.result
        return None if found is None else found.model

    def state(self) -> LearnReply:
        """Return the progress of learning and its last result."""
        job, found = self._job, self._job.result
        with self._shared.lock:
            n_entries = self._shared.session.n_records_
            sizes = self._shared.session.results_.category_sizes
        message = job.message if job.state != "none" else what_is_missing(sizes) or ""
        model = None if found is None else found.model
        task, done, total = job.progress
        return LearnReply(
            state=job.state,
            message=message,
            task=task,
            done=done,
            total=total,
            left=job.left,
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
        rows = model.rows_of(verdict)
        open_rows = rows[self._is_open()[rows]]
        shown = [model.line_of(int(row)) for row in open_rows[offset : offset + limit]]
        return LearntRowsReply(len(open_rows), shown)

    def row(self, row: int) -> LearntRow:
        """Return the suggestion for one row."""
        self._shared.check_rows([row])
        return self._model().line_of(row)

    def suggestions(
        self, threshold: float | None, category: str | None, limit: int, offset: int
    ) -> SuggestionsReply:
        """Return suggestions from a probability on, by default the recommended one."""
        model, is_open = self._model(), self._is_open()
        if threshold is None:
            threshold = model.threshold or 0.0
        rows = model.suggestions(threshold, category)
        rows = rows[is_open[rows]]
        at = model.precision_of(category, is_open).at(threshold)
        shown = [model.line_of(int(row)) for row in rows[offset : offset + limit]]
        return SuggestionsReply(_precision_reply(at), len(rows), shown)

    def precision(self, category: str | None) -> PrecisionCurveReply:
        """Return the precision of the suggestions from every probability on."""
        model = self._model()
        precision = model.precision_of(category, self._is_open())
        points = [precision.at(float(step)) for step in np.linspace(0, 1, _CURVE_STEPS).round(2)]
        return PrecisionCurveReply(
            category=category,
            points=[_precision_reply(point) for point in points],
            promised=PROMISED,
            recommended=precision.threshold_for(PROMISED),
            answers=points[0].answers,
        )

    def next_unknown(self) -> UnknownRow | None:
        """Return the most informative unknown row that no expert has open."""
        model = self._model()
        with self._shared.lock:
            elsewhere = {one.row for one in self._shared.session.open_questions_.values()}
            is_open = self._is_open()
        for row in model.unknown_rows[is_open[model.unknown_rows]].tolist():
            if row not in elsewhere:
                return UnknownRow(row, "It is unlike every row that was labelled so far.")
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
        of_class = np.array([*(positions.get(name, 0) for name in model.names), 0], dtype="<u2")
        codes[:] = of_class[model.judged.suggested]  # -1, a labelled row, is the last
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

    def _is_open(self) -> Mask:
        """Return which rows have been neither asked nor labelled by now."""
        with self._shared.lock:
            return self._shared.session.results_.codes(1) == 0

    def _model(self) -> LearntModel:
        found = self._job.result
        if found is None:
            raise WorkbenchError(
                "Nothing has been learnt yet. Start with POST /api/learn.", "nothing learnt"
            )
        return found.model


def _precision_reply(at: PrecisionAt) -> PrecisionReply:
    found = at._asdict()
    # Without an answer above the threshold nothing is known, and JSON has no NaN.
    return PrecisionReply(**found | {"precision": at.precision if at.answers > 0 else None})
