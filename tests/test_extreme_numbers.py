"""One table of extreme numbers over all estimators: a finite result, or one sentence.

Numbers reach from 5e-324 to 1.8e308; some rows are complex. No warning of an overflow may leak.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

from kernova import (
    InputError,
    KernelSpatialDepth,
    LocalDensityFactor,
    LocalPeculiarityFactor,
    RobustKernelOutlierFactor,
    SpatialDepth,
    TableEncoder,
    read_table,
)
from tests.test_estimator_contract import ESTIMATORS

LARGEST = float(np.finfo(np.float64).max)
ORDINARY = np.random.default_rng(0).normal(size=(40, 3))
IS_EVEN = np.arange(40)[:, np.newaxis] % 2 == 0


def with_cell(value, row=7):
    rows = ORDINARY.copy()
    rows[row, 1] = value
    return rows


TABLES = {
    "one cell of 1e200": with_cell(1e200),
    "the largest number": with_cell(LARGEST),
    "the smallest number": with_cell(-LARGEST),
    "both in one table": np.where(np.arange(40)[:, None] == 3, LARGEST, with_cell(-LARGEST)),
    "1e308 of both signs": np.where(ORDINARY > 0, 1e308, -1e308),
    "normal around 3e307": 3e307 * ORDINARY,
    "around 1e-308": 1e-308 * ORDINARY,
    "denormal": 5e-324 * np.round(3 * ORDINARY),
    "constant 1e308": np.full((40, 3), 1e308),
    "constant 5e-324": np.full((40, 3), 5e-324),
    "a constant column": np.c_[ORDINARY[:, :2], np.full(40, LARGEST)],
    "1e308 and 1": np.where(ORDINARY > 0, 1e308, 1.0),
    "1e308 and 1e-308": np.where(ORDINARY > 0, 1e308, 1e-308),
    "two points": np.where(IS_EVEN, LARGEST, -LARGEST) * np.ones((40, 3)),
    "ordinary": ORDINARY,
}
QUERIES = np.r_[ORDINARY[:3], [[LARGEST] * 3, [-LARGEST, 0, 0], [1e-308] * 3, [5e-324, 0, 1e308]]]
METHODS = (
    "score_samples", "decision_function", "predict", "transform", "membership", "recognize",
    "p_values",
)  # fmt: skip
LABELS = np.where(IS_EVEN[:, 0], "a", "b")


def fitted(estimator, rows):
    model = clone(estimator)
    return model.fit(rows, LABELS) if is_classifier(model) else model.fit(rows)


def check_one_sentence(error):
    # The first line: scikit-learn adds advice on missing values in further ones.
    first = str(error).splitlines()[0]
    assert len(first) < 250
    assert not isinstance(error, np.linalg.LinAlgError)


def check_finite(values):
    values = np.asarray(values)
    assert values.dtype.kind not in "fc" or np.isfinite(values).all()


def check_answers(estimator, rows):
    """Fit and use an estimator: all it returns and stores is finite, or it raises a sentence."""
    try:
        model = fitted(estimator, rows)
    except ValueError as error:
        check_one_sentence(error)
        return
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, (float, np.ndarray)):
            check_finite(value)
    for name in METHODS:
        for queries in (rows, QUERIES):
            try:
                answer = getattr(model, name, lambda X: 0.0)(queries)
            except ValueError as error:
                check_one_sentence(error)
            else:
                check_finite(answer)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_extreme_numbers(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        for rows in TABLES.values():
            check_answers(estimator, rows)


MIXED = pd.DataFrame(ORDINARY, columns=list("abc"))
OBJECTS = MIXED.astype(object)
OBJECTS.iloc[3, 1] = 1 + 2j
COMPLEX = {
    "array": ORDINARY + 1j,
    "frame": pd.DataFrame(ORDINARY + 1j, columns=list("abc")),
    "one column": MIXED.assign(b=ORDINARY[:, 0] + 1j),
    "object frame": OBJECTS,
    "object array": OBJECTS.to_numpy(),
}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_complex_numbers_are_refused_in_one_sentence(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        known = {kind: fitted(estimator, rows) for kind, rows in (("A", ORDINARY), ("F", MIXED))}
    for rows in COMPLEX.values():
        model = known["F" if isinstance(rows, pd.DataFrame) else "A"]
        used = [getattr(model, name) for name in METHODS if hasattr(model, name)]
        for refuse in (lambda rows: fitted(estimator, rows), *used[:1]):
            with pytest.raises(InputError, match=r"omplex|holds \(1\+2j\)") as caught:
                refuse(rows)
            assert "\n" not in str(caught.value)


DETECTORS = {
    "rkof": (RobustKernelOutlierFactor(), "negative_outlier_factor_", 0.0),
    "rkof by products": (
        RobustKernelOutlierFactor(algorithm="brute"), "negative_outlier_factor_", 0.0,
    ),
    "ldf": (LocalDensityFactor(), "negative_outlier_factor_", 0.0),
    "lpf": (LocalPeculiarityFactor(), "negative_outlier_factor_", 0.0),
    # A further row turns the mean of n unit vectors by 1/n.
    "spatial depth": (SpatialDepth(), "training_depths_", 2 / 150),
    "depth": (KernelSpatialDepth(), "training_depths_", 2 / 150),
    "depth, median": (KernelSpatialDepth(bandwidth="median"), "training_depths_", 2 / 150),
}  # fmt: skip


@pytest.mark.parametrize("value", [1e20, 1e120, 1e200, 1e300, LARGEST, -LARGEST])
@pytest.mark.parametrize("name", DETECTORS)
def test_other_rows_keep_their_scores_beside_a_far_one(name, value):
    detector, attribute, tolerance = DETECTORS[name]
    rows = np.random.default_rng(1).normal(size=(150, 3))
    rows[:5] += 6
    far = np.vstack([rows, [0.0, value, 0.0]])
    alone = getattr(clone(detector).fit(rows), attribute)
    beside = getattr(clone(detector).fit(far), attribute)
    assert np.isfinite(beside).all()
    assert beside[-1] == beside.min()
    np.testing.assert_allclose(beside[:-1], alone, rtol=1e-9, atol=tolerance + 1e-12)


def test_the_encoder_scales_a_column_by_its_other_cells():
    for scaling in ("standard", "minmax"):
        alone = TableEncoder(scaling).fit_transform(np.delete(ORDINARY, 7, axis=0))
        beside = TableEncoder(scaling).fit_transform(with_cell(1e200))
        np.testing.assert_allclose(np.delete(beside, 7, axis=0)[:, 1], alone[:, 1])
        assert beside[7, 1] > 1e100


@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_kernels_without_a_bound_name_the_cell_that_hides_the_others(kernel):
    with pytest.raises(InputError) as caught:
        KernelSpatialDepth(kernel).fit(with_cell(1e200))
    assert str(caught.value) == (
        "Column x1 holds 1e+200 in row 8, more than 1e10 times as far from its other numbers as "
        "these are from each other, so that other rows would look alike. Correct it, or leave out "
        "the row."
    )


def test_tables_of_complex_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", ORDINARY + 1j)
    pd.DataFrame({"a": range(40), "b": ["1+2j", "(3-4j)"] * 20}).to_csv("b.csv", index=False)
    pd.DataFrame({"a": range(40), "b": ["1.5", "2"] * 19 + ["1+2j"] * 2}).to_csv(
        "c.csv", index=False
    )
    pd.DataFrame({"a": range(40), "b": ["1j", "2j"] * 20}).to_csv("floors.csv", index=False)
    messages = {
        "a.npy": "a.npy holds values of type complex128; save numbers.",
        "b.csv": "Column 'b' of b.csv holds complex numbers; give their real and imaginary parts "
        "as two columns.",
        "c.csv": "Column 'b' of c.csv is a column of numbers, but row 39 holds '1+2j'; correct it "
        "or drop the column.",
    }
    for name, message in messages.items():
        with pytest.raises(InputError) as caught:
            read_table(name)
        assert str(caught.value) == message
    assert list(read_table("floors.csv").features["b"].unique()) == [1.0, 2.0]  # of a unit j
