"""State of a discovery: categories, discovery curve, stopping advice and active experts."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np

from kernova.discover.events import PriorLabels
from kernova.discover.random_baseline import BaselineBand, random_baseline
from kernova.files import path_text
from kernova.media.row_media import MediaKind
from kernova.workbench.colleagues.overlap import Overlap
from kernova.workbench.learning import LearnReply
from kernova.workbench.remarks import CategoryKeys
from kernova.workbench.shared import BackgroundJob, Presence, SharedState

# The random baseline is recomputed after this multiple of the time that it took.
_RECOMPUTE_AFTER: Final = 20.0
# Computed further than asked, so that it need not be recomputed after every answer.
_QUESTIONS_AHEAD: Final = 50
# From more answers, it takes too long for a reply.
_FEW_QUESTIONS: Final = 2000
# The curve is read often: no more digits than can be drawn, and its band at few questions.
_DIGITS: Final = 3
_MOST_OF_BAND: Final = 100

State = Literal["preparing", "ready", "failed"]


@dataclass(frozen=True)
class Preparation:
    """Progress of the work before the first question."""

    state: Annotated[State, "Ready: a question can be asked, of a large table from a sample."]
    task: str
    done: int
    total: int
    left: Annotated[str, "Time left in words; empty while it is unknown."]
    message: Annotated[str, "Reason of a failure."]
    is_complete: Annotated[
        bool, "Whether everything is prepared; until then, questions come from a sample."
    ]


@dataclass(frozen=True)
class ExpertHere:
    """An expert who works, or has worked, on the project."""

    name: str
    questions: Annotated[int, "Number of questions answered or skipped."]
    comparisons: Annotated[int, "Number of further opinions given without seeing those of others."]
    is_here: Annotated[bool, "Whether the expert is active now."]


@dataclass(frozen=True)
class RowNoun:
    """What a row is called."""

    one: str
    several: str


@dataclass(frozen=True)
class SessionReply:
    """The table, the strategy and the project file."""

    version: int
    data: str
    rows: int
    columns: int
    strategy: str
    seed: int
    project: Annotated[str, "The file that stores the answers."]
    media: MediaKind
    preparation: Preparation
    is_resumed: bool
    notes: list[str]
    experts: list[ExpertHere]
    noun: RowNoun


@dataclass(frozen=True)
class Category:
    """A category discovered so far."""

    name: str
    rows: Annotated[int, "Number of rows with this label."]
    asked: Annotated[int, "Number of those that were asked about."]
    first_row: int
    accepted: Annotated[int, "Number of those that are accepted suggestions."]
    colour: Annotated[int, "Number of its colour, constant while the category exists."]
    key: Annotated[
        str | None,
        "Its key, a digit or letter; two characters, the first of them 0, are two keys.",
    ]
    heading: Annotated[str | None, "The heading that it is under, of two-level categories."]


@dataclass(frozen=True)
class Advice:
    """Stopping advice; what is known and what is estimated are separate."""

    known: list[str]
    guessed: list[str]
    questions_left: int


@dataclass(frozen=True)
class Band:
    """Limits of an estimated curve, at some questions; straight in between."""

    questions: list[int]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class StateReply:
    """Everything that changes during a session."""

    version: int
    unchanged: Literal[False]
    preparation: Preparation
    categories: list[Category]
    curve: Annotated[list[int], "Number of categories discovered after each question."]
    known_before: Annotated[int, "Number of categories known before the first question."]
    by_lot: Annotated[
        list[float], "Random baseline: expected number of categories discovered by random sampling."
    ]
    baseline_band: Annotated[
        Band,
        "Limits of the random baseline, which is estimated: about three of four true values lay "
        "between them on tables with known categories.",
    ]
    asked: int
    skipped: Annotated[int, "Number of questions skipped by experts who were not unsure."]
    named: Annotated[int, "Number of rows with a label."]
    accepted: Annotated[int, "Number of those that are accepted suggestions."]
    rows: int
    advice: Advice
    disagreements: int
    unsure: Annotated[int, "Number of rows about which an expert was unsure."]
    flagged: Annotated[int, "Number of flagged rows."]
    has_further_labels: Annotated[bool, "Whether rows may have labels beside their category."]
    experts: list[ExpertHere]
    learn: LearnReply


@dataclass(frozen=True)
class UnchangedReply:
    """Nothing has changed since the given version."""

    version: int
    unchanged: Literal[True]
    preparation: Preparation


class Colours:
    """Colour numbers of categories, constant while a category exists.

    Examples
    --------
    >>> from kernova.workbench.overview import Colours
    >>> colours = Colours()
    >>> colours.of(["carp", "eel"]), colours.of(["eel", "cod"])
    ([0, 1], [1, 0])
    """

    def __init__(self) -> None:
        self._of: dict[str, int] = {}

    def of(self, names: list[str]) -> list[int]:
        """Return each category's number; a new category gets the lowest free one."""
        present = set(names)
        self._of = {name: colour for name, colour in self._of.items() if name in present}
        taken = set(self._of.values())
        free = (number for number in count() if number not in taken)
        for name in names:
            if name not in self._of:
                self._of[name] = next(free)
        return [self._of[name] for name in names]

    def rename(self, old: str, new: str) -> None:
        """Keep the colour of a renamed category."""
        if old in self._of and new not in self._of:
            self._of[new] = self._of.pop(old)


class _Progress(NamedTuple):
    """What follows from the session alone, computed once per version."""

    version: int
    counts: dict[str, Any]  # fields of StateReply


class _Baseline(NamedTuple):
    """The random baseline as it is sent, and its band."""

    curve: list[float]
    band: BaselineBand


class Overview:
    """Summary of the session, as the page shows it beside the question.

    Parameters
    ----------
    shared : SharedState
        The session and its lock.
    presence : Presence
        The active experts.
    preparation : BackgroundJob
        The work before the first question.
    learning_state : callable
        Returns the state of learning.
    media : {"none", "picture", "sound", "outline"}
        Kind of media that rows have.
    overlap : Overlap
        The rows that several experts are asked about.
    """

    def __init__(
        self,
        shared: SharedState,
        presence: Presence,
        preparation: BackgroundJob[Any],
        learning_state: Callable[[], LearnReply],
        media: MediaKind,
        overlap: Overlap,
    ) -> None:
        self._shared = shared
        self._overlap = overlap
        self._presence = presence
        self._preparation = preparation
        self._learning_state = learning_state
        self._media = media
        self._colours = Colours()
        self._keys = CategoryKeys()
        self._baseline = _Baseline([], BaselineBand(*np.empty((3, 0))))
        self._baseline_due = 0.0
        self._baseline_lock = threading.Lock()
        self._baseline_job: BackgroundJob[None] = BackgroundJob(shared.changed)
        self._cached = _Progress(-1, {})
        self._present: list[str] = []

    def session(self) -> SessionReply:
        """Return the table, the strategy and the project file."""
        discovery = self._shared.discovery
        with self._shared.lock:
            experts = self._experts()
        return SessionReply(
            version=self._shared.version,
            data=discovery.table.source,
            rows=self._shared.n_rows,
            columns=discovery.table.features.shape[1],
            strategy=discovery.head.strategy,
            seed=discovery.head.seed,
            project=path_text(discovery.project),
            media=self._media,
            preparation=self.preparation(),
            is_resumed=discovery.is_resumed,
            notes=discovery.notes,
            experts=experts,
            noun=RowNoun(*discovery.noun),
        )

    def preparation(self) -> Preparation:
        """Return the progress of the preparation."""
        job = self._preparation
        is_ready = self._shared.is_ready(job)
        state: State = "ready" if is_ready else "failed" if job.state == "failed" else "preparing"
        return Preparation(
            state,
            *job.progress,
            left=job.left,
            message=job.message,
            is_complete=job.state == "ready",
        )

    def state(self, since: int | None, expert: str | None) -> StateReply | UnchangedReply:
        """Return everything that changes; only the version if it is still ``since``."""
        unchanged = self.unchanged(since, expert)
        if unchanged is not None:
            return unchanged
        with self._shared.lock:
            version = self._shared.version
            if self._cached.version != version:
                self._cached = _Progress(version, self._counts())
            cached, experts = self._cached, self._experts()
        return StateReply(
            version=cached.version,
            unchanged=False,
            preparation=self.preparation(),
            **self._random_baseline(cached.counts["asked"]),
            experts=experts,
            learn=self._learning_state(),
            **cached.counts,
        )

    def unchanged(self, since: int | None, expert: str | None) -> UnchangedReply | None:
        """Return the version if it is still ``since``, without waiting for the session."""
        if expert is not None:
            self._presence.mark_active(expert)
        self._check_presence()
        version = self._shared.version
        if since != version:
            return None
        return UnchangedReply(version, unchanged=True, preparation=self.preparation())

    def _check_presence(self) -> None:
        """Increase the version when an expert came or left."""
        present = self._presence.present
        if present != self._present:
            self._present = present
            self._shared.changed()

    def rename(self, old: str, new: str) -> None:
        """Keep the colour of a renamed category."""
        with self._shared.lock:
            self._colours.rename(old, new)

    def _counts(self) -> dict[str, Any]:
        session, advice = self._shared.session, self._shared.discovery.advice
        return {
            "rows": self._shared.n_rows,
            "asked": session.n_questions_,
            "skipped": session.results_.n_only_skipped,
            "named": session.n_labelled_,
            "accepted": session.results_.n_accepted,
            "curve": session.curve_,
            "known_before": len({session.label_of(row) for row in self._prior_rows()} - {None}),
            "categories": self._categories(),
            "advice": Advice(list(advice.known), list(advice.guessed), advice.questions_left),
            "disagreements": session.n_disagreements_,
            "unsure": session.results_.n_unsure,
            "flagged": len(session.results_.annotations.flagged),
            "has_further_labels": self._shared.discovery.has_further_labels,
        }

    def _categories(self) -> list[Category]:
        results = self._shared.session.results_
        counts, noted = results.category_counts, results.annotations
        names = [one.name for one in counts]
        self._keys.read(results.n_records, results.record)
        signs = zip(self._colours.of(names), self._keys.of(names, noted.keys), strict=True)
        return [
            Category(*one, colour, key, noted.headings.get(one.name))
            for one, (colour, key) in zip(counts, signs, strict=True)
        ]

    def _experts(self) -> list[ExpertHere]:
        counts = self._shared.session.questions_by_expert_
        comparisons = self._overlap.comparisons_by_expert()
        names = dict.fromkeys([*counts, *comparisons, *self._presence.names])
        return [
            ExpertHere(
                name, counts.get(name, 0), comparisons.get(name, 0), self._presence.is_here(name)
            )
            for name in names
            if name is not None
        ]

    def _random_baseline(self, n_asked: int) -> dict[str, Any]:
        """Return the expected number of categories after 1, 2 ... random questions, and a band.

        With very many answers it is computed in the background, and may end before the last.
        """
        with self._baseline_lock:
            is_long = len(self._baseline.curve) >= n_asked
            is_due = time.monotonic() >= self._baseline_due or not is_long
            if is_due and n_asked <= _FEW_QUESTIONS:
                self._compute_baseline()
            elif is_due:
                self._baseline_job.start(self._compute_baseline)
            baseline = self._baseline
        curve = baseline.curve[:n_asked]
        return {"by_lot": curve, "baseline_band": _thinned(baseline.band, len(curve))}

    def _compute_baseline(self) -> None:
        began = time.monotonic()
        discovery = self._shared.discovery
        with self._shared.lock:
            session, prior = discovery.session, self._prior_rows()
            # Accepted suggestions are no observations.
            labels, n_asked = session.results_.labels_by_hand, session.n_questions_
        n_questions = min(n_asked + _QUESTIONS_AHEAD, self._shared.n_rows - len(prior))
        band = random_baseline(discovery.encoded, labels, n_questions, prior_rows=prior)
        self._baseline = _Baseline(band.expected.round(_DIGITS).tolist(), band)
        self._baseline_due = time.monotonic() + _RECOMPUTE_AFTER * (time.monotonic() - began)

    def _prior_rows(self) -> tuple[int, ...]:
        session = self._shared.session
        first = session.results_.record(1).event if session.n_records_ else None
        return first.rows if isinstance(first, PriorLabels) else ()


def _thinned(band: BaselineBand, n_questions: int) -> Band:
    """Return the band up to a question, at few of the questions: the first ones and the last."""
    steps = np.geomspace(1, n_questions, _MOST_OF_BAND) if n_questions else np.empty(0)
    questions = np.unique(steps.round().astype(np.intp))
    low, high = (of[questions - 1].round(_DIGITS).tolist() for of in (band.low, band.high))
    return Band(questions.tolist(), low, high)
