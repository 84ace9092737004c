"""Checks of events against the state of a session, before they are saved and applied."""

from typing import TYPE_CHECKING, Final

from kernova.discover.events import (
    Accepted,
    Answered,
    Changed,
    Deleted,
    Event,
    Flagged,
    Grouped,
    Imported,
    KeyChosen,
    Lost,
    Merged,
    Noted,
    Opined,
    OptionSet,
    Passed,
    PriorLabels,
    Rejected,
    Renamed,
    Reopened,
    RowLabelled,
    RowsAdded,
    RowsLabelled,
    RowsNoted,
    RowsUnsure,
    Settled,
    Skipped,
    Tagged,
    Unsure,
)
from kernova.discover.growth.batches import check_batch
from kernova.errors import InputError, quoted
from kernova.text import listed

if TYPE_CHECKING:
    from kernova.discover.state.session_state import SessionState

_MAX_NAMES: Final = 12


class Checks:
    """Checks whether events fit a state; none of them changes it.

    Parameters
    ----------
    state : SessionState
        The state.
    """

    def __init__(self, state: "SessionState") -> None:
        self._state = state

    def check(self, event: Event) -> None:
        """Raise if an event does not fit the state."""
        match event:
            case PriorLabels(rows, labels):
                self._check_prior(rows, labels)
            case RowsAdded():
                check_batch(event, self._state.n_rows)
            case Answered(row, _, others, _):
                self._check_open(row)
                self._check_rows(others)
                _check_distinct((row, *others))
            case Skipped(row) | Unsure(row):
                self._check_open(row)
            case RowLabelled(row) | Passed(row) | Noted(row, _):
                self._check_rows((row,))
            case RowsLabelled() | RowsUnsure() | Reopened() | Rejected() | Flagged() | Tagged():
                self._check_rows(event.rows)
                _check_distinct(event.rows)
            case Accepted() | Opined() | RowsNoted() | Imported():
                self._check_imported(event)
            case _:
                self._check_correction(event)

    def _check_correction(self, event: Event) -> None:
        match event:
            case Settled(row, _):
                self._check_disputed(row)
            case Changed(question, _):
                self._check_question(question)
            case Renamed(old, new):
                self._check_rename(old, new)
            case Merged(into, others):
                self._check_merge(into, others)
            case Deleted(name):
                self._check_category(name)
            case Lost() | Grouped() | KeyChosen() | OptionSet():
                pass
            case _:
                raise TypeError(f"{event!r} is resolved by the log, not by the state")

    def _check_prior(self, rows: tuple[int, ...], labels: tuple[str, ...]) -> None:
        if self._state.entries or len(rows) != len(labels):
            raise _damaged("prior labels must come first, one for each row")
        self._check_rows(rows)
        _check_distinct(rows)

    def _check_rows(self, rows: tuple[int, ...]) -> None:
        if rows and not (min(rows) >= 0 and max(rows) < self._state.n_rows):
            raise _damaged(
                f"it refers to row {max(rows)}, but the table has {self._state.n_rows} rows"
            )

    def _check_imported(self, event: Accepted | Opined | RowsNoted | Imported) -> None:
        if isinstance(event, Imported):
            for part in event.parts:
                self.check(part)
            return
        self._check_rows(event.rows)
        _check_distinct(event.rows)
        of_rows = {
            Accepted: ("codes", "permille"), Opined: ("codes",), RowsNoted: ("texts",),
        }[type(event)]  # fmt: skip
        if any(len(getattr(event, name)) != len(event.rows) for name in of_rows):
            raise _damaged(f"it has {' and '.join(of_rows)} for other rows than it names")
        if not isinstance(event, RowsNoted) and max(event.codes, default=-1) >= len(event.names):
            raise _damaged("it labels rows with a category without name")

    def _check_open(self, row: int) -> None:
        self._check_rows((row,))
        if row in self._state.entries:
            raise _damaged(f"row {row} was asked, but was already labelled or skipped")

    def _check_disputed(self, row: int) -> None:
        self._check_rows((row,))
        if self._state.opinions.n_experts(row) < 2:
            raise _damaged(f"row {row} was settled, but fewer than two experts had labelled it")

    def _check_question(self, question: int) -> None:
        n_asked = len(self._state.questions)
        if not 1 <= question <= n_asked:
            extent = (
                f"there are questions 1 to {n_asked}"
                if n_asked
                else "no question has been asked yet"
            )
            raise InputError(f"There is no question {question} to change: {extent}.")

    def _check_rename(self, old: str, new: str) -> None:
        self._check_category(old)
        if old == new:
            raise InputError(f"The category {quoted(old)} has that name already.")
        if self._state.has_category(new):
            raise InputError(
                f"There is a category {quoted(new)} already. To make one of both, merge "
                f"{quoted(old)} into it."
            )

    def _check_merge(self, into: str, others: tuple[str, ...]) -> None:
        if not others:
            raise InputError(
                f"Nothing to merge into {quoted(into)}: name at least one other category."
            )
        for name in (into, *others):
            self._check_category(name)
        if into in others:
            raise InputError(f"The category {quoted(into)} cannot be merged into itself.")

    def _check_category(self, name: str) -> None:
        if not self._state.has_category(name):
            raise InputError(
                f"There is no category {quoted(name)}. {_existing(list(self._state.categories))}"
            )


def _existing(names: list[str]) -> str:
    if not names:
        return "There is no category yet."
    return f"There are {listed(names, _MAX_NAMES)}."


def _check_distinct(rows: tuple[int, ...]) -> None:
    if len(set(rows)) != len(rows):
        raise _damaged("it labels a row twice in one event")


def _damaged(reason: str) -> InputError:
    return InputError(f"The log does not fit the table, or is damaged: {reason}.")
