"""Verdicts on groups and specimens: the words that tables and JSON hold, and their reasons.

A group "looks new" only if the hypothesis "these are a sample of X" is rejected for every known
group X that can be compared. If the specimens do belong to one of these groups, that one test errs
with at most the chosen level, regardless of how many others there are; so does the verdict.
Whether single specimens can be distinguished is another question, answered in other sentences.
"""

import math
from typing import Any, Final, NamedTuple

import pandas as pd

from kernova.calibration.bounds import hoeffding_upper_bound
from kernova.species.covariates import SIZE
from kernova.species.discriminant import POPULATIONS, POPULATIONS_OF_ONE
from kernova.species.group_tests import smallest_p_value
from kernova.species.pairs import (
    CONFOUNDED,
    COVARIATE_MAY_EXPLAIN,
    GROWTH_MAY_EXPLAIN,
    NOT_BEYOND_SIZE,
    NOT_RULED_OUT,
    RULED_OUT,
    TOO_FEW_POPULATIONS,
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
TOO_FEW_UNITS: Final = "too few populations to say"
# Verdicts on a single specimen.
NEW: Final = "new"
USUAL: Final = "usual"
# What a discriminant says of single specimens of two groups.
DISTINGUISHED: Final = "distinguished"
OVERLAPPING: Final = "overlapping"
NOT_DISTINGUISHED: Final = "not distinguished"
UNDECIDED: Final = "too few to say"

_CHANCE: Final = 0.5
# A bound whose smallest possible value exceeds this is called loose.
_LOOSE: Final = 0.1
# Of pairs of specimens; rounded, it would be all of them.
_NEARLY_ALL: Final = 0.995
# A novelty test that errs more often than this hardly sees a group.
_HARDLY_SEEN: Final = 0.4
_MAX_SPECIMENS_NEEDED: Final = 1000
_MAX_NAMES: Final = 4


class Verdict(NamedTuple):
    """The verdict on a group, with its reasons."""

    kind: str  # one of the six words above
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
        reasons = _pooled_reasons(pooled, settings)
        return Verdict(TOO_FEW, sentence, tuple(reasons), None, 1.0, None)
    kind, decisive = _kind(pairs)
    needed = _specimens_needed(decisive, settings) if kind == TOO_FEW else None
    sentence = _SENTENCES[kind](_Case(unknown, n_unknown, pairs, decisive, settings))
    if needed is not None:
        sentence += f" {needed} or more specimens of {unknown} would allow one."
    reasons = [
        *_sample_reasons(kind, decisive, settings),
        *_ruled_out_reasons(kind, pairs),
        *_single_reasons(unknown, pairs.iloc[0], settings),
        *_pooled_reasons(pooled, settings),
        *_cautions(pooled, pairs, not_compared, settings),
    ]
    largest_p = float(pairs["p_value"].max())
    return Verdict(kind, sentence, tuple(reasons), str(pairs.iloc[0]["known"]), largest_p, needed)


class _Kind(NamedTuple):
    kind: str
    decisive: pd.DataFrame  # the pairs that decided it


def _kind(pairs: pd.DataFrame) -> _Kind:
    order = (
        ([NOT_RULED_OUT], NOT_SHOWN),
        ([TOO_FEW_SPECIMENS], TOO_FEW),
        ([TOO_FEW_POPULATIONS], TOO_FEW_UNITS),
        ([CONFOUNDED, COVARIATE_MAY_EXPLAIN], DIFFERS_WITH_COVARIATES),
        ([GROWTH_MAY_EXPLAIN, NOT_BEYOND_SIZE], DIFFERS_WITH_SIZE),
    )
    for statuses, kind in order:
        decisive = pairs[pairs["status"].isin(statuses)]
        if len(decisive):
            return _Kind(kind, decisive.sort_values("p_value", ascending=False, kind="stable"))
    assert (pairs["status"] == RULED_OUT).all()
    return _Kind(LOOKS_NEW, pairs)


# --- the verdict: whether the sample is a draw from a known group --------------------------------


class _Case(NamedTuple):
    """What the sentence of a verdict is made of."""

    unknown: str
    n_unknown: int
    pairs: pd.DataFrame
    decisive: pd.DataFrame  # the pairs that decided it
    settings: SpeciesSettings

    @property
    def test(self) -> str:
        return f"permutation test of {tested(self.settings)}"

    @property
    def tests(self) -> str:
        return f"permutation tests of {tested(self.settings)}"

    @property
    def whole(self) -> str:
        """What is exchanged, if not single specimens."""
        return _WHOLE if (self.decisive["exchanged"] == "populations").any() else ""


_WHOLE: Final = " in which populations are exchanged whole"


def tested(settings: SpeciesSettings) -> str:
    """Return what the tests of samples compare."""
    what = "mean shape" if settings.features is None else "mean features"
    return f"{what} and size" if settings.size else what


def _new(case: _Case) -> str:
    pairs = case.pairs
    compared = f"any of the {len(pairs)} known groups compared"
    if len(pairs) == 1:
        compared = f"{pairs['known'].iloc[0]}, the only known group compared"
    tests = plural(len(pairs), case.test, case.tests)
    return (
        f"{case.unknown} {LOOKS_NEW}: at {as_percent(case.settings)} confidence its "
        f"{_specimens_are(case.n_unknown)} not a random sample of {compared} ({tests}{case.whole}, "
        f"{'largest ' if len(pairs) > 1 else ''}p-value {format_rate(pairs['p_value'].max())}"
        f"{_adjusted(pairs)})."
    )


def _adjusted(pairs: pd.DataFrame) -> str:
    """Return the largest p-value after adjusting, and what for; nothing where there is none."""
    largest = float(pairs["adjusted_p_value"].max())
    if math.isnan(largest):
        return ""
    names = dict.fromkeys(name for one in pairs["adjusted_for"] for name in one.split(", ") if name)
    return f"; {format_rate(largest)} after adjusting for {name_list(names)}"


def as_percent(settings: SpeciesSettings) -> str:
    """Return the confidence in percent."""
    return f"{100 * settings.confidence:.6g}%"


def _not_shown(case: _Case) -> str:
    decisive = case.decisive
    n = case.n_unknown
    samples = plural(len(decisive), "a random sample", "random samples")
    tests = plural(len(decisive), case.test, case.tests)
    return (
        f"{case.unknown} is {NOT_SHOWN}: its {quantity(n, 'specimen')} {plural(n, 'was', 'were')} "
        f"not distinguished from {samples} of {_names(decisive)} ({tests}{case.whole}, "
        f"{_p_values(decisive['p_value'])})."
    )


def _too_few(case: _Case) -> str:
    return (
        f"{_specimens_are(case.n_unknown)} too few to say whether {case.unknown} differs from "
        f"{_names(case.decisive)}: exchanging so few gives no p-value of "
        f"{format_rate(1 - case.settings.confidence)} or less."
    )


def _too_few_units(case: _Case) -> str:
    few = case.decisive.sort_values("smallest_p_value", ascending=False, kind="stable")
    first = few.iloc[0]
    n_unknown, n_known = int(first["exchanged_unknown"]), int(first["exchanged_known"])
    also = ""
    if len(case.decisive) > 1:
        also = f" The same holds against {_names(case.decisive.drop(first.name))}."
    return (
        f"{quantity(n_unknown, 'population')} of {case.unknown} and {n_known} of {first['known']} "
        f"(by {first['population_column']}) are too few to say whether the two differ: exchanging "
        f"whole populations gives no p-value below {format_rate(first['smallest_p_value'])}, and "
        f"single specimens of one population are no independent evidence.{also}"
    )


def _with_covariates(case: _Case) -> str:
    decisive = case.decisive.sort_values("adjusted_p_value", ascending=False)
    confounded = decisive[decisive["status"] == CONFOUNDED]
    decisive = confounded if len(confounded) else decisive
    first = decisive.iloc[0]
    start = (
        f"{case.unknown} is {NOT_SHOWN}: it differs from {_names(decisive)} in "
        f"{tested(case.settings)} ({_p_values(decisive['p_value'])}), but "
    )
    if first["status"] != CONFOUNDED:
        return (
            f"{start}not beyond what {_listed(first['adjusted_for'])} may explain "
            f"({_p_values(decisive['adjusted_p_value'])} after adjusting)."
        )
    if not first["confounded_with"]:
        return (
            f"{start}there are too few {first['exchanged']} to separate that from a difference in "
            f"{_listed(first['adjusted_for'])}."
        )
    one = "it" if ", " not in first["confounded_with"] else "these"
    return (
        f"{start}these samples do not separate that from a difference in "
        f"{_listed(first['confounded_with'])}, since hardly a level of {one} occurs in "
        "both."
    )


def _with_size(case: _Case) -> str:
    decisive = case.decisive
    first = _closest_by_shape(decisive)
    start = (
        f"{case.unknown} is {NOT_SHOWN}: it differs from {first['known']} in "
        f"{tested(case.settings)} (p-value {format_rate(first['p_value'])}), but "
    )
    if first["status"] == GROWTH_MAY_EXPLAIN:
        sentence = (
            f"{start}{_size_in_words(case.unknown, first)}, and shape differences of this amount "
            "are expected from growth."
        )
    elif pd.isna(first["adjusted_p_value"]):
        sentence = (
            f"{start}these samples do not separate that from the difference in size: "
            f"{_size_in_words(case.unknown, first)}."
        )
    else:
        sentence = (
            f"{start}not beyond what goes with size (p-value "
            f"{format_rate(first['adjusted_p_value'])} after adjusting for log centroid size and "
            "its square)"
        )
        if first["size_p_value"] <= 1 - case.settings.confidence:
            sentence += f"; {_size_in_words(case.unknown, first)}"
            if first["sizes_apart"]:
                sentence += ", so that these samples hardly separate the two"
        sentence += "."
    if len(decisive) > 1:
        sentence += f" The same holds against {_names(decisive.drop(first.name))}."
    return sentence


def _size_in_words(unknown: str, pair: "pd.Series[Any]") -> str:
    smaller = float(pair["smaller"])
    how, share = ("smaller", smaller) if smaller >= _CHANCE else ("larger", 1 - smaller)
    if share == 1:
        return f"every specimen of {unknown} is {how} than every one of {pair['known']}"
    often = f"{100 * share:.0f}" if share < _NEARLY_ALL else "more than 99"
    return f"a specimen of {unknown} is {how} than one of {pair['known']} in {often} of 100 pairs"


_SENTENCES: Final = {
    LOOKS_NEW: _new,
    NOT_SHOWN: _not_shown,
    TOO_FEW: _too_few,
    TOO_FEW_UNITS: _too_few_units,
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
    distance = "Procrustes distance" if settings.features is None else "distance"
    if kind == NOT_SHOWN:
        first = decisive.iloc[0]
        between = "samples of these numbers"
        if first["exchanged"] == "populations":
            between = "sets of these numbers of populations"
        reasons.append(
            f"The means of it and {first['known']} are a {distance} of "
            f"{format_rate(first['distance'])} apart; between random {between}, 1 in "
            f"{round(1 / level)} distances exceeds {format_rate(first['critical_distance'])}."
        )
        if first["distance"] > first["critical_distance"]:
            reasons.append(
                "By this distance alone they would differ; the p-value is that of the better of "
                "two, this one and a Mahalanobis distance, and allows for the choice."
            )
    if kind == TOO_FEW_UNITS:
        reasons.append(
            "Exchanging specimens instead, without the covariate, would take a difference between "
            "populations of one group for one between groups."
        )
    if kind == DIFFERS_WITH_SIZE:
        reasons += _growth_reasons(_closest_by_shape(decisive), distance)
    wide = decisive[decisive["dispersion_p_value"] <= level]
    if len(wide) and kind not in (TOO_FEW, TOO_FEW_UNITS):
        first = wide.iloc[0]
        reasons.append(
            f"Dispersion about the mean is {first['dispersion_ratio']:.2g} times that of "
            f"{first['known']} (permutation test, p-value "
            f"{format_rate(first['dispersion_p_value'])}); the verdict rests on means alone."
        )
    return reasons


def _ruled_out_reasons(kind: str, pairs: pd.DataFrame) -> list[str]:
    """Return what was shown although the verdict is another one."""
    found = pairs[pairs["status"] == RULED_OUT]
    if kind == LOOKS_NEW or found.empty:
        return []
    which = plural(len(found), "A random sample", "Random samples")
    return [
        f"{which} of {_names(found)} {plural(len(found), 'is', 'are')} ruled out "
        f"({_p_values(found['p_value'])}{_adjusted(found)})."
    ]


def _growth_reasons(first: "pd.Series[Any]", distance: str) -> list[str]:
    if first["status"] != GROWTH_MAY_EXPLAIN:
        return []
    remaining = float(first["distance_beyond_growth"])
    rest = f"{format_rate(remaining)} remains" if remaining > 0 else (
        "less than sampling error remains"
    )  # fmt: skip
    apart = ", which rests on extrapolating from one to the other" if first["sizes_apart"] else ""
    beyond = ""
    if not pd.isna(first["adjusted_p_value"]):
        beyond = (
            " Beyond log centroid size and its square, the p-value is "
            f"{format_rate(first['adjusted_p_value'])}{apart}."
        )
    return [
        f"From the difference in size, a {distance} of {format_rate(first['distance_by_growth'])} "
        f"is expected between it and {first['known']} (pooled regression of shape on log centroid "
        f"size within groups); without it, {rest}.{beyond} Compare specimens of similar size."
    ]


# --- whether single specimens can be distinguished -----------------------------------------------


def word_on_single_specimens(error: float, high: float, largest_error: float) -> str:
    """Return in a word what a discriminant's error says of single specimens of two groups.

    They are distinguished if not only the error but its whole interval is small. Without an
    interval (NaN) there are too few.

    Examples
    --------
    >>> errors = ((0.0, 0.2), (0.0, 0.4), (0.3, 0.4))
    >>> [word_on_single_specimens(error, high, largest_error=0.25) for error, high in errors]
    ['distinguished', 'too few to say', 'overlapping']
    """
    if math.isnan(high):
        return UNDECIDED
    if error <= largest_error:
        return DISTINGUISHED if high <= largest_error else UNDECIDED
    return NOT_DISTINGUISHED if high >= _CHANCE else OVERLAPPING


def _single_reasons(
    unknown: str, closest: "pd.Series[Any]", settings: SpeciesSettings
) -> list[str]:
    """Return the sentences on single specimens, of the group that is hardest to distinguish."""
    name = closest["known"]
    word = word_on_single_specimens(
        float(closest["error"]), float(closest["error_high"]), settings.largest_error
    )
    novelty = float(closest["novelty_error"])
    rate = _with_spread(novelty, closest["novelty_error_spread"])
    sentences = [_single_sentence(word, closest)]
    knows = f"which knows {name} alone and no specimen of {unknown}"
    if word == DISTINGUISHED and novelty > _HARDLY_SEEN:
        sentences.append(
            f"Not seen by a one-sided novelty test, {knows} (its rate of misses and of false "
            f"alarms is {rate}), but by the discriminant, which has learnt both."
        )
    else:
        how = f"has a rate of misses and of false alarms of {rate}"
        if word == DISTINGUISHED and novelty > settings.largest_error:
            how = (
                "errs more often than the discriminant: its rate of misses and of false alarms is "
                f"{rate}"
            )
        sentences.append(f"A one-sided novelty test, {knows}, {how}.")
    factors = [name for name in closest["adjusted_for"].split(", ") if name not in ("", SIZE)]
    factors = [*factors, *filter(None, closest["confounded_with"].split(", "))]
    factors += [SIZE] if closest["status"] in (GROWTH_MAY_EXPLAIN, NOT_BEYOND_SIZE) else []
    if factors:
        sentences.append(
            f"These error rates of single specimens are not adjusted for {name_list(factors)}, and "
            f"may rest on a difference in {plural(len(factors), 'it', 'them')}."
        )
    if closest["exchanged"] == "populations":
        sentences.append(
            "The novelty test splits specimens regardless of their populations, so that its rate "
            "may be too small."
        )
    return sentences


def _single_sentence(word: str, closest: "pd.Series[Any]") -> str:
    """Return the sentence on the discriminant between single specimens of two groups."""
    name, left_out = closest["known"], closest["left_out"]
    if math.isnan(closest["error"]):
        return f"A single specimen gives no discriminant, be it its own or that of {name}."
    figures = format_rate(closest["error"])
    if left_out == POPULATIONS_OF_ONE:
        return (
            f"A discriminant between its single specimens and those of {name} errs at a rate of "
            f"{figures}, cross-validated by leaving out {left_out}; one population gives no "
            "interval."
        )
    figures += (
        f" (interval {format_rate(closest['error_low'])} to {format_rate(closest['error_high'])})"
    )
    how = f"cross-validated by leaving out {left_out}"
    if word == DISTINGUISHED:
        which = "largest error" if closest["error"] > 0 else "widest interval"
        return (
            f"Single specimens are distinguished from those of {name}, the group with the {which}: "
            f"a discriminant of the two errs at a rate of {figures}, {how}."
        )
    if word == UNDECIDED:
        few = "populations" if left_out == POPULATIONS else "specimens"
        return (
            f"Whether single specimens are distinguished from those of {name} is open: a "
            f"discriminant of the two errs at a rate of {figures}, {how}, and with so few {few} "
            "the true rate may be as high as the interval says."
        )
    if word == OVERLAPPING:
        start = "Single specimens overlap with those of"
        if closest["status"] == RULED_OUT:
            start = "It differs in mean, but overlaps as single specimens, with"
        return f"{start} {name}: a discriminant of the two errs at a rate of {figures}, {how}."
    return (
        f"Single specimens were not distinguished from those of {name}: the error of a "
        f"discriminant of the two is {figures}, {how}, where guessing gives 0.5."
    )


def is_masked(pooled_rate: float, worst_pair_rate: float, largest_error: float) -> bool:
    """Return whether pooling the known groups hides a difference that every pair shows."""
    return worst_pair_rate <= largest_error < pooled_rate


def format_rate(value: float) -> str:
    """Return a rate or p-value with three decimals; a smaller one keeps one digit."""
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.1g}"


def _specimens_are(n: int) -> str:
    return f"{quantity(n, 'specimen')} {plural(n, 'is', 'are')}"


def _pooled_reasons(pooled: dict[str, float], settings: SpeciesSettings) -> list[str]:
    reasons = [
        f"Novelty against all known groups together: {format_rate(pooled['detection_rate'])} of "
        "the specimens are detected at a threshold at which false alarms stay below "
        f"{format_rate(pooled['false_alarm_bound'])} at {as_percent(settings)} confidence (e* "
        f"{_with_spread(pooled['e_star'], pooled['e_star_spread'])}, equal error rate "
        f"{format_rate(pooled['equal_error_rate'])})."
    ]
    n_holdout = int(pooled["n_holdout"])
    floor = hoeffding_upper_bound(0, n_holdout, settings.confidence)
    if floor > _LOOSE:
        reasons.append(
            f"With {n_holdout} held-out specimens the smallest bound of this kind is "
            f"{format_rate(floor)}."
        )
    return reasons


def _cautions(
    pooled: dict[str, float],
    pairs: pd.DataFrame,
    not_compared: list[str],
    settings: SpeciesSettings,
) -> list[str]:
    cautions = []
    worst = float(pairs["novelty_error"].max())
    if is_masked(pooled["equal_error_rate"], worst, settings.largest_error):
        cautions.append(
            "By novelty alone the specimens are hidden among the known groups together (equal "
            f"error rate {format_rate(pooled['equal_error_rate'])}), but not among any one of "
            f"them (at most {format_rate(worst)}): they may lie between groups. A mixture of "
            "known groups would look the same."
        )
    if not_compared:
        n = len(not_compared)
        cautions.append(
            f"{quantity(n, 'known group')} {plural(n, 'has', 'have')} fewer than "
            f"{settings.least_group} specimens, {plural(n, 'was', 'were')} not compared alone and "
            f"{plural(n, 'is', 'are')} therefore not ruled out: {name_list(not_compared)}."
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


def _listed(names: str) -> str:
    """Return the names that a column of pairs holds as in a sentence."""
    return name_list(names.split(", "))


def _p_values(values: "pd.Series[Any]") -> str:
    """Return a p-value in words, or the largest of several."""
    largest = format_rate(float(values.max()))
    return f"p-value {largest}" if len(values) == 1 else f"p-values up to {largest}"


def _with_spread(value: float, spread: float) -> str:
    """Format a mean with its spread, if that is not zero."""
    return f"{format_rate(value)} ± {spread:.3f}" if spread >= 0.0005 else format_rate(value)
