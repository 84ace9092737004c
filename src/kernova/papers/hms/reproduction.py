"""Reproduction of the paper on hierarchical mean shift (HMS).

Vatturi and Wong, "Category Detection Using Hierarchical Mean Shift", KDD 2009. The paper's tables
are missing from the text that we have; its claims about them remain. A claim about data sets is
judged by medians over random draws, and Interleave by its best start, as in the paper.
:mod:`~kernova.papers.hms.experiments` describes the six data sets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import pandas as pd

from kernova.errors import check_count
from kernova.papers.claims import Claim, Reproduction, checked_names, text_by_method, verdict
from kernova.papers.hms.experiments import (
    BEST_INTERLEAVE,
    CI,
    CI_HAD,
    INTERLEAVE,
    METHODS,
    MOST_QUESTIONS,
    MS_INTERLEAVE,
    NNDM,
    OUT,
    OUT_HAD,
    SET_NAMES,
    Draw,
    Effort,
    SetResults,
    discovery_sets,
    measure_draws,
    middle_questions,
    questions_until,
    summary_of,
    wide_by_method,
)

# Classes of abalone that the paper's methods find "more quickly" without HAD, of 20.
PAPER_ABALONE: Final = {CI: 18, OUT: 17}
# Our reading of "little variation" and "sensitive".
LITTLE: Final = 1.5
SENSITIVE: Final = 2.0
_BASELINES: Final = (NNDM, BEST_INTERLEAVE)
_QUICK: Final = Effort(starts=3, growths=(1.1, 1.5), references=("data", "weighted"))


@dataclass(frozen=True, eq=False)
class HmsReproduction(Reproduction):
    """Results of the HMS experiments.

    Attributes
    ----------
    sets : tuple of str
        The data sets.
    seeds : tuple of int
        Random seed of each draw of a set.
    results : SetResults
        All runs, curves and times.
    notes : tuple of str
        Remarks on the results.
    """

    paper: ClassVar = "Vatturi and Wong, KDD 2009"

    sets: tuple[str, ...]
    seeds: tuple[int, ...]
    results: SetResults
    notes: tuple[str, ...]

    def claims(self) -> Sequence[Claim]:
        """Return every claim that the results can decide."""
        return all_claims(self.results)

    def summary(self) -> pd.DataFrame:
        """Return median, fewest and most questions and the median area, by set and method."""
        return summary_of(self.results.runs)

    def questions(self) -> pd.DataFrame:
        """Return Table 2: median questions, with their range in brackets, by set and method."""
        summary = self.summary()
        text = [_spread(line) for line in summary.to_dict("records")]
        return text_by_method(summary, text, "set", METHODS)

    def areas(self) -> pd.DataFrame:
        """Return Table 3: the median area by set and method."""
        wide = wide_by_method(self.summary(), "area")
        return wide.rename_axis(columns=None).reset_index()

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables, by the name of their file."""
        return {
            "claims": self.table(),
            "questions": self.questions(),
            "areas": self.areas(),
            "runs": self.results.runs,
            "growth": self.results.growth,
            "references": self.results.references,
            "modes": self.results.modes,
        }

    def header(self) -> dict[str, Any]:
        """Return the values before the tables in the JSON file."""
        return {"seeds": list(self.seeds), "notes": list(self.notes)}


def reproduce_hms(
    data: "str | PathLike[str]",
    *,
    sets: Iterable[str] = SET_NAMES,
    seeds: int = 5,
    starts: int = 10,
    quick: bool = False,
) -> HmsReproduction:
    """Repeat the experiments of the paper on hierarchical mean shift (HMS).

    Parameters
    ----------
    data : path
        A folder with ``abalone.parquet``, ``shuttle.parquet``, ``optdigits.parquet``,
        ``letter.parquet``, ``segment.parquet`` and ``yeast.parquet``, or those of them that
        ``sets`` names; each with its classes in a column ``label``.
    sets : iterable of str, default=all six
        Names of the data sets.
    seeds : int, default=5
        Number of random draws of each set; abalone and yeast are used whole, once.
    starts : int, default=10
        Number of starts of Interleave and of random orders, for each draw of a set.
    quick : bool, default=False
        Only three starts, two growth factors and two references.

    Returns
    -------
    HmsReproduction
        The results, with :meth:`~HmsReproduction.table` and
        :meth:`~HmsReproduction.to_json_dict`.
    """
    check_count(seeds, "seeds", 1)
    check_count(starts, "starts", 1)
    names = checked_names(sets, SET_NAMES)
    effort = _QUICK if quick else Effort(starts=starts)
    draws = [
        Draw(one, seed)
        for seed in range(seeds)
        for one in discovery_sets(Path(data), seed, names).values()
        if seed == 0 or one.is_drawn
    ]
    draws.sort(key=lambda draw: names.index(draw.data.name))
    results = measure_draws(draws, effort)
    return HmsReproduction(tuple(names), tuple(range(seeds)), results, _notes(draws, effort))


def _notes(draws: list[Draw], effort: Effort) -> tuple[str, ...]:
    whole = sorted({draw.data.name for draw in draws if not draw.data.is_drawn})
    once = [f"Used whole, so drawn once: {', '.join(whole)}."] if whole else []
    return (
        *once,
        f"Interleave starts {effort.starts} times on each draw and is given the number of "
        f"classes; a run ends after {MOST_QUESTIONS} questions. NNDM is given the fraction of "
        "every class.",
    )


def _spread(line: dict[Any, Any]) -> str:
    middle, low, high = (_count(line[name], ">") for name in ("questions", "fewest", "most"))
    return middle if low == high else f"{middle} ({low}-{high})"


def _count(questions: float, above: str = "over ") -> str:
    return f"{questions:g}" if np.isfinite(questions) else f"{above}{MOST_QUESTIONS}"


# --- claims ----------------------------------------------------------------------------------


def comparison_claims(questions: pd.DataFrame) -> list[Claim]:
    """Judge Table 2: the hierarchy against both baselines, without and with HAD."""
    plain = _best_against_baselines(questions, (OUT, CI))
    tied = _best_against_baselines(questions, (OUT_HAD, CI_HAD))
    n_sets = len(questions)
    wanted = min(4, n_sets)
    return [
        Claim(
            "Without HAD, the better of HMS-Out and HMS-CI needs fewer questions than Interleave "
            f"and NNDM on {wanted} of {n_sets} sets",
            "4 of 6",
            _format_wins(plain),
            verdict(plain["wins"].sum() >= wanted, plain["wins"].sum() >= n_sets / 2, "on half"),
        ),
        Claim(
            "With HAD, it does on all sets",
            "6 of 6",
            _format_wins(tied),
            verdict(bool(tied["wins"].all()), tied["wins"].sum() > n_sets / 2, "on most"),
        ),
    ]


def shuttle_claim(questions: pd.DataFrame) -> list[Claim]:
    """Judge the claim that HMS without HAD is within one question of Interleave on shuttle."""
    if "shuttle" not in questions.index:
        return []
    line = _numbers(questions, "shuttle")
    ours, theirs = min(line[OUT], line[CI]), line[BEST_INTERLEAVE]
    return [
        Claim(
            "Shuttle, without HAD: within one question of Interleave",
            "yes",
            f"{_count(ours)} against {_count(theirs)}",
            verdict(ours - theirs <= 1),
        )
    ]


def criterion_claims(questions: pd.DataFrame) -> list[Claim]:
    """Judge the claim that CI needs fewer questions than Outlierness, except on shuttle."""
    claims = []
    for without, ci, out in (("Without", CI, OUT), ("With", CI_HAD, OUT_HAD)):
        is_better = questions[ci] < questions[out]
        others = is_better.drop("shuttle", errors="ignore")
        on_shuttle = bool(is_better.get("shuttle", False))
        listed = ", ".join(
            f"{name} {_count(line[ci])} against {_count(line[out])}"
            for name, line in questions.iterrows()
        )
        claims.append(
            Claim(
                f"{without} HAD, CI needs fewer questions than Outlierness, but not on shuttle",
                "yes",
                listed,
                verdict(
                    bool(others.all()) and not on_shuttle,
                    others.sum() > len(others) / 2,
                    f"on {int(is_better.sum())} of {len(is_better)} sets",
                ),
            )
        )
    return claims


def abalone_claims(results: SetResults, questions: pd.DataFrame) -> list[Claim]:
    """Judge the claims about abalone, the hardest set in the paper."""
    if "abalone" not in questions.index:
        return []
    claims = []
    for method, n_classes in PAPER_ABALONE.items():
        needed = {
            name: questions_until(results.curves["abalone", name], n_classes)
            for name in (method, *_BASELINES)
        }
        is_sooner = [needed[method] < needed[name] for name in _BASELINES]
        claims.append(
            Claim(
                f"Abalone: {method} finds {n_classes} of 20 classes sooner than both baselines",
                "yes",
                ", ".join(f"{name} {_count(count)}" for name, count in needed.items()),
                verdict(all(is_sooner), any(is_sooner), "than one of them"),
            )
        )
    line = _numbers(questions, "abalone")
    helps = line[CI_HAD] <= line[CI] / 2
    claims.append(
        Claim(
            "Abalone: HAD rescues HMS-CI, which without it does not find the last two classes",
            "yes",
            f"{_count(line[CI])} without, {_count(line[CI_HAD])} with",
            verdict(helps and line[CI] > 300, helps, "it needs less than half"),
        )
    )
    return claims


def growth_claims(growth: pd.DataFrame) -> list[Claim]:
    """Judge the claims about the growth of the bandwidth: effect on questions and on time."""
    if len(growth["growth"].unique()) < 2:
        return []
    had = growth[growth["method"] == CI_HAD]
    wide = had.pivot_table("questions", index="set", columns="growth", aggfunc="median", sort=False)
    ratios = wide.max(axis=1) / wide.min(axis=1)
    seconds = growth_seconds(growth)
    fastest = seconds.idxmin()
    first, last = seconds.index[0], seconds.index[-1]
    falls, rises = fastest > first, fastest < last
    return [
        Claim(
            f"HMS-CI with HAD needs about as many questions with growth {wide.columns[0]:g} to "
            f"{wide.columns[-1]:g}",
            "little variation",
            "; ".join(
                f"{name} {', '.join(_count(value) for value in line)}"
                for name, line in wide.iterrows()
            ),
            verdict(
                bool((ratios <= LITTLE).all()),
                bool((ratios <= LITTLE).sum() > len(ratios) / 2),
                f"within a factor of {LITTLE} on {(ratios <= LITTLE).sum()} of {len(ratios)} sets",
            ),
        ),
        Claim(
            "Time falls with growth at first, then rises",
            "yes",
            ", ".join(f"{value:.1f} s at {name:g}" for name, value in seconds.items())
            + " (all sets together, medians over draws)",
            verdict(falls and rises, falls, "it falls only"),
        ),
    ]


def growth_seconds(growth: pd.DataFrame) -> "pd.Series[float]":
    """Return seconds by growth: hierarchy and asking with HAD, median of draws, sum of sets."""
    had = growth[growth["method"] == CI_HAD]
    total = had.assign(seconds=had["hierarchy_seconds"] + had["asking_seconds"])
    by_set = total.groupby(["set", "growth"])["seconds"].median()
    return by_set.groupby("growth").sum()


def interleave_claims(results: SetResults, questions: pd.DataFrame) -> list[Claim]:
    """Judge the reasons against mixtures: sensitive starts, and bandwidths that undersmooth."""
    spread = questions[[BEST_INTERLEAVE, INTERLEAVE]].set_axis(["best", "middle"], axis=1)
    is_sensitive = spread["middle"] >= SENSITIVE * spread["best"]
    modes = results.modes.groupby("set", sort=False)[["classes", "clusters"]].median()
    too_many = modes["clusters"] > 2 * modes["classes"]
    is_worse = questions[MS_INTERLEAVE] > questions[[OUT, CI, OUT_HAD, CI_HAD]].min(axis=1)
    return [
        Claim(
            "Interleave is sensitive to its start: the median start needs at least "
            f"{SENSITIVE:g} times as many questions as the best",
            "yes",
            "; ".join(
                f"{name} {_count(line['best'])} best, {_count(line['middle'])} median"
                for name, line in spread.iterrows()
            ),
            verdict(is_sensitive.mean() > 0.5, bool(is_sensitive.any()), "on some sets"),
        ),
        Claim(
            "MS-Interleave: a bandwidth by rule gives too many clusters (more than twice the "
            "classes)",
            "in many cases",
            "; ".join(
                f"{name} {line['clusters']:.0f} for {line['classes']:.0f}"
                for name, line in modes.iterrows()
            ),
            verdict(too_many.mean() > 0.5, bool(too_many.any()), "on some sets"),
        ),
        Claim(
            "MS-Interleave needs more questions than the best of the hierarchy's four",
            "poor results",
            "; ".join(
                f"{name} {_count(questions.loc[name, MS_INTERLEAVE])}" for name in questions.index
            ),
            verdict(bool(is_worse.all()), is_worse.mean() > 0.5, "on most sets"),
        ),
    ]


def all_claims(results: SetResults) -> Sequence[Claim]:
    """Return every claim that the results can decide."""
    questions = middle_questions(summary_of(results.runs))
    return [
        *comparison_claims(questions),
        *shuttle_claim(questions),
        *criterion_claims(questions),
        *abalone_claims(results, questions),
        *growth_claims(results.growth),
        *interleave_claims(results, questions),
    ]


def _numbers(questions: pd.DataFrame, name: str) -> dict[str, float]:
    """Return the questions of one set by method."""
    return {str(method): float(questions[method][name]) for method in questions.columns}


def _best_against_baselines(questions: pd.DataFrame, ours: Sequence[str]) -> pd.DataFrame:
    best, baselines = questions[list(ours)].min(axis=1), questions[list(_BASELINES)]
    return pd.DataFrame(
        {"ours": best, "theirs": baselines.min(axis=1), "wins": best < baselines.min(axis=1)}
    )


def _format_wins(compared: pd.DataFrame) -> str:
    listed = ", ".join(
        f"{name} {_count(line['ours'])} against {_count(line['theirs'])}"
        for name, line in compared.iterrows()
    )
    return f"{int(compared['wins'].sum())} of {len(compared)}: {listed}"
