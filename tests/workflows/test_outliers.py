"""Outlier detection, from one table to ranked rows, verdicts, reasons and a page."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova import InputError, RobustKernelOutlierFactor, TooFewRowsError, read_table
from kernova.report.page import LARGEST_PAGE
from kernova.workflows.detectors import detector_named, detector_names
from kernova.workflows.effort import explaining_effort
from kernova.workflows.outliers import find_outliers, read_rows
from kernova.workflows.outliers_page import outliers_figures, outliers_page
from kernova.workflows.settings import OutlierSettings
from kernova.workflows.verdicts import judge_rows
from tests.workflows.messages import (
    BAD_OUTLIER_SETTINGS,
    DUPLICATES_FOR_LOF,
    FEW_EXPLAINED,
    MANY_OUTLIERS,
    NO_OUTLIERS_POSSIBLE,
    OUTLIERS_BY_CONTAMINATION,
    RANKED_ONLY,
    TOO_FEW_ROWS,
)

METHODS = detector_names("outliers")


def fish(n_rows=200, columns=4, seed=0):
    """Rows of one cluster; the first three are odd, each in one column of its own."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(rng.normal(50, 1, (n_rows, columns)), columns=list("abcdefgh")[:columns])
    for place, name in enumerate("abc"):
        rows.loc[place, name] += 25 + place
    rows.insert(0, "fish", [f"{10**17 + 7 * i}" for i in range(n_rows)])
    return rows


def table(tmp_path, rows=None, **roles):
    path = tmp_path / "fish.csv"
    (fish() if rows is None else rows).to_csv(path, index=False)
    return read_rows(path, id_column="fish", **roles)


# A forest that has seen no value beyond the others does not know how far one is.
@pytest.mark.parametrize(
    ("method", "max_false_alarm"),
    [
        *((method, None) for method in METHODS),
        *((method, 0.1) for method in METHODS if method != "isolation-forest"),
    ],
)
def test_every_method_finds_the_outliers_and_their_columns(tmp_path, method, max_false_alarm):
    own = {"bandwidth": "median"} if method == "depth" else {}
    asked = OutlierSettings(method=method, max_false_alarm=max_false_alarm, top=3, **own)
    result = find_outliers(table(tmp_path), asked)
    assert sorted(result.rows.index[:3]) == [0, 1, 2]
    assert result.has_rule == (max_false_alarm is not None)
    for place, name in enumerate("abc"):
        row = result.rows.loc[place]
        assert row["fish"] == f"{10**17 + 7 * place}"
        assert row["because"].startswith(f"{name} = ")
        # Trees that cut one column at a time spread what they find over several.
        least = 0.3 if method == "isolation-forest" else 0.7
        assert result.contributing_features(place).iloc[0]["share"] > least
        main = result.main_features(place)
        assert main["share"].min() >= 0.1 * main["share"].max()
        assert len(main) == row["because"].count("(usually ")
        lines = result.explanation[result.explanation["row"] == place]
        nearest = result.table.ids.iloc[list(lines["nearest"].iloc[0])]
        assert result.nearest_ids(place) == nearest.tolist()
        assert len(nearest) == 5
    assert (result.rows["because"].iloc[3:] == "").all()
    assert np.isfinite(result.rows["factor"]).all()
    assert result.rows["rank"].is_monotonic_increasing
    if max_false_alarm is None:
        assert (result.n_outliers, result.thresholds) == (None, ())
        assert "verdict" not in result.rows
        assert (result.rows["factor"].diff().dropna() <= 0).all()
        return
    # Outliers stand before all others, and ranks never fall.
    verdicts = (result.rows["verdict"] == "outlier").to_numpy()
    assert result.n_outliers == verdicts.sum() < 40
    assert verdicts[:3].all()
    assert verdicts[: result.n_outliers].all()
    for group in (verdicts, ~verdicts):
        assert (result.rows["factor"][group].diff().dropna() <= 0).all()
    relative = result.relative_factors[result.rows.index]
    assert relative[verdicts].min() >= 1 >= relative[~verdicts].max()


def test_factors_are_the_estimators_own_on_scaled_columns(tmp_path):
    rows = fish().drop(columns="fish")
    result = find_outliers(
        table(tmp_path), OutlierSettings(method="rkof", n_neighbors=(5, 30), top=0)
    )
    scaled = (rows - rows.min()) / (rows.max() - rows.min())
    expected = RobustKernelOutlierFactor([5, 30]).fit(scaled.to_numpy())
    factors = result.rows.sort_index()["factor"]
    np.testing.assert_allclose(factors, -expected.negative_outlier_factor_, rtol=1e-9)
    assert (result.summary, result.worth) == RANKED_ONLY
    assert result.to_json_dict()["outlier_rows"] is None


def test_a_contamination_sets_the_fraction(tmp_path):
    result = find_outliers(table(tmp_path), OutlierSettings(contamination=0.05, top=0))
    assert result.n_outliers == 10
    assert result.worth == OUTLIERS_BY_CONTAMINATION
    assert result.rows["factor"].iloc[9] > result.thresholds[0] >= result.rows["factor"].iloc[10]


def test_many_outliers_get_a_note(tmp_path):
    data = table(tmp_path)
    assert find_outliers(data, OutlierSettings(contamination=0.2, top=0)).notes == [MANY_OUTLIERS]
    assert find_outliers(data, OutlierSettings(contamination=0.1, top=0)).notes == []


def test_each_half_is_judged_by_a_detector_that_saw_only_the_other(tmp_path):
    features = table(tmp_path).features
    verdicts = judge_rows(features, OutlierSettings(method="rkof", max_false_alarm=0.1, seed=3))
    halves = [part.row_indices for part in verdicts.parts]
    np.testing.assert_array_equal(np.sort(np.concatenate(halves)), np.arange(200))
    for part, learnt in zip(verdicts.parts, reversed(halves), strict=True):
        encoder, detector = part.model
        other = features.iloc[learnt]
        np.testing.assert_allclose(encoder.scale_, np.ptp(other / 2**encoder.exponent_, axis=0))
        assert len(detector.negative_outlier_factor_) == len(other)
        again = part.model.score_samples(features.iloc[part.row_indices])
        np.testing.assert_array_equal(part.scores, again)
        # The p-value is the share of the rows of the half with as high a factor.
        for place, score in zip(part.row_indices, part.scores, strict=True):
            assert verdicts.p_values[place] == np.mean(part.scores <= score)


@settings(max_examples=40, deadline=None)
@given(
    n_rows=st.integers(40, 90),
    n_strange=st.integers(0, 20),
    share=st.floats(0.2, 0.6),
    copies=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_more_than_the_allowed_share_is_flagged_and_outliers_come_first(
    n_rows, n_strange, share, copies, seed
):
    rng = np.random.default_rng(seed)
    features = pd.DataFrame(rng.normal(size=(n_rows, 2)), columns=["a", "b"])
    features.iloc[:n_strange] += rng.normal(0, 30, size=(n_strange, 2))
    if copies:
        features = features.round()
    verdicts = judge_rows(features, OutlierSettings(max_false_alarm=share, seed=seed % 97))
    assert verdicts.is_outlier.mean() <= share
    assert verdicts.proof.bound <= share
    flagged, others = (verdicts.p_values[verdicts.is_outlier == one] for one in (True, False))
    assert flagged.max(initial=0) <= verdicts.proof.largest_p_value
    assert flagged.max(initial=0) <= others.min()
    assert (verdicts.p_values > 0).all()


@pytest.mark.soak
def test_the_bound_holds_as_often_as_it_says(long_bar):
    """Thresholds of both halves, on many rows drawn afresh: at most 1 in 20 tables fails."""
    n_tables = long_bar(400)
    n_broken = 0
    for seed in range(n_tables):
        rng = np.random.default_rng([11, seed])

        def draw(n, rng=rng):
            rows = rng.normal(size=(n, 2))
            rows[rng.uniform(size=n) < 0.05] *= 6
            return pd.DataFrame(rows, columns=["a", "b"])

        asked = OutlierSettings(method="rkof", max_false_alarm=0.1, n_neighbors=(5,), seed=seed)
        verdicts = judge_rows(draw(160), asked)
        fresh = draw(4000)
        rates = [
            np.mean(part.model.score_samples(fresh) <= part.threshold) for part in verdicts.parts
        ]
        n_broken += max(rates) > verdicts.proof.bound
    # 5 % of tables on average at most; three standard deviations of room for luck.
    assert n_broken <= n_tables * 0.05 + 3 * np.sqrt(n_tables * 0.05 * 0.95)


def test_many_outliers_make_the_threshold_stricter(tmp_path):
    plain = fish(400, seed=1)
    spoilt = plain.copy()
    spoilt.loc[:80, ["a", "b"]] += np.random.default_rng(0).normal(0, 40, size=(81, 2))
    asked = OutlierSettings(method="rkof", max_false_alarm=0.1, scaling="none", top=0)
    few, many = (find_outliers(table(tmp_path, rows), asked) for rows in (plain, spoilt))
    assert min(many.thresholds) > max(few.thresholds)
    ordinary = many.rows.sort_index().iloc[81:]
    assert (ordinary["verdict"] == "usual").all()


def test_warnings_of_estimators_become_notes(tmp_path):
    rows = fish(12).iloc[[0, *range(3, 12)]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = find_outliers(
            table(tmp_path, rows), OutlierSettings(method="rkof", n_neighbors=(20,))
        )
    assert result.notes == [
        "20 neighbours were asked for, but each row has 9 others; all are taken."
    ]
    piled = pd.concat([fish(40), *[fish(4).iloc[[3]]] * 60])
    piled["fish"] = range(len(piled))
    note, _ = find_outliers(
        table(tmp_path, piled),
        OutlierSettings(method="rkof", n_neighbors=(20,), max_false_alarm=0.3),
    ).notes
    assert note.startswith("In each half: ")
    assert "have 20 or more duplicates" in note
    (note,) = find_outliers(table(tmp_path, piled), OutlierSettings(method="lof")).notes
    assert note == DUPLICATES_FOR_LOF


def test_odd_tables(tmp_path):
    """Duplicates, constant columns, two rows, categories, gaps: a result without NaN."""
    rng = np.random.default_rng(0)
    kinds = {
        "two rows": (pd.DataFrame({"a": [1.0, 5.0]}), "refuse"),
        "one value": (pd.DataFrame({"a": [2.0] * 30, "b": ["x"] * 30}), "refuse"),
        "copies": (pd.DataFrame({"a": [1.0, 2.0] * 40, "b": [3.0] * 80}), "refuse"),
        "categories": (
            pd.DataFrame({"sex": ["f", "m"] * 20 + ["x"], "a": rng.normal(size=41)}), "refuse",
        ),
        "gaps": (pd.DataFrame({"a": [1.0, np.nan, 3.0, 4.0], "b": [1.0, 2.0, 3.0, 4.0]}), "fill"),
    }  # fmt: skip
    for name, (rows, missing) in kinds.items():
        rows.insert(0, "fish", [f"<{name}> {i}" for i in range(len(rows))])
        for method in METHODS:
            asked = OutlierSettings(method=method, missing=missing, top=5)
            result = find_outliers(table(tmp_path, rows, missing=missing), asked)
            assert np.isfinite(result.rows["factor"]).all(), (name, method)
            assert len(result.rows) == len(rows)
            assert name != "one value" or result.rows["rank"].eq(1).all()
        html = outliers_page(result)
        assert f"&lt;{name}&gt;" in html
        assert f"<{name}>" not in html
    assert len(result.explained) == 4


def test_rows_with_gaps_can_be_left_out(tmp_path):
    rows = fish(30)
    rows.loc[[3, 9], "a"] = np.nan
    result = find_outliers(table(tmp_path, rows, missing="drop"), OutlierSettings(missing="drop"))
    assert len(result.rows) == 28
    assert result.notes[0].endswith("fish.csv have missing values and were left out.")
    first = result.rows.loc[0]
    assert first["fish"] == str(10**17)


def test_with_very_many_columns_fewer_rows_are_explained_with_a_note(tmp_path):
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).normal(size=(30, 1500)))
    result = find_outliers(read_table(tmp_path / "wide.npy"), OutlierSettings(top=20))
    assert len(result.explained) == 1
    assert result.explained == [result.rows.index[0]]
    assert result.notes[-1] == FEW_EXPLAINED


@pytest.mark.parametrize(
    ("shape", "n_explained"), [((30_000, 75), 33), ((30_000, 2000), 1), ((200, 4), 50)]
)
def test_explaining_takes_no_longer_than_the_judging(shape, n_explained):
    rows, columns = shape
    effort = explaining_effort(detector_named("rkof", "outliers"), 50, columns, rows, rows)
    assert effort.n_rows == n_explained
    n_hypothetical = effort.n_nearest * min(2 * columns, 2**columns) * effort.n_rows
    assert n_hypothetical <= max(rows / 2, 5000)


def test_the_same_seed_gives_the_same_answer(tmp_path):
    data = table(tmp_path)
    first, second, other = (
        find_outliers(data, OutlierSettings(max_false_alarm=0.1, seed=seed, top=3))
        for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first.rows, second.rows)
    assert not first.rows["factor"].sort_index().equals(other.rows["factor"].sort_index())


def test_the_page_holds_the_answer_the_cards_and_the_pictures(tmp_path):
    rows = fish(300).assign(kind="carp")
    data = table(tmp_path, rows, label_column="kind")
    result = find_outliers(
        data, OutlierSettings(method="rkof", max_false_alarm=0.1, top=4, n_neighbors=(5, 20))
    )
    html = outliers_page(result)
    assert len(html.encode()) < LARGEST_PAGE
    assert result.proof.sentence().replace("<", "&lt;") in html
    assert html.count("<article") == 4
    assert html.count("<img ") == 3
    assert f"<h3>{result.rows['rank'].iloc[0]}. {result.ids.iloc[0]}</h3>" in html
    assert "http" not in html.replace("http-equiv", "")
    assert set(outliers_figures(result)) == {"ranking", "map", "stability"}
    alone = find_outliers(data, OutlierSettings(top=0))
    assert set(outliers_figures(alone)) == {"ranking", "map"}
    with_path = find_outliers(data, OutlierSettings(method="rkof", top=0, path=(5, 10)))
    assert "stability" in outliers_figures(with_path)


@pytest.mark.parametrize("message", BAD_OUTLIER_SETTINGS)
def test_bad_settings(tmp_path, message):
    with pytest.raises(InputError) as caught:
        find_outliers(table(tmp_path), OutlierSettings(**BAD_OUTLIER_SETTINGS[message]))
    assert str(caught.value) == message


def test_too_few_rows_for_the_bound(tmp_path):
    data = table(tmp_path, fish(101))
    with pytest.raises(TooFewRowsError) as caught:
        find_outliers(data, OutlierSettings(max_false_alarm=0.05))
    assert str(caught.value) == TOO_FEW_ROWS
    barely = find_outliers(data, OutlierSettings(max_false_alarm=0.0712, top=0))
    assert (barely.summary, *barely.notes) == NO_OUTLIERS_POSSIBLE
