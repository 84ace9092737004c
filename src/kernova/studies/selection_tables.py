"""Tables whose rows are stretches of recordings: Raven's selections, and others with times."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.load.annotation_formats.raven import BEGIN, END
from kernova.load.feature_columns import decoded
from kernova.load.raw import RawTable
from kernova.load.sentences import listed

Vector = NDArray[np.float64]

_TIMES: Final = (
    (BEGIN.lower(), END.lower()),
    ("start", "end"),
    ("start_s", "end_s"),
    ("start_seconds", "end_seconds"),
    ("begin", "end"),
    ("onset", "offset"),
    ("onset_s", "offset_s"),
)
# What says where a selection is and who made it, and nothing of what it sounds like.
_NO_MEASURES: Final = frozenset(
    (
        *("selection", "view", "channel", "begin file", "end file", "begin path", "end path"),
        *("file offset (s)", "begin date", "begin clock time", "end clock time"),
        *("begin date time", "begin sample (samples)", "end sample (samples)"),
        *("file", "sr", "sample_rate", "samplerate"),
    )
)
# Frequencies are measured with times, by hand: no reason not to listen.
_BORDERS: Final = frozenset(
    ("low freq (hz)", "high freq (hz)", "delta time (s)", "low", "high", "low_hz", "high_hz",
     "duration", "score")
)  # fmt: skip
_LABELS: Final = frozenset(
    ("annotation", "label", "species", "common name", "species code", "tag", "notes", "comments")
)
_OFFSET: Final = "File Offset (s)"


class Times(NamedTuple):
    """From when to when each row goes, in seconds from the start of its own recording."""

    starts: Vector
    ends: Vector


class Selections(NamedTuple):
    """A table of sounds, each row once.

    Attributes
    ----------
    raw : RawTable
        The columns; those that are no features stand aside.
    times : Times or None
        None if rows are whole recordings.
    has_measures : bool
        Whether there are numbers beside times and frequencies.
    notes : list of str
        What was left out, in sentences.
    """

    raw: RawTable
    times: Times | None
    has_measures: bool
    notes: list[str]


def is_raven(raw: RawTable) -> bool:
    """Tell Raven's selection table by its columns."""
    return {BEGIN, END} <= set(raw.columns.column_names)


def selections_in(raw: RawTable, source: str, named: Collection[str]) -> Selections:
    """Find the columns of times, and what else is no feature of a sound.

    Parameters
    ----------
    raw : RawTable
        What the file held.
    source : str
        The file, for sentences.
    named : collection of str
        Columns that the user has given a meaning; they are left alone.
    """
    if is_raven(raw):
        raw = _each_once(raw)
    columns = raw.columns
    lower = {name.strip().lower(): name for name in columns.column_names}
    pair = _time_columns(columns, lower)
    labels = [lower[name] for name in lower if name in _LABELS and lower[name] not in named]
    empty = [name for name in columns.column_names if _says_nothing(columns, name)]
    places = [lower[name] for name in lower if name in _NO_MEASURES or name in pair]
    aside = {*raw.aside, *places, *labels, *empty}
    has_measures = any(
        name.strip().lower() not in _BORDERS and _is_numeric(columns, name)
        for name in set(columns.column_names) - aside - set(named)
    )
    if not pair and has_measures:  # a table as any other, which happens to have sounds
        return Selections(raw, None, True, [])
    return Selections(
        raw._replace(aside=frozenset(aside), own_id=_own_id(raw)),
        _times(columns, [lower[name] for name in pair], source) if pair else None,
        has_measures,
        _label_note([name for name in labels if name not in empty]),
    )


def with_columns(raw: RawTable, names: Sequence[str], values: NDArray[np.float64]) -> RawTable:
    """Add columns of numbers, unless there are some of the same name."""
    columns = raw.columns
    for name, column in zip(names, values.T, strict=True):
        if name not in columns.column_names:
            columns = columns.append_column(name, pa.array(column, from_pandas=True))
    return raw._replace(columns=columns)


# --- rows ------------------------------------------------------------------------------------


def _each_once(raw: RawTable) -> RawTable:
    """Keep one row of each selection: Raven lists it for every view, waveform and spectrogram."""
    columns = raw.columns
    keys = [
        name for name in ("Selection", BEGIN, END, "Begin File") if name in columns.column_names
    ]
    if "Selection" not in keys or "View" not in columns.column_names:
        return raw
    views = columns["View"].to_pylist()
    chosen: dict[tuple[object, ...], int] = {}
    for place, key in enumerate(zip(*(columns[name].to_pylist() for name in keys), strict=True)):
        if key not in chosen or str(views[place]).startswith("Spectrogram"):
            chosen[key] = place
    return raw._replace(columns=columns.take(pa.array(list(chosen.values()), type=pa.int64())))


def _own_id(raw: RawTable) -> str | None:
    if "Selection" not in raw.columns.column_names:
        return raw.own_id
    numbers = raw.columns["Selection"].to_pylist()
    is_name = None not in numbers and len(set(numbers)) == len(numbers)
    return "Selection" if is_name else raw.own_id


# --- times -----------------------------------------------------------------------------------


def _time_columns(columns: pa.Table, lower: Mapping[str, str]) -> tuple[str, ...]:
    """Give the names, in small letters, of two columns of times; none if there are none."""
    for pair in _TIMES:
        if set(pair) <= set(lower) and all(_is_numeric(columns, lower[name]) for name in pair):
            return pair
    return ()


def _times(columns: pa.Table, names: Sequence[str], source: str) -> Times:
    starts, ends = (_numbers(columns, name) for name in names)
    _refuse_disorder(starts, ends, source)
    return Times(*_from_own_file(columns, starts, ends))


def _from_own_file(columns: pa.Table, starts: Vector, ends: Vector) -> tuple[Vector, Vector]:
    """Count from each row's own recording where a table covers several in a row."""
    has_files = "Begin File" in columns.column_names or "Begin Path" in columns.column_names
    if not has_files or _OFFSET not in columns.column_names:
        return starts, ends
    offsets = _numbers(columns, _OFFSET)
    offsets = np.where(np.isnan(offsets), starts, offsets)
    return offsets, ends + (offsets - starts)


def _refuse_disorder(starts: Vector, ends: Vector, source: str) -> None:
    is_wrong = ~((starts >= 0) & (ends > starts) & np.isfinite(ends))
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise InputError(
            f"Row {row + 1} of {source} goes from {starts[row]:.9g} s to {ends[row]:.9g} s; a "
            "sound begins at 0 s or later and ends after that. Correct it."
        )


def _numbers(columns: pa.Table, name: str) -> Vector:
    return np.asarray(columns[name].cast(pa.float64()).to_numpy(), dtype=np.float64)


def _is_numeric(columns: pa.Table, name: str) -> bool:
    kind = decoded(columns[name]).type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _says_nothing(columns: pa.Table, name: str) -> bool:
    """Tell whether all rows have the same value, or none: programs write such columns."""
    column = decoded(columns[name])
    if column.null_count == columns.num_rows:
        return True
    n_values = pyarrow.compute.count_distinct(column, mode="all").as_py()
    return bool(n_values == 1 and columns.num_rows > 1)


def _label_note(labels: Sequence[str]) -> list[str]:
    if not labels:
        return []
    one = len(labels) == 1
    column, is_aside, it = ("Column", "is", "it") if one else ("Columns", "are", "one")
    return [
        f"{column} {listed(labels)} {is_aside} left out, since categories are to be asked; name "
        f"{it} as label column to begin with what it says."
    ]
