"""Answers about species as pages, tables and plain values."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from kernova import Landmarks
from kernova.shapes.features import shape_features
from kernova.species.inputs import feature_notes, missing_landmark_notes
from kernova.species.page import each_figures, species_page, specimen_figures, unknown_figures
from kernova.species.results import (
    answer_each,
    answer_specimens,
    answer_unknown,
    probable_digitising_errors,
)
from kernova.species.space import SpeciesSettings
from tests.species.drawn_shapes import drawn

QUICK = SpeciesSettings(halvings=2, components=4)
SIZES = {"a": 30, "<b> & $c$": 30, "d": 3, "new": 9}


class Reader(HTMLParser):
    """What stands on a page: headings, texts in order, pictures, tags that are open."""

    VOID = ("meta", "img", "br")

    def __init__(self, html):
        super().__init__()
        self.texts, self.headings, self.pictures, self.open = [], [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.pictures.append(dict(attributes)["alt"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip() and "style" not in self.open:
            (self.headings if "h2" in self.open else self.texts).append(data.strip())


@pytest.fixture(scope="module")
def specimens():
    return drawn(SIZES, distance=0.9)


@pytest.fixture(scope="module")
def unknown(specimens):
    return answer_unknown(*specimens, "new", QUICK)


def read(answer):
    html = species_page(answer)
    assert "http" not in html.replace("http-equiv", "")  # nothing is fetched
    page = Reader(html)
    assert not page.open
    json.dumps(answer.to_json_dict(), allow_nan=False)
    return page


def test_the_page_of_one_group_begins_with_the_verdict(unknown):
    page = read(unknown)
    assert page.headings == [
        "The answer",
        "Against each known group",
        "Against all known groups together",
        "Where it lies",
        "What differs",
        "Specimen by specimen",
        "How it was decided",
    ]
    verdict = unknown.study.verdict
    assert verdict.kind == "looks new"
    start = page.texts.index(verdict.sentence)
    assert start < page.texts.index("unknown specimens")
    for reason in (*verdict.reasons, *unknown.notes):
        assert reason in page.texts
    assert len(page.pictures) == len(unknown_figures(unknown.study)) == 7
    assert "<b> & $c$" in page.texts
    assert all(specimen in page.texts for specimen in unknown.rows["id"])


def test_pictures_show_the_measurements_of_the_study(unknown):
    figures = unknown_figures(unknown.study)
    first = unknown.study.first
    (ax,) = figures["morphospace"].axes
    is_new = [c for c in ax.collections if len(c.get_offsets()) == 9]
    np.testing.assert_array_equal(is_new[-1].get_offsets(), first.placed.rows[first.unknown][:, :2])
    (ax,) = figures["pairs"].axes
    np.testing.assert_array_equal(
        np.ravel(ax.images[0].get_array()), unknown.study.pairs["equal_error_rate"]
    )
    legend = figures["depths"].axes[0].get_legend().get_texts()
    threshold = unknown.study.halvings.loc[0, "threshold"]
    assert legend[1].get_text() == "new: 9 specimens, one mark each"
    assert legend[2].get_text().startswith(f"threshold {threshold:.4g} (false alarms at most ")
    # Shares of variance are of the whole, not of the components alone.
    share = float(figures["morphospace"].axes[0].get_xlabel().split("(")[1].split(" %")[0]) / 100
    weighted = (
        first.placed.aligned.reshape(len(first.placed.aligned), -1) - first.space.center
    ) @ first.space.weight
    variances = weighted[first.reference].var(axis=0).sum()
    expected = first.placed.rows[first.reference][:, 0].var() / variances
    assert share == pytest.approx(expected, abs=0.0051)


def test_pages_of_every_group_and_of_single_specimens(specimens):
    landmarks, groups = specimens
    each = answer_each(landmarks, groups.tolist(), QUICK, least_specimens=3)
    page = read(each)
    assert page.headings[:3] == ["The answer", "Group by group", "Against each other"]
    assert "Every group looks new; the table above has the error rates." in page.texts
    assert len(page.pictures) == len(each_figures(each.study)) == 3
    assert each.sentences == ["4 of 4 groups would look new if they were unknown."]

    is_new = groups == "new"
    tests = answer_specimens(
        landmarks.take(~is_new), groups[~is_new].tolist(), landmarks.take(is_new), QUICK
    )
    page = read(tests)
    assert page.headings[1] == "Digitising errors"
    assert len(page.pictures) == len(specimen_figures(tests.tests)) == 3
    assert tests.shown["p_value"].is_monotonic_increasing


def test_hardly_any_specimens_still_make_a_page():
    landmarks, groups = drawn({"a": 2, "b": 2, "c": 1}, noise=0.02)
    answer = answer_unknown(landmarks, groups.tolist(), "c", QUICK)
    assert answer.study.verdict.kind == "too few specimens to say"
    assert answer.study.verdict.closest is None
    page = read(answer)
    assert "No known group is large enough." in page.texts
    each = answer_each(landmarks, groups.tolist(), QUICK, least_specimens=1)
    assert each.sentences == [
        "0 of 3 groups would look new if they were unknown.",
        "3 of 3 groups have too few specimens to say.",
    ]
    page = read(each)
    assert "No group is large enough to be compared alone." in page.texts
    for study in each.study.studies:
        assert study.verdict.sentence in page.texts


def test_features_in_three_dimensions_with_size_and_gaps():
    flat, groups = drawn({"a": 20, "b": 20, "new": 10}, distance=0.9)
    depth = 0.1 * np.random.default_rng(0).standard_normal(flat.coordinates.shape[:2])
    points = np.dstack([flat.coordinates, depth])
    points[2, 4] = np.nan
    landmarks = Landmarks(flat.ids, points, source="solid.tps")
    features = shape_features({"long": "|1-6| / |3-9|", "wide": "|4-8| / |1-6|"})
    settings = SpeciesSettings(halvings=2, features=features, size=True)
    answer = answer_unknown(landmarks, groups.tolist(), "new", settings)
    assert answer.notes[0] == (
        "1 of 450 landmarks of solid.tps are missing, in 1 of 50 specimens; each was estimated "
        "from the others."
    )
    assert answer.to_json_dict()["settings"]["features"]["wide"] == "|4-8| / |1-6|"
    page = read(answer)
    assert "|4-8| / |1-6|" in page.texts
    assert len(page.pictures) == 7


def test_notes_on_features_and_missing_landmarks():
    features = shape_features({"tilt": "angle(1-2, vertical)", "long": "|1-2|"})
    assert feature_notes(None, 2) == []
    assert feature_notes(features, 2) == [
        "tilt: measured on aligned shapes, where horizontal is the direction in which the "
        "consensus is longest, from the end of landmark 1 to the other.",
        "long: measured on shapes of centroid size 1, since alignment removes size. Divide by a "
        "length, or add the size as a column of its own.",
    ]
    assert feature_notes(features, 3)[-1] == (
        "Of three axes, vertical is the second and horizontal the first."
    )
    assert missing_landmark_notes(drawn({"a": 2})[0]) == []


def test_a_misplaced_landmark_of_the_unknown_is_noted():
    landmarks, groups = drawn({"a": 60, "b": 60, "new": 9}, distance=0.2)
    points = landmarks.coordinates.copy()
    place = int(np.flatnonzero(groups == "new")[0])
    points[place, 5] += 0.5 * np.ptp(points[place], axis=0)
    answer = answer_unknown(Landmarks(landmarks.ids, points), groups.tolist(), "new", QUICK)
    name = landmarks.ids[place]
    assert answer.notes[-1].startswith("Check the digitising of ")
    assert answer.notes[-1].endswith(
        f" of its 9 specimens, such as {name} (landmark 6 deviates): a misplaced landmark looks "
        "like a new shape."
    )
    line = answer.rows.set_index("id").loc[landmarks.ids[place]]
    assert line["landmark"] == 6


def test_a_deviation_of_many_specimens_is_no_digitising_error():
    words = ["in order"] * 5 + ["landmark 3 deviates"] * 3 + ["landmark 4 deviates"]
    words.append("several landmarks deviate, landmark 4 most")
    numbers = [0] * 5 + [3] * 3 + [4] * 2
    rows = pd.DataFrame({"digitising": words, "landmark": numbers})
    assert probable_digitising_errors(rows).tolist() == [False] * 8 + [True, False]
