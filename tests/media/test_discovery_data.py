"""Tables find the pictures of their rows, and say which column and which row has none."""

import zipfile

import numpy as np
import pytest

from kernova.datasets import rare_digits
from kernova.discover.simulation import simulate
from kernova.errors import InputError
from kernova.media.opening import demo_data, open_discovery_data
from kernova.media.pictures import pixel_picture

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
def test_files_go_with_rows_by_the_ids_which_stay_text(fish, tmp_path, name):
    pictured(tmp_path / "p", *(name.format(id=f"{k:018d}") for k in (1, 2, 4)))
    data = open_discovery_data(fish, id_column="fish", drop=["shot"], images=tmp_path / "p")
    assert data.table.ids.tolist()[0] == "000000000000000001"
    assert rows_with_pictures(data) == [True, True, False, True]
    assert data.notes == ["1 of 4 rows has no picture."]
    assert list(data.table.features) == ["length"]


@pytest.mark.parametrize("base", ["", "p/", "elsewhere/"])
def test_the_column_that_names_files_is_found_and_is_no_feature(tmp_path, base):
    rows = "".join(f"{k}.5,{base}p{k}.png\n" for k in range(1, 5))
    table = written(tmp_path / "fish.csv", f"length,shot\n{rows}")
    data = open_discovery_data(table, images=pictured(tmp_path / "p", "p1.png", "p2.png", "x.png"))
    assert rows_with_pictures(data) == [True, True, False, False]
    assert data.notes == [
        "Column 'shot' names files and is no feature.",
        "2 of 4 rows have no picture.",
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
def test_names_are_found_however_a_system_writes_them(tmp_path, written_there, on_disk):
    table = written(tmp_path / "t.csv", f"length,shot\n1,{written_there}\n2,other.png\n")
    data = open_discovery_data(table, images=pictured(tmp_path / "p", on_disk))
    assert rows_with_pictures(data) == [True, False]


def test_capitals_tell_files_apart_where_there_are_both(tmp_path):
    folder = pictured(tmp_path / "p", "a.png")
    (folder / "A.png").write_bytes(pixel_picture(np.zeros((4, 4))).content)
    table = written(tmp_path / "t.csv", "name,length\na,1\nA,2\n")
    media = open_discovery_data(table, id_column="name", images=folder).media
    assert media.picture(0).content != media.picture(1).content


def test_a_few_files_called_like_row_numbers_mean_nothing(fish, tmp_path):
    pictured(tmp_path / "p", "1.png")
    with pytest.raises(InputError) as refused:
        open_discovery_data(fish, drop=["fish"], images=tmp_path / "p")
    assert str(refused.value) == (
        f"No row of {fish} has a picture in {tmp_path / 'p'}: rows are called '1', '2', '3', and "
        "files there are called '1.png'. Name the files by the rows' ids (--id-column), or name a "
        "column that holds their names."
    )


def test_a_column_may_be_named_whose_paths_start_from_the_table(fish, tmp_path):
    pictured(tmp_path, "p1.png", "p3.png")
    data = open_discovery_data(fish, id_column="fish", images="shot")
    assert rows_with_pictures(data) == [True, False, True, False]
    assert list(data.table.features) == ["length"]


@pytest.mark.parametrize("path", ["../secret.png", "{folder}/secret.png", "link.png", "pipe.png"])
def test_a_table_cannot_make_us_show_what_lies_elsewhere(tmp_path, path):
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


def test_an_archive_serves_as_well(fish, tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for k in (1, 3):
            archive.writestr(f"shots/{k:018d}.png", CONTENT)
    data = open_discovery_data(fish, id_column="fish", drop="shot", images=tmp_path / "p.zip")
    assert rows_with_pictures(data) == [True, False, True, False]
    assert data.media.picture(2).media_type == "image/png"
    data.media.close()


def test_rows_left_out_of_the_table_take_their_pictures_with_them(tmp_path):
    table = written(tmp_path / "t.csv", "name,length\na,1\nb,\nc,3\n")
    pictured(tmp_path / "p", "a.png", "b.png")
    data = open_discovery_data(table, id_column="name", missing="drop", images=tmp_path / "p")
    assert data.table.ids.tolist() == ["a", "c"]
    assert rows_with_pictures(data) == [True, False]
    kept = open_discovery_data(table, id_column="name", missing="fill", images=tmp_path / "p")
    assert rows_with_pictures(kept) == [True, True, False]


def test_labels_and_plain_tables_are_read_as_ever(tmp_path):
    table = written(tmp_path / "t.csv", "length,kind\n1,pike\n2,\n")
    data = open_discovery_data(table, label_column="kind")
    assert data.media.kind == "none"
    assert data.table.labels.tolist()[0] == "pike"
    assert data.notes == []


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (
            "nowhere",
            "'nowhere' is neither a folder nor a ZIP archive, nor a column of {table}, whose "
            "columns are 'fish', 'length', 'shot'; check its name.",
        ),
        ("{table}", "{table} is no ZIP archive; name a folder, a ZIP archive or a column."),
        (
            "{empty}",
            "No row of {table} has a picture in {empty}: rows are called '000000000000000001', "
            "'000000000000000002', '000000000000000003', and there is no picture in it. Name the "
            "files by the rows' ids (--id-column), or name a column that holds their names.",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(fish, tmp_path, images, sentence):
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "a.svg").write_text("<svg><script>alert(1)</script></svg>")
    words = {"table": fish, "empty": empty}
    with pytest.raises(InputError) as refused:
        open_discovery_data(fish, id_column="fish", images=images.format(**words))
    assert str(refused.value) == sentence.format(**words)


def test_pictures_and_sounds_at_once_are_refused(fish):
    with pytest.raises(InputError) as refused:
        open_discovery_data(fish, images="shot", audio="shot")
    assert str(refused.value) == (
        "Rows are shown as pictures or as sounds, not as both; leave out images or audio."
    )


def test_the_demo_tells_no_digit():
    demo = demo_data()
    assert demo.table.labels is None
    assert demo.table.features.shape == (750, 16)
    assert demo.table.ids.is_unique
    digits = rare_digits()["digit"].to_numpy()
    # Some 170 by lot.
    assert simulate(demo.table.features.to_numpy(), digits).questions_to_all <= 40
    assert all(demo.media.has(row) for row in (0, 749))
    np.testing.assert_array_equal(demo.table.ids, demo_data().table.ids)


def test_galaxies_are_seen_and_their_long_ids_stay_text(data_folder):
    folder = data_folder / "images" / "galaxy_zoo1"
    data = open_discovery_data(
        folder / "galaxies.csv", id_column="id", drop=["label"], images=folder / "thumbnails.zip"
    )
    assert data.table.ids[0] == "587722952767439450"
    assert data.table.features.shape == (6664, 20)
    assert data.notes == ["Column 'thumbnail' names files and is no feature."]
    assert data.media.picture(6663, 64).media_type == "image/jpeg"
    data.media.close()
