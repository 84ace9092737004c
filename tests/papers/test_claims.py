"""Claims, verdicts and data files that all reproductions share."""

import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.papers.claims import (
    Spread,
    checked_names,
    claim_over_draws,
    read_labelled_file,
    text_by_method,
    verdict,
    verdict_over_sets,
)
from tests.papers import messages


def test_a_figure_counts_as_reproduced_within_two_deviations():
    spread = Spread.of([1.0, 2.0, 3.0])
    assert spread == (2.0, 1.0)
    assert spread.written(1) == "2.0 ± 1.0"
    assert [spread.holds(figure) for figure in (-0.1, 0.0, 4.0, 4.1)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((True, True, "on most"), "reproduced"),
        ((False, True, "on most"), "partly: on most"),
        ((False, True), "partly"),
        ((False, False, "on most"), "not reproduced"),
    ],
)
def test_verdicts(arguments, expected):
    assert verdict(*arguments) == expected


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        ([True, True], "reproduced"),
        ([True, False], "partly: on 1 of 2 sets"),
        ([False, False], "not reproduced"),
    ],
)
def test_a_claim_about_sets_may_hold_on_some(holds, expected):
    assert verdict_over_sets(pd.Series(holds)) == expected


def test_a_claim_about_draws_must_hold_in_more_than_half():
    half = pd.Series([True, False])
    assert claim_over_draws("c", half)[1:] == ("yes", "in 50 % of the draws", "not reproduced")
    weaker = claim_over_draws("c", half, pd.Series([True, True]), "no larger")
    assert weaker.ours == "in 50 % of the draws, no larger in 100 %"
    assert weaker.verdict == "partly: no larger in most"


def test_texts_stand_in_one_column_for_each_method():
    means = pd.DataFrame({"set": ["b", "b", "a"], "method": ["m", "n", "m"]})
    wide = text_by_method(means, ["1", "2", "3"], "set", ["n", "m", "absent"])
    assert wide.columns.tolist() == ["set", "n", "m"]
    assert wide["m"].tolist() == ["1", "3"]


def test_names_and_files_that_are_missing_are_rejected(tmp_path):
    with pytest.raises(InputError) as caught:
        checked_names("titanic", ("iris", "wine"))
    assert str(caught.value) == messages.NO_DATA_SET.format(name="titanic", known="iris, wine")
    with pytest.raises(InputError) as caught:
        read_labelled_file(tmp_path / "iris.parquet")
    assert str(caught.value) == messages.NO_FILE.format(file="iris.parquet", folder=tmp_path)
