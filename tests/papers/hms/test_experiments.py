"""Data sets of the HMS paper, and simulated questions on them."""

import re

import numpy as np
import pandas as pd
import pytest

from kernova.discover.strategies import DEFAULT_STRATEGY, STRATEGIES
from kernova.errors import InputError
from kernova.papers.hms.experiments import (
    CI,
    METHODS,
    NNDM,
    OURS,
    SET_NAMES,
    discovery_sets,
    middle_questions,
    questions_until,
    rows_of_every_class,
    summary_of,
    thinned_rows,
)
from tests.papers import messages

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
    table = pd.read_parquet(data_folder / "optdigits.parquet")
    known = {(*row[:-1],): str(row[-1]) for row in table.to_numpy()}
    one = two_draws[0]["optdigits"]
    drawn = [(*row,) for row in one.X.astype(int)]
    assert [known[row] for row in drawn] == one.labels.tolist()
    assert len(set(drawn)) == len(drawn)  # no digit stands twice in the file


def test_the_order_of_rows_does_not_depend_on_their_class():
    labels = np.repeat(["a", "b"], 500)
    rows = thinned_rows(labels, (200, 200), np.random.default_rng(3))
    positions = np.flatnonzero(labels[rows] == "a")
    assert abs(positions.mean() - 199.5) < 30  # 4 standard errors of the mean position


def test_a_random_draw_holds_every_class():
    labels = np.array(["common"] * 500 + ["rare"])
    for seed in range(5):
        rows = rows_of_every_class(labels, 20, np.random.default_rng(seed))
        assert 500 in rows
        assert len(set(rows.tolist())) == 20


LABELS = np.array(["a", "b", "b"])
REJECTED = {
    "no folder": (
        messages.NO_FOLDER.format(folder="{0}/x", content="data sets"),
        lambda folder, rng: discovery_sets(folder / "x", 0),
    ),
    "no file": (
        messages.NO_FILE.format(file="yeast.parquet", folder="{0}"),
        lambda folder, rng: discovery_sets(folder, 0, ["yeast"]),
    ),
    "unknown set": (
        messages.NO_DATA_SET.format(name="iris", known=", ".join(SET_NAMES)),
        lambda folder, rng: discovery_sets(folder, 0, ["iris"]),
    ),
    "other classes": (
        messages.OTHER_CLASSES,
        lambda folder, rng: thinned_rows(LABELS, (1, 1, 1), rng),
    ),
    "too few rows of a class": (
        messages.FEW_ROWS_OF_CLASS,
        lambda folder, rng: thinned_rows(np.array(["a", "a"]), (3,), rng),
    ),
    "too few rows": (
        messages.FEW_ROWS,
        lambda folder, rng: rows_of_every_class(LABELS, 1, rng),
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_impossible_draws_are_rejected(case, tmp_path):
    sentence, draw = REJECTED[case]
    with pytest.raises(InputError, match=f"^{re.escape(sentence.format(tmp_path))}$"):
        draw(tmp_path, np.random.default_rng(0))


# --- simulated questions --------------------------------------------------------------------------


def test_summary_takes_medians_and_an_endless_run_is_longer_than_any():
    runs = pd.DataFrame(
        {
            "set": "a",
            "method": [CI] * 3 + [NNDM] * 3,
            "questions": [5, 9, np.inf, 4, np.inf, np.inf],
            "area": [0.9, 0.8, 0.1, 0.5, 0.4, 0.3],
        }
    )
    summary = summary_of(runs).set_index("method")
    assert summary.loc[CI].tolist() == ["a", 9, 5, np.inf, 0.8]
    assert middle_questions(summary_of(runs)).loc["a", NNDM] == np.inf
    curves = [np.array([1, 2, 2]), np.array([1, 1, 1]), np.array([2])]
    assert questions_until(curves, 2) == 2
    assert questions_until(curves, 3) == np.inf


def test_every_strategy_is_among_the_methods_and_the_default_and_our_others_come_first():
    assert set(STRATEGIES) < set(METHODS)
    assert METHODS[: len(OURS)] == OURS
    assert METHODS[0] == DEFAULT_STRATEGY
    assert len(set(METHODS)) == len(METHODS)
