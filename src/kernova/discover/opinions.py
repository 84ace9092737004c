"""Opinions of experts about rows: the latest label of each, and where they differ."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

_Value = TypeVar("_Value")


class Opinion(NamedTuple):
    """The label an expert gave a row, and the question it answered, if any.

    ``blind`` is the last label that the expert gave without having seen the opinion of another; it
    is None where there was none.
    """

    label: str
    question: int | None = None
    by: str | None = None
    blind: str | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A row that experts label differently.

    Parameters
    ----------
    row : int
        Index of the row in the table.
    opinions : dict of str (or None) to str
        The latest label of each expert, the newest last; None stands for unnamed experts.
    label : str
        The label of the row until the disagreement is settled.
    """

    row: int
    opinions: dict[str | None, str]
    label: str


class RowOpinions(NamedTuple):
    """All opinions about a row, the newest last, and what follows from them."""

    opinions: tuple[Opinion, ...] = ()
    settled: str | None = None
    shared: int | None = None  # orders the rows that several experts have labelled


_NOTHING = RowOpinions()


class Opinions:
    """The latest opinion of each expert about each row.

    Examples
    --------
    >>> from kernova.discover.opinions import Opinion, Opinions
    >>> opinions = Opinions()
    >>> opinions.record([3, 4], Opinion("carp", by="Anna"))
    >>> opinions.record([3], Opinion("pike", by="Bob"))
    >>> list(opinions.disputed()), opinions.of(3)
    ([3], {'Anna': 'carp', 'Bob': 'pike'})
    >>> opinions.settle(3, "pike")
    >>> list(opinions.disputed()), opinions.n_disputed
    ([], 0)
    """

    def __init__(self) -> None:
        self._of_row: dict[int, tuple[Opinion, ...]] = {}
        self._shared: dict[int, int] = {}  # rows with the opinions of several experts
        self._n_shared = 0
        self._settled: dict[int, str] = {}
        self._disputed: set[int] = set()
        self._naming: dict[str, list[int]] = {}  # rows that name a category, or have named it

    def of(self, row: int) -> dict[str | None, str]:
        """Return each expert's latest label of a row, the newest last."""
        return {opinion.by: opinion.label for opinion in self._of_row.get(row, ())}

    def latest(self, row: int) -> Opinion | None:
        """Return the newest opinion about a row."""
        opinions = self._of_row.get(row)
        return opinions[-1] if opinions else None

    def n_experts(self, row: int) -> int:
        """Return how many experts have labelled a row."""
        return len(self._of_row.get(row, ()))

    def is_only_by_others(self, row: int, expert: str | None) -> bool:
        """Return whether experts have labelled a row, but not this one."""
        opinions = self._of_row.get(row, ())
        return bool(opinions) and all(one.by != expert for one in opinions)

    @property
    def n_disputed(self) -> int:
        """Number of rows that experts label differently and that are not settled."""
        return len(self._disputed)

    def disputed(self) -> Iterator[int]:
        """Return the rows that experts label differently, in the order of second opinions."""
        return iter(sorted(self._disputed, key=self._shared.__getitem__))

    def shared(self) -> Iterator[int]:
        """Return the rows that several experts have labelled, in the order of second opinions."""
        return iter(sorted(self._shared, key=self._shared.__getitem__))

    def naming(self, names: Iterable[str]) -> list[int]:
        """Return the rows with an opinion or a settlement for one of these categories."""
        wanted = set(names)
        rows = dict.fromkeys(row for name in wanted for row in self._naming.get(name, ()))
        return [row for row in rows if self._names_any(row, wanted)]

    def _names_any(self, row: int, names: set[str]) -> bool:
        opinions = self._of_row.get(row, ())
        return self._settled.get(row) in names or any(
            one.label in names or one.blind in names for one in opinions
        )

    def record(self, rows: Iterable[int], opinion: Opinion) -> None:
        """Record an expert's opinion about rows.

        An opinion whose ``blind`` is None counts as blind if it is the only one.
        """
        alone = opinion._replace(blind=opinion.label)
        for row in rows:
            if row not in self._of_row:
                self._of_row[row] = (alone,)
                self._naming.setdefault(opinion.label, []).append(row)
                continue
            others = [one for one in self._of_row[row] if one.by != opinion.by]
            before = self.about(row)
            own = next((one.blind for one in before.opinions if one.by == opinion.by), None)
            kept = opinion if opinion.blind else opinion._replace(blind=own)
            is_settled = before.settled == opinion.label  # else it reopens the disagreement
            settled = before.settled if is_settled or not others else None
            self._set(row, (*others, kept if others else alone), settled, before.shared)

    def settle(self, row: int, label: str) -> None:
        """End a disagreement."""
        before = self.about(row)
        self._set(row, before.opinions, label, before.shared)

    def forget(self, row: int) -> None:
        """Remove all opinions about a row."""
        if row in self._of_row or row in self._settled:
            self._set(row, (), None, None)

    def rename(self, rows: Iterable[int], old: Collection[str], new: str) -> None:
        """Replace some categories by another in the opinions about rows."""
        for row in rows:
            opinions, settled, shared = self.about(row)
            renamed = tuple(
                one._replace(
                    label=new if one.label in old else one.label,
                    blind=new if one.blind in old else one.blind,
                )
                for one in opinions
            )
            self._set(row, renamed, new if settled in old else settled, shared)

    def delete(self, rows: Iterable[int], name: str) -> None:
        """Remove the opinions about rows that name a category."""
        for row in rows:
            opinions, settled, shared = self.about(row)
            left = tuple(
                one._replace(blind=None) if one.blind == name else one
                for one in opinions
                if one.label != name
            )
            is_shared = len(left) > 1
            is_settled = is_shared and settled != name
            self._set(row, left, settled if is_settled else None, shared if is_shared else None)

    def about(self, row: int) -> RowOpinions:
        """Return everything about a row, for :meth:`restore`."""
        opinions = self._of_row.get(row, ())
        if not opinions and row not in self._settled:
            return _NOTHING
        return RowOpinions(opinions, self._settled.get(row), self._shared.get(row))

    def restore(self, row: int, before: RowOpinions) -> None:
        """Set everything about a row as it was before."""
        self._set(row, *before)

    def _set(
        self, row: int, opinions: tuple[Opinion, ...], settled: str | None, shared: int | None
    ) -> None:
        if shared is None and len(opinions) > 1:
            self._n_shared += 1
            shared = self._n_shared
        _put_or_drop(self._of_row, row, opinions or None)
        _put_or_drop(self._settled, row, settled)
        _put_or_drop(self._shared, row, shared)
        labels = {opinion.label for opinion in opinions}
        blind = {opinion.blind for opinion in opinions if opinion.blind is not None}
        if len(labels) > 1 and settled is None:
            self._disputed.add(row)
        else:
            self._disputed.discard(row)
        for label in labels | blind if settled is None else {*labels, *blind, settled}:
            self._naming.setdefault(label, []).append(row)


def _put_or_drop(values: dict[int, _Value], row: int, value: _Value | None) -> None:
    if value is None:
        values.pop(row, None)
    else:
        values[row] = value
