"""Every method on every split, and what length-scale and ridge do."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from kernova.describe.data_description import MulticlassDataDescription
from kernova.describe.feature_scaling import feature_scaling
from kernova.describe.length_scale import median_distance
from kernova.kernels.distances import squared_distances
from kernova.progress import track
from kernova.studies.mddkm_data import LabelledSet, Split, splits
from kernova.studies.mddkm_methods import METHODS, quietly_fitted, shared_description

Matrix = NDArray[np.float64]

# Length-scales in units of the median distance between training rows.
LENGTH_SCALES: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
RIDGES: Final = (1e-8, 1e-6, 1e-4, 1e-2, 1.0)
_HEAT_SEEDS: Final = 3


class Drawn(NamedTuple):
    """A split of a set, and what it was drawn with."""

    labelled: LabelledSet
    seed: int
    split: Split


class Results(NamedTuple):
    """All that was measured.

    Attributes
    ----------
    runs : DataFrame
        Area, closed accuracy and accepted share by set, seed, held-out classes and method.
    heat : DataFrame
        Area by length-scale and ridge, by the logarithm of q, by d, and at the fitted one.
    """

    runs: pd.DataFrame
    heat: pd.DataFrame


def draws(sets: Sequence[LabelledSet], seeds: int) -> list[Drawn]:
    """Return all splits of all sets."""
    return [
        Drawn(labelled, seed, split)
        for labelled in sets
        for seed in range(seeds)
        for split in splits(labelled, seed)
    ]


def measure(drawn: Sequence[Drawn]) -> Results:
    """Run every method on every split; of one set, the heat map."""
    lines = [_line(one, method) for one in track(drawn, "splits") for method in METHODS]
    names = {one.labelled.name for one in drawn}
    of = "digits" if "digits" in names else drawn[0].labelled.name
    heated = [one for one in drawn if one.labelled.name == of and one.seed < _HEAT_SEEDS]
    heat = [line for one in track(heated, "heat map") for line in _heat_lines(one)]
    return Results(pd.DataFrame(lines), pd.DataFrame(heat))


def means_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return area and accuracy by set and method: means over seeds and held-out classes."""
    keys = ["set", "method"]
    means = runs.groupby(keys, sort=False)[["auroc", "accuracy", "accepted"]].mean()
    # A seed is a draw; classes held out in turn within it are not.
    by_seed = runs.groupby([*keys, "seed"], sort=False)["auroc"].mean()
    return means.assign(deviation=by_seed.groupby(keys, sort=False).std(ddof=1)).reset_index()


def auroc(claims: Matrix, codes: NDArray[np.intp]) -> float:
    """Return the area under the ROC curve of known against foreign, by the best claim."""
    return float(roc_auc_score(codes >= 0, claims.max(axis=1)))


def accuracy(claims: Matrix, codes: NDArray[np.intp]) -> float:
    """Return the share of known rows whose best claim is that of their own class."""
    is_known = codes >= 0
    return float((claims[is_known].argmax(axis=1) == codes[is_known]).mean())


def _line(drawn: Drawn, method: str) -> dict[str, Any]:
    labelled, seed, split = drawn
    claims, accepted = METHODS[method](split, labelled.scale, seed)
    return {
        "set": labelled.name,
        "seed": seed,
        "held_out": split.held_out,
        "method": method,
        "auroc": auroc(claims, split.new_codes),
        "accuracy": accuracy(claims, split.new_codes),
        "accepted": accepted,
    }


def _heat_lines(drawn: Drawn) -> list[dict[str, Any]]:
    labelled, seed, split = drawn
    rows = feature_scaling(split.train, labelled.scale)(split.train)
    median = median_distance(squared_distances(rows, rows))
    fitted = shared_description(split, labelled.scale, seed)
    shared = {
        "set": labelled.name,
        "seed": seed,
        "held_out": split.held_out,
        "fitted_length_scale": fitted.length_scale_ / median,
        "fitted_auroc": auroc(fitted.log_membership(split.new), split.new_codes),
    }
    lines = []
    for factor in LENGTH_SCALES:
        for ridge in RIDGES:
            model = MulticlassDataDescription(labelled.scale, factor * median, ridge)
            claims = quietly_fitted(model, split).log_membership(split.new)
            by_uncertainty = np.exp(claims) - 1  # -d / sigma^2
            lines.append(
                {
                    **shared,
                    "length_scale": factor,
                    "ridge": ridge,
                    "auroc": auroc(claims, split.new_codes),
                    "auroc_by_d": auroc(by_uncertainty, split.new_codes),
                }
            )
    return lines
