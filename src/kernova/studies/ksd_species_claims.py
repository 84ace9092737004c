"""What the paper says of its fish, held against what came out on cichlids.

The paper's ten species are not ours, so its statements are compared, not its figures: most groups
look new when the others are pooled, nearly all pairs are told apart, and groups that hide among
pooled ones show in pairs. A statement counts as reproduced when it is true of more than half.
"""

from typing import Final

import numpy as np
import pandas as pd

from kernova.studies.claims import Claim
from kernova.studies.ksd_species import KSD, METHODS, FishStudy, Level

# In the paper seven of ten species have an e* of this or less; the other three are masked.
PAPER_E_STAR: Final = 0.302
PAPER_SHARE: Final = 0.7
PAPER_WORST_PAIR: Final = 0.25

_NOT_IN_PAPER: Final = "not in the paper"


def pooled_table(study: FishStudy) -> pd.DataFrame:
    """Table 2: one line per group held out, with means over the halvings by method.

    e* where the groups are large enough for a bound, and else equal error rates.
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
    """Sum up: for each level and method, means over groups and halvings, and the worst pair."""
    pooled = study.pooled.groupby(["level", "method"], sort=False)
    table = pooled[["auroc", "equal_error_rate", "e_star"]].mean()
    by_pair = study.pairs.groupby(["level", "method", "unknown", "known"], sort=False)
    rates = by_pair["equal_error_rate"].mean().groupby(["level", "method"], sort=False)
    table["pair_error_rate"] = rates.mean()
    table["worst_pair"] = rates.max()
    return table.reset_index()


def pair_matrix(study: FishStudy, level: str, method: str = KSD) -> pd.DataFrame:
    """Table 3: equal error rates, unknown groups down and known ones across."""
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
        _verdict(n_low / n >= PAPER_SHARE),
    )


def _pair_claim(study: FishStudy, level: Level) -> Claim:
    rates = pair_matrix(study, level.name).to_numpy()
    rates = rates[np.isfinite(rates)]
    n_alike = int((rates > PAPER_WORST_PAIR).sum())
    verdict = _verdict(n_alike == 0)
    if 0 < n_alike < 0.05 * len(rates):
        pairs = "1 pair is" if n_alike == 1 else f"{n_alike} pairs are"
        verdict = f"differs because {pairs} more alike than that"
    return Claim(
        f"fish, {level.name}, pairs (Table 3): equal error rates of at most {PAPER_WORST_PAIR}",
        "90 of 90",
        f"{len(rates) - n_alike} of {len(rates)} (the worst {rates.max():.3f})",
        verdict,
    )


def _masking_claim(study: FishStudy, level: Level) -> Claim:
    pooled = _pooled(study, level)["equal_error_rate"]
    worst = pair_matrix(study, level.name).max(axis=1)
    hidden = pooled.index[pooled > PAPER_E_STAR]
    n_shown = int((worst[hidden] < pooled[hidden]).sum())
    return Claim(
        f"fish, {level.name}, masking: groups with a pooled equal error rate above {PAPER_E_STAR} "
        "are told better from every single known group",
        "3 of 3",
        f"{n_shown} of {len(hidden)}",
        _verdict(n_shown > 0.5 * len(hidden) or not len(hidden)),
    )


def _area_claim(study: FishStudy, level: Level) -> Claim:
    lines = study.pooled[study.pooled["level"] == level.name]
    areas = lines.groupby("method", sort=False)["auroc"].mean()
    written = ", ".join(f"{name} {area:.3f}" for name, area in areas.items())
    return Claim(
        f"fish, {level.name}, pooled: the mean area under the ROC curve of KSD is the largest",
        _NOT_IN_PAPER,
        written,
        _verdict(areas.idxmax() == KSD),
    )


def _pooled(study: FishStudy, level: Level) -> pd.DataFrame:
    """Means over the halvings of KSD's figures, by group."""
    is_wanted = (study.pooled["level"] == level.name) & (study.pooled["method"] == KSD)
    lines = study.pooled[is_wanted]
    return lines.groupby("unknown")[["e_star", "equal_error_rate", "auroc"]].mean()


def _verdict(agrees: bool) -> str:
    return "reproduced" if agrees else "not reproduced"
