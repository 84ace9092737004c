"""Verdicts and their reasons, word for word, from tables of comparisons made by hand."""

import pandas as pd
import pytest

from kernova.species.pairs import (
    COVARIATE_MAY_EXPLAIN,
    NOT_RULED_OUT,
    RULED_OUT,
    SIZE_MAY_EXPLAIN,
    TOO_FEW_SPECIMENS,
)
from kernova.species.space import SpeciesSettings
from kernova.species.verdicts import (
    DIFFERS_WITH_COVARIATES,
    DIFFERS_WITH_SIZE,
    LOOKS_NEW,
    NOT_SHOWN,
    NOT_TOLD_APART,
    OVERLAPPING,
    TOLD_APART,
    TOO_FEW,
    format_rate,
    is_masked,
    name_list,
    told_apart,
    verdict_on,
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
    "specimens": 12,
    "distance": 0.08,
    "critical_distance": 0.02,
    "dispersion_ratio": 1.1,
    "dispersion_p_value": 0.6,
    "smaller": 0.5,
    "distance_by_growth": 0.01,
    "distance_beyond_growth": 0.07,
    "error": 0.05,
    "error_low": 0.01,
    "error_high": 0.15,
    "left_out": "specimens",
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
        ([TOO_FEW_SPECIMENS, SIZE_MAY_EXPLAIN], TOO_FEW),
        ([RULED_OUT, TOO_FEW_SPECIMENS], TOO_FEW),
        ([SIZE_MAY_EXPLAIN, COVARIATE_MAY_EXPLAIN], DIFFERS_WITH_COVARIATES),
        ([RULED_OUT, SIZE_MAY_EXPLAIN], DIFFERS_WITH_SIZE),
    ],
)
def test_a_group_looks_new_only_if_every_known_group_is_ruled_out(statuses, kind):
    table = pairs(a={"status": statuses[0]}, b={"status": statuses[1], "p_value": 0.03})

    found = verdict(table)

    assert found.kind == kind
    assert found.closest == "a"  # the first, decisive or not
    assert found.p_value == 0.03


def test_kinds_are_the_words_that_tables_hold():
    assert [LOOKS_NEW, DIFFERS_WITH_SIZE, DIFFERS_WITH_COVARIATES, NOT_SHOWN, TOO_FEW] == [
        "looks new",
        "differs, but so does size",
        "differs, but so do covariates",
        "not shown to be new",
        "too few specimens to say",
    ]


# --- sentences ------------------------------------------------------------------------------


SENTENCES = {
    "new among several": (
        {"a": {"p_value": 0.004}, "b": {"p_value": 0.012}},
        "x looks new: at 95% confidence its 8 specimens are not a random sample of any of the 2 "
        "known groups compared (permutation tests of mean shape, largest p-value 0.012).",
    ),
    "new beside one": (
        {"a": {"p_value": 0.0002}},
        "x looks new: at 95% confidence its 8 specimens are not a random sample of a, the only "
        "known group compared (permutation tests of mean shape, p-value 0.0002).",
    ),
    "one not ruled out": (
        {"a": {}, "b": {"status": NOT_RULED_OUT, "p_value": 0.3}},
        "x is not shown to be new: its 8 specimens are compatible with a random sample of b "
        "(permutation test of mean shape, p-value 0.300).",
    ),
    "several not ruled out": (
        {name: {"status": NOT_RULED_OUT, "p_value": p / 10} for p, name in enumerate("abcdef", 1)},
        "x is not shown to be new: its 8 specimens are compatible with a random sample of f, e, "
        "d, c and 2 more (permutation test of mean shape, p-values up to 0.600).",
    ),
    "too few to exchange": (
        {"a": {"status": TOO_FEW_SPECIMENS, "specimens": 4}, "b": {}},
        "2 specimens are too few to say whether x differs from a: exchanging so few gives no "
        "p-value of 0.050 or less. 3 or more specimens of x would allow one.",
    ),
    "covariates": (
        {
            "a": {},
            "b": {"status": COVARIATE_MAY_EXPLAIN, "p_value": 0.002, "adjusted_p_value": 0.4},
            "c": {"status": COVARIATE_MAY_EXPLAIN, "p_value": 0.01, "adjusted_p_value": 0.06},
        },
        "x is not shown to be new: it differs from c and b in mean shape (p-value 0.002), but not "
        "beyond what the covariates explain (p-value 0.400 after adjusting).",
    ),
    "smaller": (
        {"a": {"status": SIZE_MAY_EXPLAIN, "smaller": 0.97}, "b": {}},
        "x looks new, but its specimens are on average smaller than 97% of those of a: shape "
        "differences of this amount are expected from size alone, as in growth.",
    ),
    "larger than two": (
        {
            "a": {"status": SIZE_MAY_EXPLAIN, "smaller": 0.2, "distance_beyond_growth": 0.05},
            "b": {"status": SIZE_MAY_EXPLAIN, "smaller": 0.1, "distance_beyond_growth": 0.03},
        },
        "x looks new, but its specimens are on average larger than 90% of those of b: shape "
        "differences of this amount are expected from size alone, as in growth. So they are "
        "against a.",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_the_verdict_is_one_whole_sentence(case):
    lines, sentence = SENTENCES[case]
    n_unknown = 2 if case.startswith("too few") else 8
    assert verdict(pairs(**lines), n_unknown).sentence == sentence


def test_one_specimen_is_in_the_singular():
    assert verdict(pairs(a={}), n_unknown=1).sentence == (
        "x looks new: at 95% confidence its 1 specimen is not a random sample of a, the only "
        "known group compared (permutation tests of mean shape, p-value 0.001)."
    )
    alone = verdict(pairs(a={"status": TOO_FEW_SPECIMENS, "specimens": 4}), n_unknown=1)
    assert alone.sentence == (
        "1 specimen is too few to say whether x differs from a: exchanging so few gives no "
        "p-value of 0.050 or less. 3 or more specimens of x would allow one."
    )


def test_no_group_to_compare_with_is_no_verdict():
    found = verdict(pd.DataFrame(columns=["known", "error", "p_value", "novelty_error"]))
    assert (found.kind, found.closest, found.p_value, found.specimens_needed) == (
        TOO_FEW,
        None,
        1.0,
        None,
    )
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
        "The mean shapes of it and a are a Procrustes distance of 0.015 apart; between random "
        "samples of these numbers, 1 in 20 distances exceeds 0.020."
    )


def test_growth_is_told_in_distances():
    table = pairs(
        a={"distance_beyond_growth": 0.001},  # is ruled out, so has no say
        b={
            "status": SIZE_MAY_EXPLAIN,
            "smaller": 0.97,
            "distance_by_growth": 0.06,
            "distance_beyond_growth": 0.02,
        },
    )
    assert verdict(table).reasons[0] == (
        "From the difference in size, a Procrustes distance of 0.060 is expected between it and b "
        "(pooled regression of shape on log centroid size within groups); without it, 0.020 "
        "remains. Compare specimens of similar size."
    )


def test_dispersion_is_told_but_has_no_part_in_the_verdict():
    table = pairs(a={"dispersion_ratio": 2.345, "dispersion_p_value": 0.004}, b={})
    found = verdict(table)
    assert found.kind == LOOKS_NEW
    assert found.reasons[0] == (
        "Dispersion about the mean shape is 2.3 times that of a (permutation test, p-value "
        "0.004); the verdict rests on mean shapes alone."
    )
    few = verdict(table.assign(status=TOO_FEW_SPECIMENS))
    assert not any(reason.startswith("Dispersion") for reason in few.reasons)


# --- reasons: single specimens --------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "high", "word"),
    [
        (0.25, 0.4, TOLD_APART),
        (0.26, 0.4, OVERLAPPING),
        (0.26, 0.49, OVERLAPPING),
        (0.26, 0.5, NOT_TOLD_APART),
        # So few specimens that even no error at all might be guessing.
        (0.0, 0.5, NOT_TOLD_APART),
    ],
)
def test_a_discriminant_in_a_word(error, high, word):
    assert told_apart(error, high, 0.25) == word


TOLD = (
    "Single specimens can be told from those of a, the hardest group: a discriminant of the two "
    "errs at a rate of 0.050 (interval 0.010 to 0.150), cross-validated by leaving out specimens."
)
SINGLE = {
    "told apart": (
        {},
        TOLD,
        "A one-sided novelty test, which knows a alone and no specimen of x, errs at 0.100 ± 0.020 "
        "on both sides.",
    ),
    "told apart, but not by novelty": (
        {"novelty_error": 0.4, "novelty_error_spread": 0.0},
        TOLD,
        "Not seen by a one-sided novelty test, which knows a alone and no specimen of x (both "
        "error rates 0.400), but by the discriminant, which has learnt both.",
    ),
    "overlapping, ruled out": (
        {"error": 0.3, "error_low": 0.2, "error_high": 0.4, "left_out": "populations"},
        "It differs in mean shape, but overlaps as single specimens, with a: a discriminant of the "
        "two errs at a rate of 0.300 (interval 0.200 to 0.400), cross-validated by leaving out "
        "populations.",
        "A one-sided novelty test, which knows a alone and no specimen of x, errs at 0.100 ± 0.020 "
        "on both sides.",
    ),
    "overlapping, not ruled out": (
        {"error": 0.3, "error_low": 0.2, "error_high": 0.4, "status": NOT_RULED_OUT},
        "Single specimens overlap with a: a discriminant of the two errs at a rate of 0.300 "
        "(interval 0.200 to 0.400), cross-validated by leaving out specimens.",
        "A one-sided novelty test, which knows a alone and no specimen of x, errs at 0.100 ± 0.020 "
        "on both sides.",
    ),
    "not told apart": (
        {"error": 0.45, "error_low": 0.3, "error_high": 0.6, "novelty_error": 0.5},
        "Single specimens were not told from those of a: the error of a discriminant of the two is "
        "0.450 (interval 0.300 to 0.600), cross-validated by leaving out specimens, where guessing "
        "gives 0.5.",
        "A one-sided novelty test, which knows a alone and no specimen of x, errs at 0.500 ± 0.020 "
        "on both sides.",
    ),
}


@pytest.mark.parametrize("case", SINGLE)
def test_sentences_on_single_specimens_are_of_the_hardest_group(case):
    line, *sentences = SINGLE[case]
    reasons = verdict(pairs(a=line, b={"error": 0.0})).reasons
    start = next(k for k, one in enumerate(reasons) if "ingle specimens" in one)
    assert list(reasons[start : start + 2]) == sentences


# --- reasons: novelty, and cautions ---------------------------------------------------------


def test_novelty_among_all_known_groups_is_told_with_its_bound():
    reasons = verdict(pairs(a={})).reasons
    assert len(reasons) == 3
    assert reasons[2] == (
        "Novelty against all known groups together: e* is 0.100 ± 0.010, that is, 0.900 of the "
        "specimens are detected while false alarms stay below 0.100 at 95% confidence."
    )
    few = verdict(pairs(a={}), pooled={**POOLED, "n_holdout": 44, "e_star_spread": 3e-17}).reasons
    assert few[2].startswith("Novelty against all known groups together: e* is 0.100, that is, ")
    # sqrt(ln(20) / 88) = 0.1845
    assert few[3] == (
        "That bound is loose: 44 held-out specimens cannot prove a rate below 0.185. Look at the "
        "equal error rate, 0.050, and at the exact bound, 0.020 false alarms for 0.800 detected."
    )


def test_a_group_hidden_between_others_is_masked():
    pooled = {**POOLED, "equal_error_rate": 0.3}
    assert verdict(pairs(a={}, b={"novelty_error": 0.2}), pooled=pooled).reasons[-1] == (
        "By novelty alone the specimens are hidden among the known groups together (equal error "
        "rate 0.300), but not among any one of them (at most 0.200): they lie between groups. A "
        "mixture of known groups would look the same."
    )
    assert is_masked(0.3, 0.24)
    assert not is_masked(0.3, 0.26)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            ["d"],
            "1 known group is too small to be compared alone, and so is not ruled out: d.",
        ),
        (
            ["d", "e"],
            "2 known groups are too small to be compared alone, and so are not ruled out: d and e.",
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
    assert [format_rate(p) for p in (0.0, 0.00049, 0.0005, 0.05, 1.0)] == [
        "0.000",
        "0.0005",
        "0.001",
        "0.050",
        "1.000",
    ]
