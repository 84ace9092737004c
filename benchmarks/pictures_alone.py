"""Pictures without a table: questions and accuracy by descriptors, thumbnails and given features.

    python -m benchmarks.pictures_alone [choosing|confirming] [--draws 3]

Measured are the questions of the default strategy until every category is met, relative to random
sampling, and the accuracy of the recogniser (without rejection) with 100, 300 and 600 labels of
rows chosen at random, judged on all others. Galaxies are the confirming set: descriptors were
chosen on the others. ``KERNOVA_DATA`` is the folder of the data.
"""

import argparse
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.measuring import report
from benchmarks.picture_problems import CHOOSING, CONFIRMING, Pictures
from kernova.description.open_set.classifier import OpenSetClassifier
from kernova.discover.simulation import simulate
from kernova.images.columns import N_COMPONENTS, fit_picture_columns
from kernova.images.descriptors import picture_descriptors
from kernova.kernels.components import component_scores, principal_components

N_LABELS = (100, 300, 600)
_BATCH, _MOST_JUDGED, _SHUFFLES = 16, 2000, 200


def described(pixels: np.ndarray, *, rotation_invariant: bool) -> np.ndarray:
    """Return the columns that ``kernova discover`` would compare pictures by."""
    starts = range(0, len(pixels), _BATCH)
    rows = [
        picture_descriptors(pixels[start : start + _BATCH], rotation_invariant=rotation_invariant)
        for start in starts
    ]
    descriptors = np.concatenate(rows).astype(np.float32)
    side = pixels.shape[1]
    columns = fit_picture_columns(descriptors, side, rotation_invariant=rotation_invariant)
    return columns.rows(descriptors)


def thumbnails(pixels: np.ndarray) -> np.ndarray:
    """Return the principal components of the pixels themselves, the simple baseline."""
    flat = pixels[:, ::2, ::2].reshape(len(pixels), -1) / 255
    return component_scores(flat, principal_components(flat, N_COMPONENTS))


def representations(problem: Pictures) -> dict[str, Callable[[], np.ndarray]]:
    """Return ways to describe pictures, and the columns that came with them, if there are any."""
    pixels, given = problem.pixels, problem.features
    ways: dict[str, Callable[[], np.ndarray]] = {
        "thumbnails": lambda: thumbnails(pixels),
        "descriptors": lambda: described(pixels, rotation_invariant=False),
        "rotation-invariant": lambda: described(pixels, rotation_invariant=True),
    }
    if given is not None:
        scaled = (given - given.mean(axis=0)) / given.std(axis=0)
        ways["given features"] = lambda: scaled
        ways["given and rotation-invariant"] = lambda: np.hstack(
            [scaled, described(pixels, rotation_invariant=True)]
        )
    return ways


def by_chance(labels: np.ndarray) -> float:
    """Return the mean number of questions of random sampling until every category is met."""
    random = np.random.default_rng(0)
    codes = np.unique(labels, return_inverse=True)[1]
    firsts = [
        max(np.unique(codes[random.permutation(len(codes))], return_index=True)[1]) + 1
        for _ in range(_SHUFFLES)
    ]
    return float(np.mean(firsts))


def accuracy(rows: np.ndarray, labels: np.ndarray, n_labels: int, seed: int, scale: str) -> float:
    """Return the fraction of other rows that are recognised correctly."""
    order = np.random.default_rng([seed, n_labels]).permutation(len(rows))
    learnt, judged = order[:n_labels], order[n_labels : n_labels + _MOST_JUDGED]
    model = OpenSetClassifier(scale=scale, random_state=0).fit(rows[learnt], labels[learnt])
    return float((model.predict(rows[judged]) == labels[judged]).mean())


def lines_of(name: str, problem: Pictures, draw: int) -> list[dict[str, object]]:
    """Return a line for each way to describe the pictures of a draw."""
    labels, chance = problem.labels, by_chance(problem.labels)
    lines = []
    for way, described_rows in representations(problem).items():
        rows = described_rows()
        asked = simulate(rows, labels, random_state=draw).questions_to_all
        # Components are scaled together, as ``kernova learn`` does; other columns each by itself.
        scale = "feature" if way.startswith("given") else "common"
        line: dict[str, object] = {
            "problem": name, "way": way, "draw": draw, "columns": rows.shape[1],
            "questions": asked, "random": chance,
        }  # fmt: skip
        for n_labels in N_LABELS:
            if n_labels <= len(rows) * 2 // 3:
                line[f"accuracy {n_labels}"] = accuracy(rows, labels, n_labels, draw, scale)
        lines.append(line)
    return lines


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    parts = ["choosing", "confirming"]
    arguments.add_argument("part", nargs="?", default="choosing", choices=parts)
    arguments.add_argument("--draws", type=int, default=3)
    given = arguments.parse_args()
    problems = CHOOSING if given.part == "choosing" else CONFIRMING
    lines = [
        line
        for name, make in problems.items()
        for draw in range(given.draws)
        for line in lines_of(name, make(draw), draw)
    ]
    table = pd.DataFrame(lines)
    table["relative"] = table["questions"] / table["random"]
    means = table.groupby(["problem", "way"], sort=False).mean(numeric_only=True)
    means = means.drop(columns="draw").round(3).reset_index()
    report(f"pictures alone {given.part}", means.to_dict("records"))


if __name__ == "__main__":
    main()
