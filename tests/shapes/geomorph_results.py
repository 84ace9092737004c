"""Results of the R package geomorph on the same specimens, as numbers, kept beside the tests."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernova import GeneralizedProcrustes
from kernova.shapes.tangent import tangent_projection

FOLDER = Path(__file__).parents[1] / "data" / "geomorph"


def results(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


class Plethodon:
    """Forty heads of salamanders, aligned with and without tangent projection."""

    def __init__(self, path):
        self.table = pd.read_csv(path)
        raw = self.table.loc[:, "x1":"y12"].to_numpy(float).reshape(-1, 12, 2)
        procrustes = GeneralizedProcrustes(tolerance=1e-14).fit(raw)
        aligned = procrustes.transform(raw)
        self.sizes = procrustes.centroid_sizes_
        self.aligned = {
            "unprojected": aligned,
            "projected": tangent_projection(aligned, procrustes.consensus_),
        }

    def in_frame_of(self, kind, consensus):
        """Turn the specimens to geomorph's consensus, whose direction is another one."""
        shapes, target = self.aligned[kind], np.reshape(consensus, (12, 2))
        left, _, right = np.linalg.svd(shapes.mean(axis=0).T @ target)
        return shapes @ left @ right


def read_plethodon(data_folder):
    path = data_folder / "landmarks" / "small" / "plethodon.csv"
    if not path.is_file():
        pytest.skip(f"no landmarks at {path}")
    return Plethodon(path)
