"""Report pages on species: what stands on them, and that their pictures show the measurements."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest

from kernova import Landmarks
from kernova.shapes.features import shape_features
from kernova.species.covariates import Covariates
from kernova.species.page import all_pairs, permutation_p_value, species_page
from kernova.species.pictures import (
    digitising_figures,
    each_figures,
    specimen_figures,
    unknown_figures,
)
from kernova.species.results import answer_each, answer_specimens, answer_unknown
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


@pytest.fixture(scope="module")
def unknown_page(unknown):
    return read(unknown)


def fact(page, name):
    """The value beside a name in a list of facts."""
    return page.texts[page.texts.index(name) + 1]


def test_the_page_of_one_group_begins_with_the_verdict(unknown, unknown_page):
    page = unknown_page
    assert page.headings == [
        "The answer",
        "Against each known group",
        "Against all known groups together",
        "Where it lies",
        "What differs",
        "Specimen by specimen",
        "Digitising",
        "How it was decided",
    ]
    verdict = unknown.study.verdict
    assert verdict.kind == "looks new"
    start = page.texts.index(verdict.sentence)
    assert start < page.texts.index("unknown specimens")
    for reason in (*verdict.reasons, *unknown.notes):
        assert reason in page.texts
    assert len(page.pictures) == len(unknown_figures(unknown.study)) == 8
    assert "<b> & $c$" in page.texts
    assert all(specimen in page.texts for specimen in unknown.rows["id"])
    assert fact(page, "covariates") == "none given"
    assert fact(page, "novelty score") == "log likelihood ratio, new to known"
    assert fact(page, "largest p-value") == "≤ 0.001"
    assert "kernel width" not in page.texts


def test_pairs_on_the_page_answer_both_questions(unknown, unknown_page):
    page = unknown_page
    for header in ("as a sample", "single specimens", "error", "interval", "novelty error"):
        assert header in page.texts
    is_adjusted = unknown.study.pairs["adjusted_p_value"].notna().any()
    assert ("adjusted p-value" in page.texts) == is_adjusted
    assert page.texts.count("ruled out") == 2
    assert page.texts.count("distinguished") == 2


def test_first_facts_give_detections_at_false_alarms_and_e_star_stands_with_novelty(unknown_page):
    page = unknown_page
    assert not any(text.startswith("e*") for text in page.texts[: page.texts.index("halving")])
    assert any("at a threshold that allows at most" in text for text in page.texts)
    assert any("e* is the larger of the two" in text for text in page.texts)


def test_methods_name_what_was_exchanged_and_adjusted_for(specimens, unknown, unknown_page):
    text = " ".join(unknown_page.texts)
    assert "The specimens of the two groups are exchanged at random" in text
    assert "covariates are adjusted for" not in text
    landmarks, groups = specimens
    places = np.array([f"{group}{number % 5}" for number, group in enumerate(groups)])
    nested = Covariates({"population": places})
    answer = answer_unknown(landmarks, groups.tolist(), "new", QUICK, nested)
    text = " ".join(read(answer).texts)
    assert set(answer.study.pairs["exchanged"]) == {"populations"}
    assert "The populations of the two groups, each as a whole, are exchanged" in text


def test_all_pairs_stand_once_the_worst_first(specimens):
    landmarks, groups = specimens
    each = answer_each(landmarks, groups.tolist(), QUICK, least_specimens=3)
    pairs = all_pairs(each.study.pairs)
    assert len(
        {frozenset(ends) for ends in zip(pairs["unknown"], pairs["known"], strict=True)}
    ) == len(pairs)
    assert pairs["error"].is_monotonic_decreasing
    assert "All pairs of groups, the hardest to distinguish first" in read(each).texts


def test_the_smallest_possible_p_value_is_a_limit():
    shown = [permutation_p_value(value) for value in (0.001, 0.002, 0.5, float("nan"))]
    assert shown == ["≤ 0.001", "0.002", "0.500", "–"]


def test_pictures_show_the_measurements_of_the_study(unknown):
    figures = unknown_figures(unknown.study)
    first, pairs = unknown.study.first, unknown.study.pairs
    (ax,) = figures["morphospace"].axes
    is_new = [c for c in ax.collections if len(c.get_offsets()) == 9]
    np.testing.assert_array_equal(is_new[-1].get_offsets(), first.placed.rows[first.unknown][:, :2])
    (ax,) = figures["pairs"].axes
    dots = [c.get_offsets()[:, 0].tolist() for c in ax.collections if len(c.get_offsets()) == 2]
    assert pairs["error"].tolist() in dots
    assert pairs["novelty_error"].tolist() in dots
    legend = figures["novelty"].axes[0].get_legend().get_texts()
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
    assert page.headings == [
        "The answer",
        "Group by group",
        "Against each other",
        "Where they lie",
        "Digitising",
        "How it was decided",
    ]
    assert "Every group looks new; the table above has the error rates." in page.texts
    assert len(page.pictures) == len(each_figures(each.study)) == 4

    is_new = groups == "new"
    tests = answer_specimens(
        landmarks.take(~is_new), groups[~is_new].tolist(), landmarks.take(is_new), QUICK
    )
    page = read(tests)
    assert page.headings == [
        "The answer",
        "Digitising",
        "Novelty",
        "Where they lie",
        "How it was decided",
    ]
    assert len(page.pictures) == len(specimen_figures(tests.tests)) == 3
    assert tests.tests.whole_sample.sentence in page.texts
    assert "Benjamini and Hochberg" in " ".join(page.texts)
    assert "one-sided rank-sum test" in " ".join(page.texts)
    assert tests.shown["p_value"].is_monotonic_increasing
    assert "false discovery rate" in page.texts
    assert "largest error of groups called distinguished" not in page.texts  # of groups alone


def test_hardly_any_specimens_still_make_a_page():
    landmarks, groups = drawn({"a": 2, "b": 2, "c": 1}, noise=0.02)
    answer = answer_unknown(landmarks, groups.tolist(), "c", QUICK)
    assert answer.study.verdict.kind == "too few specimens to say"
    assert answer.study.verdict.closest is None
    page = read(answer)
    assert "No known group is large enough." in page.texts
    each = answer_each(landmarks, groups.tolist(), QUICK, least_specimens=1)
    page = read(each)
    assert "No group is large enough to be compared alone." in page.texts
    for study in each.study.studies:
        assert study.verdict.sentence in page.texts


def test_small_groups_are_on_the_page_of_every_group():
    landmarks, groups = drawn({"a": 9, "b": 8, "c": 3, "d": 1})
    each = answer_each(landmarks, groups.tolist(), QUICK, least_specimens=1)
    page = read(each)
    assert "Groups with other verdicts" in page.texts
    (few,) = [one for one in each.study.studies if one.unknown == "d"]
    assert few.verdict.sentence in page.texts
    assert len(page.pictures) == 4


def test_features_in_three_dimensions_with_size_and_gaps():
    flat, groups = drawn({"a": 20, "b": 20, "new": 10}, distance=0.9)
    depth = 0.1 * np.random.default_rng(0).standard_normal(flat.coordinates.shape[:2])
    points = np.dstack([flat.coordinates, depth])
    points[2, 4] = np.nan
    landmarks = Landmarks(flat.ids, points, source="solid.tps")
    features = shape_features({"long": "|1-6| / |3-9|", "wide": "|4-8| / |1-6|"})
    settings = SpeciesSettings(halvings=2, features=features, size=True, score="depth")
    answer = answer_unknown(landmarks, groups.tolist(), "new", settings)
    assert (
        "1 of 450 landmarks of solid.tps are missing, in 1 of 50 specimens; each was estimated "
        "from the others."
    ) in answer.notes
    assert answer.to_json_dict()["settings"]["features"]["wide"] == "|4-8| / |1-6|"
    page = read(answer)
    assert "|4-8| / |1-6|" in page.texts
    assert not any("Procrustes" in text or "mean shape" in text for text in page.texts)
    assert fact(page, "novelty score") == "minus kernelized spatial depth"
    assert fact(page, "kernel width") == "nearest"
    assert len(page.pictures) == len(unknown_figures(answer.study)) == 8


def test_with_one_known_group_and_a_covariate_there_is_an_adjusted_p_value_but_no_variates():
    landmarks, groups = drawn({"a": 20, "new": 8})
    sex = np.where(np.arange(28) % 2, "F", "M")
    answer = answer_unknown(landmarks, groups.tolist(), "new", QUICK, Covariates({"sex": sex}))
    page = read(answer)
    assert fact(page, "covariates") == "sex"
    assert "adjusted p-value" in page.texts
    assert "variates" not in unknown_figures(answer.study)
    assert len(page.pictures) == 7


def test_specimens_to_check_are_listed_and_drawn(specimens):
    landmarks, groups = specimens
    points = landmarks.coordinates.copy()
    new, known = np.flatnonzero(groups == "new")[0], 3
    points[new, 5] += 0.5 * np.ptp(points[new], axis=0)
    points[known, [1, 2]] = points[known, [2, 1]]
    answer = answer_unknown(Landmarks(landmarks.ids, points), groups.tolist(), "new", QUICK)
    found = {one.id: (one.kind, one.landmarks) for one in answer.digitising.findings}
    assert found["s63"] == ("single landmark", (6,))
    assert found["s3"] == ("swapped pair", (2, 3))
    page = read(answer)
    assert "Check these against their images." in " ".join(page.texts)
    for one in answer.digitising.findings:
        assert one.sentence in page.texts
    figures = digitising_figures(answer.digitising, 12)
    assert len(page.pictures) == 8 + len(figures)
    assert len(digitising_figures(answer.digitising, 1)) == 1
    line = answer.rows.set_index("id").loc["s63"]
    assert line["digitising"] == "single landmark 6"
