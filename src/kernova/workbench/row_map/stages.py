"""Stages of the map: principal components at once, then a coarse neighbour map, then the whole.

The finished map is saved beside the project, so that it is shown at once when that is opened again.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np

from kernova.discover.cache_file import cache_key, read_cache, write_cache
from kernova.workbench.row_map.axes import MapKind, RowMap, axes_map
from kernova.workbench.row_map.neighbours import coarse_map, neighbours_map, stages_of
from kernova.workbench.shared import BackgroundJob, JobState, Part, SharedState

SKIPPED: Final = 65535  # code of a skipped row
_VERSION: Final = "map 1"
# The points take eight bytes for each row; a file that is much larger was not written by kernova.
_BYTES_OF_ROW: Final = 8
_MOST_OTHER_BYTES: Final = 65536


@dataclass(frozen=True)
class BetterMap:
    """Progress of the neighbour map."""

    state: JobState
    done: int
    total: int
    left: Annotated[str, "Time left in words; empty while it is unknown."]


@dataclass(frozen=True)
class MapReply:
    """Description of the map."""

    kind: Annotated[
        MapKind,
        "Principal components, a coarse map of a sample, or the layout of all nearest neighbours.",
    ]
    words: Annotated[str, "Note for the reader of the map."]
    rows: int
    version: int
    better: Annotated[BetterMap, "Progress of the neighbour map."]


# --- the saved map ---------------------------------------------------------------------------


def saved_map(path: Path, key: str, n_rows: int) -> RowMap | None:
    """Return the map of a file; None if it is missing, damaged, or of another table or version.

    Examples
    --------
    >>> import pathlib
    >>> from kernova.workbench.row_map import saved_map
    >>> saved_map(pathlib.Path("nowhere.map.cache"), "key", 300) is None
    True
    """
    found = read_cache(path, key, _BYTES_OF_ROW * n_rows + _MOST_OTHER_BYTES)
    if not isinstance(found, dict) or set(found) != {"kind", "points", "words"}:
        return None
    points, words = found["points"], found["words"]
    is_whole = (
        found["kind"] in ("axes", "neighbours")
        and isinstance(words, str)
        and isinstance(points, np.ndarray)
        and (points.shape, points.dtype) == ((n_rows, 2), np.float32)
        and bool((np.abs(points) <= 1).all())
    )
    return RowMap(found["kind"], points, words) if is_whole else None


def save_map(path: Path, key: str, drawn: RowMap) -> None:
    """Write a finished map, as a whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from kernova.workbench.row_map import axes_map, save_map, saved_map
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fish.map.cache"
    >>> save_map(path, "key", axes_map(np.eye(3)))
    >>> saved_map(path, "key", 3).kind, saved_map(path, "key", 4)
    ('axes', None)
    """
    write_cache(path, key, {"kind": drawn.kind, "points": drawn.points, "words": drawn.words})


# --- the part --------------------------------------------------------------------------------


class _Codes(NamedTuple):
    """Category codes of all rows, made once per version."""

    version: int
    content: bytes


class MapOfRows(Part):
    """Coordinates and category codes of all rows, as the page draws them."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._axes: RowMap | None = None
        self._coarse: RowMap | None = None  # until the better one is ready
        self._better: BackgroundJob[RowMap] = BackgroundJob(shared.changed)
        self._codes = _Codes(-1, b"")

    def prepare(self, after: BackgroundJob[Any]) -> None:
        """Compute the neighbour map in the background, or read it from the file beside the project.

        The coarse map is made at once; the whole one comes after a more urgent job.
        """
        encoded, path = self._shared.discovery.encoded, self._shared.discovery.map_cache

        def work() -> RowMap:
            key = cache_key(encoded, _VERSION, self._shared.discovery.head.fingerprint)
            found = saved_map(path, key, len(encoded))
            if found is not None:
                return found
            self._coarse = coarse_map(encoded)
            if self._coarse is not None:
                self._shared.changed()
            after.wait()
            self._better.begin_steps(stages_of(len(encoded)))
            drawn = neighbours_map(encoded) or self._axes_map()
            save_map(path, key, drawn)
            return drawn

        self._better.start(work)

    def wait(self, seconds: float) -> bool:
        """Wait for the neighbour map, with a timeout; return whether its computation has ended."""
        return self._better.wait(seconds)

    def description(self) -> MapReply:
        """Return what the map shows, and the progress of the neighbour map."""
        shown = self._shown()
        _, done, total = self._better.progress
        return MapReply(
            kind=shown.kind,
            words=shown.words,
            rows=len(shown.points),
            version=self._shared.version,
            better=BetterMap(self._better_state(), done, total, self._better.left),
        )

    def points(self, kind: str | None = None) -> bytes:
        """Return x and y of each row as little-endian 32-bit floats."""
        shown = self._axes_map() if kind == "axes" else self._shown()
        return np.ascontiguousarray(shown.points, dtype="<f4").tobytes()

    def labels(self) -> tuple[bytes, int]:
        """Return each row's category code and the version that they hold for.

        The code is 0 for unlabelled rows, else the position of the category, counted from 1.
        """
        with self._shared.lock:
            session, version = self._shared.session, self._shared.version
            if self._codes.version != version:
                codes = session.results_.codes(SKIPPED - 1)
                codes[codes < 0] = SKIPPED
                self._codes = _Codes(version, codes.astype("<u2").tobytes())
            return self._codes.content, version

    def accepted(self) -> tuple[bytes, int]:
        """Return 1 for each row with an accepted suggestion, else 0, and the version."""
        with self._shared.lock:
            is_accepted = self._shared.session.results_.is_accepted
            return is_accepted.astype("<u2").tobytes(), self._shared.version

    def _axes_map(self) -> RowMap:
        if self._axes is None:
            self._axes = axes_map(self._shared.discovery.encoded)
        return self._axes

    def _shown(self) -> RowMap:
        return self._better.result or self._coarse or self._axes_map()

    def _better_state(self) -> JobState:
        found = self._better.result
        if self._better.state == "ready" and found is not None and found.kind == "axes":
            return "none"  # there is no better map of these rows
        return self._better.state
