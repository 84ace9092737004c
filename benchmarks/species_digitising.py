"""Digitising checks on real specimens: published errors, planted ones, and new species.

``python -m benchmarks.species_digitising --data FOLDER`` prints three tables.

- *Published*: five *Tropheus* whose publishers exclude them for landmark 2, by each grouping.
  The bar: all five found, and at most 10 other specimens.
- *Planted*: 40 specimens of each set with two landmarks exchanged, and 40 mirrored ones; each
  alone in a file, and all 40 in one. The bar: all found. Of those that are not, the distance of
  the two landmarks is printed, as a fraction of centroid size.
- *New*: each group of 8 specimens or more without a group name, as an unknown sample is; with its
  name; and three of its specimens alone without one. The bar: at most 10 % of them are called
  errors.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.species_studies import Loaded, Set, load
from kernova.errors import InputError
from kernova.shapes import Landmarks
from kernova.species.digitising import DigitisingReport, check_digitising
from kernova.species.digitising.suspicions import MIRRORED, SWAPPED
from kernova.typing import Coordinates, Indices

N_PLANTED: Final = 40
MOST_OTHERS: Final = 10
MOST_NEW: Final = 0.1
_LEAST_NEW: Final = 8
_FEW: Final = 3
NO_GROUPS: Final = "no groups"

_TROPHEUS: Final = Set("tropheus", "tropheus/tropheus.csv", "taxon", 1, ())
_CICHLIDS: Final = Set("cichlids", "tanganyika_cichlids/cichlids.csv", "species", 1, ())
SETS: Final = (
    Set("turtles", "turtles/turtles.csv", "species", 1, ()),
    _TROPHEUS,
    _TROPHEUS._replace(column="population"),
    _CICHLIDS,
    _CICHLIDS._replace(column="tribe"),
)
PUBLISHED: Final = ("taxon", "population", "sex", "allo_symp", NO_GROUPS)

_Names = list[str | None]


def named_groups(data: Loaded, column: str) -> _Names | None:
    """Return the groups of a column, None without one; empty cells are no group."""
    return None if column == NO_GROUPS else [name or None for name in data.columns[column]]


# --- published errors ------------------------------------------------------------------------


def published(folder: Path) -> Iterator[str]:
    """Look for the published outliers of Tropheus by each grouping."""
    data = load(_TROPHEUS, folder)
    known = np.flatnonzero(data.columns["lm2_outlier"] == "1")
    for column in PUBLISHED:
        report = check_digitising(data.landmarks, named_groups(data, column))
        found = {one.row: one for one in report.findings}
        hits = [found[row] for row in known.tolist() if row in found]
        n_named = sum(one.landmarks == (2,) for one in hits)
        others = len(found) - len(hits)
        is_met = len(hits) == len(known) and others <= MOST_OTHERS
        yield (
            f"  {column:11s} found {len(hits)} of {len(known)}, landmark 2 named in {n_named}, "
            f"{others} others{'' if is_met else '  MISSED'}"
        )


# --- planted errors --------------------------------------------------------------------------


class Planted(NamedTuple):
    """One spoilt specimen, and what was found of it."""

    set: str
    groups: str
    kind: str
    file: str  # "alone" or "all in one"
    row: int
    landmarks: str
    distance: float  # of the landmarks exchanged, as a fraction of centroid size; NaN: mirrored
    is_found: bool
    is_named: bool  # with its kind, and the two landmarks
    n_others: int  # other specimens flagged in the same file


class _Plan(NamedTuple):
    rows: Indices
    pairs: Indices  # the landmarks to exchange; shape (n, 2)


def planted(one: Set, data: Loaded, seed: int) -> Iterator[Planted]:
    """Spoil specimens, one in a file and all in one."""
    rng = np.random.default_rng([seed, *one.name.encode()])
    rows = rng.choice(len(data.groups), N_PLANTED, replace=False)
    n_landmarks = data.landmarks.n_landmarks
    pairs = np.array([rng.choice(n_landmarks, 2, replace=False) for _ in rows])
    plan = _Plan(rows, np.sort(pairs, axis=1))
    columns = (one.column, NO_GROUPS) if one in (SETS[0], _TROPHEUS, _CICHLIDS) else (one.column,)
    for column in columns:
        groups = named_groups(data, column)
        for kind in (SWAPPED, MIRRORED):
            for k in range(N_PLANTED):
                each = _Plan(rows[k : k + 1], plan.pairs[k : k + 1])
                yield from _found(one, data, groups, column, kind, "alone", each)
            yield from _found(one, data, groups, column, kind, "all in one", plan)


def spoilt(coordinates: Coordinates, kind: str, plan: _Plan) -> Coordinates:
    """Return specimens with errors in some of them."""
    result = coordinates.copy()
    for row, (a, b) in zip(plan.rows, plan.pairs, strict=True):
        if kind == SWAPPED:
            result[row, [a, b]] = coordinates[row, [b, a]]
        else:
            result[row, :, 0] *= -1
    return result


def _found(
    one: Set, data: Loaded, groups: _Names | None, column: str, kind: str, file: str, plan: _Plan
) -> Iterator[Planted]:
    given = data.landmarks.coordinates
    changed = Landmarks(data.landmarks.ids, spoilt(given, kind, plan))
    report = check_digitising(changed, groups)
    found = {finding.row: finding for finding in report.findings}
    n_others = len(set(found) - set(plan.rows.tolist()))
    for row, (a, b) in zip(plan.rows.tolist(), plan.pairs.tolist(), strict=True):
        size = np.linalg.norm(given[row] - given[row].mean(axis=0))
        distance = float(np.linalg.norm(given[row, a] - given[row, b]) / size)
        landmarks = (a + 1, b + 1) if kind == SWAPPED else ()
        is_named = row in found and (found[row].kind, found[row].landmarks) == (kind, landmarks)
        yield Planted(
            one.name, column, kind, file, row, " ".join(map(str, landmarks)),
            distance if kind == SWAPPED else np.nan, row in found, is_named, n_others,
        )  # fmt: skip


def planted_report(found: pd.DataFrame) -> Iterator[str]:
    """Return one line per set, grouping, kind and file, and one per specimen not found."""
    columns = ["set", "groups", "kind", "file"]
    for _, rows in found.groupby(columns, sort=False):
        name, groups, kind, file = rows[columns].iloc[0].tolist()
        missed = rows[~rows["is_found"]]
        yield (
            f"  {name:9s} {groups:10s} {kind:12s} {file:10s} found {rows['is_found'].sum():2d} of "
            f"{len(rows)}, named {rows['is_named'].sum():2d}, others {rows['n_others'].mean():.1f}"
            f"{'' if missed.empty else '  MISSED'}"
        )
        for one in missed.itertuples():
            landmarks = str(one.landmarks) or "all"
            yield f"    row {one.row}, landmarks {landmarks}, {one.distance:.3f} apart"


# --- new species -----------------------------------------------------------------------------


class New(NamedTuple):
    """One group taken for new, and how many of its specimens are called errors."""

    set: str
    groups: str
    question: str
    group: str
    n: int
    n_flagged: int
    kinds: str


def new_species(one: Set, data: Loaded, seed: int) -> Iterator[New]:
    """Hold out each group of some size."""
    rng = np.random.default_rng([seed, *one.name.encode(), *one.column.encode()])
    groups = data.groups.astype(object)
    named = check_digitising(data.landmarks, groups.tolist())
    names, counts = np.unique(data.groups[data.groups != ""], return_counts=True)
    for name in names[counts >= _LEAST_NEW].tolist():
        members = np.flatnonzero(data.groups == name)
        yield _flagged(one, "with its name", name, named, members)
        alone = groups.copy()
        alone[members] = None
        report = check_digitising(data.landmarks, alone.tolist())
        yield _flagged(one, "no group", name, report, members)
        few = rng.choice(members, _FEW, replace=False)
        kept = np.setdiff1d(np.arange(len(groups)), np.setdiff1d(members, few))
        report = check_digitising(data.landmarks.take(kept), alone[kept].tolist())
        yield _flagged(one, "three, no group", name, report, np.searchsorted(kept, few))


def _flagged(one: Set, question: str, name: str, report: DigitisingReport, members: Indices) -> New:
    found = {each.row: each.kind for each in report.findings}
    kinds = [found[row] for row in members.tolist() if row in found]
    return New(
        one.name, one.column, question, name, len(members), len(kinds), ", ".join(sorted(kinds))
    )


def new_report(found: pd.DataFrame) -> Iterator[str]:
    """Return one line per set and question, and one per group beyond the bar."""
    found = found.assign(rate=found["n_flagged"] / found["n"])
    columns = ["set", "groups", "question"]
    for _, rows in found.groupby(columns, sort=False):
        name, groups, question = rows[columns].iloc[0].tolist()
        beyond = rows[rows["rate"] > MOST_NEW]
        total = rows["n_flagged"].sum() / rows["n"].sum()
        yield (
            f"  {name:9s} {groups:10s} {question:15s} {len(rows):3d} groups, "
            f"{rows['n'].sum():4d} specimens, flagged {rows['n_flagged'].sum():3d} ({total:.4f}), "
            f"worst group {rows['rate'].max():.3f}, beyond {MOST_NEW}: {len(beyond)}"
            f"{'  MISSED' if total > MOST_NEW else ''}"
        )
        for group in beyond.itertuples():
            yield f"    {group.group}: {group.n_flagged} of {group.n} ({group.kinds})"


def main() -> None:
    """Run the checks, and print and write what they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of landmark sets")
    questions = ("published", "planted", "new")
    parser.add_argument("--questions", nargs="*", choices=questions, default=list(questions))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=None, help="folder of tables")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        raise InputError(f"There is no folder {arguments.data}.")
    if "published" in arguments.questions:
        print("published outliers of Tropheus", *published(arguments.data), sep="\n", flush=True)
    tasks = (("planted", planted, planted_report), ("new", new_species, new_report))
    for question, task, report in tasks:
        if question not in arguments.questions:
            continue
        print(question)
        tables = []
        for one in SETS:
            rows = task(one, load(one, arguments.data), arguments.seed)
            tables.append(pd.DataFrame(rows))
            print(*report(tables[-1]), sep="\n", flush=True)
        if arguments.output is not None:
            pd.concat(tables).to_csv(arguments.output / f"{question}.csv", index=False)


if __name__ == "__main__":
    main()
