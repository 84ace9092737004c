"""Agreement between the experts of a session, for its report."""

from itertools import combinations
from math import isfinite

import numpy as np
import pandas as pd

from kernova.report.page import Html, Section, paragraph, table
from kernova.text import percent, quantity
from kernova.workbench.colleagues.agreement import (
    Coefficient,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    krippendorff_alpha,
)
from kernova.workbench.colleagues.measured import Ratings, ratings_of
from kernova.workbench.exports.snapshot import Snapshot
from kernova.workbench.suggestions import wilson_interval

_PAIRS_SHOWN = 30
_TITLE = "Agreement between experts"


def agreement_section(snapshot: Snapshot) -> Section:
    """Return how often experts agree about rows that several have labelled."""
    n_rows, n_disputed = len(snapshot.opinions), len(snapshot.disputed)
    if n_rows == 0:
        return Section(
            _TITLE, ["No row was labelled by two experts, so their agreement is not known."]
        )
    ratings = ratings_of(snapshot.opinions.values())
    n_seen = n_rows - len(ratings.codes)
    were = quantity(n_rows, "row was", "rows were")
    is_open = f"{quantity(n_disputed, 'disagreement')} {'is' if n_disputed == 1 else 'are'} open."
    return Section(
        _TITLE,
        [
            paragraph(
                f"{were} labelled by two or more experts. "
                f"{is_open if n_disputed else 'All disagreements are settled.'}"
            ),
            *_measured(ratings),
            *(
                [
                    f"{quantity(n_seen, 'row')} of these cannot be measured: an answer was given "
                    "after seeing another's, or was imported."
                ]
                if n_seen
                else []
            ),
        ],
    )


def _measured(ratings: Ratings) -> list[Html]:
    """Return the agreement of answers that were given without seeing those of others."""
    if len(ratings.codes) == 0:
        return []
    pairs = pairs_of_experts(ratings)
    both, same = int(pairs["both labelled"].sum()), int(pairs["same category"].sum())
    raw = wilson_interval(same, both)
    beyond = [
        f"{name} is {_with_interval(found)}"
        for name, found in (
            ("Fleiss' kappa", fleiss_kappa(ratings.counts)),
            ("Krippendorff's alpha", krippendorff_alpha(ratings.counts)),
        )
        if isfinite(found.value)
    ]
    chance = f" Beyond chance, {' and '.join(beyond)}." if beyond else ""
    return [
        paragraph(
            f"Without seeing each other's answers, two experts chose the same category in "
            f"{percent(raw.estimate)} of {both:,} comparisons (95 % interval {percent(raw.low)} to "
            f"{percent(raw.high)}).{chance}"
        ),
        table(pairs.head(_PAIRS_SHOWN), "Pairs of experts", {"agreement": ".0%"}),
    ]


def _with_interval(found: Coefficient) -> str:
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def pairs_of_experts(ratings: Ratings) -> pd.DataFrame:
    """Return the agreement of each pair of experts with rows in common, those of most rows first.

    Examples
    --------
    >>> from kernova.discover.opinions import Opinion
    >>> from kernova.workbench.colleagues.measured import ratings_of
    >>> from kernova.workbench.session_report.agreement import pairs_of_experts
    >>> anna, bob = Opinion("carp", by="Anna", blind="carp"), Opinion("pike", by="Bob", blind="eel")
    >>> pairs_of_experts(ratings_of([(anna, bob)]))[["expert", "both labelled"]].values.tolist()
    [['Anna', 1]]
    """
    lines = []
    for one, other in combinations(range(len(ratings.experts)), 2):
        counts = confusion(ratings.codes[:, one], ratings.codes[:, other], len(ratings.names))
        both, same = int(counts.sum()), int(np.trace(counts))
        if both:
            kappa = cohen_kappa(counts)
            lines.append(
                (
                    ratings.experts[one] or "without a name",
                    ratings.experts[other] or "without a name",
                    both,
                    same,
                    same / both,
                    _with_interval(kappa) if isfinite(kappa.value) else None,
                )
            )
    names = [
        "expert", "other expert", "both labelled", "same category", "agreement", "Cohen's kappa",
    ]  # fmt: skip
    return pd.DataFrame(lines, columns=names).sort_values(
        "both labelled", ascending=False, kind="stable", ignore_index=True
    )
