"""Estimates of what is unmet, literally: from the labels in the order of the questions."""

import math

SPARE, SIZE_POWER, SMALL_CATEGORY = 0.3, 0.75, 0.01


def counts(labels, known_before=()):
    """Categories asked about once, and the sum of the numbers of the first answers of each."""
    named = [label for label in labels if label is not None]
    new = {label for label in named if label not in known_before}
    n_once = sum(named.count(label) == 1 for label in new)
    return n_once, sum(named.index(label) + 1 for label in new)


def unmet(n_named, n_once, sum_of_firsts, n_rows, n_unlabelled, fit):
    """The expected number, and both limits before they are rounded down."""
    in_the_long_run = fit.once * n_once + fit.late * (sum_of_firsts / n_named)
    expected = in_the_long_run * (n_named + 20) / n_named
    unlabelled = n_unlabelled / n_rows
    most = fit.most * (expected + SPARE) * unlabelled
    largest = fit.largest * (expected + SPARE) * unlabelled / n_named**SIZE_POWER * n_rows
    return expected * unlabelled, most, largest


def limits(most, largest, n_unlabelled, rounding=0.0):
    """Both limits as whole numbers, between what can be."""
    return (
        min(math.floor(most + rounding), n_unlabelled),
        max(1, min(math.floor(largest + rounding), n_unlabelled)),
    )


def answers_left(n_named, n_once, sum_of_firsts, n_rows, n_unlabelled, fit, rounding=0.0):
    """How many more answers, one by one, until there are 50, and the limit of sizes is small."""
    for n_more in range(n_unlabelled):
        n, left = n_named + n_more, n_unlabelled - n_more
        if n < 50:
            continue
        _, most, largest = unmet(n, n_once, sum_of_firsts, n_rows, left, fit)
        if limits(most, largest, left, rounding)[1] <= max(1, SMALL_CATEGORY * n_rows):
            return n_more
    return n_unlabelled
