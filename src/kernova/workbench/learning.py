"""Learning from the labels given by hand: a model of the categories, and suggestions.

Accepted suggestions are not learnt from: a model that is taught what it says itself becomes sure
of its errors.
"""

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, NamedTuple

import numpy as np

from kernova.discover.events import (
    Answered,
    Imported,
    LogEntry,
    RowLabelled,
    RowsLabelled,
    Settled,
)
from kernova.files import scratch_folder
from kernova.progress import Stage
from kernova.typing import Indices, Mask
from kernova.workbench.learnt.relearning import Relearning
from kernova.workbench.learnt.rows import Labels, LearntRows, at_present
from kernova.workbench.messages import rows_of
from kernova.workbench.recognizer import (
    PROMISED,
    VERDICTS,
    LearntModel,
    LearntRow,
    Negative,
    learn_from_answers,
    what_is_missing,
)
from kernova.workbench.shared import BackgroundJob, JobState, Part, SharedState, WorkbenchError
from kernova.workbench.suggestions import Precision, PrecisionAt

# Codes of rows without a category, in the colours of the map.
UNKNOWN: Final = 65533
AMBIGUOUS: Final = 65534
_CURVE_STEPS: Final = 101
# Events that label rows by hand. The rows of an imported file are no cluster: they were labelled
# one by one.
_LABELLING: Final = (Answered, RowLabelled, RowsLabelled, Settled, Imported)
# Runs whose suggestions are kept, for those who look at them while others answer.
_RUNS_KEPT: Final = 8
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
    is_stale: Annotated[bool, "Whether labels by hand, or rejected categories, are newer."]
    generation: Annotated[
        int | None, "Number of the model, which is another one after learning again."
    ]
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


class Training(NamedTuple):
    """What there is to learn from."""

    #: Label of each row that was given by hand, or known before; None for all others.
    labels: Labels
    negatives: frozenset[Negative]
    groups: Indices
    n_entries: int

    @property
    def n_labelled(self) -> int:
        """Number of rows with a label."""
        return int((self.labels != None).sum())  # noqa: E711

    def n_other(self, before: "Training") -> int:
        """Return the number of labels and rejected categories that differ from earlier ones."""
        differ = int((self.labels != before.labels).sum())
        return differ + len(self.negatives ^ before.negatives)


class LearntState(NamedTuple):
    """A model, and what it was learnt from."""

    model: LearntModel
    training: Training
    rows: LearntRows


class _Present(NamedTuple):
    """A model under the present categories, after so many log entries."""

    n_entries: int
    generation: int
    model: LearntModel


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
    alone = -1 - np.arange(n_rows, dtype=np.intp)
    numbers = alone.copy()
    for entry in entries:
        if not (entry.counts and isinstance(entry.event, _LABELLING)):
            continue
        rows = list(rows_of(entry.event))
        is_together = len(rows) > 1 and not isinstance(entry.event, Imported)
        numbers[rows] = entry.number if is_together else alone[rows]
    return numbers


class Learning(Part):
    """Model of the categories, fitted in the background to the labels given by hand."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._job: BackgroundJob[LearntState] = BackgroundJob(shared.changed)
        self._wanted: Training | None = None  # what was last asked to be learnt from
        self._runs: deque[LearntRows] = deque(maxlen=_RUNS_KEPT)
        self._present: _Present | None = None
        self._compared: tuple[int, int] | None = None  # a run and a log that were compared
        self._differs = False
        self._looked_at = 0  # log entries when labels were last compared
        self._relearning = Relearning(self._n_new, self._learn_again)

    def begin(self, after: BackgroundJob[Any] | None = None) -> LearnReply:
        """Start learning, unless there is too little to learn from.

        While it is running, it starts again at the end if labels have changed since.

        Parameters
        ----------
        after : BackgroundJob, optional
            A more urgent job to wait for.
        """
        training = self._training()
        if what_is_missing(_sizes(training)) is None:
            self._wanted, self._looked_at = training, training.n_entries
            self._job.start(lambda: self._learnt(training, after))
        return self.state()

    def _learnt(self, training: Training, after: BackgroundJob[Any] | None) -> LearntState:
        if after is not None:
            after.wait()
        while True:
            began = time.monotonic()
            self._job.begin_steps(_STAGES)
            model = learn_from_answers(
                self._shared.discovery.table,
                training.labels,
                groups=training.groups,
                negatives=sorted(training.negatives),
            )
            self._relearning.took(time.monotonic() - began)
            wanted = self._wanted or training
            if wanted.n_other(training) == 0:
                break
            training = wanted
        # Unlike a counter, it does not begin anew with the server.
        generation = self._shared.version
        rows = LearntRows(generation, model.names, model.judged, model.held_out, training.labels)
        self._runs.append(rows)
        return LearntState(model, training, rows)

    def follow(self, after: BackgroundJob[Any]) -> None:
        """Learn again after changes from now on, and what was learnt before the program ended.

        The project file holds answers only. The same answers give the same model, so that it need
        not be stored; it is ready a few seconds after the first question.
        """
        if self._shared.discovery.is_resumed:
            self.begin(after)
        self._shared.listen(self._relearning.changed)
        self._relearning.start()

    def stop(self) -> None:
        """End learning by itself."""
        self._relearning.stop()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, with a timeout; return whether learning has ended."""
        return self._job.wait(seconds)

    def model(self) -> LearntModel | None:
        """Return the model that was learnt last, if any."""
        found = self._job.result
        return None if found is None else found.model

    def _learn_again(self) -> None:
        """Learn again unless labels are those that were learnt from, or it is too early."""
        found, training = self._job.result, self._training()
        self._looked_at = training.n_entries
        is_same = found is not None and training.n_other(found.training) == 0
        if not is_same and self._shared.session.is_ready_:
            self.begin()

    def _n_new(self) -> tuple[int, int]:
        """Return the number of log entries since labels were compared, and of labelled rows."""
        if self._job.state == "running":
            return 0, 0
        session = self._shared.session
        with self._shared.lock:
            return session.n_records_ - self._looked_at, session.n_labelled_

    def _training(self) -> Training:
        with self._shared.lock:
            session = self._shared.session
            labels = session.results_.labels_by_hand
            rejected = session.results_.annotations.rejected
            negatives = frozenset(
                Negative(row, name)
                for row, names in rejected.items()
                for name in names
                if labels[row] != name
            )
            groups = labelling_groups(session.entries_, self._shared.n_rows)
            return Training(labels, negatives, groups, session.n_records_)

    def state(self) -> LearnReply:
        """Return the progress of learning and its last result."""
        job, found = self._job, self._job.result
        with self._shared.lock:
            counts = self._shared.session.results_.category_counts if found is None else []
            is_stale = self._is_stale(found)
        sizes = {one.name: one.n_rows - one.n_accepted for one in counts}
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
            n_labelled=0 if found is None else found.training.n_labelled,
            is_stale=is_stale,
            generation=None if found is None else found.rows.generation,
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

    def guess(self, row: int) -> LearntRow | None:
        """Return the suggestion for one row; None before anything has been learnt."""
        return None if self._job.result is None else self._model().line_of(row)

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
        return precision_curve(self._model().precision_of(category, self._is_open()), category)

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

    def _is_stale(self, found: LearntState | None) -> bool:
        if found is None:
            return False
        n_entries = self._shared.session.n_records_
        if self._compared != (found.rows.generation, n_entries):
            self._compared = (found.rows.generation, n_entries)
            self._differs = self._training().n_other(found.training) > 0
        return self._differs

    # --- the model at present ----------------------------------------------------------------

    @property
    def generation(self) -> int | None:
        """Number of the last run of learning; None before the first."""
        return None if self._job.result is None else self._job.result.rows.generation

    def present_rows(self, generation: int | None = None) -> LearntRows | None:
        """Return the suggestions of a run under the present categories, without rejected ones.

        Parameters
        ----------
        generation : int, optional
            Number of the run; by default the last one.

        Returns
        -------
        LearntRows or None
            None if there was no such run, or if it is not kept any longer.
        """
        runs = list(self._runs)
        if generation is None:
            generation = self.generation
        learnt = next((one for one in runs if one.generation == generation), None)
        if learnt is None:
            return None
        with self._shared.lock:
            results = self._shared.session.results_
            return at_present(learnt, results.labels, results.annotations.rejected)

    def _model(self) -> LearntModel:
        found = self._job.result
        if found is None:
            raise WorkbenchError(
                "Nothing has been learnt yet. Start with POST /api/learn.", "nothing learnt"
            )
        with self._shared.lock:
            n_entries, generation = self._shared.session.n_records_, found.rows.generation
            present = self._present
            if present is None or (present.n_entries, present.generation) != (
                n_entries, generation,
            ):  # fmt: skip
                results = self._shared.session.results_
                rows = at_present(found.rows, results.labels, results.annotations.rejected)
                model = replace(found.model, names=rows.names, judged=rows.judged)
                self._present = present = _Present(n_entries, generation, model)
        return present.model


def _sizes(training: Training) -> dict[str, int]:
    names, counts = np.unique(
        training.labels[training.labels != None].astype(str), return_counts=True  # noqa: E711
    )  # fmt: skip
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


def precision_curve(precision: Precision, category: str | None) -> PrecisionCurveReply:
    """Return the precision of suggestions from every probability on, in steps of 0.01."""
    points = [precision.at(float(step)) for step in np.linspace(0, 1, _CURVE_STEPS).round(2)]
    return PrecisionCurveReply(
        category=category,
        points=[_precision_reply(point) for point in points],
        promised=PROMISED,
        recommended=precision.threshold_for(PROMISED),
        answers=points[0].answers,
    )


def _precision_reply(at: PrecisionAt) -> PrecisionReply:
    found = at._asdict()
    # Without an answer above the threshold nothing is known, and JSON has no NaN.
    return PrecisionReply(**found | {"precision": at.precision if at.answers > 0 else None})
