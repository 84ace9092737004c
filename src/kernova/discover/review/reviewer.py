"""Recording of a review: accepted, rejected, undecided and reopened rows, and annotations.

Every method records one event, returns the number of its record, and takes the keywords ``expert``
and ``key``, as the methods of :class:`~kernova.discover.session.CategoryDiscovery` do.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from kernova.discover import events
from kernova.discover.names import category_name
from kernova.discover.rows import RowIds
from kernova.errors import InputError, quoted
from kernova.noun import noun_from

_LONGEST_SOURCE: Final = 200

_MOST_EXPERTS: Final = 20

#: Records an event, made for the expert's name, and returns the number of its record.
Recorder = Callable[[Callable[[str | None], events.Event], str | None, str | None], int]


class Review:
    """Decisions about many rows at once, and remarks on rows and categories.

    Parameters
    ----------
    ids : RowIds
        Ids of the rows.
    record : callable
        Records an event of an expert under a key.
    label_of : callable
        Returns the present label of a row index.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import CategoryDiscovery
    >>> session = CategoryDiscovery("random").start(np.array([[0.0], [0.1], [9.0]]), ids="abc")
    >>> session.label_row("a", "cod")
    1
    >>> session.review.accept(["b", "c"], ["cod", "cod"], [0.93, 0.71])
    2
    >>> session.results_.is_accepted.tolist(), session.review.reject(["c"], "cod")
    ([False, True, True], 3)
    >>> session.label_of(2) is None, session.results_.annotations.rejected
    (True, {2: {'cod': None}})
    """

    def __init__(
        self, ids: RowIds, record: Recorder, label_of: Callable[[int], str | None]
    ) -> None:
        self._ids = ids
        self._record = record
        self._label_of = label_of

    def accept(
        self,
        row_ids: Iterable[Hashable],
        labels: Sequence[Hashable],
        probabilities: Sequence[float],
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Label rows as a model suggested; those with a label given by hand are left out.

        Parameters
        ----------
        row_ids : iterable
            Ids of the rows.
        labels, probabilities : sequence
            The suggested category of each row, and its probability.
        expert, key
            As in all methods.
        """
        rows = self._rows(row_ids)
        if not len(rows) == len(labels) == len(probabilities):
            raise InputError(
                f"{len(rows)} rows need as many labels and probabilities; got {len(labels)} and "
                f"{len(probabilities)}."
            )
        if not all(0 <= one <= 1 for one in probabilities):
            raise InputError("Probabilities must be numbers from 0 to 1.")
        # Few names for very many rows, each checked once.
        named = list(map(lru_cache(category_name), labels))
        names = tuple(dict.fromkeys(named))
        position = {name: code for code, name in enumerate(names)}

        def event(_: str | None) -> events.Event:
            # Looked at when it is recorded: another expert may have labelled one meanwhile.
            left = [place for place, row in enumerate(rows) if self._label_of(row) is None]
            if not left:
                raise InputError("All of these rows have been labelled meanwhile.")
            return events.Accepted(
                tuple(rows[place] for place in left),
                names,
                tuple(position[named[place]] for place in left),
                tuple(round(1000 * float(probabilities[place])) for place in left),
            )

        return self._record(event, expert, key)

    def reject(
        self,
        row_ids: Iterable[Hashable],
        label: object,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Record that rows are not of a category; those with its label lose it."""
        event = events.Rejected(self._rows(row_ids), category_name(label))
        return self._record(lambda _: event, expert, key)

    def mark_unsure(
        self, row_ids: Iterable[Hashable], *, expert: str | None = None, key: str | None = None
    ) -> int:
        """Remove the labels of rows, and list them as undecided; they are not asked about."""
        event = events.RowsUnsure(self._rows(row_ids))
        return self._record(lambda _: event, expert, key)

    def reopen(
        self, row_ids: Iterable[Hashable], *, expert: str | None = None, key: str | None = None
    ) -> int:
        """Remove the labels of rows, which may be asked about; asked ones become skipped."""
        event = events.Reopened(self._rows(row_ids))
        return self._record(lambda _: event, expert, key)

    def note(
        self,
        row_id: Hashable,
        text: str | None,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Record a remark on a row in place of an earlier one; None removes it."""
        kept = None if text is None else events.note_text(text)
        event = events.Noted(self._ids.row_of(row_id), kept)
        return self._record(lambda _: event, expert, key)

    def flag(
        self,
        row_ids: Iterable[Hashable],
        is_on: bool = True,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Flag rows for later, or remove their flags."""
        event = events.Flagged(self._rows(row_ids), bool(is_on))
        return self._record(lambda _: event, expert, key)

    def tag(
        self,
        row_ids: Iterable[Hashable],
        label: object,
        is_on: bool = True,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Add a further label to rows beside their category, or remove it."""
        event = events.Tagged(self._rows(row_ids), category_name(label), bool(is_on))
        return self._record(lambda _: event, expert, key)

    def group(
        self,
        names: Iterable[object],
        under: object | None,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Put categories under a heading, or with None under none."""
        grouped = tuple(dict.fromkeys(map(category_name, names)))
        if not grouped:
            raise InputError("There is no category to group: give at least one name.")
        event = events.Grouped(grouped, None if under is None else category_name(under))
        return self._record(lambda _: event, expert, key)

    def choose_key(
        self,
        name: object,
        letter: str | None,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Assign a key of the keyboard to a category; None for no key.

        ``letter`` is a digit from 1 to 9 or a letter; with a 0 before it, two keys are pressed.
        """
        kept = None if letter is None else letter.lower()
        if kept is not None and not _is_key(kept):
            raise InputError(
                "The key of a category must be a digit from 1 to 9 or a letter, or 0 and then a "
                f"digit or letter; got {quoted(letter)}."
            )
        event = events.KeyChosen(category_name(name), kept)
        return self._record(lambda _: event, expert, key)

    def set_option(
        self, name: str, value: str, *, expert: str | None = None, key: str | None = None
    ) -> int:
        """Set an option of the project, which stays until it is set again.

        ``"noun"`` says what a row is called, see :func:`kernova.noun.noun_from`; ``"further
        labels"`` is "on" where rows may have labels beside their category, otherwise "off".
        """
        if name == "noun":
            value = ",".join(noun_from(value))
        elif name != "further labels" or value not in ("on", "off"):
            raise InputError(
                "There are the options 'noun', and 'further labels' with the values 'on' and "
                f"'off'; got {quoted(name)} and {quoted(value)}."
            )
        event = events.OptionSet(name, value)
        return self._record(lambda _: event, expert, key)

    def plan_overlap(
        self,
        fraction: float,
        experts: int = 2,
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Plan that several experts are asked about a fraction of rows, each without the others.

        Parameters
        ----------
        fraction : float
            Fraction of the rows, from 0 to 1, counted in thousandths; 0 ends the plan.
        experts : int
            Number of experts for each of these rows, from 2 to 20.
        expert, key
            As in all methods.
        """
        permille = round(1000 * fraction) if 0 <= fraction <= 1 else -1
        if permille < 0:
            raise InputError(f"The fraction of rows must be from 0 to 1; got {quoted(fraction)}.")
        if isinstance(experts, bool) or experts not in range(2, _MOST_EXPERTS + 1):
            raise InputError(
                f"The number of experts for each row must be from 2 to {_MOST_EXPERTS}; got "
                f"{quoted(experts)}."
            )
        event = events.OptionSet("overlap", f"{permille},{int(experts)}")
        return self._record(lambda _: event, expert, key)

    def import_labels(
        self,
        source: str,
        parts: Callable[[], Sequence[events.ImportedPart]],
        *,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Record labels and remarks from a file, which one undo takes back.

        Parameters
        ----------
        source : str
            Name of the file.
        parts : callable
            Returns what the file brings, when it is recorded: labels may have changed meanwhile.
        expert, key
            As in all methods; labels without an expert of their own are this one's.
        """

        def event(_: str | None) -> events.Imported:
            given = tuple(parts())
            if not given:
                raise InputError(
                    f"{source} changes nothing: it holds no label or remark that is not there "
                    "already. Choose another file, or another treatment of conflicts."
                )
            return events.Imported(source_name(source), given)

        return self._record(event, expert, key)

    def _rows(self, row_ids: Iterable[Hashable]) -> tuple[int, ...]:
        rows = tuple(dict.fromkeys(map(self._ids.row_of, row_ids)))
        if not rows:
            raise InputError("There is no row: give at least one id.")
        return rows


def _is_key(text: str) -> bool:
    """Return whether a text names a key, or 0 and a key."""
    return text[-1:].isalnum() and (text[:-1] == "0" or (len(text) == 1 and text != "0"))


def source_name(name: str) -> str:
    r"""Return the name of a file as the log stores it: readable, and of at most 200 characters.

    Examples
    --------
    >>> from kernova.discover.review.reviewer import source_name
    >>> source_name("my  labels\n.csv"), source_name("\x00")
    ('my labels .csv', 'a file')
    """
    readable = "".join(one if one.isprintable() else " " for one in name)[:_LONGEST_SOURCE]
    try:
        return category_name(readable)
    except InputError:
        return "a file"
