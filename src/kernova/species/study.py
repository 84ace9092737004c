"""Species studies: whether a group of specimens is new, from landmarks, with error rates.

One group is held out as unknown. The others are repeatedly split into reference and held-out
specimens; alignment, components and depths are learnt from the reference alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernova.calibration.p_values import combined_p_value, smallest_p_value
from kernova.errors import InputError, quoted
from kernova.progress import track
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import shapeless_rows
from kernova.species.inputs import check_enough, check_unknown
from kernova.species.space import SpeciesSettings
from kernova.species.splits import (
    Labels,
    Split,
    fit_split,
    is_compared_whole,
    pair_lines,
    pooled_line,
    smallest_whole_p_value,
    split_in_half,
    whole_group_p_value,
)
from kernova.species.verdicts import HALVES, WHOLE, Verdict, is_masked, verdict_on
from kernova.text import quantity
from kernova.typing import Coordinates, Indices, Mask


@dataclass(frozen=True)
class UnknownStudy:
    """The study of one group, held out as unknown."""

    unknown: str  # the name of the group
    landmarks: Landmarks  # all specimens
    groups: Labels  # the group of each
    # One line per split, all known groups pooled: ``e_star``, ``detection_rate``,
    # ``false_alarm_bound``, ``threshold``, ``equal_error_rate``, ``auroc``, and exact bounds.
    halvings: pd.DataFrame
    # One line per known group, compared alone, hardest to separate first: means over the splits,
    # ``equal_error_rate_spread``, and one ``p_value`` of the hypothesis that the unknown is of this
    # group; ``test`` names the test, which compares halves of a large group and all specimens of a
    # small one.
    pairs: pd.DataFrame
    not_compared: tuple[str, ...]  # known groups that are too small to compare
    verdict: Verdict  # the verdict on the group
    first: Split  # all specimens in the space of the first split, for pictures
    settings: SpeciesSettings  # the settings of the study

    @property
    def n_unknown(self) -> int:
        """Number of unknown specimens."""
        return len(self.first.unknown)

    @property
    def summary(self) -> dict[str, Any]:
        """Means over the splits with their spreads, and the verdict, as one line of a table."""
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
    """The studies of all groups, each held out as unknown in turn.

    ``too_small`` are groups with fewer specimens than required; they are known in every study.
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
        """Equal error rates; rows are unknown groups, columns known ones; NaN on the diagonal."""
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
    """Hold out one group and test whether it is new among the others.

    Parameters
    ----------
    landmarks : Landmarks
        All specimens; missing landmarks are estimated.
    groups : sequence of str
        The group of each specimen.
    unknown : str
        The group to hold out.
    settings : SpeciesSettings, optional
        The settings; by default those of the class.
    """
    settings = settings or SpeciesSettings()
    labels = check_groups(landmarks, groups)
    check_unknown(unknown, labels.tolist())
    _check_several_groups(labels)
    check_enough(labels.tolist(), [unknown])
    return _study(landmarks, labels, labels == unknown, unknown, settings)


def study_each(
    landmarks: Landmarks,
    groups: Sequence[str],
    settings: SpeciesSettings | None = None,
    *,
    least_specimens: int = 1,
) -> EachStudy:
    """Hold out in turn each group that has ``least_specimens`` or more."""
    settings = settings or SpeciesSettings()
    labels = check_groups(landmarks, groups)
    _check_several_groups(labels)
    found, counts = np.unique(labels, return_counts=True)
    large = [str(name) for name in found[counts >= least_specimens]]
    if not large:
        raise InputError(
            f"No group has {least_specimens} specimens; the largest has {counts.max()}. Reduce "
            "least_specimens."
        )
    check_enough(labels.tolist(), large)
    studies = [
        _study(landmarks, labels, labels == name, name, settings)
        for name in track(large, "groups held out")
    ]
    return EachStudy(tuple(studies), tuple(str(name) for name in found[counts < least_specimens]))


def _study(
    landmarks: Landmarks,
    groups: Labels,
    is_unknown: Mask,
    unknown: str,
    settings: SpeciesSettings,
) -> UnknownStudy:
    known_groups, counts = np.unique(groups[~is_unknown], return_counts=True)
    compared = [str(name) for name in known_groups[counts >= settings.least_group]]
    small = [str(name) for name in known_groups[counts < settings.least_group]]
    first, pooled, pairs = _all_splits(landmarks, groups, is_unknown, compared, settings)
    n_unknown = int(is_unknown.sum())
    table = _pair_table(pairs, n_unknown, dict(zip(known_groups, counts, strict=True)), settings)
    table = _with_whole_groups(table, landmarks.coordinates, groups, is_unknown, settings)
    verdict = verdict_on(unknown, n_unknown, mean_and_spread(pooled), table, small, settings)
    return UnknownStudy(
        unknown, landmarks, groups, pooled, table, tuple(small), verdict, first, settings
    )


class _Lines(NamedTuple):
    """The first split, and the errors of all splits: pooled, and against each group."""

    first: Split
    pooled: pd.DataFrame
    pairs: pd.DataFrame


def _all_splits(
    landmarks: Landmarks,
    groups: Labels,
    is_unknown: Mask,
    compared: list[str],
    settings: SpeciesSettings,
) -> _Lines:
    known: Indices = np.flatnonzero(~is_unknown)
    unknown: Indices = np.flatnonzero(is_unknown)
    pooled, pairs = [], []
    first = None
    for number in track(range(settings.halvings), "halvings"):
        halves = split_in_half(groups, known, settings.seed, number)
        split = fit_split(landmarks.coordinates, groups, halves, unknown, settings, landmarks.ids)
        first = first or split
        pooled.append({"halving": number + 1, **pooled_line(split, settings.confidence)})
        lines = pair_lines(split, groups, compared, settings)
        pairs += [{"halving": number + 1, **line} for line in lines]
    assert first is not None  # there is at least one split
    return _Lines(first, pd.DataFrame(pooled), pd.DataFrame(pairs))


def _pair_table(
    lines: pd.DataFrame, n_unknown: int, counts: dict[Any, Any], settings: SpeciesSettings
) -> pd.DataFrame:
    """Return one line per known group: means over the splits, and one combined p-value."""
    if lines.empty:
        return pd.DataFrame(columns=["known", "equal_error_rate", "p_value"])
    by_group = lines.drop(columns="halving").groupby("known", sort=False)
    table = by_group.mean().drop(columns="p_value")
    table.insert(0, "specimens", [int(counts[name]) for name in table.index])
    table["n_holdout"] = table["n_holdout"].astype(int)
    spread = by_group["equal_error_rate"].std(ddof=1).fillna(0.0)
    column = table.columns.get_loc("equal_error_rate")
    table.insert(int(column) + 1, "equal_error_rate_spread", spread)  # type: ignore[arg-type]
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
    groups: Labels,
    is_unknown: Mask,
    settings: SpeciesSettings,
) -> pd.DataFrame:
    """Replace the p-values of small groups by those of the whole-group test; hardest first."""
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
    """Return means over the splits by name, and standard deviations by name with ``_spread``."""
    table = halvings.drop(columns="halving")
    means = {str(name): float(value) for name, value in table.mean().items()}
    spreads = {
        f"{name}_spread": float(table[name].std(ddof=1)) if len(table) > 1 else 0.0
        for name in ("e_star", "detection_rate", "equal_error_rate", "auroc")
    }
    return {**means, **spreads}


def check_groups(landmarks: Landmarks, groups: Sequence[str]) -> Labels:
    """Return the groups as an array of text; raise unless each specimen has a group and a shape."""
    labels = np.array([str(group) for group in groups], dtype=np.str_)
    if len(labels) != len(landmarks):
        raise InputError(
            f"There are {quantity(len(landmarks), 'specimen')} but "
            f"{quantity(len(labels), 'group')}; give one group per specimen."
        )
    check_shapes(landmarks)
    return labels


def check_shapes(landmarks: Landmarks) -> None:
    """Raise if a specimen has no shape; the message names the first."""
    shapeless = shapeless_rows(landmarks.coordinates)
    if len(shapeless):
        least = max(2, landmarks.n_dimensions)
        raise InputError(
            f"Specimen {quoted(landmarks.ids[shapeless[0]])} of {landmarks.source} has no shape: "
            f"it shows fewer than {least} landmarks, or all of them coincide. Leave it out."
        )


def _check_several_groups(labels: Labels) -> None:
    if len(np.unique(labels)) < 2:
        raise InputError(
            f"All specimens are of {quoted(str(labels[0]))}, so nothing is known to compare them "
            "with."
        )
