"""What the HMS paper says, held against what came out here.

Its tables and curves are lost in the text that has come down to us; what is left are statements
about them. A statement about sets is judged by medians over draws, and Interleave by the best of
its starts, as in the paper.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from kernova.papers.claims import Claim
from kernova.papers.hms.experiments import (
    BEST_INTERLEAVE,
    CI,
    CI_HAD,
    INTERLEAVE,
    MOST_QUESTIONS,
    MS_INTERLEAVE,
    NNDM,
    OUT,
    OUT_HAD,
    SetResults,
    middle_questions,
    questions_until,
    summary_of,
)

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
# Classes of abalone that the paper's methods find "more quickly" without HAD, of 20.
PAPER_ABALONE: Final = {CI: 18, OUT: 17}
# What "little variation", "sensitive" and "poor" are taken to mean.
LITTLE: Final = 1.5
SENSITIVE: Final = 2.0
_BASELINES: Final = (NNDM, BEST_INTERLEAVE)


def comparison_claims(questions: pd.DataFrame) -> list[Claim]:
    """Table 2: the hierarchy against both baselines, without and with HAD."""
    plain = _best_against_baselines(questions, (OUT, CI))
    tied = _best_against_baselines(questions, (OUT_HAD, CI_HAD))
    n_sets = len(questions)
    wanted = min(4, n_sets)
    return [
        Claim(
            "Without HAD, the better of HMS-Out and HMS-CI needs fewer questions than Interleave "
            f"and NNDM on {wanted} of {n_sets} sets",
            "4 of 6",
            _wins_in_words(plain),
            _verdict(plain["wins"].sum() >= wanted, plain["wins"].sum() >= n_sets / 2, "on half"),
        ),
        Claim(
            "With HAD, it does on all sets",
            "6 of 6",
            _wins_in_words(tied),
            _verdict(bool(tied["wins"].all()), tied["wins"].sum() > n_sets / 2, "on most"),
        ),
    ]


def shuttle_claim(questions: pd.DataFrame) -> list[Claim]:
    """Without HAD, within one question of Interleave on shuttle."""
    if "shuttle" not in questions.index:
        return []
    line = _numbers(questions, "shuttle")
    ours, theirs = min(line[OUT], line[CI]), line[BEST_INTERLEAVE]
    return [
        Claim(
            "Shuttle, without HAD: within one question of Interleave",
            "yes",
            f"{_n(ours)} against {_n(theirs)}",
            _verdict(ours - theirs <= 1),
        )
    ]


def criterion_claims(questions: pd.DataFrame) -> list[Claim]:
    """CI needs fewer questions than Outlierness, on all sets but shuttle."""
    claims = []
    for words, ci, out in (("Without", CI, OUT), ("With", CI_HAD, OUT_HAD)):
        is_better = questions[ci] < questions[out]
        others = is_better.drop("shuttle", errors="ignore")
        on_shuttle = bool(is_better.get("shuttle", False))
        listed = ", ".join(
            f"{name} {_n(line[ci])} against {_n(line[out])}" for name, line in questions.iterrows()
        )
        claims.append(
            Claim(
                f"{words} HAD, CI needs fewer questions than Outlierness, but not on shuttle",
                "yes",
                listed,
                _verdict(
                    bool(others.all()) and not on_shuttle,
                    others.sum() > len(others) / 2,
                    f"on {int(is_better.sum())} of {len(is_better)} sets",
                ),
            )
        )
    return claims


def abalone_claims(results: SetResults, questions: pd.DataFrame) -> list[Claim]:
    """Judge what the paper says of the set that was hard for it."""
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
                f"Abalone: {method} meets {n_classes} of 20 classes sooner than both baselines",
                "yes",
                ", ".join(f"{name} {_n(count)}" for name, count in needed.items()),
                _verdict(all(is_sooner), any(is_sooner), "than one of them"),
            )
        )
    line = _numbers(questions, "abalone")
    helps = line[CI_HAD] <= line[CI] / 2
    claims.append(
        Claim(
            "Abalone: HAD rescues HMS-CI, which without it does not find the last two classes",
            "yes",
            f"{_n(line[CI])} without, {_n(line[CI_HAD])} with",
            _verdict(helps and line[CI] > 300, helps, "it needs less than half"),
        )
    )
    return claims


def growth_claims(growth: pd.DataFrame) -> list[Claim]:
    """Judge the bandwidth increment: it matters little, and time falls, then rises with it."""
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
                f"{name} {', '.join(_n(value) for value in line)}" for name, line in wide.iterrows()
            ),
            _verdict(
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
            _verdict(falls and rises, falls, "it falls only"),
        ),
    ]


def growth_seconds(growth: pd.DataFrame) -> "pd.Series[float]":
    """Give seconds by growth: hierarchy and asking with HAD, median over draws, sum over sets."""
    had = growth[growth["method"] == CI_HAD]
    total = had.assign(seconds=had["hierarchy_seconds"] + had["asking_seconds"])
    by_set = total.groupby(["set", "growth"])["seconds"].median()
    return by_set.groupby("growth").sum()


def interleave_claims(results: SetResults, questions: pd.DataFrame) -> list[Claim]:
    """Why the paper left mixtures: starts that matter, and bandwidths that undersmooth."""
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
                f"{name} {_n(line['best'])} best, {_n(line['middle'])} median"
                for name, line in spread.iterrows()
            ),
            _verdict(is_sensitive.mean() > 0.5, bool(is_sensitive.any()), "on some sets"),
        ),
        Claim(
            "MS-Interleave: a bandwidth by rule gives too many clusters (more than twice the "
            "classes)",
            "in many cases",
            "; ".join(
                f"{name} {line['clusters']:.0f} for {line['classes']:.0f}"
                for name, line in modes.iterrows()
            ),
            _verdict(too_many.mean() > 0.5, bool(too_many.any()), "on some sets"),
        ),
        Claim(
            "MS-Interleave needs more questions than the best of the hierarchy's four",
            "poor results",
            "; ".join(
                f"{name} {_n(questions.loc[name, MS_INTERLEAVE])}" for name in questions.index
            ),
            _verdict(bool(is_worse.all()), is_worse.mean() > 0.5, "on most sets"),
        ),
    ]


def all_claims(results: SetResults) -> Sequence[Claim]:
    """Give every claim that what was measured can speak to."""
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
    """Give one set's questions by method."""
    return {str(method): float(questions[method][name]) for method in questions.columns}


def _best_against_baselines(questions: pd.DataFrame, ours: Sequence[str]) -> pd.DataFrame:
    best, baselines = questions[list(ours)].min(axis=1), questions[list(_BASELINES)]
    return pd.DataFrame(
        {"ours": best, "theirs": baselines.min(axis=1), "wins": best < baselines.min(axis=1)}
    )


def _wins_in_words(compared: pd.DataFrame) -> str:
    listed = ", ".join(
        f"{name} {_n(line['ours'])} against {_n(line['theirs'])}"
        for name, line in compared.iterrows()
    )
    return f"{int(compared['wins'].sum())} of {len(compared)}: {listed}"


def _n(questions: float) -> str:
    return f"{questions:g}" if np.isfinite(questions) else f"over {MOST_QUESTIONS}"


def _verdict(agrees: bool, in_part: bool = False, part: str = "") -> str:
    if agrees:
        return REPRODUCED
    return f"partly: {part}" if in_part and part else NOT_REPRODUCED
