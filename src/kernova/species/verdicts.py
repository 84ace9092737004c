"""A verdict in plain words on one group of specimens, with its reasons.

"Looks new" is said only if the hypothesis "these are specimens of X" is rejected for every known
group X that can be compared. If the specimens are in truth of one of these groups, that one test
errs with at most the level asked for, however many others there are; so does the verdict.
"""

import math
from typing import Any, NamedTuple

import pandas as pd
from scipy.special import ndtri

from kernova.calibration.bounds import hoeffding_upper_bound
from kernova.calibration.p_values import smallest_p_value
from kernova.species.space import SpeciesSettings

LOOKS_NEW = "looks new"
NOT_SEPARABLE = "not separable"
TOO_FEW = "too few specimens to say"
# How a p-value against one group came about.
HALVES = "depths of both in one half of the group"
WHOLE = "specimens of both exchanged"

# Bounds that cannot fall below this are called loose.
_LOOSE = 0.1
# Pooled and pairwise errors that differ by more than this disagree.
_MASKED_BY = 0.05
_MOST_SPECIMENS = 1000
_MOST_NAMES = 4


class Verdict(NamedTuple):
    """What is to be thought of a group, and why.

    Attributes
    ----------
    kind : str
        "looks new", "not separable" or "too few specimens to say".
    sentence : str
        The verdict in one sentence.
    reasons : tuple of str
        What speaks for it, and what to keep in mind.
    closest : str or None
        The known group that is hardest to tell from the unknown; None if none is compared.
    p_value : float
        The largest of the p-values against each compared group.
    specimens_needed : int or None
        How many specimens of the unknown would do, where they are too few and a number can be
        named; None where specimens of the known group are wanting too.
    """

    kind: str
    sentence: str
    reasons: tuple[str, ...]
    closest: str | None
    p_value: float
    specimens_needed: int | None


def verdict_on(
    unknown: str,
    n_unknown: int,
    pooled: dict[str, float],
    pairs: pd.DataFrame,
    not_compared: list[str],
    settings: SpeciesSettings,
) -> Verdict:
    """Weigh the evidence: ``pooled`` are means over halvings, ``pairs`` one line per known group.

    The pairs come with the group that is hardest to tell apart first.
    """
    reasons = _pooled_reasons(pooled, settings.confidence)
    if pairs.empty:
        sentence = (
            f"There are too few specimens to say whether {unknown} is new: no known group has "
            f"{settings.least_group} specimens or more."
        )
        return Verdict(TOO_FEW, sentence, tuple(reasons), None, 1.0, None)
    reasons = [*_pair_reasons(pairs), *reasons, *_cautions(pooled, pairs, not_compared)]
    level = 1 - settings.confidence
    closest = pairs.iloc[0]
    largest_p = float(pairs["p_value"].max())
    undecided = pairs[(pairs["p_value"] > level) | (pairs["smallest_p_value"] > level)]
    is_blind = closest["smallest_p_value"] > level
    is_alike = closest["equal_error_rate"] > settings.largest_error
    if is_alike and not is_blind:
        alike = pairs.loc[pairs["equal_error_rate"] > settings.largest_error, "known"]
        sentence = (
            f"{unknown} is not separable from {_named(alike)}: no threshold on depth gets both "
            f"errors below {_rate(closest['equal_error_rate'])}."
        )
        reasons = [*_on_average(closest, level), *reasons]
        return Verdict(NOT_SEPARABLE, sentence, tuple(reasons), closest["known"], largest_p, None)
    if len(undecided):
        needed = _most_needed(undecided, n_unknown, settings)
        sentence = _too_few_sentence(unknown, n_unknown, undecided["known"], needed)
        return Verdict(TOO_FEW, sentence, tuple(reasons), closest["known"], largest_p, needed)
    sentence = _new_sentence(unknown, n_unknown, pairs["known"], settings.confidence)
    return Verdict(LOOKS_NEW, sentence, tuple(reasons), closest["known"], largest_p, None)


def specimens_needed(pair: "pd.Series[Any]", settings: SpeciesSettings) -> int | None:
    """Find how many unknown specimens would tell the two groups apart, if they differ as seen.

    A rank-sum test with a Gaussian's error is asked (Noether's formula), and the smallest p-value
    that so many ranks allow. None if no number would do, while the known group is so small.
    """
    is_whole = pair["test"] == WHOLE
    level = (1 - settings.confidence) / (2 if settings.halvings > 1 and not is_whole else 1)
    n_known = int(pair["specimens"] if is_whole else pair["n_holdout"])
    separation = float(pair["auroc"]) - 0.5
    wanted = float(ndtri(1 - level))
    for n_unknown in range(2, _MOST_SPECIMENS):
        strength = math.sqrt(12 * n_known * n_unknown / (n_known + n_unknown + 1)) * separation
        if strength >= wanted and smallest_p_value(n_known, n_unknown) <= level:
            return n_unknown
    return None


def _most_needed(undecided: pd.DataFrame, n_unknown: int, settings: SpeciesSettings) -> int | None:
    """Take the largest number that any pair asks for, unless it is one that is there already."""
    wanted = [specimens_needed(pair, settings) for _, pair in undecided.iterrows()]
    numbers = [number for number in wanted if number is not None]
    if len(numbers) < len(wanted) or max(numbers) <= n_unknown:
        return None
    return max(numbers)


def _new_sentence(
    unknown: str, n_unknown: int, compared: "pd.Series[Any]", confidence: float
) -> str:
    specimens = "1 specimen is" if n_unknown == 1 else f"{n_unknown} specimens are"
    groups = (
        f"any of the {len(compared)} known groups compared, {compared.iloc[0]} being the closest"
    )
    if len(compared) == 1:
        groups = f"{compared.iloc[0]}, the only known group compared"
    return f"{unknown} looks new: at {confidence:.0%} confidence its {specimens} not of {groups}."


def _too_few_sentence(
    unknown: str, n_unknown: int, undecided: "pd.Series[Any]", needed: int | None
) -> str:
    advice = "more of both are needed"
    if needed is not None:
        advice = f"about {needed} would do, if they go on to differ as these do"
    specimens = "1 specimen is" if n_unknown == 1 else f"{n_unknown} specimens are"
    return (
        f"{specimens} too few to say whether {unknown} differs from {_named(undecided)}; {advice}."
    )


def _pair_reasons(pairs: pd.DataFrame) -> list[str]:
    closest = pairs.iloc[0]
    name = closest["known"]
    largest = (
        ""
        if len(pairs) == 1
        else (
            f"; the largest such probability for any known group is {_rate(pairs['p_value'].max())}"
        )
    )
    return [
        f"The closest known group is {name}: told from it specimen by specimen, both errors are "
        f"{_with_spread(closest['equal_error_rate'], closest['equal_error_rate_spread'])}.",
        f"If the specimens were of {name}, a difference as large as this would have a probability "
        f"of at most {_rate(closest['p_value'])}{largest}.",
        f"By exact binomial bounds, on average over the halvings: with false alarms on {name} of "
        f"at most {_rate(closest['exact_false_alarm_bound'])}, at least "
        f"{_rate(closest['exact_detection_at_least'])} of such specimens are detected.",
    ]


def _on_average(closest: "pd.Series[Any]", level: float) -> list[str]:
    """Say what "not separable" does not say, where a test finds a difference."""
    if closest["p_value"] > level:
        return []
    return [
        f"As groups, it and {closest['known']} do differ, but by so little that single specimens "
        "cannot be told apart."
    ]


def _pooled_reasons(pooled: dict[str, float], confidence: float) -> list[str]:
    reasons = [
        "Against all known groups together, e* is "
        f"{_with_spread(pooled['e_star'], pooled['e_star_spread'])}: "
        f"{_rate(pooled['detection_rate'])} of the specimens are detected while false alarms stay "
        f"below {_rate(pooled['false_alarm_bound'])} at {confidence:.0%} confidence."
    ]
    n_holdout = int(pooled["n_holdout"])
    floor = hoeffding_upper_bound(0, n_holdout, confidence)
    if floor > _LOOSE:
        reasons.append(
            f"That bound is loose: {n_holdout} held-out specimens prove nothing below "
            f"{_rate(floor)}. Look at the equal error rate, {_rate(pooled['equal_error_rate'])}, "
            f"and at the exact bound, {_rate(pooled['exact_false_alarm_bound'])} false alarms for "
            f"{_rate(pooled['exact_detection_rate'])} detected."
        )
    return reasons


def _cautions(pooled: dict[str, float], pairs: pd.DataFrame, not_compared: list[str]) -> list[str]:
    cautions = []
    if is_masked(pooled["equal_error_rate"], float(pairs["equal_error_rate"].max())):
        cautions.append(
            "Masking: the specimens lie between the known groups, and hide there when these are "
            f"pooled (equal error rate {_rate(pooled['equal_error_rate'])}), but not from any one "
            f"of them (at most {_rate(pairs['equal_error_rate'].max())}). A mixture of known "
            "groups would look so, too."
        )
    if not_compared:
        groups, are = ("group is", "is") if len(not_compared) == 1 else ("groups are", "are")
        cautions.append(
            f"{len(not_compared)} known {groups} too small to be compared alone, and so {are} not "
            f"ruled out: {_named(not_compared)}."
        )
    return cautions


def is_masked(pooled_rate: float, worst_pair_rate: float) -> bool:
    """Tell whether pooling hides what every single comparison shows."""
    return pooled_rate > worst_pair_rate + _MASKED_BY


def _named(groups: Any) -> str:
    names = [str(name) for name in groups]
    if len(names) > _MOST_NAMES:
        return ", ".join(names[:_MOST_NAMES]) + f" and {len(names) - _MOST_NAMES} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _with_spread(value: float, spread: float) -> str:
    """Write a mean and its spread, unless that is nothing."""
    return f"{_rate(value)} ± {spread:.3f}" if spread >= 0.0005 else _rate(value)


def _rate(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.1g}"
