"""Several detectors side by side: ranks, correlations and rows that they share."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from kernova import InputError
from kernova.workflows.agreement import agreement_of, compare_methods, member_agreement
from kernova.workflows.settings import OutlierSettings
from kernova.workflows.verdicts import JudgedPart
from tests.workflows.messages import COMPARED
from tests.workflows.test_outliers import table


def test_correlations_and_shared_rows_are_those_of_the_definitions():
    random = np.random.default_rng(0)
    scores = pd.DataFrame(random.normal(size=(60, 3)).round(1), columns=["a", "b", "c"])
    agreement = agreement_of(scores, np.arange(60), n_first=7)
    np.testing.assert_allclose(agreement.correlations, spearmanr(scores).statistic, atol=1e-12)
    first = {name: set(np.flatnonzero(scores[name].rank(ascending=False, method="min") <= 7))
             for name in scores}  # fmt: skip
    for one in scores:
        for other in scores:
            assert agreement.shared.loc[one, other] == len(first[one] & first[other])
    for row in range(60):
        assert agreement.agreeing(row) == [name for name in scores if row in first[name]]


def test_a_detector_to_which_all_rows_are_alike_correlates_with_none():
    scores = pd.DataFrame({"a": [1.0, 2.0, 3.0], "flat": [1.0] * 3})
    assert agreement_of(scores, np.arange(2), 1).correlations.loc["a", "flat"] == 0


def test_all_methods_rank_the_planted_rows_first(tmp_path):
    result = compare_methods(table(tmp_path), OutlierSettings(top=3))
    assert sorted(result.rows.index[:3]) == [0, 1, 2]
    assert (result.rows["agreeing"].head(3) >= 5).all()
    assert result.summary == COMPARED[0]
    assert result.rows["rank"].tolist() == list(range(1, 201))


def test_no_verdicts_from_all_methods(tmp_path):
    with pytest.raises(InputError) as caught:
        compare_methods(table(tmp_path), OutlierSettings(contamination=0.1))
    assert str(caught.value) == COMPARED[1]


class Ensemble:
    """Stands for an ensemble whose members each look at one column."""

    def __init__(self, rows):
        self.rows = rows

    def member_scores(self, X=None):
        return pd.DataFrame(self.rows if X is None else X).abs()


def test_members_of_two_halves_are_compared_together():
    features = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    halves = [np.arange(0, 20, 2), np.arange(1, 20, 2)]
    parts = [JudgedPart([Ensemble(features)], half, np.zeros(10), 0.0) for half in halves]
    whole = JudgedPart([Ensemble(features)], np.arange(20), np.zeros(20), None)
    shown = np.array([3, 8])
    together, alone = (member_agreement(one, features, shown) for one in (parts, [whole]))
    pd.testing.assert_frame_equal(together.ranks, alone.ranks)
    pd.testing.assert_frame_equal(together.correlations, alone.correlations)
    assert member_agreement([whole._replace(model=["no ensemble"])], features, shown) is None
