"""Tests of single specimens: whether each is of a known group, and the sample as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import hypergeom, mannwhitneyu
from sklearn.metrics import pairwise_distances_argmin

from kernova.calibration.p_values import conformal_p_values, rank_sum_p_value, select_discoveries
from kernova.errors import InputError
from kernova.shapes.landmarks import Landmarks
from kernova.species.inputs import check_enough
from kernova.species.space import SpeciesSettings
from kernova.species.splits import Labels, Split, fit_split, scores_in_group, split_in_half
from kernova.species.study import check_groups, check_shapes
from kernova.species.verdicts import NEW, USUAL, format_rate
from kernova.text import first_few, plural, quantity
from kernova.typing import Mask, Vector

# The verdict on a specimen that is as novel as few known ones, but cannot be called new.
UNDECIDED: Final = "undecided"
# p-values are fractions of whole numbers, and may equal the level but for the last bit.
_ROUNDING: Final = 1e-9
# All specimens beyond the sizes of a group are worth a note from so many pairs of them.
_FEWEST_PAIRS: Final = 20
_NO_COVARIATES: Final = (
    "Covariates have no part in tests of single specimens: if these differ from the known ones in "
    "sex, age or site, shapes may differ for that reason. To adjust for them, test the specimens "
    "as a group, with --unknown and --covariate."
)


class WholeSample(NamedTuple):
    """The tests of all new specimens as one sample: of their average, and of a part of them."""

    p_value: float  # of both tests together, by Bonferroni, or of the first alone
    is_more_novel: bool  # whether it is at most the level, one minus the confidence
    rank_sum_p_value: float  # of held-out known specimens as novel on average
    low_p_values: int  # number of specimens whose own p-value is at most the level
    low_p_values_expected: float  # the same, of specimens of the known groups
    # Of so many low p-values; None for one specimen, or where p-values cannot be as low.
    low_p_values_p_value: float | None
    sentence: str


@dataclass(frozen=True)
class SpecimenTests:
    """Tests of new specimens, one by one."""

    # One line per new specimen, in the input's order: ``id``; ``novelty``, high where it is unlike
    # the reference specimens; ``p_value``, the probability that a specimen of the known groups is
    # as novel; ``verdict``, "new" where the false discovery rate allows it, "undecided" where it
    # does not though the p-value is at most the level, or the smallest possible, and else "usual";
    # ``closest``, the group of the nearest reference specimen, and ``closest_p_value`` against that
    # group alone (1 where it is too small to test).
    rows: pd.DataFrame
    known: Landmarks  # the known specimens and the new ones
    new: Landmarks
    groups: Labels  # the groups of the known specimens
    split: Split  # all specimens, known ones first, in the space of the reference half
    settings: SpeciesSettings  # the settings of the tests

    @property
    def n_new(self) -> int:
        """Number of specimens called new."""
        return int((self.rows["verdict"] == NEW).sum())

    @property
    def n_undecided(self) -> int:
        """Number of specimens as novel as few known ones that cannot be called new."""
        return int((self.rows["verdict"] == UNDECIDED).sum())

    @property
    def counts(self) -> str:
        """The number of specimens with each verdict, and the error of these, as a sentence."""
        rate, n_rows, source = self.settings.false_discovery_rate, len(self.rows), self.new.source
        n_new, n_undecided = self.n_new, self.n_undecided
        limit = f"; of those called new, at most {100 * rate:g} % are expected to be ordinary"
        limit = limit if n_new else ""
        if n_rows == 1:
            word = "is usual"
            if n_new or n_undecided:
                word = "looks like none of the known groups" if n_new else "is undecided"
            return f"The specimen of {source} {word}{limit}."
        n_usual = n_rows - n_new - n_undecided
        undecided = f", {n_undecided} {plural(n_undecided, 'is', 'are')} undecided"
        return (
            f"{n_new} of {quantity(n_rows, 'specimen')} of {source} "
            f"{plural(n_new, 'looks', 'look')} like none of the known groups"
            f"{undecided if n_undecided else ''} and {n_usual} "
            f"{plural(n_usual, 'is', 'are')} usual{limit}."
        )

    @property
    def whole_sample(self) -> "WholeSample":
        """The sample as a whole, whose single specimens may each be ordinary."""
        level = 1 - self.settings.confidence
        n_rows, n_low = len(self.rows), int((self.rows["p_value"] <= level + _ROUNDING).sum())
        rank_sum = rank_sum_p_value(self.split.holdout_scores, self.split.unknown_scores)
        n_holdout = len(self.split.holdout_scores)
        n_before = int((n_holdout + 1) * (level + _ROUNDING))
        many, p_value = None, rank_sum
        if n_before and n_rows > 1:
            many = many_low_p_value(n_low, n_rows, n_holdout, n_before)
            p_value = min(2 * min(rank_sum, many), 1.0)
        found = WholeSample(p_value, p_value <= level, rank_sum, n_low, level * n_rows, many, "")
        return found._replace(sentence=self._whole_sentence(found))

    def _whole_sentence(self, whole: WholeSample) -> str:
        """Return both tests in words; that of one specimen is its own p-value."""
        level, n_rows = 1 - self.settings.confidence, len(self.rows)
        if n_rows == 1:
            return (
                "Of held-out known specimens mixed as in "
                f"{self.known.source}, one is as novel with a probability of "
                f"{format_rate(whole.p_value)} (p-value)."
            )
        n_low, many = whole.low_p_values, whole.low_p_values_p_value
        is_novel = whole.rank_sum_p_value <= (level if many is None else level / 2)
        average = (
            f"On average, the sample is {'' if is_novel else 'not shown to be '}more novel than "
            "held-out known specimens (rank-sum test of novelty, p-value "
            f"{format_rate(whole.rank_sum_p_value)})"
        )
        if many is None:
            return f"{average}."
        expected = f"{whole.low_p_values_expected:.3g}"
        return (
            f"{average}; {n_low} of {n_rows} specimens {plural(n_low, 'has', 'have')} a p-value of "
            f"{format_rate(level)} or less, where about {expected} "
            f"{'is' if expected == '1' else 'are'} expected of known groups mixed as in "
            f"{self.known.source} (p-value {format_rate(many)}). The two "
            f"tests together {'show' if whole.is_more_novel else 'do not show'} that the sample, "
            f"or a part of it, is more novel (p-value {format_rate(whole.p_value)})."
        )

    @property
    def notes(self) -> list[str]:
        """Limitations of the result, as sentences."""
        return [*self._verdict_notes(), *self._other_causes()]

    def _verdict_notes(self) -> list[str]:
        """Return notes on what so many held-out specimens allow."""
        n_holdout, n_rows = len(self.split.holdout), len(self.rows)
        rate, notes = self.settings.false_discovery_rate, []
        smallest = 1 / (n_holdout + 1)
        if n_rows and smallest > rate / n_rows:
            fewest = int(np.ceil(n_rows * smallest / rate - _ROUNDING))
            only = f"specimens are called new only where {fewest} or more of the {n_rows}"
            consequence = f"{only} stand out together"
            if fewest > n_rows:
                least = 2 * int(np.ceil(1 / rate - 1 - _ROUNDING))
                consequence = (
                    f"no specimen can be called new, which takes {least} known ones or more"
                )
            notes.append(
                f"{n_holdout} held-out specimens give no p-value below {smallest:.3g}: at a false "
                f"discovery rate of {rate:g}, {consequence}."
            )
        if self.n_undecided:
            n, limit = self.n_undecided, max(1 - self.settings.confidence, smallest)
            notes.append(
                f"{quantity(n, 'specimen')} {plural(n, 'is', 'are')} undecided: "
                f"{plural(n, 'it is', 'they are')} as novel as few known ones (p-value "
                f"{format_rate(limit)} or less), but there are too few of them, or too few known "
                f"specimens, to call {plural(n, 'it', 'them')} new at a false discovery rate of "
                f"{rate:g}."
            )
        return notes

    def _other_causes(self) -> list[str]:
        """Return notes on other causes of a difference in shape, where there is a difference."""
        if not (self.n_new or self.n_undecided or self.whole_sample.is_more_novel):
            return []
        return [*self._size_notes(), _NO_COVARIATES]

    def _size_notes(self) -> list[str]:
        """Compare the sizes of new specimens with those of their closest groups."""
        scales = np.concatenate([self.known.scales, self.new.scales])
        has_scale = np.isfinite(scales)
        if has_scale.any() and not has_scale.all():
            n_without = np.count_nonzero(~has_scale)
            return [
                f"{n_without} of {len(scales)} specimens have no scale, so that sizes of single "
                "specimens are not compared."
            ]
        sizes = self.split.placed.centroid_sizes * np.where(has_scale, scales, 1)
        closest, groups = self.rows["closest"].to_numpy(), np.unique(self.rows["closest"])
        n_known = len(self.known)
        shifts = [
            _size_shift(group, sizes[n_known:][closest == group], sizes[:n_known][is_member])
            for group in groups.tolist()
            if np.count_nonzero(is_member := self.groups == group) >= self.settings.least_group
        ]
        level = (1 - self.settings.confidence) / max(len(shifts), 1)
        unit = "" if has_scale.all() else ", in the units of the files"
        notes = []
        for is_smaller in (True, False):
            found = [one for one in shifts if one.is_notable(level)]
            found = [one for one in found if one.is_smaller == is_smaller]
            if found:
                notes.append(_size_sentence(found, len(self.rows), unit))
        return notes


def many_low_p_value(n_low: int, n_new: int, n_holdout: int, n_before: int) -> float:
    """Return the probability of so many low p-values of new specimens of the known groups.

    A p-value is low if fewer than ``n_before`` of the held-out specimens are as novel. The new
    specimens that come before so many of these in a random order have a negative hypergeometric
    distribution; single p-values share the held-out specimens, so that the binomial one is wrong.

    Parameters
    ----------
    n_low, n_new : int
        The number of low p-values, and of all.
    n_holdout : int
        The number of held-out specimens.
    n_before : int
        The place of the last held-out specimen that a low p-value comes before.

    Examples
    --------
    >>> many_low_p_value(1, 1, 19, 1), many_low_p_value(0, 5, 19, 1)
    (0.05, 1.0)
    """
    n_first = n_low + n_before - 1
    return float(hypergeom.sf(n_low - 1, n_holdout + n_new, n_new, n_first)) if n_low else 1.0


class _SizeShift(NamedTuple):
    """The sizes of new specimens beside those of their closest group."""

    group: str
    n_new: int
    n_known: int
    n_beyond: int  # how many are smaller than every specimen of the group, or larger
    is_smaller: bool
    p_value: float  # of the rank-sum test, for a difference in either direction

    def is_notable(self, level: float) -> bool:
        """Whether sizes differ by the test, or all new ones, perhaps few, are beyond the range.

        All of few beyond the range of few are no evidence.
        """
        is_all = self.n_beyond == self.n_new and self.n_new * self.n_known >= _FEWEST_PAIRS
        return self.p_value <= level or is_all


def _size_shift(group: str, new: Vector, known: Vector) -> _SizeShift:
    test = mannwhitneyu(new, known)
    is_smaller = bool(test.statistic < len(new) * len(known) / 2)
    is_beyond: Mask = new < known.min() if is_smaller else new > known.max()
    p_value = float(test.pvalue) if np.isfinite(test.pvalue) else 1.0
    return _SizeShift(group, len(new), len(known), int(is_beyond.sum()), is_smaller, p_value)


def _size_sentence(shifts: Sequence[_SizeShift], n_rows: int, unit: str) -> str:
    """Return the sentence on groups whose closest new specimens are smaller, or all larger."""
    word = "smaller" if shifts[0].is_smaller else "larger"
    n_new, n_beyond = sum(one.n_new for one in shifts), sum(one.n_beyond for one in shifts)
    growth = "differences in shape may be due to growth"
    if 2 * n_beyond >= n_new:
        start = "The specimen" if n_rows == 1 else f"{n_beyond} of the {n_rows} specimens"
        return (
            f"{start} {plural(n_beyond, 'is', 'are')} "
            f"{word} than every specimen of {plural(n_beyond, 'its', 'their')} closest "
            f"group{unit}: {growth}."
        )
    p_value = format_rate(max(one.p_value for one in shifts))
    least = f"p-value {p_value}" if len(shifts) == 1 else f"p-values of {p_value} or less"
    return (
        f"The {quantity(n_new, 'specimen')} closest to {first_few(one.group for one in shifts)} "
        f"{plural(n_new, 'is', 'are')} on average {word} than those of "
        f"{plural(len(shifts), 'that group', 'these groups')}{unit} (rank-sum test of centroid "
        f"size, {least}): {growth}."
    )


def judge_specimens(
    known: Landmarks,
    groups: Sequence[str],
    new: Landmarks,
    settings: SpeciesSettings | None = None,
) -> SpecimenTests:
    """Test each new specimen against the known groups, with one split for all of them.

    Half of the known specimens are held out to calibrate p-values.

    Parameters
    ----------
    known : Landmarks
        Specimens of known groups.
    groups : sequence of str
        Their groups.
    new : Landmarks
        Specimens with the same landmarks.
    settings : SpeciesSettings, optional
        The settings; by default those of the class.
    """
    settings = settings or SpeciesSettings()
    labels = check_groups(known, groups)
    if known.coordinates.shape[1:] != new.coordinates.shape[1:]:
        raise InputError(
            f"The known specimens ({known.source}) have {known.n_landmarks} landmarks of "
            f"{known.n_dimensions} coordinates, but the new ones ({new.source}) have "
            f"{new.n_landmarks} of {new.n_dimensions}. Digitise the same landmarks."
        )
    check_enough(labels.tolist())
    check_shapes(new)
    coordinates = np.concatenate([known.coordinates, new.coordinates])
    # New specimens get a label that no known one has, so that they take no part in the split.
    all_labels = np.concatenate([labels, np.full(len(new), "")])
    rows = np.arange(len(coordinates))
    halves = split_in_half(all_labels, rows[: len(known)], settings.seed, 0)
    ids = (*known.ids, *new.ids)
    split = fit_split(coordinates, all_labels, halves, rows[len(known) :], settings, ids)
    lines = _lines(split, all_labels, new.ids, settings)
    return SpecimenTests(lines, known, new, labels, split, settings)


def _lines(
    split: Split, groups: Labels, ids: Sequence[str], settings: SpeciesSettings
) -> pd.DataFrame:
    p_values = conformal_p_values(split.holdout_scores, split.unknown_scores)
    is_new = select_discoveries(p_values, settings.false_discovery_rate)
    # As low as the level, or as low as a p-value of so many held-out specimens can be.
    limit = max(1 - settings.confidence, 1 / (len(split.holdout_scores) + 1))
    is_low = p_values <= limit * (1 + _ROUNDING)
    closest = _closest(split, groups, settings)
    return pd.DataFrame(
        {
            "id": list(ids),
            "novelty": -split.unknown_scores,
            "p_value": p_values,
            "verdict": np.where(is_new, NEW, np.where(is_low, UNDECIDED, USUAL)),
            "closest": closest.groups,
            "closest_p_value": closest.p_values,
        }
    )


class _Closest(NamedTuple):
    groups: Labels
    p_values: Vector


def _closest(split: Split, groups: Labels, settings: SpeciesSettings) -> _Closest:
    """Return the group of the nearest reference specimen, and the p-values against it alone."""
    rows = split.placed.rows
    nearest = pairwise_distances_argmin(rows[split.unknown], rows[split.reference])
    closest = groups[split.reference[nearest]]
    p_values = np.ones(len(closest))
    known = np.concatenate([split.reference, split.holdout])
    for group in np.unique(closest):
        if np.count_nonzero(groups[known] == group) < settings.least_group:
            continue  # too few to test against
        is_closest = closest == group
        scores = scores_in_group(split, groups, group, split.unknown[is_closest])
        p_values[is_closest] = conformal_p_values(scores.holdout, scores.queries)
    return _Closest(closest, p_values)
