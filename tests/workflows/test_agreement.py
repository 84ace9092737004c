"""Several detectors side by side: ranks, correlations and rows that they share."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from kernova import InputError
from kernova.workflows import members
from kernova.workflows.agreement import agreement_of, compare_methods, member_agreement
from kernova.workflows.outliers import find_outliers
from kernova.workflows.outliers_page import outliers_page
from kernova.workflows.settings import OutlierSettings
from kernova.workflows.verdicts import judge_rows
from tests.workflows.messages import COMPARED, MEMBERS_ON_A_SAMPLE, UNUSED_NEIGHBORS
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


def test_members_of_two_halves_are_compared_together(tmp_path):
    data = table(tmp_path)
    result = find_outliers(data, OutlierSettings(max_false_alarm=0.1, top=3))
    assert result.members.names == list(result.member_bits.dropna(axis=1).columns)
    parts = judge_rows(data.features, result.settings).parts
    for row in result.rows.index[:3]:
        (part,) = [part for part in parts if row in part.row_indices]
        bits = part.model[-1].member_scores(data.features.iloc[[row]]).iloc[0]
        pd.testing.assert_series_equal(result.member_bits.loc[row], bits)
    members = result.to_json_dict()["explanations"][0]["members"]
    assert members == bits_of(result, result.explained[0])


def bits_of(result, row):
    return result.member_bits.loc[row].dropna().round(6).to_dict()


def test_members_that_judge_most_rows_are_compared():
    bits = pd.DataFrame(
        {"a": [9.0, 1.0, 2.0], "b": [8.0, 3.0, np.nan], "own": [np.nan, np.nan, 5.0]}
    )
    agreement = member_agreement(bits, np.array([0, 2]))
    assert agreement.ranks.to_dict("list") == {"a": [1, 2], "b": [1, 2]}
    assert member_agreement(None, np.array([0])) is None


def test_the_planted_rows_have_all_members_and_the_right_columns(tmp_path):
    result = find_outliers(table(tmp_path), OutlierSettings(top=3))
    html = outliers_page(result)
    for row in range(3):
        assert {"nearest-standard", "columns"} <= set(result.members.agreeing(row))
        spoken = (result.member_bits.loc[row] > np.log2(20)).sum()
        assert spoken >= 4
        assert result.members_sentence(row).startswith(f"{spoken} of 6 members find it more")
        assert result.members_sentence(row) in html
    other = find_outliers(table(tmp_path), OutlierSettings(method="rkof", top=3))
    assert other.members is other.member_bits is None
    assert "members" not in other.to_json_dict()["explanations"][0]


def test_many_rows_are_compared_on_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(members, "_MOST_COMPARED", 50)
    result = find_outliers(table(tmp_path), OutlierSettings(top=3))
    assert result.notes == [MEMBERS_ON_A_SAMPLE]
    assert 50 <= result.members.n_rows <= 53
    assert all("nearest-standard" in result.members.agreeing(row) for row in range(3))


def test_settings_of_other_methods_are_pointed_out(tmp_path):
    asked = OutlierSettings(n_neighbors=(5, 20), top=3)
    assert find_outliers(table(tmp_path), asked).notes == [UNUSED_NEIGHBORS]
    assert compare_methods(table(tmp_path), asked).notes == []
