"""Baselines of rare-category detection as published, by name, with what each is told.

================  =============================  ===================================================
name              told                           method
================  =============================  ===================================================
``malice``        priors                         drops in the number of near rows, by category
``malice-ladder`` nothing                        the same for assumed sizes in turns
``nndm``          nothing                        the project's own form of it, for assumed sizes
``grade``         priors                         drops in the number of similar rows on a graph
``grade-li``      upper bound                    the same with one threshold
``seder``         nothing                        where a density of separate columns is steepest
``k-means``       nothing                        rows nearest to 2, 4, 8, ... centres
``farthest-first``  nothing                      rows farthest from those asked
``uncertainty``   nothing                        smallest margin of a logistic regression
``pine-forest``   nothing                        isolation forest of trees that agree with answers
``aad-forest``    nothing                        isolation forest with leaves weighted by answers
``interleave``    number of categories           components of a mixture take turns
``ms-interleave`` nothing                        clusters of mean shift take turns
``hms-…``         nothing                        nodes of the hierarchy of mean shift
``random``        nothing                        random sampling
================  =============================  ===================================================

What a baseline is told is computed from the true labels, so it stands for what an expert who knows
the field would have said beforehand.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.discover.questions import Strategy
from kernova.discover.strategies import strategy_named
from kernova.discover.strategies.interleave import Interleave
from kernova.proving.baselines.asking import fractions_of
from kernova.proving.baselines.coverage import FarthestFirst, KMeansCoverage
from kernova.proving.baselines.forests import AnomalyFeedbackForest, PineForest
from kernova.proving.baselines.grade import GradeByBound, GradeByPriors
from kernova.proving.baselines.malice import MaliceByLadder, MaliceByPriors
from kernova.proving.baselines.seder import Seder
from kernova.proving.baselines.uncertainty import UncertaintySampling

__all__ = ["BASELINES", "Baseline", "Told"]

Told = Literal["nothing", "n_classes", "priors", "upper bound"]
Labels = NDArray[Any]


class Baseline(NamedTuple):
    """A baseline: how its strategy is made for the true labels, and what that reveals of them."""

    make: Callable[[Labels], Strategy]
    told: Told = "nothing"


def _named(name: str) -> Baseline:
    return Baseline(lambda labels: strategy_named(name))


def _bound(labels: Labels) -> float:
    """Return the fraction of the second most frequent category, or of the only one."""
    fractions = sorted(fractions_of(labels).values())
    return fractions[-2:][0]


BASELINES: Final[dict[str, Baseline]] = {
    "malice": Baseline(lambda labels: MaliceByPriors(fractions_of(labels)), "priors"),
    "malice-ladder": Baseline(lambda labels: MaliceByLadder()),
    "nndm": _named("nndm"),
    "grade": Baseline(lambda labels: GradeByPriors(fractions_of(labels)), "priors"),
    "grade-li": Baseline(lambda labels: GradeByBound(_bound(labels)), "upper bound"),
    "seder": Baseline(lambda labels: Seder()),
    "k-means": Baseline(lambda labels: KMeansCoverage()),
    "farthest-first": Baseline(lambda labels: FarthestFirst()),
    "uncertainty": Baseline(lambda labels: UncertaintySampling()),
    "pine-forest": Baseline(lambda labels: PineForest()),
    "aad-forest": Baseline(lambda labels: AnomalyFeedbackForest()),
    "interleave": Baseline(lambda labels: Interleave(len(np.unique(labels))), "n_classes"),
    "ms-interleave": _named("ms-interleave"),
    "hms-out": _named("hms-out"),
    "hms-out-had": _named("hms-out-had"),
    "hms-ci": _named("hms-ci"),
    "hms-ci-had": _named("hms-ci-had"),
    "random": _named("random"),
}
