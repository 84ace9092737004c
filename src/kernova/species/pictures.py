"""Pictures of a species study: shapes, shape space, errors, novelty and digitising errors."""

from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernova.report.canvas import figure_of
from kernova.report.digitising import plot_digitising
from kernova.report.distributions import plot_score_distributions
from kernova.report.morphospace import MOST_GROUPS, plot_canonical_variates, plot_morphospace
from kernova.report.pairs import plot_error_rates, plot_pair_errors
from kernova.report.planes import Plane
from kernova.report.shapes import plot_aligned_shapes, plot_deformation
from kernova.species.digitising import DigitisingReport, Finding
from kernova.species.pairs import Comparisons
from kernova.species.specimens import SpecimenTests
from kernova.species.splits import Labels, Split, novelty_of, scores_in_group
from kernova.species.study import EachStudy, UnknownStudy
from kernova.text import truncate_middle
from kernova.typing import Indices, Mask, Matrix

# How each score measures novelty, on axes and in tables; high is unusual.
SCORE_NAMES: Final = {
    "likelihood-ratio": "log likelihood ratio, new to known",
    "neighbors": "distance to the nearest specimens",
    "mahalanobis": "squared Mahalanobis distance",
    "depth": "minus kernelized spatial depth",
}
# What specimens are on either side of a threshold.
_SIDES: Final = ("detected", "not detected")


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
        "morphospace": _morphospace_of(first, study.groups, known, name),
        "novelty": _pooled_novelty(study),
    }
    variates = _variates(study.comparisons, study.groups == name, name)
    if variates is not None:
        axes["variates"] = variates
    closest = study.verdict.closest
    if closest is not None:
        axes["novelty_closest"] = _novelty_alone(study, closest)
        of_closest = known[study.groups[known] == closest]
        axes["deformation_closest"] = plot_deformation(
            aligned[of_closest].mean(axis=0),
            mean,
            labels=(f"mean of {closest}", f"mean of {name}"),
        )
    if len(study.pairs):
        axes["pairs"] = plot_pair_errors(study.pairs.head(MOST_GROUPS), unknown_name=name)
    return {picture: figure_of(ax) for picture, ax in axes.items()}


def each_figures(study: EachStudy) -> dict[str, Figure]:
    """Return the pictures of all groups that were held out in turn, by name."""
    first = study.studies[0].first
    everything = np.arange(len(first.placed.rows))
    groups = study.studies[0].groups
    aligned, consensus = first.placed.aligned, first.space.procrustes.consensus_
    axes = {
        "aligned": plot_aligned_shapes(aligned, consensus, labels=("aligned", "")),
        "morphospace": _morphospace_of(first, groups, everything, None),
    }
    one = study.studies[0]
    variates = _variates(one.comparisons, np.zeros(len(groups), dtype=np.bool_), "")
    if variates is not None:
        axes["variates"] = variates
    matrix = study.matrix
    if matrix.notna().to_numpy().any():
        axes["pairs"] = plot_error_rates(
            matrix.to_numpy(),
            matrix.index.tolist(),
            matrix.columns.tolist(),
            symmetric=matrix.index.tolist() == matrix.columns.tolist(),
            rate="error of the discriminant",
            mark_above=one.settings.largest_error,
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
            aligned[known], consensus, others=aligned[split.unknown], labels=("known", "tested")
        ),
        "morphospace": _morphospace_of(split, groups, known, "tested"),
        "novelty": plot_score_distributions(
            split.holdout_novelty,
            split.unknown_novelty,
            labels=("known, held out", "tested"),
            score=f"novelty: {SCORE_NAMES[tests.settings.score]}",
            unit="specimen",
            high_is_novel=True,
        ),
    }
    return {picture: figure_of(ax) for picture, ax in axes.items()}


class _FirstTwo(NamedTuple):
    rows: Matrix
    explained: list[float]


def _morphospace_of(split: Split, groups: Labels, known: Indices, unknown_name: str | None) -> Axes:
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


def _variates(comparisons: Comparisons, is_unknown: Mask, name: str) -> Axes | None:
    """Draw canonical variates of the known groups; None if there are fewer than two."""
    groups, counts = np.unique(comparisons.groups[~is_unknown], return_counts=True)
    largest = groups[np.argsort(-counts, kind="stable")][:MOST_GROUPS]
    is_shown = np.isin(comparisons.groups, largest[np.sort(-counts)[:MOST_GROUPS] < -1])
    is_shown &= ~is_unknown
    if len(np.unique(comparisons.groups[is_shown])) < 2:
        return None
    return plot_canonical_variates(
        comparisons.rows[is_shown],
        comparisons.groups[is_shown].tolist(),
        unknown=comparisons.rows[is_unknown] if is_unknown.any() else None,
        unknown_name=name,
    )


def _pooled_novelty(study: UnknownStudy) -> Axes:
    first: pd.Series[float] = study.halvings.iloc[0]
    return plot_score_distributions(
        study.first.holdout_novelty,
        study.first.unknown_novelty,
        threshold=float(first["threshold"]),
        bound=float(first["false_alarm_bound"]),
        labels=("known, held out", study.unknown),
        score=f"novelty: {SCORE_NAMES[study.settings.score]}",
        unit="specimen",
        high_is_novel=True,
        sides=_SIDES,
    )


def _novelty_alone(study: UnknownStudy, group: str) -> Axes:
    """Draw the novelty in one known group alone."""
    first = study.first
    scores = scores_in_group(first, study.groups, group, first.unknown)
    return plot_score_distributions(
        novelty_of(scores.holdout),
        novelty_of(scores.queries),
        labels=(f"{group}, held out", study.unknown),
        score=f"novelty among {truncate_middle(group, 30)}",
        unit="specimen",
        high_is_novel=True,
    )


class FindingPicture(NamedTuple):
    """The picture of one digitising error."""

    finding: Finding
    figure: Figure


def digitising_figures(report: DigitisingReport, most: int) -> list[FindingPicture]:
    """Return pictures of the strongest findings that a picture can show."""
    found: list[FindingPicture] = []
    for finding in report.findings:
        shapes = report.aligned(finding)
        if shapes is not None and len(found) < most:
            ax = plot_digitising(shapes.specimen, shapes.expected, finding)
            found.append(FindingPicture(finding, figure_of(ax)))
    return found
