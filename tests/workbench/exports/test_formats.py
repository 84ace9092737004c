"""Formats of exports: valid for independent readers, and complete."""

import io
import json
from xml.etree import ElementTree

import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.shapes.tps import read_tps, variables_of
from kernova.workbench.exports import FORMATS
from tests.workbench.labelled import N_ROWS, label_in_every_way, workbench_over

APPLICABLE = {
    "table": {"csv", "parquet", "label-studio", "label-studio-interface"},
    "pictures": {"csv", "parquet", "coco", "label-studio", "label-studio-interface"},
    "sounds": {"csv", "parquet", "raven", "label-studio", "label-studio-interface"},
    "specimens": {"csv", "parquet", "tps", "label-studio", "label-studio-interface"},
}


def exported(folder, media, name):
    with workbench_over(folder, media) as bench:
        label_in_every_way(bench)
        return bench.exports.file(name), bench.exports.snapshot()


@pytest.mark.parametrize("media", APPLICABLE)
def test_formats_that_do_not_apply_say_why(tmp_path, media):
    with workbench_over(tmp_path, media) as bench:
        offered = bench.exports.formats().formats
        assert [one.name for one in offered] == [one.name for one in FORMATS]
        assert {one.name for one in offered if one.reason_against is None} == APPLICABLE[media]
        for one in offered:
            if one.reason_against is not None:
                with pytest.raises(InputError) as caught:
                    bench.exports.file(one.name)
                assert str(caught.value) == (
                    f"The labels cannot be exported as {one.name}. {one.reason_against}"
                )


def test_the_reasons(tmp_path):
    with workbench_over(tmp_path, "table") as bench:
        reasons = {one.name: one.reason_against for one in bench.exports.formats().formats}
    assert reasons["coco"] == "COCO needs pictures of the rows."
    assert reasons["raven"] == "Raven tables need recordings of the rows."
    assert reasons["tps"] == "TPS needs specimens with landmarks."


def test_coco_has_what_its_readers_rely_on(tmp_path):
    content, snapshot = exported(tmp_path, "pictures", "coco")
    coco = json.loads(content)
    assert {"info", "licenses", "images", "annotations", "categories"} <= set(coco)
    images = {image["id"]: image for image in coco["images"]}
    categories = {one["id"]: one for one in coco["categories"]}
    assert len(images) == len(coco["images"]) == N_ROWS - 1
    assert len(categories) == len(coco["categories"]) == 4
    assert len({one["id"] for one in coco["annotations"]}) == len(coco["annotations"]) == 8
    for image in coco["images"]:
        place = image["id"] - 1
        assert (image["width"], image["height"]) == (16 + place, 12)
        assert image["file_name"] == f"{snapshot.ids[place]}.png"
        assert (tmp_path / "photos" / image["file_name"]).is_file()
    for one in coco["annotations"]:
        image = images[one["image_id"]]
        assert one["bbox"] == [0, 0, image["width"], image["height"]]
        assert one["area"] == image["width"] * image["height"]
        assert (one["iscrowd"], one["segmentation"]) == (0, [])
        assert categories[one["category_id"]]["name"] == snapshot.labels[image["id"] - 1]
    assert {one["name"]: one["supercategory"] for one in coco["categories"]} == {
        "carp": "freshwater fish", "=pike": "freshwater fish",
        "a name, with; marks = and “quotes”": "", "eel": "",
    }  # fmt: skip
    scores = {one["image_id"] - 1: one["score"] for one in coco["annotations"] if "score" in one}
    assert scores == {6: 0.875, 7: 0.999, 8: 1.0}  # the sixth row has no picture


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # crowsetta's, on pandas
def test_raven_tables_are_read_by_crowsetta_and_pandas(tmp_path):
    pytest.importorskip("soundfile", reason="the extra `audio` is not installed")
    content, snapshot = exported(tmp_path, "sounds", "raven")
    table = pd.read_csv(io.BytesIO(content), sep="\t", keep_default_na=False)
    rows = snapshot.rows_with_content
    assert table["Id"].astype(str).tolist() == [str(snapshot.ids[row]) for row in rows]
    labels = [snapshot.labels[row] or "?" for row in rows]
    assert table["Annotation"].tolist() == labels
    for line, row in zip(table.itertuples(), rows, strict=True):
        assert line[4] == pytest.approx(0.2 + 0.5 * (row % 12))
        assert line[5] == pytest.approx(0.5 + 0.5 * (row % 12))
        assert line[6:8] == pytest.approx((500 + row, 1400 + row))
    assert table["Begin File"].tolist() == ["ab"[row // 12] + ".wav" for row in rows]
    crowsetta = pytest.importorskip("crowsetta", reason="crowsetta is not installed")
    path = tmp_path / "labels.selections.txt"
    path.write_bytes(content)
    read = crowsetta.formats.bbox.Raven.from_file(path, annot_col="Annotation").to_bbox()
    assert [one.label for one in read] == labels
    assert [one.onset for one in read] == pytest.approx(table["Begin Time (s)"].tolist())
    assert [one.low_freq for one in read] == pytest.approx(table["Low Freq (Hz)"].tolist())


def test_specimens_keep_their_coordinates_and_get_categories(tmp_path):
    content, snapshot = exported(tmp_path, "specimens", "tps")
    path = tmp_path / "labelled.tps"
    path.write_bytes(content)
    before, now = read_tps(tmp_path / "fish.tps"), read_tps(path)
    assert (now.coordinates == before.coordinates).all()
    assert now.ids == before.ids
    variables = variables_of(now)
    assert variables["sex"].tolist()[:4] == [None, "F", None, "F"]
    plain = "a name with marks and “quotes”"
    categories = [one or None for one in variables["category"]]
    assert categories[:3] == ["carp", "carp", plain]
    assert categories[9:] == [None] * (N_ROWS - 9)
    assert now.comments[2][0] == "category: a name, with; marks = and “quotes”"
    assert variables["expert"].tolist()[:3] == ["Anna", "Anna", "Bob"]
    assert snapshot.labels[2] == "a name, with; marks = and “quotes”"


def test_label_studio_has_tasks_annotations_and_an_interface(tmp_path):
    with workbench_over(tmp_path, "pictures") as bench:
        label_in_every_way(bench)
        bench.learning.begin()
        assert bench.learning.wait(120)
        tasks = json.loads(bench.exports.file("label-studio"))
        interface = ElementTree.fromstring(bench.exports.file("label-studio-interface"))
    names = {tag.get("name") for tag in interface}
    assert names == {"row", "category", "further", "flag", "note"}
    choices = {tag.get("name"): [one.get("value") for one in tag] for tag in interface}
    assert choices["further"] == ["blurred", "at; the edge"]
    for task in tasks:
        assert set(task["data"]) == {"id", "image"}
        for annotation in [*task["annotations"], *task["predictions"]]:
            for result in annotation["result"]:
                assert result["from_name"] in names
                assert result["to_name"] == "row"
                assert result["type"] in ("choices", "textarea")
                if result["type"] == "choices":
                    assert set(result["value"]["choices"]) <= set(choices[result["from_name"]])
    assert tasks[0]["data"] == {"id": "007", "image": "/data/local-files/?d=007.png"}
    assert len(tasks[1]["annotations"]) == 2
    suggested = [task for task in tasks if task["predictions"]]
    assert suggested
    assert all(0 <= one["predictions"][0]["score"] <= 1 for one in suggested)


def test_nobody_who_noted_or_flagged_a_row_becomes_the_author_of_its_label(tmp_path):
    with workbench_over(tmp_path, "table") as bench:
        session = bench.discovery.session
        session.label_row(session.ids_[3], "carp", expert="Anna")
        at = session.entries_[0].at
        session.review.note(session.ids_[3], "bright", expert="Anna")
        session.review.flag([session.ids_[3]], expert="Bob")
        table = bench.exports.labels()
    assert table.loc[3, ["category", "expert", "time"]].tolist() == ["carp", "Anna", at]
