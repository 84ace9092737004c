"""Schemas of requests and replies; unknown fields are rejected.

Requests are declared here. Replies are the workbench's dataclasses: :func:`reply_model` derives
their pydantic models, with the descriptions that annotate their fields, so that each field is
written once. ``web-tools/page_types.py`` writes the page's types from the same description.
"""

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from inspect import getdoc
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from fastapi import Path, Query
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    TypeAdapter,
    create_model,
)

from kernova.discover.events import Confidence

_LARGEST: Final = 2**31 - 1
MOST_ROWS: Final = 100_000
_LONGEST_NAME: Final = 200
_LONGEST_EXPERT: Final = 100


def _whole(value: Any) -> Any:
    """Accept 3.0 for 3, as JSON does, but neither "3" nor true."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


Whole = Annotated[int, Field(strict=True, ge=0, le=_LARGEST), BeforeValidator(_whole)]
Row = Annotated[Whole, Field(description="Row index, counted from 0.")]
Name = Annotated[
    StrictStr,
    Field(
        min_length=1,
        max_length=_LONGEST_NAME,
        description="Name of a category. Surrounding spaces are removed, repeated ones collapsed.",
    ),
]
Expert = Annotated[
    StrictStr | None,
    Field(
        min_length=1,
        max_length=_LONGEST_EXPERT,
        description="Name of the expert; null for the expert without a name.",
    ),
]
RequestKey = Annotated[
    StrictStr | None,
    Field(
        pattern=r"^[A-Za-z0-9_.:-]{1,100}$",
        description="Idempotency key, for example a UUID. A request that is repeated with its key "
        "is recorded once and answered again; another request with the same key is rejected.",
    ),
]
Rows = Annotated[list[Whole], Field(min_length=1, max_length=MOST_ROWS)]
GivenConfidence = Annotated[
    Confidence | None, Field(description="How sure the expert is, if that is stated.")
]
PathRow = Annotated[int, Path(ge=0, le=_LARGEST, description="Row index, counted from 0.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Largest number of entries.")]
Offset = Annotated[int, Query(ge=0, le=_LARGEST, description="Number of entries to skip.")]

SuggestedCategory = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=_LONGEST_NAME,
        description="Only suggestions of this category; by default of all.",
    ),
]


# --- requests --------------------------------------------------------------------------------


class RequestBody(BaseModel):
    """Body of a request; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


class EntryBody(RequestBody):
    """Fields of every request that is recorded in the log."""

    expert: Expert = None
    key: RequestKey = None


class QuestionWanted(RequestBody):
    """A request for a question."""

    expert: Expert = None
    row: Annotated[
        Row | None, Field(description="Ask about this row, which must be unlabelled.")
    ] = None
    source: Annotated[
        Literal["strategy", "unknown", "overlap"],
        Field(
            description="Source of the question: the strategy, the rows that the learnt model "
            "does not know, or the rows that other experts have labelled and this one is to label "
            "for comparison."
        ),
    ] = "strategy"


class Answer(EntryBody):
    """The category of a question's row, and optionally of other rows of its cluster."""

    row: Row
    label: Name
    members: Annotated[
        Literal["all"] | Annotated[list[Whole], Field(max_length=MOST_ROWS)] | None,
        Field(
            description="Rows that get the same label: all unlabelled rows that the question "
            "represents, or these; null for the row alone."
        ),
    ] = None
    confidence: GivenConfidence = None


class Skip(EntryBody):
    """A skipped question."""

    row: Row
    unsure: Annotated[
        StrictBool,
        Field(description="Whether the row is listed among those that the expert cannot decide."),
    ] = False


class Change(EntryBody):
    """A new answer to an earlier question."""

    label: Annotated[Name | None, Field(description="The category; null for skipped.")]
    row: Annotated[
        Row | None,
        Field(
            description="Row of the question. Questions are renumbered when an earlier answer is "
            "undone; with the row given, no other answer can be changed by mistake."
        ),
    ] = None


class Labels(EntryBody):
    """Rows that are labelled directly, in one step."""

    rows: Rows
    label: Name
    confidence: GivenConfidence = None


class Rename(EntryBody):
    """A new name for a category."""

    old: Name
    new: Name


class Merge(EntryBody):
    """Categories to merge into one."""

    into: Name
    others: Annotated[list[Name], Field(min_length=1, max_length=1000)]


class Delete(EntryBody):
    """A category to delete; its asked rows count as skipped, the others become open again."""

    name: Name


class Settle(EntryBody):
    """The label that settles a disagreement."""

    label: Name


class Learn(RequestBody):
    """A request to learn from the answers so far."""

    expert: Expert = None


# --- replies ---------------------------------------------------------------------------------


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Fault(_Reply):
    """Reason of a failed request."""

    code: Annotated[str, Field(description="The kind of error, for programs.")]
    message: Annotated[str, Field(description="The sentence for people.")]
    fields: Annotated[
        dict[str, str] | None, Field(description="The error of each invalid field.")
    ] = None


class FaultReply(_Reply):
    """The reply to every failed request."""

    error: Fault


@cache
def reply_model(source: type[Any]) -> type[BaseModel]:
    """Derive the pydantic model of a reply from a dataclass, nested dataclasses included.

    Parameters
    ----------
    source : type
        A dataclass. The summary of its docstring describes the model, and the text that annotates
        a field, as in ``Annotated[int, "Number of rows."]``, describes the field.

    Returns
    -------
    type
        A model of the same name and fields.

    Examples
    --------
    >>> from kernova.web.schemas import reply_model
    >>> from kernova.workbench.cards import Card
    >>> reply_model(Card).model_json_schema()["properties"]["question"]["description"]
    'Number of the question that gave the label.'
    """
    types, annotated = get_type_hints(source), get_type_hints(source, include_extras=True)
    declared: dict[str, Any] = {
        field.name: (
            _with_models(types[field.name]),
            Field(
                ... if field.default is MISSING else field.default,
                description=_description(annotated[field.name]),
            ),
        )
        for field in fields(source)
    }
    summary = (getdoc(source) or "").partition("\n")[0]
    model: type[BaseModel] = create_model(
        source.__name__, __base__=_Reply, __doc__=summary, __module__=__name__, **declared
    )
    return model


_writers: dict[type[Any], TypeAdapter[Any]] = {}


def reply_json(reply: Any) -> bytes:
    """Return a reply, a dataclass, as JSON.

    Examples
    --------
    >>> from kernova.web.schemas import reply_json
    >>> from kernova.workbench.cards import FoundReply, FoundRow
    >>> reply_json(FoundReply([FoundRow(3, "carp-3", None)]))
    b'{"rows":[{"row":3,"id":"carp-3","label":null}]}'
    """
    kind = type(reply)
    if kind not in _writers:
        _writers[kind] = TypeAdapter(kind)
    return _writers[kind].dump_json(reply)


def _with_models(hint: Any) -> Any:
    """Replace the dataclasses in a type by their models."""
    if isinstance(hint, type) and is_dataclass(hint):
        return reply_model(hint)
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return Union[tuple(_with_models(part) for part in parts)]  # noqa: UP007
    if origin in (list, dict):
        return origin[tuple(_with_models(part) for part in parts)]
    return hint


def _description(hint: Any) -> str | None:
    """Return the text that annotates a type."""
    return hint.__metadata__[0] if get_origin(hint) is Annotated else None
