"""What can be asked of the server, field by field; whatever is not said here is refused.

What the server answers, field by field.
"""

from typing import Annotated, Any, Final, Literal

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr

_LARGEST: Final = 2**31 - 1
_MOST_ROWS: Final = 100_000
_MOST_LETTERS: Final = 200
_LONGEST_EXPERT: Final = 100


def _whole(value: Any) -> Any:
    """Take 3.0 for 3, as JSON does, but neither "3" nor true."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


Whole = Annotated[int, Field(strict=True, ge=0, le=_LARGEST), BeforeValidator(_whole)]
Row = Annotated[Whole, Field(description="The row's place in the table, counted from 0.")]
Name = Annotated[
    StrictStr,
    Field(
        min_length=1,
        max_length=_MOST_LETTERS,
        description="A category's name. Spaces around it go, and spaces within become single.",
    ),
]
Expert = Annotated[
    StrictStr | None,
    Field(
        min_length=1,
        max_length=_LONGEST_EXPERT,
        description="Who says it; without a name, the expert who has none.",
    ),
]
RequestKey = Annotated[
    StrictStr | None,
    Field(
        pattern=r"^[A-Za-z0-9_.:-]{1,100}$",
        description="A text of your own for this request, for example a UUID. A request that is "
        "repeated with its key is recorded once, and answered again; another with the same key is "
        "refused.",
    ),
]
PathRow = Annotated[
    int, Path(ge=0, le=_LARGEST, description="The row's place in the table, counted from 0.")
]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many to give at most.")]
Offset = Annotated[int, Query(ge=0, le=_LARGEST, description="How many to leave out first.")]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Said(_Request):
    """What everything that is said has in common."""

    expert: Expert = None
    key: RequestKey = None


class NewExpert(_Request):
    """An expert who sits down at the workbench."""

    name: Annotated[
        StrictStr,
        Field(min_length=1, max_length=_LONGEST_EXPERT, description="What the expert is called."),
    ]


class QuestionWanted(_Request):
    """A wish for a question."""

    expert: Expert = None
    row: Annotated[
        Row | None, Field(description="Ask about this row, which nobody has named yet.")
    ] = None
    source: Annotated[
        Literal["strategy", "unknown"],
        Field(
            description="Where the question comes from: the strategy, or the rows that what was "
            "learnt does not know."
        ),
    ] = "strategy"


class Answer(Said):
    """To which category the row of a question belongs, and perhaps others of its cluster."""

    row: Row
    label: Name
    members: Annotated[
        Literal["all"] | Annotated[list[Whole], Field(max_length=_MOST_ROWS)] | None,
        Field(
            description="Rows that get the same name: all that the question stands for and that "
            "have none, or these; null: the row alone."
        ),
    ] = None


class Skip(Said):
    """A question that is passed over."""

    row: Row


class Undo(Said):
    """What this expert said last is taken back."""


class Change(Said):
    """Another answer to an earlier question."""

    label: Annotated[Name | None, Field(description="The category; null: as if skipped.")]
    row: Annotated[
        Row | None,
        Field(
            description="The row that the question was about. Numbers of questions change when an "
            "earlier answer is taken back: with its row, no other answer is changed."
        ),
    ] = None


class Labels(Said):
    """Rows that are named out of turn, in one step."""

    rows: Annotated[list[Whole], Field(min_length=1, max_length=_MOST_ROWS)]
    label: Name


class Rename(Said):
    """Another name for a category."""

    old: Name
    new: Name


class Merge(Said):
    """Several categories become one."""

    into: Name
    others: Annotated[list[Name], Field(min_length=1, max_length=1000)]


class Delete(Said):
    """A category goes; rows that were asked count as skipped, others are open again."""

    name: Name


class Settle(Said):
    """The end of a disagreement."""

    label: Name


class Learn(_Request):
    """A wish to learn from the answers so far."""

    expert: Expert = None


Place = Annotated[int, Field(ge=0)]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Fault(_Reply):
    """Why a request was not met."""

    code: Annotated[str, Field(description="What kind of fault it is, for programs.")]
    message: Annotated[str, Field(description="The sentence for people.")]
    fields: Annotated[
        dict[str, str] | None, Field(description="What is wrong with each field at fault.")
    ] = None


class FaultReply(_Reply):
    """The one shape of everything that went wrong."""

    error: Fault


class Preparation(_Reply):
    """How far the work before the first question is."""

    state: Literal["preparing", "ready", "failed"]
    task: str
    done: Place
    total: Place
    message: str


class ExpertHere(_Reply):
    """Someone who works here, or has worked here."""

    name: str
    questions: Annotated[int, Field(description="How many questions they answered or skipped.")]
    is_here: bool


class SessionReply(_Reply):
    """What is asked about, and how."""

    version: int
    data: str
    rows: int
    columns: int
    strategy: str
    seed: int
    project: Annotated[str, Field(description="The file that keeps the answers.")]
    media: Literal["none", "picture", "sound", "outline"]
    preparation: Preparation
    is_resumed: bool
    notes: list[str]
    experts: list[ExpertHere]


class Category(_Reply):
    """A category met so far."""

    name: str
    rows: Annotated[int, Field(description="How many rows are known to belong to it.")]
    asked: Annotated[int, Field(description="How many of them were asked.")]
    first_row: Place
    colour: Annotated[
        int, Field(description="A number that the category keeps as long as it is there.")
    ]


class Advice(_Reply):
    """Whether to go on; what is known and what is guessed are kept apart."""

    known: list[str]
    guessed: list[str]
    questions_left: int


class LearnCounts(_Reply):
    """How many of the rows without a label are known, ambiguous and unknown."""

    known: int
    ambiguous: int
    unknown: int


class LearnReply(_Reply):
    """What was learnt from the answers so far."""

    state: Literal["none", "running", "ready", "failed"]
    message: str
    task: str
    done: int
    total: int
    summary: str
    notes: list[str]
    classes: list[dict[str, Any]]
    counts: LearnCounts | None
    n_labelled: Annotated[int, Field(description="From how many named rows it was learnt.")]
    is_stale: Annotated[bool, Field(description="Whether something was said since.")]
    version: int


class StateReply(_Reply):
    """Everything that changes."""

    version: int
    unchanged: Literal[False]
    preparation: Preparation
    categories: list[Category]
    curve: Annotated[list[int], Field(description="Categories met after each question.")]
    known_before: Annotated[int, Field(description="Categories known before any question.")]
    by_lot: Annotated[
        list[float],
        Field(description="Categories that asking by lot is expected to have met by then."),
    ]
    asked: int
    skipped: int
    named: int
    rows: int
    advice: Advice
    disagreements: int
    experts: list[ExpertHere]
    learn: LearnReply


class UnchangedReply(_Reply):
    """Nothing has changed since the version named."""

    version: int
    unchanged: Literal[True]
    preparation: Preparation


class ExpertReply(_Reply):
    """An expert's name as it is kept."""

    name: str


class CategoryShare(_Reply):
    """How many rows have a category."""

    name: str
    share: float


class Feature(_Reply):
    """One value of a row, and what is needed to draw it against all rows."""

    name: str
    kind: Literal["number", "category"]
    value: str
    usual: str
    place: str
    surprise: float
    histogram: list[int]
    lowest: float | None
    highest: float | None
    lowest_words: str
    highest_words: str
    position: float | None
    usual_position: float | None
    axis: Literal["linear", "log", "clipped"]
    axis_words: str
    shares: list[CategoryShare]
    n_categories: int
    own_share: float | None


class Media(_Reply):
    """Where a row's picture or sound is, or its outline."""

    kind: Literal["none", "picture", "sound", "outline"]
    picture: str | None = None
    sound: str | None = None
    spectrogram: str | None = None
    outline: dict[str, Any] | None = None


class Opinion(_Reply):
    """What an expert last said of a row."""

    expert: str | None
    label: str


class Card(_Reply):
    """Everything there is to see of a row."""

    row: Place
    id: str
    label: str | None
    question: Annotated[int | None, Field(description="The question that gave the label.")]
    opinions: list[Opinion]
    features: list[Feature]
    media: Media


class QuestionShown(_Reply):
    """A question: why it is asked, and what it stands for."""

    row: Place
    id: str
    number: int
    reason: str
    evidence: dict[str, float]
    members: Annotated[
        list[int],
        Field(description="Rows without a name that the question stands for, nearest first; 60."),
    ]
    member_ids: Annotated[list[str], Field(description="The ids of those rows.")]
    n_members: Annotated[int, Field(description="How many there are of those in all.")]
    known_members: Annotated[
        dict[str, int], Field(description="Rows of the cluster that have a name, by name.")
    ]
    card: Card


class QuestionReply(_Reply):
    """The question that is open now; null with a reason if there is none."""

    question: QuestionShown | None
    message: str | None


class Saved(_Reply):
    """What is on the disk now."""

    number: Annotated[int, Field(description="Its number in the log, counted from 1.")]
    words: str
    is_new: Annotated[bool, Field(description="Whether it brought a new category.")]
    n_rows: Annotated[int, Field(description="How many rows it named.")]


class SavedReply(QuestionReply):
    """What was saved, and the next question; null while the table is being prepared."""

    saved: Saved
    version: int
    repeated: Annotated[bool, Field(description="Whether it had been saved under its key before.")]


class FoundRow(_Reply):
    """A row that was looked for."""

    row: Place
    id: str
    label: str | None


class FoundReply(_Reply):
    """Rows whose id holds the text; those that begin with it come first."""

    rows: list[FoundRow]


class HistoryEntry(_Reply):
    """Something that was said."""

    number: int
    at: str
    by: str | None
    words: str
    kind: Literal[
        "prior", "answer", "skip", "label", "labels", "change", "rename", "merge", "delete",
        "settle", "undo",
    ]  # fmt: skip
    counts: Annotated[bool, Field(description="False for what was undone, and for undoing it.")]
    question: Annotated[
        int | None, Field(description="The number by which the answer can be changed.")
    ]
    row: int | None
    id: str | None
    n_rows: int
    label: str | None
    label_now: Annotated[str | None, Field(description="The category that the row has by now.")]


class HistoryReply(_Reply):
    """What was said, the newest first."""

    total: int
    entries: list[HistoryEntry]


class Disagreement(_Reply):
    """A row that experts name differently."""

    row: Place
    id: str
    label: str
    opinions: list[Opinion]


class DisagreementsReply(_Reply):
    """All rows that experts name differently."""

    disagreements: list[Disagreement]


class BetterMap(_Reply):
    """Whether a better map is being drawn."""

    state: Literal["none", "running", "ready", "failed"]
    done: int
    total: int


class MapReply(_Reply):
    """What the map shows."""

    kind: Literal["axes", "neighbours"]
    words: str
    rows: int
    version: int
    better: BetterMap


class LearntRow(_Reply):
    """What was learnt says of a row."""

    row: Place
    id: str
    verdict: Literal["known", "ambiguous", "unknown"]
    recognized: str | None
    membership: float | None


class LearntRowsReply(_Reply):
    """Rows without a label, those most worth asking first."""

    total: int
    rows: list[LearntRow]
