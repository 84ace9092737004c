"""Pictures without a table: rows, features, files that cannot be used, and the cache."""

import io
import os
import zipfile

import numpy as np
import pytest
from PIL import Image

from kernova.errors import InputError
from kernova.images.columns import PictureColumns
from kernova.media.described import HowDescribed, described_pictures, side_of
from kernova.media.files import FolderFiles, ZipFiles
from kernova.media.opening import open_discovery_data, open_project_data
from kernova.media.picture_folders import ids_of_files
from kernova.media.pictures import PICTURE_SUFFIXES, picture_pixels
from kernova.progress import reporting
from tests.media import inputs, messages
from tests.media.albums import KINDS, album, shape
from tests.media.test_pictures import vast_png


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return album(tmp_path_factory.mktemp("album"))


def zipped(folder, path):
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return path


def test_each_file_is_a_row_with_its_picture(pictures):
    opened = open_discovery_data(pictures)
    table = opened.table
    assert table.ids.tolist()[:2] == ["bars/b00", "bars/b01"]
    assert len(table.features) == 48
    assert table.features.shape[1] == 9  # five pictures for each component
    assert all(name.startswith("picture ") for name in table.features)
    assert table.labels is None
    assert isinstance(table.reader, PictureColumns)
    assert opened.media.kind == "picture"
    assert all(opened.media.has(row) for row in range(48))
    assert opened.context.names == ("file", "folder")
    assert [value.text for value in opened.context.values(0)] == ["bars/b00.png", "bars"]
    assert opened.notes == [messages.PICTURES_SEEN.format(n=48, turned="", components=9)]


def test_an_archive_is_read_like_its_folder(pictures, tmp_path):
    folder = open_discovery_data(pictures).table
    archive = open_discovery_data(zipped(pictures, tmp_path / "album.zip")).table
    assert archive.ids.tolist() == folder.ids.tolist()
    np.testing.assert_array_equal(archive.features, folder.features)


def test_names_of_folders_are_labels(pictures):
    opened = open_discovery_data(pictures, label_column="folder")
    assert opened.table.labels.tolist() == [kind for kind in KINDS for _ in range(12)]
    assert opened.context.names == ("file",)


def test_kinds_lie_apart(pictures):
    """The nearest picture is of the same kind, by the descriptors alone."""
    for rotation_invariant in (False, True):
        opened = open_discovery_data(pictures, rotation_invariant=rotation_invariant)
        Z = opened.table.features.to_numpy()
        distances = np.linalg.norm(Z[:, None] - Z[None], axis=2) + np.diag(np.full(len(Z), np.inf))
        nearest = distances.argmin(axis=1)
        assert (nearest // 12 == np.arange(48) // 12).mean() > 0.9


def test_further_pictures_are_read_like_the_known_ones(pictures, tmp_path):
    known = open_discovery_data(pictures, rotation_invariant=True).table
    again = open_discovery_data(pictures, reader=known.reader)
    np.testing.assert_array_equal(again.table.features, known.features)
    assert again.notes == [messages.PICTURES_KNOWN.format(n=48, components=9)]
    more = album(tmp_path / "more", 2, ("discs",), ".bmp", 50)
    new = open_discovery_data(more, reader=known.reader).table
    assert list(new.features) == list(known.features)
    assert len(new.features) == 2


def test_ids_are_unique():
    names = ["a.png", "a.jpg", "b/a.png", "c.png.jpg", "c.png", "d.png"]
    ids = ids_of_files(names)
    assert len(set(ids)) == len(ids)
    assert ids == ["a.png", "a.jpg", "b/a", "c.png.jpg", "c", "d"]


# --- pictures of all kinds -----------------------------------------------------------------------

KINDS_OF_FILES = {
    "cmyk.jpg": ("JPEG", "CMYK"),
    "grey.png": ("PNG", "L"),
    "palette.png": ("PNG", "P"),
    "alpha.png": ("PNG", "RGBA"),
    "mask.png": ("PNG", "1"),
    "grey_alpha.png": ("PNG", "LA"),
    "deep.png": ("PNG", "I;16"),
    "float.tif": ("TIFF", "F"),
}


def test_all_kinds_of_files_are_described(tmp_path):
    for seed in range(6):
        shape("discs", seed).save(tmp_path / f"plain{seed}.png")
    for name, (format, mode) in KINDS_OF_FILES.items():
        if mode == "I;16":
            deep = (np.asarray(shape("discs", 9).convert("L")).astype(np.uint16)) * 257
            Image.fromarray(deep).save(tmp_path / name)
        else:
            shape("discs", 9).convert(mode).save(tmp_path / name, format)
    frames = [shape(kind, 3).convert("P") for kind in ("bars", "discs")]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    Image.new("RGB", (700, 1), "red").save(tmp_path / "line.png")
    Image.new("RGB", (1, 1), "red").save(tmp_path / "dot.png")
    opened = open_discovery_data(tmp_path)
    assert len(opened.table.features) == 6 + len(KINDS_OF_FILES) + 3
    assert np.isfinite(opened.table.features.to_numpy()).all()
    assert len(opened.notes) == 1


def test_modes_that_show_the_same_are_described_alike():
    stream = io.BytesIO()
    grey = shape("rings", 0).convert("L")
    deep = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    shown = {}
    for name, image in {"grey": grey, "colour": grey.convert("RGB"), "deep": deep}.items():
        stream = io.BytesIO()
        image.save(stream, "PNG")
        shown[name] = picture_pixels(stream.getvalue(), f"{name}.png", 40)
    np.testing.assert_array_equal(shown["grey"], shown["colour"])
    low, high = (int(end) for end in grey.getextrema())
    stretched = np.rint(255 * (shown["grey"].astype(float) - low) / (high - low))
    np.testing.assert_allclose(shown["deep"], stretched, atol=1)


def test_transparent_parts_are_white():
    stream = io.BytesIO()
    Image.new("RGBA", (16, 16), (0, 0, 0, 0)).save(stream, "PNG")
    assert (picture_pixels(stream.getvalue(), "clear.png", 32) == 255).all()


@pytest.mark.parametrize(
    ("sizes", "side"), [([8], 32), ([64, 64, 500], 64), ([500, 700, 40], 128), ([31, 33], 32)]
)
def test_pictures_are_brought_to_a_size_near_their_own(tmp_path, sizes, side):
    for number, size in enumerate(sizes):
        Image.new("L", (size, size // 2)).save(tmp_path / f"{number}.png")
    files = FolderFiles(tmp_path, PICTURE_SUFFIXES)
    assert side_of(files, files.names) == side


# --- what cannot be used -------------------------------------------------------------------------


def test_unusable_pictures_are_named_and_left_out(tmp_path):
    album(tmp_path, 3)
    (tmp_path / "bars" / "broken.png").write_bytes(b"no picture")
    (tmp_path / "discs" / "cut.png").write_bytes(inputs.picture("PNG")[:200])
    (tmp_path / "huge.png").write_bytes(vast_png(100_000, 90_000))
    opened = open_discovery_data(tmp_path)
    assert len(opened.table.features) == 12
    assert opened.notes[0] == messages.PICTURES_LEFT_OUT.format(folder=tmp_path)
    assert opened.table.ids.tolist()[3] == "discs/d00"
    assert opened.media.captions(3) == ["d00"]


def _empty(folder):
    pass


def _texts(folder):
    (folder / "notes.txt").write_text("no picture")


def _unreadable(folder):
    (folder / "a.png").write_bytes(b"no picture")
    (folder / "b.jpg").write_bytes(b"")


def _one(folder):
    shape("bars", 0).save(folder / "a.png")


def _identical(folder):
    for name in "abcdefghijkl":
        shape("bars", 0).save(folder / f"{name}.png")


def _both(folder):
    _one(folder)
    (folder / "a.wav").write_bytes(inputs.sound("WAV", "PCM_16"))
    (folder / "b.wav").write_bytes(inputs.sound("WAV", "PCM_16"))


UNUSABLE = {
    _empty: messages.EMPTY_FOLDER,
    _texts: messages.EMPTY_FOLDER,
    _unreadable: messages.NO_READABLE_PICTURE,
    _one: messages.ONE_PICTURE,
    _identical: messages.SAME_PICTURES,
    _both: messages.PICTURES_AND_RECORDINGS,
}


@pytest.mark.parametrize(("make", "message"), UNUSABLE.items())
def test_unusable_folders_are_rejected(tmp_path, make, message):
    make(tmp_path)
    with pytest.raises(InputError) as rejected:
        open_discovery_data(tmp_path)
    assert str(rejected.value) == message.format(folder=tmp_path)


def test_unusable_archives_are_rejected(tmp_path):
    _texts(tmp_path)
    path = zipped(tmp_path, tmp_path / "texts.zip")
    with pytest.raises(InputError) as rejected:
        open_discovery_data(path)
    assert str(rejected.value) == messages.ARCHIVE_WITHOUT_PICTURES.format(folder=path)
    path.write_bytes(b"no archive")
    with pytest.raises(InputError) as rejected:
        open_discovery_data(path)
    assert str(rejected.value) == messages.DAMAGED_ARCHIVE.format(folder=path)


USELESS = [
    ({"id_column": "name"}, messages.PICTURES_ARE_ROWS.format(what="id column", folder="{folder}")),
    ({"images": "other"}, messages.PICTURES_ARE_ROWS.format(what="images", folder="{folder}")),
    ({"label_column": "kind"}, messages.NO_LABEL_OF_PICTURES),
]


@pytest.mark.parametrize(("options", "message"), USELESS)
def test_options_of_tables_are_rejected(pictures, options, message):
    with pytest.raises(InputError) as rejected:
        open_discovery_data(pictures, **options)
    assert str(rejected.value).startswith(message.format(folder=pictures))


def test_rotation_is_of_pictures_alone(tmp_path):
    path = tmp_path / "fish.csv"
    path.write_text("length\n1\n2\n")
    with pytest.raises(InputError) as rejected:
        open_discovery_data(path, rotation_invariant=True)
    assert str(rejected.value) == messages.NOT_TURNED.format(path=path)


# --- blocks, threads and the cache ---------------------------------------------------------------


def test_descriptors_are_the_same_from_the_cache(pictures, tmp_path):
    files, how = FolderFiles(pictures, PICTURE_SUFFIXES), HowDescribed(32, False)
    cache, steps = tmp_path / "album.descriptors", []
    with reporting(steps.append):
        first = described_pictures(files, how, cache)
        again = described_pictures(files, how, cache)
    np.testing.assert_array_equal(first.rows, again.rows)
    assert first.rows.dtype == np.float32
    plain = described_pictures(files, how)
    np.testing.assert_array_equal(first.rows, plain.rows)


def test_only_changed_pictures_are_described_again(tmp_path):
    folder, cache = album(tmp_path / "album", 2), tmp_path / "cache"
    how = HowDescribed(32, False)
    before = described_pictures(FolderFiles(folder, PICTURE_SUFFIXES), how, cache).rows
    # A digest of an unchanged file leads to what is stored, whatever it is.
    with zipfile.ZipFile(cache) as archive:
        digests, rows = archive.read("digests.npy"), archive.read("rows.npy")
    stored = np.load(io.BytesIO(rows))
    stream = io.BytesIO()
    np.save(stream, stored + 1)
    with zipfile.ZipFile(cache, "w") as archive:
        archive.writestr("digests.npy", digests)
        archive.writestr("rows.npy", stream.getvalue())
    shape("stripes", 77).save(folder / "bars" / "b01.png")
    os.utime(folder / "bars" / "b01.png", ns=(1, 1))
    after = described_pictures(FolderFiles(folder, PICTURE_SUFFIXES), how, cache).rows
    is_same = np.isclose(after, before + 1).all(axis=1)
    assert is_same.tolist() == [True, False] + [True] * 6


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_a_damaged_cache_is_ignored(pictures, tmp_path, content):
    cache = tmp_path / "cache"
    cache.write_bytes(content)
    files = FolderFiles(pictures, PICTURE_SUFFIXES)
    found = described_pictures(files, HowDescribed(32, True), cache)
    assert np.isfinite(found.rows).all()


def test_projects_keep_descriptors_beside_them(pictures, tmp_path):
    project = tmp_path / "album.kernova-project"
    first = open_project_data(project, pictures)
    assert (tmp_path / "album.kernova-project.descriptors").is_file()
    again = open_project_data(project, pictures)
    np.testing.assert_array_equal(again.table.features, first.table.features)


def test_archives_have_stamps(pictures, tmp_path):
    files = ZipFiles(zipped(pictures, tmp_path / "a.zip"), PICTURE_SUFFIXES)
    stamps = {files.stamp(name) for name in files.names}
    assert len(stamps) == len(files.names)
