"""Outlines of specimens: border, links and curves over the mean shape."""

import json

import numpy as np
import pandas as pd
import pytest

from kernova.discover.simulation import simulate
from kernova.errors import InputError, MissingMediaError
from kernova.media.opening import open_discovery_data
from kernova.media.pictures import pixel_picture
from kernova.media.row_media import border_of, links_between
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.tps import write_tps
from tests.media import messages

# A leaf: twelve landmarks around, two on its vein.
AROUND = np.column_stack(
    [2 * np.cos(np.linspace(0, 2 * np.pi, 13)[:-1]), np.sin(np.linspace(0, 2 * np.pi, 13)[:-1])]
)
LEAF = np.vstack([AROUND, [[-0.3, 0.0], [0.3, 0.0]]])


def turned(points, angle):
    cos, sin = np.cos(angle), np.sin(angle)
    return points @ np.array([[cos, sin], [-sin, cos]])


@pytest.fixture
def leaves(tmp_path):
    rng = np.random.default_rng(0)
    shapes = LEAF + rng.normal(0, 0.03, size=(30, 14, 2))
    placed = np.stack([turned(3 * shape, k) + 10 * k for k, shape in enumerate(shapes)])
    placed[4, 2] = np.nan
    curves = [(np.nanmean(placed[k], axis=0) + turned(3 * AROUND[:4], k),) for k in range(30)]
    landmarks = Landmarks(tuple(f"leaf {k}" for k in range(30)), placed, curves=tuple(curves))
    path = tmp_path / "leaves.tps"
    write_tps(landmarks, path)
    return path


def crossings(points, pairs):
    def side(a, b, c):
        return np.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

    found = 0
    for place, (i, j) in enumerate(pairs):
        for k, m in pairs[:place]:
            if len({i, j, k, m}) == 4:
                a, b, c, d = (points[n] for n in (i, j, k, m))
                is_crossed = side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)
                found += is_crossed
    return found


def test_specimens_become_rows_of_shape_and_outlines(leaves):
    data = open_discovery_data(leaves)
    assert data.media.kind == "outline"
    assert data.table.ids.tolist()[:2] == ["leaf 0", "leaf 1"]
    assert list(data.table.features) == [f"shape {k}" for k in range(1, 13)]
    assert data.notes == [messages.ESTIMATED]
    outline = json.loads(json.dumps(data.media.outline(4)))
    assert outline["missing"] == [2]
    assert np.shape(outline["points"]) == np.shape(outline["consensus"]) == (14, 2)
    assert np.linalg.norm(np.subtract(outline["points"], outline["consensus"])) < 0.2
    left, top, right, bottom = outline["box"]
    assert left < -0.3 < 0.3 < right
    assert top < -0.1 < 0.1 < bottom


def test_the_border_runs_around_and_links_stay_inside(leaves):
    outline = open_discovery_data(leaves).media.outline(0)
    assert sorted(outline["border"]) == list(range(12))
    assert [12, 13] in outline["links"]
    steps = set(np.diff([*outline["border"], outline["border"][0]]) % 12)
    assert steps in ({1}, {11})


def test_curves_are_superimposed_with_their_landmarks(leaves):
    outline = open_discovery_data(leaves).media.outline(7)
    drawn, around = np.array(outline["curves"][0]), np.array(outline["points"])[:4]
    assert np.abs(drawn - around).max() < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_links_never_cross_and_reach_every_landmark(seed):
    points = np.random.default_rng(seed).normal(size=(40, 2)) * [3, 1]
    border = border_of(points)
    links = links_between(points, border)
    sides = [[a, b] for a, b in zip(border, border[1:] + border[:1], strict=True)]
    assert crossings(points, links) == 0
    assert crossings(points, sides) == 0
    assert set(np.unique([*links, *sides])) == set(range(40))
    assert len(links) < 3 * 40


def test_many_landmarks_are_linked_as_a_tree():
    points = np.random.default_rng(0).normal(size=(301, 2))
    assert len(links_between(points)) == 300


def test_collinear_and_coinciding_landmarks_have_no_border():
    line = np.column_stack([np.arange(5.0), np.zeros(5)])
    assert border_of(line) == []
    assert links_between(line) == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert border_of(np.zeros((4, 2))) == []


def test_other_rows_and_unused_options_are_rejected(leaves):
    data = open_discovery_data(leaves)
    with pytest.raises(MissingMediaError, match=messages.NO_ROW.format(row=30, last=29)):
        data.media.outline(30)
    with pytest.raises(InputError) as rejected:
        open_discovery_data(leaves, id_column="a", audio="b")
    assert str(rejected.value) == messages.NO_COLUMNS.format(table=leaves)


def test_photographs_replace_outlines(leaves, tmp_path):
    (tmp_path / "photos").mkdir()
    for k in range(29):
        (tmp_path / "photos" / f"leaf {k}.png").write_bytes(pixel_picture(np.eye(3)).content)
    data = open_discovery_data(leaves, images=tmp_path / "photos")
    assert data.media.kind == "picture"
    assert data.media.picture(3).media_type == "image/png"
    assert data.notes[1:] == [messages.WITHOUT.format(n="1 of 30", have="has", what="picture")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=messages.NO_PICTURES_AT_ALL):
        open_discovery_data(leaves, images=tmp_path / "empty")


def test_photographs_are_matched_by_the_name_of_their_image(tmp_path):
    shapes = LEAF + np.random.default_rng(0).normal(0, 0.03, size=(5, 14, 2))
    images = tuple(f"IMG_{k}.JPG" for k in range(5))
    write_tps(Landmarks(tuple("abcde"), shapes, images=images), tmp_path / "leaves.tps")
    for k in (0, 4):
        (tmp_path / f"img_{k}.jpg").write_bytes(pixel_picture(np.eye(3)).content)
    data = open_discovery_data(tmp_path / "leaves.tps", images=tmp_path)
    assert [data.media.has(row) for row in range(5)] == [True, False, False, False, True]


def test_landmarks_in_space_are_projected_along_the_third_axis(tmp_path):
    rng = np.random.default_rng(0)
    bones = rng.normal(size=(8, 3)) + rng.normal(0, 0.05, size=(20, 8, 3))
    write_tps(Landmarks(tuple(f"b{k}" for k in range(20)), bones), tmp_path / "bones.tps")
    data = open_discovery_data(tmp_path / "bones.tps")
    assert np.shape(data.media.outline(0)["points"]) == (8, 2)


def test_tribes_of_cichlids_are_discovered_in_few_questions(data_folder):
    folder = data_folder / "landmarks" / "tanganyika_cichlids"
    data = open_discovery_data(folder / "cichlids.tps")
    tribes = pd.read_csv(folder / "cichlids.csv", dtype=str).set_index("id")["tribe"]
    found = simulate(data.table.features.to_numpy(), tribes[data.table.ids.tolist()].to_numpy())
    # About 330 by random sampling.
    assert found.questions_to_all <= 110
