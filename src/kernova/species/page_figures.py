"""Pictures of a species study: aligned shapes, shape space, error rates and depths."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernova.report.canvas import figure_of
from kernova.report.curves import plot_score_distributions
from kernova.report.planes import Plane
from kernova.report.shapes import (
    plot_aligned_shapes,
    plot_deformation,
    plot_error_rates,
    plot_morphospace,
)
from kernova.species.specimens import SpecimenTests
from kernova.species.splits import Labels, Split, depths_in_group
from kernova.species.study import EachStudy, UnknownStudy
from kernova.typing import Indices, Matrix

_DEPTH = "kernelized spatial depth"
# More groups cannot be read in one picture.
_MAX_GROUPS = 60


def unknown_figures(study: UnknownStudy) -> dict[str, Figure]:
    """Return the pictures of one unknown group by name; they show the first split."""
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
    if 0 < len(study.pairs) <= _MAX_GROUPS:
        rates = study.pairs["equal_error_rate"].to_numpy()[None]
        axes["pairs"] = plot_error_rates(
            rates, [name], study.pairs["known"].tolist(), mark_above=study.settings.largest_error
        )
    return {picture: figure_of(ax) for picture, ax in axes.items()}


def each_figures(study: EachStudy) -> dict[str, Figure]:
    """Return the pictures of all groups that were held out in turn, by name."""
    first = study.studies[0].first
    everything = np.arange(len(first.placed.rows))
    groups = study.studies[0].groups
    aligned, consensus = first.placed.aligned, first.space.procrustes.consensus_
    axes = {
        "aligned": plot_aligned_shapes(aligned, consensus, labels=("aligned", "")),
        "morphospace": _morphospace(first, groups, everything, None),
    }
    matrix = study.matrix
    if matrix.notna().to_numpy().any():
        axes["pairs"] = plot_error_rates(
            matrix.to_numpy(),
            matrix.index.tolist(),
            matrix.columns.tolist(),
            mark_above=study.studies[0].settings.largest_error,
        )
    return {picture: figure_of(ax) for picture, ax in axes.items()}


def specimen_figures(tests: SpecimenTests) -> dict[str, Figure]:
    """Return the pictures of new specimens among the known ones, by name."""
    split = tests.split
    groups = np.concatenate([tests.groups, np.full(len(tests.new), "")])
    known = np.concatenate([split.reference, split.holdout])
    aligned, consensus = split.placed.aligned, split.space.procrustes.consensus_
    axes = {
        "aligned": plot_aligned_shapes(
            aligned[known], consensus, others=aligned[split.unknown], labels=("known", "new")
        ),
        "morphospace": _morphospace(split, groups, known, "new"),
        "depths": plot_score_distributions(
            split.holdout_depths,
            split.unknown_depths,
            labels=("known, held out", "new"),
            score=_DEPTH,
            unit="specimen",
        ),
    }
    return {picture: figure_of(ax) for picture, ax in axes.items()}


class _FirstTwo(NamedTuple):
    rows: Matrix
    explained: list[float]


def _morphospace(split: Split, groups: Labels, known: Indices, unknown_name: str | None) -> Axes:
    shown = _first_two(split)
    unknown = None if unknown_name is None else shown.rows[split.unknown]
    return plot_morphospace(
        shown.rows[known],
        groups[known].tolist(),
        unknown=unknown,
        unknown_name=unknown_name or "unknown",
        explained=shown.explained,
    )


def _first_two(split: Split) -> _FirstTwo:
    """Return the first two components, and the fractions of the reference's variance they explain.

    For features these are principal components of the features.
    """
    space, rows = split.space, split.placed.rows
    reference = rows[split.reference]
    if space.features is not None:
        plane = Plane(reference)
        return _FirstTwo(plane.place(rows), plane.explained.tolist())
    n_components = space.components.shape[1]
    variances = reference[:, :n_components].var(axis=0)
    # The remainder is the length of the part that the components do not explain.
    beyond = float(np.mean(reference[:, n_components] ** 2)) if space.has_remainder else 0.0
    total = float(variances.sum()) + beyond
    explained = (variances / total).tolist() if space.has_remainder and total > 0 else []
    return _FirstTwo(rows[:, : min(2, n_components)], explained)


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
    """Draw the depths in one known group alone."""
    first = study.first
    depths = depths_in_group(first, study.groups, group, first.unknown, study.settings)
    return plot_score_distributions(
        depths.holdout,
        depths.queries,
        labels=(f"{group}, held out", study.unknown),
        score=f"depth among {group}",
        unit="specimen",
    )
