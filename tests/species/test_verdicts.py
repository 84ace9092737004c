import pandas as pd
import pytest

from kernova.species.space import SpeciesSettings
from kernova.species.verdicts import HALVES, WHOLE, specimens_needed, verdict_on

POOLED = {
    "e_star": 0.1,
    "e_star_spread": 0.01,
    "detection_rate": 0.9,
    "false_alarm_bound": 0.1,
    "equal_error_rate": 0.05,
    "n_holdout": 900.0,
}


def pairs(*lines):
    """Name, equal error rate, p-value and smallest possible p-value of each known group."""
    columns = ["known", "equal_error_rate", "p_value", "smallest_p_value"]
    table = pd.DataFrame(lines, columns=columns)
    return table.assign(
        specimens=12,
        n_holdout=6,
        equal_error_rate_spread=0.01,
        auroc=1 - table["equal_error_rate"],
        exact_false_alarm_bound=0.4,
        exact_detection_at_least=0.5,
        test=WHOLE,
    )


@pytest.mark.parametrize(
    ("lines", "kind", "closest"),
    [
        ([("a", 0.1, 0.01, 0.001), ("b", 0.0, 0.001, 0.001)], "looks new", "a"),
        # One group that is not rejected is enough, close or not.
        ([("a", 0.1, 0.06, 0.001), ("b", 0.0, 0.001, 0.001)], "too few specimens to say", "a"),
        ([("a", 0.1, 0.01, 0.001), ("b", 0.0, 0.06, 0.001)], "too few specimens to say", "a"),
        ([("a", 0.1, 0.01, 0.001), ("b", 0.0, 0.06, 0.06)], "too few specimens to say", "a"),
        # Different, but hardly separable.
        ([("a", 0.4, 0.001, 0.001), ("b", 0.0, 0.001, 0.001)], "not separable", "a"),
        ([("a", 0.4, 0.5, 0.001)], "not separable", "a"),
        # So few that even full separation would prove nothing: errors prove nothing either.
        ([("a", 0.4, 0.5, 0.06)], "too few specimens to say", "a"),
    ],
)
def test_verdict_follows_from_the_hardest_group_and_from_every_test(lines, kind, closest):
    verdict = verdict_on("x", 8, POOLED, pairs(*lines), [], SpeciesSettings())

    assert (verdict.kind, verdict.closest) == (kind, closest)
    assert verdict.p_value == max(line[2] for line in lines)
    assert "x" in verdict.sentence
    assert len(verdict.reasons) == 4 + (kind == "not separable" and lines[0][2] <= 0.05)


def test_groups_that_differ_on_average_only_are_noted():
    table = pairs(("a", 0.4, 0.001, 0.001), ("b", 0.0, 0.001, 0.001))

    assert verdict_on("x", 8, POOLED, table, [], SpeciesSettings()).reasons[0] == (
        "As groups, it and a differ, but by so little that single specimens cannot be "
        "distinguished."
    )


def test_one_group_and_one_specimen_are_in_the_singular():
    table = pairs(("a", 0.1, 0.0002, 0.0001)).assign(equal_error_rate_spread=3e-17)
    pooled = {**POOLED, "e_star_spread": 3e-17}

    verdict = verdict_on("x", 1, pooled, table, [], SpeciesSettings())

    assert verdict.sentence == (
        "x looks new: at 95% confidence its 1 specimen is not of a, the only known group compared."
    )
    assert verdict.reasons[:2] == (
        "The closest known group is a: for single specimens, both error rates are 0.100.",
        "If the specimens belonged to a, a difference as large as this would have a probability of "
        "at most 0.0002.",
    )
    assert verdict.reasons[3].startswith("Against all known groups together, e* is 0.100: 0.900 of")


def test_level_is_one_minus_the_confidence():
    table = pairs(("a", 0.1, 0.03, 0.001))

    for confidence, kind in ((0.95, "looks new"), (0.99, "too few specimens to say")):
        settings = SpeciesSettings(confidence=confidence)
        assert verdict_on("x", 8, POOLED, table, [], settings).kind == kind


def test_inseparable_groups_are_all_named():
    lines = [(name, 0.4, 0.5, 0.001) for name in "abcdef"]

    sentence = verdict_on("x", 8, POOLED, pairs(*lines), [], SpeciesSettings()).sentence

    assert sentence == (
        "x is not separable from a, b, c, d and 2 more: no threshold on depth gets both error "
        "rates below 0.400."
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"auroc": 1.0}, 2),
        # 12 * 12 n / (13 + n) >= (1.645 / 0.25)^2
        ({"auroc": 0.75}, 6),
        # 12 * 6 n / (7 + n) >= (1.960 / 0.25)^2
        ({"auroc": 0.75, "test": HALVES}, 41),
        ({"auroc": 0.6}, None),
        ({"auroc": 0.4}, None),
        ({"auroc": 1.0, "specimens": 1}, 19),
    ],
)
def test_more_specimens_are_needed_the_more_alike_groups_are(changes, expected):
    pair = pairs(("a", 0.0, 0.5, 0.001)).iloc[0].copy()
    for name, value in changes.items():
        pair[name] = value

    assert specimens_needed(pair, SpeciesSettings()) == expected
