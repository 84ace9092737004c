"""Verdicts on groups and specimens: the words that tables and JSON hold, and their reasons.

A group "looks new" only if the hypothesis "these are a sample of X" is rejected for every known
group X that can be compared. If the specimens do belong to one of these groups, that one test errs
with at most the chosen level, regardless of how many others there are; so does the verdict.
Whether single specimens can be distinguished is another question, answered in other sentences.
"""

from typing import Any, Final, NamedTuple

import pandas as pd

from kernova.calibration.bounds import hoeffding_upper_bound
from kernova.species.group_tests import smallest_p_value
from kernova.species.pairs import (
    COVARIATE_MAY_EXPLAIN,
    NOT_RULED_OUT,
    RULED_OUT,
    SIZE_MAY_EXPLAIN,
    TOO_FEW_SPECIMENS,
)
from kernova.species.space import SpeciesSettings
from kernova.text import plural, quantity

# Verdicts on a group.
LOOKS_NEW: Final = "looks new"
DIFFERS_WITH_SIZE: Final = "differs, but so does size"
DIFFERS_WITH_COVARIATES: Final = "differs, but so do covariates"
NOT_SHOWN: Final = "not shown to be new"
TOO_FEW: Final = "too few specimens to say"
# Verdicts on a single specimen.
NEW: Final = "new"
USUAL: Final = "usual"
# What a discriminant says of single specimens of two groups.
TOLD_APART: Final = "distinguished"
OVERLAPPING: Final = "overlapping"
NOT_TOLD_APART: Final = "not distinguished"

_CHANCE: Final = 0.5
# A bound whose smallest possible value exceeds this is called loose.
_LOOSE: Final = 0.1
# The pooled error must exceed every pairwise error by this much for the group to count as masked.
_MASKED_BY: Final = 0.05
_MAX_SPECIMENS_NEEDED: Final = 1000
_MAX_NAMES: Final = 4


class Verdict(NamedTuple):
    """The verdict on a group, with its reasons."""

    kind: str  # one of the five words above
    sentence: str  # the verdict in one sentence
    reasons: tuple[str, ...]  # evidence for it, and caveats
    # The known group whose single specimens are hardest to distinguish from the unknown ones; None
    # if no group is compared.
    closest: str | None
    p_value: float  # the largest of the p-values against each compared group
    # How many specimens of the unknown allow a test, where they are too few; None if no number
    # does, or if they are enough.
    specimens_needed: int | None


def verdict_on(
    unknown: str,
    n_unknown: int,
    pooled: dict[str, float],
    pairs: pd.DataFrame,
    not_compared: list[str],
    settings: SpeciesSettings,
) -> Verdict:
    """Return the verdict on an unknown group.

    ``pooled`` holds means over the splits, ``pairs`` one line per known group, the group whose
    specimens are hardest to distinguish first.
    """
    if pairs.empty:
        sentence = (
            f"There are too few specimens to say whether {unknown} is new: no known group has "
            f"{settings.least_group} specimens or more."
        )
        reasons = _pooled_reasons(pooled, settings.confidence)
        return Verdict(TOO_FEW, sentence, tuple(reasons), None, 1.0, None)
    kind, decisive = _kind(pairs)
    needed = _specimens_needed(decisive, settings) if kind == TOO_FEW else None
    sentence = _SENTENCES[kind](unknown, n_unknown, pairs, decisive, settings.confidence)
    if needed is not None:
        sentence += f" {needed} or more specimens of {unknown} would allow one."
    reasons = [
        *_sample_reasons(kind, decisive, settings),
        *_single_reasons(unknown, pairs.iloc[0], settings),
        *_pooled_reasons(pooled, settings.confidence),
        *_cautions(pooled, pairs, not_compared),
    ]
    largest_p = float(pairs["p_value"].max())
    return Verdict(kind, sentence, tuple(reasons), str(pairs.iloc[0]["known"]), largest_p, needed)


class _Kind(NamedTuple):
    kind: str
    decisive: pd.DataFrame  # the pairs that decided it


def _kind(pairs: pd.DataFrame) -> _Kind:
    order = (
        (NOT_RULED_OUT, NOT_SHOWN),
        (TOO_FEW_SPECIMENS, TOO_FEW),
        (COVARIATE_MAY_EXPLAIN, DIFFERS_WITH_COVARIATES),
        (SIZE_MAY_EXPLAIN, DIFFERS_WITH_SIZE),
    )
    for status, kind in order:
        decisive = pairs[pairs["status"] == status]
        if len(decisive):
            return _Kind(kind, decisive.sort_values("p_value", ascending=False, kind="stable"))
    assert (pairs["status"] == RULED_OUT).all()
    return _Kind(LOOKS_NEW, pairs)


# --- the verdict: whether the sample is a draw from a known group --------------------------------


def _new(
    unknown: str, n: int, pairs: pd.DataFrame, decisive: pd.DataFrame, confidence: float
) -> str:
    compared = f"any of the {len(pairs)} known groups compared"
    if len(pairs) == 1:
        compared = f"{pairs['known'].iloc[0]}, the only known group compared"
    return (
        f"{unknown} {LOOKS_NEW}: at {confidence:.0%} confidence its {_specimens_are(n)} not a "
        f"random sample of {compared} (permutation tests of mean shape, "
        f"{'largest ' if len(pairs) > 1 else ''}p-value {format_rate(pairs['p_value'].max())})."
    )


def _not_shown(
    unknown: str, n: int, pairs: pd.DataFrame, decisive: pd.DataFrame, confidence: float
) -> str:
    their = f"p-value {format_rate(decisive['p_value'].max())}"
    if len(decisive) > 1:
        their = f"p-values up to {format_rate(decisive['p_value'].max())}"
    return (
        f"{unknown} is {NOT_SHOWN}: its {_specimens_are(n)} compatible with a random sample of "
        f"{_names(decisive)} (permutation test of mean shape, {their})."
    )


def _too_few(
    unknown: str, n: int, pairs: pd.DataFrame, decisive: pd.DataFrame, confidence: float
) -> str:
    return (
        f"{_specimens_are(n)} too few to say whether {unknown} differs from {_names(decisive)}: "
        f"exchanging so few gives no p-value of {format_rate(1 - confidence)} or less."
    )


def _with_covariates(
    unknown: str, n: int, pairs: pd.DataFrame, decisive: pd.DataFrame, confidence: float
) -> str:
    first = decisive.sort_values("adjusted_p_value", ascending=False).iloc[0]
    return (
        f"{unknown} is {NOT_SHOWN}: it differs from {_names(decisive)} in mean shape (p-value "
        f"{format_rate(first['p_value'])}), but not beyond what the covariates explain (p-value "
        f"{format_rate(first['adjusted_p_value'])} after adjusting)."
    )


def _with_size(
    unknown: str, n: int, pairs: pd.DataFrame, decisive: pd.DataFrame, confidence: float
) -> str:
    first = _closest_by_shape(decisive)
    smaller = float(first["smaller"])
    how = f"smaller than {smaller:.0%}" if smaller >= _CHANCE else f"larger than {1 - smaller:.0%}"
    sentence = (
        f"{unknown} {LOOKS_NEW}, but its specimens are on average {how} of those of "
        f"{first['known']}: shape differences of this amount are expected from size alone, as "
        "in growth."
    )
    if len(decisive) > 1:
        sentence += f" So they are against {_names(decisive.drop(first.name))}."
    return sentence


_SENTENCES: Final = {
    LOOKS_NEW: _new,
    NOT_SHOWN: _not_shown,
    TOO_FEW: _too_few,
    DIFFERS_WITH_COVARIATES: _with_covariates,
    DIFFERS_WITH_SIZE: _with_size,
}


def _closest_by_shape(pairs: pd.DataFrame) -> "pd.Series[Any]":
    return pairs.sort_values("distance_beyond_growth", kind="stable").iloc[0]


def _specimens_needed(decisive: pd.DataFrame, settings: SpeciesSettings) -> int | None:
    """Return how many unknown specimens allow a p-value below the level, for every group."""
    fewest = int(decisive["specimens"].min())
    for n_unknown in range(2, _MAX_SPECIMENS_NEEDED):
        if smallest_p_value(n_unknown, fewest) <= 1 - settings.confidence:
            return n_unknown
    return None


def _sample_reasons(kind: str, decisive: pd.DataFrame, settings: SpeciesSettings) -> list[str]:
    """Return what the tests of whole samples found."""
    reasons = []
    level = 1 - settings.confidence
    if kind == NOT_SHOWN:
        first = decisive.iloc[0]
        reasons.append(
            f"The mean shapes of it and {first['known']} are a Procrustes distance of "
            f"{format_rate(first['distance'])} apart; between random samples of these numbers, "
            f"1 in {round(1 / level)} distances exceeds {format_rate(first['critical_distance'])}."
        )
    if kind == DIFFERS_WITH_SIZE:
        first = _closest_by_shape(decisive)
        reasons.append(
            f"From the difference in size, a Procrustes distance of "
            f"{format_rate(first['distance_by_growth'])} is expected between it and "
            f"{first['known']} (pooled regression of shape on log centroid size within groups); "
            f"without it, {format_rate(first['distance_beyond_growth'])} remains. Compare "
            "specimens of similar size."
        )
    wide = decisive[decisive["dispersion_p_value"] <= level]
    if len(wide) and kind != TOO_FEW:
        first = wide.iloc[0]
        reasons.append(
            f"Dispersion about the mean shape is {first['dispersion_ratio']:.2g} times that of "
            f"{first['known']} (permutation test, p-value "
            f"{format_rate(first['dispersion_p_value'])}); the verdict rests on mean shapes alone."
        )
    return reasons


# --- whether single specimens can be distinguished -----------------------------------------------


def told_apart(error: float, high: float, largest_error: float) -> str:
    """Return in a word what a discriminant's error says of single specimens of two groups."""
    if high >= _CHANCE:
        return NOT_TOLD_APART
    return TOLD_APART if error <= largest_error else OVERLAPPING


def _single_reasons(
    unknown: str, closest: "pd.Series[Any]", settings: SpeciesSettings
) -> list[str]:
    """Return the sentences on single specimens, of the group that is hardest to distinguish."""
    name, error = closest["known"], float(closest["error"])
    word = told_apart(error, float(closest["error_high"]), settings.largest_error)
    figures = (
        f"{format_rate(error)} (interval {format_rate(closest['error_low'])} to "
        f"{format_rate(closest['error_high'])})"
    )
    how = f"cross-validated by leaving out {closest['left_out']}"
    novelty = float(closest["novelty_error"])
    rate = _with_spread(novelty, closest["novelty_error_spread"])
    if word == TOLD_APART:
        sentence = (
            f"Single specimens can be told from those of {name}, the hardest group: a "
            f"discriminant of the two errs at a rate of {figures}, {how}."
        )
    elif word == OVERLAPPING:
        start = "Single specimens overlap with"
        if closest["status"] == RULED_OUT:
            start = "It differs in mean shape, but overlaps as single specimens, with"
        sentence = f"{start} {name}: a discriminant of the two errs at a rate of {figures}, {how}."
    else:
        sentence = (
            f"Single specimens were not told from those of {name}: the error of a discriminant "
            f"of the two is {figures}, {how}, where guessing gives 0.5."
        )
    if word == TOLD_APART and novelty > settings.largest_error:
        return [
            sentence,
            f"Not seen by a one-sided novelty test, which knows {name} alone and no specimen of "
            f"{unknown} (both error rates {rate}), but by the discriminant, which has learnt both.",
        ]
    return [
        sentence,
        f"A one-sided novelty test, which knows {name} alone and no specimen of {unknown}, errs "
        f"at {rate} on both sides.",
    ]


def is_masked(pooled_rate: float, worst_pair_rate: float) -> bool:
    """Return whether pooling the known groups hides a difference that every pair shows."""
    return pooled_rate > worst_pair_rate + _MASKED_BY


def format_rate(value: float) -> str:
    """Return a rate or p-value with three decimals; a smaller one keeps one digit."""
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.1g}"


def _specimens_are(n: int) -> str:
    return f"{quantity(n, 'specimen')} {plural(n, 'is', 'are')}"


def _pooled_reasons(pooled: dict[str, float], confidence: float) -> list[str]:
    reasons = [
        "Novelty against all known groups together: e* is "
        f"{_with_spread(pooled['e_star'], pooled['e_star_spread'])}, that is, "
        f"{format_rate(pooled['detection_rate'])} of the specimens are detected while false alarms "
        f"stay below {format_rate(pooled['false_alarm_bound'])} at {confidence:.0%} confidence."
    ]
    n_holdout = int(pooled["n_holdout"])
    floor = hoeffding_upper_bound(0, n_holdout, confidence)
    if floor > _LOOSE:
        reasons.append(
            f"That bound is loose: {n_holdout} held-out specimens cannot prove a rate below "
            f"{format_rate(floor)}. Look at the equal error rate, "
            f"{format_rate(pooled['equal_error_rate'])}, and at the exact bound, "
            f"{format_rate(pooled['exact_false_alarm_bound'])} false alarms for "
            f"{format_rate(pooled['exact_detection_rate'])} detected."
        )
    return reasons


def _cautions(pooled: dict[str, float], pairs: pd.DataFrame, not_compared: list[str]) -> list[str]:
    cautions = []
    if is_masked(pooled["equal_error_rate"], float(pairs["novelty_error"].max())):
        cautions.append(
            "By novelty alone the specimens are hidden among the known groups together (equal "
            f"error rate {format_rate(pooled['equal_error_rate'])}), but not among any one of "
            f"them (at most {format_rate(pairs['novelty_error'].max())}): they lie between groups. "
            "A mixture of known groups would look the same."
        )
    if not_compared:
        n = len(not_compared)
        are = plural(n, "is", "are")
        cautions.append(
            f"{quantity(n, 'known group')} {are} too small to be compared alone, and so {are} not "
            f"ruled out: {name_list(not_compared)}."
        )
    return cautions


def name_list(groups: Any) -> str:
    """Return names of groups as in a sentence; of many, the first four and the number of others."""
    names = [str(name) for name in groups]
    if len(names) > _MAX_NAMES:
        return ", ".join(names[:_MAX_NAMES]) + f" and {len(names) - _MAX_NAMES} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _names(pairs: pd.DataFrame) -> str:
    return name_list(pairs["known"])


def _with_spread(value: float, spread: float) -> str:
    """Format a mean with its spread, if that is not zero."""
    return f"{format_rate(value)} ± {spread:.3f}" if spread >= 0.0005 else format_rate(value)
