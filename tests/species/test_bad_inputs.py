"""Invalid inputs of a species study, each with its whole message."""

import numpy as np
import pytest

from kernova import InputError
from kernova.shapes import Landmarks
from kernova.species.covariates import Covariates
from kernova.species.inputs import Specimens, check_landmarks, check_one_question, groups_of
from kernova.species.results import answer_specimens, answer_unknown
from kernova.species.space import SpeciesSettings
from kernova.species.specimens import judge_specimens
from kernova.species.study import study_each, study_unknown
from tests.species.drawn_shapes import drawn

FISH, GROUPS = drawn({"a": 8, "b": 8})
POINT = Landmarks(FISH.ids, np.where(np.arange(16)[:, None, None] == 3, 1.0, FISH.coordinates))
TABLE = Specimens(FISH, None)
SIMILAR, _ = drawn({"a": 8, "new": 8}, seed=1)
QUESTION = (
    "Set exactly one of unknown=NAME (is this group new?), each=True (would each group look new?) "
    "and test=FILE (are single specimens new?); got {}."
)

BAD_INPUTS = [
    (lambda: check_one_question(None, False, None), QUESTION.format("none")),
    (lambda: check_one_question("a", False, "b.tps"), QUESTION.format("`unknown` and `test`")),
    (
        lambda: check_one_question(None, False, "b.tps", ["sex"]),
        "Single specimens are tested without covariates, which adjust the comparison of groups. "
        "Leave out `covariate`, or test a group with unknown=NAME or each=True.",
    ),
    (
        lambda: groups_of(TABLE, id_pattern="(a)", group_column="species"),
        "Groups come either from a column or from a pattern in the ids. Use `id_pattern` without "
        "`groups` and `group_column`, or leave it out.",
    ),
    (
        lambda: groups_of(TABLE, groups="groups.csv"),
        "The column of groups in groups.csv is not named; set group_column.",
    ),
    (
        lambda: groups_of(TABLE),
        "The groups of the specimens of the specimens are not known. Set `groups` with "
        "`group_column`, or `id_pattern`.",
    ),
    (
        lambda: check_landmarks(Landmarks(("x",), np.ones((1, 2, 2)))),
        "The specimens of the specimens have 2 landmarks each; to compare shapes takes at least 3.",
    ),
    (
        lambda: answer_unknown(SIMILAR, ["a"] * 8 + ["new"] * 8, "NEW"),
        "No specimen belongs to a group 'NEW'. Similar names: 'new'.",
    ),
    (
        lambda: answer_specimens(FISH, GROUPS.tolist(), FISH.take([2])),
        "1 of 1 specimens of the specimens are in the specimens too, coordinate for coordinate: "
        "'s2' is 's2'. Leave them out of one of the files.",
    ),
    (
        lambda: answer_specimens(FISH.take([0, 1]), ["p", "q"], SIMILAR.take([2])),
        "There are too few known specimens: 2, no two of one group. Half of a group is learnt "
        "from and half is held out, so some group must have 2 or more.",
    ),
    (
        lambda: study_unknown(FISH, GROUPS, "z"),
        "No specimen belongs to a group 'z'. There are 'a', 'b'.",
    ),
    (
        lambda: study_unknown(FISH, ["a"] * 16, "a"),
        "All specimens are of 'a', so nothing is known to compare them with.",
    ),
    (
        lambda: study_unknown(
            FISH, GROUPS, "a", SpeciesSettings(size=True), Covariates(has_size=True)
        ),
        "Centroid size is either one of the variables to compare or a covariate to adjust for. "
        "Leave out size=True, or the covariate size.",
    ),
    (
        lambda: study_each(FISH, ["a"] * 16),
        "All specimens are of 'a', so nothing is known to compare them with.",
    ),
    (
        lambda: study_each(FISH, GROUPS, least_specimens=9),
        "No group has 9 specimens; the largest has 8. Reduce least_specimens.",
    ),
    (
        lambda: study_unknown(FISH, GROUPS[1:], "a"),
        "There are 16 specimens but 15 groups; give one group per specimen.",
    ),
    (
        lambda: study_unknown(FISH, ["x"] * 8 + list("abcdefgh"), "x"),
        "There are too few known specimens beside 'x': 8, no two of one group. Half of a group "
        "is learnt from and half is held out, so some group must have 2 or more.",
    ),
    (
        lambda: study_each(FISH, ["x"] * 8 + list("abcdefgh"), least_specimens=2),
        "There are too few known specimens beside 'x': 8, no two of one group. Half of a group "
        "is learnt from and half is held out, so some group must have 2 or more.",
    ),
    (
        lambda: judge_specimens(FISH, list("abcdefghijklmnop"), POINT),
        "There are too few known specimens: 16, no two of one group. Half of a group is learnt "
        "from and half is held out, so some group must have 2 or more.",
    ),
    (
        lambda: study_unknown(POINT, GROUPS, "a"),
        "Specimen 's3' of the specimens has no shape: it shows fewer than 2 landmarks, or all "
        "of them coincide. Leave it out.",
    ),
    (
        lambda: judge_specimens(FISH, GROUPS, Landmarks(("x",), np.ones((1, 4, 2)))),
        "The known specimens (the specimens) have 9 landmarks of 2 coordinates, but the new ones "
        "(the specimens) have 4 of 2. Digitise the same landmarks.",
    ),
    (
        lambda: SpeciesSettings(halvings=0),
        "halvings must be a whole number of at least 1; got 0.",
    ),
    (
        lambda: SpeciesSettings(confidence=1),
        "confidence must be a number above 0 and below 1; got 1.",
    ),
    (
        lambda: SpeciesSettings(confidence=0.4),
        "The confidence must be at least 0.5; got 0.4.",
    ),
    (
        lambda: SpeciesSettings(weighting="all"),
        "weighting is 'all'; choose one of within, none.",
    ),
    (
        lambda: SpeciesSettings(score="novelty"),
        "score is 'novelty'; choose one of likelihood-ratio, neighbors, mahalanobis, depth.",
    ),
    (
        lambda: SpeciesSettings(least_group=3),
        "least_group must be a whole number of at least 4; got 3.",
    ),
    (
        lambda: SpeciesSettings(largest_error=0),
        "largest_error must be a number above 0 and below 1; got 0.",
    ),
    (
        lambda: SpeciesSettings(seed=-1),
        "The seed must be a whole number of at least 0; got -1.",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD_INPUTS, ids=[case[1][:60] for case in BAD_INPUTS])
def test_bad_input_raises_with_the_whole_message(call, message):
    with pytest.raises(InputError) as raised:
        call()

    assert str(raised.value) == message
