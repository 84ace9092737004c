"""Taxonomic study of the paper on kernelized spatial depth (Tables 2 and 3), on cichlids.

The paper's ten species of fish are not public. The data here are 2,197 cichlids of Lake Tanganyika,
of 14 tribes, with 21 landmarks each. One tribe at a time is unknown, and within the two largest
tribes one genus and one species. Five methods score the same specimens.

As the species differ, the paper's statements are judged, not its numbers: most groups look new
when the others are pooled, nearly all pairs of groups are separated, and groups that are masked
among pooled ones are detected in pairs. A statement is reproduced if it is true of more than half.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from kernova.anomaly.outlier_factor import RobustKernelOutlierFactor
from kernova.anomaly.spatial_depth import SpatialDepth
from kernova.calibration.bounds import critical_false_alarm, equal_error_rate
from kernova.description.one_class import OneClassGaussianProcess
from kernova.errors import InputError, check_count, quoted
from kernova.papers.claims import Claim, verdict
from kernova.progress import track
from kernova.shapes import Landmarks, read_landmark_table
from kernova.species.scores import kernelized_depths
from kernova.species.space import SpeciesSettings, fit_shape_space
from kernova.species.splits import Labels, area_under_curve, split_in_half
from kernova.text import plural, quantity
from kernova.typing import Indices, Matrix, Vector

KSD: Final = "KSD"
SPATIAL: Final = "spatial depth"
RKOF: Final = "RKOF"
ONE_CLASS: Final = "MDD-KM, one class"
NEAREST: Final = "5-NN distance"

FILE: Final = "cichlids.csv"
_SUBFOLDERS: Final = (".", "tanganyika_cichlids", "landmarks/tanganyika_cichlids")
_MOST_NEIGHBORS: Final = 20  # the default of RKOF
_N_NEAREST: Final = 5
# A space is fitted without a fold of the groups, not without one at a time: fewer fits.
MAX_FOLDS: Final = 12
_SETTINGS: Final = SpeciesSettings()


class Level(NamedTuple):
    """Groups to hold out: those of a column with at least ``least`` specimens, in one tribe or all.

    ``has_bounds`` tells whether the groups are large enough for e*.
    """

    column: str
    tribe: str | None
    least: int
    has_bounds: bool

    @property
    def name(self) -> str:
        """The name of the level."""
        return self.column if self.tribe is None else f"{self.column} in {self.tribe}"


@dataclass(frozen=True)
class Fish:
    """Specimens with their ``tribe``, ``genus`` and ``species``."""

    landmarks: Landmarks
    labels: pd.DataFrame


@dataclass(frozen=True)
class FishStudy:
    """Errors for each held-out group, one line for each split.

    Attributes
    ----------
    levels : tuple of Level
        The levels, in order.
    pooled : DataFrame
        ``level``, ``unknown``, ``specimens``, ``method``, ``halving``, ``equal_error_rate``,
        ``auroc``, and ``e_star`` (NaN where groups are too small for a bound): one group
        against all others of the level together.
    pairs : DataFrame
        ``level``, ``unknown``, ``known``, ``method``, ``halving``, ``equal_error_rate``: one
        group against one other.
    """

    levels: tuple[Level, ...]
    pooled: pd.DataFrame
    pairs: pd.DataFrame


Score = Callable[[Matrix, Matrix], Vector]


def _spatial(reference: Matrix, questions: Matrix) -> Vector:
    return SpatialDepth().fit(reference).score_samples(questions)


def _kernelized(reference: Matrix, questions: Matrix) -> Vector:
    return kernelized_depths(reference, questions, _SETTINGS.bandwidth, _SETTINGS.seed)


def _outlier_factor(reference: Matrix, questions: Matrix) -> Vector:
    n_neighbors = min(_MOST_NEIGHBORS, len(reference) - 1)
    model = RobustKernelOutlierFactor(n_neighbors=n_neighbors, novelty=True)
    return np.asarray(model.fit(reference).score_samples(questions))


def _one_class(reference: Matrix, questions: Matrix) -> Vector:
    model = OneClassGaussianProcess(scale="none", random_state=0)
    return np.asarray(model.fit(reference).score_samples(questions))


def _nearest(reference: Matrix, questions: Matrix) -> Vector:
    search = NearestNeighbors(n_neighbors=min(_N_NEAREST, len(reference))).fit(reference)
    return np.asarray(-search.kneighbors(questions)[0].mean(axis=1))


# Scores are high for specimens of known groups.
METHODS: Final[dict[str, Score]] = {
    KSD: _kernelized,
    SPATIAL: _spatial,
    RKOF: _outlier_factor,
    ONE_CLASS: _one_class,
    NEAREST: _nearest,
}


def read_fish(folder: str | Path) -> Fish:
    """Read ``cichlids.csv`` from the folder or from its usual subfolders."""
    folder = Path(folder)
    found = [folder / inside / FILE for inside in _SUBFOLDERS if (folder / inside / FILE).is_file()]
    if not found:
        raise InputError(
            f"There is no {FILE} in {folder}, nor in {_SUBFOLDERS[1]} or {_SUBFOLDERS[2]} under "
            "it; name the folder that holds the cichlids, or omit `data`."
        )
    landmarks, others = read_landmark_table(found[0])
    absent = [name for name in ("tribe", "genus", "species") if name not in others.columns]
    if absent:
        raise InputError(f"{found[0]} has no column {quoted(absent[0])}; the study needs it.")
    return Fish(landmarks, others[["tribe", "genus", "species"]].astype(str))


def levels_of(fish: Fish) -> tuple[Level, ...]:
    """Return the tribes of 30 fish and, in the two largest, genera of 15 and species of 8."""
    largest = fish.labels["tribe"].value_counts().index[:2]
    return (
        Level("tribe", None, 30, has_bounds=True),
        *(Level("genus", str(tribe), 15, has_bounds=True) for tribe in largest),
        *(Level("species", str(tribe), 8, has_bounds=False) for tribe in largest),
    )


def fish_experiment(
    fish: Fish, halvings: int = 2, seed: int = 0, levels: tuple[Level, ...] | None = None
) -> FishStudy:
    """Hold out each group in turn, on every level, over several splits.

    Parameters
    ----------
    fish : Fish
        All specimens.
    halvings : int, default=2
        Number of splits of the known specimens into two halves.
    seed : int, default=0
        Random seed of the splits.
    levels : tuple of Level, default=None
        The groups to hold out; by default :func:`levels_of`.

    Returns
    -------
    FishStudy
        All errors.
    """
    check_count(halvings, "halvings", 1)
    levels = levels_of(fish) if levels is None else levels
    jobs = [
        (level, number, fold)
        for level in levels
        for number in range(halvings)
        for fold in _folds(held_out_groups(fish, level))
    ]
    pooled: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for level, number, fold in track(jobs, "fish held out as unknown"):
        for unknown_lines, pair_lines in _fold_lines(fish, level, fold, number, seed):
            pooled += unknown_lines
            pairs += pair_lines
    return FishStudy(levels, pd.DataFrame(pooled), pd.DataFrame(pairs))


def held_out_groups(fish: Fish, level: Level) -> list[str]:
    """Return the groups of a level that are large enough to be held out."""
    labels = fish.labels if level.tribe is None else _within(fish, level.tribe)
    counts = labels[level.column].value_counts()
    large = sorted(str(name) for name in counts.index[counts >= level.least])
    if len(large) < 2:
        raise InputError(
            f"Fewer than two groups have {level.least} fish ({level.name}); there is nothing to "
            "compare."
        )
    return large


def _within(fish: Fish, tribe: str) -> pd.DataFrame:
    return fish.labels[fish.labels["tribe"] == tribe]


def _folds(groups: list[str]) -> list[list[str]]:
    n_folds = min(len(groups), MAX_FOLDS)
    return [groups[start::n_folds] for start in range(n_folds)]


class _Halved(NamedTuple):
    """Specimens of a level as rows, with their groups and halves."""

    rows: Matrix
    groups: Labels
    reference: Indices
    holdout: Indices


def _fold_lines(
    fish: Fish, level: Level, fold: list[str], number: int, seed: int
) -> list[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """Fit a space without the groups of the fold, then hold each of them out."""
    is_inside = (
        np.ones(len(fish.labels), dtype=np.bool_)
        if level.tribe is None
        else (fish.labels["tribe"] == level.tribe).to_numpy()
    )
    coordinates = fish.landmarks.coordinates[is_inside]
    groups = fish.labels[level.column].to_numpy()[is_inside].astype(np.str_)
    split = split_in_half(groups, np.arange(len(groups)), seed, number)
    fitted = split.reference[~np.isin(groups[split.reference], fold)]
    space = fit_shape_space(coordinates[fitted], groups[fitted], _SETTINGS)
    data = _Halved(space.place(coordinates).rows, groups, *split)
    known = held_out_groups(fish, level)
    pair_scores = _pair_scores(data, known, fold)
    names = {"level": level.name, "halving": number + 1}
    return [
        (
            [{**names, "unknown": unknown, **line} for line in _pooled_lines(data, unknown, level)],
            [{**names, **line} for line in pair_scores if line["unknown"] == unknown],
        )
        for unknown in fold
    ]


def _pooled_lines(data: _Halved, unknown: str, level: Level) -> list[dict[str, Any]]:
    reference = data.reference[data.groups[data.reference] != unknown]
    holdout = data.holdout[data.groups[data.holdout] != unknown]
    novel = np.flatnonzero(data.groups == unknown)
    lines = []
    for method, score in METHODS.items():
        scores = score(data.rows[reference], data.rows[np.concatenate([holdout, novel])])
        known_scores, unknown_scores = scores[: len(holdout)], scores[len(holdout) :]
        e_star = (
            critical_false_alarm(known_scores, unknown_scores).e_star
            if level.has_bounds
            else np.nan
        )
        lines.append(
            {
                "specimens": len(novel),
                "method": method,
                "e_star": e_star,
                "equal_error_rate": equal_error_rate(known_scores, unknown_scores).rate,
                "auroc": area_under_curve(known_scores, unknown_scores),
            }
        )
    return lines


def _pair_scores(data: _Halved, known: list[str], fold: list[str]) -> list[dict[str, Any]]:
    """Fit each known group once, and score all unknown specimens of the fold with it."""
    novel = np.flatnonzero(np.isin(data.groups, fold))
    lines = []
    for group in known:
        reference = data.reference[data.groups[data.reference] == group]
        holdout = data.holdout[data.groups[data.holdout] == group]
        questions = data.rows[np.concatenate([holdout, novel])]
        for method, score in METHODS.items():
            scores = score(data.rows[reference], questions)
            known_scores, unknown_scores = scores[: len(holdout)], scores[len(holdout) :]
            lines += [
                {
                    "unknown": unknown,
                    "known": group,
                    "method": method,
                    "equal_error_rate": equal_error_rate(
                        known_scores, unknown_scores[data.groups[novel] == unknown]
                    ).rate,
                }
                for unknown in fold
                if unknown != group
            ]
    return lines


# In the paper seven of ten species have at most this e*; the other three are masked.
PAPER_E_STAR: Final = 0.302
PAPER_FRACTION: Final = 0.7
PAPER_WORST_PAIR: Final = 0.25

_NOT_IN_PAPER: Final = "not in the paper"


def pooled_table(study: FishStudy) -> pd.DataFrame:
    """Return Table 2: one line for each held-out group, with means over the splits by method.

    The values are e* if the groups are large enough for a bound, else equal error rates.
    """
    parts = []
    for level in study.levels:
        lines = study.pooled[study.pooled["level"] == level.name]
        figure = "e_star" if level.has_bounds else "equal_error_rate"
        table = lines.pivot_table(figure, index="unknown", columns="method", sort=True)
        table = table[list(METHODS)]
        counts = lines.groupby("unknown")["specimens"].first()
        table.insert(0, "figure", figure)
        table.insert(0, "specimens", counts[table.index])
        table.insert(0, "level", level.name)
        parts.append(table.reset_index())
    joined = pd.concat(parts, ignore_index=True)
    joined.columns.name = None
    return joined


def level_table(study: FishStudy) -> pd.DataFrame:
    """Return means over groups and splits for each level and method, and the worst pair."""
    pooled = study.pooled.groupby(["level", "method"], sort=False)
    table = pooled[["auroc", "equal_error_rate", "e_star"]].mean()
    by_pair = study.pairs.groupby(["level", "method", "unknown", "known"], sort=False)
    rates = by_pair["equal_error_rate"].mean().groupby(["level", "method"], sort=False)
    table["pair_error_rate"] = rates.mean()
    table["worst_pair"] = rates.max()
    return table.reset_index()


def pair_matrix(study: FishStudy, level: str, method: str = KSD) -> pd.DataFrame:
    """Return Table 3: equal error rates by unknown group (rows) and known group (columns)."""
    is_wanted = (study.pairs["level"] == level) & (study.pairs["method"] == method)
    return study.pairs[is_wanted].pivot_table("equal_error_rate", index="unknown", columns="known")


def fish_claims(study: FishStudy) -> list[Claim]:
    """Judge every level."""
    return [
        *(_pooled_claim(study, level) for level in study.levels if level.has_bounds),
        *(_pair_claim(study, level) for level in study.levels),
        *(_masking_claim(study, level) for level in study.levels if not level.has_bounds),
        *(_area_claim(study, level) for level in study.levels),
    ]


def _pooled_claim(study: FishStudy, level: Level) -> Claim:
    e_star = _pooled(study, level)["e_star"]
    n_low, n = int((e_star <= PAPER_E_STAR).sum()), len(e_star)
    return Claim(
        f"fish, {level.name}, pooled (Table 2): groups with e* of at most {PAPER_E_STAR}",
        "7 of 10",
        f"{n_low} of {n} (from {e_star.min():.3f} to {e_star.max():.3f})",
        verdict(n_low / n >= PAPER_FRACTION),
    )


def _pair_claim(study: FishStudy, level: Level) -> Claim:
    rates = pair_matrix(study, level.name).to_numpy()
    rates = rates[np.isfinite(rates)]
    n_alike = int((rates > PAPER_WORST_PAIR).sum())
    judged = verdict(n_alike == 0)
    if 0 < n_alike < 0.05 * len(rates):
        pairs = f"{quantity(n_alike, 'pair')} {plural(n_alike, 'is', 'are')}"
        judged = f"differs because {pairs} more alike than that"
    return Claim(
        f"fish, {level.name}, pairs (Table 3): equal error rates of at most {PAPER_WORST_PAIR}",
        "90 of 90",
        f"{len(rates) - n_alike} of {len(rates)} (the worst {rates.max():.3f})",
        judged,
    )


def _masking_claim(study: FishStudy, level: Level) -> Claim:
    pooled = _pooled(study, level)["equal_error_rate"]
    worst = pair_matrix(study, level.name).max(axis=1)
    hidden = pooled.index[pooled > PAPER_E_STAR]
    n_shown = int((worst[hidden] < pooled[hidden]).sum())
    return Claim(
        f"fish, {level.name}, masking: groups with a pooled equal error rate above {PAPER_E_STAR} "
        "are separated better from every single known group",
        "3 of 3",
        f"{n_shown} of {len(hidden)}",
        verdict(n_shown > 0.5 * len(hidden) or not len(hidden)),
    )


def _area_claim(study: FishStudy, level: Level) -> Claim:
    lines = study.pooled[study.pooled["level"] == level.name]
    areas = lines.groupby("method", sort=False)["auroc"].mean()
    written = ", ".join(f"{name} {area:.3f}" for name, area in areas.items())
    return Claim(
        f"fish, {level.name}, pooled: the mean area under the ROC curve of KSD is the largest",
        _NOT_IN_PAPER,
        written,
        verdict(areas.idxmax() == KSD),
    )


def _pooled(study: FishStudy, level: Level) -> pd.DataFrame:
    """Return KSD's means over the splits, by group."""
    is_wanted = (study.pooled["level"] == level.name) & (study.pooled["method"] == KSD)
    lines = study.pooled[is_wanted]
    return lines.groupby("unknown")[["e_star", "equal_error_rate", "auroc"]].mean()
