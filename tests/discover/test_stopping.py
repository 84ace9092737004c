"""Stopping advice: facts are facts, guesses are called so, and their count is what it says."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer
from kernova.discover.stopping import TRIALS, stopping_advice
from kernova.discover.strategies import DEFAULT_STRATEGY, strategy_named
from kernova.errors import InputError
from kernova.papers.hms.experiments import discovery_sets
from tests.discover import messages
from tests.discover.held_out_sets import held_out_sets

SENTENCES = {
    "nothing asked": (
        [],
        {"n_rows": 10},
        messages.NOTHING_ASKED.format(n_rows=10),
    ),
    "the first": (
        ["a"],
        {"n_rows": 1000},
        "Of 1,000 rows, 1 was asked about: 1 category, the last new one at question 1."
        + messages.NO_BOUND.format(999)
        + messages.GUESS.format("after 51 more answers"),
    ),
    "one to go, one skipped": (
        ["a", "b", None, *["a"] * 51],
        {"n_rows": 900},
        "Of 900 rows, 54 were asked about: 2 categories, the last new one at question 2, none in "
        "51 "
        "answers since; 1 skipped."
        + messages.NO_BOUND.format(847)
        + messages.GUESS.format("after 1 more answer"),
    ),
    "enough": (
        ["a", "b", *["a"] * 52],
        {"n_rows": 900},
        "Of 900 rows, 54 were asked about: 2 categories, the last new one at question 2, none in "
        "52 "
        "answers since."
        + messages.NO_BOUND.format(846)
        + messages.GUESS.format("now, after enough answers"),
    ),
    "known before": (
        ["a"] * 50,
        {"n_rows": 900, "known_before": ["a", "c"], "n_labelled_before": 10},
        "Of 900 rows, 50 were asked about: 2 categories, all of them known before."
        + messages.NO_BOUND.format(840)
        + messages.GUESS.format("now, after enough answers"),
    ),
    "random sample": (
        ["a", *["a"] * 59],
        {"n_rows": 900, "n_random": 59},
        "Of 900 rows, 60 were asked about: 1 category, the last new one at question 1, none in 59 "
        "answers since."
        + messages.BOUND.format("5 %", 840)
        + messages.GUESS.format("now, after enough answers"),
    ),
    "all": (
        ["a", "b"],
        {"n_rows": 2},
        messages.ALL_LABELLED.format(n_rows=2, categories="2 categories"),
    ),
    "all but what was known": (
        ["a"],
        {"n_rows": 3, "known_before": ["b"], "n_labelled_before": 2},
        messages.ALL_LABELLED.format(n_rows=3, categories="2 categories"),
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_sentences_whole(case):
    labels, settings, sentence = SENTENCES[case]
    assert stopping_advice(labels, **settings).sentence == sentence


@given(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=60), st.integers(0, 200))
def test_numbers_are_those_of_a_literal_count(labels, n_more):
    n_rows = len(labels) + n_more
    advice = stopping_advice(labels, n_rows)
    firsts = {label: labels.index(label) + 1 for label in labels if label is not None}
    last_new = max(firsts.values(), default=0)
    since = [label for label in labels[last_new:] if label is not None]
    n_unseen = n_rows - len([label for label in labels if label is not None])
    assert (advice.asked, advice.seen, advice.since_new) == (len(labels), len(firsts), len(since))
    assert advice.questions_left == min(max(0, last_new + 50 - len(since)), n_unseen)
    assert advice.missed_fraction == (0.0 if n_unseen == 0 else None)


def test_a_new_category_in_the_random_sample_gives_no_bound():
    labels = ["a"] * 20 + ["b"] + ["a"] * 19
    assert stopping_advice(labels, 100, n_random=20).missed_fraction is None
    assert stopping_advice(labels, 100, n_random=19).missed_fraction == pytest.approx(
        1 - 0.05 ** (1 / 19)
    )
    passed = ["a"] * 30 + [None] * 5
    assert stopping_advice(passed, 100, n_random=5).missed_fraction is None


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("n_random", [1, 7, 59, 300])
def test_more_rows_than_the_bound_are_seldom_missed(n_random, confidence):
    """Were more rows unmet than the bound says, drawing none would be as unlikely as promised."""
    n_rows = 2_000
    labels = ["a", *["a"] * n_random]
    share = stopping_advice(
        labels, n_rows + len(labels), n_random=n_random, confidence=confidence
    ).missed_fraction
    unmet = int(np.floor(share * n_rows)) + 1
    assert hypergeom.pmf(0, n_rows, unmet, n_random) <= 1 - confidence + 1e-12


REFUSED = {
    messages.TOO_MANY_ANSWERS.format(n_rows=2, n_before=0): ({"n_rows": 2}),
    messages.TOO_MANY_ANSWERS.format(n_rows=9, n_before=7): ({"n_rows": 9, "n_labelled_before": 7}),
    messages.BAD_N_RANDOM: {"n_rows": 9, "n_random": 4},
    messages.BAD_CONFIDENCE: {"n_rows": 9, "confidence": 1.0},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_rejected(sentence):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        stopping_advice(["a", "b", "a"], **REFUSED[sentence])


# --- how often the guess is right --------------------------------------------------------------


def is_right_to_stop(one):
    """Ask until the rule of thumb stops; was every category met?"""
    asker = strategy_named(DEFAULT_STRATEGY).start(Preparation(one.X))
    labels = []
    while not labels or stopping_advice(labels, len(one.X)).questions_left:
        row = asker.propose().row
        labels.append(str(one.labels[row]))
        asker.observe(Answer(row, labels[-1]))
    return set(labels) == set(one.labels)


def drawn(n_seeds, draw):
    return [
        one for seed in range(n_seeds) for one in draw(seed).values() if one.is_drawn or seed == 0
    ]


@pytest.mark.soak
def test_the_rule_is_right_as_often_as_it_says(data_folder, long_bar):
    """Whole, the counts are those of the sentence; 2 of them may be other on another machine."""
    tables = (
        drawn(long_bar(18), lambda seed: discovery_sets(data_folder, seed)),
        drawn(long_bar(8), held_out_sets),
    )
    for trial, sets in zip(TRIALS, tables, strict=True):
        n_right = sum(is_right_to_stop(one) for one in sets)
        print(f"{trial.tables}: right on {n_right} of {len(sets)}")
        if len(sets) == trial.n_draws:
            assert abs(n_right - trial.n_right) <= 2
        else:
            assert n_right >= 0.5 * len(sets)
