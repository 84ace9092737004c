"""Media of rows: base class, pictures, outlines, a cache, and the data of a discovery."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import ConvexHull, QhullError

from kernova.errors import MediaError, MissingMediaError, quoted
from kernova.media.contrast import Contrast, eight_bits
from kernova.media.files import MediaFiles, captions_of
from kernova.media.pictures import Picture, pixel_picture, reduced_picture
from kernova.media.thumbnails import PictureSize, size_of
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import fit_similarity
from kernova.tables.context import NO_CONTEXT, Context
from kernova.tables.table import Table
from kernova.typing import Coordinates, Matrix

if TYPE_CHECKING:
    from kernova.media.sounds import Spectrogram, SpectrogramView


class RecordedInterval(NamedTuple):
    """Recording of a row's sound, and its start and end there in seconds."""

    name: str
    start: float
    end: float


MediaKind = Literal["none", "picture", "sound", "outline"]

# Requested sizes are rounded up to one of these, so that few versions are cached.
_SIZES: Final = (32, 64, 128, 256, 512, 1024, 2048)
_CACHE_BYTES: Final = 64 * 1024**2

_Value = TypeVar("_Value")


class RowMedia:
    """Base class of media of rows, for rows without media.

    Rows are counted from 0. All methods are safe to call from several threads.

    Attributes
    ----------
    kind : {"none", "picture", "sound", "outline"}
        The kind of media; single rows may have none.
    landmarks : Landmarks or None
        The specimens that the rows are, as they were read.

    Examples
    --------
    >>> from kernova.media.row_media import RowMedia
    >>> RowMedia(["a", "b"]).has(1)
    False
    """

    kind: MediaKind = "none"
    landmarks: Landmarks | None = None

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = [str(name) for name in ids]

    def has(self, row: int) -> bool:
        """Return whether the row has media."""
        return False

    def captions(self, row: int) -> list[str]:
        """Return the name of each of the row's files; empty for rows without files."""
        return [""] if self.has(row) else []

    def picture(
        self, row: int, largest: int = 256, file: int = 0, contrast: Contrast = "plain"
    ) -> Picture:
        """Return one of the row's pictures, no side longer than about ``largest`` pixels."""
        raise self._missing(row, "picture")

    def sound(self, row: int, slowness: int = 1, file: int = 0) -> bytes:
        """Return a sound of the row as a WAV file, slowed down by a factor of 1, 2, 4 or 8."""
        raise self._missing(row, "sound")

    def spectrogram(
        self, row: int, file: int = 0, view: "SpectrogramView | None" = None
    ) -> "Spectrogram":
        """Return the spectrogram of a sound of the row."""
        raise self._missing(row, "sound")

    def outline(self, row: int) -> dict[str, Any]:
        """Return the row's landmarks over the mean shape, as plain values for JSON."""
        raise self._missing(row, "outline")

    def file_name(self, row: int) -> str | None:
        """Return the name of the row's file within its folder or archive, None without one."""
        return None

    def picture_size(self, row: int) -> PictureSize | None:
        """Return the size of the row's picture file; None without one that can be read."""
        return None

    def interval(self, row: int) -> RecordedInterval | None:
        """Return where the row's sound is recorded; None without one that can be read."""
        return None

    def close(self) -> None:
        """Close open files."""

    def _is_row(self, row: int) -> bool:
        return 0 <= row < len(self._ids)

    def _no_file(self, row: int, file: int) -> MissingMediaError:
        n_files = len(self.captions(row))
        return MissingMediaError(
            f"Row {quoted(self._ids[row])} has no file {file}; its files are counted from 0 to "
            f"{n_files - 1}."
        )

    def _missing(self, row: int, what: str) -> MissingMediaError:
        if not self._is_row(row):
            return MissingMediaError(
                f"There is no row {row}; rows are counted from 0 to {len(self._ids) - 1:,}."
            )
        return MissingMediaError(f"Row {quoted(self._ids[row])} has no {what}.")


class PictureRows(RowMedia):
    """Pictures of rows in a folder or an archive.

    Parameters
    ----------
    ids : sequence of str
        Row ids.
    files : MediaFiles
        The pictures.
    names : sequence of str or None
        For each row the name of its file; None where there is none.
    more : mapping of int to tuple of str, optional
        Further files of some rows.
    """

    kind: MediaKind = "picture"

    def __init__(
        self,
        ids: Sequence[str],
        files: MediaFiles,
        names: Sequence[str | None],
        more: Mapping[int, tuple[str, ...]] | None = None,
    ) -> None:
        super().__init__(ids)
        self._files = files
        self._names = list(names)
        self._more = more or {}
        self._pictures: ByteCache[Picture] = ByteCache(lambda picture: len(picture.content))

    def has(self, row: int) -> bool:
        """Return whether the row has a picture."""
        return self._is_row(row) and self._names[row] is not None

    def captions(self, row: int) -> list[str]:
        """Return the name of each of the row's pictures."""
        return captions_of(self._names_of(row))

    def picture(
        self, row: int, largest: int = 256, file: int = 0, contrast: Contrast = "plain"
    ) -> Picture:
        """Return one of the row's pictures, reduced in size and cached."""
        names = self._names_of(row)
        if not names:
            raise self._missing(row, "picture")
        if not 0 <= file < len(names):
            raise self._no_file(row, file)
        name, size = names[file], standard_size(largest)
        return self._pictures.get(
            (name, size, contrast),
            lambda: reduced_picture(self._files.content(name), name, size, contrast),
        )

    def _names_of(self, row: int) -> list[str]:
        first = self._names[row] if self._is_row(row) else None
        return [] if first is None else [first, *self._more.get(row, ())]

    def file_name(self, row: int) -> str | None:
        """Return the name of the row's file within its folder or archive, None without one."""
        return self._names[row] if self._is_row(row) else None

    def picture_size(self, row: int) -> PictureSize | None:
        """Return the size of the row's picture file; None without one that can be read."""
        name = self.file_name(row)
        try:
            return None if name is None else size_of(self._files.content(name))
        except MediaError:
            return None

    def close(self) -> None:
        """Close the archive, if it is one."""
        self._files.close()


class PixelRows(RowMedia):
    """Pictures of rows whose features are the pixels of small grey images.

    Parameters
    ----------
    ids : sequence of str
        Row ids.
    pixels : ndarray of shape (n_rows, height, width)
        Between 0 (black) and 1 (white).
    """

    kind: MediaKind = "picture"

    def __init__(self, ids: Sequence[str], pixels: NDArray[np.float64]) -> None:
        super().__init__(ids)
        self._pixels = pixels

    def has(self, row: int) -> bool:
        """Return True for every row of the table."""
        return self._is_row(row)

    def picture(
        self, row: int, largest: int = 256, file: int = 0, contrast: Contrast = "plain"
    ) -> Picture:
        """Return the pixels enlarged, so that the longest side is near ``largest``."""
        if not self._is_row(row):
            raise self._missing(row, "picture")
        if file != 0:
            raise self._no_file(row, file)
        pixels = self._pixels[row]
        if contrast != "plain":
            pixels = eight_bits(pixels, contrast) / 255
        sides = self._pixels.shape[1:]
        return pixel_picture(pixels, max(1, standard_size(largest) // max(sides)))


@dataclass(frozen=True, eq=False)
class DiscoveryData:
    """Table for discovery, and the media of its rows."""

    table: Table  # features, ids, and labels that are known before the first question
    media: RowMedia  # pictures, sounds or outlines of the rows
    notes: list[str] = field(default_factory=list)  # remarks for the reader
    context: Context = NO_CONTEXT  # columns that are shown beside the rows


def pixel_pictures(ids: Sequence[str], features: Any, height: int = 8, width: int = 8) -> PixelRows:
    """Return pictures of rows of numbers, the lowest number of all black and the highest white.

    Parameters
    ----------
    ids : sequence of str
        Row ids.
    features : array-like of shape (n_rows, height * width)
        The pixels, line by line.
    height, width : int
        Of one picture.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.row_media import pixel_pictures
    >>> pixel_pictures(["a"], np.arange(64.0)[None]).picture(0, 64).media_type
    'image/png'
    """
    pixels = np.asarray(features, dtype=np.float64).reshape(-1, height, width)
    low, high = float(pixels.min()), float(pixels.max())
    return PixelRows(ids, (pixels - low) / (high - low if high > low else 1.0))


def standard_size(largest: int) -> int:
    """Return the smallest standard size that is not below a size.

    Examples
    --------
    >>> from kernova.media.row_media import standard_size
    >>> standard_size(100), standard_size(10**9)
    (128, 2048)
    """
    return next((size for size in _SIZES if size >= largest), _SIZES[-1])


class ByteCache(Generic[_Value]):
    """Least-recently-used cache, limited by the total number of bytes."""

    def __init__(self, n_bytes: Callable[[_Value], int], most_bytes: int = _CACHE_BYTES) -> None:
        self._n_bytes = n_bytes
        self._most = most_bytes
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()
        self._n_bytes_cached = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Return the cached value of a key, or make it; two threads may both make it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._n_bytes_cached += self._n_bytes(value)
            while self._n_bytes_cached > self._most and self._values:
                _, oldest = self._values.popitem(last=False)
                self._n_bytes_cached -= self._n_bytes(oldest)
        return value


# --- outlines: landmarks over the mean shape -----------------------------------------------------

# Landmark files do not tell which landmarks are connected. Two are linked if no third is nearer to
# both (the relative neighbourhood graph), which follows eyes, jaws and curves and never crosses
# itself. The border is the convex hull, extended inwards to landmarks that lie close to it.

# With more landmarks than this, only the minimum spanning tree is drawn.
_MOST_COMPARED: Final = 300
# A landmark is on the border if its distance is below this fraction of the side next to it.
_DEPTH: Final = 0.12
_DECIMALS: Final = 5
_MARGIN: Final = 0.06


class OutlineRows(RowMedia):
    """Media of rows that are specimens with landmarks.

    Parameters
    ----------
    landmarks : Landmarks
        The specimens as read.
    aligned : ndarray of shape (n, n_landmarks, n_dimensions)
        The same, superimposed on the consensus.
    consensus : ndarray of shape (n_landmarks, n_dimensions)
        The mean shape.
    """

    kind: MediaKind = "outline"
    landmarks: Landmarks

    def __init__(self, landmarks: Landmarks, aligned: Coordinates, consensus: Matrix) -> None:
        super().__init__(landmarks.ids)
        self.landmarks = landmarks
        self._aligned = aligned
        mean = consensus[:, :2]
        border = border_of(mean)
        self._common = {
            "consensus": _shown(mean),
            "border": border,
            "links": links_between(mean, border),
            "box": _box(aligned[..., :2]),
        }

    def has(self, row: int) -> bool:
        """Return True for every row of the table."""
        return self._is_row(row)

    def outline(self, row: int) -> dict[str, Any]:
        """Return the specimen over the mean shape, with y growing downwards.

        Returns
        -------
        dict
            ``points`` and ``consensus``: [x, y] of each landmark, of unit centroid size;
            ``border``: landmarks, from 0, around the shape in order; ``links``: pairs of landmarks
            to connect inside it; ``curves``: lists of [x, y] digitised on this specimen;
            ``missing``: landmarks that were estimated; ``box``: [left, top, right, bottom] that
            holds nearly all specimens.
        """
        if not self._is_row(row):
            raise self._missing(row, "outline")
        raw = self.landmarks.coordinates[row]
        is_missing = np.isnan(raw).any(axis=1)
        curves = [*self.landmarks.curves[row], *self.landmarks.outlines[row]]
        return {
            "points": _shown(self._aligned[row, :, :2]),
            **self._common,
            "curves": _aligned_curves(curves, raw, self._aligned[row]),
            "missing": np.flatnonzero(is_missing).tolist(),
        }


# --- links and border ------------------------------------------------------------------------


def links_between(shape: Matrix, border: Sequence[int] = ()) -> list[list[int]]:
    """Return pairs of landmarks to connect, except for sides of the border.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.row_media import links_between
    >>> links_between(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.1], [1.0, 5.0]]))
    [[0, 1], [1, 2], [1, 3]]
    """
    distances = np.linalg.norm(shape[:, None] - shape[None], axis=2)
    is_linked = _spanning(distances) if len(shape) > _MOST_COMPARED else _neighbours(distances)
    around = list(border)
    for one, other in zip(around, around[1:] + around[:1], strict=True):
        is_linked[one, other] = is_linked[other, one] = False
    return np.argwhere(np.triu(is_linked, 1)).tolist()


def border_of(shape: Matrix) -> list[int]:
    """Return the landmarks around a shape in order; none if they lie on one line.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.row_media import border_of
    >>> square = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]]
    >>> border_of(np.array([*square, [2.0, 0.2], [2.0, 2.0]]))
    [0, 4, 1, 2, 3]
    """
    try:
        around = ConvexHull(shape).vertices.tolist()
    except QhullError:
        return []
    side = 0
    while side < len(around):
        between = _near_side(shape, around, side)
        if between is None:
            side += 1
        else:
            around.insert(side + 1, between)
    first = around.index(min(around))
    return [int(landmark) for landmark in around[first:] + around[:first]]


def _near_side(shape: Matrix, around: list[int], side: int) -> int | None:
    """Return the landmark nearest to a side of the border, if it is close enough to lie on it."""
    start, end = shape[around[side]], shape[around[(side + 1) % len(around)]]
    direction = end - start
    length = float(np.linalg.norm(direction))
    inner = [landmark for landmark in range(len(shape)) if landmark not in around]
    if length == 0 or not inner:
        return None
    away = shape[inner] - start
    along = away @ direction / length**2
    depth = np.abs(away[:, 0] * direction[1] - away[:, 1] * direction[0]) / length**2
    # A landmark at the end of a side belongs to the corner.
    depth[(along < 0.1) | (along > 0.9)] = np.inf
    nearest = int(depth.argmin())
    return inner[nearest] if depth[nearest] < _DEPTH else None


def _neighbours(distances: Matrix) -> NDArray[np.bool_]:
    """Return which pairs have no third landmark nearer to both (relative neighbourhood graph)."""
    n = len(distances)
    is_linked = np.zeros((n, n), dtype=np.bool_)
    for one in range(n):
        farther = np.maximum(
            distances[one][None, :], distances
        )  # distance of a third to the farther one
        farther[:, one] = np.inf
        np.fill_diagonal(farther, np.inf)
        is_linked[one] = farther.min(axis=1, initial=np.inf) >= distances[one]
    np.fill_diagonal(is_linked, False)
    return is_linked & is_linked.T


def _spanning(distances: Matrix) -> NDArray[np.bool_]:
    # A distance of 0 would count as not connected.
    tree = minimum_spanning_tree(distances + 1e-12).toarray() > 0
    return np.asarray(tree | tree.T)


# --- numbers for a page ----------------------------------------------------------------------


def _shown(points: Matrix) -> list[list[float]]:
    return np.round(points * [1, -1] + 0.0, _DECIMALS).tolist()


def _box(aligned: Coordinates) -> list[float]:
    """Return limits that a few outlying specimens may cross, so that the others are not tiny."""
    low = np.quantile(aligned.min(axis=1), 0.005, axis=0)
    high = np.quantile(aligned.max(axis=1), 0.995, axis=0)
    margin = _MARGIN * float((high - low).max())
    (left, bottom), (right, top) = low - margin, high + margin
    return [round(float(side), _DECIMALS) for side in (left, -top, right, -bottom)]


def _aligned_curves(
    curves: Sequence[Matrix], raw: Matrix, aligned: Matrix
) -> list[list[list[float]]]:
    """Superimpose curves by the transformation of the specimen's landmarks."""
    is_seen = np.isfinite(raw).all(axis=1)
    if not curves or is_seen.sum() < raw.shape[1]:
        return []
    similarity = fit_similarity(raw[is_seen], aligned[is_seen], reflection=True)
    usable = [points[np.isfinite(points).all(axis=1)] for points in curves]
    return [
        _shown(similarity.apply(points)[:, :2])
        for points in usable
        if len(points) > 1 and points.shape[1] == raw.shape[1]
    ]
