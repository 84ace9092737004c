"""From a model and a new table to classes, and an honest "unknown"."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from kernova import InputError, ModelFileError, SpatialDepth, load_model, save_model
from kernova.tables.table import Table
from kernova.workflows.learn import learn_classes
from kernova.workflows.recognize import load_recognizer, read_new, recognize_rows
from kernova.workflows.recognize_page import recognition_figures, recognition_page
from kernova.workflows.settings import LearnSettings, RecognizeSettings
from tests.workflows.messages import (
    ABSENT_CLASSES,
    CONFUSION,
    OTHER_COLUMNS,
    OTHER_MODEL,
    RECOGNIZED,
)
from tests.workflows.tables import two_kinds

FOREIGN = 4


def as_table(frame, label="kind", source="rows.csv"):
    labels = frame.get(label)
    features = frame.drop(columns=[label], errors="ignore").reset_index(drop=True)
    ids = pd.Series([f"r{i}" for i in range(len(frame))], name="id")
    labels = None if labels is None else labels.reset_index(drop=True)
    return Table(features, ids, labels, source, columns=tuple(frame.columns))


@pytest.fixture(scope="module")
def digits():
    """Nine digits are learnt from half of their images; the rest and all fours are new."""
    X, y = load_digits(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    frame["digit"] = y
    is_learnt = (np.random.default_rng(0).random(len(y)) < 0.5) & (y != FOREIGN)
    model = learn_classes(
        as_table(frame[is_learnt], "digit", "learnt.csv"), LearnSettings(scale="common")
    ).model
    return recognize_rows(model, as_table(frame[~is_learnt], "digit"), RecognizeSettings(top=2))


def test_foreign_digits_are_unknown_and_known_ones_are_not(digits):
    confusion = digits.confusion
    assert confusion.foreign == (str(FOREIGN),)
    assert confusion.n_foreign_right / confusion.n_foreign > 0.95
    assert 0.92 < 1 - confusion.n_called_unknown / confusion.n_known < 0.98
    assert confusion.n_right / confusion.n_known > 0.9
    assert digits.n_unknown == confusion.n_called_unknown + confusion.n_foreign_right


def test_every_row_is_judged_by_the_description(digits):
    rows, model = digits.rows, digits.model
    features = digits.new.features
    assert rows["id"].tolist() == digits.new.ids.tolist()
    assert rows["recognized"].tolist() == model.recognize(features).tolist()
    assert rows["ambiguous"].tolist() == model.ambiguous(features).tolist()
    every = rows[[f"membership_{name}" for name in model.classes_]].to_numpy()
    np.testing.assert_array_equal(every, model.membership(features))
    np.testing.assert_array_equal(rows["membership"], every.max(axis=1))
    assert digits.by_class["rows"].sum() == len(rows)


def test_nearest_rows_are_the_nearest(digits):
    model = digits.model
    known, new = model.scaled(model.known_table), model.scaled(digits.new.features)
    for place in range(0, len(new), 50):
        order = np.argsort(((known - new[place]) ** 2).sum(axis=1), kind="stable")[:3]
        assert digits.rows["nearest"][place] == ", ".join(model.ids_[order])


def test_unknown_rows_that_lie_together_are_mostly_the_foreign_class(digits):
    groups = digits.groups
    assert groups["rows"].is_monotonic_decreasing
    assert groups["rows"].min() >= 3
    label = digits.new.labels.astype(str)
    is_grouped = (digits.rows["group"] > 0).to_numpy()
    assert digits.is_unknown[is_grouped].all()
    assert (label[is_grouped] == str(FOREIGN)).mean() > 0.9
    assert is_grouped.sum() > 0.7 * digits.n_unknown
    first = digits.rows["group"] == 1
    assert groups["labels"][0].startswith(f"{FOREIGN} ({(label[first] == str(FOREIGN)).sum()})")


def test_reasons_are_given_for_the_first_unknown_rows(digits):
    first = digits.least_known_first
    assert (first["because"].head(2) != "").all()
    assert (first["because"].iloc[2:] == "").all()
    assert first["recognized"].head(digits.n_unknown).eq("unknown").all()
    assert first["membership"].head(digits.n_unknown).is_monotonic_increasing


def test_the_page_shows_it_all(digits):
    html = recognition_page(digits)
    for title in ("The answer", "Do verdicts agree with the labels?", "Where they lie",
                  "Unknown rows", "Ambiguous rows", "How it was decided"):  # fmt: skip
        assert f"{title}</h2>" in html
    assert html.count("<img ") == 2
    assert digits.least_known_first.iloc[0, 0] in html
    assert ABSENT_CLASSES in html
    map_of_rows = recognition_figures(digits)["map"].axes[0]
    words = [text.get_text() for text in map_of_rows.get_legend().get_texts()]
    assert words[-1] == f"unknown: {digits.n_unknown}"


@pytest.fixture(scope="module")
def model():
    return learn_classes(as_table(two_kinds(), source="learnt.csv")).model


def test_agreement_with_labels(model):
    new = two_kinds(8, seed=1)
    new.loc[0, "a"] = 1000.0
    new.loc[0, "kind"], new.loc[1, "kind"] = "eel", None
    result = recognize_rows(model, as_table(new))
    assert result.confusion.counts.loc["eel", "unknown"] == 1
    assert result.confusion.sentences == CONFUSION
    assert result.summary == RECOGNIZED
    assert result.rows["because"][0].startswith("a = 1000 (pike: ")


def test_rows_without_any_label_have_no_confusion(model):
    result = recognize_rows(model, as_table(two_kinds(8).drop(columns="kind")))
    assert result.confusion is None
    assert "labels?</h2>" not in recognition_page(result)
    nothing = recognize_rows(model, as_table(two_kinds(8).assign(kind=None)))
    assert nothing.confusion.sentences == ["Rows without a label, counted in neither: 8."]
    assert "labels?</h2>" not in recognition_page(nothing)


def test_duplicates_across_classes_are_ambiguous():
    frame = two_kinds()
    both = pd.concat([frame, frame[frame["kind"] == "pike"].assign(kind="zander")])
    learnt = learn_classes(as_table(both)).model
    result = recognize_rows(learnt, as_table(frame))
    is_pike = (frame["kind"] == "pike").to_numpy()
    assert result.rows["ambiguous"].to_numpy()[is_pike].all()
    assert not result.rows["ambiguous"].to_numpy()[~is_pike].any()
    assert "pike (0.9" in recognition_page(result)
    assert "zander (0.9" in recognition_page(result)


def test_columns_in_another_order_are_the_same_rows(model):
    frame = two_kinds(10, seed=3)
    turned = frame[["kind", "c", "a", "b"]]
    pd.testing.assert_frame_equal(
        recognize_rows(model, as_table(turned)).rows, recognize_rows(model, as_table(frame)).rows
    )


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda frame: frame.drop(columns="b"), "missing 'b'"),
        (lambda frame: frame.assign(d=1.0), "extra 'd'"),
        (lambda frame: frame.rename(columns={"b": "B"}), "missing 'b'; extra 'B'"),
    ],
)
def test_other_columns_are_rejected(model, change, found):
    with pytest.raises(InputError) as caught:
        recognize_rows(model, as_table(change(two_kinds(5))))
    assert str(caught.value) == OTHER_COLUMNS.format(found)


def test_missing_values_are_treated_as_in_training_by_default(tmp_path):
    frame = two_kinds()
    path = tmp_path / "new.csv"
    new = frame.drop(columns="kind").head(6)
    new.loc[2, "a"] = np.nan
    new.to_csv(path, index=False)
    filling = learn_classes(as_table(frame), LearnSettings(missing="fill")).model
    rejecting = learn_classes(as_table(frame)).model
    assert len(recognize_rows(filling, read_new(path, filling)).rows) == 6
    with pytest.raises(InputError, match=r"new\.csv has missing values, counted by column: 'a' 1"):
        read_new(path, rejecting)
    dropped = recognize_rows(rejecting, read_new(path, rejecting, missing="drop"))
    assert dropped.notes == [f"1 row of {path} has missing values and was left out."]
    filled = recognize_rows(rejecting, read_new(path, rejecting, missing="fill"))
    assert len(filled.rows) == 6


def test_extremes_are_judged_without_nan(model):
    new = two_kinds(6)
    new.loc[0, "a"], new.loc[1, "b"], new.loc[2, "c"] = 1e300, -1e300, 1e-300
    result = recognize_rows(model, as_table(new))
    assert result.rows["recognized"].tolist()[:2] == ["unknown", "unknown"]
    assert not result.rows.isna().any(axis=None)
    assert recognition_page(result)


def test_other_models_are_rejected(tmp_path):
    path = tmp_path / "depth.kernova"
    save_model(SpatialDepth().fit(np.eye(3)), path)
    with pytest.raises(ModelFileError) as caught:
        load_recognizer(path)
    assert str(caught.value) == OTHER_MODEL.format(path)
    assert isinstance(load_model(path), SpatialDepth)
