"""Opening of tables: pictures matched with rows, notes, errors, and the demo."""

import zipfile

import numpy as np
import pytest

from kernova.discover.simulation import simulate
from kernova.errors import InputError
from kernova.media.opening import demo_data, open_discovery_data, rare_digits
from kernova.media.pictures import pixel_picture
from tests.media import messages

CONTENT = pixel_picture(np.eye(4)).content


def written(path, text):
    path.write_text(text)
    return path


def pictured(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(CONTENT)
    return folder


def rows_with_pictures(data):
    return [data.media.has(row) for row in range(len(data.table.ids))]


@pytest.fixture
def fish(tmp_path):
    rows = "".join(f"{k:018d},{k}.5,p{k}.png\n" for k in range(1, 5))
    return written(tmp_path / "fish.csv", f"fish,length,shot\n{rows}")


@pytest.mark.parametrize("name", ["{id}.png", "{id}.JPG", "deep/er/{id}.tif"])
def test_files_are_matched_by_ids_which_stay_text(fish, tmp_path, name):
    pictured(tmp_path / "p", *(name.format(id=f"{k:018d}") for k in (1, 2, 4)))
    data = open_discovery_data(fish, id_column="fish", drop=["shot"], images=tmp_path / "p")
    assert data.table.ids.tolist()[0] == "000000000000000001"
    assert rows_with_pictures(data) == [True, True, False, True]
    assert data.notes == [messages.WITHOUT.format(n="1 of 4", have="has", what="picture")]
    assert list(data.table.features) == ["length"]


@pytest.mark.parametrize("base", ["", "p/", "elsewhere/"])
def test_a_column_that_names_files_is_detected_and_is_no_feature(tmp_path, base):
    rows = "".join(f"{k}.5,{base}p{k}.png\n" for k in range(1, 5))
    table = written(tmp_path / "fish.csv", f"length,shot\n{rows}")
    data = open_discovery_data(table, images=pictured(tmp_path / "p", "p1.png", "p2.png", "x.png"))
    assert rows_with_pictures(data) == [True, True, False, False]
    assert data.notes == [
        messages.NOT_A_FEATURE.format(column="shot"),
        messages.WITHOUT.format(n="2 of 4", have="have", what="picture"),
    ]


@pytest.mark.parametrize(
    ("written_there", "on_disk"),
    [
        ("P1.PNG", "p1.png"),
        ("wild\\p1.png", "wild/p1.png"),
        ("./p1.png", "p1.png"),
        ("z\u00e9bre.png", "ze\u0301bre.png"),
    ],
)
def test_names_are_matched_across_systems(tmp_path, written_there, on_disk):
    table = written(tmp_path / "t.csv", f"length,shot\n1,{written_there}\n2,other.png\n")
    data = open_discovery_data(table, images=pictured(tmp_path / "p", on_disk))
    assert rows_with_pictures(data) == [True, False]


def test_names_that_differ_in_case_are_different_files(tmp_path):
    folder = pictured(tmp_path / "p", "a.png")
    (folder / "A.png").write_bytes(pixel_picture(np.zeros((4, 4))).content)
    table = written(tmp_path / "t.csv", "name,length\na,1\nA,2\n")
    media = open_discovery_data(table, id_column="name", images=folder).media
    assert media.picture(0).content != media.picture(1).content


def test_a_few_files_named_like_row_numbers_are_not_matched(fish, tmp_path):
    pictured(tmp_path / "p", "1.png")
    with pytest.raises(InputError) as rejected:
        open_discovery_data(fish, drop=["fish"], images=tmp_path / "p")
    folder = tmp_path / "p"
    assert str(rejected.value) == messages.NO_PICTURES.format(table=fish, folder=folder)


def test_paths_in_a_column_are_relative_to_the_table(fish, tmp_path):
    pictured(tmp_path, "p1.png", "p3.png")
    data = open_discovery_data(fish, id_column="fish", images="shot")
    assert rows_with_pictures(data) == [True, False, True, False]
    assert list(data.table.features) == ["length"]


@pytest.mark.parametrize("path", ["../secret.png", "{folder}/secret.png", "link.png", "pipe.png"])
def test_files_outside_the_folder_are_not_shown(tmp_path, path):
    import os

    within = pictured(tmp_path / "within", "a.png")
    pictured(tmp_path, "secret.png")
    (within / "link.png").symlink_to(tmp_path / "secret.png")
    os.mkfifo(within / "pipe.png")
    path = path.format(folder=tmp_path)
    table = written(within / "t.csv", f"shot,length\na.png,1\n{path},2\n")
    for images in ("shot", within):
        data = open_discovery_data(table, images=images)
        assert rows_with_pictures(data) == [True, False]


def test_pictures_may_be_in_an_archive(fish, tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for k in (1, 3):
            archive.writestr(f"shots/{k:018d}.png", CONTENT)
    data = open_discovery_data(fish, id_column="fish", drop="shot", images=tmp_path / "p.zip")
    assert rows_with_pictures(data) == [True, False, True, False]
    assert data.media.picture(2).media_type == "image/png"
    data.media.close()


def test_pictures_follow_the_rows_that_are_kept(tmp_path):
    table = written(tmp_path / "t.csv", "name,length\na,1\nb,\nc,3\n")
    pictured(tmp_path / "p", "a.png", "b.png")
    data = open_discovery_data(table, id_column="name", missing="drop", images=tmp_path / "p")
    assert data.table.ids.tolist() == ["a", "c"]
    assert rows_with_pictures(data) == [True, False]
    kept = open_discovery_data(table, id_column="name", missing="fill", images=tmp_path / "p")
    assert rows_with_pictures(kept) == [True, True, False]


def test_tables_without_media_are_read_with_their_labels(tmp_path):
    table = written(tmp_path / "t.csv", "length,kind\n1,pike\n2,\n")
    data = open_discovery_data(table, label_column="kind")
    assert data.media.kind == "none"
    assert data.table.labels.tolist()[0] == "pike"
    assert data.notes == []


@pytest.mark.parametrize(("images", "message"), messages.UNUSABLE_IMAGES)
def test_unusable_images_are_rejected(fish, tmp_path, images, message):
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "a.svg").write_text("<svg><script>alert(1)</script></svg>")
    names = {"table": fish, "empty": empty}
    with pytest.raises(InputError) as rejected:
        open_discovery_data(fish, id_column="fish", images=images.format(**names))
    assert str(rejected.value) == message.format(**names)


def test_pictures_and_sounds_together_are_rejected(fish):
    with pytest.raises(InputError) as rejected:
        open_discovery_data(fish, images="shot", audio="shot")
    assert str(rejected.value) == messages.PICTURES_AND_SOUNDS


def test_the_demo_does_not_contain_the_labels():
    demo = demo_data()
    assert demo.table.labels is None
    assert demo.table.features.shape == (750, 16)
    assert demo.table.ids.is_unique
    digits = rare_digits()["digit"].to_numpy()
    # About 170 by random sampling.
    assert simulate(demo.table.features.to_numpy(), digits).questions_to_all <= 40
    assert all(demo.media.has(row) for row in (0, 749))
    np.testing.assert_array_equal(demo.table.ids, demo_data().table.ids)


def test_galaxies_have_pictures_and_long_ids_stay_text(data_folder):
    folder = data_folder / "images" / "galaxy_zoo1"
    data = open_discovery_data(
        folder / "galaxies.csv", id_column="id", drop=["label"], images=folder / "thumbnails.zip"
    )
    assert data.table.ids[0] == "587722952767439450"
    assert data.table.features.shape == (6664, 20)
    assert data.notes == [messages.NOT_A_FEATURE.format(column="thumbnail")]
    assert data.media.picture(6663, 64).media_type == "image/jpeg"
    data.media.close()
