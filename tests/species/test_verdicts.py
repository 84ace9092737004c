"""Verdicts and their reasons, word for word, from tables of comparisons made by hand."""

import pandas as pd
import pytest

from kernova.species.discriminant import POPULATIONS, POPULATIONS_OF_ONE, SPECIMENS
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
from kernova.species.verdicts import (
    DIFFERS_WITH_COVARIATES,
    DIFFERS_WITH_SIZE,
    DISTINGUISHED,
    LOOKS_NEW,
    NOT_DISTINGUISHED,
    NOT_SHOWN,
    OVERLAPPING,
    TOO_FEW,
    TOO_FEW_UNITS,
    UNDECIDED,
    format_rate,
    is_masked,
    name_list,
    verdict_on,
    word_on_single_specimens,
)

POOLED = {
    "e_star": 0.1,
    "e_star_spread": 0.01,
    "detection_rate": 0.9,
    "false_alarm_bound": 0.1,
    "equal_error_rate": 0.05,
    "exact_false_alarm_bound": 0.02,
    "exact_detection_rate": 0.8,
    "n_holdout": 900.0,
}
USUAL = {
    "status": RULED_OUT,
    "p_value": 0.001,
    "adjusted_p_value": float("nan"),
    "smallest_p_value": 0.001,
    "exchanged": "specimens",
    "exchanged_unknown": 8,
    "exchanged_known": 12,
    "population_column": "",
    "adjusted_for": "",
    "confounded_with": "",
    "specimens": 12,
    "distance": 0.08,
    "critical_distance": 0.02,
    "dispersion_ratio": 1.1,
    "dispersion_p_value": 0.6,
    "smaller": 0.5,
    "size_p_value": 0.01,
    "sizes_apart": False,
    "distance_by_growth": 0.01,
    "distance_beyond_growth": 0.07,
    "error": 0.05,
    "error_low": 0.01,
    "error_high": 0.15,
    "left_out": SPECIMENS,
    "novelty_error": 0.1,
    "novelty_error_spread": 0.02,
}


def pairs(**groups):
    """A line per known group, hardest to distinguish first; what is not given is usual."""
    return pd.DataFrame([{"known": name, **USUAL, **line} for name, line in groups.items()])


def verdict(table, n_unknown=8, pooled=POOLED, not_compared=(), **settings):
    return verdict_on(
        "x", n_unknown, pooled, table, list(not_compared), SpeciesSettings(**settings)
    )


# --- kinds ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statuses", "kind"),
    [
        ([RULED_OUT, RULED_OUT], LOOKS_NEW),
        # One group that is not ruled out is enough, hard to distinguish or not.
        ([RULED_OUT, NOT_RULED_OUT], NOT_SHOWN),
        ([NOT_RULED_OUT, RULED_OUT], NOT_SHOWN),
        # What is known of one group counts more than what is not known of another.
        ([TOO_FEW_SPECIMENS, NOT_RULED_OUT], NOT_SHOWN),
        ([TOO_FEW_SPECIMENS, GROWTH_MAY_EXPLAIN], TOO_FEW),
        ([RULED_OUT, TOO_FEW_SPECIMENS], TOO_FEW),
        ([TOO_FEW_POPULATIONS, TOO_FEW_SPECIMENS], TOO_FEW),
        ([TOO_FEW_POPULATIONS, NOT_RULED_OUT], NOT_SHOWN),
        ([RULED_OUT, TOO_FEW_POPULATIONS], TOO_FEW_UNITS),
        ([CONFOUNDED, TOO_FEW_POPULATIONS], TOO_FEW_UNITS),
        ([GROWTH_MAY_EXPLAIN, COVARIATE_MAY_EXPLAIN], DIFFERS_WITH_COVARIATES),
        ([RULED_OUT, CONFOUNDED], DIFFERS_WITH_COVARIATES),
        ([RULED_OUT, GROWTH_MAY_EXPLAIN], DIFFERS_WITH_SIZE),
        ([NOT_BEYOND_SIZE, RULED_OUT], DIFFERS_WITH_SIZE),
    ],
)
def test_a_group_looks_new_only_if_every_known_group_is_ruled_out(statuses, kind):
    table = pairs(a={"status": statuses[0]}, b={"status": statuses[1], "p_value": 0.03})

    found = verdict(table)

    assert found.kind == kind
    assert found.closest == "a"  # the first, decisive or not
    assert found.p_value == 0.03


def test_kinds_are_the_words_that_tables_hold():
    kinds = (LOOKS_NEW, DIFFERS_WITH_SIZE, DIFFERS_WITH_COVARIATES, NOT_SHOWN, TOO_FEW)
    assert (*kinds, TOO_FEW_UNITS) == (
        "looks new",
        "differs, but so does size",
        "differs, but so do covariates",
        "not shown to be new",
        "too few specimens to say",
        "too few populations to say",
    )


# --- sentences ------------------------------------------------------------------------------


WHOLE = {
    "exchanged": "populations",
    "population_column": "lake",
    "exchanged_unknown": 5,
    "exchanged_known": 6,
    "left_out": POPULATIONS,
    "dispersion_ratio": float("nan"),
    "dispersion_p_value": 1.0,
}
FEW = {
    **WHOLE,
    "status": TOO_FEW_POPULATIONS,
    "exchanged_unknown": 1,
    "smallest_p_value": 1 / 7,
    "p_value": 0.2,
}
SENTENCES = {
    "new among several": (
        {"a": {"p_value": 0.004}, "b": {"p_value": 0.012}},
        "x looks new: at 95% confidence its 8 specimens are not a random sample of any of the 2 "
        "known groups compared (permutation tests of mean shape, largest p-value 0.012).",
    ),
    "new beside one": (
        {"a": {"p_value": 0.0002}},
        "x looks new: at 95% confidence its 8 specimens are not a random sample of a, the only "
        "known group compared (permutation test of mean shape, p-value 0.0002).",
    ),
    "new by populations": (
        {"a": {**WHOLE, "p_value": 0.004}},
        "x looks new: at 95% confidence its 8 specimens are not a random sample of a, the only "
        "known group compared (permutation test of mean shape in which populations are exchanged "
        "whole, p-value 0.004).",
    ),
    "one not ruled out": (
        {"a": {}, "b": {"status": NOT_RULED_OUT, "p_value": 0.3}},
        "x is not shown to be new: its 8 specimens were not distinguished from a random sample of "
        "b (permutation test of mean shape, p-value 0.300).",
    ),
    "several not ruled out": (
        {name: {"status": NOT_RULED_OUT, "p_value": p / 10} for p, name in enumerate("abcdef", 1)},
        "x is not shown to be new: its 8 specimens were not distinguished from random samples of "
        "f, e, d, c and 2 more (permutation tests of mean shape, p-values up to 0.600).",
    ),
    "too few to exchange": (
        {"a": {"status": TOO_FEW_SPECIMENS, "specimens": 4}, "b": {}},
        "2 specimens are too few to say whether x differs from a: exchanging so few gives no "
        "p-value of 0.050 or less. 3 or more specimens of x would allow one.",
    ),
    "populations too few": (
        {"a": FEW},
        "1 population of x and 6 of a (by lake) are too few to say whether the two differ: "
        "exchanging whole populations gives no p-value below 0.143, and single specimens of one "
        "population are no independent evidence.",
    ),
    "populations too few against several": (
        {
            "a": FEW,
            "b": {**FEW, "exchanged_unknown": 2, "exchanged_known": 1, "smallest_p_value": 1 / 3},
            "c": {},
        },
        "2 populations of x and 1 of b (by lake) are too few to say whether the two differ: "
        "exchanging whole populations gives no p-value below 0.333, and single specimens of one "
        "population are no independent evidence. The same holds against a.",
    ),
    "covariates": (
        {
            "a": {},
            "b": {
                "status": COVARIATE_MAY_EXPLAIN,
                "p_value": 0.002,
                "adjusted_p_value": 0.4,
                "adjusted_for": "sex, size",
            },
        },
        "x is not shown to be new: it differs from b in mean shape (p-value 0.002), but not beyond "
        "what sex and size may explain (p-value 0.400 after adjusting).",
    ),
    "covariates against two": (
        {
            name: {
                "status": COVARIATE_MAY_EXPLAIN,
                "p_value": p_value,
                "adjusted_p_value": 10 * p_value,
                "adjusted_for": "sex",
            }
            for name, p_value in (("b", 0.006), ("c", 0.01))
        },
        "x is not shown to be new: it differs from c and b in mean shape (p-values up to 0.010), "
        "but not beyond what sex may explain (p-values up to 0.100 after adjusting).",
    ),
    "confounded": (
        {
            "a": {"status": CONFOUNDED, "confounded_with": "sex"},
            "b": {"status": COVARIATE_MAY_EXPLAIN, "adjusted_for": "sex"},
        },
        "x is not shown to be new: it differs from a in mean shape (p-value 0.001), but these "
        "samples do not separate that from a difference in sex, since hardly a level of it occurs "
        "in both.",
    ),
    "confounded twice": (
        {"a": {"status": CONFOUNDED, "confounded_with": "sex, country"}},
        "x is not shown to be new: it differs from a in mean shape (p-value 0.001), but these "
        "samples do not separate that from a difference in sex and country, since hardly a level "
        "of these occurs in both.",
    ),
    "too many covariates": (
        {"a": {"status": CONFOUNDED, "adjusted_for": "sex, day, size"}},
        "x is not shown to be new: it differs from a in mean shape (p-value 0.001), but there are "
        "too few specimens to separate that from a difference in sex, day and size.",
    ),
    "all smaller": (
        {"a": {"status": GROWTH_MAY_EXPLAIN, "smaller": 1.0, "sizes_apart": True}, "b": {}},
        "x is not shown to be new: it differs from a in mean shape (p-value 0.001), but every "
        "specimen of x is smaller than every one of a, and shape differences of this amount are "
        "expected from growth.",
    ),
    "larger than two": (
        {
            "a": {"status": GROWTH_MAY_EXPLAIN, "smaller": 0.2, "distance_beyond_growth": 0.05},
            "b": {"status": GROWTH_MAY_EXPLAIN, "smaller": 0.1, "distance_beyond_growth": 0.03},
        },
        "x is not shown to be new: it differs from b in mean shape (p-value 0.001), but a specimen "
        "of x is larger than one of b in 90 of 100 pairs, and shape differences of this amount are "
        "expected from growth. The same holds against a.",
    ),
    "not beyond size": (
        {
            "a": {
                "status": NOT_BEYOND_SIZE,
                "adjusted_p_value": 0.3,
                "smaller": 0.95,
                "sizes_apart": True,
            }
        },
        "x is not shown to be new: it differs from a in mean shape (p-value 0.001), but not beyond "
        "what goes with size (p-value 0.300 after adjusting for log centroid size and its square); "
        "a specimen of x is smaller than one of a in 95 of 100 pairs, so that these samples "
        "hardly separate the two.",
    ),
    "not beyond size, of similar sizes": (
        {"a": {"status": NOT_BEYOND_SIZE, "adjusted_p_value": 0.3, "size_p_value": 0.4}},
        "x is not shown to be new: it differs from a in mean shape (p-value 0.001), but not beyond "
        "what goes with size (p-value 0.300 after adjusting for log centroid size and its "
        "square).",
    ),
    "size is the grouping": (
        {"a": {"status": NOT_BEYOND_SIZE, "smaller": 0.0, "sizes_apart": True}},
        "x is not shown to be new: it differs from a in mean shape (p-value 0.001), but these "
        "samples do not separate that from the difference in size: every specimen of x is larger "
        "than every one of a.",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_the_verdict_is_one_whole_sentence(case):
    lines, sentence = SENTENCES[case]
    n_unknown = 2 if case == "too few to exchange" else 8
    assert verdict(pairs(**lines), n_unknown).sentence == sentence


def test_one_specimen_is_in_the_singular():
    assert verdict(pairs(a={}), n_unknown=1).sentence == (
        "x looks new: at 95% confidence its 1 specimen is not a random sample of a, the only "
        "known group compared (permutation test of mean shape, p-value 0.001)."
    )
    alone = verdict(pairs(a={"status": TOO_FEW_SPECIMENS, "specimens": 4}), n_unknown=1)
    assert alone.sentence == (
        "1 specimen is too few to say whether x differs from a: exchanging so few gives no "
        "p-value of 0.050 or less. 3 or more specimens of x would allow one."
    )


def test_no_group_to_compare_with_is_no_verdict():
    found = verdict(pd.DataFrame(columns=["known", "error", "p_value", "novelty_error"]))
    assert (found.kind, found.closest, found.p_value) == (TOO_FEW, None, 1.0)
    assert found.specimens_needed is None
    assert found.sentence == (
        "There are too few specimens to say whether x is new: no known group has 4 specimens or "
        "more."
    )


@pytest.mark.parametrize(
    ("n_known", "confidence", "needed"),
    # 1/C(4+3, 3) = 1/35; 1/C(19+1, 1) would do but a sample of one has no mean to compare;
    # 1/C(4+4, 4) = 2/70 where samples are exchanged as a whole, 1/C(4+5, 4) = 1/126.
    [(4, 0.95, 3), (19, 0.95, 2), (4, 0.99, 5), (4, 0.9995, None)],
)
def test_specimens_needed_allow_a_small_p_value(n_known, confidence, needed):
    table = pairs(a={"status": TOO_FEW_SPECIMENS, "specimens": n_known})

    found = verdict(table, n_unknown=1, confidence=confidence)

    assert found.specimens_needed == needed
    assert ("would allow one" in found.sentence) == (needed is not None)


def test_the_level_of_sentences_is_one_minus_the_confidence():
    table = pairs(a={"status": NOT_RULED_OUT, "p_value": 0.03})
    found = verdict(table, confidence=0.99)
    assert "1 in 100 distances exceeds 0.020" in found.reasons[0]
    few = verdict(pairs(a={"status": TOO_FEW_SPECIMENS, "specimens": 4}), confidence=0.99)
    assert "no p-value of 0.010 or less" in few.sentence


# --- reasons: the samples -------------------------------------------------------------------


def test_a_sample_that_is_not_ruled_out_is_told_how_far_apart_it_is():
    table = pairs(a={"status": NOT_RULED_OUT, "p_value": 0.3, "distance": 0.015})
    assert verdict(table).reasons[0] == (
        "The means of it and a are a Procrustes distance of 0.015 apart; between random samples of "
        "these numbers, 1 in 20 distances exceeds 0.020."
    )
    by_unit = table.assign(**WHOLE)
    assert (
        "; between random sets of these numbers of populations, 1 in 20 "
        in (verdict(by_unit).reasons[0])
    )


def test_few_populations_are_told_why_specimens_do_not_do():
    found = verdict(pairs(a=FEW))
    assert found.reasons[0] == (
        "Exchanging specimens instead, without the covariate, would take a difference between "
        "populations of one group for one between groups."
    )
    assert found.specimens_needed is None


GROWN = {
    "status": GROWTH_MAY_EXPLAIN,
    "smaller": 0.97,
    "adjusted_p_value": 0.2,
    "distance_by_growth": 0.06,
    "distance_beyond_growth": 0.02,
}


@pytest.mark.parametrize(
    ("line", "end"),
    [
        (
            {},
            "without it, 0.020 remains. Beyond log centroid size and its square, the p-value is "
            "0.200. Compare specimens of similar size.",
        ),
        (
            {"sizes_apart": True, "distance_beyond_growth": 0.0},
            "without it, less than sampling error remains. Beyond log centroid size and its "
            "square, the p-value is 0.200, which rests on extrapolating from one to the other. "
            "Compare specimens of similar size.",
        ),
        (
            {"adjusted_p_value": float("nan")},
            "without it, 0.020 remains. Compare specimens of similar size.",
        ),
    ],
)
def test_growth_is_told_in_distances(line, end):
    table = pairs(a={"distance_beyond_growth": 0.001}, b={**GROWN, **line})  # a has no say
    assert verdict(table).reasons[0] == (
        "From the difference in size, a Procrustes distance of 0.060 is expected between it and b "
        f"(pooled regression of shape on log centroid size within groups); {end}"
    )


def test_without_growth_no_distance_by_growth_is_told():
    reasons = verdict(pairs(a={"status": NOT_BEYOND_SIZE, "adjusted_p_value": 0.3})).reasons
    assert "From the difference in size" not in " ".join(reasons)


def test_dispersion_is_told_but_has_no_part_in_the_verdict():
    table = pairs(a={"dispersion_ratio": 2.345, "dispersion_p_value": 0.004}, b={})
    found = verdict(table)
    assert found.kind == LOOKS_NEW
    assert found.reasons[0] == (
        "Dispersion about the mean is 2.3 times that of a (permutation test, p-value 0.004); the "
        "verdict rests on means alone."
    )
    for status in (TOO_FEW_SPECIMENS, TOO_FEW_POPULATIONS):
        few = verdict(table.assign(status=status, population_column="lake"))
        assert not any(reason.startswith("Dispersion") for reason in few.reasons)


# --- reasons: single specimens --------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "high", "word"),
    [
        (0.25, 0.25, DISTINGUISHED),
        (0.0, 0.2, DISTINGUISHED),
        # So few specimens that the true error may be larger.
        (0.25, 0.4, UNDECIDED),
        (0.0, 0.5, UNDECIDED),
        (0.26, 0.4, OVERLAPPING),
        (0.26, 0.49, OVERLAPPING),
        (0.26, 0.5, NOT_DISTINGUISHED),
        # One population of a group gives no interval.
        (0.0, float("nan"), UNDECIDED),
        (0.4, float("nan"), UNDECIDED),
    ],
)
def test_a_discriminant_in_a_word(error, high, word):
    assert word_on_single_specimens(error, high, 0.25) == word


TOLD = (
    "Single specimens are distinguished from those of a, the group with the largest error: a "
    "discriminant of the two errs at a rate of 0.050 (interval 0.010 to 0.150), cross-validated by "
    "leaving out one specimen at a time."
)
USUAL_NOVELTY = (
    "A one-sided novelty test, which knows a alone and no specimen of x, has a rate of misses and "
    "of false alarms of 0.100 ± 0.020."
)
SINGLE = {
    "distinguished": ({}, TOLD, USUAL_NOVELTY),
    "distinguished, less by novelty": (
        {"novelty_error": 0.3, "novelty_error_spread": 0.0},
        TOLD,
        "A one-sided novelty test, which knows a alone and no specimen of x, errs more often than "
        "the discriminant: its rate of misses and of false alarms is 0.300.",
    ),
    "distinguished, but not by novelty": (
        {"novelty_error": 0.45, "novelty_error_spread": 0.0},
        TOLD,
        "Not seen by a one-sided novelty test, which knows a alone and no specimen of x (its rate "
        "of misses and of false alarms is 0.450), but by the discriminant, which has learnt both.",
    ),
    "distinguished, not adjusted": (
        {"adjusted_for": "sex, size"},
        TOLD,
        USUAL_NOVELTY,
        "These error rates of single specimens are not adjusted for sex, and may rest on a "
        "difference in it.",
    ),
    "distinguished, confounded": (
        {"adjusted_for": "", "confounded_with": "sex, country", "status": CONFOUNDED},
        TOLD,
        USUAL_NOVELTY,
        "These error rates of single specimens are not adjusted for sex and country, and may rest "
        "on a difference in them.",
    ),
    "few specimens": (
        {"error": 0.0, "error_low": 0.0, "error_high": 0.3},
        "Whether single specimens are distinguished from those of a is open: a discriminant of the "
        "two errs at a rate of 0.000 (interval 0.000 to 0.300), cross-validated by leaving out "
        "one specimen at a time, and with so few specimens the true rate may be as high as "
        "the interval says.",
        USUAL_NOVELTY,
    ),
    "few populations": (
        {**WHOLE, "error_high": 0.3},
        "Whether single specimens are distinguished from those of a is open: a discriminant of the "
        "two errs at a rate of 0.050 (interval 0.010 to 0.300), cross-validated by leaving out "
        "one population at a time, and with so few populations the true rate may be as high as "
        "the interval says.",
        USUAL_NOVELTY,
        "The novelty test splits specimens regardless of their populations, so that its rate may "
        "be too small.",
    ),
    "one population": (
        {**FEW, "left_out": POPULATIONS_OF_ONE, "error_high": float("nan")},
        "A discriminant between its single specimens and those of a errs at a rate of 0.050, "
        "cross-validated by leaving out populations of one group and specimens of the other; one "
        "population gives no interval.",
        USUAL_NOVELTY,
    ),
    "overlapping, ruled out": (
        {**WHOLE, "error": 0.3, "error_low": 0.2, "error_high": 0.4},
        "It differs in mean, but overlaps as single specimens, with a: a discriminant of the two "
        "errs at a rate of 0.300 (interval 0.200 to 0.400), cross-validated by leaving out "
        "one population at a time.",
        USUAL_NOVELTY,
    ),
    "overlapping, not ruled out": (
        {"error": 0.3, "error_low": 0.2, "error_high": 0.4, "status": NOT_RULED_OUT},
        "Single specimens overlap with those of a: a discriminant of the two errs at a rate of "
        "0.300 (interval 0.200 to 0.400), cross-validated by leaving out one specimen at a time.",
        USUAL_NOVELTY,
    ),
    "not distinguished": (
        {"error": 0.45, "error_low": 0.3, "error_high": 0.6, "novelty_error": 0.5},
        "Single specimens were not distinguished from those of a: the error of a discriminant of "
        "the two is 0.450 (interval 0.300 to 0.600), cross-validated by leaving out one specimen "
        "at a time, where guessing gives 0.5.",
        "A one-sided novelty test, which knows a alone and no specimen of x, has a rate of misses "
        "and of false alarms of 0.500 ± 0.020.",
    ),
}


@pytest.mark.parametrize("case", SINGLE)
def test_sentences_on_single_specimens_are_of_the_hardest_group(case):
    line, *sentences = SINGLE[case]
    reasons = verdict(pairs(a=line, b={"error": 0.0})).reasons
    start = reasons.index(sentences[0])
    assert list(reasons[start : start + len(sentences)]) == sentences


# --- reasons: novelty, and cautions ---------------------------------------------------------


def test_novelty_among_all_known_groups_is_told_with_its_bound():
    reasons = verdict(pairs(a={})).reasons
    assert len(reasons) == 3
    assert reasons[2] == (
        "Novelty against all known groups together: 0.900 of the specimens are detected at a "
        "threshold at which false alarms stay below 0.100 at 95% confidence (e* 0.100 ± 0.010, "
        "equal error rate 0.050)."
    )
    few = verdict(pairs(a={}), pooled={**POOLED, "n_holdout": 44, "e_star_spread": 3e-17}).reasons
    assert few[2].endswith("(e* 0.100, equal error rate 0.050).")
    # sqrt(ln(20) / 88) = 0.1845
    assert few[3] == "With 44 held-out specimens the smallest bound of this kind is 0.185."


def test_a_group_hidden_between_others_is_masked():
    pooled = {**POOLED, "equal_error_rate": 0.3}
    assert verdict(pairs(a={}, b={"novelty_error": 0.2}), pooled=pooled).reasons[-1] == (
        "By novelty alone the specimens are hidden among the known groups together (equal error "
        "rate 0.300), but not among any one of them (at most 0.200): they may lie between "
        "groups. A mixture of known groups would look the same."
    )
    assert is_masked(0.3, 0.24, 0.25)
    assert not is_masked(0.3, 0.26, 0.25)
    assert is_masked(0.4, 0.26, 0.3)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            ["d"],
            "1 known group has fewer than 4 specimens, was not compared alone and is therefore not "
            "ruled out: d.",
        ),
        (
            ["d", "e"],
            "2 known groups have fewer than 4 specimens, were not compared alone and are therefore "
            "not ruled out: d and e.",
        ),
    ],
)
def test_groups_that_are_too_small_are_named(names, sentence):
    assert verdict(pairs(a={}), not_compared=names).reasons[-1] == sentence


def test_names_in_a_sentence():
    assert name_list("a") == "a"
    assert name_list("abc") == "a, b and c"
    assert name_list("abcd") == "a, b, c and d"
    assert name_list("abcdefg") == "a, b, c, d and 3 more"


def test_small_rates_keep_a_digit():
    shown = ["0.000", "0.0005", "0.001", "0.050", "1.000"]
    assert [format_rate(p) for p in (0.0, 0.00049, 0.0005, 0.05, 1.0)] == shown
