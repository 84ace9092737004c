"""Novelty scores of shapes, on groups held out in turn.

``docs/decisions/033-scores-of-shapes.md`` splits the sets into choosing and confirming parts, drawn
before the first run. ``tribes`` holds out all species of the confirming tribes, ``all`` every
group of turtles, *Tropheus* and cichlid species.

Each group is held out in turn; the others are halved by group as in a study. The measure is the
area under the ROC curve of held-out known specimens against those of the group held out, a mean
over halvings. Intervals are bootstrap intervals over groups.

``python -m benchmarks.species_scores`` runs choosing and confirming, ``--part`` one part.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.covariance import LedoitWolf

from kernova.neighbors.products import kth_distances
from kernova.shapes import read_tps
from kernova.species import SCORES
from kernova.species.scatter import Labels, scatter_within, whitening
from kernova.species.scores import fit_score, scored_rows
from kernova.species.space import Placed, SpeciesSettings, fit_shape_space
from kernova.species.splits import area_under_curve, split_in_half
from kernova.typing import Coordinates, Indices, Matrix, Vector

_DATA = Path(os.environ.get("KERNOVA_DATA", Path(__file__).parents[2] / "shared" / "data"))
_SEED = 33
_DRAWN_SPECIES = 25
_RESAMPLES = 4000
DEFAULT, *OTHERS = SCORES
TRIBES = {  # of the choosing part
    "Bathybatini", "Benthochromini", "Eretmodini", "Limnochromini", "Oreochromini",
    "Trematocarini", "Tropheini",
}  # fmt: skip
TURTLES = {"picta", "guttata", "orbicularis", "muhlenbergii", "ornata"}


class LandmarkSet(NamedTuple):
    """Specimens, their groups, and the groups to hold out."""

    name: str
    coordinates: Coordinates
    groups: Labels
    held_out: list[str]


class Draw(NamedTuple):
    """One halving, all specimens in the space of the reference half."""

    placed: Placed
    groups: Labels
    reference: Indices
    queries: Indices  # held-out known specimens, then the unknown ones
    n_known: int


# --- sets ----------------------------------------------------------------------------------------


def from_tps(folder: str, name: str) -> tuple[Coordinates, pd.DataFrame]:
    path = _DATA / "landmarks" / folder / name
    return read_tps(path.with_suffix(".tps")).coordinates, pd.read_csv(path.with_suffix(".csv"))


def from_table(name: str) -> tuple[Coordinates, pd.DataFrame]:
    table = pd.read_csv(_DATA / "landmarks" / "small" / f"{name}.csv")
    columns = [c for c in table if c[0] in "xy" and c[1:].isdigit()]
    return table[columns].to_numpy(float).reshape(len(table), -1, 2), table


def held_out(
    name: str, coordinates: Coordinates, groups: pd.Series, least: int = 1, most: int | None = None
) -> LandmarkSet:
    """Return a set in which groups of a size are held out, or some of them, drawn at random."""
    labels = groups.to_numpy(str)
    names, counts = np.unique(labels, return_counts=True)
    drawn = np.random.default_rng(_SEED).permutation(names[counts >= least])[:most]
    return LandmarkSet(name, coordinates, labels, sorted(drawn.tolist()))


def choosing_sets() -> Iterator[LandmarkSet]:
    fish, table = from_tps("tanganyika_cichlids", "cichlids")
    part = table["tribe"].isin(TRIBES).to_numpy()
    yield held_out("cichlids", fish[part], table["species"][part], 8, _DRAWN_SPECIES)
    turtles, table = from_tps("turtles", "turtles")
    part = table["sample"].isin(TURTLES).to_numpy()
    yield held_out("turtles", turtles[part], table["sample"][part])
    apes, table = from_table("apes")
    yield held_out("apes, sexes", apes, table["sexsp"])
    yield held_out("apes", apes, table["species"])
    salamanders, table = from_table("plethodon")
    yield held_out("plethodon", salamanders, table["species"] + table["site"])


def confirming_cichlids(most: int | None = None) -> LandmarkSet:
    """Return all cichlids, with species of the confirming tribes to hold out, or some of them."""
    fish, table = from_tps("tanganyika_cichlids", "cichlids")
    counts = table["species"][~table["tribe"].isin(TRIBES)].value_counts()
    names = sorted(counts.index[counts >= 8])
    drawn = np.random.default_rng(_SEED).permutation(names)[:most].tolist()
    return LandmarkSet("cichlids", fish, table["species"].to_numpy(str), sorted(drawn))


def confirming_sets() -> Iterator[LandmarkSet]:
    yield confirming_cichlids(_DRAWN_SPECIES)
    turtles, table = from_tps("turtles", "turtles")
    samples = table["sample"].to_numpy(str)
    yield LandmarkSet("turtles", turtles, samples, sorted(set(samples) - TURTLES))
    yield from tropheus_sets()
    mice, table = from_table("mice")
    yield held_out("mice", mice, table["line"])


def all_sets() -> Iterator[LandmarkSet]:
    turtles, table = from_tps("turtles", "turtles")
    yield held_out("turtles", turtles, table["sample"])
    yield from tropheus_sets()
    fish, table = from_tps("tanganyika_cichlids", "cichlids")
    yield held_out("cichlids", fish, table["species"], 8)


def tropheus_sets() -> Iterator[LandmarkSet]:
    fish, table = from_tps("tropheus", "tropheus")
    yield held_out("Tropheus taxa", fish, table["taxon"])
    yield held_out("Tropheus populations", fish, table["population"], 10)


PARTS: dict[str, Callable[[], Iterator[LandmarkSet]]] = {
    "choosing": choosing_sets,
    "confirming": confirming_sets,
    "tribes": lambda: iter([confirming_cichlids()]),
    "all": all_sets,
}


# --- scores --------------------------------------------------------------------------------------


def by_name(name: str, bandwidth: str = "nearest") -> Callable[[Draw], Vector]:
    """Return a score of the library, as a function of a draw."""

    def score(draw: Draw) -> Vector:
        rows = scored_rows(draw.placed, draw.reference, name, SpeciesSettings())
        groups = draw.groups[draw.reference]
        fitted = fit_score(rows[draw.reference], groups, name, bandwidth=bandwidth)
        return fitted.typicality(rows[draw.queries])

    return score


def all_coordinates(draw: Draw) -> tuple[Matrix, Matrix]:
    rows = draw.placed.aligned.reshape(len(draw.placed.aligned), -1)
    return rows[draw.reference], rows[draw.queries]


def whitened_neighbors(draw: Draw) -> Vector:
    rows, queries = all_coordinates(draw)
    white = whitening(scatter_within(rows, draw.groups[draw.reference]))
    return -kth_distances(rows @ white, range(1, 6), queries @ white).mean(axis=1)


def plain_mahalanobis(draw: Draw) -> Vector:
    """Return the distance to the nearest mean on all coordinates, by scikit-learn's shrinkage."""
    rows, queries = all_coordinates(draw)
    means = pd.DataFrame(rows).groupby(draw.groups[draw.reference]).transform("mean")
    model = LedoitWolf(assume_centered=True).fit(rows - means.to_numpy())
    found = [model.mahalanobis(queries - mean) for mean in means.drop_duplicates().to_numpy()]
    return -np.min(found, axis=0)


CANDIDATES: dict[str, Callable[[Draw], Vector]] = {
    **{name: by_name(name) for name in SCORES},
    "depth, half-nearest": by_name("depth", "half-nearest"),
    "depth, reach": by_name("depth", "reach"),
    "depth, median": by_name("depth", "median"),
    "neighbors, whitened": whitened_neighbors,
    "mahalanobis, Ledoit-Wolf": plain_mahalanobis,
}


# --- runs ----------------------------------------------------------------------------------------


def draws(one: LandmarkSet, group: str, halvings: int) -> Iterator[Draw]:
    is_unknown = one.groups == group
    for number in range(halvings):
        halves = split_in_half(one.groups, np.flatnonzero(~is_unknown), 0, number)
        reference = halves.reference
        space = fit_shape_space(
            one.coordinates[reference], one.groups[reference], SpeciesSettings()
        )
        queries = np.concatenate([halves.holdout, np.flatnonzero(is_unknown)])
        placed = space.place(one.coordinates)
        yield Draw(placed, one.groups, reference, queries, len(halves.holdout))


def areas(one: LandmarkSet, group: str, halvings: int, names: list[str]) -> dict[str, object]:
    found: dict[str, list[float]] = {name: [] for name in names}
    for draw in draws(one, group, halvings):
        for name in names:
            scores = CANDIDATES[name](draw)
            found[name].append(area_under_curve(scores[: draw.n_known], scores[draw.n_known :]))
    return {"set": one.name, "group": group} | {n: float(np.mean(a)) for n, a in found.items()}


def interval(values: Vector) -> str:
    """Return the mean over groups with a bootstrap interval."""
    drawn = np.random.default_rng(0).choice(values, (_RESAMPLES, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{values.mean():+.3f} ({low:+.3f} to {high:+.3f})"


def show(part: str, found: pd.DataFrame, names: list[str]) -> None:
    by_set = found.groupby("set", sort=False)[names].mean()
    by_set.loc["mean of sets"] = by_set.mean()
    by_set.loc["mean of groups"] = found[names].mean()
    print(f"\n## {part}: AUROC, {len(found)} groups\n")
    print(by_set.T.round(3).to_string())
    for other in names[1:]:
        gains = found[DEFAULT] - found[other]
        print(f"\n{DEFAULT} - {other}: {interval(gains.to_numpy())}")
        for name, part_gains in gains.groupby(found["set"], sort=False):
            print(f"    {name}: {interval(part_gains.to_numpy())}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=[*PARTS, "both"], default="both")
    parser.add_argument("--halvings", type=int, default=4)
    parser.add_argument("--scores", default=",".join(CANDIDATES).replace(", ", "; "))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names = [name.replace("; ", ", ") for name in options.scores.split(",")]
    for part in ["choosing", "confirming"] if options.part == "both" else [options.part]:
        jobs = [(one, group) for one in PARTS[part]() for group in one.held_out]
        lines = Parallel(n_jobs=options.jobs)(
            delayed(areas)(one, group, options.halvings, names) for one, group in jobs
        )
        show(part, pd.DataFrame(lines), names)


if __name__ == "__main__":
    main()
