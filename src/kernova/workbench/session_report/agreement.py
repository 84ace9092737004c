"""Agreement between the experts of a session, for its report."""

from itertools import combinations

import pandas as pd

from kernova.report.page import Section, paragraph, table
from kernova.text import percent, quantity
from kernova.workbench.exports.snapshot import Snapshot
from kernova.workbench.suggestions import wilson_interval

_PAIRS_SHOWN = 30


def agreement_section(snapshot: Snapshot) -> Section:
    """Return how often experts agree about rows that several have labelled."""
    opinions = list(snapshot.opinions.values())
    if not opinions:
        return Section(
            "Agreement between experts",
            ["No row was labelled by two experts, so their agreement is not known."],
        )
    pairs = pairs_of_experts(opinions)
    both, same = int(pairs["both labelled"].sum()), int(pairs["same category"].sum())
    found = wilson_interval(same, both)
    n_rows, n_disputed = len(opinions), len(snapshot.disputed)
    open_ = (
        f"{quantity(n_disputed, 'disagreement')} {'is' if n_disputed == 1 else 'are'} not settled."
    )
    return Section(
        "Agreement between experts",
        [
            paragraph(
                f"{quantity(n_rows, 'row was', 'rows were')} labelled by two or more experts. They "
                f"chose the same category in {percent(found.estimate)} of {both:,} comparisons "
                f"(95 % interval {percent(found.low)} to {percent(found.high)}); chance agreement "
                f"is not subtracted. {open_ if n_disputed else 'All disagreements are settled.'}"
            ),
            *coefficients(snapshot),
            table(pairs.head(_PAIRS_SHOWN), "Pairs of experts", {"agreement": ".0%"}),
        ],
    )


def coefficients(snapshot: Snapshot) -> list[str]:
    """Return sentences on agreement beyond chance; the place for coefficients such as kappa."""
    return []


def pairs_of_experts(opinions: list[dict[str | None, str]]) -> pd.DataFrame:
    """Return for each pair of experts how many rows both labelled, and how many alike.

    Examples
    --------
    >>> from kernova.workbench.session_report.agreement import pairs_of_experts
    >>> opinions = [{"Anna": "carp", "Bob": "carp"}, {"Anna": "carp", "Bob": "pike"}]
    >>> pairs_of_experts(opinions).to_dict("list")["same category"]
    [1]
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for of_row in opinions:
        named = {expert or "without a name": label for expert, label in of_row.items()}
        for one, other in combinations(sorted(named), 2):
            count = counts.setdefault((one, other), [0, 0])
            count[0] += 1
            count[1] += named[one] == named[other]
    lines = [(one, other, both, same, same / both) for (one, other), (both, same) in counts.items()]
    names = ["expert", "other expert", "both labelled", "same category", "agreement"]
    return pd.DataFrame(lines, columns=names).sort_values(
        "both labelled", ascending=False, kind="stable", ignore_index=True
    )
