"""The paper on kernelized spatial depth, remade: pictures, synthetic figures, Theorem 1, fishes.

Chen, Bart, Dang and Peng, "Depth-Based Novelty Detection and Its Application to Taxonomic
Research", ICDM 2007. The paper prints one draw of each experiment; here each is drawn many times.
:mod:`kernova.papers.ksd.claims` says what counts as reproduced, and what does not.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from kernova.errors import check_count
from kernova.papers.claims import Claim
from kernova.papers.ksd.claims import (
    cloud_claims,
    masking_claims,
    masking_errors,
    ring_claims,
    theorem_claims,
    width_of_the_paper,
)
from kernova.papers.ksd.experiments import (
    BoundCheck,
    bandwidth_experiment,
    bound_experiment,
    cloud_experiment,
    masking_experiment,
    ring_experiment,
)
from kernova.papers.ksd.fish import (
    FishStudy,
    fish_claims,
    fish_experiment,
    level_table,
    pooled_table,
    read_fish,
)
from kernova.tables.records import json_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class KsdReproduction:
    """Everything that was measured; one line per draw unless said otherwise.

    Attributes
    ----------
    seeds : tuple of int
        What seeded each draw.
    cloud : DataFrame
        Gaussian clouds (Figure 1): depth of the row furthest to the upper right.
    rings : DataFrame
        Rings (Figures 2 and 3): both depths of the centre, whether it can be told from the rows,
        and the size at which a ring gives the paper's figure, as a share of ours.
    masking : DataFrame
        Masking (Figure 6) under each reading of the width, pooled and for each Gaussian alone.
    widths : DataFrame
        Masking, pooled, at widths from narrow to wide.
    theorem : BoundCheck
        How often each bound of false alarms failed.
    fish : FishStudy or None
        The taxonomic study (Tables 2 and 3), on other fishes; None where there are none.
    """

    seeds: tuple[int, ...]
    cloud: pd.DataFrame
    rings: pd.DataFrame
    masking: pd.DataFrame
    widths: pd.DataFrame
    theorem: BoundCheck
    fish: FishStudy | None = None

    def masking_summary(self) -> pd.DataFrame:
        """Mean and standard deviation of each error, by scope and reading of the width.

        Alone, the draws of all four Gaussians count together. Plain spatial depth has the
        bandwidth infinity.
        """
        lines = [
            {
                "scope": errors.scope,
                "reading": errors.reading,
                "bandwidth": errors.bandwidth,
                "miss": errors.miss.mean,
                "miss_deviation": errors.miss.deviation,
                "e_star": errors.e_star.mean,
                "e_star_deviation": errors.e_star.deviation,
                "equal_error_rate": errors.equal_error_rate.mean,
                "equal_error_rate_deviation": errors.equal_error_rate.deviation,
            }
            for errors in masking_errors(self.masking)
        ]
        return pd.DataFrame(lines)

    def table(self) -> pd.DataFrame:
        """Claim by claim: what the paper prints, what came out here, and the verdict."""
        claims = [
            *cloud_claims(self.cloud),
            *ring_claims(self.rings),
            *masking_claims(self.masking, self.widths),
            *theorem_claims(self.theorem),
            *([] if self.fish is None else fish_claims(self.fish)),
        ]
        return pd.DataFrame(claims, columns=list(Claim._fields))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give the tables that are too long for JSON alone, by name: those of the fishes."""
        if self.fish is None:
            return {}
        by_pair = self.fish.pairs.groupby(["level", "unknown", "known", "method"], sort=False)
        return {
            "fish-levels": level_table(self.fish),
            "fish-pooled": pooled_table(self.fish),
            "fish-pairs": by_pair[["equal_error_rate"]].mean().reset_index(),
        }

    def to_json_dict(self) -> dict[str, Any]:
        """Give all tables as plain lists of plain values; an infinite bandwidth is None."""
        return {
            "paper": "Chen, Bart, Dang and Peng, ICDM 2007",
            "seeds": list(self.seeds),
            "claims": json_rows(self.table()),
            "width_of_the_paper": width_of_the_paper(self.widths),
            "masking_summary": json_rows(self.masking_summary()),
            "cloud": json_rows(self.cloud),
            "rings": json_rows(self.rings),
            "masking": json_rows(self.masking),
            "widths": json_rows(self.widths),
            "theorem": json_rows(self.theorem.bounds),
            "binomial_looser_than_hoeffding": self.theorem.n_looser,
            **{name.replace("-", "_"): json_rows(rows) for name, rows in self.tables().items()},
        }

    def figures(self) -> "dict[str, Figure]":
        """Draw the pictures: "cloud", "ring", "masking", "masking-widths" and "theorem".

        With fishes, "fish-pairs" and "fish-methods" too.
        """
        from kernova.papers.ksd.report import fish_pictures, pictures_of

        return pictures_of(self) | ({} if self.fish is None else fish_pictures(self.fish))


def reproduce_ksd(
    data: str | Path | None = None,
    *,
    seeds: int = 20,
    repetitions: int = 1000,
    halvings: int = 2,
    random_state: "int | np.random.RandomState | None" = 0,
) -> KsdReproduction:
    """Remake the paper on kernelized spatial depth; its study of fishes on other ones.

    Parameters
    ----------
    data : path, default=None
        A folder that holds the cichlids; None leaves the fishes out.
    seeds : int, default=20
        How often to draw the cloud, the ring and the masking example; at least 2.
    repetitions : int, default=1000
        How often to set thresholds for the check of Theorem 1; at least 1.
    halvings : int, default=2
        How often the known fishes are halved; each takes a minute or more.
    random_state : int, RandomState instance or None, default=0
        Seeds all draws. The first draws are the same for any number of them.

    Returns
    -------
    KsdReproduction
        The measurements, with :meth:`~KsdReproduction.table`,
        :meth:`~KsdReproduction.to_json_dict` and :meth:`~KsdReproduction.figures`.

    Examples
    --------
    >>> from kernova.papers.ksd import reproduce_ksd
    >>> small = reproduce_ksd(seeds=3, repetitions=5)
    >>> small.table().loc[1, ["claim", "paper"]].tolist()
    ['ring: spatial depth of the empty centre', '0.9544']
    """
    check_count(seeds, "seeds", 2)
    check_count(repetitions, "repetitions", 1)
    fish = None if data is None else read_fish(data)  # before the work, for its errors
    drawn = check_random_state(random_state).randint(2**31 - 1, size=seeds)
    seed_values = tuple(int(seed) for seed in drawn)
    return KsdReproduction(
        seeds=seed_values,
        cloud=cloud_experiment(seed_values),
        rings=ring_experiment(seed_values),
        masking=masking_experiment(seed_values),
        widths=bandwidth_experiment(seed_values),
        theorem=bound_experiment(repetitions, seed_values[0]),
        fish=None if fish is None else fish_experiment(fish, halvings, seed_values[0]),
    )
