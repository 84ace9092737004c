"""Samples to learn from, announcements of long studies: never silent, never without end."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline

from kernova import load_model, save_model
from kernova.progress import announcing
from kernova.tables.table import Table
from kernova.workflows import detectors, effort, outliers_page
from kernova.workflows.effort import SampledDetector, Study, most_fitted_rows
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


@pytest.fixture
def small_is_long(monkeypatch):
    """Announce every study of 300 rows or more."""
    monkeypatch.setattr(effort, "_SECONDS_WORTH_SAYING", 0.0)
    monkeypatch.setattr(effort, "_FEWEST_WITH_SAMPLES", 300)
    monkeypatch.setattr(effort, "_FEWEST_WITH_PAIRS", 300)


def test_long_studies_are_announced(small_is_long):
    table, said = table_of(400, 0, "many.csv"), []
    with announcing(said.append):
        find_outliers(table_of(299, 0, "few.csv"), OutlierSettings(top=0))
        assert said == []
        find_outliers(table, OutlierSettings(top=0))
        find_outliers(table, OutlierSettings(top=0, method="lof", max_false_alarm=0.1))
        find_novelties(table, table, NoveltySettings(top=0))
    assert [one.rpartition(" about ")[0] for one in said] == [
        "Judging 400 rows of 3 columns by the method ensemble will take",
        "Judging 400 rows of 3 columns by the method lof will take",
        "Judging 581 rows of 3 columns by the method ensemble will take",
    ]


def test_a_table_whose_sample_cannot_be_timed_is_judged_in_silence(small_is_long, monkeypatch):
    monkeypatch.setattr(effort, "_MOST_TIMED_ROWS", 1)  # no neighbour
    table, said = table_of(400, 0, "many.csv"), []
    with announcing(said.append):
        result = find_outliers(table, OutlierSettings(method="lof", top=0))
    assert len(result.rows) == 400
    assert said == []


class Worker(OutlierMixin, BaseEstimator):
    """Detector that takes a known time, by a clock of its own."""

    seconds = 0.0

    def __init__(self, fit_row=0.0, score_row=0.0, most_fitted=10**9):
        self.fit_row, self.score_row, self.most_fitted = fit_row, score_row, most_fitted

    def fit(self, X, y=None):
        self.n_ = min(len(X), self.most_fitted)
        Worker.seconds += self.fit_row * self.n_
        return self

    def score_samples(self, X):
        Worker.seconds += 0.02 + self.score_row * len(X)
        return np.zeros(len(X))


@pytest.fixture(params=[1, 3])
def load(request):
    """How long a second of the processor takes."""
    return request.param


@pytest.fixture
def estimate(monkeypatch, load):
    monkeypatch.setattr(effort.time, "process_time", lambda: Worker.seconds)
    monkeypatch.setattr(effort.time, "perf_counter", lambda: load * Worker.seconds)

    def estimate(worker, method, n_fitted, n_judged, **options):
        study = Study(detectors.detector_named(method, "outliers"), n_fitted, n_judged, **options)
        features = pd.DataFrame(np.zeros((50_000, 1)))
        return effort.estimated_seconds(lambda: make_pipeline(worker), features, study) / load

    return estimate


def test_the_estimate_extrapolates_what_grows_and_no_more(estimate):
    assert estimate(Worker(1e-3), "lof", 40_000, 0) == pytest.approx(40)
    # Its fit takes no longer for a million rows, since it draws a sample.
    drawing = Worker(1e-3, most_fitted=10_000)
    assert estimate(drawing, "ensemble", 10**6, 0) == pytest.approx(10)
    # What every call of score_samples takes is no time of its rows.
    scores = Worker(0.0, 5e-6)
    assert estimate(scores, "ensemble", 10**6, 10**6) == pytest.approx(5)
    assert estimate(scores, "lof", 4000, 10**6) == pytest.approx(5)
    # Scores of the rows of fit are computed there, and halves are fitted twice.
    both = Worker(1e-3, 5e-4)
    assert estimate(both, "lof", 40_000, 40_000, is_among=True) == pytest.approx(40)
    assert estimate(both, "lof", 20_000, 40_000, n_fits=2) == pytest.approx(60)


def test_the_map_of_very_many_rows_shows_a_sample_and_says_so(monkeypatch):
    result = find_outliers(table_of(400, 0, "many.csv"), OutlierSettings(top=3))
    assert "All rows on their first two" in outliers_page.outliers_page(result)
    monkeypatch.setattr(outliers_page, "_MOST_ON_MAP", 100)
    assert "A sample of 100 rows on their first two" in outliers_page.outliers_page(result)
    figure = outliers_page.outliers_figures(result)["map"]
    drawn = [len(one.get_offsets()) for one in figure.axes[0].collections]
    assert drawn == [sum(drawn) - 3, 3]
    assert 100 <= sum(drawn) <= 103
