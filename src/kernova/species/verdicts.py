"""Verdicts on groups and specimens: the words that tables and JSON hold, and their reasons.

A group "looks new" only if the hypothesis "these are specimens of X" is rejected for every known
group X that can be compared. If the specimens do belong to one of these groups, that one test errs
with at most the chosen level, regardless of how many others there are; so does the verdict.
"""

import math
from typing import Any, NamedTuple

import pandas as pd
from scipy.special import ndtri

from kernova.calibration.bounds import hoeffding_upper_bound
from kernova.calibration.p_values import smallest_p_value
from kernova.species.space import SpeciesSettings
from kernova.text import plural, quantity

# Verdicts on a group.
LOOKS_NEW = "looks new"
NOT_SEPARABLE = "not separable"
TOO_FEW = "too few specimens to say"
# Verdicts on a single specimen.
NEW = "new"
USUAL = "usual"
# The test behind a p-value against one group.
HALVES = "depths of both in one half of the group"
WHOLE = "specimens of both exchanged"

# A bound whose smallest possible value exceeds this is called loose.
_LOOSE = 0.1
# The pooled error must exceed every pairwise error by this much for the group to count as masked.
_MASKED_BY = 0.05
_MAX_SPECIMENS_NEEDED = 1000
_MAX_NAMES = 4


class Verdict(NamedTuple):
    """The verdict on a group, with its reasons."""

    kind: str  # "looks new", "not separable" or "too few specimens to say"
    sentence: str  # the verdict in one sentence
    reasons: tuple[str, ...]  # evidence for it, and caveats
    # The known group that is hardest to separate from the unknown; None if none is compared.
    closest: str | None
    p_value: float  # the largest of the p-values against each compared group
    # How many specimens of the unknown would suffice, where they are too few and a number can be
    # given; None where the known group needs more specimens too.
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

    ``pooled`` holds means over the splits, ``pairs`` one line per known group, the group that is
    hardest to separate first.
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
            f"{unknown} is {NOT_SEPARABLE} from {_name_list(alike)}: no threshold on depth gets "
            f"both error rates below {format_rate(closest['equal_error_rate'])}."
        )
        reasons = [*_average_difference(closest, level), *reasons]
        return Verdict(NOT_SEPARABLE, sentence, tuple(reasons), closest["known"], largest_p, None)
    if len(undecided):
        needed = _most_needed(undecided, n_unknown, settings)
        sentence = _too_few_sentence(unknown, n_unknown, undecided["known"], needed)
        return Verdict(TOO_FEW, sentence, tuple(reasons), closest["known"], largest_p, needed)
    sentence = _new_sentence(unknown, n_unknown, pairs["known"], settings.confidence)
    return Verdict(LOOKS_NEW, sentence, tuple(reasons), closest["known"], largest_p, None)


def specimens_needed(pair: "pd.Series[Any]", settings: SpeciesSettings) -> int | None:
    """Return how many unknown specimens would separate two groups that differ as observed.

    The number satisfies Noether's formula for the rank-sum test, and the smallest p-value that so
    many ranks allow is below the level. None if no number suffices with so small a known group.
    """
    is_whole = pair["test"] == WHOLE
    level = (1 - settings.confidence) / (2 if settings.halvings > 1 and not is_whole else 1)
    n_known = int(pair["specimens"] if is_whole else pair["n_holdout"])
    separation = float(pair["auroc"]) - 0.5
    wanted = float(ndtri(1 - level))
    for n_unknown in range(2, _MAX_SPECIMENS_NEEDED):
        strength = math.sqrt(12 * n_known * n_unknown / (n_known + n_unknown + 1)) * separation
        if strength >= wanted and smallest_p_value(n_known, n_unknown) <= level:
            return n_unknown
    return None


def is_masked(pooled_rate: float, worst_pair_rate: float) -> bool:
    """Return whether pooling the known groups hides a difference that every pair shows."""
    return pooled_rate > worst_pair_rate + _MASKED_BY


def format_rate(value: float) -> str:
    """Return a rate or p-value with three decimals; a smaller one keeps one digit."""
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.1g}"


def _most_needed(undecided: pd.DataFrame, n_unknown: int, settings: SpeciesSettings) -> int | None:
    """Return the largest number that any pair needs; None if that many are there already."""
    wanted = [specimens_needed(pair, settings) for _, pair in undecided.iterrows()]
    numbers = [number for number in wanted if number is not None]
    if len(numbers) < len(wanted) or max(numbers) <= n_unknown:
        return None
    return max(numbers)


def _new_sentence(
    unknown: str, n_unknown: int, compared: "pd.Series[Any]", confidence: float
) -> str:
    groups = (
        f"any of the {len(compared)} known groups compared, {compared.iloc[0]} being the closest"
    )
    if len(compared) == 1:
        groups = f"{compared.iloc[0]}, the only known group compared"
    return (
        f"{unknown} {LOOKS_NEW}: at {confidence:.0%} confidence its {_specimens_are(n_unknown)} "
        f"not of {groups}."
    )


def _too_few_sentence(
    unknown: str, n_unknown: int, undecided: "pd.Series[Any]", needed: int | None
) -> str:
    advice = "more of both are needed"
    if needed is not None:
        advice = f"about {needed} would do, if they go on to differ as these do"
    return (
        f"{_specimens_are(n_unknown)} too few to say whether {unknown} differs from "
        f"{_name_list(undecided)}; {advice}."
    )


def _specimens_are(n: int) -> str:
    return f"{quantity(n, 'specimen')} {plural(n, 'is', 'are')}"


def _pair_reasons(pairs: pd.DataFrame) -> list[str]:
    closest = pairs.iloc[0]
    name = closest["known"]
    largest = ""
    if len(pairs) > 1:
        highest = format_rate(pairs["p_value"].max())
        largest = f"; the largest such probability for any known group is {highest}"
    return [
        f"The closest known group is {name}: for single specimens, both error rates are "
        f"{_with_spread(closest['equal_error_rate'], closest['equal_error_rate_spread'])}.",
        f"If the specimens belonged to {name}, a difference as large as this would have a "
        f"probability of at most {format_rate(closest['p_value'])}{largest}.",
        f"By exact binomial bounds, on average over the splits: with false alarms on {name} of "
        f"at most {format_rate(closest['exact_false_alarm_bound'])}, at least "
        f"{format_rate(closest['exact_detection_at_least'])} of such specimens are detected.",
    ]


def _average_difference(closest: "pd.Series[Any]", level: float) -> list[str]:
    """Return the note that inseparable groups still differ on average, if the test finds so."""
    if closest["p_value"] > level:
        return []
    return [
        f"As groups, it and {closest['known']} differ, but by so little that single specimens "
        "cannot be distinguished."
    ]


def _pooled_reasons(pooled: dict[str, float], confidence: float) -> list[str]:
    reasons = [
        "Against all known groups together, e* is "
        f"{_with_spread(pooled['e_star'], pooled['e_star_spread'])}: "
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
    if is_masked(pooled["equal_error_rate"], float(pairs["equal_error_rate"].max())):
        cautions.append(
            "Masking: the specimens lie between the known groups, and are hidden when these are "
            f"pooled (equal error rate {format_rate(pooled['equal_error_rate'])}), but not from "
            f"any one of them (at most {format_rate(pairs['equal_error_rate'].max())}). A mixture "
            "of known groups would look the same."
        )
    if not_compared:
        n = len(not_compared)
        are = plural(n, "is", "are")
        cautions.append(
            f"{quantity(n, 'known group')} {are} too small to be compared alone, and so {are} not "
            f"ruled out: {_name_list(not_compared)}."
        )
    return cautions


def _name_list(groups: Any) -> str:
    names = [str(name) for name in groups]
    if len(names) > _MAX_NAMES:
        return ", ".join(names[:_MAX_NAMES]) + f" and {len(names) - _MAX_NAMES} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _with_spread(value: float, spread: float) -> str:
    """Format a mean with its spread, if that is not zero."""
    return f"{format_rate(value)} ± {spread:.3f}" if spread >= 0.0005 else format_rate(value)
