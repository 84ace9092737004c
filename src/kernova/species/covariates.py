"""Covariates of specimens: sex, site, population and the like, and whether samples differ in them.

A covariate whose levels each lie in one group, such as the population, is nested: its specimens
are no independent evidence of their group, and are exchanged and left out together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError, quoted
from kernova.shapes.anova import indicators
from kernova.text import listed, quantity
from kernova.typing import Indices, Mask, Matrix, Vector

Labels = NDArray[np.str_]
SIZE = "size"
NOT_STATED = "not stated"
# A column with more levels, relative to specimens, is an id or a note rather than a covariate.
_MOST_LEVELS = 30
# In such columns authors write what distinguishes specimens of one species.
_USUAL_COVARIATES = ("sex", "age", "stage", "site", "locality", "population", "season", "year")


@dataclass(frozen=True)
class Covariates:
    """Columns to adjust for, one value per specimen."""

    factors: Mapping[str, Labels] = field(default_factory=dict)
    numbers: Mapping[str, Vector] = field(default_factory=dict)
    has_size: bool = False  # adjust for log centroid size, whether samples differ in it or not

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all covariates."""
        return (*self.factors, *self.numbers, *([SIZE] if self.has_size else []))

    def take(self, rows: Indices) -> "Covariates":
        """Return the covariates of some specimens."""
        return Covariates(
            {name: values[rows] for name, values in self.factors.items()},
            {name: values[rows] for name, values in self.numbers.items()},
            self.has_size,
        )


def covariates_from(table: pd.DataFrame | None, names: Sequence[str], source: str) -> Covariates:
    """Return the named columns of a table with one row per specimen; "size" is computed.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"sex": ["F", "M", ""], "depth": [3, 5, 40]})
    >>> found = covariates_from(table, ["sex", "depth", "size"], "fish.csv")
    >>> found.names, found.factors["sex"].tolist()
    (('sex', 'depth', 'size'), ['F', 'M', 'not stated'])
    """
    columns = [] if table is None else [str(name) for name in table.columns]
    factors: dict[str, Labels] = {}
    numbers: dict[str, Vector] = {}
    for name in dict.fromkeys(names):
        if name in columns:
            assert table is not None
            values = _numbers(table[name], name, source)
            if values is None:
                factors[name] = _levels(table[name])
            else:
                numbers[name] = values
        elif name != SIZE:
            there = f"There are {listed(columns)}, and size." if columns else "There is only size."
            raise InputError(f"{source} has no covariate {quoted(name)}. {there}")
    return Covariates(factors, numbers, SIZE in names and SIZE not in columns)


def _numbers(column: "pd.Series[Any]", name: str, source: str) -> Vector | None:
    """Return a column of numbers; None if it has text, or two values only, which are levels."""
    text = _text(column)
    numbers = pd.to_numeric(text.where(text != ""), errors="coerce").to_numpy(np.float64)
    is_empty = (text == "").to_numpy()
    given = numbers[~is_empty]
    if not np.isfinite(given).all() or len(np.unique(given)) <= 2:
        return None
    if is_empty.any():
        raise InputError(
            f"The covariate {quoted(name)} of {source} has no value for "
            f"{quantity(int(is_empty.sum()), 'specimen')}. Leave out these specimens, or the "
            "covariate."
        )
    return numbers


def _levels(column: "pd.Series[Any]") -> Labels:
    text = _text(column)
    return text.where(text != "", NOT_STATED).to_numpy().astype(np.str_)


def _text(column: "pd.Series[Any]") -> "pd.Series[str]":
    return column.astype("string").fillna("").str.strip()


class Adjustment(NamedTuple):
    """How the comparison of two samples is adjusted."""

    design: Matrix  # columns of the covariates that vary within groups; may be none
    units: Labels | None  # the nested unit of each row, such as its population
    names: tuple[str, ...]  # covariates in the design


def adjustment(covariates: Covariates, rows: Indices, groups: Labels) -> Adjustment:
    """Return the design of covariates for some specimens, and their nested units.

    A factor is nested if, among all specimens, each of its levels lies in one group.
    """
    parts, names, units = [np.empty((len(rows), 0))], [], None
    for name, values in covariates.factors.items():
        if is_nested(values, groups):
            units = values[rows]
        else:
            parts.append(indicators(values[rows]))
            names.append(name)
    for name, numbers in covariates.numbers.items():
        parts.append((numbers[rows] - numbers[rows].mean())[:, None])
        names.append(name)
    return Adjustment(np.column_stack(parts), units, tuple(names))


def is_nested(values: Labels, groups: Labels) -> bool:
    """Return whether each level lies in one group, and some group has several."""
    pairs = {(str(value), str(group)) for value, group in zip(values, groups, strict=True)}
    n_levels, n_groups = len({value for value, _ in pairs}), len({group for _, group in pairs})
    return len(pairs) == n_levels and n_levels > n_groups


def balance_notes(
    others: pd.DataFrame | None,
    groups: Labels,
    is_unknown: Mask,
    closest: str | None,
    given: Sequence[str],
) -> list[str]:
    """Return notes on columns in which the unknown sample differs from the closest known group.

    Only columns with few levels count, and those that were given as covariates do not.
    """
    if others is None or closest is None:
        return []
    is_closest = groups == closest
    notes = []
    for name in others.columns:
        values = others[name].astype("string").fillna("").to_numpy().astype(np.str_)
        is_factor = 1 < len(np.unique(values)) <= min(_MOST_LEVELS, len(values) / 4)
        if name in given or not is_factor or is_one_to_one(values, groups):
            continue
        sentence = _balance(str(name), values[is_unknown], values[is_closest], closest)
        notes += [sentence] if sentence else []
    return notes


def is_one_to_one(values: Labels, groups: Labels) -> bool:
    """Return whether a column tells only what the groups tell, such as the genus of a species."""
    pairs = {(str(group), str(value)) for value, group in zip(values, groups, strict=True)}
    return len(pairs) == len(np.unique(groups))


def _balance(name: str, unknown: Labels, closest: Labels, closest_name: str) -> str:
    """Return a sentence if most of the unknown specimens have a level that few known ones have."""
    levels, counts = np.unique(unknown, return_counts=True)
    common = levels[np.argmax(counts)]
    share, known_share = counts.max() / len(unknown), float(np.mean(closest == common))
    if share < 0.75 or share - known_share < 0.4 or common == "":
        return ""
    return (
        f"Of the unknown specimens {share:.0%} have {name} = {common}, of {closest_name} "
        f"{known_share:.0%}: a difference between such specimens would look the same. Add "
        f"--covariate {name} to adjust for it."
    )


def usual_covariates(others: pd.DataFrame | None) -> tuple[str, ...]:
    """Return the columns whose names are those of usual covariates."""
    names = [] if others is None else [str(name) for name in others.columns]
    return tuple(name for name in names if name.casefold() in _USUAL_COVARIATES)
