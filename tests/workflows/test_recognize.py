"""From a model and a new table to classes, and an honest "unknown"."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from kernova import InputError, ModelFileError, SpatialDepth, load_model, save_model
from kernova.tables.table import Table
from kernova.workflows.learn import learn_classes, read_labelled
from kernova.workflows.recognize import load_recognizer, read_new, recognize_rows
from kernova.workflows.recognize_page import recognition_figures, recognition_page
from kernova.workflows.settings import LearnSettings, RecognizeSettings
from tests.workflows.messages import (
    ABSENT_CLASSES,
    CONFUSION,
    FIXED_RATE,
    IGNORED_COLUMNS,
    MISSING_NOW,
    MISSING_THEN,
    NO_VALUES,
    NOT_SEEN,
    OTHER_COLUMNS,
    OTHER_MODEL,
    RECOGNIZED,
    SOME_COPIES,
)
from tests.workflows.tables import two_kinds

pytestmark = pytest.mark.usefixtures("few_trees")

FOREIGN = 4


def as_table(frame, label="kind", source="rows.csv"):
    labels = frame.get(label)
    features = frame.drop(columns=[label], errors="ignore").reset_index(drop=True)
    ids = pd.Series([f"r{i}" for i in range(len(frame))], name="id")
    labels = None if labels is None else labels.reset_index(drop=True)
    return Table(features, ids, labels, source, columns=tuple(frame.columns))


@pytest.fixture(scope="module", params=["open-set", "mddkm"])
def digits(request):
    """Nine digits are learnt from half of their images; the rest and all fours are new."""
    X, y = load_digits(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    frame["digit"] = y
    is_learnt = (np.random.default_rng(0).random(len(y)) < 0.5) & (y != FOREIGN)
    model = learn_classes(
        as_table(frame[is_learnt], "digit", "learnt.csv"),
        LearnSettings(request.param, scale="common"),
    ).model
    return recognize_rows(model, as_table(frame[~is_learnt], "digit"), RecognizeSettings(top=2))


def test_foreign_digits_are_unknown_and_known_ones_are_not(digits):
    confusion = digits.confusion
    assert confusion.foreign == (str(FOREIGN),)
    assert confusion.n_foreign_right / confusion.n_foreign > 0.95
    assert 0.92 < 1 - confusion.n_called_unknown / confusion.n_known < 0.98
    assert confusion.n_right / confusion.n_known > 0.9
    assert digits.n_unknown == confusion.n_called_unknown + confusion.n_foreign_right


def test_every_row_is_judged_by_the_model(digits):
    rows, model = digits.rows, digits.model
    features = digits.new.features
    assert rows["id"].tolist() == digits.new.ids.tolist()
    assert rows["recognized"].tolist() == model.recognize(features).tolist()
    assert digits.by_class["rows"].sum() == len(rows)
    measure = "membership" if model.is_published_method else "probability"
    every = rows[[f"{measure}_{name}" for name in model.classes_]].to_numpy()
    np.testing.assert_array_equal(rows[measure], every.max(axis=1))
    if model.is_published_method:
        assert rows["ambiguous"].tolist() == model.ambiguous(features).tolist()
        np.testing.assert_array_equal(every, model.membership(features))
        return
    judged = model.judge(features)
    np.testing.assert_allclose(every, np.exp(judged.log_probabilities))
    np.testing.assert_array_equal(rows["none"], judged.none)
    np.testing.assert_array_equal(rows["p_value"], judged.p_values)
    ordered = np.sort(every, axis=1)
    np.testing.assert_allclose(rows["margin"], ordered[:, -1] - ordered[:, -2])
    assert all(text.count(", ") == 2 for text in rows["ranking"])
    right = digits.by_class.set_index("recognized")["expected_right"]
    assert right.sum() == pytest.approx(rows["probability"][~digits.is_unknown].sum())


def test_what_would_change_a_verdict_changes_it(digits):
    if digits.model.is_published_method:
        return
    rates = {}
    for row, text in enumerate(digits.rows["would_change"]):
        found = re.match(
            r"unknown if reject is ([\d.e-]+) or more; second|\d if reject is below ([\d.e-]+)$",
            text,
        )
        if found and row % 20 == 0:
            rates[row] = float(found[1] or found[2])
    assert len(rates) > 20
    for row, rate in rates.items():
        was_unknown = digits.is_unknown[row]
        p = digits.rows["p_value"][row]
        assert (p <= rate) if not was_unknown else (p >= rate)
        assert rate == pytest.approx(p, rel=0.01)


def test_another_rate_of_rejection_needs_no_learning(digits):
    settings = RecognizeSettings(reject=0.2, top=0)
    if digits.model.is_published_method:
        with pytest.raises(InputError) as caught:
            recognize_rows(digits.model, digits.new, settings)
        assert str(caught.value) == FIXED_RATE
        return
    stricter = recognize_rows(digits.model, digits.new, settings)
    n_known = digits.confusion.n_known
    assert 0.16 < stricter.confusion.n_called_unknown / n_known < 0.24
    assert stricter.is_unknown[digits.is_unknown].all()
    assert digits.model.description_.reject == 0.05  # the model is not changed
    assert recognize_rows(digits.model, digits.new, RecognizeSettings(reject=0.05)).n_unknown == (
        digits.n_unknown
    )
    with pytest.raises(InputError, match=r"^reject is -0\.1; it must be a fraction"):
        recognize_rows(digits.model, digits.new, RecognizeSettings(reject=-0.1))


def test_as_many_are_right_as_probabilities_say(digits):
    if digits.model.is_published_method:
        return
    labels = digits.new.labels.astype(str).to_numpy()
    is_judged = (labels != str(FOREIGN)) & ~digits.is_unknown
    n_right = (labels == digits.rows["recognized"])[is_judged].sum()
    expected = digits.rows["probability"][is_judged].sum()
    assert n_right == pytest.approx(expected, rel=0.02)
    assert "recognised rows would be right, by their probabilities." in digits.expectation


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
    column = "membership" if digits.model.is_published_method else "p_value"
    assert first[column].head(digits.n_unknown).is_monotonic_increasing


def test_the_page_shows_it_all(digits):
    html = recognition_page(digits)
    is_published = digits.model.is_published_method
    doubtful = "Ambiguous rows" if is_published else "Uncertain rows"
    for title in ("The answer", "Do verdicts agree with the labels?", "Where they lie",
                  "Unknown rows", doubtful, "How it was decided"):  # fmt: skip
        assert f"{title}</h2>" in html
    assert html.count("<img ") == (2 if is_published else 3)
    assert digits.least_known_first.iloc[0, 0] in html
    assert ABSENT_CLASSES in html
    map_of_rows = recognition_figures(digits)["map"].axes[0]
    words = [text.get_text() for text in map_of_rows.get_legend().get_texts()]
    assert words[-1] == f"unknown: {digits.n_unknown}"


def test_the_picture_of_probabilities_counts_known_classes_only(digits):
    figures = recognition_figures(digits)
    if digits.model.is_published_method:
        assert set(figures) == {"map", "confusion"}
        return
    words = [text.get_text() for text in figures["probabilities"].axes[0].get_legend().get_texts()]
    counts = digits.confusion
    n_wrong = counts.n_known - counts.n_right - counts.n_called_unknown
    assert words == [f"right: {counts.n_right}", f"wrong: {n_wrong}"]


@pytest.fixture(scope="module")
def model():
    return learn_classes(as_table(two_kinds(), source="learnt.csv")).model


@pytest.fixture(scope="module")
def published():
    settings = LearnSettings(method="mddkm", missing="refuse")
    return learn_classes(as_table(two_kinds(), source="learnt.csv"), settings).model


@pytest.mark.parametrize("method", ["open-set", "mddkm"])
def test_agreement_with_labels(method, model, published):
    new = two_kinds(8, seed=1)
    new.loc[0, "a"] = 1000.0
    new.loc[0, "kind"], new.loc[1, "kind"] = "eel", None
    result = recognize_rows(model if method == "open-set" else published, as_table(new))
    assert result.confusion.counts.loc["eel", "unknown"] == 1
    assert result.confusion.sentences == CONFUSION
    assert result.summary == RECOGNIZED[method]
    assert result.rows["because"][0].startswith("a = 1000 (pike: ")


def test_rows_without_any_label_have_no_confusion(model):
    result = recognize_rows(model, as_table(two_kinds(8).drop(columns="kind")))
    assert result.confusion is None
    assert "labels?</h2>" not in recognition_page(result)
    assert recognition_figures(result)["probabilities"].axes[0].get_legend() is None
    nothing = recognize_rows(model, as_table(two_kinds(8).assign(kind=None)))
    assert nothing.confusion.sentences == ["Rows without a label, counted in neither: 8."]
    assert "labels?</h2>" not in recognition_page(nothing)


def test_pages_where_all_rows_are_unknown(model, published):
    far = as_table(two_kinds(5).assign(b=1e3))
    for one in (model, published):
        result = recognize_rows(one, far)
        assert result.n_unknown == 5
        assert "There are none: " in recognition_page(result)


@pytest.mark.parametrize("method", ["open-set", "mddkm"])
def test_duplicates_across_classes_are_doubtful(method):
    frame = two_kinds()
    both = pd.concat([frame, frame[frame["kind"] == "pike"].assign(kind="zander")])
    learnt = learn_classes(as_table(both), LearnSettings(method=method)).model
    result = recognize_rows(learnt, as_table(frame))
    is_pike = (frame["kind"] == "pike").to_numpy()
    known = ~result.is_unknown
    doubtful = (
        result.rows["ambiguous"].to_numpy() if method == "mddkm"
        else result.verdicts.is_uncertain
    )  # fmt: skip
    assert doubtful[is_pike & known].all()
    assert not doubtful[~is_pike].any()
    html = recognition_page(result)
    for name in ("pike", "zander"):
        assert (f"{name} (0.9" if method == "mddkm" else f"{name} 0.5") in html


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
        (lambda frame: frame.rename(columns={"b": "B"}), "missing 'b'; extra 'B'"),
    ],
)
def test_other_columns_are_rejected(model, change, found):
    with pytest.raises(InputError) as caught:
        recognize_rows(model, as_table(change(two_kinds(5))))
    assert str(caught.value) == OTHER_COLUMNS.format(found)


def test_columns_that_the_model_does_not_know_are_ignored(model):
    frame = two_kinds(10, seed=3)
    plain = recognize_rows(model, as_table(frame))
    more = recognize_rows(model, as_table(frame.assign(d=1.0, e="x")))
    pd.testing.assert_frame_equal(more.rows, plain.rows)
    assert (plain.notes, more.notes) == ([], [IGNORED_COLUMNS])
    assert recognition_page(more)


def test_copies_of_training_rows_are_noted(model):
    both = pd.concat([two_kinds(4), two_kinds(10, seed=3)], ignore_index=True)
    assert recognize_rows(model, as_table(both)).notes == [SOME_COPIES]


def test_rows_that_are_alike_by_chance_are_no_copies():
    frame = two_kinds(60).round(0).assign(b=0.0, c=lambda rows: rows["c"] > 0)
    learnt = learn_classes(as_table(frame)).model
    new = two_kinds(20, seed=3).round(0).assign(b=0.0, c=lambda rows: rows["c"] > 0)
    assert recognize_rows(learnt, as_table(new)).notes == []
    assert "are also training rows" in " ".join(recognize_rows(learnt, as_table(frame)).notes)


def test_values_that_training_had_not_are_noted(tmp_path):
    frame = two_kinds().assign(country=np.where(np.arange(60) % 3, "AT", "CH"))
    frame.loc[3, "c"] = np.nan
    frame.to_csv(tmp_path / "known.csv", index=False)
    learnt = learn_classes(read_labelled(tmp_path / "known.csv", "kind")).model
    new = two_kinds(20, seed=3).assign(country="AT")
    new.loc[:1, "country"], new.loc[2, "country"] = "ZZ", "YY"
    new.loc[4:6, "a"] = new.loc[7, "c"] = np.nan
    new.to_csv(tmp_path / "new.csv", index=False)
    result = recognize_rows(learnt, read_new(tmp_path / "new.csv", learnt))
    new.assign(always=1).to_csv(tmp_path / "more.csv", index=False)
    more = recognize_rows(learnt, read_new(tmp_path / "more.csv", learnt))
    assert more.notes[0].endswith(" not used as features: 'always' (always 1).")
    assert result.notes == [NOT_SEEN, MISSING_NOW, MISSING_THEN.format(tmp_path / "new.csv")]


@pytest.mark.parametrize(
    ("rows", "words"),
    [([4], ("1 row has", "its", "its")), ([2, 5], ("2 rows have", "their", "their"))],
)
def test_rows_of_which_nothing_is_known_are_noted(tmp_path, rows, words):
    frame = two_kinds().assign(country=np.where(np.arange(60) % 3, "AT", "CH"))
    frame.to_csv(tmp_path / "known.csv", index=False)
    learnt = learn_classes(read_labelled(tmp_path / "known.csv", "kind")).model
    new = two_kinds(20, seed=3).assign(country="AT").drop(columns="kind")
    new.loc[7, "a"] = new.loc[8, "country"] = np.nan  # of these something is
    new.loc[rows] = np.nan
    new.to_csv(tmp_path / "new.csv", index=False)
    notes = recognize_rows(learnt, read_new(tmp_path / "new.csv", learnt)).notes
    assert NO_VALUES.format(*words) in notes


def test_missing_values_are_treated_as_in_training_by_default(tmp_path, model, published):
    frame = two_kinds()
    path = tmp_path / "new.csv"
    new = frame.drop(columns="kind").head(6)
    new.loc[2, "a"] = np.nan
    new.to_csv(path, index=False)
    filling = learn_classes(as_table(frame), LearnSettings(missing="fill")).model
    for one in (filling, model):
        assert len(recognize_rows(one, read_new(path, one)).rows) == 6
    with pytest.raises(InputError, match=r"new\.csv has missing values, counted by column: 'a' 1"):
        read_new(path, published)
    dropped = recognize_rows(published, read_new(path, published, missing="drop"))
    assert dropped.notes == [f"1 row of {path} has missing values and was left out."]
    filled = recognize_rows(published, read_new(path, published, missing="fill"))
    assert len(filled.rows) == 6


def messy(n, seed, start):
    """Numbers with units, decimal commas, dates, ids and a constant."""
    frame = two_kinds(n, seed=seed)
    frame["a"] = [f"{value:.3f} mm".replace(".", ",") for value in frame["a"]]
    frame["b"] = [f"{100 * value:.2f}%" for value in frame["b"]]
    frame.insert(0, "fish", [f"F{seed}{number:03}" for number in range(n)])
    frame["caught"] = pd.date_range(start, periods=n).strftime("%d.%m.%Y")
    frame["team"] = "north"
    frame["pond"] = np.arange(n) // 4
    return frame


def test_new_tables_are_read_like_the_training_table(tmp_path):
    messy(60, 0, "2020-01-01").to_csv(tmp_path / "known.csv", index=False)
    roles = {"id_column": "fish", "group_column": "pond"}
    learnt = learn_classes(read_labelled(tmp_path / "known.csv", "kind", **roles)).model
    save_model(learnt, tmp_path / "model.kernova")
    again = load_recognizer(tmp_path / "model.kernova")
    assert again.columns == ["a", "b", "c"]
    new = messy(20, 1, "2024-06-01").assign(team="south")
    new.to_csv(tmp_path / "new.csv", index=False)
    table = read_new(tmp_path / "new.csv", again)
    assert (table.ids.name, table.labels.name) == ("fish", "kind")
    result = recognize_rows(again, table)
    assert result.confusion.n_right >= 16
    # Columns that were no features need not be there, and may be other roles now.
    new[["a", "b", "c", "pond"]].to_csv(tmp_path / "bare.csv", index=False)
    bare = recognize_rows(again, read_new(tmp_path / "bare.csv", again))
    assert bare.rows["recognized"].tolist() == result.rows["recognized"].tolist()
    dropped = read_new(tmp_path / "new.csv", again, drop=["kind"], id_column="fish")
    assert dropped.labels is None


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
