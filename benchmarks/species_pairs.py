"""Errors between two groups, against plain discriminants on the same specimens and folds.

``python -m benchmarks.species_pairs --data FOLDER`` compares every two groups of turtles and of
*Tropheus* (taxa, and populations with 10 fish or more) among all specimens of the set, as a study
with ``--each`` does. Beside the error of ``kernova.species.pairs`` stand those of scikit-learn's
linear discriminant with equal priors: on the principal components that hold 95 % of the variance,
on as many as aligned landmarks have (where groups are large enough), and shrunk by Ledoit and Wolf
on all tangent coordinates. Errors are means of the two groups' rates, and all are cross-validated
in the same folds: one specimen left out of up to 60, a tenth of more, or whole populations. The
bar: no more than .03 worse on any pair, and no more than .05 between the two directions.
"""

import argparse
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline

from benchmarks.species_studies import Set, load
from kernova.errors import InputError
from kernova.species.covariates import covariates_from

# The folds themselves, so that the discriminants are compared and not the folds.
from kernova.species.discriminant import _folds
from kernova.species.pairs import Comparisons, comparisons_of
from kernova.species.space import SpeciesSettings
from kernova.typing import Indices, Mask, Matrix

WORSE: Final = 0.03
ASYMMETRIC: Final = 0.05
PLAIN: Final = ("components_95", "components_all", "shrunk")
_EQUAL: Final = (0.5, 0.5)


class Grouping(NamedTuple):
    """A set, by one of its columns."""

    set: Set
    least: int  # smaller groups are there, but not compared
    unit: str = ""  # the column of populations, to leave out whole


_TURTLES: Final = Set("turtles", "turtles/turtles.csv", "species", 1, ())
_TROPHEUS: Final = Set("tropheus", "tropheus/tropheus.csv", "taxon", 1, ())
GROUPINGS: Final = {
    "turtles": Grouping(_TURTLES, 4),
    "turtles, samples": Grouping(_TURTLES._replace(column="sample"), 4),
    "Tropheus, taxa": Grouping(_TROPHEUS, 4),
    "Tropheus, populations": Grouping(_TROPHEUS._replace(column="population"), 10),
    "Tropheus, whole populations": Grouping(_TROPHEUS, 4, "population"),
}


class PairErrors(NamedTuple):
    """The errors of one pair of groups."""

    grouping: str
    first: str
    second: str
    n_first: int
    n_second: int
    left_out: str
    error: float
    error_low: float
    error_high: float
    error_reverse: float  # with the second group called unknown
    components_95: float
    components_all: float  # NaN: too few specimens
    shrunk: float


def pairs_of(name: str, folder: Path, seed: int) -> Iterator[PairErrors]:
    """Compare every two groups of one grouping."""
    grouping = GROUPINGS[name]
    data = load(grouping.set, folder)
    covariates = covariates_from(
        data.columns, [grouping.unit] if grouping.unit else [], grouping.set.file
    )
    settings = SpeciesSettings(seed=seed)
    comparisons = comparisons_of(data.landmarks, data.groups, settings, covariates)
    p, d = data.landmarks.coordinates.shape[1:]
    n_components = p * d - d - d * (d - 1) // 2 - 1
    groups, counts = np.unique(data.groups, return_counts=True)
    for first, second in combinations(groups[counts >= grouping.least].tolist(), 2):
        yield _errors(name, comparisons, first, second, n_components)


def _errors(
    name: str, comparisons: Comparisons, first: str, second: str, n_components: int
) -> PairErrors:
    own = comparisons.compare(first, second).discriminant
    reverse = comparisons.compare(second, first).discriminant
    members = np.flatnonzero(np.isin(comparisons.groups, [first, second]))
    rows, is_first = comparisons.rows[members], comparisons.groups[members] == first
    unit = GROUPINGS[name].unit
    units = comparisons.covariates.factors[unit][members] if unit else None
    folds = _folds(is_first, units, comparisons.settings.seed).folds
    n_training = len(rows) - int(np.bincount(folds).max())
    plain = {
        kind: balanced_error(model, rows, is_first, folds)
        for kind, model in _plain_discriminants(n_components, n_training).items()
    }
    return PairErrors(
        name, first, second, int(is_first.sum()), int((~is_first).sum()), own.left_out,
        own.error, own.low, own.high, reverse.error, *(plain.get(kind, np.nan) for kind in PLAIN),
    )  # fmt: skip


def _plain_discriminants(n_components: int, n_training: int) -> dict[str, BaseEstimator]:
    def on_components(wanted: float) -> BaseEstimator:
        plain = LinearDiscriminantAnalysis(priors=_EQUAL)
        return make_pipeline(PCA(wanted, svd_solver="full"), plain)

    shrunk = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=_EQUAL)
    found = {"components_95": on_components(0.95), "shrunk": shrunk}
    if n_training >= n_components + 3:  # two means, and a covariance that can be inverted
        found["components_all"] = on_components(n_components)
    return found


def balanced_error(model: BaseEstimator, rows: Matrix, is_first: Mask, folds: Indices) -> float:
    """Return the mean of the two groups' cross-validated error rates."""
    is_missed = np.zeros(len(rows), dtype=np.bool_)
    for fold in np.unique(folds):
        is_test = folds == fold
        model.fit(rows[~is_test], is_first[~is_test])
        is_missed[is_test] = model.predict(rows[is_test]) != is_first[is_test]
    return float((is_missed[is_first].mean() + is_missed[~is_first].mean()) / 2)


def report(found: pd.DataFrame) -> str:
    """Return means, and the pairs beyond the bar."""
    lines = []
    apart = (found["error"] - found["error_reverse"]).abs()
    lines.append(
        f"  {len(found)} pairs, mean error {found['error'].mean():.4f}; directions differ by at "
        f"most {apart.max():.4f}, in {int((apart > ASYMMETRIC).sum())} pairs by more than "
        f"{ASYMMETRIC}"
    )
    best = found[list(PLAIN)].min(axis=1)
    for kind, plain in [*((kind, found[kind]) for kind in PLAIN), ("best of these", best)]:
        worse = (found["error"] - plain).dropna()
        if len(worse):
            lines.append(
                f"  minus {kind:14s} ({len(worse):3d} pairs, mean error {plain.mean():.4f}): mean "
                f"{worse.mean():+.4f}, worst {worse.max():+.4f}, best {worse.min():+.4f}; worse by "
                f"more than {WORSE}: {int((worse > WORSE).sum())}"
            )
    lines += [
        f"  worse: {pair.first} ({pair.n_first}) and {pair.second} ({pair.n_second}): "
        f"{pair.error:.3f} ({pair.error_low:.3f} to {pair.error_high:.3f}); "
        + ", ".join(f"{kind} {getattr(pair, kind):.3f}" for kind in PLAIN)
        for pair in found[found["error"] - best > WORSE].itertuples()
    ]
    return "\n".join(lines)


def main() -> None:
    """Compare all pairs, and print and write the errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of landmark sets")
    parser.add_argument("--groupings", nargs="*", choices=GROUPINGS, default=list(GROUPINGS))
    parser.add_argument("--seed", type=int, default=0, help="of the folds of large groups")
    parser.add_argument("-o", "--output", type=Path, default=None)
    arguments = parser.parse_args()
    if not arguments.data.exists():
        raise InputError(f"There is no folder {arguments.data}.")
    tables = []
    for name in arguments.groupings:
        tables.append(pd.DataFrame(pairs_of(name, arguments.data, arguments.seed)))
        print(name)
        print(report(tables[-1]), flush=True)
    table = pd.concat(tables, ignore_index=True)
    print("all")
    print(report(table))
    if arguments.output is not None:
        table.to_csv(arguments.output, index=False)


if __name__ == "__main__":
    main()
