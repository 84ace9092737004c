"""Comparison of strategies over problems: tables from the measures of runs.

A problem counts once, by the geometric mean of questions over its draws (for the area, the mean).
Over problems, counts are compared by geometric means of ratios, with percentile intervals of 95 %
from a bootstrap over problems. A strategy that failed on some draw of a problem has no figure for
that problem. Those that are told something of the labels take no part in the best of a problem.

Tables are made from runs with the columns problem, draw, strategy, told, error_rate, questions,
questions_90 and area; strategies and problems keep their order.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from kernova.typing import Vector

COUNTS: Final = ("questions", "questions_90")
NOTHING, RANDOM = "nothing", "random"
# Ratios to the best strategy that are counted.
NEAR, FAR = 1.5, 2.5
_RESAMPLES: Final = 10_000
_SEED: Final = 0
_CONFIDENCE: Final = 0.95
# Ratios of counts are rounded: 3 is not more than 2 * 1.5.
_ROUNDING: Final = 1 + 1e-9


class Interval(NamedTuple):
    """An estimate over problems, and its interval."""

    middle: float
    low: float
    high: float


# --- estimates over problems -----------------------------------------------------------------


def mean_interval(values: Iterable[float]) -> Interval:
    """Return the mean over problems with its bootstrap interval; the same in every call.

    Examples
    --------
    >>> from kernova.proving.comparison import mean_interval
    >>> mean_interval([0.0, 2.0])
    Interval(middle=1.0, low=0.0, high=2.0)
    """
    known: Vector = np.asarray(list(values), dtype=np.float64)
    if len(known) == 0:
        return Interval(np.nan, np.nan, np.nan)
    rows = np.random.default_rng(_SEED).integers(len(known), size=(_RESAMPLES, len(known)))
    tail = (1 - _CONFIDENCE) / 2
    low, high = np.quantile(known[rows].mean(axis=1), [tail, 1 - tail])
    return Interval(float(known.mean()), float(low), float(high))


def geometric_interval(values: Iterable[float]) -> Interval:
    """Return the geometric mean over problems with its bootstrap interval.

    Examples
    --------
    >>> from kernova.proving.comparison import geometric_interval
    >>> [round(value, 6) for value in geometric_interval([1.0, 4.0])]
    [2.0, 1.0, 4.0]
    """
    return Interval(*np.exp(mean_interval(np.log(list(values)))).tolist())


def signed_rank_p(ratios: Iterable[float]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test that log ratios centre on 0.

    Ratios of 1 are left out; if there is no other, it is 1.

    Examples
    --------
    >>> from kernova.proving.comparison import signed_rank_p
    >>> signed_rank_p([2.0, 3.0, 5.0, 1.0])
    0.25
    """
    logs = np.log(list(ratios))
    logs = logs[logs != 0]
    return float(wilcoxon(logs).pvalue) if len(logs) else 1.0


# --- by problem ------------------------------------------------------------------------------


def means_by_problem(runs: pd.DataFrame) -> pd.DataFrame:
    """Return one line for each problem, strategy and error rate: means over the draws."""
    logs = runs.assign(**{name: np.log(runs[name]) for name in COUNTS})
    keys = ["problem", "strategy", "told", "error_rate"]
    grouped = logs.groupby(keys, sort=False)
    means = grouped[[*COUNTS, "area"]].mean()
    means[list(COUNTS)] = np.exp(means[list(COUNTS)])
    means.insert(0, "draws", grouped.size())
    means = means.reset_index()
    # The other draws may have been easier.
    is_whole = means["draws"] == means.groupby("problem")["draws"].transform("max")
    return means[is_whole].reset_index(drop=True)


def by_strategy(means: pd.DataFrame, measure: str, error_rate: float = 0.0) -> pd.DataFrame:
    """Return a measure with one line for each problem and one column for each strategy."""
    lines = means[means["error_rate"] == error_rate]
    wide = lines.pivot_table(measure, index="problem", columns="strategy", sort=False)
    return wide.rename_axis(columns=None)


def told_by_strategy(means: pd.DataFrame) -> dict[str, str]:
    """Return what each strategy is told, those that are told nothing first."""
    lines = means.drop_duplicates("strategy")
    told = dict(zip(lines["strategy"], lines["told"], strict=True))
    return {name: told[name] for name in sorted(told, key=lambda name: told[name] != NOTHING)}


# --- over problems ---------------------------------------------------------------------------


def overall(means: pd.DataFrame) -> pd.DataFrame:
    """Return means over problems with intervals, and questions relative to random sampling."""
    means = means[means["error_rate"] == 0]
    wide = {measure: by_strategy(means, measure) for measure in (*COUNTS, "area")}
    lines = []
    for name, told in told_by_strategy(means).items():
        line: dict[str, Any] = {"strategy": name, "told": told}
        line["problems"] = int(wide["questions"][name].count())
        relative = (wide["questions"][name] / wide["questions"][RANDOM]).dropna()
        line |= _columns("to_random", geometric_interval(relative))
        for measure in COUNTS:
            line |= _columns(measure, geometric_interval(wide[measure][name].dropna()))
        line |= _columns("area", mean_interval(wide["area"][name].dropna()))
        lines.append(line)
    return pd.DataFrame(lines)


def pairs(means: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return ratios of the questions of each other strategy to those of the reference."""
    means = means[means["error_rate"] == 0]
    lines = []
    for measure in COUNTS:
        wide = by_strategy(means, measure)
        for name, told in told_by_strategy(means).items():
            ratios = (wide[name] / wide[reference]).dropna()
            if name != reference and len(ratios):
                lines.append(
                    {
                        "strategy": name,
                        "told": told,
                        "measure": measure,
                        "problems": len(ratios),
                        **_columns("ratio", geometric_interval(ratios)),
                        "p": signed_rank_p(ratios),
                        "worse": int((ratios > 1).sum()),
                        "equal": int((ratios == 1).sum()),
                        "better": int((ratios < 1).sum()),
                    }
                )
    return pd.DataFrame(lines)


def best_by_problem(means: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the fewest questions by problem of all that are told nothing, and the reference's."""
    wide = _told_nothing(means)
    best = wide.min(axis=1)
    found = pd.DataFrame(
        {
            "problem": wide.index,
            "best_strategy": wide.idxmin(axis=1).to_numpy(),
            "best": best.to_numpy(),
            "reference": wide[reference].to_numpy(),
            "random": wide[RANDOM].to_numpy(),
            "ratio": (wide[reference] / best).to_numpy(),
        }
    )
    return found.sort_values("ratio", ascending=False, kind="stable", ignore_index=True)


def ratios_to_best(means: pd.DataFrame) -> pd.DataFrame:
    """Return for each strategy told nothing how far it is from the best of each problem."""
    wide = _told_nothing(means)
    ratios = wide.div(wide.min(axis=1), axis=0)
    lines = [
        {
            "strategy": name,
            "problems": int(column.count()),
            "largest": column.max(),
            "largest_on": column.idxmax(),
            "percentile_90": column.quantile(0.9),
            f"at_most_{NEAR:g}": int((column <= NEAR * _ROUNDING).sum()),
            f"at_most_{FAR:g}": int((column <= FAR * _ROUNDING).sum()),
        }
        for name, column in ratios.items()
    ]
    return pd.DataFrame(lines)


def worse_than_random(means: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the problems where the reference is worse than random, and some other is better."""
    found = best_by_problem(means, reference)
    is_worse = (found["reference"] > found["random"]) & (found["best"] < found["random"])
    return found[is_worse].reset_index(drop=True)


def wrong_answers(means: pd.DataFrame) -> pd.DataFrame:
    """Return ratios of questions with wrong answers to those without."""
    lines = []
    for rate in sorted(means["error_rate"].unique())[1:]:
        for measure in COUNTS:
            ratios = by_strategy(means, measure, rate) / by_strategy(means, measure)
            for name, told in told_by_strategy(means).items():
                known = ratios[name].dropna() if name in ratios else ratios.iloc[:0, 0]
                if len(known):
                    lines.append(
                        {
                            "strategy": name,
                            "told": told,
                            "error_rate": rate,
                            "measure": measure,
                            "problems": len(known),
                            **_columns("ratio", geometric_interval(known)),
                            "largest": known.max(),
                            "largest_on": known.idxmax(),
                        }
                    )
    return pd.DataFrame(lines)


# --- curves ----------------------------------------------------------------------------------


def mean_course(meetings: pd.DataFrame, strategies: Iterable[str]) -> pd.DataFrame:
    """Return the questions until each fraction of the categories is met, over problems.

    Parameters
    ----------
    meetings : DataFrame
        problem, strategy, and the question that met the first, second ... category.
    strategies : iterable of str
        Strategies to return, one column each; over the problems that all of them have. If there
        is none, the table is empty.
    """
    fractions = np.arange(1, 11) / 10
    names = list(strategies)
    lines = meetings[meetings["strategy"].isin(names)]
    logs = [_at_fractions(np.log(met), fractions) for met in lines["meetings"]]
    found = pd.DataFrame(logs, columns=fractions).assign(
        problem=lines["problem"].to_numpy(), strategy=lines["strategy"].to_numpy()
    )
    means = found.groupby(["problem", "strategy"], sort=False).mean()
    n_strategies = means.groupby("problem")[fractions[0]].transform("size")
    common = means[n_strategies == len(names)]
    return np.exp(common.groupby("strategy").mean().reindex(names).T.dropna())


def _at_fractions(met: Vector, fractions: NDArray[np.float64]) -> Vector:
    places = np.ceil(np.round(fractions * len(met), 6)).astype(np.intp) - 1
    return np.asarray(met[np.maximum(places, 0)])


# --- parts -----------------------------------------------------------------------------------


def _told_nothing(means: pd.DataFrame) -> pd.DataFrame:
    return by_strategy(means[means["told"] == NOTHING], "questions")


def _columns(name: str, interval: Interval) -> dict[str, float]:
    return {name: interval.middle, f"{name}_low": interval.low, f"{name}_high": interval.high}
