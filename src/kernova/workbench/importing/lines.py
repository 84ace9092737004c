"""Lines of a file of labels: one opinion or remark on one row, whatever the format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple, get_args

from kernova.discover.events import Confidence, note_text
from kernova.discover.names import category_name, expert_name, is_missing_label
from kernova.errors import InputError

#: Largest file of labels, in bytes.
LARGEST_FILE: Final = 16_000_000


class LabelLine(NamedTuple):
    """A label of a row in a file, and the remarks beside it."""

    ids: tuple[str, ...]  # the row's id; of some formats, names that may be it
    category: str | None = None
    expert: str | None = None
    confidence: Confidence | None = None
    status: str = ""  # "accepted" and "unsure" mean what they do in exports
    probability: float | None = None
    tags: tuple[str, ...] = ()
    is_flagged: bool = False
    note: str | None = None
    heading: str | None = None
    is_standing: bool = True  # whether it is the label that counted
    is_settled: bool = False  # whether it ended a disagreement

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing of the row."""
        given = (self.category, self.note, self.is_flagged, self.tags, self.status == "unsure")
        return not any(given)


@dataclass(frozen=True, eq=False)
class LabelFile:
    """A file of labels.

    Attributes
    ----------
    name : str
        Name of the file.
    lines : list of LabelLine
        Its lines.
    columns : list of str
        Its columns; none where the format has fixed fields.
    id_column, category_column : str or None
        The columns that were read as ids and as categories.
    notes : list of str
        Remarks for the reader.
    """

    name: str
    lines: list[LabelLine]
    columns: list[str] = field(default_factory=list)
    id_column: str | None = None
    category_column: str | None = None
    notes: list[str] = field(default_factory=list)


def checked_line(ids: tuple[str, ...], values: Mapping[str, Any]) -> LabelLine:
    """Return a line of texts as a file has them, with names in their normalised form.

    Raises
    ------
    InputError
        If a category or the name of an expert is not readable text.

    Examples
    --------
    >>> from kernova.workbench.importing.lines import checked_line
    >>> line = checked_line(("a",), {"category": " carp ", "confidence": "high", "flagged": "yes"})
    >>> line.category, line.confidence, line.is_flagged
    ('carp', 'high', True)
    """
    status = _text(values.get("status")) or ""
    confidence = _text(values.get("confidence"))
    note = _text(values.get("note"))
    return LabelLine(
        ids=ids,
        category=None if status in _WITHOUT_LABEL else _category(_text(values.get("category"))),
        expert=_expert(_text(values.get("expert"))),
        confidence=confidence if confidence in get_args(Confidence) else None,  # type: ignore[arg-type]
        status=status,
        probability=_number(values.get("probability")),
        tags=tuple(filter(None, (_category(one) for one in values.get("tags") or ()))),
        is_flagged=str(values.get("flagged") or "").strip().lower() in _TRUE,
        note=None if note is None else note_text(note),
        heading=_category(_text(values.get("heading"))),
        is_standing=bool(values.get("is_standing", True)),
        is_settled=bool(values.get("is_settled", False)),
    )


_WITHOUT_LABEL: Final = ("unsure", "skipped", "unlabelled")
_TRUE: Final = ("true", "yes", "1", "flagged")


def _text(value: Any) -> str | None:
    return None if is_missing_label(value) else str(value)


@lru_cache(maxsize=10_000)
def _category(text: str | None) -> str | None:
    return None if text is None else category_name(text)


@lru_cache(maxsize=1000)
def _expert(text: str | None) -> str | None:
    return None if text is None else expert_name(text)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number <= 1 else None


def check_size(content: bytes, name: str) -> None:
    """Raise an error for a file that is too large, or empty."""
    if not content:
        raise InputError(f"{name} is empty. Choose another file.")
    if len(content) > LARGEST_FILE:
        raise InputError(
            f"{name} has {len(content) / 1e6:.0f} MB; the limit is {LARGEST_FILE / 1e6:.0f} MB. "
            "Leave out columns that are no labels, or save it as Parquet."
        )
