"""Simulated species studies: how often samples of known, new, young or one-sexed groups look new.

``python -m benchmarks.species_studies --data FOLDER`` draws studies from sets of landmarks:
turtles, Tropheus, cichlids, apes, plethodon and mice. A sample of a known group is called unknown,
or a group is held out and a sample of it is. Groups of the part ``choosing`` had a say in the
rules of ``docs/decisions/034``; those of ``confirming`` had none.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from kernova.calibration.bounds import binomial_upper_bound
from kernova.errors import InputError
from kernova.shapes import Landmarks, read_landmark_table
from kernova.species.covariates import Covariates, covariates_from
from kernova.species.pairs import comparisons_of
from kernova.species.results import answer_unknown
from kernova.species.space import SpeciesSettings
from kernova.species.study import study_unknown
from kernova.species.verdicts import (
    DIFFERS_WITH_COVARIATES,
    DIFFERS_WITH_SIZE,
    DISTINGUISHED,
    LOOKS_NEW,
)

# The sample differs in mean shape from every known group, whatever explains it.
DIFFERS: Final = (LOOKS_NEW, DIFFERS_WITH_SIZE, DIFFERS_WITH_COVARIATES)
SIZES: Final = (5, 8, 12, 25)
_UNKNOWN: Final = "unknown sample"
_QUICK: Final = SpeciesSettings(halvings=1)
# A group must keep so many specimens to be known, beside the sample drawn from it.
_FEWEST_LEFT: Final = 8
_N_YOUNG: Final = 20


class Set(NamedTuple):
    """A set of landmarks, and which of its groups had a say."""

    name: str
    file: str
    column: str
    least: int  # smaller groups are left out
    choosing: tuple[str, ...]
    has_young: bool = False
    sex: str = ""  # the column of sexes


SETS: Final = (
    Set(
        "turtles", "turtles/turtles.csv", "species", 8,
        ("Emys blandingii", "Emys marmorata", "Emys orbicularis", "Glyptemys muhlenbergii",
         "Terrapene coahuila"),
        has_young=True,
    ),
    Set("tropheus", "tropheus/tropheus.csv", "taxon", 8, (), sex="sex"),
    Set("cichlids", "tanganyika_cichlids/cichlids.csv", "species", 8, (), sex="sex"),
    Set("apes", "small/apes.csv", "species", 8, ("gor",), sex="sex"),
    Set("plethodon", "small/plethodon.csv", "species", 8, ()),
    Set("mice", "small/mice.csv", "line", 8, ()),
)  # fmt: skip


class Loaded(NamedTuple):
    """Specimens of a set with groups and other columns."""

    landmarks: Landmarks
    groups: np.ndarray
    columns: pd.DataFrame


def load(one: Set, folder: Path) -> Loaded:
    """Read a set; the sex of apes is the last letter of a column."""
    table = read_landmark_table(folder / one.file)
    columns = table.others.reset_index(drop=True).astype("string").fillna("")
    if one.name == "apes":
        columns["sex"] = columns["sexsp"].str[-1]
    groups = columns[one.column].to_numpy().astype(np.str_)
    names, counts = np.unique(groups, return_counts=True)
    is_kept = np.isin(groups, names[counts >= one.least])
    return Loaded(table.landmarks.take(is_kept), groups[is_kept], columns[is_kept])


class Study(NamedTuple):
    """One simulated study, and what came of it."""

    set: str
    part: str
    question: str  # "known", "held out", "small", "young", "one sex", "one sex, given"
    n: int
    group: str
    verdict: str
    is_warned: bool
    is_distinguished: bool  # single specimens, from those of every known group compared


def studies(
    one: Set, data: Loaded, parts: tuple[str, ...], n_each: int, seed: int
) -> Iterator[Study]:
    """Draw studies of all kinds that a set allows, n_each of a kind, size and part."""
    names, counts = np.unique(data.groups, return_counts=True)
    for part in parts:
        rng = np.random.default_rng([seed, *one.name.encode(), *part.encode()])
        eligible = [str(name) for name in names if (name in one.choosing) == (part == "choosing")]
        for n in SIZES:
            large = [name for name in eligible if counts[names == name][0] >= n + _FEWEST_LEFT]
            enough = [name for name in eligible if counts[names == name][0] >= n]
            for k in range(n_each):
                if large:
                    name = large[(k + int(rng.integers(len(large)))) % len(large)]
                    yield _sampled(one, part, data, name, n, rng, is_held_out=False)
                if enough and len(names) > 1:
                    name = enough[(k + int(rng.integers(len(enough)))) % len(enough)]
                    yield _sampled(one, part, data, name, n, rng, is_held_out=True)
        if one.has_young:
            yield from (_young(one, part, data, name) for name in eligible)
            yield from _small(one, part, data, eligible, n_each, rng)
        if one.sex:
            yield from _sexes(one, part, data, eligible, n_each, rng)


def _sampled(
    one: Set, part: str, data: Loaded, name: str, n: int, rng: np.random.Generator,
    *, is_held_out: bool,
) -> Study:  # fmt: skip
    members = np.flatnonzero(data.groups == name)
    chosen = rng.choice(members, n, replace=False)
    left_out = np.setdiff1d(members, chosen) if is_held_out else np.empty(0, dtype=int)
    question = "held out" if is_held_out else "known"
    return _asked(one, part, question, data, name, chosen, left_out)


def _young(one: Set, part: str, data: Loaded, name: str) -> Study:
    """Call the smallest specimens of a group unknown."""
    sizes = comparisons_of(data.landmarks, data.groups, _QUICK, Covariates()).log_sizes
    members = np.flatnonzero(data.groups == name)
    smallest = members[np.argsort(sizes[members], kind="stable")][:_N_YOUNG]
    return _asked(one, part, "young", data, name, smallest, np.empty(0, dtype=int))


def _small(
    one: Set, part: str, data: Loaded, eligible: list[str], n_each: int, rng: np.random.Generator
) -> Iterator[Study]:
    """Draw samples of a known group in which small specimens are more frequent than in the group.

    The logarithm of the odds falls by 1/4, 1/2, 1 or 2 per standard deviation of log size.
    """
    sizes = comparisons_of(data.landmarks, data.groups, _QUICK, Covariates()).log_sizes
    for k in range(4 * n_each):
        name = eligible[k % len(eligible)]
        members = np.flatnonzero(data.groups == name)
        n, fall = SIZES[k % len(SIZES)], (0.25, 0.5, 1.0, 2.0)[k // len(SIZES) % 4]
        if len(members) < n + _FEWEST_LEFT:
            continue
        standard = (sizes[members] - sizes[members].mean()) / sizes[members].std()
        odds = np.exp(-fall * np.clip(standard, -3, 3))
        chosen = rng.choice(members, n, replace=False, p=odds / odds.sum())
        yield _asked(one, part, "small", data, name, chosen, np.empty(0, dtype=int))


def _sexes(
    one: Set, part: str, data: Loaded, eligible: list[str], n_each: int, rng: np.random.Generator
) -> Iterator[Study]:
    """Call one sex of a group unknown, where both have enough specimens."""
    sex = data.columns[one.sex].str.upper().str[:1].to_numpy().astype(np.str_)
    found = []
    for name in eligible:
        of = [np.flatnonzero((data.groups == name) & (sex == letter)) for letter in "FM"]
        if min(map(len, of)) >= 4:
            found += [(name, of[0], of[1]), (name, of[1], of[0])]
    for k in rng.permutation(len(found))[: max(2 * n_each, 6)]:
        name, unknown, _ = found[k]
        stated = np.flatnonzero(np.isin(sex, ["F", "M"]))
        left_out = np.setdiff1d(np.arange(len(sex)), stated)
        for question in ("one sex", "one sex, given"):
            yield _asked(one, part, question, data, name, unknown, left_out)


def _asked(
    one: Set, part: str, question: str, data: Loaded, name: str,
    chosen: np.ndarray, left_out: np.ndarray,
) -> Study:  # fmt: skip
    groups = data.groups.astype(object)
    groups[chosen] = _UNKNOWN
    is_kept = np.ones(len(groups), dtype=bool)
    is_kept[left_out] = False
    landmarks, labels = data.landmarks.take(is_kept), groups[is_kept].tolist()
    columns = data.columns[is_kept].drop(columns=one.column)
    names = [one.sex] if question.endswith("given") else []
    covariates = covariates_from(columns, names, one.file)
    if question in ("young", "one sex"):
        answer = answer_unknown(landmarks, labels, _UNKNOWN, _QUICK, covariates, columns)
        study, kind = answer.study, answer.study.verdict.kind
        text = " ".join(answer.sentences)
        is_warned = kind != LOOKS_NEW or "No covariate was given" in text or "sex =" in text
    else:
        study = study_unknown(landmarks, labels, _UNKNOWN, _QUICK, covariates)
        kind = study.verdict.kind
        is_warned = kind != LOOKS_NEW
    is_distinguished = bool(study.pairs["single_specimens"].eq(DISTINGUISHED).all())
    return Study(one.name, part, question, len(chosen), name, kind, is_warned, is_distinguished)


def report(found: pd.DataFrame) -> str:
    """Return rates of "looks new" by question and number of specimens, with exact bounds."""
    lines = []
    found = found.assign(n=found["n"].where(found["question"].isin(["known", "held out"]), 0))
    for (part, question, n), rows in found.groupby(["part", "question", "n"], sort=False):
        hits, total = int((rows["verdict"] == LOOKS_NEW).sum()), len(rows)
        high = binomial_upper_bound(hits, total, 0.975)
        low = 1 - binomial_upper_bound(total - hits, total, 0.975)
        lines.append(
            f"{part:11s} {question:15s} n {n or '':3} {total:4d} studies: looks new "
            f"{hits / total:.3f} ({low:.3f} to {high:.3f}), differs "
            f"{rows['verdict'].isin(DIFFERS).mean():.3f}, or distinguished "
            f"{(rows['verdict'].isin(DIFFERS) | rows['is_distinguished']).mean():.3f}, warned "
            f"{rows['is_warned'].mean():.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Draw the studies of all sets, and print and write what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of landmark sets")
    parser.add_argument("--each", type=int, default=12, help="studies per set, kind and size")
    parser.add_argument("--part", choices=["choosing", "confirming"], help="only this part")
    parser.add_argument("--sets", nargs="*", default=[one.name for one in SETS])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=None)
    arguments = parser.parse_args()
    if not arguments.data.exists():
        raise InputError(f"There is no folder {arguments.data}.")
    found: list[Study] = []
    parts = ("choosing", "confirming") if arguments.part is None else (arguments.part,)
    for one in SETS:
        if one.name in arguments.sets:
            data = load(one, arguments.data)
            found += studies(one, data, parts, arguments.each, arguments.seed)
            print(one.name, flush=True)
            table = pd.DataFrame([study for study in found if study.set == one.name])
            print(report(table) if len(table) else "nothing", flush=True)
    table = pd.DataFrame(found)
    print("all sets")
    print(report(table))
    for question, rows in table[table["verdict"] != LOOKS_NEW].groupby("question"):
        print(question, rows.groupby(["set", "verdict"]).size().to_dict())
    if arguments.output is not None:
        table.to_csv(arguments.output, index=False)


if __name__ == "__main__":
    main()
