"""Covariates of specimens: sex, site, population and the like, and whether samples differ in them.

What a covariate means for the comparison of two samples depends on where its levels occur. Levels
in both samples, such as sexes, are adjusted for. Levels of one sample each, such as populations,
are nested: their specimens are no independent evidence of the group, and are exchanged and left
out together. If each sample has a single level, nothing separates the groups from the covariate.
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
_USUAL_COVARIATES = (
    "sex", "age", "stage", "site", "locality", "population", "season", "year", "digitiser",
    "digitizer", "observer", "collection", "preservation",
)  # fmt: skip
# A factor is stated for a sample if it is for two of its specimens, or for its only one.
_FEWEST_STATED = 2
# Levels of so many specimens on average are usual beside one of a single specimen.
_SEVERAL = 4
# From this fraction of shared levels on, a factor is one that both samples have.
_MOST_SHARED = 0.5


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

    design: Matrix  # columns of the covariates that vary within samples; may be none
    names: tuple[str, ...]  # the covariates in the design
    is_stated: Mask  # rows in which all of them are
    units: Labels | None  # the nested unit of each row, such as its population
    unit: str  # the name of that covariate
    shared: tuple[str, ...]  # units that both samples have, counted as two
    confounded: tuple[str, ...]  # covariates of which each sample has one level, and another one
    unstated: tuple[str, ...]  # covariates stated for too few specimens

    def without_design(self) -> "Adjustment":
        """Return the adjustment without covariates that vary within samples."""
        n = len(self.design)
        every = np.ones(n, dtype=np.bool_)
        return self._replace(design=np.empty((n, 0)), names=(), is_stated=every)


class _Levels(NamedTuple):
    """Where the levels of a factor occur in two samples."""

    is_stated: Mask
    n_levels: tuple[int, int]  # of the two samples
    shared: tuple[str, ...]  # levels in both, in several specimens of each
    common: tuple[str, ...]  # levels in both, be it in a single specimen
    fractions: tuple[float, float]  # of the specimens of each sample, those of shared levels
    recurs: bool  # whether most levels occur in other groups as well

    @property
    def is_too_rarely_stated(self) -> bool:
        return min(self.n_levels) == 0

    @property
    def is_confounded(self) -> bool:
        """Whether one sample has a single level of its own, and the other no population."""
        is_one = max(self.n_levels) == 1 or (min(self.n_levels) == 1 and self.recurs)
        return is_one and not self.shared

    @property
    def is_constant(self) -> bool:
        """Whether both samples have the same single level."""
        return bool(self.shared) and max(self.n_levels) == 1

    @property
    def is_nested(self) -> bool:
        """Whether most specimens of both samples have levels of their sample alone."""
        is_several = max(self.n_levels) > 1 and (min(self.n_levels) > 1 or not self.recurs)
        return is_several and max(self.fractions) < _MOST_SHARED


def adjustment(
    covariates: Covariates, rows: Indices, is_first: Mask, groups: Labels | None = None
) -> Adjustment:
    """Return what the covariates mean for the comparison of two samples.

    Of several nested factors, such as population and region, the one with the fewest levels
    counts: specimens of one region are no independent evidence either. A factor whose levels
    recur in other groups, as sexes do, is no population: where one sample has a single level that
    the other has not, nothing separates it from the group. ``groups`` are those of all specimens.
    """
    parts, is_stated = [np.empty((len(rows), 0))], np.ones(len(rows), dtype=np.bool_)
    names, confounded, unstated = [], [], []
    nested: dict[str, _Levels] = {}
    for name, values in covariates.factors.items():
        found = _levels_of(values[rows], is_first, _recurs(values, rows, groups))
        if found.is_too_rarely_stated:
            unstated.append(name)
        elif found.is_confounded:
            confounded.append(name)
        elif found.is_nested:
            nested[name] = found
        elif not found.is_constant:
            parts.append(indicators(values[rows]))
            is_stated &= found.is_stated
            names.append(name)
    for name, numbers in covariates.numbers.items():
        parts.append((numbers[rows] - numbers[rows].mean())[:, None])
        names.append(name)
    unit = min(nested, key=lambda name: sum(nested[name].n_levels), default="")
    units = None
    if unit:
        sides = np.where(is_first, "first", "second")
        units = np.char.add(np.char.add(covariates.factors[unit][rows], " "), sides)
    return Adjustment(
        np.column_stack(parts), tuple(names), is_stated, units, unit,
        nested[unit].common if unit else (), tuple(confounded), tuple(unstated),
    )  # fmt: skip


def _recurs(values: Labels, rows: Indices, groups: Labels | None) -> bool:
    """Return whether most levels of some rows occur in several groups."""
    if groups is None:
        return False
    levels = np.unique(values[rows])
    pairs = np.unique(np.stack([values, groups])[:, values != NOT_STATED], axis=1)
    n_groups = [np.count_nonzero(pairs[0] == level) for level in levels]
    return bool(np.mean(np.array(n_groups) > 1) > _MOST_SHARED)


def _levels_of(values: Labels, is_first: Mask, recurs: bool) -> _Levels:
    is_stated = values != NOT_STATED
    sides = (is_first, ~is_first)
    counts = [_counts(values[side & is_stated]) for side in sides]
    common = sorted(counts[0].keys() & counts[1].keys())
    single = [_single_levels(one).intersection(common) for one in counts]
    shared = [level for level in common if level not in single[0] | single[1]]
    is_shared = np.isin(values, shared)
    # One specimen of a sample of many says nothing of a difference between levels.
    n_levels = [
        len(one.keys() - alone) if sum(one.values()) >= min(_FEWEST_STATED, side.sum()) else 0
        for one, alone, side in zip(counts, single, sides, strict=True)
    ]
    return _Levels(
        is_stated,
        (n_levels[0], n_levels[1]),
        tuple(shared),
        tuple(common),
        (float(is_shared[is_first].mean()), float(is_shared[~is_first].mean())),
        recurs,
    )


def _counts(values: Labels) -> dict[str, int]:
    levels, counts = np.unique(values, return_counts=True)
    return dict(zip(levels.tolist(), counts.tolist(), strict=True))


def _single_levels(counts: dict[str, int]) -> set[str]:
    """Return the levels of one specimen, where the others have several.

    Such a specimen may be labelled wrongly: by itself it makes its level none of both samples.
    """
    single = {level for level, count in counts.items() if count == 1}
    n_others = len(counts) - len(single)
    return single if sum(counts.values()) - len(single) >= _SEVERAL * max(n_others, 1) else set()


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
    for name in map(str, others.columns):
        values = others[name].astype("string").fillna("").to_numpy().astype(np.str_)
        is_factor = 1 < len(np.unique(values)) <= min(_MOST_LEVELS, len(values) / 4)
        # A column that tells what the groups tell is noted only if specimens of one group vary in
        # it elsewhere, as they do in sex.
        is_known = not is_one_to_one(values, groups) or name.casefold() in _USUAL_COVARIATES
        if name in given or not is_factor or not is_known:
            continue
        sentence = _balance(name, values[is_unknown], values[is_closest], closest)
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
    advice = f"Add --covariate {name} to adjust for it."
    if not set(unknown.tolist()) & set(closest.tolist()):
        advice = f"No level of {name} occurs in both; --covariate {name} takes that into account."
    return (
        f"Of the unknown specimens {share:.0%} have {name} = {common}, of {closest_name} "
        f"{known_share:.0%}: a difference between such specimens would look the same. {advice}"
    )


def usual_covariates(others: pd.DataFrame | None) -> tuple[str, ...]:
    """Return the columns whose names are those of usual covariates."""
    names = [] if others is None else [str(name) for name in others.columns]
    return tuple(name for name in names if name.casefold() in _USUAL_COVARIATES)
