"""Learning of classes: every kind of label, and verdicts on rows left out."""

import numpy as np
import pandas as pd
import pytest

from kernova import (
    InputError,
    MulticlassDataDescription,
    OpenSetClassifier,
    load_model,
    save_model,
)
from kernova.description.hyperparameters import feature_scaling
from kernova.workflows.learn import label_texts, learn_classes, read_labelled
from kernova.workflows.recognize import recognize_rows
from kernova.workflows.settings import LearnSettings
from tests.workflows.messages import (
    BAD_LABELS,
    BAD_REJECT,
    DAYS_UNUSED,
    DUPLICATES_ACROSS_CLASSES,
    FEWER_ROWS,
    GIVEN_AWAY,
    LOST_CLASS,
    NO_LABELS,
    NOT_HELD_OUT,
    NOTHING_TESTED,
    ONE_CLASS,
    ONE_CLASS_LEARNT,
    ONE_ROW,
    SPREAD_ROWS,
    UNLABELLED,
    UNUSED_BY_MDDKM,
)
from tests.workflows.tables import two_kinds

pytestmark = pytest.mark.usefixtures("few_trees")

PUBLISHED = LearnSettings(method="mddkm")


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
    result = learnt(frame, tmp_path, PUBLISHED)
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


@pytest.mark.parametrize("method", ["open-set", "mddkm"])
def test_rows_without_a_label_are_not_learnt_from(tmp_path, method):
    frame = two_kinds()
    frame["kind"] = np.where(frame["kind"] == "pike", 1.0, 2.0)
    frame.loc[[0, 7], "kind"] = np.nan
    result = learnt(frame, tmp_path, LearnSettings(method=method))
    assert result.model.classes_.tolist() == ["1", "2"]
    assert result.notes == [UNLABELLED[method].format(result.table.source)]
    assert "1" not in result.model.ids_  # the first row's number, as people count
    assert result.classes["rows"].sum() == 58


def test_rows_without_a_label_help_to_scale(tmp_path):
    frame = pd.concat([two_kinds(), two_kinds(200, seed=2).assign(kind=None)], ignore_index=True)
    frame.loc[60:, "b"] *= 10
    model = learnt(frame, tmp_path).model
    # The spread of all rows is wider than that of the labelled ones.
    assert model.scaled(model.known_table)[:, 1].std() < 0.3
    assert len(model.labels_) == 60


def test_labels_are_compared_as_texts():
    labels = pd.Series([3, 3.0, "3", " 3 ", True, None, np.nan, "", "  ", 2.5], dtype=object)
    assert label_texts(labels).tolist() == ["3"] * 4 + ["True"] + [None] * 4 + ["2.5"]


def test_notes_on_unusual_training_tables(tmp_path):
    frame = two_kinds()
    frame.loc[0, "kind"] = "eel"
    one_row = learnt(frame, tmp_path)
    assert one_row.notes == [ONE_ROW]
    line = one_row.classes.set_index("class").loc["eel"]
    assert np.isnan(line["recognized"])
    assert np.isnan(line["unknown"])
    (note,) = learnt(frame, tmp_path, PUBLISHED).notes
    assert note.startswith("Nothing can be left out of eel: a class needs two rows")

    only = learnt(frame.assign(kind="carp"), tmp_path)
    assert only.notes == [ONE_CLASS]
    assert only.summary.startswith(ONE_CLASS_LEARNT)
    assert "if it were unknown" not in only.summary

    copied = pd.concat([two_kinds(), two_kinds().head(3).assign(kind="roach")])
    assert learnt(copied, tmp_path).notes == [DUPLICATES_ACROSS_CLASSES]
    few = learnt(two_kinds(), tmp_path, LearnSettings(max_rows_per_class=20))
    assert few.notes == [SPREAD_ROWS]
    few = learnt(two_kinds(), tmp_path, LearnSettings(method="mddkm", max_rows_per_class=20))
    assert few.notes == [FEWER_ROWS]
    unused = LearnSettings(method="mddkm", per_class=True, class_weight="balanced")
    assert learnt(two_kinds(), tmp_path, unused).notes == UNUSED_BY_MDDKM


def test_a_rate_that_few_rows_cannot_show_is_remarked_on(tmp_path):
    remark = "(asked for: 5 %, which needs 19 rows), "
    assert remark in learnt(two_kinds(12), tmp_path).summary
    tenth = learnt(two_kinds(12), tmp_path, LearnSettings(reject=0.1)).summary
    assert "(asked for: 10 %), " in tenth


def test_robust_learning_leaves_gross_rows_out(tmp_path):
    frame = two_kinds()
    frame.loc[[0, 2], "b"] = 500.0
    for method in ("open-set", "mddkm"):
        robust = learnt(frame, tmp_path, LearnSettings(method=method, robust=True))
        assert dict(zip(robust.classes["class"], robust.classes["outliers"], strict=True)) == {
            "carp": 2,
            "pike": 0,
        }
    assert np.flatnonzero(robust.model.is_outlier_).tolist() == [0, 2]
    assert not learnt(frame, tmp_path, PUBLISHED).model.is_outlier_.any()
    assert "outliers" not in learnt(frame, tmp_path).classes


@pytest.mark.parametrize(("method", "peer"), [
    ("open-set", OpenSetClassifier(random_state=0)),
    ("mddkm", MulticlassDataDescription(max_rows_per_class=1000, random_state=0)),
])  # fmt: skip
def test_numbers_alone_are_described_as_in_python(tmp_path, method, peer):
    frame = two_kinds()
    model = learnt(frame, tmp_path, LearnSettings(method=method)).model
    rows = frame[["a", "b", "c"]]
    peer.fit(rows.to_numpy(), frame["kind"].to_numpy(dtype=str))
    expected, found = peer.score_samples(rows.to_numpy()), model.score_samples(rows)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("method", ["open-set", "mddkm"])
@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("missing", ["auto", "fill"])
def test_a_model_of_a_mixed_table_is_saved_and_loaded(tmp_path, method, robust, missing):
    frame = two_kinds()
    frame["colour"] = np.where(np.arange(60) % 3 == 0, "red", "blue")
    frame.loc[4, "colour"], frame.loc[5, "a"] = None, np.nan
    frame["is_old"] = np.arange(60) % 4 == 0
    settings = LearnSettings(method=method, missing=missing, robust=robust)
    result = learnt(frame, tmp_path, settings, missing=missing)
    path = tmp_path / "model.kernova"
    save_model(result.model, path)
    again = load_model(path)
    features = result.table.features
    np.testing.assert_array_equal(
        again.score_samples(features), result.model.score_samples(features)
    )
    np.testing.assert_array_equal(again.nearest_ids(features), result.model.nearest_ids(features))
    # What was kept of the rows is what was learnt from, missing values too.
    kept = features.iloc[[int(number) - 1 for number in again.ids_]]
    np.testing.assert_array_equal(again.encoded(again.known_table), again.encoded(kept))
    pd.testing.assert_frame_equal(again.known_table, result.model.known_table)
    assert again.text_columns == ["colour"]
    assert again.nearest_ids(kept, 1).ravel().tolist() == again.ids_.tolist()
    assert again.encoder_.scaling == ("robust" if robust else "standard")
    assert result.classes["recognized"].min() > 0.8


# --- what was tested -------------------------------------------------------------------------


def test_figures_are_those_of_rows_judged_without_them(tmp_path):
    frame = two_kinds(200, apart=2.0)
    frame.loc[frame.index % 5 == 0, "kind"] = "eel"
    frame.loc[frame.index % 5 == 0, "b"] += 6
    result = learnt(frame, tmp_path)
    classifier = result.model.description_
    tested = classifier.cross_validated_
    names = np.append(classifier.classes_, "unknown")
    is_unknown = tested.judgement.p_values <= 0.05
    verdicts = names[np.where(is_unknown, len(names) - 1, tested.judgement.best)]
    truth = frame["kind"].to_numpy()[tested.rows]
    figures = result.tests.figures
    assert figures["accuracy"] == pytest.approx((verdicts == truth).mean())
    assert figures["unknown"] == pytest.approx((verdicts == "unknown").mean())
    assert figures["accuracy_without_rejection"] == pytest.approx(
        (names[tested.judgement.best] == truth).mean()
    )
    assert 0 <= figures["calibration_error"] < 0.1
    for line in result.classes.itertuples():
        of_class = verdicts[truth == line[1]]
        assert line.recognized == pytest.approx((of_class == line[1]).mean())
        assert line.unknown == pytest.approx((of_class == "unknown").mean())
    found = result.classes.set_index("class")["found_if_unknown"]
    assert found["eel"] > 0.8  # far from the others, which are beside each other
    assert found["carp"] < found["eel"]
    assert figures["found_if_unknown"] == pytest.approx(found.mean())
    assert [part.split(" ")[0] for part in result.sentences] == [
        "3", "10-fold", "Without", "The",
    ]  # fmt: skip
    assert f"if it were unknown is {found.idxmin()}: " in result.summary


def test_classes_are_left_out_on_request_only(tmp_path):
    path = tmp_path / "labelled.csv"
    two_kinds().to_csv(path, index=False)
    result = learn_classes(read_labelled(path, "kind"), leaves_classes_out=False)
    assert "found_if_unknown" not in result.classes
    assert "if it were unknown" not in result.summary
    assert result.to_json_dict()["found_if_unknown"] is None


def test_rows_of_a_group_stay_together(tmp_path):
    rng = np.random.default_rng(0)
    # Every fish was measured five times; nothing else tells the kinds apart.
    fish = np.repeat(np.arange(40), 5)
    rows = rng.normal(size=(40, 3))[fish] + rng.normal(0, 0.01, size=(200, 3))
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    frame["kind"] = np.where(rng.permutation(40) % 2, "pike", "carp")[fish]
    frame["fish"] = [f"F{number}" for number in fish]
    alone = learnt(frame.drop(columns="fish"), tmp_path)
    together = learnt(frame, tmp_path, group_column="fish")
    assert "fish" not in together.model.columns
    assert alone.tests.figures["accuracy_without_rejection"] > 0.95
    assert together.tests.figures["accuracy_without_rejection"] < 0.75
    assert "10-fold cross-validation with groups kept together: " in together.summary
    frame.loc[:4, "fish"] = None  # of no group, each by itself
    assert len(learnt(frame, tmp_path, group_column="fish").model.labels_) == 200


def test_classes_are_as_probable_as_they_are_frequent_unless_balanced(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=220), "b": rng.normal(size=220)})
    frame["kind"] = np.where(np.arange(220) < 200, "carp", "pike")
    point = pd.DataFrame({"a": [0.0], "b": [0.0]})

    def probability_of_pike(**settings):
        model = learnt(frame, tmp_path, LearnSettings(**settings)).model
        return float(np.exp(model.judge(point).log_probabilities[0, 1]))

    assert probability_of_pike() < 0.25
    assert probability_of_pike(class_weight="balanced") > 0.3


def test_dates_do_not_make_all_later_rows_unknown(tmp_path):
    frame = two_kinds()
    frame["caught"] = pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d")
    result = learnt(frame, tmp_path)
    assert result.model.columns == ["a", "b", "c"]
    assert result.notes[-1] == DAYS_UNUSED
    assert len(learnt(frame, tmp_path, keep=["caught"]).model.columns) == 4


BAD_SETTINGS = [
    ({"reject": 1.0}, BAD_REJECT.format("1")),
    ({"reject": "high"}, BAD_REJECT.format("'high'")),
    ({"method": "best"}, "There is no method named 'best'. Use one of open-set, mddkm."),
    ({"class_weight": "even"}, "class_weight is 'even'; it must be 'balanced' or None."),
    (
        {"max_rows_per_class": 0},
        "max_rows_per_class is 0; it must be 'auto' or a whole number of at least 1.",
    ),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD_SETTINGS)
def test_bad_settings(settings, sentence, tmp_path):
    with pytest.raises(InputError) as caught:
        learnt(two_kinds(), tmp_path, LearnSettings(**settings))
    assert str(caught.value) == sentence


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


def test_a_category_that_gives_the_class_away_is_noted(tmp_path):
    frame = two_kinds(apart=1.0)
    frame["sample"] = [f"{kind} {i % 3}" for i, kind in enumerate(frame["kind"])]
    frame["colour"] = np.where(np.arange(60) % 3 == 0, "red", "blue")
    assert learnt(frame, tmp_path).notes == [GIVEN_AWAY]
    frame["sample"] = [f"s{i // 3}{kind}" for i, kind in enumerate(frame["kind"])]
    assert learnt(frame, tmp_path, keep=["sample"]).notes == []  # in few rows each
    frame["sample"] = "s"
    assert learnt(frame.assign(kind="carp"), tmp_path, keep=["sample"]).notes == [ONE_CLASS]


def test_a_class_of_which_no_row_is_recognised_is_noted(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=206), "b": rng.normal(size=206)})
    frame["kind"] = np.where(np.arange(206) < 200, "carp", "pike")
    assert learnt(frame, tmp_path).notes == [LOST_CLASS]
    assert learnt(frame, tmp_path, LearnSettings(class_weight="balanced")).notes == []


def one_row_each():
    return pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 2.0], "kind": ["x", "y", "z"]})


def one_group_each():
    return two_kinds().assign(pond=lambda frame: frame["kind"])


@pytest.mark.parametrize("roles", [{}, {"group_column": "pond"}])
def test_nothing_is_said_if_no_row_could_be_held_out(tmp_path, roles):
    result = learnt(one_group_each() if roles else one_row_each(), tmp_path, **roles)
    assert result.sentences[1:] == [NOTHING_TESTED]
    assert result.classes[["recognized", "unknown", "found_if_unknown"]].isna().all(axis=None)
    answer = result.to_json_dict()
    assert {answer[name] for name in ("accuracy", "unknown", "found_if_unknown")} == {None}
    assert {line["found_if_unknown"] for line in answer["classes"]} == {None}
    again = recognize_rows(result.model, result.table)
    assert again.expectation == NOT_HELD_OUT
