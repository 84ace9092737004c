"""Splits of ordinary rows: held-out parts and folds, of single rows or of whole groups.

What is drawn is a *unit*: one row, or all rows of one group. How many units are held out depends
on their number and on the wanted guarantee alone, never on a score; otherwise the bound would be
chosen by the rows that have to prove it.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral
from typing import Any, Final, NamedTuple

import numpy as np

from kernova.calibration import MAX_FALSE_ALARM
from kernova.calibration.bounds import allowed_false_alarms
from kernova.errors import InputError, TooFewRowsError, quoted
from kernova.text import plural, quantity
from kernova.typing import Indices

AUTO: Final = "auto"
# 0.29 * 100 is 28.999999999999996, and 29 rows are meant.
ROUNDING: Final = 1e-9
# So few units are left to learn from, if need be, before a rate is given up as not provable.
_FEWEST_TO_LEARN_FROM: Final = 10
# Units are enough if the expected rate of false alarms comes so close to the wanted one: all of
# them, or those of one fold.
_CLOSE: Final = 0.8
_CLOSE_IN_A_FOLD: Final = 0.5
# Of very many units this part is held out; more of them make smaller p-values possible.
_OF_VERY_MANY: Final = 5
_MOST_FOLDS: Final = 5


class Split(NamedTuple):
    """Indices of the rows to fit the detector on, and of the held-out rows; no row is in both."""

    reference: Indices
    holdout: Indices


class Wanted(NamedTuple):
    """The guarantee that is asked for."""

    max_false_alarm: float
    confidence: float
    bound: str

    def allowed(self, n_units: int) -> int:
        """Return the number of alarms allowed among so many held-out units, or raise."""
        return allowed_false_alarms(n_units, *self)

    def is_provable(self, n_units: int) -> bool:
        """Return whether so many held-out units can prove the rate."""
        try:
            self.allowed(n_units)
        except TooFewRowsError:
            return False
        return True

    def units_needed(self) -> int:
        """Return the smallest number of held-out units that can prove the rate."""
        try:
            self.allowed(0)
        except TooFewRowsError as error:
            return error.rows_needed
        raise AssertionError("No rate is proven by no rows.")  # pragma: no cover


def split_rows(n_rows: int, n_holdout: int, random: np.random.RandomState) -> Split:
    """Draw the held-out rows at random; each part keeps the order of the rows."""
    return split_units(np.arange(n_rows), n_rows, n_holdout, random)


def split_units(
    units: Indices, n_units: int, n_holdout: int, random: np.random.RandomState
) -> Split:
    """Draw the held-out units at random; ``units`` is the unit of each row."""
    is_held_out = np.zeros(n_units, dtype=np.bool_)
    is_held_out[random.permutation(n_units)[:n_holdout]] = True
    return Split(np.flatnonzero(~is_held_out[units]), np.flatnonzero(is_held_out[units]))


def fold_splits(
    units: Indices, n_units: int, n_folds: int, random: np.random.RandomState
) -> list[Split]:
    """Draw folds of units whose numbers differ by one at most; every fold is held out once."""
    fold_of_unit = np.empty(n_units, dtype=np.intp)
    fold_of_unit[random.permutation(n_units)] = np.arange(n_units) % n_folds
    fold = fold_of_unit[units]
    return [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def unit_numbers(groups: Any, n_rows: int) -> Indices:
    """Return the number of each row's group, from 0; without groups, that of the row.

    Examples
    --------
    >>> from kernova.calibration.splits import unit_numbers
    >>> unit_numbers(["north", "south", "north"], 3), unit_numbers(None, 2)
    (array([0, 1, 0]), array([0, 1]))
    """
    if groups is None:
        return np.arange(n_rows)
    labels: Sequence[Any] = list(groups)
    if len(labels) != n_rows:
        raise InputError(
            f"groups must have one label for each row; got {len(labels)} for "
            f"{quantity(n_rows, 'row')}."
        )
    is_absent = [label is None or label != label for label in labels]
    if any(is_absent):
        raise InputError(
            f"{quantity(sum(is_absent), 'row')} {plural(sum(is_absent), 'has', 'have')} no group, "
            f"the first at position {is_absent.index(True)}. Give each row a group, or leave such "
            "rows out."
        )
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.intp)


def check_holdout(holdout: Any) -> None:
    """Raise if this is neither "auto", nor a fraction of the rows, nor a number of them."""
    is_fraction = isinstance(holdout, float | np.floating) and 0 < holdout < 1
    is_auto = isinstance(holdout, str) and holdout == AUTO
    if not (is_fraction or is_auto or (_is_row_number(holdout) and holdout >= 1)):
        raise InputError(
            "holdout must be 'auto', a fraction of the rows above 0 and below 1, or a number of "
            f"rows of at least 1; got {quoted(holdout)}."
        )


def check_two_units(n_units: int, unit: str) -> None:
    """Raise if there is nothing to hold out, or nothing to learn from."""
    if n_units < 2:
        found = quantity(n_units, "sample") if unit == "row" else quantity(n_units, unit)
        raise InputError(
            f"Rows to learn from and rows to hold out need at least 2 {unit}s; got {found}."
        )


def _is_row_number(holdout: Any) -> bool:
    """Return whether this is a number of rows, not a fraction of them."""
    return isinstance(holdout, Integral) and not isinstance(holdout, bool)


def holdout_size(n_units: int, holdout: "str | float", wanted: Wanted, unit: str = "row") -> int:
    """Return the number of units to hold out, so that both parts have at least one.

    Examples
    --------
    >>> from kernova.calibration.splits import Wanted, holdout_size
    >>> wanted = Wanted(0.05, 0.95, "binomial")
    >>> holdout_size(201, 0.5, wanted), holdout_size(201, 60, wanted)
    (100, 60)
    >>> [holdout_size(n, "auto", wanted) for n in (20, 100, 400, 4000, 100_000)]
    [10, 59, 181, 1260, 19999]
    """
    check_two_units(n_units, unit)
    if isinstance(holdout, str):
        return _automatic_size(n_units, wanted, unit)
    if _is_row_number(holdout):
        if holdout >= n_units:
            raise InputError(
                f"holdout={holdout} leaves no {unit} to learn from: there are {n_units} {unit}s. "
                "Hold out fewer, or a fraction such as 0.5."
            )
        size = int(holdout)
    else:
        size = min(max(1, math.floor(holdout * n_units + ROUNDING)), n_units - 1)
    _check_enough(n_units, size, holdout, wanted)
    return size


def _automatic_size(n_units: int, wanted: Wanted, unit: str) -> int:
    """Return a number of units to hold out that wastes none of them.

    Half of the units at most, if half can prove the rate: of the numbers that allow as many
    alarms as half of the units, the smallest. It leaves the most rows to learn from, and of all
    thresholds that are proven alike it has the most alarms on average.
    """
    half, needed = n_units // 2, wanted.units_needed()
    if needed > half:
        most = n_units - min(half, _FEWEST_TO_LEARN_FROM)
        if needed > most and wanted.max_false_alarm != MAX_FALSE_ALARM:
            raise _too_few(n_units, most, wanted, unit)
        return min(needed, most)
    most = half
    enough = _size_of_close_rate(wanted, needed, half, _CLOSE)
    if enough is not None:
        most = max(enough, n_units // _OF_VERY_MANY)
    return _smallest_with_as_many_alarms(most, wanted, needed)


def _size_of_close_rate(wanted: Wanted, needed: int, half: int, close: float) -> int | None:
    """Find a number of units, up to half of them, whose expected rate is close to the wanted."""
    size = needed
    while size <= half:
        if (wanted.allowed(size) + 1) / (size + 1) >= close * wanted.max_false_alarm:
            return size
        size = max(size + 1, math.ceil(size * 1.05))
    return None


def _smallest_with_as_many_alarms(size: int, wanted: Wanted, needed: int) -> int:
    n_alarms, low, high = wanted.allowed(size), needed, size
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if wanted.allowed(middle) >= n_alarms else (middle + 1, high)
    return low


def _too_few(n_units: int, n_holdout: int, wanted: Wanted, unit: str) -> TooFewRowsError:
    try:
        wanted.allowed(n_holdout)
    except TooFewRowsError as error:
        needed = error.rows_needed
        n_learnt = min(_FEWEST_TO_LEARN_FROM, needed - 1)
        return TooFewRowsError(
            f"{error} With {quantity(n_learnt, unit)} to learn from, that takes "
            f"{needed + n_learnt} {unit}s in all; there are {n_units}.",
            rows_needed=needed,
            smallest_provable=error.smallest_provable,
        )
    raise AssertionError("Enough units were called too few.")  # pragma: no cover


def _check_enough(n_units: int, n_holdout: int, holdout: float, wanted: Wanted) -> None:
    """Raise before the fit: what can be proven depends on the number of rows alone."""
    try:
        wanted.allowed(n_holdout)
    except TooFewRowsError as error:
        needed = error.rows_needed
        if _is_row_number(holdout):
            advice = f"Set holdout to {needed} or more"
        else:
            in_all = math.ceil(needed / holdout - ROUNDING)
            advice = f"With holdout={holdout:g} that takes {in_all} rows in all"
        raise TooFewRowsError(
            f"{error} {advice}; there are {n_units}.",
            rows_needed=needed,
            smallest_provable=error.smallest_provable,
        ) from None


def fold_number(n_units: int, n_folds: Any, wanted: Wanted, unit: str = "row") -> int:
    """Return the number of folds; each of them must be able to prove the wanted rate.

    "auto" has folds that are large enough for a threshold near the wanted rate. If even halves
    cannot prove the default rate there are two folds, which prove the smallest that they can.

    Examples
    --------
    >>> from kernova.calibration.splits import Wanted, fold_number
    >>> wanted = Wanted(0.05, 0.95, "binomial")
    >>> [fold_number(n, "auto", wanted) for n in (80, 120, 600, 1000)]
    [2, 2, 3, 5]
    """
    is_auto = isinstance(n_folds, str) and n_folds == AUTO
    if not is_auto and not (_is_row_number(n_folds) and n_folds >= 2):
        raise InputError(
            f"n_folds must be 'auto' or a number of at least 2; got {quoted(n_folds)}."
        )
    needed = wanted.units_needed()
    if is_auto:
        size = _size_of_close_rate(wanted, needed, n_units // 2, _CLOSE_IN_A_FOLD)
        folds = 2 if size is None else min(_MOST_FOLDS, n_units // size)
        if size is None and wanted.max_false_alarm == MAX_FALSE_ALARM:
            return folds
    else:
        folds = int(n_folds)
    _check_folds(n_units, folds, wanted, unit)
    return folds


def _check_folds(n_units: int, folds: int, wanted: Wanted, unit: str) -> None:
    """Raise before the fit if a fold is too small to prove the rate."""
    try:
        wanted.allowed(n_units // folds)
    except TooFewRowsError as error:
        needed = error.rows_needed
        fewer = "fewer folds, " if folds > 2 else ""
        raise TooFewRowsError(
            f"{folds} folds of {n_units} {unit}s cannot prove a rate of "
            f"{Decimal(f'{wanted.max_false_alarm:.12g}'):f}: every fold needs {needed} {unit}s. "
            f"Set {fewer}a higher max_false_alarm, or calibration='holdout'.",
            rows_needed=folds * needed,
            smallest_provable=error.smallest_provable,
        ) from None
