"""Tables of specimens: landmarks aligned for commands that take tables.

Specimens become a :class:`~kernova.tables.table.Table` of aligned coordinates, whose ``reader``
aligns further specimens to the same consensus. Other columns are not compared.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError, quoted
from kernova.shapes import Landmarks
from kernova.shapes.procrustes import shapeless_rows
from kernova.tables.table import Table
from kernova.text import listed, plural, quantity
from kernova.workflows.landmarks.alignment import LOG_SIZE, LandmarkColumns, ShapeCoordinates
from kernova.workflows.landmarks.reading import Specimens

_AXES = "xyz"


class _Complete(NamedTuple):
    """Specimens without those that were dropped for missing landmarks."""

    specimens: Specimens
    n_dropped: int
    notes: list[str]


def aligned_specimens(
    specimens: Specimens,
    *,
    missing: str,
    size: bool = False,
    keeps_missing: bool = False,
) -> Table:
    """Align specimens to their consensus, and return them as a table with notes.

    Parameters
    ----------
    specimens : Specimens
        Result of :func:`~kernova.workflows.landmarks.reading.read_specimens`.
    missing : {"auto", "fill", "drop", "refuse"}
        Missing landmarks: estimated, dropped with their specimens, or an error.
    size : bool
        Add the logarithm of centroid size as one more column.
    keeps_missing : bool
        Return aligned coordinates in which missing landmarks stay missing, for a pipeline that
        begins with another alignment, instead of tangent coordinates.
    """
    whole = _without_missing(specimens, missing)
    kept = whole.specimens
    _check_all_seen(kept.landmarks)
    has_scales = size and not np.isnan(kept.landmarks.scales).all()
    rows = _rows(kept, size=size, has_scales=has_scales)
    alignment = ShapeCoordinates(kept.landmarks.n_dimensions, size).fit(rows)
    reader = LandmarkColumns(alignment, has_scales, kept.id_column, kept.label_column)
    features = alignment.align(rows) if keeps_missing else alignment.transform(rows)
    notes = [_alignment_note(kept, reader), *_unused_note(kept), *whole.notes]
    return _table(whole, features, reader, notes)


def specimens_like(
    specimens: Specimens,
    reader: LandmarkColumns,
    known: str,
    *,
    missing: str,
    keeps_missing: bool = False,
) -> Table:
    """Align new specimens to the consensus of known ones.

    Parameters
    ----------
    specimens : Specimens
        Result of :func:`~kernova.workflows.landmarks.reading.read_specimens`.
    reader : LandmarkColumns
        The ``reader`` of the known table.
    known : str
        What the known specimens are called in messages, with a verb if need be.
    missing, keeps_missing
        As for :func:`aligned_specimens`.
    """
    whole = _without_missing(specimens, missing)
    landmarks = whole.specimens.landmarks
    layout = landmarks.n_landmarks, landmarks.n_dimensions
    if layout != reader.layout:
        raise InputError(
            f"{specimens.source} holds {_landmarks_text(*layout)}, but {known} "
            f"{_landmarks_text(*reader.layout)}; digitise the same landmarks in the same order."
        )
    alignment = reader.alignment
    rows = _rows(whole.specimens, size=alignment.size, has_scales=reader.has_scales)
    features = alignment.align(rows) if keeps_missing else alignment.transform(rows)
    return _table(whole, features, reader, [*whole.notes, *_unused_scales_note(landmarks, reader)])


def _rows(specimens: Specimens, *, size: bool, has_scales: bool) -> pd.DataFrame:
    """Return coordinates as columns, and the logarithms of the scales if sizes are compared."""
    landmarks = specimens.landmarks
    if has_scales:
        _check_scales(landmarks)
    n_landmarks, n_dimensions = landmarks.coordinates.shape[1:]
    names = [
        f"{axis}{number} (aligned)"
        for number in range(1, n_landmarks + 1)
        for axis in _AXES[:n_dimensions]
    ]
    rows = pd.DataFrame(landmarks.coordinates.reshape(len(landmarks), -1), columns=names)
    if size:
        rows[LOG_SIZE] = np.log(landmarks.scales) if has_scales else 0.0
    return rows


def _check_scales(landmarks: Landmarks) -> None:
    without = [landmarks.ids[row] for row in np.flatnonzero(np.isnan(landmarks.scales))]
    if without:
        have = plural(
            len(without), "has no scale, so that its size", "have no scale, so that sizes"
        )
        raise InputError(
            f"{len(without):,} of {quantity(len(landmarks), 'specimen')} of {landmarks.source} "
            f"{have} cannot be compared: {listed(without)}. Add SCALE= to each."
        )


def _table(
    whole: _Complete,
    features: pd.DataFrame,
    reader: LandmarkColumns,
    notes: Sequence[str],
) -> Table:
    specimens = whole.specimens
    return Table(
        features=features,
        ids=specimens.ids,
        labels=specimens.labels,
        source=specimens.source,
        n_dropped=whole.n_dropped,
        columns=(str(specimens.ids.name), *features.columns),
        reader=reader,
        notes=(*specimens.notes, *notes),
        groups=specimens.groups,
    )


# --- missing landmarks ---------------------------------------------------------------------------


def _without_missing(specimens: Specimens, missing: str) -> _Complete:
    """Drop specimens without shape or landmarks, or raise, or say that landmarks are estimated."""
    landmarks = specimens.landmarks
    _check_landmarks(landmarks)
    has_gap = landmarks.is_missing.any(axis=1)
    n_gaps = int(has_gap.sum())
    if missing == "drop" and n_gaps:
        if n_gaps == len(landmarks):
            raise InputError(
                f"Every specimen of {landmarks.source} lacks landmarks; none is left. Estimate "
                "them with missing='auto'."
            )
        kept = _taken(specimens, np.flatnonzero(~has_gap))
        return _Complete(_with_shapes(kept), n_gaps, [])
    if missing == "refuse" and n_gaps:
        lack = plural(n_gaps, "specimen lacks", "specimens lack")
        names = [str(landmarks.ids[row]) for row in np.flatnonzero(has_gap)]
        raise InputError(
            f"{n_gaps:,} {lack} landmarks in {landmarks.source}: {listed(names)}. Estimate them "
            "with missing='auto', or drop such specimens with missing='drop'."
        )
    notes = _estimated_note(landmarks) if n_gaps else []
    return _Complete(_with_shapes(specimens), 0, notes)


def _estimated_note(landmarks: Landmarks) -> list[str]:
    n_missing = int(np.count_nonzero(landmarks.is_missing))
    n_specimens = int(np.count_nonzero(landmarks.is_missing.any(axis=1)))
    are = plural(n_missing, "is", "are")
    return [
        f"{n_missing:,} of {landmarks.is_missing.size:,} landmarks of {landmarks.source} {are} "
        f"missing, in {n_specimens:,} of {quantity(len(landmarks), 'specimen')}; each is estimated "
        "from the others."
    ]


def _taken(specimens: Specimens, rows: NDArray[np.intp]) -> Specimens:
    def picked(column: "pd.Series[Any] | None") -> "pd.Series[Any] | None":
        return None if column is None else column.iloc[rows].reset_index(drop=True)

    return replace(
        specimens,
        landmarks=specimens.landmarks.take(rows),
        ids=specimens.ids.iloc[rows].reset_index(drop=True),
        labels=picked(specimens.labels),
        groups=picked(specimens.groups),
    )


def _check_landmarks(landmarks: Landmarks) -> None:
    least = landmarks.n_dimensions + 1
    if landmarks.n_landmarks < least:
        raise InputError(
            f"The specimens of {landmarks.source} have "
            f"{quantity(landmarks.n_landmarks, 'landmark')} each; to compare shapes takes at least "
            f"{least}."
        )


def _check_all_seen(landmarks: Landmarks) -> None:
    is_seen = ~landmarks.is_missing.all(axis=0)
    if not is_seen.all():
        raise InputError(
            f"Landmark {int(np.argmin(is_seen)) + 1} is missing in every specimen of "
            f"{landmarks.source}. Leave it out."
        )


def _with_shapes(specimens: Specimens) -> Specimens:
    """Return the specimens, or raise if one of them has no shape."""
    shapeless = shapeless_rows(specimens.landmarks.coordinates)
    if len(shapeless):
        name = str(specimens.ids.iloc[int(shapeless[0])])
        raise InputError(
            f"Specimen {quoted(name)} of {specimens.source} has no shape: it has fewer than "
            f"{max(2, specimens.landmarks.n_dimensions)} landmarks, or all of them coincide. "
            "Leave it out."
        )
    return specimens


# --- notes ---------------------------------------------------------------------------------------


def _landmarks_text(n_landmarks: int, n_dimensions: int) -> str:
    return f"{n_landmarks} landmarks in {'three' if n_dimensions == 3 else 'two'} dimensions"


def _alignment_note(specimens: Specimens, reader: LandmarkColumns) -> str:
    """Return what was recognised, what was done about it, and how to do otherwise."""
    n_landmarks, d = reader.layout
    n_columns = n_landmarks * d
    n_free = n_columns - d - 1 - d * (d - 1) // 2
    size = "; size=True adds the size as a column"
    if reader.alignment.size:
        unit = "in real units, by the scales" if reader.has_scales else "in the unit of the file"
        size = f"; the log of centroid size, {unit}, is one more column"
    named, otherwise = "", ""
    if specimens.columns:
        first, last = (", ".join(row) for row in (specimens.columns[0], specimens.columns[-1]))
        named = f" ({first} … {last})"
        otherwise = " Use raw_coordinates=True to compare the coordinates as they are."
    return (
        f"{specimens.source} holds {_landmarks_text(n_landmarks, d)}{named}: specimens are aligned "
        f"(position, size and rotation removed{size}), and {n_columns} tangent coordinates are "
        f"compared, of which {n_free} are independent.{otherwise}"
    )


def _unused_scales_note(landmarks: Landmarks, known: LandmarkColumns) -> list[str]:
    """Return a note if sizes are those of the file although it has scales."""
    if not known.alignment.size or known.has_scales or np.isnan(landmarks.scales).all():
        return []
    return [
        f"The scales of {landmarks.source} are not used, since the known specimens have none: "
        "sizes are compared in the unit of the file."
    ]


def _unused_note(specimens: Specimens) -> list[str]:
    if not specimens.unused:
        return []
    columns = plural(len(specimens.unused), "Another column", "Other columns")
    are = plural(len(specimens.unused), "is", "are")
    return [f"{columns} of {specimens.source} {are} not compared: {listed(specimens.unused)}."]
