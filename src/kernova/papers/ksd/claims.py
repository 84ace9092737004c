"""What the paper on kernelized spatial depth prints, held against what came out here.

The paper shows one draw of each experiment. A figure counts as reproduced when it lies within two
standard deviations of the mean of our draws, a statement when it is true of more than half of
them, and a bound when the 99 % interval around its share of failures does not contradict it.

The masking example (Figure 6) needs two remarks:

- What the paper prints as e* is held against ``miss``, the share of unknown rows missed at the
  threshold. Every e* that the text gives, those of the fish included, is a multiple of one over
  the number of unknown rows, and some lie below the least that the bound can prove with so few
  held-out rows. Our e* stands beside it.
- The line that defines the kernel's width is lost. About a dozen readings of it were tried, of
  which these remain, and all widths besides, to see which one the printed figure needs. That one
  of them, "to the mean", comes near it is therefore no proof that it is the paper's; and by our e*
  in place of ``miss`` it would just fail. The library's default, "nearest", was chosen for what it
  finds on real data, not for this figure.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from kernova.papers.claims import Claim, Spread
from kernova.papers.ksd.experiments import (
    BOUNDS,
    CONFIDENCE,
    PAPER_RING_DEPTH,
    READINGS,
    RING_RADII,
    RING_THRESHOLD,
    BoundCheck,
)
from kernova.text import percent

PAPER_CLOUD_DEPTH = 0.0219  # of the marked row in Figure 1
PAPER_CENTRE_DEPTH = 0.9544  # of the ring's centre, spatial, in Figure 2
PAPER_MISS_POOLED = 0.85
PAPER_MISS_ALONE: tuple[float, ...] = (0.10, 0.25, 0.15, 0.25)


class MaskingErrors(NamedTuple):
    """What one reading of the width gives, against all Gaussians ("pooled") or each ("alone")."""

    scope: str
    reading: str
    bandwidth: float
    miss: Spread
    e_star: Spread
    equal_error_rate: Spread


def cloud_claims(cloud: pd.DataFrame) -> list[Claim]:
    """Figure 1. The paper does not say where its marked point lies but "upper right"."""
    depth = Spread.of(cloud["marked_depth"])
    return [
        Claim(
            "cloud: spatial depth of the row furthest to the upper right",
            f"{PAPER_CLOUD_DEPTH}",
            depth.written(3),
            _verdict(depth.holds(PAPER_CLOUD_DEPTH)),
        )
    ]


def ring_claims(rings: pd.DataFrame) -> list[Claim]:
    """Figures 2 and 3."""
    spatial, kernelized = Spread.of(rings["spatial_centre"]), Spread.of(rings["kernelized_centre"])
    return [
        Claim(
            "ring: spatial depth of the empty centre",
            f"{PAPER_CENTRE_DEPTH}",
            spatial.written(3),
            _verdict(spatial.holds(PAPER_CENTRE_DEPTH)),
        ),
        _share_claim(
            "ring: by spatial depth the centre is deeper than every row",
            rings["spatial_centre_is_deepest"],
        ),
        Claim(
            "ring: kernelized depth of the centre, width 3",
            f"{PAPER_RING_DEPTH}",
            kernelized.written(3),
            _verdict(kernelized.holds(PAPER_RING_DEPTH), _about_the_radii(rings)),
        ),
        _share_claim(
            "ring: by kernelized depth the centre is shallower than every row",
            rings["kernelized_centre_is_shallowest"],
        ),
        _share_claim(
            f"ring: a threshold of {RING_THRESHOLD} separates the centre from all rows",
            rings["threshold_separates"],
        ),
    ]


def _about_the_radii(rings: pd.DataFrame) -> str:
    scale = float(rings["matching_scale"].mean())
    low, high = (scale * radius for radius in RING_RADII)
    return (
        f"the paper does not print its ring's radii; ours are {RING_RADII[0]:g} to "
        f"{RING_RADII[1]:g}, and {low:.1f} to {high:.1f} would give its figure"
    )


def masking_errors(masking: pd.DataFrame) -> list[MaskingErrors]:
    """Sum up the draws by scope and reading; alone, those of all four Gaussians count together."""
    return [
        MaskingErrors(
            scope,
            reading,
            float(draws["bandwidth"].mean()),
            Spread.of(draws["miss"]),
            Spread.of(draws["e_star"]),
            Spread.of(draws["equal_error_rate"]),
        )
        for scope in ("pooled", "alone")
        for reading in READINGS
        for draws in [masking[(masking["scope"] == scope) & (masking["reading"] == reading)]]
    ]


def width_of_the_paper(widths: pd.DataFrame) -> float:
    """Find the width at which, on average, as many rows are missed, pooled, as in the paper."""
    misses = widths.groupby("bandwidth")["miss"].mean()
    rising = misses.loc[misses.idxmin() :]  # at narrower widths the curve falls
    return float(np.interp(PAPER_MISS_POOLED, np.maximum.accumulate(rising), rising.index))


def masking_claims(masking: pd.DataFrame, widths: pd.DataFrame) -> list[Claim]:
    """Figure 6, under each reading of the width."""
    needed = width_of_the_paper(widths)
    claims = [_masking_claim(errors, needed) for errors in masking_errors(masking)]
    by_default = masking[masking["reading"] == "nearest"]
    rates = by_default.pivot_table("equal_error_rate", index="seed", columns="scope")
    pooling = _share_claim(
        "masking, width by 'nearest': pooling raises the equal error rate",
        rates["pooled"] > rates["alone"],
    )
    return [*claims, pooling]


def _masking_claim(errors: MaskingErrors, needed_width: float) -> Claim:
    printed, words = PAPER_MISS_ALONE, "each Gaussian alone"
    reason = None
    if errors.scope == "pooled":
        printed, words = (PAPER_MISS_POOLED,), "all Gaussians pooled"
        width = f"{errors.bandwidth:.2f}" if np.isfinite(errors.bandwidth) else "infinite"
        reason = f"the printed figure needs a width near {needed_width:.1f}; here it is {width}"
    return Claim(
        f"masking, {words}, width by {errors.reading!r}: share missed",
        ", ".join(f"{figure:.2f}" for figure in printed),
        f"{errors.miss.written()} (e* {errors.e_star.written()}, "
        f"equal error rate {errors.equal_error_rate.written()})",
        _verdict(all(errors.miss.holds(figure) for figure in printed), reason),
    )


def theorem_claims(theorem: BoundCheck) -> list[Claim]:
    """Theorem 1, for the bound as stated, for its stronger forms, and for the binomial one."""
    never_looser = Claim(
        "Theorem 1: the binomial threshold is never below Hoeffding's",
        "not in the paper",
        f"below in {theorem.n_looser} of {theorem.n_compared} comparisons",
        _verdict(theorem.n_looser == 0),
    )
    return [*(_bound_claim(theorem.bounds, bound) for bound in BOUNDS), never_looser]


def _bound_claim(bounds: pd.DataFrame, bound: str) -> Claim:
    lines = bounds[bounds["bound"] == bound]
    rows = ", ".join(f"{n}" for n in lines["n_holdout"])
    failures = ", ".join(f"{100 * share:.1f}" for share in lines["failure_share"])
    slack = ", ".join(f"{value:.3f}" for value in lines["slack"])
    return Claim(
        f"Theorem 1, {bound}: failures with {rows} held-out rows",
        f"at most {percent(1 - CONFIDENCE)}",
        f"{failures} % (bound minus truth {slack} on average)",
        _verdict(bool((lines["lowest_share"] <= 1 - CONFIDENCE).all())),
    )


def _share_claim(claim: str, is_so: "pd.Series[bool]") -> Claim:
    share = float(is_so.mean())
    return Claim(claim, "yes", f"in {percent(share)} of the draws", _verdict(share > 0.5))


def _verdict(agrees: bool, reason: str | None = None) -> str:
    if agrees:
        return "reproduced"
    if reason is None:
        return "not reproduced"
    return f"differs because {reason}"
