"""An empirical check of the paper's Theorem 1, the bound on false alarms: how often it holds.

A bound can only be checked against the true probability of a false alarm. Here that is known to
the last digit, because the population is finite: rows are drawn with replacement from a pool of a
few thousand, so the true probability is the share of the pool at or below the threshold.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binomtest

from kernova.decide.false_alarms import false_alarm_threshold, hoeffding_upper_bound
from kernova.progress import track
from kernova.score.spatial_depth import KernelSpatialDepth
from kernova.studies.ksd_experiments import gaussian_cloud

Vector = NDArray[np.float64]

CONFIDENCE = 0.95
# The interval around the share of failures.
INTERVAL_CONFIDENCE = 0.99
N_POOL = 4000
N_REFERENCE = 50
HOLDOUTS = (50, 200, 1000)
# So that even 50 held-out rows prove it by Hoeffding's bound, which gives .173 at best.
WANTED_RATE = 0.2
# The threshold that is fixed beforehand calls this share of the reference rows novel.
FIXED_SHARE = 0.1

FIXED = "Hoeffding, threshold fixed beforehand"
CHOSEN = "Hoeffding, threshold chosen by looking"
EVERY = "Hoeffding, every threshold at once"
BINOMIAL = "binomial, alarms fixed beforehand"
# In the order of their claims, the paper's own first.
BOUNDS = (FIXED, CHOSEN, EVERY, BINOMIAL)


class BoundCheck(NamedTuple):
    """What 1,000 or so repetitions say about the bounds.

    Attributes
    ----------
    bounds : DataFrame
        One line for each bound and number of held-out rows: ``failures`` in ``repetitions``, the
        ``failure_share`` with its 99 % interval (``lowest_share``, ``highest_share``), and the
        ``slack``, the mean of bound minus true probability.
    n_looser, n_compared : int
        How often the binomial threshold was below Hoeffding's, of how many comparisons.
    """

    bounds: pd.DataFrame
    n_looser: int
    n_compared: int


class _Population(NamedTuple):
    """Depths of the whole pool, in rising order, and the threshold that was fixed with them."""

    depths: Vector
    fixed_threshold: float

    def true_rate(self, threshold: float) -> float:
        return float(np.searchsorted(self.depths, threshold, side="right")) / self.depths.size


def bound_experiment(repetitions: int, seed: int) -> BoundCheck:
    """Set thresholds on fresh references and held-out rows, and count the bounds that fail."""
    rng = np.random.default_rng([seed, 4])
    pool = gaussian_cloud(rng, N_POOL)
    lines: list[dict[str, object]] = []
    n_looser = 0
    for _ in track(range(repetitions), "Theorem 1"):
        population = _population(pool, rng)
        for n_holdout in HOLDOUTS:
            holdout = np.sort(rng.choice(population.depths, n_holdout))
            slacks = _slack_of_each_bound(population, holdout)
            lines += [
                {"bound": bound, "n_holdout": n_holdout, "slack": slack}
                for bound, slack in slacks.by_bound.items()
            ]
            n_looser += slacks.is_binomial_looser
    n_compared = repetitions * len(HOLDOUTS)
    return BoundCheck(_counted_failures(pd.DataFrame(lines)), n_looser, n_compared)


def _population(pool: NDArray[np.float64], rng: np.random.Generator) -> _Population:
    reference = rng.choice(pool, N_REFERENCE)
    model = KernelSpatialDepth(contamination=FIXED_SHARE, engine="exact").fit(reference)
    return _Population(np.sort(model.score_samples(pool)), model.offset_)


class _Slacks(NamedTuple):
    by_bound: dict[str, float]
    is_binomial_looser: bool


def _slack_of_each_bound(population: _Population, holdout: Vector) -> _Slacks:
    """Bound minus true probability; below zero where the bound failed."""
    n_alarms = int(np.searchsorted(holdout, population.fixed_threshold, side="right"))
    fixed = hoeffding_upper_bound(n_alarms, holdout.size, CONFIDENCE)
    chosen = false_alarm_threshold(holdout, WANTED_RATE, CONFIDENCE, "hoeffding")
    binomial = false_alarm_threshold(holdout, WANTED_RATE, CONFIDENCE, "binomial")
    return _Slacks(
        {
            FIXED: fixed - population.true_rate(population.fixed_threshold),
            CHOSEN: chosen.bound - population.true_rate(chosen.threshold),
            EVERY: _smallest_slack(population.depths, holdout),
            BINOMIAL: binomial.bound - population.true_rate(binomial.threshold),
        },
        binomial.threshold < chosen.threshold,
    )


def _smallest_slack(depths: Vector, holdout: Vector) -> float:
    """Slack of Hoeffding's bound at its worst threshold; rates only jump at the pool's depths."""
    true_rates = np.searchsorted(depths, depths, side="right") / depths.size
    observed_rates = np.searchsorted(holdout, depths, side="right") / holdout.size
    margin = hoeffding_upper_bound(0, holdout.size, CONFIDENCE)
    return float(margin - np.max(true_rates - observed_rates))


def _counted_failures(slacks: pd.DataFrame) -> pd.DataFrame:
    lines = []
    groups = dict(list(slacks.groupby(["bound", "n_holdout"])["slack"]))
    for bound, n_holdout in product(BOUNDS, HOLDOUTS):
        group = groups[bound, n_holdout]
        # A slack of -1e-17 is a bound met exactly.
        failures = int((group < -1e-12).sum())
        interval = binomtest(failures, len(group)).proportion_ci(INTERVAL_CONFIDENCE)
        lines.append(
            {
                "bound": bound,
                "n_holdout": n_holdout,
                "repetitions": len(group),
                "failures": failures,
                "failure_share": failures / len(group),
                "lowest_share": interval.low,
                "highest_share": interval.high,
                "slack": group.mean(),
            }
        )
    return pd.DataFrame(lines)
