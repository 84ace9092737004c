"""Samples to learn from, announcements of long studies: never silent, never without end."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import LocalOutlierFactor

from kernova import load_model, save_model
from kernova.progress import announcing
from kernova.tables.table import Table
from kernova.workflows import detectors, effort
from kernova.workflows.effort import SampledDetector, most_fitted_rows
from kernova.workflows.novelty import find_novelties
from kernova.workflows.novelty_page import novelty_page
from kernova.workflows.outliers import find_outliers
from kernova.workflows.settings import NoveltySettings, OutlierSettings
from tests.workflows.messages import SAMPLED


def table_of(n_rows, seed, source):
    rows = np.random.default_rng(seed).normal(size=(n_rows, 3))
    rows[:3] += 12
    features = pd.DataFrame(rows, columns=["a", "b", "c"])
    return Table(features, pd.Series(range(n_rows), name="row"), None, source)


@pytest.fixture
def few_pairs(monkeypatch):
    """Let every method learn from a thousand rows at most."""
    small = [
        one if one.most_pairs is None else dataclasses.replace(one, most_pairs=10.0)
        for one in detectors._DETECTORS
    ]
    monkeypatch.setattr(detectors, "_DETECTORS", tuple(small))


def test_a_sampled_detector_scores_its_own_rows_among_the_others():
    X = np.random.default_rng(0).normal(size=(300, 2))
    inside = LocalOutlierFactor(novelty=True)
    sampled = SampledDetector(inside, 100, "negative_outlier_factor_", random_state=0).fit(X)
    rows = sampled.sample_indices_
    again = LocalOutlierFactor(novelty=True).fit(X[rows])
    scores = sampled.score_training_rows(X)
    np.testing.assert_array_equal(scores[rows], again.negative_outlier_factor_)
    others = np.setdiff1d(np.arange(300), rows)
    np.testing.assert_allclose(scores[others], again.score_samples(X[others]))
    np.testing.assert_array_equal(
        sampled.predict(X), np.where(sampled.decision_function(X) < 0, -1, 1)
    )


@pytest.mark.parametrize("method", ["rkof", "lof", "depth"])
def test_outliers_among_a_sample(few_pairs, method):
    table = table_of(1200, 0, "many.csv")
    result = find_outliers(table, OutlierSettings(method=method, bandwidth="median", top=3))
    assert SAMPLED in result.notes
    assert sorted(result.rows.index[:3]) == [0, 1, 2]
    assert (result.rows["because"].head(3) != "").all()


def test_novelty_learns_from_a_sample_and_keeps_all_held_out_rows(few_pairs, tmp_path):
    known, new = table_of(2600, 0, "known.csv"), table_of(50, 1, "new.csv")
    result = find_novelties(known, new, NoveltySettings(method="lof", top=3))
    assert "The detector learnt from 1,000 of 2,600 rows" in result.notes[0]
    assert result.notes[0].endswith("held-out rows are scored by the same detector.")
    assert len(result.detector.holdout_scores_) == 1260
    assert result.is_novel[:3].all()
    assert "lof" in novelty_page(result)
    save_model(result.detector, tmp_path / "m.kernova")
    again = load_model(tmp_path / "m.kernova")
    np.testing.assert_array_equal(again.score_samples(new.features), result.scores)


def test_the_size_alone_decides():
    rkof = detectors.detector_named("rkof", "outliers")
    forest = detectors.detector_named("isolation-forest", "outliers")
    assert most_fitted_rows(rkof, 100_000, 100_000) is None
    assert most_fitted_rows(rkof, 1_000_000, 1_000_000) == 10_000
    assert most_fitted_rows(forest, 10**9, 10**9) is None


def test_long_studies_are_announced(monkeypatch):
    table, said = table_of(400, 0, "many.csv"), []
    monkeypatch.setattr(effort, "_SECONDS_WORTH_SAYING", 0.0)
    with announcing(said.append):
        find_outliers(table, OutlierSettings(top=0))
        assert said == []
        monkeypatch.setattr(effort, "_ROWS_WORTH_TIMING", 300)
        find_outliers(table, OutlierSettings(top=0))
        find_novelties(table, table, NoveltySettings(top=0))
    assert [one.rpartition(" about ")[0] for one in said] == [
        "Judging 400 rows of 3 columns by the method ensemble will take",
        "Judging 800 rows of 3 columns by the method ensemble will take",
    ]
