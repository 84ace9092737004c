"""Shape features: formulas mean what school geometry says, and errors point at the place."""
# ruff: noqa: E501 -- one case, one line

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova import InputError
from kernova.shapes import groups_from_table, read_tps
from kernova.shapes.features import (
    SHIPPED_FEATURES,
    ShapeFeatures,
    read_shape_features,
    shape_features,
)
from tests.shapes import literal_shape_features as literal
from tests.shapes.bad_inputs import (
    BAD_FEATURE_FILES,
    BROKEN_FORMULAS,
    POINTS,
    UNMEASURABLE,
    error,
)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("|2-3|", 5),
        ("|2−3|", 5),
        ("|2–3| × 2", 10),
        ("angle(1-2, vertical)", 90),
        ("angle(1-2, horizontal)", 0),
        ("angle(2-1, horizontal)", 180),
        ("angle(vertical, 1-7)", 45),
        ("angle(1-2, 3-1)", 90),
        ("angle(2, 1, 3)", 90),
        ("angle(1, 2, 3)", np.degrees(np.arctan2(3, 4))),
        ("area(1, 2, 3)", 6),
        ("area(1,2,5,4)", 16),
        ("area(4,5,2,1)", 16),
        ("area(1,2,3) / area(1,2,5,4)", 0.375),
        ("|1-2| + |1-3| - |2-3|", 2),
        ("|1-2| - (|1-3| - |2-3|)", 6),
        ("|1-2| / |1-3| / |2-3|", 4 / 15),
        ("|1-2| / (|1-3| / |2-3|)", 20 / 3),
        ("2 * |1-2| + 0.5 * |1-3|", 9.5),
        ("|1-2| * |1-3| - area(1, 2, 3)", 6),
        ("|1-2| / |1-3| + 1", 7 / 3),
        ("angle(1-2, vertical) / 90 * 2", 2),
    ],
)
def test_measures_of_a_simple_specimen(formula, value):
    measured = shape_features({"feature": formula}).measure(POINTS[None])
    assert measured.shape == (1, 1)
    assert measured[0, 0] == pytest.approx(value, rel=1e-12, abs=1e-12)


# --- any formula, against school geometry ----------------------------------------------------

N_LANDMARKS = 5
landmark_lists = st.permutations(range(1, N_LANDMARKS + 1))


@st.composite
def measures(draw):
    """A length, angle or area: its text, its value of one specimen, its power, its largest value."""
    a, b, c, d, e = draw(landmark_lists)
    kind = draw(st.integers(0, 6))
    way, axes = literal.direction, {"vertical": [0, 1], "horizontal": [1, 0]}
    axis = draw(st.sampled_from(sorted(axes)))
    return [
        (f"|{a}-{b}|", lambda p: literal.length(p, a, b), 1, 2e2),
        (f"angle({a}-{b}, {c}-{d})", lambda p: literal.angle(way(p, a, b), way(p, c, d)), 0, 180),
        (f"angle({a}-{b}, {a}-{c})", lambda p: literal.angle(way(p, a, b), way(p, a, c)), 0, 180),
        (f"angle({a},{b},{c})", lambda p: literal.angle(way(p, b, a), way(p, b, c)), 0, 180),
        (f"angle({a} - {b},{axis})", lambda p: literal.angle(way(p, a, b), axes[axis]), 0, 180),
        (f"area({a},{b},{c})", lambda p: literal.area(p, a, b, c), 2, 2e4),
        (f"area({a}, {b}, {c}, {d}, {e})", lambda p: literal.area(p, a, b, c, d, e), 2, 4e4),
    ][kind]


def joined(parts):
    left, sign, right = parts
    if sign in "+-" and left[2] != right[2]:
        sign = "*"
    if sign == "/":
        # The square of an angle is never negative, and 1 more is never 0.
        text, value = "(angle(1, 2, 3) * angle(1, 2, 3) + 1)", literal_square_and_one
        return (f"({left[0]}) / {text}", lambda p: left[1](p) / value(p), left[2], left[3])
    values = {
        "+": lambda p: left[1](p) + right[1](p),
        "-": lambda p: left[1](p) - right[1](p),
        "*": lambda p: left[1](p) * right[1](p),
    }
    power = left[2] + right[2] if sign == "*" else left[2]
    largest = left[3] * right[3] if sign == "*" else left[3] + right[3]
    return (f"({left[0]}) {sign} ({right[0]})", values[sign], power, largest)


def literal_square_and_one(points):
    way = literal.direction
    return literal.angle(way(points, 2, 1), way(points, 2, 3)) ** 2 + 1


formulas = st.recursive(
    measures(),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(joined),
    max_leaves=6,
)
integers = st.integers(-50, 50)
specimens = st.lists(
    st.lists(
        st.tuples(integers, integers), min_size=N_LANDMARKS, max_size=N_LANDMARKS, unique=True
    ),
    min_size=1,
    max_size=4,
)


@settings(deadline=None, max_examples=100)
@given(formula=formulas, specimens=specimens)
def test_any_formula_agrees_with_school_geometry(formula, specimens):
    text, value, power, largest = formula
    features = shape_features({"feature": text})
    measured = features.measure(np.array(specimens, dtype=float))[:, 0]
    expected = [value(points) for points in specimens]
    np.testing.assert_allclose(measured, expected, rtol=1e-9, atol=1e-12 * largest)
    assert bool(features.size_dependent) == (power != 0)
    assert bool(features.orientation_dependent) == ("al" in text)


def test_triangles_agree_with_heron():
    points = np.random.default_rng(0).normal(size=(50, 3, 3))
    heron = [literal.triangle_area(specimen, 1, 2, 3) for specimen in points]
    measured = shape_features({"area": "area(1, 2, 3)"}).measure(points)[:, 0]
    np.testing.assert_allclose(measured, heron, rtol=1e-9)


def test_measures_in_space_are_those_of_the_plane_turned_into_it():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(20, 5, 2))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    in_space = np.concatenate([flat, np.zeros((20, 5, 1))], axis=2) @ turn + rng.normal(size=3)
    features = shape_features(
        {"l": "|1-2|", "a": "angle(1-2, 3-4)", "v": "angle(1, 2, 3)", "p": "area(1, 2, 3, 4, 5)"}
    )
    np.testing.assert_allclose(features.measure(in_space), features.measure(flat), rtol=1e-9)
    np.testing.assert_allclose(
        shape_features({"up": "angle(1-2, vertical)"}).measure([[[0, 0, 0], [0, 1, 1]]]), [[45]]
    )


def test_tiny_angles_and_far_areas_keep_their_digits():
    features = shape_features({"angle": "angle(1-2, 1-3)", "area": "area(1, 2, 3)"})
    points = np.array([[[0, 0], [1, 0], [1, 1e-9]], [[1e8, 1e8], [1e8 + 1, 1e8], [1e8, 1e8 + 1]]])
    measured = features.measure(points)
    assert measured[0, 0] == pytest.approx(np.degrees(1e-9), rel=1e-9)
    assert measured[1, 1] == 0.5
    tiny = features.measure(points[1:] * 0 + 1e-300 * np.array([[0, 0], [1, 0], [0, 1]]))
    assert tiny[0, 0] == pytest.approx(90, rel=1e-12)


# --- the cichlids ----------------------------------------------------------------------------


def test_the_features_that_ship_are_twelve_and_free_of_size_and_position(data_folder):
    fish = read_tps(data_folder / "landmarks/tanganyika_cichlids/cichlids.tps")
    features = read_shape_features("cichlids")
    measured = features.measure(fish.coordinates, ids=fish.ids)

    assert len(features.names) == 12
    assert measured.shape == (2197, 12)
    assert features.size_dependent == features.orientation_dependent == ()
    assert features.landmarks <= set(range(1, 22)) - {16}
    rng = np.random.default_rng(1)
    angles = rng.uniform(0, 2 * np.pi, len(fish))
    cosine, sine = np.cos(angles), np.sin(angles)
    turns = np.stack([cosine, -sine, sine, cosine], axis=1).reshape(-1, 2, 2)
    moved = fish.coordinates @ turns * rng.uniform(0.1, 9, (len(fish), 1, 1)) + 5
    np.testing.assert_allclose(features.measure(moved), measured, rtol=1e-9)


def test_twelve_features_separate_the_tribes(data_folder):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    folder = data_folder / "landmarks/tanganyika_cichlids"
    fish = read_tps(folder / "cichlids.tps")
    tribes = groups_from_table(folder / "cichlids.csv", fish.ids, group_column="tribe")
    measured = read_shape_features("cichlids").measure(fish.coordinates)
    # Twelve principal components of the aligned coordinates give .956.
    learnt = LinearDiscriminantAnalysis().fit(measured[::2], tribes[::2])
    assert learnt.score(measured[1::2], tribes[1::2]) > 0.92


# --- files -----------------------------------------------------------------------------------

TEXT = """\
# of a fish
slenderness = |4-11| / |13-7|   # of the body

snout angle = angle(1-2, vertical)
head=area(1, 2, 13, 12)
"""


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("features.txt", TEXT, (2, 4, 5)),
        ("features", TEXT.replace("\n", "\r\n"), (2, 4, 5)),
        (
            "features.toml",
            "# of a fish\n[features]\nslenderness = '|4-11| / |13-7|'\n"
            '"snout angle" = "angle(1-2, vertical)"\n\nhead = """area(1, 2, 13, 12)"""\n',
            (3, 4, 6),
        ),
        (
            "FEATURES.TOML",
            "slenderness = '|4-11| / |13-7|'\n'snout angle' = 'angle(1-2, vertical)'\n"
            "head = 'area(1, 2, 13, 12)'",
            (1, 2, 3),
        ),
    ],
)
def test_one_set_of_features_in_every_variant(tmp_path, name, content, lines):
    (tmp_path / name).write_bytes(content.encode())
    features = read_shape_features(tmp_path / name)
    assert features == ShapeFeatures(
        names=("slenderness", "snout angle", "head"),
        formulas=("|4-11| / |13-7|", "angle(1-2, vertical)", "area(1, 2, 13, 12)"),
        source=str(tmp_path / name),
        lines=lines,
    )
    assert features.size_dependent == ("head",)
    assert features.orientation_dependent == ("snout angle",)
    assert features.landmarks == {1, 2, 4, 7, 11, 12, 13}


def test_a_file_goes_before_a_set_that_ships(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_shape_features("cichlids").source == str(SHIPPED_FEATURES["cichlids"])
    Path("cichlids").write_text("one = |1-2|")
    assert read_shape_features("cichlids").names == ("one",)


# --- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(("formula", "place", "problem"), BROKEN_FORMULAS)
def test_errors_show_the_position_in_a_formula(tmp_path, monkeypatch, formula, place, problem):
    monkeypatch.chdir(tmp_path)
    Path("f.txt").write_text(f"fine = |1-2|\n\nbad = {formula}\n")
    with error(
        f"Feature 'bad' (line 3 of f.txt) cannot be read {place}: {problem}. Its formula is "
        f"{formula.strip()!r}."
    ):
        read_shape_features("f.txt")


@pytest.mark.parametrize(("name", "content", "message"), BAD_FEATURE_FILES)
def test_bad_files(tmp_path, monkeypatch, name, content, message):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(content)
    with error(message):
        read_shape_features(name)


def test_a_file_that_is_not_there_leads_to_the_sets_that_ship(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with error(
        "There is no file salmon; check its name and folder. Built-in features: 'cichlids'."
    ):
        read_shape_features("salmon")


def test_too_long_formulas_raise_before_the_recursion_limit():
    for formula in ("(" * 5000 + "|1-2|" + ")" * 5000, "+".join(["|1-2|"] * 5000)):
        with pytest.raises(InputError, match="the formula is longer than 300 tokens"):
            shape_features({"long": formula})
    deep = "(" * 147 + "|1-2|" + ")" * 147
    assert shape_features({"deep": deep}).measure(POINTS[None]) == 4


@settings(deadline=None, max_examples=200)
@given(st.text("|-12 ()angle,reavticl*/+.=#\n'\"", max_size=30))
def test_any_text_is_a_formula_or_raises(text):
    try:
        features = shape_features({"any": text})
    except InputError:
        return
    assert features.landmarks


@pytest.mark.parametrize(("formulas", "points", "message"), UNMEASURABLE)
def test_errors_name_the_specimen_that_cannot_be_measured(formulas, points, message):
    with error(message):
        shape_features(formulas).measure(points, ids=["fish 1"])


def test_the_first_failing_specimen_is_named():
    points = np.stack([POINTS, POINTS, POINTS])
    points[:, 5] = [4, 1]
    points[1, 5] = [4, 0]
    with pytest.raises(InputError, match="on specimen '2': it divides by"):
        shape_features({"a": "|1-3| / |2-6|"}).measure(points)
    points[2, 0] = np.nan
    with pytest.raises(InputError, match="needs landmark 1, which specimen '3' lacks"):
        shape_features({"a": "|1-3| / |2-6|"}).measure(points)
    # A landmark that no feature needs may be missing.
    assert np.isfinite(shape_features({"a": "|2-3|"}).measure(points)).all()
