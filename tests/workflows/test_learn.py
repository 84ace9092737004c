"""Learning of classes: every kind of label, and verdicts on rows left out."""

import numpy as np
import pandas as pd
import pytest

from kernova import InputError, MulticlassDataDescription, load_model, save_model
from kernova.description.hyperparameters import feature_scaling
from kernova.workflows.learn import label_texts, learn_classes, read_labelled
from kernova.workflows.settings import LearnSettings
from tests.workflows.messages import (
    BAD_LABELS,
    DUPLICATES_ACROSS_CLASSES,
    FEWER_ROWS,
    NO_LABELS,
    ONE_CLASS,
    ONE_CLASS_LEARNT,
)
from tests.workflows.tables import two_kinds


def learnt(frame, tmp_path, settings=None, **roles):
    path = tmp_path / "labelled.csv"
    frame.to_csv(path, index=False)
    return learn_classes(read_labelled(path, "kind", **roles), settings)


def left_out_by_brute_force(rows, labels, name, row, model):
    """q of a row under its class without it, in the model's own scale and width."""
    scaled = feature_scaling(rows, model.scale)(rows)
    others = scaled[(labels == name) & (np.arange(len(rows)) != row)]
    reach = model.length_scale_**2
    R = np.exp(-((others[:, None] - others[None]) ** 2).sum(-1) / reach)
    r = np.exp(-((others - scaled[row]) ** 2).sum(-1) / reach)
    return r @ np.linalg.solve(R + model.ridge_ * np.eye(len(R)), r)


def test_fractions_are_those_of_rows_really_left_out(tmp_path):
    frame = two_kinds(40, apart=2.0)
    result = learnt(frame, tmp_path)
    rows, labels = frame[["a", "b", "c"]].to_numpy(), frame["kind"].to_numpy()
    model = result.model.description_
    q = model.membership(rows)
    for row, name in enumerate(labels):
        own = list(model.classes_).index(name)
        q[row, own] = left_out_by_brute_force(rows, labels, name, row, model)
    np.testing.assert_allclose(result.model.left_out_, q, atol=1e-8)
    claims = q >= model.thresholds_ - 1e-9
    best = np.where(claims, q, -1).argmax(axis=1)
    verdicts = np.where(claims.any(axis=1), model.classes_[best], "unknown")
    for line in result.classes.itertuples():
        inside = labels == line[1]
        assert line.rows == inside.sum()
        assert line.recognized == pytest.approx((verdicts[inside] == line[1]).mean())
        assert line.unknown == pytest.approx((verdicts[inside] == "unknown").mean())
    confused = {
        name: dict(pd.Series(verdicts[(labels == name) & ~np.isin(verdicts, [name, "unknown"])])
                   .value_counts())
        for name in model.classes_
    }  # fmt: skip
    assert any(confused.values())  # else nothing was tried
    said = dict(zip(result.classes["class"], result.classes["confused_with"], strict=True))
    assert said == {
        name: ", ".join(f"{other} ({n})" for other, n in others.items())
        for name, others in confused.items()
    }


LABELS = {
    "texts": (["carp", "pike"], ["carp", "pike"]),
    "integers": ([2, 10], ["10", "2"]),
    "truth": ([False, True], ["False", "True"]),
    "fractions": ([0.5, 1.5], ["0.5", "1.5"]),
    "dates as text": (["2001-01-01", "2002-01-01"], ["2001-01-01", "2002-01-01"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_any_kind_of_label(kind, tmp_path):
    (first, second), names = LABELS[kind]
    frame = two_kinds()
    frame["kind"] = np.where(frame["kind"] == "pike", second, first)
    result = learnt(frame, tmp_path)
    assert result.model.classes_.tolist() == names
    assert result.notes == []


def test_rows_without_a_label_are_left_out_and_counted(tmp_path):
    frame = two_kinds()
    frame["kind"] = np.where(frame["kind"] == "pike", 1.0, 2.0)
    frame.loc[[0, 7], "kind"] = np.nan
    result = learnt(frame, tmp_path)
    assert result.model.classes_.tolist() == ["1", "2"]
    assert result.notes == [f"2 rows of {result.table.source} have no label and were left out."]
    assert "1" not in result.model.ids_  # the first row's number, as people count
    assert result.classes["rows"].sum() == 58


def test_labels_are_compared_as_texts():
    labels = pd.Series([3, 3.0, "3", " 3 ", True, None, np.nan, "", "  ", 2.5], dtype=object)
    assert label_texts(labels).tolist() == ["3"] * 4 + ["True"] + [None] * 4 + ["2.5"]


def test_notes_on_unusual_training_tables(tmp_path):
    frame = two_kinds()
    frame.loc[0, "kind"] = "eel"
    (note,) = learnt(frame, tmp_path).notes
    assert note.startswith("Nothing can be left out of eel: a class needs two rows")

    only = learnt(frame.assign(kind="carp"), tmp_path)
    assert only.notes == [ONE_CLASS]
    assert only.summary.startswith(ONE_CLASS_LEARNT)

    copied = pd.concat([two_kinds(), two_kinds().head(3).assign(kind="roach")])
    assert learnt(copied, tmp_path).notes == [DUPLICATES_ACROSS_CLASSES]
    few = learnt(two_kinds(), tmp_path, LearnSettings(max_rows_per_class=20))
    assert few.notes == [FEWER_ROWS]


def test_robust_learning_leaves_gross_rows_out(tmp_path):
    frame = two_kinds()
    frame.loc[[0, 2], "b"] = 500.0
    robust = learnt(frame, tmp_path, LearnSettings(robust=True))
    assert dict(zip(robust.classes["class"], robust.classes["outliers"], strict=True)) == {
        "carp": 2,
        "pike": 0,
    }
    assert np.flatnonzero(robust.model.is_outlier_).tolist() == [0, 2]
    assert not learnt(frame, tmp_path).model.is_outlier_.any()


def test_numbers_alone_are_described_as_in_python(tmp_path):
    frame = two_kinds()
    result = learnt(frame, tmp_path)
    rows = frame[["a", "b", "c"]].to_numpy()
    plain = MulticlassDataDescription(max_rows_per_class=1000, random_state=0)
    plain.fit(rows, frame["kind"].to_numpy(dtype=str))
    np.testing.assert_array_equal(
        result.model.membership(frame[["a", "b", "c"]]), plain.membership(rows)
    )


@pytest.mark.parametrize("robust", [False, True])
def test_a_model_of_a_mixed_table_is_saved_and_loaded(tmp_path, robust):
    frame = two_kinds()
    frame["colour"] = np.where(np.arange(60) % 3 == 0, "red", "blue")
    frame.loc[4, "colour"], frame.loc[5, "a"] = None, np.nan
    frame["is_old"] = np.arange(60) % 4 == 0
    result = learnt(frame, tmp_path, LearnSettings(missing="fill", robust=robust), missing="fill")
    path = tmp_path / "model.kernova"
    save_model(result.model, path)
    again = load_model(path)
    features = result.table.features
    np.testing.assert_array_equal(again.membership(features), result.model.membership(features))
    np.testing.assert_array_equal(again.nearest_ids(features), result.model.nearest_ids(features))
    # What was kept of the rows is what was learnt from, missing values too.
    np.testing.assert_array_equal(again.encoded(again.known_table), again.encoded(features))
    pd.testing.assert_frame_equal(again.known_table, result.model.known_table)
    assert again.text_columns == ["colour"]
    assert again.nearest_ids(features, 1).ravel().tolist() == result.table.ids.tolist()


@pytest.mark.parametrize("name", BAD_LABELS)
def test_bad_labels(name, tmp_path):
    change, message = BAD_LABELS[name]
    with pytest.raises(InputError) as caught:
        learnt(change(two_kinds()), tmp_path)
    assert str(caught.value) == message.format(tmp_path / "labelled.csv")


def test_a_table_without_label_column(tmp_path):
    path = tmp_path / "labelled.csv"
    two_kinds().to_csv(path, index=False)
    with pytest.raises(InputError) as caught:
        read_labelled(path, None)
    assert str(caught.value) == NO_LABELS.format(path)
