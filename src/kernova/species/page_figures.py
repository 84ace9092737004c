"""Pictures of a study of species: shapes, where groups lie, errors between them, depths."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kernova.report.curves import plot_score_distributions
from kernova.report.dots import Plane
from kernova.report.shapes import (
    plot_aligned_shapes,
    plot_deformation,
    plot_error_rates,
    plot_morphospace,
)
from kernova.species.specimens import SpecimenTests
from kernova.species.splits import Halving, Names, depths_among
from kernova.species.study import EachStudy, UnknownStudy
from kernova.typing import Matrix

_DEPTH = "kernelized spatial depth"
# A table of more groups is no picture any more.
_MOST_GROUPS = 60


def unknown_figures(study: UnknownStudy) -> dict[str, Figure]:
    """Draw everything about one unknown group, by name; the first halving stands for all."""
    first, name = study.first, study.unknown
    aligned, consensus = first.placed.aligned, first.space.procrustes.consensus_
    known = np.concatenate([first.reference, first.holdout])
    mean = aligned[first.unknown].mean(axis=0)
    axes = {
        "aligned": plot_aligned_shapes(
            aligned[known], consensus, others=aligned[first.unknown], labels=("known", name)
        ),
        "deformation": plot_deformation(
            consensus, mean, labels=("consensus of the known", f"mean of {name}")
        ),
        "morphospace": _morphospace(first, study.groups, known, name),
        "depths": _pooled_depths(study),
    }
    closest = study.verdict.closest
    if closest is not None:
        axes["depths_closest"] = _depths_alone(study, closest)
        of_closest = known[study.groups[known] == closest]
        axes["deformation_closest"] = plot_deformation(
            aligned[of_closest].mean(axis=0),
            mean,
            labels=(f"mean of {closest}", f"mean of {name}"),
        )
    if 0 < len(study.pairs) <= _MOST_GROUPS:
        rates = study.pairs["equal_error_rate"].to_numpy()[None]
        axes["pairs"] = plot_error_rates(
            rates, [name], study.pairs["known"].tolist(), mark_above=study.settings.largest_error
        )
    return {picture: _figure_of(ax) for picture, ax in axes.items()}


def each_figures(study: EachStudy) -> dict[str, Figure]:
    """Draw all groups that were held out in turn."""
    first = study.studies[0].first
    everyone = np.arange(len(first.placed.rows))
    groups = study.studies[0].groups
    aligned, consensus = first.placed.aligned, first.space.procrustes.consensus_
    axes = {
        "aligned": plot_aligned_shapes(aligned, consensus, labels=("aligned", "")),
        "morphospace": _morphospace(first, groups, everyone, None),
    }
    matrix = study.matrix
    if matrix.notna().to_numpy().any():
        axes["pairs"] = plot_error_rates(
            matrix.to_numpy(),
            matrix.index.tolist(),
            matrix.columns.tolist(),
            mark_above=study.studies[0].settings.largest_error,
        )
    return {picture: _figure_of(ax) for picture, ax in axes.items()}


def specimen_figures(tests: SpecimenTests) -> dict[str, Figure]:
    """Draw new specimens among the known ones."""
    halving = tests.halving
    groups = np.concatenate([tests.groups, np.full(len(tests.new), "")])
    known = np.concatenate([halving.reference, halving.holdout])
    aligned, consensus = halving.placed.aligned, halving.space.procrustes.consensus_
    axes = {
        "aligned": plot_aligned_shapes(
            aligned[known], consensus, others=aligned[halving.unknown], labels=("known", "new")
        ),
        "morphospace": _morphospace(halving, groups, known, "new"),
        "depths": plot_score_distributions(
            halving.holdout_depths,
            halving.unknown_depths,
            labels=("known, held out", "new"),
            score=_DEPTH,
            unit="specimen",
        ),
    }
    return {picture: _figure_of(ax) for picture, ax in axes.items()}


class _Places(NamedTuple):
    rows: Matrix
    shares: list[float]


def _morphospace(
    halving: Halving, groups: Names, known: NDArray[np.intp], unknown_name: str | None
) -> Axes:
    places = _first_two(halving)
    unknown = None if unknown_name is None else places.rows[halving.unknown]
    return plot_morphospace(
        places.rows[known],
        groups[known].tolist(),
        unknown=unknown,
        unknown_name=unknown_name or "unknown",
        shares=places.shares,
    )


def _first_two(halving: Halving) -> _Places:
    """Give the first two components, and how much of the reference's variance they show.

    Features have no first two: of them, principal components are taken.
    """
    space, rows = halving.space, halving.placed.rows
    reference = rows[halving.reference]
    if space.features is not None:
        plane = Plane(reference)
        return _Places(plane.place(rows), plane.shares.tolist())
    n_components = space.components.shape[1]
    variances = reference[:, :n_components].var(axis=0)
    # The remainder is the length of what the components leave over.
    beyond = float(np.mean(reference[:, n_components] ** 2)) if space.has_remainder else 0.0
    total = float(variances.sum()) + beyond
    shares = (variances / total).tolist() if space.has_remainder and total > 0 else []
    return _Places(rows[:, : min(2, n_components)], shares)


def _pooled_depths(study: UnknownStudy) -> Axes:
    first: pd.Series[float] = study.halvings.iloc[0]
    return plot_score_distributions(
        study.first.holdout_depths,
        study.first.unknown_depths,
        threshold=float(first["threshold"]),
        bound=float(first["false_alarm_bound"]),
        labels=("known, held out", study.unknown),
        score=_DEPTH,
        unit="specimen",
    )


def _depths_alone(study: UnknownStudy, group: str) -> Axes:
    """Draw the depths among one known group alone."""
    first, rows = study.first, study.first.placed.rows
    reference = first.reference[study.groups[first.reference] == group]
    holdout = first.holdout[study.groups[first.holdout] == group]
    questions = rows[np.concatenate([holdout, first.unknown])]
    depths = depths_among(rows[reference], questions, study.settings)
    return plot_score_distributions(
        depths[: len(holdout)],
        depths[len(holdout) :],
        labels=(f"{group}, held out", study.unknown),
        score=f"depth among {group}",
        unit="specimen",
    )


def _figure_of(ax: Axes) -> Figure:
    assert isinstance(ax.figure, Figure)  # each picture was drawn on a figure of its own
    return ax.figure
