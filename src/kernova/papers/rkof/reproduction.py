"""Reproduction of the paper on the robust kernel outlier factor (RKOF).

Gao, Hu, Zhang, Zhang and Wu, "RKOF: Robust Kernel-Based Local Outlier Detection", PAKDD 2011.

The paper shows one draw of each synthetic set. A printed k is reproduced if it lies between the 5 %
and the 95 % quantile of our draws, a fraction if it is within two standard deviations of their
mean, and a statement if it is true of more than half of them. Of the real data the text prints a
few values; the table of all areas is missing from our copy.
:mod:`~kernova.papers.rkof.data` describes the sources of the real data and their scaling.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from kernova.errors import check_count
from kernova.papers.claims import (
    Claim,
    Reproduction,
    Spread,
    checked_names,
    claim_over_draws,
    verdict,
)
from kernova.papers.rkof.data import SOURCES, load_sets
from kernova.papers.rkof.experiments import (
    KERNELS,
    LARGE_LPF,
    LOF,
    PLAIN_RKOF,
    VOLCANO,
    WEIGHTED_LOF,
    RealResults,
    best_numbers,
    family_areas,
    measure_sets,
)
from kernova.papers.rkof.synthetic import (
    METHODS,
    NEARLY_ALL,
    WEIGHTS,
    all_found_from,
    coverage_experiment,
    fraction_still_seen,
    largest_seen_fractions,
    theorem_experiment,
    theoretical_curves,
)
from kernova.text import percent

DATASETS: Final = tuple(SOURCES)
# The smallest k from which on all outliers of Synthetic-1 are found.
PAPER_FROM_K: Final = {"RKOF, sigma = 0.1": 27, "RKOF, sigma = 1": 31, "LOF": 60}
PAPER_RKOF_K: Final = 14  # where RKOF finds all of Synthetic-2
PAPER_LOF_K, PAPER_LOF_FOUND = 20, 0.85  # LOF's best there
# The area that Volcano exceeds for every k from the first to the last, and the k of the largest.
PAPER_PLATEAUS: Final = {
    "kdd_u2r": (0.941, 280, 700, 320),
    "kdd_u2r_idf": (0.941, 280, 700, 320),
    "mammography": (0.824, 40, 460, 110),
}
PAPER_PERFECT: Final = ("shuttle 5", "shuttle 6", "shuttle 7")

# Our reading of "similar" and "close to", and of "approximately 1".
CLOSE: Final = 0.02
NEARLY_ONE: Final = 0.99


@dataclass(frozen=True)
class RkofReproduction(Reproduction):
    """Results of the RKOF experiments.

    Attributes
    ----------
    seeds : tuple of int
        Random seed of each draw of the synthetic sets.
    coverage : DataFrame
        Synthetic-1 and -2: fraction of the outliers found, by set, seed, method and k.
    theorem_curves : DataFrame
        Theorem 1: factor by fraction of outliers in the neighbourhood and their weight.
    theorem : DataFrame
        Theorem 1 by experiment: the same for a growing group of outliers, by method.
    real : RealResults
        Areas under ROC curves, the curves, and times on real data.
    notes : tuple of str
        Data sets that could not be read, and other omissions.
    """

    paper: ClassVar = "Gao, Hu, Zhang, Zhang and Wu, PAKDD 2011"

    seeds: tuple[int, ...]
    coverage: pd.DataFrame
    theorem_curves: pd.DataFrame
    theorem: pd.DataFrame
    real: RealResults
    notes: tuple[str, ...]

    def claims(self) -> Sequence[Claim]:
        """Return every claim that the results can decide."""
        return all_claims(self.coverage, self.theorem, self.real.areas, self.real.times)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables, by the name of their file."""
        best = best_numbers(self.real.areas) if len(self.real.areas) else self.real.areas
        return {
            "claims": self.table(),
            "coverage": self.coverage_over_k(),
            "coverage_draws": all_found_from(self.coverage),
            "theorem": self.theorem,
            "theorem_curves": self.theorem_curves,
            "areas": self.real.areas,
            "best_k": best,
            "roc": self.real.curves,
            "times": self.real.times,
        }

    def coverage_over_k(self) -> pd.DataFrame:
        """Return the mean fraction of the outliers found, one line for each set and k."""
        means = self.coverage.pivot_table("found", index=["set", "k"], columns="method")
        return means[list(METHODS)].rename_axis(columns=None).reset_index()

    def header(self) -> dict[str, Any]:
        """Return the values before the tables in the JSON file."""
        return {"seeds": list(self.seeds), "notes": list(self.notes)}


def reproduce_rkof(
    data: "str | PathLike[str] | None" = None,
    *,
    datasets: Iterable[str] = DATASETS,
    seeds: int = 20,
    quick: bool = False,
    random_state: "int | np.random.RandomState | None" = 0,
) -> RkofReproduction:
    """Repeat the experiments of the paper on the robust kernel outlier factor (RKOF).

    Parameters
    ----------
    data : path, default=None
        A folder with ``kdd_u2r.parquet``, ``mammography.parquet``, ``ann_thyroid.parquet`` and
        ``shuttle_test.parquet`` (a column ``label`` in each), or with the files of the UCI
        repository: ``corrected.gz``, ``ann-test.data``, ``shuttle.tst``. Without it, the sets are
        downloaded from OpenML. Sets that are not available are left out, with a note.
    datasets : iterable of str, default=all of them
        Names out of "kdd_u2r", "kdd_u2r_idf" (the same rows, with larger weights for rare values
        of categories), "mammography", "ann_thyroid" and "shuttle"; may be empty.
    seeds : int, default=20
        Number of draws of the synthetic sets; at least 2.
    quick : bool, default=False
        On real data only a few k, no times, no feature bagging, no LPF with k in the thousands.
    random_state : int, RandomState instance or None, default=0
        Seeds all draws. The first draws do not depend on their number.

    Returns
    -------
    RkofReproduction
        The results, with :meth:`~RkofReproduction.table` and
        :meth:`~RkofReproduction.to_json_dict`.
    """
    check_count(seeds, "seeds", 2)
    names = checked_names(datasets, SOURCES)
    drawn = check_random_state(random_state).randint(2**31 - 1, size=seeds)
    seed_values = tuple(int(seed) for seed in drawn)
    # Data first: a missing folder is an error before minutes of work.
    loaded = load_sets(None if data is None else Path(data), names)
    coverage = coverage_experiment(seed_values)
    theorem = theorem_experiment(seed_values)
    real = measure_sets(loaded.sets, quick=quick)
    return RkofReproduction(
        seeds=seed_values,
        coverage=coverage,
        theorem_curves=theoretical_curves(),
        theorem=theorem,
        real=real,
        notes=(*loaded.notes, *real.notes),
    )


# --- claims ----------------------------------------------------------------------------------


def synthetic_claims(coverage: pd.DataFrame) -> list[Claim]:
    """Judge Table 1 and Figure 5."""
    found = all_found_from(coverage)
    return [*_first_set_claims(found[found["set"] == "Synthetic-1"]), *_second_set_claims(coverage)]


def _first_set_claims(found: pd.DataFrame) -> list[Claim]:
    starts = found.pivot_table(
        "from_k", index="seed", columns="method", dropna=False, aggfunc="first"
    ).fillna(np.inf)
    claims = [
        Claim(
            f"Synthetic-1, {method}: all 16 outliers found from k on",
            f"{printed}",
            _spread_of_k(starts[method]),
            verdict(_is_among(printed, starts[method])),
        )
        for method, printed in PAPER_FROM_K.items()
    ]
    sharp, default, lof = (starts[method] for method in PAPER_FROM_K)
    return [
        *claims,
        claim_over_draws("Synthetic-1: RKOF (sigma = 0.1) needs a smaller k than LOF", sharp < lof),
        claim_over_draws(
            "Synthetic-1: sigma = 0.1 needs a smaller k than sigma = 1",
            sharp < default,
            sharp <= default,
            "no larger",
        ),
    ]


def _second_set_claims(coverage: pd.DataFrame) -> list[Claim]:
    second = coverage[coverage["set"] == "Synthetic-2"]
    found = second.pivot_table("found", index=["seed", "k"], columns="method")
    rkof = found["RKOF, sigma = 1"].xs(PAPER_RKOF_K, level="k")
    lof = Spread.of(found[LOF].xs(PAPER_LOF_K, level="k"))
    by_k = found[LOF].groupby("k").mean()
    small = by_k[by_k.index <= 100]
    never = (found[LOF].groupby("seed").max() < 1).mean()
    never_small = (found[LOF][found.index.get_level_values("k") <= 100].groupby("seed").max()) < 1
    instead = (found["RKOF, sigma = 1"] == 1) & (found[LOF] < 1)
    at_once = (found[LOF] == 1).groupby("k").mean()
    most = at_once[at_once > 0.5].index
    return [
        claim_over_draws(
            f"Synthetic-2: RKOF finds all 20 outliers with k = {PAPER_RKOF_K}", rkof == 1
        ),
        Claim(
            f"Synthetic-2: fraction found by LOF with k = {PAPER_LOF_K}, its best",
            f"{PAPER_LOF_FOUND:.2f}",
            f"{lof.written()}; its best k up to 100 is {small.idxmax()}, with {small.max():.2f}",
            verdict(lof.holds(PAPER_LOF_FOUND)),
        ),
        Claim(
            "Synthetic-2: LOF never finds all, whatever k",
            "yes",
            f"for k up to 100 in {percent(float(never_small.mean()))} of the draws; for k up to "
            f"{by_k.index.max()} in {percent(float(never))}"
            + (f", since k = {most.min()} finds all in most" if len(most) else ""),
            verdict(never > 0.5, never_small.mean() > 0.5, "only while k is below a tenth of n"),
        ),
        claim_over_draws(
            "Synthetic-2: RKOF finds all at some k where LOF does not",
            instead.groupby("seed").any(),
        ),
    ]


def plateau_claims(areas: pd.DataFrame) -> list[Claim]:
    """Judge Figure 7: areas of the Volcano kernel over k."""
    claims = []
    for family, (printed, first, last, printed_k) in PAPER_PLATEAUS.items():
        lines = _of_family(areas, family, VOLCANO)
        within = lines[lines["k"].between(first, last)]
        if within.empty:
            continue
        above = within[within["auc"] > printed]["k"]
        lowest, best = within.iloc[within["auc"].argmin()], lines.iloc[lines["auc"].argmax()]
        which = f", k = {above.min()} to {above.max()}" if len(above) else ""
        claims.append(
            Claim(
                f"{family}: area above {printed} for every k from {first} to {last} (Volcano)",
                "yes",
                f"at {len(above)} of {len(within)} k tried{which}; lowest {lowest['auc']:.3f} at "
                f"k = {lowest['k']:.0f}, highest {within['auc'].max():.3f}",
                verdict(len(above) == len(within), len(above) > 0, "not for every k"),
            )
        )
        at_printed = lines[lines["k"] == printed_k]["auc"]
        claims.append(
            Claim(
                f"{family}: best k (Volcano)",
                f"{printed_k}",
                f"{best['k']:.0f}, with {best['auc']:.3f}"
                + (f"; {at_printed.iloc[0]:.3f} at k = {printed_k}" if len(at_printed) else ""),
                verdict(
                    best["k"] == printed_k,
                    len(at_printed) > 0 and best["auc"] - at_printed.iloc[0] <= CLOSE,
                    f"k = {printed_k} is within {CLOSE} of the best",
                ),
            )
        )
    return claims


def kernel_claims(areas: pd.DataFrame) -> list[Claim]:
    """Judge Figure 6 (a), the best k by kernel, and the areas of the three kernels."""
    claims = []
    for family, best in _best_of_kernels(areas):
        numbers = ", ".join(f"{_kernel(name)} {k:.0f}" for name, k in best["k"].items())
        figures = ", ".join(f"{_kernel(name)} {auc:.3f}" for name, auc in best["auc"].items())
        volcano, gaussian, epanechnikov = (best["k"][name] for name in KERNELS)
        spread = best["auc"].max() - best["auc"].min()
        first_two = abs(best["auc"][KERNELS[0]] - best["auc"][KERNELS[1]])
        claims += [
            Claim(
                f"{family}: best k is smallest for Volcano, largest for Epanechnikov",
                "yes",
                numbers,
                verdict(
                    volcano < gaussian < epanechnikov,
                    volcano <= min(gaussian, epanechnikov),
                    "smallest for Volcano",
                ),
            ),
            Claim(
                f"{family}: the kernels' best areas are similar",
                "yes",
                figures,
                verdict(spread <= CLOSE, first_two <= CLOSE, "Volcano and Gaussian"),
            ),
        ]
    return claims


def _best_of_kernels(areas: pd.DataFrame) -> "list[tuple[str, pd.DataFrame]]":
    best = best_numbers(areas)
    return [
        (family, best[best["family"] == family].set_index("method").loc[list(KERNELS)])
        for family in dict.fromkeys(best["family"])
    ]


def _kernel(method: object) -> str:
    return str(method).removeprefix("RKOF, ")


def comparison_claims(areas: pd.DataFrame) -> list[Claim]:
    """Judge the text on Table 2: RKOF against the other methods, each at its best k.

    LPF with a k of many thousands is a separate method, because the paper's remark is about it.
    """
    best = best_numbers(areas)
    claimed = {
        "kdd_u2r": ("second best, after LPF", 1, [LARGE_LPF, "LPF"]),
        "kdd_u2r_idf": ("second best, after LPF", 1, [LARGE_LPF, "LPF"]),
        "mammography": ("best of all", 0, []),
        "ann_thyroid": ("very close to the best", None, []),
        "shuttle": ("very close to the best", None, []),
    }
    claims = []
    for family, (rank, n_better, allowed) in claimed.items():
        lines = best[best["family"] == family].set_index("method")
        if lines.empty:
            continue
        ours = float(lines["auc"][VOLCANO])
        others = lines["auc"].drop([*KERNELS, PLAIN_RKOF, WEIGHTED_LOF])
        better = others[others > ours]
        listed = ", ".join(
            f"{name} {auc:.3f}{_at(name, lines)}"
            for name, auc in others.sort_values(ascending=False).items()
        )
        is_close = float(others.max()) - ours <= CLOSE
        holds = is_close if n_better is None else set(better.index) <= set(allowed)
        claims.append(
            Claim(
                f"{family}: RKOF (Volcano) against the others, each at its best k",
                rank,
                f"{ours:.3f}{_at(VOLCANO, lines)}; {listed}",
                verdict(holds, is_close, f"within {CLOSE} of the best"),
            )
        )
    return claims


def _at(method: object, lines: pd.DataFrame) -> str:
    return f" (k = {lines['k'][str(method)]:.0f})"


def shuttle_claims(areas: pd.DataFrame) -> list[Claim]:
    """Judge the areas of three of the five subsets, at the best k for the mean of all five."""
    best = best_numbers(areas)
    chosen = best[(best["family"] == "shuttle") & (best["method"] == VOLCANO)]
    if chosen.empty:
        return []
    k, mean = chosen["k"].iloc[0], chosen["auc"].iloc[0]
    at_k = areas[(areas["family"] == "shuttle") & (areas["method"] == VOLCANO) & (areas["k"] == k)]
    by_set = at_k.set_index("set")["auc"]
    perfect = by_set[by_set.index.isin(PAPER_PERFECT)]
    figures = ", ".join(f"{name.split()[-1]} {auc:.3f}" for name, auc in by_set.items())
    return [
        Claim(
            "shuttle: areas of subsets 5, 6 and 7 are approximately 1 (Volcano)",
            "yes",
            f"{figures}; mean {mean:.4f} at k = {k}",
            verdict(
                bool((perfect >= NEARLY_ONE).all()),
                bool((perfect >= NEARLY_ONE).any()),
                f"not all above {NEARLY_ONE}",
            ),
        )
    ]


def time_claims(times: pd.DataFrame) -> list[Claim]:
    """Judge the times of Table 2: at the same k, in one run on one machine."""
    claims = []
    for family, lines in times.groupby("family", sort=False):
        seconds = lines.groupby("method", sort=False)["seconds"].sum()
        ratios = seconds[VOLCANO] / seconds[[LOF, "LDF", "LPF"]]
        listed = ", ".join(f"{ratio:.2f} of {name}'s" for name, ratio in ratios.items())
        claims.append(
            Claim(
                f"{family}: RKOF takes less time than LOF, LDF and LPF (k = {lines['k'].iloc[0]})",
                "yes",
                f"{listed} ({seconds[VOLCANO]:.1f} s)",
                verdict(bool((ratios < 1).all()), bool(ratios[LOF] < 1), "less than LOF"),
            )
        )
    return claims


def theorem_claims(experiment: pd.DataFrame) -> list[Claim]:
    """Judge Theorem 1, by its formula and by experiment."""
    seen = largest_seen_fractions(experiment).pivot_table("share", index="seed", columns="method")
    half = experiment[np.isclose(experiment["share"], 0.5)]
    found = half.groupby("method")["found"].mean()
    fractions = ", ".join(f"{fraction_still_seen(weight):.2f}" for weight in WEIGHTS)
    return [
        Claim(
            "Theorem 1: a weighted factor hardly falls until many neighbours are outliers",
            "yes",
            f"with weights {', '.join(f'{w:g}' for w in WEIGHTS)} it is above {NEARLY_ALL:g} of "
            f"its maximum up to a fraction of {fractions}",
            verdict(fraction_still_seen(WEIGHTS[-1]) > fraction_still_seen(1.0)),
        ),
        Claim(
            "Theorem 1, experiment: outliers are found where half of their neighbours are outliers",
            "yes, if weighted",
            ", ".join(f"{name} {percent(found[name])}" for name in _in_order(found.index)),
            verdict(bool(found["RKOF, sigma = 1"] > 0.95), bool(found["RKOF, sigma = 0.1"] > 0.95)),
        ),
        *(
            _theorem_draws(seen, weighted, plain)
            for weighted, plain in (
                ("RKOF, sigma = 0.1", PLAIN_RKOF),
                ("RKOF, sigma = 1", PLAIN_RKOF),
                ("LOF, sigma = 0.1", LOF),
                ("LOF, sigma = 1", LOF),
            )
        ),
    ]


def _in_order(methods: "pd.Index[str]") -> list[str]:
    return sorted(methods, key=lambda name: (not name.startswith("RKOF"), name))


def _theorem_draws(seen: pd.DataFrame, weighted: str, plain: str) -> Claim:
    """Judge the largest fraction of outliers at which all are ranked on top, by weights."""
    claim = claim_over_draws(
        f"Theorem 1, experiment: {weighted}, sees through more outliers than {plain}",
        seen[weighted] > seen[plain],
        seen[weighted] >= seen[plain],
        "no fewer",
    )
    medians = f"{seen[weighted].median():.2f} against {seen[plain].median():.2f}"
    return claim._replace(ours=f"up to a fraction of {medians} (medians), {claim.ours}")


def _of_family(areas: pd.DataFrame, family: str, method: str) -> pd.DataFrame:
    means = family_areas(areas)
    return means[(means["family"] == family) & (means["method"] == method)]


def _spread_of_k(values: "pd.Series[float]") -> str:
    """Return median, quartiles and range over the draws as text."""
    low, quarter, middle, three_quarters, high = np.quantile(
        values, [0, 0.25, 0.5, 0.75, 1], method="nearest"
    )
    return (
        f"{_format_k(middle)} (half of the draws {_format_k(quarter)} to "
        f"{_format_k(three_quarters)}, all {_format_k(low)} to {_format_k(high)})"
    )


def _format_k(k: float) -> str:
    return f"{k:.0f}" if np.isfinite(k) else "never"


def _is_among(printed: float, values: "pd.Series[float]") -> bool:
    low, high = np.quantile(values, [0.05, 0.95], method="nearest")
    return bool(low <= printed <= high)


def all_claims(
    coverage: pd.DataFrame, experiment: pd.DataFrame, areas: pd.DataFrame, times: pd.DataFrame
) -> Sequence[Claim]:
    """Return every claim that the results can decide."""
    claims = [*synthetic_claims(coverage), *theorem_claims(experiment)]
    if len(areas):
        claims += [
            *plateau_claims(areas),
            *kernel_claims(areas),
            *comparison_claims(areas),
            *shuttle_claims(areas),
        ]
    return [*claims, *time_claims(times)] if len(times) else claims
