"""Descriptors of picture files: decoded in threads, a few at a time, and kept in a cache file.

A picture that cannot be read has no descriptors, and a sentence that says why. The cache holds
descriptors by a digest of each file's name, size and time of change (or checksum, in an archive),
so that pictures that were added or changed are described anew and no others.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as array_format
from numpy.typing import NDArray

from kernova.errors import InputError, MediaError
from kernova.files import replacing
from kernova.images.colours import Pixels
from kernova.images.columns import working_side
from kernova.images.descriptors import descriptor_names, picture_descriptors
from kernova.media.files import FolderFiles, ZipFiles
from kernova.media.pictures import picture_pixels
from kernova.media.thumbnails import size_of
from kernova.parallel import in_threads, slices
from kernova.progress import track

# Pictures that are decoded together, and those of one size that are described together.
_DECODED: Final = 64
_TOGETHER: Final = 8
# Of so many pictures the median size is as good as of all.
_SAMPLED: Final = 100
_FORMAT: Final = 1
_DIGEST_BYTES: Final = 16

Pictures = FolderFiles | ZipFiles
Digests = NDArray[np.uint8]


class HowDescribed(NamedTuple):
    """Size that pictures are brought to, and kind of their descriptors."""

    side: int
    rotation_invariant: bool


class Described(NamedTuple):
    """Descriptors of pictures, and the sentences on those that cannot be read."""

    rows: NDArray[np.float32]  # shape (n_pictures, n_descriptors); NaN without a picture
    failures: Mapping[int, str]  # by place


def side_of(files: Pictures, names: Sequence[str]) -> int:
    """Return the longest side that pictures should be brought to, by the sizes of some of them."""
    step = -(-len(names) // _SAMPLED)
    sides = []
    for name in names[::step]:
        try:
            size = size_of(files.content(name))
        except MediaError:
            continue
        if size is not None:
            sides.append(max(size))
    return working_side(np.array(sides or [0], dtype=np.float64))


def described_pictures(files: Pictures, how: HowDescribed, cache: Path | None = None) -> Described:
    """Return the descriptors of all pictures of a folder or archive.

    Parameters
    ----------
    files : FolderFiles or ZipFiles
        The pictures.
    how : HowDescribed
        Their size, and the kind of descriptors.
    cache : Path, optional
        File that keeps the descriptors; it is written if that is possible.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.media.described import HowDescribed, described_pictures
    >>> from kernova.media.files import FolderFiles
    >>> from kernova.media.pictures import pixel_picture
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.png").write_bytes(pixel_picture([[0.0, 1.0]]).content)
    >>> _ = (folder / "b.png").write_bytes(b"no picture")
    >>> found = described_pictures(FolderFiles(folder, [".png"]), HowDescribed(32, False))
    >>> found.rows.shape, list(found.failures)
    ((2, 548), [1])
    """
    n_numbers = len(descriptor_names(rotation_invariant=how.rotation_invariant))
    digests = _digests(files, how)
    rows = np.full((len(files.names), n_numbers), np.nan, dtype=np.float32)
    known = _read(cache, n_numbers)
    wanted = []
    for place, digest in enumerate(digests):
        stored = known.get(digest.tobytes())
        if stored is None:
            wanted.append(place)
        else:
            rows[place] = stored
    failures: dict[int, str] = {}
    for block in track(slices(len(wanted), _DECODED), "describing pictures"):
        _describe(files, wanted[block], how, rows, failures)
    if wanted and cache is not None:
        is_there = ~np.isnan(rows[:, 0])
        _write(cache, digests[is_there], rows[is_there])
    return Described(rows, failures)


def _describe(
    files: Pictures,
    places: Sequence[int],
    how: HowDescribed,
    rows: NDArray[np.float32],
    failures: dict[int, str],
) -> None:
    """Decode and describe some pictures, in threads; those of one size together."""
    decoded: dict[int, Pixels] = {}

    def decode(place: int) -> None:
        name = files.names[place]
        try:
            decoded[place] = picture_pixels(files.content(name), name, how.side)
        except MediaError as error:
            failures[place] = str(error)

    in_threads(decode, places)
    by_size: dict[tuple[int, ...], list[int]] = {}
    for place in sorted(decoded):
        by_size.setdefault(decoded[place].shape, []).append(place)
    batches = [same[block] for same in by_size.values() for block in slices(len(same), _TOGETHER)]

    def describe(batch: list[int]) -> None:
        pixels = np.stack([decoded[place] for place in batch])
        rows[batch] = picture_descriptors(pixels, rotation_invariant=how.rotation_invariant)

    in_threads(describe, batches)


# --- the cache file ------------------------------------------------------------------------------


def _digests(files: Pictures, how: HowDescribed) -> Digests:
    texts = [f"{_FORMAT} {how} {name} {files.stamp(name)}" for name in files.names]
    found = [
        hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=_DIGEST_BYTES).digest()
        for text in texts
    ]
    return np.frombuffer(b"".join(found), dtype=np.uint8).reshape(-1, _DIGEST_BYTES)


def _read(cache: Path | None, n_numbers: int) -> dict[bytes, NDArray[Any]]:
    """Return stored descriptors by digest; none from a file that is damaged or of another kind."""
    try:
        if cache is None or not cache.is_file():  # opening a pipe would block
            return {}
        with ZipFile(cache) as archive:
            if any(entry.compress_type != ZIP_STORED for entry in archive.infolist()):
                return {}  # not written by kernova; it might unpack to any size
            digests, rows = (_array(archive, name) for name in ("digests.npy", "rows.npy"))
    except Exception:  # noqa: BLE001 - a damaged file can raise almost anything
        return {}
    is_ours = digests.dtype == np.uint8 and digests.shape == (len(rows), _DIGEST_BYTES)
    if not is_ours or rows.dtype != np.float32 or rows.shape[1:] != (n_numbers,):
        return {}
    return {digest.tobytes(): row for digest, row in zip(digests, rows, strict=True)}


def _array(archive: ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as file:
        array = array_format.read_array(file, allow_pickle=False)
        file.read()  # to the end, where the checksum is compared
    return array


def _write(cache: Path, digests: Digests, rows: NDArray[np.float32]) -> None:
    try:
        with replacing(cache) as scratch, ZipFile(scratch, "w", ZIP_STORED) as archive:
            for name, array in (("digests.npy", digests), ("rows.npy", rows)):
                with archive.open(name, "w", force_zip64=True) as file:
                    array_format.write_array(file, array, allow_pickle=False)
    except (InputError, OSError):
        return  # a read-only folder or a full disk: the next start computes again
