"""Suggestions after few answers: accuracy, and rows above the threshold that promises 0.9.

    python -m benchmarks.suggestions [--tables galaxies yeast ...]

An expert answers the questions of the default strategy with the true labels; what is learnt from
the first 46, 100 and 300 answers is compared with the labels of all other rows, and with logistic
regression on the same answers. ``KERNOVA_DATA`` is the folder of the tables.
"""

import argparse
import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.measuring import report
from kernova.discover.session import CategoryDiscovery
from kernova.tables.table import Table
from kernova.workbench.recognizer import PROMISED, learn_from_answers
from kernova.workflows.detectors import table_encoder

N_ANSWERS = (46, 100, 300)
# Rows that are wanted above the threshold after these numbers of answers, on galaxies.
WANTED = {46: 500, 100: 1500, 300: 2500}
_MOST_ROWS = 6000
_TABLES = {
    "galaxies": ("images/galaxy_zoo1/galaxies.csv", ("id", "thumbnail")),
    "yeast": ("yeast.parquet", ()),
    "ecoli": ("rare_categories/ecoli.parquet", ()),
    "letter": ("letter.parquet", ()),
    "shuttle": ("shuttle.parquet", ()),
}


class Labelled(NamedTuple):
    """Columns of numbers, and the true labels."""

    features: pd.DataFrame
    labels: np.ndarray


def labelled_table(name: str, folder: Path) -> Labelled:
    """Read a table; of very many rows, a random sample is kept."""
    path, dropped = _TABLES[name]
    read = pd.read_csv if path.endswith(".csv") else pd.read_parquet
    frame = read(folder / path)
    if len(frame) > 2 * _MOST_ROWS:
        frame = frame.sample(_MOST_ROWS, random_state=0)
    frame = frame.reset_index(drop=True).drop(columns=list(dropped))
    labels = frame.pop("label" if "label" in frame else "class").astype(str).to_numpy()
    return Labelled(frame.select_dtypes("number"), labels)


def asked_rows(table: Labelled, n: int) -> np.ndarray:
    """Return the rows of the first questions, answered with the true labels."""
    session = CategoryDiscovery(random_state=0)
    session.start(table_encoder("standard", "fill").fit_transform(table.features))
    asked: list[int] = []
    while len(asked) < n and (question := session.next_question()) is not None:
        session.answer(table.labels[question.row])
        asked.append(question.row)
    return np.array(asked)


def measured(name: str, table: Labelled, asked: np.ndarray) -> dict[str, object]:
    """Return accuracy and suggestions after these answers."""
    is_other = np.ones(len(table.labels), dtype=bool)
    is_other[asked] = False
    labels = np.where(is_other, None, table.labels.astype(object))
    ids = pd.Series([str(row) for row in range(len(labels))], name="id")
    start = time.perf_counter()
    learnt = learn_from_answers(Table(table.features, ids, None, f"{name}.csv"), labels)
    elapsed = time.perf_counter() - start
    truth = table.labels[is_other]
    suggested = np.array(learnt.names)[learnt.judged.suggested[is_other]]
    peer = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    filled = table.features.fillna(table.features.median())
    peer.fit(filled.iloc[asked], table.labels[asked])
    rows = [] if learnt.threshold is None else learnt.suggestions(learnt.threshold)
    right = np.array([learnt.line_of(row).suggested == table.labels[row] for row in rows])
    return {
        "table": name,
        "answers": len(asked),
        "categories met": len(learnt.names),
        "accuracy": float(np.mean(suggested == truth)),
        "logistic regression": float(peer.score(filled[is_other], truth)),
        "threshold": learnt.threshold,
        f"rows at {PROMISED}": len(rows),
        "wanted": WANTED[len(asked)] if name == "galaxies" else None,
        "precision": float(right.mean()) if len(rows) else None,
        "unknown": learnt.counts["unknown"],
        "seconds": elapsed,
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tables", nargs="+", default=list(_TABLES), choices=list(_TABLES))
    folder = Path(os.environ["KERNOVA_DATA"])
    lines = []
    for name in arguments.parse_args().tables:
        table = labelled_table(name, folder)
        asked = asked_rows(table, max(N_ANSWERS))
        lines += [measured(name, table, asked[:n]) for n in N_ANSWERS if n <= len(asked)]
    report("suggestions", lines)


if __name__ == "__main__":
    main()
