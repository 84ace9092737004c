"""Committees: the members that judge new rows, or rows of the table itself, on one scale."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from kernova.anomaly.ensemble.columns import Rows
from kernova.anomaly.ensemble.foreign import check_can_score, fit_foreign_detector
from kernova.anomaly.ensemble.members import (
    Member,
    NeighborDistance,
    fit_central_half,
    fit_isolation,
    fit_linear_structure,
    fit_single_columns,
)
from kernova.anomaly.ensemble.views import (
    DECORRELATED,
    MOST_CORRELATED_COLUMNS,
    RANGE,
    RANKS,
    STANDARD,
    SeenRows,
    Views,
)
from kernova.errors import InputError, quoted
from kernova.parallel import row_blocks
from kernova.progress import track
from kernova.surprise import Surprise, learn_surprise
from kernova.text import listed
from kernova.typing import Indices, Matrix, Vector

# New rows are compared with their nearest known row.
_FOR_NEW: Final = (1,)
# Rows of the table itself are compared with several others, and with a tenth of them, which is
# more than a group of outliers.
_SEVERAL: Final = 20
_TENTH: Final = 0.1
_NEAREST: Final = "nearest-"
# Numbers in memory that a row counts for at least: progress is reported between blocks of rows.
_LEAST: Final = 512

NEAREST_MEMBERS: Final = tuple(
    f"{_NEAREST}{view}" for view in (STANDARD, RANGE, DECORRELATED, RANKS)
)
LINEAR: Final = "linear"
CENTRAL_HALF: Final = "central-half"
COLUMNS: Final = "columns"
ISOLATION: Final = "isolation"
MEMBER_NAMES: Final = (*NEAREST_MEMBERS, LINEAR, CENTRAL_HALF, COLUMNS, ISOLATION)
# Chosen on tables that are not those of the published figures (benchmarks/detector_ensemble.py).
FOR_NEW_ROWS: Final = (*NEAREST_MEMBERS, LINEAR, COLUMNS)
FOR_OWN_ROWS: Final = tuple(
    name for name in MEMBER_NAMES if name not in (LINEAR, f"{_NEAREST}{DECORRELATED}")
)


class Reference(NamedTuple):
    """The rows that members are fitted on."""

    seen: SeenRows
    views: Views
    n_levels: list[int]
    is_of_large_table: bool


class MemberError(InputError):
    """A member that cannot run on a table; the message says why."""


@dataclass(frozen=True)
class Committee:
    """Fitted members, the scale of each, and the scale of their mean."""

    names: tuple[str, ...]
    members: tuple[Member, ...]
    scales: tuple[Surprise, ...]
    total: Surprise
    of_reference: Vector  # the bits of the rows that the scales were learnt from
    among: bool

    def surprises(self, views: Views, rows: Rows, own: Indices) -> Matrix:
        """Return the surprise of each row for each member, in bits."""
        found = np.empty((len(own), len(self.members)))
        for block in track(row_blocks(len(own), max(12 * _width(rows), _LEAST)), "scoring"):
            seen = views.seen(Rows(rows.numbers[block], rows.codes[block]))
            for j, (member, scale) in enumerate(zip(self.members, self.scales, strict=True)):
                novelty = member.novelty(seen, own[block], among=self.among)
                found[block, j] = scale.of(novelty)
        return found

    def bits(self, views: Views, rows: Rows, own: Indices) -> Vector:
        """Return the surprise of each row for the committee as a whole, in bits."""
        return self.total.of(self.surprises(views, rows, own).mean(axis=1))


class FittedMembers(NamedTuple):
    """Members that could be fitted, and for the others the reason why not."""

    fitted: dict[str, Member]
    left_out: dict[str, str]


def fit_members(
    wanted: Mapping[str, Any], reference: Reference, random: np.random.RandomState
) -> FittedMembers:
    """Fit the members by name; those that cannot run on these rows are left out with a reason."""
    fitted: dict[str, Member] = {}
    left_out: dict[str, str] = {}
    for name, detector in wanted.items():
        try:
            fitted[name] = (
                _builtin(name)(reference, random)
                if detector is None
                else fit_foreign_detector(detector, name, reference.seen, random)
            )
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            left_out[name] = str(error)
    return FittedMembers(fitted, left_out)


def committee_of(
    members: Mapping[str, Member], views: Views, rows: Rows, own: Indices, *, among: bool
) -> Committee:
    """Learn the scales from rows that are ordinary, or at least mostly so, each without itself."""
    seen = views.seen(rows)
    novelties = [member.novelty(seen, own, among=among) for member in members.values()]
    scales = tuple(learn_surprise(novelty, has_outliers=among) for novelty in novelties)
    surprises = [scale.of(novelty) for scale, novelty in zip(scales, novelties, strict=True)]
    mean = np.mean(surprises, axis=0)
    total = learn_surprise(mean, has_outliers=among)
    return Committee(tuple(members), tuple(members.values()), scales, total, total.of(mean), among)


def checked_members(members: Any) -> dict[str, Any]:
    """Return the members by name: a detector for each, or None for one of the ensemble's own."""
    if isinstance(members, str) or not isinstance(members, Sequence) or not len(members):
        raise InputError(
            'members must be "auto" or a list of names, detectors or pairs of a name and a '
            f"detector; got {quoted(members)}."
        )
    named: dict[str, Any] = {}
    for entry in members:
        name, detector = _named(entry)
        if name in named:
            raise InputError(f"Two members are named {quoted(name)}; give pairs with other names.")
        named[name] = detector
    return named


def _named(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, str):
        if entry not in MEMBER_NAMES:
            raise InputError(
                f"There is no member named {quoted(entry)}. Use {listed(MEMBER_NAMES)}, or a "
                "detector."
            )
        return entry, None
    is_pair = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
    name, detector = entry if is_pair else (type(entry).__name__, entry)
    check_can_score(detector, name)
    return name, detector


def _builtin(name: str) -> Callable[[Reference, np.random.RandomState], Member]:
    if name.startswith(_NEAREST):
        return partial(_neighbor_distance, name.removeprefix(_NEAREST))
    return {
        LINEAR: _linear,
        CENTRAL_HALF: _central_half,
        COLUMNS: _columns,
        ISOLATION: _isolation,
    }[name]


def _neighbor_distance(view: str, reference: Reference, random: np.random.RandomState) -> Member:
    if view == DECORRELATED:
        _check_width(reference)
    n_rows = len(reference.seen)
    if not reference.seen.under(view).shape[1]:
        raise MemberError("No column varies.")
    among = (min(_SEVERAL, n_rows - 1), max(1, round(_TENTH * (n_rows - 1))))
    is_large = reference.is_of_large_table
    return NeighborDistance(view, reference.seen.under(view), _FOR_NEW, among, is_large)


def _linear(reference: Reference, random: np.random.RandomState) -> Member:
    _check_width(reference)
    if not reference.seen.under(RANKS).shape[1]:
        raise MemberError("No column varies.")
    return fit_linear_structure(reference.seen)


def _central_half(reference: Reference, random: np.random.RandomState) -> Member:
    _check_width(reference)
    return fit_central_half(reference.seen)


def _columns(reference: Reference, random: np.random.RandomState) -> Member:
    return fit_single_columns(reference.seen.rows, reference.n_levels)


def _isolation(reference: Reference, random: np.random.RandomState) -> Member:
    if not reference.seen.under(STANDARD).shape[1]:
        raise MemberError("No column varies.")
    return fit_isolation(reference.seen, random)


def _check_width(reference: Reference) -> None:
    n_columns = reference.seen.under(STANDARD).shape[1]
    if n_columns > MOST_CORRELATED_COLUMNS:
        raise MemberError(
            f"Correlations of {n_columns} columns would take long; the limit is "
            f"{MOST_CORRELATED_COLUMNS}."
        )


def _width(rows: Rows) -> int:
    return max(1, rows.numbers.shape[1] + rows.codes.shape[1])
