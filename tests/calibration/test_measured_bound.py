"""The bound on false alarms, measured: how often it is broken, and what is detected under it.

Simulated rows are drawn with replacement from a fixed population, so that the true rate of false
alarms is counted, not estimated. Real rows are drawn without replacement; the number of alarms
among the ordinary rows that were left over then has a known law, to which it is compared.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.stats import betabinom, binomtest
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernova import CalibratedDetector, KernelSpatialDepth
from kernova.calibration.bounds import allowed_false_alarms

DETECTORS = [
    IsolationForest(n_estimators=25),
    LocalOutlierFactor(novelty=True),
    KernelSpatialDepth(),
]
WAYS = {
    "half": {"holdout": 0.5},
    "auto": {"holdout": "auto"},
    "cross": {"calibration": "cross"},
}
N_ROWS = 400


def _population(n_rows=2000):
    """Draw rows of two skewed groups, one of them rare, with a discrete column."""
    random = np.random.default_rng(17)
    is_rare = random.random(n_rows) < 0.1
    skewed = random.gamma(2.0, size=(n_rows, 2)) + 6.0 * is_rare[:, np.newaxis]
    return np.column_stack([skewed, random.integers(0, 4, size=n_rows)])


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS)
def test_the_bound_is_broken_no_more_often_than_stated(way, long_bar):
    population, random = _population(), np.random.default_rng(5)
    n_repetitions, n_broken, rates = long_bar(1000), 0, []
    for number in range(n_repetitions):
        rows = population[random.integers(0, len(population), size=N_ROWS)]
        detector = DETECTORS[number % len(DETECTORS)]
        calibrated = CalibratedDetector(detector, random_state=number, **WAYS[way]).fit(rows)
        rate = np.mean(calibrated.judge(population).is_novel)
        rates.append(rate)
        n_broken += rate > calibrated.false_alarm_bound_
    print(
        f"{way}: broken in {n_broken} of {n_repetitions}, mean rate {np.mean(rates):.4f}, "
        f"standard deviation {np.std(rates):.4f}"
    )
    assert binomtest(n_broken, n_repetitions, 0.05, alternative="greater").pvalue > 1e-3


class _Real(NamedTuple):
    n_broken: int
    n_expected: float  # by the law of the hold-out
    detected: float  # mean fraction of the novel rows
    attainable: float  # with all rows learnt from, and the threshold chosen on the truth


def _tables(folder):
    """Read the tables at even places of the index that have many ordinary and novel rows."""
    index = pd.read_csv(folder / "index.csv").iloc[::2]
    index = index[(index.known == 2000) & (index.novel >= 300)].head(10)
    for one in index.itertuples():
        with np.load(folder / f"{one.source}-{one.name}.npz") as table:
            known, new, is_novel = table["known"], table["new"], table["is_novel"] == 1
        yield known.astype(float), new[is_novel].astype(float)


def _measured(way, known, novel, n_splits, seed):
    random, broken, expected, detected, attainable = np.random.default_rng(seed), 0, 0.0, [], []
    for number in range(n_splits):
        shuffled = known[random.permutation(len(known))]
        rows, rest = shuffled[:N_ROWS], shuffled[N_ROWS:]
        detector = make_pipeline(StandardScaler(), clone(DETECTORS[number % len(DETECTORS)]))
        calibrated = CalibratedDetector(detector, random_state=number, **WAYS[way]).fit(rows)
        false_alarms = calibrated.judge(rest).is_novel
        broken += false_alarms.mean() > calibrated.false_alarm_bound_
        m = len(calibrated.holdout_indices_)
        r = allowed_false_alarms(m, 0.05)
        limit = calibrated.false_alarm_bound_ * len(rest)
        expected += betabinom.sf(np.floor(limit), len(rest), r + 1, m - r)
        detected.append(calibrated.judge(novel).is_novel.mean())
        whole = clone(calibrated.estimator_).fit(rows)
        scores = np.sort(whole.score_samples(rest))
        # The highest threshold without a further false alarm is just below this score.
        attainable.append(np.mean(whole.score_samples(novel) < scores[false_alarms.sum()]))
    return _Real(broken, expected, np.mean(detected), np.mean(attainable))


@pytest.mark.soak
@pytest.mark.parametrize("way", WAYS)
def test_the_bound_and_what_is_detected_on_real_rows(way, data_folder, long_bar):
    folder = data_folder / "novelty_tables"
    if not folder.is_dir():
        pytest.skip("no novelty_tables in the data folder")
    n_splits = long_bar(30)
    found = [
        _measured(way, known, novel, n_splits, seed)
        for seed, (known, novel) in enumerate(_tables(folder))
    ]
    n_all = n_splits * len(found)
    n_broken, n_expected = (sum(one[i] for one in found) for i in (0, 1))
    detected, attainable = (float(np.mean([one[i] for one in found])) for i in (2, 3))
    print(
        f"{way}: broken in {n_broken} of {n_all} ({n_expected:.1f} by the law of the hold-out), "
        f"detected {detected:.3f}, attainable {attainable:.3f}, ratio {detected / attainable:.3f}"
    )
    chance = min(max(n_expected / n_all, 0.05), 1.0)
    assert binomtest(n_broken, n_all, chance, alternative="greater").pvalue > 1e-3
    assert detected >= 0.9 * attainable
