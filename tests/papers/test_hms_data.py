"""The six sets of the HMS paper: sizes, classes and draws as the protocol says."""

import re

import numpy as np
import pytest

from kernova.errors import InputError
from kernova.papers.hms.data import (
    SET_NAMES,
    discovery_sets,
    kept_back_sets,
    rows_of_every_class,
    thinned_rows,
)

SHAPES = {
    "abalone": (4177, 7, 20),
    "shuttle": (4000, 9, 7),
    "optdigits": (1040, 64, 10),
    "letter": (2128, 16, 26),
    "segment": (512, 19, 7),
    "yeast": (1484, 8, 10),
}
SIZES = {
    "optdigits": [512, 256, 128, 64, 32, 16, 8, 8, 8, 8],
    "letter": [512, 512, 256, 256, 128, 128, 64, 64, 32, 32, 16, 16] + [8] * 14,
    "segment": [256, 128, 64, 32, 16, 8, 8],
}


def class_sizes(labels):
    return dict(zip(*np.unique(labels, return_counts=True), strict=True))


@pytest.fixture(scope="module")
def two_draws(data_folder):
    return discovery_sets(data_folder, 0), discovery_sets(data_folder, 1)


@pytest.mark.parametrize("name", SET_NAMES)
def test_each_set_has_the_rows_and_classes_of_the_protocol(two_draws, name):
    for sets in two_draws:
        one = sets[name]
        assert (*one.X.shape, len(np.unique(one.labels))) == SHAPES[name]
        assert one.X.dtype == np.float64
        assert np.isfinite(one.X).all()
        assert len(one.labels) == len(one.X)
        if name in SIZES:
            assert sorted(class_sizes(one.labels).values(), reverse=True) == SIZES[name]


def test_rings_are_gathered_at_both_ends(two_draws):
    sizes = class_sizes(two_draws[0]["abalone"].labels)
    assert set(sizes) == {str(rings) for rings in range(3, 23)}
    assert (sizes["3"], sizes["9"], sizes["21"], sizes["22"]) == (17, 689, 14, 22)


def test_a_seed_decides_rows_and_which_class_is_rare(two_draws):
    first, second = two_draws
    for name in SET_NAMES:
        is_same = np.array_equal(first[name].X, second[name].X)
        assert is_same is not first[name].is_drawn
    assert class_sizes(first["letter"].labels) != class_sizes(second["letter"].labels)
    sizes = [class_sizes(sets["optdigits"].labels) for sets in two_draws]
    assert max(sizes[0], key=sizes[0].get) != max(sizes[1], key=sizes[1].get)


def test_a_seed_gives_the_same_rows_whichever_sets_are_asked_for(two_draws, data_folder):
    alone = discovery_sets(data_folder, 1, ["segment"])
    assert list(alone) == ["segment"]
    assert np.array_equal(alone["segment"].X, two_draws[1]["segment"].X)
    assert np.array_equal(alone["segment"].labels, two_draws[1]["segment"].labels)


def test_rows_are_rows_of_the_file_with_their_own_labels_and_none_twice(two_draws, data_folder):
    import pandas as pd

    table = pd.read_parquet(data_folder / "optdigits.parquet")
    known = {(*row[:-1],): str(row[-1]) for row in table.to_numpy()}
    one = two_draws[0]["optdigits"]
    drawn = [(*row,) for row in one.X.astype(int)]
    assert [known[row] for row in drawn] == one.labels.tolist()
    assert len(set(drawn)) == len(drawn)  # no digit stands twice in the file


def test_the_order_of_rows_does_not_tell_their_class():
    labels = np.repeat(["a", "b"], 500)
    rows = thinned_rows(labels, (200, 200), np.random.default_rng(3))
    places = np.flatnonzero(labels[rows] == "a")
    assert abs(places.mean() - 199.5) < 30  # 4 standard errors of the mean place


def test_a_random_draw_holds_every_class():
    labels = np.array(["common"] * 500 + ["rare"])
    for seed in range(5):
        rows = rows_of_every_class(labels, 20, np.random.default_rng(seed))
        assert 500 in rows
        assert len(set(rows.tolist())) == 20


def test_kept_back_sets_are_drawn_by_seed_and_have_rare_classes():
    first, again, other = kept_back_sets(0), kept_back_sets(0), kept_back_sets(1)
    for name, one in first.items():
        assert np.array_equal(one.X, again[name].X)
        assert not np.array_equal(one.X, other[name].X)
        assert np.isfinite(one.X).all()
        sizes = class_sizes(one.labels)
        assert len(sizes) >= 8
        assert min(sizes.values()) <= 10
        assert max(sizes.values()) >= 0.4 * len(one.X)


LABELS = np.array(["a", "b", "b"])
REFUSED = {
    "no folder": (
        "There is no folder {0}/x; name the one that holds the data sets.",
        lambda folder, rng: discovery_sets(folder / "x", 0),
    ),
    "no file": (
        "There is no yeast.parquet in {0}; put the set there, with its classes in a column "
        '"label".',
        lambda folder, rng: discovery_sets(folder, 0, ["yeast"]),
    ),
    "unknown set": (
        "There is no discovery set 'iris'; choose from abalone, shuttle, optdigits, letter, "
        "segment, yeast.",
        lambda folder, rng: discovery_sets(folder, 0, ["iris"]),
    ),
    "other classes": (
        "There are 3 sizes for 2 classes; take the set whole, as it was published.",
        lambda folder, rng: thinned_rows(LABELS, (1, 1, 1), rng),
    ),
    "too few rows of a class": (
        "Class 'a' has 2 rows, but 3 are to be drawn; take the set whole, as it was published.",
        lambda folder, rng: thinned_rows(np.array(["a", "a"]), (3,), rng),
    ),
    "too few rows": (
        "1 random rows of 3 do not hold all 2 classes; take the set whole, as it was published.",
        lambda folder, rng: rows_of_every_class(LABELS, 1, rng),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_drawn_is_refused(case, tmp_path):
    sentence, draw = REFUSED[case]
    with pytest.raises(InputError, match=f"^{re.escape(sentence.format(tmp_path))}$"):
        draw(tmp_path, np.random.default_rng(0))
