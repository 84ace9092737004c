"""Media of rows: pictures, cache, threads, and rows without media."""

import io
import threading

import numpy as np
import pytest
from PIL import Image

from kernova.errors import MissingMediaError
from kernova.media.files import FolderFiles
from kernova.media.pictures import PICTURE_SUFFIXES, pixel_picture
from kernova.media.row_media import (
    ByteCache,
    PictureRows,
    RowMedia,
    pixel_pictures,
    standard_size,
)
from tests.media import messages


@pytest.fixture
def pictures(tmp_path):
    for k in range(20):
        grey = pixel_picture(np.full((40, 40), k / 20))
        (tmp_path / f"{k}.png").write_bytes(grey.content)
    files = FolderFiles(tmp_path, PICTURE_SUFFIXES)
    ids = [f"fish-{k}" for k in range(21)]
    return PictureRows(ids, files, [f"{k}.png" if k < 20 else None for k in range(21)])


def nothing_of(row_id, what):
    """Return the pattern of the error for a row without media."""
    return f"^{messages.NOTHING_OF_ROW.format(id=row_id, what=what)}$"


def grey_of(picture):
    return int(np.asarray(Image.open(io.BytesIO(picture.content)))[0, 0])


def test_a_row_without_media_is_an_error(pictures):
    assert [pictures.has(row) for row in (-1, 0, 20, 21)] == [False, True, False, False]
    with pytest.raises(MissingMediaError, match=nothing_of("fish-20", "picture")):
        pictures.picture(20)
    with pytest.raises(MissingMediaError, match=nothing_of("fish-3", "sound")):
        pictures.sound(3)


@pytest.mark.parametrize("row", [-1, 21])
def test_rows_outside_the_table_are_errors(pictures, row):
    with pytest.raises(MissingMediaError) as rejected:
        pictures.picture(row)
    assert str(rejected.value) == messages.NO_ROW.format(row=row, last=20)


@pytest.mark.parametrize("what", ["picture", "sound", "spectrogram", "outline"])
def test_tables_without_media_have_nothing_to_show(what):
    with pytest.raises(MissingMediaError, match=nothing_of("a", "(picture|sound|outline)")):
        getattr(RowMedia(["a"]), what)(0)
    assert RowMedia(["a"]).kind == "none"


def test_a_picture_is_cached(pictures, tmp_path):
    first = pictures.picture(3, 256)
    (tmp_path / "3.png").unlink()
    assert pictures.picture(3, 200) is first


def test_threads_get_the_picture_they_requested(pictures):
    wrong = []

    def look(start):
        for k in range(60):
            row = (start + 7 * k) % 20
            if grey_of(pictures.picture(row, 32)) != round(255 * row / 20):
                wrong.append(row)

    threads = [threading.Thread(target=look, args=(start,)) for start in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_least_recently_used_value_is_dropped_first():
    made = []
    cache = ByteCache(len, most_bytes=10)

    def make(key):
        made.append(key)
        return key * 4

    for key in ["a", "b", "a", "c", "a", "b"]:
        cache.get(key, lambda key=key: make(key))
    assert made == ["a", "b", "c", "b"]


def test_sizes_are_rounded_up_to_standard_ones():
    assert [standard_size(n) for n in (-5, 32, 33, 2048, 9999)] == [32, 32, 64, 2048, 2048]


def test_rows_of_pixels_are_pictures():
    rows = pixel_pictures(["a", "b"], np.arange(128.0).reshape(2, 64))
    shown = np.asarray(Image.open(io.BytesIO(rows.picture(1, 64).content)))
    assert shown.shape == (64, 64)
    assert abs(shown[0, 0] - 255 * 64 / 127) < 4
    assert shown[-1, -1] > 250
    with pytest.raises(MissingMediaError, match=messages.NO_ROW.format(row=2, last=1)):
        rows.picture(2)
