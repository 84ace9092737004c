"""Far cells: found beside any rest that does not reach them, and not in heavy tails."""

import numpy as np
import pandas as pd
import pytest

from kernova.tables.fill_values import (
    CoreRange,
    FarCellFilter,
    core_range,
    drawn_in,
    far_cell_notes,
    far_cells,
    single_rows,
    with_moved_cells,
    without_far_cells,
)
from kernova.tables.table import Table

EVERYTHING = CoreRange(-np.inf, np.inf)
LARGEST = float(np.finfo(np.float64).max)
SENTINELS = (-999.0, -9999.0, 999999.0, 2147483647.0, 1e20, 9.97e36, 1e200, LARGEST, -LARGEST)
COLUMNS = {
    "lengths": lambda random: random.normal(10, 2, 200),
    "fractions": lambda random: random.uniform(size=200),
    "waiting times": lambda random: random.exponential(size=200),
    "mostly zero": lambda random: np.r_[np.zeros(300), random.uniform(1, 9, 100)],
}
HEAVY_TAILS = {
    "Cauchy": lambda random: random.standard_cauchy(1000),
    "Pareto, 0.7": lambda random: random.pareto(0.7, 1000),
    "log-normal incomes": lambda random: np.exp(random.normal(10, 1, 1000)),
    "log-normal amounts": lambda random: np.round(np.exp(random.normal(3, 3, 1000)), 2),
    "mostly zero": lambda random: random.pareto(1, 1000) * (random.uniform(size=1000) < 0.1),
    "counts": lambda random: random.negative_binomial(1, 0.01, 1000).astype(float),
    "two clusters": lambda random: np.r_[random.normal(0, 0.01, 60), random.normal(90, 1, 40)],
    "two codes": lambda random: random.choice([0.0, 1.0, 1000.0], 1000, p=[0.9, 0.08, 0.02]),
}


@pytest.mark.parametrize("value", SENTINELS)
@pytest.mark.parametrize("name", COLUMNS)
def test_one_far_cell_is_found_and_nothing_else(name, value):
    rest = COLUMNS[name](np.random.default_rng(0))
    low, high = core_range(np.append(rest, value))
    assert not low <= value <= high
    assert (rest >= low).all()
    assert (rest <= high).all()


@pytest.mark.parametrize("n_cells", [3, 30, 90])
@pytest.mark.parametrize("value", SENTINELS)
def test_repeated_fill_values_are_found(value, n_cells):
    rest = np.random.default_rng(0).normal(10, 2, 100)
    low, high = core_range(np.r_[rest, np.full(n_cells, value)])
    assert not low <= value <= high
    assert ((rest >= low) & (rest <= high)).all()


def test_several_fill_values_do_not_hide_each_other():
    rest = np.random.default_rng(0).normal(10, 2, 100)
    column = np.r_[rest, [-LARGEST, LARGEST, 1.1e200, np.nan]]
    assert core_range(column) == CoreRange(rest.min(), rest.max())
    assert core_range(np.r_[rest, [-999.0] * 9, [-9999.0] * 9]) == CoreRange(rest.min(), np.inf)


@pytest.mark.parametrize("name", HEAVY_TAILS)
def test_heavy_tails_have_no_far_cells(name):
    random = np.random.default_rng(0)
    found = sum(core_range(HEAVY_TAILS[name](random)) != EVERYTHING for _ in range(200))
    assert found <= 1


@pytest.mark.parametrize(
    "column",
    [[], [np.nan], [1.0], [1.0, 1e300], [0.0] * 50 + [1e300], [1e308] * 9, [1e308, 1.0] * 9],
    ids=str,
)
def test_columns_without_a_tail_have_no_far_cells(column):
    assert core_range(np.array(column)) == EVERYTHING


@pytest.mark.parametrize(
    "name", ["kdd_u2r", "shuttle", "mammography", "abalone", "ann_thyroid", "yeast", "letter"]
)
def test_real_tables_have_no_far_cells(data_folder, name):
    path = data_folder / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"no table at {path}")
    assert far_cells(pd.read_parquet(path)) == []


def fish(n=100):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(10, 2, (n, 2)), columns=["mass", "length"])
    frame["sex"] = "f"
    frame.loc[7, "mass"] = 1e200
    frame.loc[20:29, "length"] = -999
    return frame


def test_codes_and_single_cells_are_told_apart():
    mass, length = far_cells(fish())
    assert (mass.column, mass.rows.tolist(), len(mass.codes)) == ("mass", [7], 0)
    assert (length.codes.tolist(), length.rows.tolist()) == ([-999], list(range(20, 30)))
    assert single_rows([mass, length]).tolist() == [7]


def test_far_cells_are_moved_to_the_edge_of_the_others():
    frame = fish()
    moved = with_moved_cells(frame, far_cells(frame))
    assert moved.loc[7, "mass"] == frame["mass"].drop(7).max()
    assert (moved.loc[20:29, "length"] == frame["length"].drop(range(20, 30)).min()).all()
    rest = frame.drop([7, *range(20, 30)])
    pd.testing.assert_frame_equal(moved.loc[rest.index], rest)
    assert with_moved_cells(rest, far_cells(rest)) is rest


def test_whole_numbers_and_missing_ones():
    frame = pd.DataFrame({"age": pd.array([30, 40, 35, None] * 9 + [2**31 - 1], "Int64")})
    (age,) = far_cells(frame)
    assert age.rows.tolist() == [36]
    assert with_moved_cells(frame, [age])["age"].max() == 40


def test_the_filter_moves_what_is_learnt_from_and_codes_of_new_rows_only():
    frame = fish()
    step = FarCellFilter()
    learnt = step.fit_transform(frame)
    assert learnt["mass"].max() < 20
    new = step.transform(frame)
    assert 1e6 < new.loc[7, "mass"] < 1e9
    assert new["length"].min() > 0
    ordinary = frame.drop([7, *range(20, 30)])
    pd.testing.assert_frame_equal(step.transform(ordinary), ordinary)


def test_a_note_says_what_stands_where():
    frame = fish()
    ids = pd.Series([f"F{i}" for i in range(100)], name="id")
    table = Table(frame.rename(columns={"sex": "s"}), ids, None, "fish.csv")
    notes = far_cell_notes(table, far_cells(frame), "Single.", "Codes.")
    low, high = frame["mass"].drop(7).min(), frame["mass"].drop(7).max()
    assert notes[0] == (
        f"Column 'mass' of fish.csv holds 1e+200 in 1 row ('F7'), far beyond all its other values "
        f"({low:.4g} to {high:.4g}). Single. If this stands for a missing value, empty that cell "
        "and pass missing='fill' or missing='drop'; otherwise correct it or drop the column."
    )
    assert "holds -999 in 10 rows ('F20', 'F21', 'F22', and 7 more)" in notes[1]
    assert "Codes. If this stands for a missing value, empty these cells and pass" in notes[1]


def test_matrices_without_far_cells_are_returned_as_they_are():
    numbers = np.random.default_rng(0).normal(size=(50, 2))
    assert without_far_cells(numbers) is numbers
    assert drawn_in(numbers) is numbers
    numbers[3, 1] = -1e200
    assert np.isnan(without_far_cells(numbers)[3, 1])
    rest = np.delete(numbers[:, 1], 3)
    assert drawn_in(numbers)[3, 1] == pytest.approx(rest.min() - 10 * np.ptp(rest))
