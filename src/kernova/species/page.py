"""Report pages of a species study: one unknown group, every group in turn, or single specimens."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernova.report.canvas import figure_of
from kernova.report.curves import plot_score_distributions
from kernova.report.page import (
    Format,
    Html,
    Section,
    answer_section,
    facts,
    page,
    paragraph,
    picture,
    table,
)
from kernova.report.pairs import plot_error_rates
from kernova.report.planes import Plane
from kernova.report.shapes import plot_aligned_shapes, plot_deformation, plot_morphospace
from kernova.species.results import (
    EachAnswer,
    SpeciesAnswer,
    SpecimensAnswer,
    UnknownAnswer,
    probable_digitising_errors,
)
from kernova.species.space import ShapeSpace, SpeciesSettings
from kernova.species.specimens import SpecimenTests
from kernova.species.splits import Labels, Split, depths_in_group
from kernova.species.study import EachStudy, UnknownStudy, mean_and_spread
from kernova.species.verdicts import HALVES, LOOKS_NEW, NEW, WHOLE, format_rate
from kernova.text import quantity
from kernova.typing import Indices, Matrix

# Short column headers; files have the full names.
_HEADERS: Final = {
    "specimens": "n",
    "equal_error_rate": "error rate",
    "equal_error_rate_spread": "±",
    "auroc": "area",
    "p_value": "p-value",
    "e_star": "e*",
    "detection_rate": "detected",
    "exact_detection_at_least": "detected ≥",
    "exact_false_alarm_bound": "false alarms ≤",
    "exact_detection_rate": "detected at fixed alarms",
    "closest_p_value": "p-value in closest",
}
_FORMATS: Final[dict[str, Format]] = {
    **dict.fromkeys(_HEADERS, ".3f"),
    **dict.fromkeys(("p_value", "closest_p_value"), format_rate),
    **dict.fromkeys(("depth", "threshold"), ".5f"),
}
_WITHOUT_FORMAT: Final = ("specimens",)
_SPLITS: Final = (
    "The known specimens are split in half at random, group by group. One half is the reference: "
    "alignment, components and depths are learnt from it alone. The other half is held out and, "
    "like the unknown, only projected, so that both are new to the model. A depth is high in the "
    "centre of the reference and low far from it."
)
_WEIGHTED: Final = (
    "The components are weighted: directions in which specimens of one group hardly vary count "
    "more, by the fourth root of the variance within groups."
)
_REMAINDER: Final = (
    "One more column, the remainder, is the distance of a specimen from its projection on the "
    "components."
)
_ROWS_SHOWN: Final = 60
_PAIR_COLUMNS: Final = (
    "known", "specimens", "equal_error_rate", "equal_error_rate_spread", "p_value", "test",
    "exact_detection_at_least", "exact_false_alarm_bound",
)  # fmt: skip
_HALVING_COLUMNS: Final = (
    "halving", "e_star", "detection_rate", "threshold", "equal_error_rate", "auroc",
    "exact_detection_rate", "exact_false_alarm_bound",
)  # fmt: skip
_SPECIMEN_COLUMNS: Final = (
    "id", "depth", "p_value", "verdict", "closest", "closest_p_value", "digitising",
)  # fmt: skip
_SHORT: Final = {HALVES: "halves", WHOLE: "exchange"}
_GROUPS_SHOWN: Final = 300
_SPECIMENS_SHOWN: Final = 200
_GROUP_COLUMNS: Final = (
    "unknown", "specimens", "verdict", "closest", "p_value", "e_star", "equal_error_rate",
    "auroc",
)  # fmt: skip


def species_page(answer: SpeciesAnswer) -> str:
    """Return the whole report as one HTML text."""
    if isinstance(answer, UnknownAnswer):
        return _unknown_page(answer)
    if isinstance(answer, EachAnswer):
        return _each_page(answer)
    return _specimens_page(answer)


def _measurements(
    rows: pd.DataFrame, caption: str, *, marked: "pd.Series[bool]", max_rows: int
) -> Html:
    """Return a table of measurements with short column headers."""
    formats = {
        _HEADERS.get(name, name): way
        for name, way in _FORMATS.items()
        if name not in _WITHOUT_FORMAT
    }
    return table(rows.rename(columns=_HEADERS), caption, formats, marked=marked, max_rows=max_rows)


def _weighting(settings: SpeciesSettings) -> str:
    if settings.features is not None:
        return "each feature by its spread"
    return "by variance within groups" if settings.weighting == "within" else "no"


def _morphospace(figures: Mapping[str, Figure]) -> Html:
    """Return the picture of the groups in shape space."""
    return picture(
        figures["morphospace"],
        "Specimens on the first two components, coloured by group.",
        "Two of several components: what looks close here may be far apart in the others.",
    )


def _aligned(figures: Mapping[str, Figure]) -> Html:
    """Return the picture of aligned landmarks."""
    return picture(
        figures["aligned"],
        "Aligned landmarks of the specimens about the consensus.",
        "Position, size and orientation are removed; the remaining differences are in shape.",
    )


def _method(settings: SpeciesSettings, space: ShapeSpace, *, one_by_one: bool = False) -> Section:
    """Return the section on method and settings; single specimens use one split."""
    features = settings.features
    parts: list[str] = [
        paragraph(_SPLITS),
        *([paragraph(_WEIGHTED)] if features is None and settings.weighting == "within" else []),
        *([paragraph(_REMAINDER)] if space.has_remainder else []),
        facts(_settings(settings, space, one_by_one=one_by_one)),
    ]
    if features is not None:
        formulas = pd.DataFrame({"feature": features.names, "formula": features.formulas})
        parts.append(table(formulas, "Features"))
    return Section("How it was decided", parts)


def _settings(
    settings: SpeciesSettings, space: ShapeSpace, *, one_by_one: bool
) -> dict[str, object]:
    features = settings.features
    errors = {
        "confidence": settings.confidence,
        "random splits": settings.halvings,
        "largest error of separable groups": settings.largest_error,
    }
    if one_by_one:
        errors = {"false discovery rate": settings.false_discovery_rate}
    return {
        "described by": (
            f"{space.components.shape[1]} principal components of the aligned landmarks"
            if features is None
            else f"{len(features.names)} features, measured on aligned shapes"
        ),
        "remainder beyond the components": space.has_remainder,
        "centroid size included": settings.size,
        "reflection allowed": settings.reflection,
        "directions weighted": _weighting(settings),
        "kernel width": settings.bandwidth,
        **errors,
        "seed": settings.seed,
    }


def _unknown_page(answer: UnknownAnswer) -> str:
    """Return the report on one group."""
    study = answer.study
    figures = unknown_figures(study)
    n_known = len(study.landmarks) - study.n_unknown
    return page(
        f"Is {study.unknown} new?",
        [
            _unknown_answer(answer),
            Section("Against each known group", list(_pairs(answer, figures))),
            Section("Against all known groups together", list(_pooled(answer, figures["depths"]))),
            Section("Where it lies", [_morphospace(figures)]),
            Section("What differs", list(_shapes(answer, figures))),
            Section("Specimen by specimen", list(_specimens(answer))),
            _method(study.settings, study.first.space),
        ],
        lead=f"{quantity(study.n_unknown, 'specimen')} of {Path(study.landmarks.source).name}, "
        f"compared with {n_known} specimens of known groups",
    )


def _unknown_answer(answer: UnknownAnswer) -> Section:
    study, means = answer.study, mean_and_spread(answer.study.halvings)
    return answer_section(
        answer.sentences,
        facts(
            {
                "unknown specimens": study.n_unknown,
                "known specimens": len(study.landmarks) - study.n_unknown,
                "known groups compared": len(study.pairs),
                "e*, pooled": f"{means['e_star']:.3f} ± {means['e_star_spread']:.3f}",
                "area under the ROC curve": f"{means['auroc']:.3f} ± {means['auroc_spread']:.3f}",
                "p-value": format_rate(study.verdict.p_value),
            }
        ),
    )


def _pairs(answer: UnknownAnswer, figures: Mapping[str, Figure]) -> Iterator[str]:
    study = answer.study
    yield paragraph(
        "Pooled, the known groups can hide one that lies between them, so the unknown is compared "
        "with each of them alone. At the equal error rate, the fraction of its specimens that are "
        "missed equals the fraction of known ones that raise a false alarm. The p-value is the "
        "probability of a difference as large as this, if the specimens belonged to that group: "
        "that depths in one half of it are as low compared with those of the other half (halves) "
        "or, for a small group, that specimens exchanged at random between the two give as large "
        "a difference (exchange). The last two columns bound the fraction detected, from below, "
        "and false alarms, from above, at one threshold."
    )
    if study.pairs.empty:
        yield paragraph("No known group is large enough.")
        return
    is_close = study.pairs["equal_error_rate"] > study.settings.largest_error
    yield _measurements(
        study.pairs[list(_PAIR_COLUMNS)].replace({"test": _SHORT}),
        "Known groups of n specimens, the hardest to separate first; means over the splits",
        marked=is_close,
        max_rows=_ROWS_SHOWN,
    )
    if "pairs" in figures:
        yield picture(
            figures["pairs"],
            f"Equal error rates of {study.unknown} against each known group.",
            "The darker, the more alike; framed where the two are not separable.",
        )
    if "depths_closest" in figures:
        yield picture(
            figures["depths_closest"],
            f"Depths among {study.verdict.closest}, of its own held-out specimens and of "
            f"{study.unknown}.",
            "The closest group alone, in the first split: the less the two overlap, the better "
            "they can be separated.",
        )


def _pooled(answer: UnknownAnswer, depths: Figure) -> Iterator[str]:
    study = answer.study
    yield picture(
        depths,
        "Depths of held-out known specimens and of unknown ones, with the threshold.",
        "The first split. Specimens left of the threshold are called new.",
    )
    halvings = study.halvings[list(_HALVING_COLUMNS)]
    yield _measurements(
        halvings, "Split by split", marked=halvings["halving"] < 0, max_rows=_ROWS_SHOWN
    )
    yield paragraph(
        "e* is the common value of one minus the detection rate and of the proven bound on false "
        f"alarms, at {study.settings.confidence:.0%} confidence. The last two columns belong to a "
        "threshold that allows a fixed number of alarms, chosen before any depth was computed: "
        "the fraction detected, and an exact bound on false alarms."
    )


def _shapes(answer: UnknownAnswer, figures: Mapping[str, Figure]) -> Iterator[str]:
    name = answer.study.unknown
    yield picture(
        figures["deformation"],
        f"Deformation grid from the consensus of the known specimens to the mean of {name}.",
        "Arrows point from the consensus to the landmarks of the unknown.",
    )
    if "deformation_closest" in figures:
        yield picture(
            figures["deformation_closest"],
            f"Deformation grid from the mean of {answer.study.verdict.closest} to that of {name}.",
            "The same, from the closest known group.",
        )
    yield _aligned(figures)


def _specimens(answer: UnknownAnswer) -> Iterator[str]:
    rows = _unusual_first(answer.rows)
    yield paragraph(
        "Each specimen by itself: the p-value is the probability that a specimen of the known "
        "groups has a depth as low, and the closest group is that of the nearest known specimen. A "
        "landmark deviates where it is far from the position expected from the specimen's "
        "other landmarks; in many specimens of a new group that is its shape, in a single one it "
        "may be a digitising error."
    )
    yield _measurements(
        rows[list(_SPECIMEN_COLUMNS)],
        "The most unusual first",
        marked=probable_digitising_errors(rows),
        max_rows=_ROWS_SHOWN,
    )


def _each_page(answer: EachAnswer) -> str:
    study = answer.study
    figures = each_figures(study)
    return page(
        f"Which groups of {Path(study.studies[0].landmarks.source).name} can be separated?",
        [
            _each_answer(answer),
            Section("Group by group", list(_other_verdicts(answer))),
            Section("Against each other", list(_against_each_other(figures))),
            Section("Where they lie", [_morphospace(figures), _aligned(figures)]),
            _method(study.studies[0].settings, study.studies[0].first.space),
        ],
        lead=f"{len(study.studies)} groups, each held out as unknown in turn",
    )


def _each_answer(answer: EachAnswer) -> Section:
    return answer_section(
        answer.sentences,
        _measurements(
            answer.rows[list(_GROUP_COLUMNS)],
            "Each group of n specimens held out as unknown; means over the splits",
            marked=answer.rows["verdict"] != LOOKS_NEW,
            max_rows=_GROUPS_SHOWN,
        ),
    )


def _other_verdicts(answer: EachAnswer) -> Iterator[str]:
    others = [study for study in answer.study.studies if study.verdict.kind != LOOKS_NEW]
    if not others:
        yield paragraph("Every group looks new; the table above has the error rates.")
        return
    verdicts = pd.DataFrame(
        {
            "group": [study.unknown for study in others],
            "verdict": [study.verdict.sentence for study in others],
        }
    )
    yield table(verdicts, "Groups that do not look new", max_rows=_GROUPS_SHOWN)


def _against_each_other(figures: Mapping[str, Figure]) -> Iterator[str]:
    if "pairs" not in figures:
        yield paragraph("No group is large enough to be compared alone.")
        return
    yield picture(
        figures["pairs"],
        "Equal error rates of each group held out, against each known one.",
        "The darker, the more alike; framed where two are not separable.",
    )


def _specimens_page(answer: SpecimensAnswer) -> str:
    tests = answer.tests
    figures = specimen_figures(tests)
    return page(
        f"Which specimens of {Path(tests.new.source).name} are new?",
        [
            _specimens_answer(answer),
            Section("Digitising errors", list(_digitising(tests.rows))),
            Section("Depths", [_depths(figures["depths"])]),
            Section("Where they lie", [_morphospace(figures), _aligned(figures)]),
            _method(tests.settings, tests.split.space, one_by_one=True),
        ],
        lead=f"{quantity(len(tests.rows), 'specimen')}, each compared with {len(tests.known)} "
        "specimens of known groups",
    )


def _specimens_answer(answer: SpecimensAnswer) -> Section:
    rows = _unusual_first(answer.rows)
    return answer_section(
        answer.sentences,
        _measurements(
            rows[list(_SPECIMEN_COLUMNS)],
            "The most unusual first",
            marked=rows["verdict"] == NEW,
            max_rows=_SPECIMENS_SHOWN,
        ),
    )


def _unusual_first(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(["p_value", "depth"], kind="stable")


def _digitising(rows: pd.DataFrame) -> Iterator[str]:
    suspicious = rows[rows["landmark"] > 0].sort_values("landmark_p_value", kind="stable")
    advice = "Check these before trusting a verdict." if len(suspicious) else "None deviates."
    yield paragraph(
        "Each landmark is compared with the position expected from the specimen's other landmarks. "
        + advice
    )
    if len(suspicious):
        columns = ["id", "digitising", "verdict"]
        yield _measurements(
            suspicious[columns],
            "Specimens to check",
            marked=suspicious["verdict"] == NEW,
            max_rows=_SPECIMENS_SHOWN,
        )


def _depths(figure: Figure) -> str:
    return picture(
        figure,
        "Depths of held-out known specimens and of new ones.",
        "Few known specimens have depths as low as those called new.",
    )


# --- pictures: aligned shapes, shape space, error rates and depths -------------------------------

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
        "morphospace": _morphospace_of(first, study.groups, known, name),
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
        "morphospace": _morphospace_of(first, groups, everything, None),
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
        "morphospace": _morphospace_of(split, groups, known, "new"),
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
