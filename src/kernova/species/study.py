"""Is this a new species? From landmarks to a verdict with error rates.

One group is held out as unknown; the others are halved, again and again, into reference and
held-out specimens. Alignment, components and depths are learnt from the reference alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.calibration.p_values import combined_p_value, smallest_p_value
from kernova.errors import InputError
from kernova.progress import track
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import shapeless_rows
from kernova.species.inputs import check_enough
from kernova.species.space import SpeciesSettings
from kernova.species.splits import (
    Halving,
    Names,
    halved,
    halving_of,
    is_compared_whole,
    pair_lines,
    pooled_line,
    smallest_whole_p_value,
    whole_group_p_value,
)
from kernova.species.verdicts import HALVES, WHOLE, Verdict, is_masked, verdict_on
from kernova.typing import Coordinates, Indices


@dataclass(frozen=True)
class UnknownStudy:
    """One group, taken as unknown.

    Attributes
    ----------
    unknown : str
        Its name.
    landmarks : Landmarks
        All specimens.
    groups : ndarray of str
        The group of each.
    halvings : DataFrame
        One line per halving, all known groups pooled: ``e_star``, ``detection_rate``,
        ``false_alarm_bound``, ``threshold``, ``equal_error_rate``, ``auroc``, and exact bounds.
    pairs : DataFrame
        One line per known group, compared alone, hardest to tell apart first: means over the
        halvings, ``equal_error_rate_spread``, and one ``p_value`` of the hypothesis that the
        unknown is of this group; ``test`` tells whether halves were compared for it, or all
        specimens of a small group.
    not_compared : tuple of str
        Known groups too small for that.
    verdict : Verdict
        What to think of it.
    first : Halving
        All specimens in the space of the first halving, for pictures.
    settings : SpeciesSettings
        How it was done.
    """

    unknown: str
    landmarks: Landmarks
    groups: Names
    halvings: pd.DataFrame
    pairs: pd.DataFrame
    not_compared: tuple[str, ...]
    verdict: Verdict
    first: Halving
    settings: SpeciesSettings

    @property
    def n_unknown(self) -> int:
        """Number of unknown specimens."""
        return len(self.first.unknown)

    @property
    def summary(self) -> dict[str, Any]:
        """One line for a table: means over the halvings, with their spread, and the verdict."""
        means = mean_and_spread(self.halvings)
        worst = float(self.pairs["equal_error_rate"].max()) if len(self.pairs) else 1.0
        return {
            "unknown": self.unknown,
            "specimens": self.n_unknown,
            "verdict": self.verdict.kind,
            "closest": self.verdict.closest or "",
            "p_value": self.verdict.p_value,
            **means,
            "worst_pair_error": worst,
            "is_masked": is_masked(means["equal_error_rate"], worst),
        }


@dataclass(frozen=True)
class EachStudy:
    """Every group in turn taken as unknown.

    ``too_small`` are groups with fewer specimens than was asked for; they are known throughout.
    """

    studies: tuple[UnknownStudy, ...]
    too_small: tuple[str, ...]

    @property
    def summary(self) -> pd.DataFrame:
        """One line per group: e*, errors, closest group, verdict."""
        return pd.DataFrame([study.summary for study in self.studies])

    @property
    def pairs(self) -> pd.DataFrame:
        """One line per pair of an unknown and a known group."""
        parts = [study.pairs.assign(unknown=study.unknown) for study in self.studies]
        return pd.concat(parts, ignore_index=True)

    @property
    def matrix(self) -> pd.DataFrame:
        """Equal error rates, unknown groups down and known ones across; the diagonal is blank."""
        table = self.pairs.pivot_table(
            index="unknown", columns="known", values="equal_error_rate", sort=False
        )
        order = [study.unknown for study in self.studies]
        others = [name for name in table.columns if name not in order]
        return table.reindex(index=order, columns=[*order, *sorted(others)])


def study_unknown(
    landmarks: Landmarks,
    groups: Sequence[str],
    unknown: str,
    settings: SpeciesSettings | None = None,
) -> UnknownStudy:
    """Hold one group out, and ask whether it looks new among the others.

    Parameters
    ----------
    landmarks : Landmarks
        All specimens; missing landmarks are estimated.
    groups : sequence of str
        The group of each specimen.
    unknown : str
        The group to hold out.
    settings : SpeciesSettings, optional
        How.

    Returns
    -------
    UnknownStudy
        Evidence and verdict.
    """
    settings = settings or SpeciesSettings()
    names = checked_groups(landmarks, groups)
    check_group(unknown, names)
    is_unknown = names == unknown
    if is_unknown.all():
        raise InputError(
            f"All specimens are of {unknown!r}, so nothing is known to compare them with."
        )
    check_enough(names.tolist(), [unknown])
    return _study(landmarks, names, is_unknown, unknown, settings)


def study_each(
    landmarks: Landmarks,
    groups: Sequence[str],
    settings: SpeciesSettings | None = None,
    *,
    least_specimens: int = 1,
) -> EachStudy:
    """Hold out each group in turn that has ``least_specimens`` or more."""
    settings = settings or SpeciesSettings()
    names = checked_groups(landmarks, groups)
    found, counts = np.unique(names, return_counts=True)
    if len(found) < 2:
        raise InputError(
            f"All specimens are of {str(found[0])!r}, so nothing is known to compare them with."
        )
    large = [str(name) for name in found[counts >= least_specimens]]
    if not large:
        raise InputError(
            f"No group has {least_specimens} specimens; the largest has {counts.max()}."
        )
    check_enough(names.tolist(), large)
    studies = [
        _study(landmarks, names, names == name, name, settings)
        for name in track(large, "groups held out")
    ]
    return EachStudy(tuple(studies), tuple(str(name) for name in found[counts < least_specimens]))


def _study(
    landmarks: Landmarks,
    groups: Names,
    is_unknown: NDArray[np.bool_],
    unknown: str,
    settings: SpeciesSettings,
) -> UnknownStudy:
    known_groups, counts = np.unique(groups[~is_unknown], return_counts=True)
    compared = [str(name) for name in known_groups[counts >= settings.least_group]]
    small = [str(name) for name in known_groups[counts < settings.least_group]]
    first, pooled, pairs = _all_halvings(landmarks, groups, is_unknown, compared, settings)
    n_unknown = int(is_unknown.sum())
    table = _pair_table(pairs, n_unknown, dict(zip(known_groups, counts, strict=True)), settings)
    table = _with_whole_groups(table, landmarks.coordinates, groups, is_unknown, settings)
    verdict = verdict_on(unknown, n_unknown, mean_and_spread(pooled), table, small, settings)
    return UnknownStudy(
        unknown, landmarks, groups, pooled, table, tuple(small), verdict, first, settings
    )


def _all_halvings(
    landmarks: Landmarks,
    groups: Names,
    is_unknown: NDArray[np.bool_],
    compared: list[str],
    settings: SpeciesSettings,
) -> tuple[Halving, pd.DataFrame, pd.DataFrame]:
    known: Indices = np.flatnonzero(~is_unknown)
    unknown: Indices = np.flatnonzero(is_unknown)
    pooled, pairs = [], []
    first = None
    for number in track(range(settings.halvings), "halvings"):
        split = halved(groups, known, settings.seed, number)
        halving = halving_of(landmarks.coordinates, groups, split, unknown, settings, landmarks.ids)
        first = first or halving
        pooled.append({"halving": number + 1, **pooled_line(halving, settings.confidence)})
        lines = pair_lines(halving, groups, compared, settings)
        pairs += [{"halving": number + 1, **line} for line in lines]
    assert first is not None  # there is at least one halving
    return first, pd.DataFrame(pooled), pd.DataFrame(pairs)


def _pair_table(
    lines: pd.DataFrame, n_unknown: int, counts: dict[Any, Any], settings: SpeciesSettings
) -> pd.DataFrame:
    """One line per known group: means over the halvings, and one p-value for all of them."""
    if lines.empty:
        return pd.DataFrame(columns=["known", "equal_error_rate", "p_value"])
    by_group = lines.drop(columns="halving").groupby("known", sort=False)
    table = by_group.mean().drop(columns="p_value")
    table.insert(0, "specimens", [int(counts[name]) for name in table.index])
    table["n_holdout"] = table["n_holdout"].astype(int)
    spread = by_group["equal_error_rate"].std(ddof=1).fillna(0.0)
    place = table.columns.get_loc("equal_error_rate")
    table.insert(int(place) + 1, "equal_error_rate_spread", spread)  # type: ignore[arg-type]
    table["p_value"] = by_group["p_value"].agg(combined_p_value)
    factor = 2 if settings.halvings > 1 else 1
    table["smallest_p_value"] = [
        min(factor * smallest_p_value(n, n_unknown), 1.0) for n in table["n_holdout"]
    ]
    table["test"] = HALVES
    return table.reset_index()


def _with_whole_groups(
    table: pd.DataFrame,
    coordinates: Coordinates,
    groups: Names,
    is_unknown: NDArray[np.bool_],
    settings: SpeciesSettings,
) -> pd.DataFrame:
    """Give small groups the p-value of a test that need not halve them; hardest groups first."""
    unknown = np.flatnonzero(is_unknown)
    lines = []
    for line in track(table.to_dict("records"), "small groups"):
        is_group = ~is_unknown & (groups == line["known"])
        known, others = np.flatnonzero(is_group), np.flatnonzero(~is_unknown & ~is_group)
        if is_compared_whole(len(known), len(unknown), len(others)):
            line["p_value"] = whole_group_p_value(
                coordinates, groups, known, unknown, others, settings
            )
            line["smallest_p_value"] = smallest_whole_p_value(len(known), len(unknown))
            line["test"] = WHOLE
        lines.append(line)
    table = pd.DataFrame(lines, columns=table.columns)
    hardest = table.sort_values(["equal_error_rate", "p_value"], ascending=False, kind="stable")
    return hardest.reset_index(drop=True)


def mean_and_spread(halvings: pd.DataFrame) -> dict[str, float]:
    """Means over the halvings by name, and standard deviations by name with ``_spread``."""
    table = halvings.drop(columns="halving")
    means = {str(name): float(value) for name, value in table.mean().items()}
    spreads = {
        f"{name}_spread": float(table[name].std(ddof=1)) if len(table) > 1 else 0.0
        for name in ("e_star", "detection_rate", "equal_error_rate", "auroc")
    }
    return {**means, **spreads}


def checked_groups(landmarks: Landmarks, groups: Sequence[str]) -> Names:
    """Give one text per specimen, after a look at both: a specimen without a shape is named."""
    names = np.array([str(name) for name in groups], dtype=np.str_)
    if len(names) != len(landmarks):
        raise InputError(
            f"{landmarks.source} has {len(landmarks)} specimens, but there are {len(names)} "
            "groups. Give one for each."
        )
    refuse_shapeless(landmarks)
    return names


def refuse_shapeless(landmarks: Landmarks) -> None:
    """Name the first specimen that has no shape."""
    shapeless = shapeless_rows(landmarks.coordinates)
    if len(shapeless):
        least = max(2, landmarks.n_dimensions)
        raise InputError(
            f"Specimen {landmarks.ids[shapeless[0]]!r} of {landmarks.source} has no shape: it "
            f"shows fewer than {least} landmarks, or all of them in one place. Leave it out."
        )


def check_group(unknown: str, names: Names) -> None:
    """Refuse a group that no specimen is of."""
    if unknown not in names:
        found = np.unique(names)
        some = ", ".join(repr(str(name)) for name in found[:10])
        more = f" and {len(found) - 10} more" if len(found) > 10 else ""
        raise InputError(f"No specimen is of a group {unknown!r}. There are {some}{more}.")
