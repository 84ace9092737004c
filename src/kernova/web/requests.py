"""What can be asked of the server, field by field; whatever is not said here is refused."""

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
