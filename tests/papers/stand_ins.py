"""Small tables in place of the real data of the papers, and fewer repetitions."""

import numpy as np
import pandas as pd

from kernova.papers.ksd.fish import Level
from kernova.papers.rkof.data import KDD_CATEGORIES

FEW_NUMBERS = {"Synthetic-1": (10, 27, 31, 60), "Synthetic-2": (14, 20, 100)}

SHAPE = np.array([[-2, 0], [-1, 0.6], [0.5, 0.7], [2, 0.1], [0.6, -0.5], [-1, -0.5]])
TRIBES = {"Aini": 3, "Bini": 3, "Cini": 1}
LEVELS = (
    Level("tribe", None, 12, has_bounds=True),
    Level("genus", "Aini", 12, has_bounds=True),
    Level("species", "Aini", 6, has_bounds=False),
)


def write_hms_sets(folder):
    """Write a set to be thinned out and one to be used whole, small and easy."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 6, (7, 3))
    rows = np.concatenate([centre + rng.normal(0, 1, (256, 3)) for centre in centres])
    segment = pd.DataFrame(rows, columns=list("abc"))
    segment["label"] = np.repeat([f"c{number}" for number in range(7)], 256)
    segment.to_parquet(folder / "segment.parquet")
    whole = pd.DataFrame(
        np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(7, 0.3, (5, 2))]), columns=list("ab")
    )
    whole["label"] = ["common"] * 40 + ["rare"] * 5
    whole.to_parquet(folder / "yeast.parquet")


def write_rkof_sets(folder, rng_seed=0):
    """Write small tables with the columns and labels of the real ones; return them."""
    rng = np.random.default_rng(rng_seed)

    def rows(n, n_columns, away=0.0):
        return rng.standard_normal((n, n_columns)) + away

    def write(name, values, labels):
        table = pd.DataFrame(values).rename(columns=str)
        table["label"] = labels
        table.to_parquet(folder / f"{name}.parquet", index=False)
        return table

    tables = {
        "mammography": write(
            "mammography", np.vstack([rows(150, 6), rows(5, 6, 5.0)]), [-1] * 150 + [1] * 5
        ),
        "ann_thyroid": write(
            "ann_thyroid", np.vstack([rows(120, 21), rows(4, 21, 4.0)]), [3] * 120 + [1] * 4
        ),
        "shuttle": write(
            "shuttle_test",
            np.vstack([rows(120, 9), *(rows(3, 9, 3.0 + label) for label in (2, 3, 4, 5, 6, 7))]),
            [1] * 120 + [label for label in (2, 3, 4, 5, 6, 7) for _ in range(3)],
        ),
    }
    kdd = pd.DataFrame(np.vstack([rows(130, 34), rows(4, 34, 4.0)])).rename(columns=str)
    for number, name in enumerate(KDD_CATEGORIES):
        kdd[name] = rng.choice(["tcp", "udp"] if number < 3 else [0, 1], len(kdd))
    kdd["label"] = ["normal"] * 130 + ["u2r"] * 4
    kdd.to_parquet(folder / "kdd_u2r.parquet", index=False)
    return {**tables, "kdd_u2r": kdd}


def write_fish(folder, n=6):
    """Write tribes of genera of two species each, farther apart the higher the rank."""
    rng = np.random.default_rng(1)
    lines = []
    for tribe, n_genera in TRIBES.items():
        of_tribe = SHAPE + rng.normal(0, 0.15, SHAPE.shape)
        for genus in range(n_genera):
            of_genus = of_tribe + rng.normal(0, 0.08, SHAPE.shape)
            for species in range(2):
                of_species = of_genus + rng.normal(0, 0.04, SHAPE.shape)
                for points in of_species + rng.normal(0, 0.03, (n, *SHAPE.shape)):
                    name = f"{tribe[0]}{genus}"
                    lines.append(
                        [f"f{len(lines)}", tribe, name, f"{name} {species}", *points.ravel()]
                    )
    axes = [f"{axis}{number}" for number in range(1, 7) for axis in "xy"]
    table = pd.DataFrame(lines, columns=["id", "tribe", "genus", "species", *axes])
    table.to_csv(folder / "cichlids.csv", index=False)


def use_few_numbers(monkeypatch):
    """Use few k and few sizes of groups: the full experiments take minutes."""
    from kernova.papers.rkof import synthetic

    monkeypatch.setattr(synthetic, "NUMBERS", FEW_NUMBERS)
    monkeypatch.setattr(synthetic, "GROUP_SIZES", (1, 16, 31))


def verdicts(claims):
    return [claim.verdict for claim in claims]
