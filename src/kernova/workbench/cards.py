"""Row cards: the values of a row against all others, its media, its label and opinions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Annotated, Any, Final

import numpy as np

from kernova.discover.events import Confidence
from kernova.discover.session import AskedQuestion
from kernova.discover.state import Status
from kernova.media.row_media import MediaKind, RowMedia
from kernova.workbench.feature_drawings import Feature, aligned_card, row_card
from kernova.workbench.learning import Learning
from kernova.workbench.shared import SharedState

_MOST_MEMBERS: Final = 60

_Address = Annotated[str | None, "Addresses."]


@dataclass(frozen=True)
class MediaFile:
    """Addresses of one of a row's pictures or sounds."""

    name: Annotated[str, "A short name of the file; empty if it has none."]
    picture: _Address = None
    sound: _Address = None
    spectrogram: _Address = None


@dataclass(frozen=True)
class Media:
    """Addresses of a row's picture or sound, or its outline."""

    kind: MediaKind
    picture: _Address = None
    sound: _Address = None
    spectrogram: _Address = None
    outline: Annotated[
        dict[str, Any] | None, "As from :meth:`kernova.media.row_media.RowMedia.outline`."
    ] = None
    files: Annotated[
        list[MediaFile], "All pictures or sounds; the first one is also given above."
    ] = field(default_factory=list)


@dataclass(frozen=True)
class ContextShown:
    """A value of a row in a column that is no feature."""

    name: Annotated[str, "The column."]
    text: Annotated[str, "As written in the file; empty for a missing value."]
    address: Annotated[str | None, "The value itself, if it is an address of the web."] = None


@dataclass(frozen=True)
class Opinion:
    """The last label that an expert gave to a row."""

    expert: str | None
    label: str


@dataclass(frozen=True)
class Card:
    """Everything there is to see of a row."""

    row: int
    id: str
    label: str | None
    question: Annotated[int | None, "Number of the question that gave the label."]
    opinions: list[Opinion]
    features: Annotated[list[Feature], "The most unusual values first."]
    aligned: Annotated[
        list[Feature], "Values of the first columns, the same for every row, in table order."
    ]
    context: Annotated[list[ContextShown], "Columns that are shown without being features."]
    link: Annotated[str | None, "Address of the row elsewhere."]
    media: Media
    note: Annotated[str | None, "A remark on the row."]
    is_flagged: bool
    also: Annotated[list[str], "Labels beside the category."]
    status: Annotated[
        Status, "Whether the label is an accepted suggestion, or an expert was unsure."
    ]
    confidence: Annotated[Confidence | None, "How sure the expert was who gave the label."]


@dataclass(frozen=True)
class Guess:
    """Best guess for a row that has no label."""

    category: str
    probability: float
    is_unlike: Annotated[bool, "Whether the row is unlike all labelled rows, so that it is weak."]


@dataclass(frozen=True)
class QuestionShown:
    """A question with its reason, and the cluster that it represents."""

    row: int
    id: str
    number: int
    reason: str
    evidence: dict[str, float]
    members: Annotated[
        list[int], "Unlabelled rows that the question represents, nearest first; at most 60."
    ]
    member_ids: Annotated[list[str], "Ids of those rows."]
    n_members: Annotated[int, "Number of unlabelled rows that the question represents."]
    known_members: Annotated[dict[str, int], "Number of labelled rows of the cluster, by label."]
    is_blind: Annotated[
        bool, "Whether another expert has labelled the row; that answer is hidden until this one."
    ]
    card: Card
    guess: Annotated[
        Guess | None,
        "Best guess of the model that was learnt so far; null before the second answer.",
    ]


@dataclass(frozen=True)
class FoundRow:
    """A row found by its id."""

    row: int
    id: str
    label: str | None


@dataclass(frozen=True)
class FoundReply:
    """Rows whose id contains a text; ids that begin with it come first."""

    rows: list[FoundRow]


class Cards:
    """Descriptions of rows and questions.

    Parameters
    ----------
    shared : SharedState
        The session and its lock.
    media : RowMedia
        Pictures, sounds or outlines of the rows, if there are any.
    """

    def __init__(self, shared: SharedState, media: RowMedia) -> None:
        self._shared = shared
        self._media = media
        self._texts: list[str] | None = None

    def card(self, row: int, *, is_hidden: bool = False) -> Card:
        """Return everything there is to see of a row.

        With ``is_hidden``, nothing shows how others have labelled it.
        """
        row_id, discovery = self._shared.id_of(row), self._shared.discovery
        with self._shared.lock:
            session = self._shared.session
            label, opinions = session.label_of(row), session.opinions_of(row)
            number, results = session.question_of(row), session.results_
            noted, status = results.annotations, results.status_of(row)
            confidence = results.confidence_of(row)
        card = Card(
            row=row,
            id=row_id,
            label=label,
            question=number,
            opinions=opinion_list(opinions),
            features=row_card(discovery.population, row),
            aligned=aligned_card(discovery.population, row),
            context=[ContextShown(*value) for value in discovery.context.values(row)],
            link=discovery.context.link(row, row_id),
            media=self._media_of(row),
            note=noted.notes.get(row),
            is_flagged=row in noted.flagged,
            also=list(noted.tags.get(row, ())),
            status=status,
            confidence=confidence,
        )
        return _without_labels(card) if is_hidden else card

    def question(self, question: AskedQuestion) -> QuestionShown:
        """Return a question with its card, and the rows that would be labelled with it.

        Rows of the cluster that are labelled keep their label, and are counted by label.
        """
        session = self._shared.session
        others = question.members[question.members != question.row].tolist()
        labels = [session.label_of(row) for row in others]
        known = Counter(label for label in labels if label is not None)
        elsewhere = {one.row for one in session.open_questions_.values()}
        open_rows = [
            row
            for row, label in zip(others, labels, strict=True)
            if label is None and row not in elsewhere
        ]
        nearest = self._shared.discovery.nearest(
            question.row, np.array(open_rows, dtype=np.intp), _MOST_MEMBERS
        )
        members = nearest.tolist()
        return QuestionShown(
            row=question.row,
            id=str(question.id),
            number=question.number,
            reason=self._shared.discovery.noun.in_sentence(question.reason),
            evidence=_finite(question.evidence),
            members=members,
            member_ids=[self._shared.id_of(row) for row in members],
            n_members=len(open_rows),
            known_members=dict(sorted(known.items())),
            is_blind=question.is_blind,
            card=self.card(question.row, is_hidden=question.is_blind),
            guess=None if question.is_blind else self.guess(question.row),
        )

    def guess(self, row: int) -> Guess | None:
        """Return the best guess for a row; None if it has a label, or nothing has been learnt."""
        found = self._shared.part(Learning).guess(row)
        if found is None or found.suggested is None or not found.probability:
            return None
        is_unlike = found.verdict == "unknown"
        return Guess(found.suggested, round(found.probability, 4), is_unlike)

    def find(self, text: str, limit: int) -> FoundReply:
        """Return rows whose id contains the text; exact matches first, then prefixes."""
        if self._texts is None:
            self._texts = [str(one).casefold() for one in self._shared.session.ids_]
        wanted = text.strip().casefold()
        found = [
            (one != wanted, not one.startswith(wanted), row)
            for row, one in enumerate(self._texts)
            if wanted in one
        ]
        rows = [row for _, _, row in sorted(found)[:limit]]
        with self._shared.lock:
            labels = [self._shared.session.label_of(row) for row in rows]
        return FoundReply(
            [
                FoundRow(row, self._shared.id_of(row), label)
                for row, label in zip(rows, labels, strict=True)
            ]
        )

    def _media_of(self, row: int) -> Media:
        kind, address = self._media.kind, f"/api/media/{row}"
        if kind == "none" or not self._media.has(row):
            return Media("none")
        if kind == "outline":
            return Media(kind, outline=self._media.outline(row))
        files = [
            _media_file(kind, address, number, name)
            for number, name in enumerate(self._media.captions(row))
        ]
        first = files[0]
        return Media(kind, first.picture, first.sound, first.spectrogram, files=files)


def _media_file(kind: MediaKind, address: str, number: int, name: str) -> MediaFile:
    which = f"?file={number}" if number else ""
    if kind == "sound":
        sound, spectrogram = (f"{address}/{what}{which}" for what in ("sound", "spectrogram"))
        return MediaFile(name, sound=sound, spectrogram=spectrogram)
    return MediaFile(name, picture=f"{address}/picture{which}")


def _without_labels(card: Card) -> Card:
    """Return a card without anything that shows how others have labelled its row."""
    return replace(
        card, label=None, question=None, opinions=[], note=None, is_flagged=False, also=[],
        status="", confidence=None,
    )  # fmt: skip


def opinion_list(opinions: Mapping[str | None, str]) -> list[Opinion]:
    """Return the experts' opinions on a row as a list."""
    return [Opinion(expert, label) for expert, label in opinions.items()]


def _finite(evidence: Mapping[str, float]) -> dict[str, float]:
    """Return the finite numbers, as JSON has no others."""
    numbers = {name: float(value) for name, value in evidence.items()}
    return {name: value for name, value in numbers.items() if isfinite(value)}
