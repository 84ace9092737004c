"""Real data of the RKOF paper: sources, reading and scaling.

The paper mentions "standard text processing" without details. The scaling of the columns here was
chosen to come near the paper's areas, and is reported with every result.
"""

import gzip
import warnings
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError, quoted
from kernova.papers.claims import LabelledTable, check_data_folder, read_labelled_file
from kernova.progress import track
from kernova.tables.encoding import Scaling, number_scaling, scaled_numbers
from kernova.typing import Matrix

KDD_CATEGORIES: Final = (
    "protocol_type",
    "service",
    "flag",
    "land",
    "logged_in",
    "is_host_login",
    "is_guest_login",
)
_KDD_CATEGORY_COLUMNS: Final = (1, 2, 3, 6, 11, 20, 21)
_U2R: Final = (
    "buffer_overflow",
    "httptunnel",
    "loadmodule",
    "perl",
    "ps",
    "rootkit",
    "sqlattack",
    "xterm",
)
SHUTTLE_LABELS: Final = (2, 3, 5, 6, 7)


class OutlierSet(NamedTuple):
    """Scaled rows, and which of them are outliers.

    Attributes
    ----------
    name, family : str
        The data set, and the family over which the paper averages.
    X : ndarray of shape (n_rows, n_columns)
        The rows.
    is_outlier : ndarray of shape (n_rows,)
        True for outliers.
    numbers : tuple of int
        The numbers of neighbours, k.
    chosen_k : int
        The k of ROC curves and of times.
    largest_k : int or None
        The k of LPF in the paper.
    is_variant : bool
        Whether these are the rows of another set with another encoding; no times are taken.
    """

    name: str
    family: str
    X: Matrix
    is_outlier: NDArray[np.bool_]
    numbers: tuple[int, ...]
    chosen_k: int
    largest_k: int | None = None
    is_variant: bool = False


class Source(NamedTuple):
    """Source of a data set of the paper, and its preparation."""

    name: str
    title: str
    file: str  # as Parquet, with a column "label"
    raw_file: str | None  # as the UCI repository has it
    read_raw: Callable[[Path], LabelledTable] | None
    openml_id: int | None
    where: str
    ordinary_label: str
    outlier_labels: tuple[str, ...]
    counts: Mapping[str, int]  # rows with each label, in the paper
    encode: Callable[[pd.DataFrame], Matrix]
    preparation: str
    numbers: tuple[int, ...]
    chosen_k: int
    largest_k: int | None = None
    is_variant: bool = False


class Loaded(NamedTuple):
    """Data sets that could be read, and notes on those that could not or that differ."""

    sets: tuple[OutlierSet, ...]
    notes: tuple[str, ...]


def load_sets(folder: "Path | None", names: Sequence[str]) -> Loaded:
    """Read the named sets from a folder; without one, download them from OpenML."""
    if folder is not None:
        check_data_folder(folder)
    sets: list[OutlierSet] = []
    notes: list[str] = []
    for name in track(names, "reading data"):
        source = SOURCES[name]
        try:
            table = _from_folder(source, folder) if folder else _from_openml(source)
        except _UnavailableError as reason:
            notes.append(f"{source.title} is left out: {reason} {source.where}")
            continue
        notes += _differences(source, table)
        sets += _ready(source, table)
    return Loaded(tuple(sets), tuple(notes))


class _UnavailableError(Exception):
    """A data set is not available; the text gives the reason."""


def _from_folder(source: Source, folder: Path) -> LabelledTable:
    path = folder / source.file
    if path.is_file():
        return read_labelled_file(path, KDD_CATEGORIES)
    wanted = source.file
    if source.raw_file is not None and source.read_raw is not None:
        raw = folder / source.raw_file
        if raw.is_file():
            return source.read_raw(raw)
        wanted = f"{source.file} nor {source.raw_file}"
    raise _UnavailableError(f"there is no {wanted} in {folder}.")


def _from_openml(source: Source) -> LabelledTable:
    from sklearn.datasets import fetch_openml

    if source.openml_id is None:
        raise _UnavailableError("OpenML does not have the paper's rows of it.")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A network error occurred")
            bunch = fetch_openml(data_id=source.openml_id, as_frame=True, n_retries=1)
    except (OSError, HTTPException, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise _UnavailableError(
            f"OpenML (data set {source.openml_id}) did not answer: {reason}."
        ) from error
    table = LabelledTable(bunch.data, bunch.target.astype(str))
    return rows_of_the_paper(source, table)


def rows_of_the_paper(source: Source, table: LabelledTable) -> LabelledTable:
    """Return the first or the last rows if their labels are those of the paper."""
    n_wanted = sum(source.counts.values())
    for part in (slice(None), slice(-n_wanted, None), slice(0, n_wanted)):
        labels = table.labels.iloc[part]
        if labels.value_counts().to_dict() == dict(source.counts):
            return LabelledTable(table.features.iloc[part], labels)
    return table


def _differences(source: Source, table: LabelledTable) -> list[str]:
    wanted = {source.ordinary_label, *source.outlier_labels}
    found = {label: n for label, n in table.labels.value_counts().items() if label in wanted}
    printed = {label: n for label, n in source.counts.items() if label in wanted}
    if found == printed:
        return []
    return [
        f"{source.title}: these are not the paper's rows; by label there are "
        f"{_counted(found)}, and in the paper {_counted(printed)}."
    ]


def _counted(rows_of: Mapping[Any, int]) -> str:
    return ", ".join(f"{rows_of[label]:,} {label}" for label in sorted(rows_of)) or "none"


def _ready(source: Source, table: LabelledTable) -> list[OutlierSet]:
    """Return one set for each kind of outlier, each with all ordinary rows."""
    is_ordinary = (table.labels == source.ordinary_label).to_numpy()
    kinds = [(table.labels == label).to_numpy() for label in source.outlier_labels]
    if not is_ordinary.any() or not any(kind.any() for kind in kinds):
        raise InputError(
            f"{source.file} has no rows labelled {quoted(source.ordinary_label)}, or none labelled "
            f"{' or '.join(map(repr, source.outlier_labels))}; both are needed to compare."
        )
    sets = []
    for label, kind in zip(source.outlier_labels, kinds, strict=True):
        if not kind.any():
            continue
        kept = is_ordinary | kind
        name = source.name if len(kinds) == 1 else f"{source.name} {label}"
        n_others = int(kept.sum()) - 1
        sets.append(
            OutlierSet(
                name,
                source.name,
                source.encode(table.features[kept]),
                kind[kept],
                tuple(sorted({min(k, n_others) for k in source.numbers})),
                min(source.chosen_k, n_others),
                source.largest_k and min(source.largest_k, n_others),
                source.is_variant,
            )
        )
    return sets


def scaled(features: pd.DataFrame, rule: Scaling) -> Matrix:
    """Scale every column of numbers by one rule."""
    numbers = features.to_numpy(dtype=np.float64)
    return scaled_numbers(numbers, number_scaling(numbers, rule))


def kdd_one_hot(features: pd.DataFrame) -> Matrix:
    """Scale numbers from 0 to 1, and make each value of a category a column of 0 and 1."""
    return np.hstack(_kdd_parts(features))


def kdd_as_text(features: pd.DataFrame) -> Matrix:
    """Take logarithms of counts, and weigh each value of a category by log(n / its count).

    This is the weighting of terms in text processing: logarithmic counts and inverse document
    frequencies. The paper mentions "standard text processing"; of seventeen encodings that were
    tried, none of which uses labels, this one reaches the paper's areas.
    """
    names = [name for name in KDD_CATEGORIES if name in features.columns]
    _, indicators = _kdd_parts(features)
    counts = features.drop(columns=names).astype(np.float64)  # and rates: none is negative
    logs = counts.clip(lower=0).apply(np.log1p)
    return np.hstack([scaled(logs, "minmax"), indicators * -np.log(indicators.mean(axis=0))])


def _kdd_parts(features: pd.DataFrame) -> tuple[Matrix, Matrix]:
    names = [name for name in KDD_CATEGORIES if name in features.columns]
    indicators = pd.get_dummies(features[names].astype(str)).to_numpy(np.float64)
    return scaled(features.drop(columns=names), "minmax"), indicators


def _read_kdd(path: Path) -> LabelledTable:
    with gzip.open(path) as file:
        rows = pd.read_csv(file, header=None)
    attack = rows.pop(rows.columns[-1]).str.rstrip(".")
    names = dict(zip(_KDD_CATEGORY_COLUMNS, KDD_CATEGORIES, strict=True))
    rows.columns = pd.Index([names.get(number, f"c{number}") for number in range(rows.shape[1])])
    return LabelledTable(rows, attack.where(~attack.isin(_U2R), "u2r"))


def _read_spaced(path: Path) -> LabelledTable:
    rows = pd.read_csv(path, header=None, sep=r"\s+")
    labels = rows.pop(rows.columns[-1]).astype(str)
    rows.columns = pd.Index([f"c{number}" for number in range(rows.shape[1])])
    return LabelledTable(rows, labels)


_UCI = "https://archive.ics.uci.edu"
_KDD: Final = Source(
    name="kdd_u2r",
    title="KDD Cup 1999",
    file="kdd_u2r.parquet",
    raw_file="corrected.gz",
    read_raw=_read_kdd,
    openml_id=None,
    where="It is the labelled test set of KDD Cup 1999, corrected.gz, from "
    "http://kdd.ics.uci.edu/databases/kddcup99/; put that file into the folder `data`. "
    "(OpenML's KDDCup99, 1113, and scikit-learn's fetch_kddcup99 hold training rows.)",
    ordinary_label="normal",
    outlier_labels=("u2r",),
    counts={"normal": 60593, "u2r": 228},
    encode=kdd_one_hot,
    preparation="34 columns of numbers from 0 to 1, one column for each value of 7 others",
    numbers=(20, 50, 100, 150, 200, 250, *range(280, 701, 20)),
    chosen_k=320,
    largest_k=13000,
)
SOURCES: Final = {
    source.name: source
    for source in (
        _KDD,
        _KDD._replace(
            name="kdd_u2r_idf",
            title="KDD Cup 1999, as text",
            encode=kdd_as_text,
            preparation="34 columns log(1 + x), from 0 to 1; each value of 7 others weighs "
            "log(n / its count)",
            largest_k=None,
            is_variant=True,
        ),
        Source(
            name="mammography",
            title="Mammography",
            file="mammography.parquet",
            raw_file=None,
            read_raw=None,
            openml_id=310,
            where="It is data set 310 of https://www.openml.org.",
            ordinary_label="-1",
            outlier_labels=("1",),
            counts={"-1": 10923, "1": 260},
            encode=lambda features: scaled(features, "minmax"),
            preparation="each column from 0 to 1",
            numbers=(5, 10, 20, 30, *range(40, 161, 10), *range(180, 461, 20), 600, 800),
            chosen_k=110,
            largest_k=11183,
        ),
        Source(
            name="ann_thyroid",
            title="Ann-thyroid",
            file="ann_thyroid.parquet",
            raw_file="ann-test.data",
            read_raw=_read_spaced,
            openml_id=None,
            where=f"It is ann-test.data of {_UCI}/dataset/102/thyroid+disease; put that file into "
            "the folder `data`. (OpenML's thyroid-ann, 40497, holds the training rows.)",
            ordinary_label="3",
            outlier_labels=("1",),
            counts={"1": 73, "2": 177, "3": 3178},
            encode=lambda features: scaled(features, "standard"),
            preparation="each of 21 columns with mean 0 and deviation 1",
            numbers=(5, 10, 15, *range(20, 61, 2), 70, 80, 100, 150, 200, 250, 300, 400, 500),
            chosen_k=30,
        ),
        Source(
            name="shuttle",
            title="Shuttle",
            file="shuttle_test.parquet",
            raw_file="shuttle.tst",
            read_raw=_read_spaced,
            openml_id=40685,
            where="It is shuttle.tst of "
            f"{_UCI}/ml/machine-learning-databases/statlog/shuttle/, and part of data set 40685 of "
            "https://www.openml.org.",
            ordinary_label="1",
            outlier_labels=tuple(map(str, SHUTTLE_LABELS)),
            counts={"1": 11478, "2": 13, "3": 39, "4": 2155, "5": 809, "6": 4, "7": 2},
            encode=lambda features: scaled(features, "none"),
            preparation="columns as they are",
            numbers=(50, 100, *range(200, 601, 100), *range(650, 851, 50), *range(900, 1501, 100)),
            chosen_k=700,
        ),
    )
}
