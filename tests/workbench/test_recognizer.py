"""Model learnt from the answers so far: verdicts on unlabelled rows, notes, and the saved file."""

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.persist.models import load_model
from kernova.progress import reporting
from kernova.tables.table import Table
from kernova.workbench.recognizer import VERDICTS, learn_from_answers
from kernova.workflows.learn import LearnSettings
from kernova.workflows.recognize import load_recognizer, recognize_rows
from tests.workbench import messages


def table_of(features):
    ids = pd.Series([f"r{i:03}" for i in range(len(features))], name="id")
    return Table(features, ids, None, "birds.csv")


@pytest.fixture(scope="module")
def three_kinds():
    """Three clusters of 40 rows; the third is unlabelled."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [8.0, 0.0], [0.0, 30.0]], 40, axis=0)
    features = pd.DataFrame(rng.normal(size=(120, 2)) + centres, columns=["x", "y"])
    labels = np.full(120, None, dtype=object)
    labels[:15], labels[40:55] = "wren", "tit"
    return table_of(features), labels


def test_rows_of_learnt_categories_are_known_and_others_unknown(three_kinds):
    table, labels = three_kinds
    learnt = learn_from_answers(table, labels)
    assert learnt.names == ["tit", "wren"]
    assert (learnt.verdicts[labels != None] == 0).all()  # noqa: E711
    assert np.isnan(learnt.membership[:15]).all()
    assert (learnt.recognized[:15] == -1).all()
    assert (learnt.verdicts[80:] == VERDICTS.index("unknown")).all()
    is_known = learnt.verdicts[15:40] == VERDICTS.index("known")
    assert is_known.mean() > 0.6
    assert {learnt.names[code] for code in learnt.recognized[15:40][is_known]} == {"wren"}
    assert sum(learnt.counts.values()) == 90
    assert learnt.summary.endswith(messages.VERDICTS.format(**learnt.counts))
    assert [(line["class"], line["rows"]) for line in learnt.classes] == [("tit", 15), ("wren", 15)]
    assert sum(line["claimed"] for line in learnt.classes) == 90 - learnt.counts["unknown"]


def test_the_verdicts_are_those_of_recognize(three_kinds, tmp_path):
    table, labels = three_kinds
    learnt = learn_from_answers(table, labels)
    learnt.save(tmp_path / "birds.kernova")
    rows = recognize_rows(load_recognizer(tmp_path / "birds.kernova"), table).rows
    for row in range(len(labels)):
        if labels[row] is None:
            line = learnt.line_of(row)
            assert line.recognized == (
                None if rows["recognized"][row] == "unknown" else rows["recognized"][row]
            )
            assert (line.verdict == "ambiguous") == rows["ambiguous"][row]
            assert line.membership == pytest.approx(rows["membership"][row])
            assert line.id == rows["id"][row]
    assert load_model(tmp_path / "birds.kernova").ids_.tolist() == [
        *(f"r{i:03}" for i in range(15)),
        *(f"r{i:03}" for i in range(40, 55)),
    ]


def test_unknown_rows_are_ordered_by_membership_and_distance():
    rng = np.random.default_rng(1)
    centres = np.repeat([[0.0, 0.0], [40.0, 0.0], [0.0, 25.0], [-25.0, 0.0]], 50, axis=0)
    features = pd.DataFrame(rng.normal(size=(200, 2)) + centres)
    features.columns = ["x", "y"]
    labels = [*["wren"] * 50, *[None] * 150]
    learnt = learn_from_answers(table_of(features), labels)
    asked = learnt.rows_of("unknown")
    assert sorted(asked) == list(range(50, 200))
    assert asked[0] == 50 + np.argmax(np.hypot(*features.to_numpy()[50:].T))
    assert len({row // 50 for row in asked[:3].tolist()}) == 3


def test_known_and_ambiguous_rows_are_ordered_by_membership(three_kinds):
    learnt = learn_from_answers(*three_kinds)
    membership = learnt.membership[learnt.rows_of("known")]
    assert (np.diff(membership) >= 0).all()
    with pytest.raises(InputError) as error:
        learnt.rows_of("odd")
    assert str(error.value) == messages.NO_VERDICT


def test_all_unknown_rows_are_listed_beyond_the_ordered_ones():
    rng = np.random.default_rng(2)
    features = pd.DataFrame({"x": np.append(rng.normal(size=10), 100 + rng.normal(size=400) * 30)})
    learnt = learn_from_answers(table_of(features), [*["wren"] * 10, *[None] * 400])
    asked = learnt.rows_of("unknown")
    assert len(set(asked.tolist())) == len(asked) == learnt.counts["unknown"] > 300


def test_categories_of_one_or_two_rows_are_learnt_with_a_note():
    features = pd.DataFrame({"x": [0.0, 0.1, 0.2, 0.3, 5.0, 9.0, 9.1, 5.02, 50.0]})
    labels = ["wren", "wren", "wren", "wren", "tit", "jay", "jay", None, None]
    learnt = learn_from_answers(table_of(features), labels)
    assert learnt.notes == [messages.FEW_ROWS]
    assert learnt.line_of(7).recognized == "tit"
    assert learnt.line_of(8).verdict == "unknown"


def test_one_category_without_other_rows_can_be_learnt():
    features = pd.DataFrame({"x": [0.0, 0.1, 0.2]})
    learnt = learn_from_answers(table_of(features), ["wren"] * 3)
    assert learnt.notes == [
        "There is only one class, wren: rows will be recognised as that or called unknown."
    ]
    assert learnt.summary.endswith(messages.NO_OTHER_ROWS)
    assert learnt.rows_of("unknown").tolist() == []


@pytest.mark.parametrize(("labels", "message"), messages.TOO_FEW_LABELS)
def test_too_few_labels_are_rejected_with_the_number_required(labels, message):
    with pytest.raises(InputError) as error:
        learn_from_answers(table_of(pd.DataFrame({"x": np.arange(6.0)})), labels)
    assert str(error.value) == message


def test_many_categories_of_single_rows_are_rejected():
    labels = [*(f"kind {i}" for i in range(60)), "kind 0", None]
    with pytest.raises(InputError) as error:
        learn_from_answers(table_of(pd.DataFrame({"x": np.arange(62.0)})), labels)
    assert str(error.value) == messages.MANY_CATEGORIES


def test_mixed_columns_with_missing_values():
    rng = np.random.default_rng(3)
    features = pd.DataFrame(
        {
            "x": np.append(rng.normal(size=30), rng.normal(9, 1, 30)),
            "sex": ["f", "m", None] * 20,
            "song": [None] * 40 + ["long"] * 20,
            "weight": np.where(np.arange(60) % 7 == 0, np.nan, rng.normal(size=60)),
        }
    )
    labels = [*["wren"] * 12, *[None] * 18, *["tit"] * 10, *[None] * 20]
    learnt = learn_from_answers(table_of(features), labels)
    assert sum(learnt.counts.values()) == 38
    assert learnt.notes[0] == messages.EMPTY_COLUMN
    assert learnt.model.columns == ["x", "sex", "weight"]


def test_labelled_rows_without_any_value_are_rejected():
    features = pd.DataFrame({"x": [np.nan, np.nan, np.nan, 1.0]})
    with pytest.raises(InputError) as error:
        learn_from_answers(table_of(features), ["a", "a", "b", None])
    assert str(error.value) == messages.NO_VALUES


def test_settings_reach_the_model(three_kinds):
    learnt = learn_from_answers(*three_kinds, LearnSettings(reject=0.4))
    assert learnt.model.description_.reject == 0.4


def test_one_outlying_answer_does_not_make_everything_ambiguous():
    """Asked rows are unusual; a category that accepts its outliers would claim all others."""
    rng = np.random.default_rng(4)
    features = pd.DataFrame(rng.normal(size=(200, 2)), columns=["x", "y"])
    features.loc[100:, "x"] += 8.0
    labels = np.full(200, None, dtype=object)
    labels[:12], labels[100:112] = "wren", "tit"
    features.loc[11], features.loc[111] = (4.5, 6.0), (3.5, -6.0)
    learnt = learn_from_answers(table_of(features), labels)
    assert learnt.result.settings.reject > 0.05
    assert learnt.counts["known"] > 0.8 * 176
    right = np.repeat(["wren", "tit"], 100)
    known = np.flatnonzero(learnt.verdicts == VERDICTS.index("known"))
    assert np.mean([learnt.names[learnt.recognized[row]] == right[row] for row in known]) > 0.95


def test_contradictory_answers_make_no_row_known():
    rng = np.random.default_rng(5)
    features = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x", "y"])
    labels = [*rng.permutation(["wren", "tit", "jay"] * 20), *[None] * 60]
    learnt = learn_from_answers(table_of(features), labels)
    assert learnt.counts["known"] == 0
    assert learnt.notes == [messages.NOTHING_KNOWN]


def test_rows_labelled_in_one_step_are_left_out_together():
    """Ten tight clusters with random labels, each labelled at once: no other row is known."""
    rng = np.random.default_rng(6)
    centres = np.repeat(rng.normal(size=(10, 2)) * 5, 6, axis=0)
    features = pd.DataFrame(
        np.concatenate([centres + rng.normal(size=(60, 2)) / 50, rng.normal(size=(60, 2)) * 5]),
        columns=["x", "y"],
    )
    clusters = np.repeat(np.arange(10), 6)
    labels = [*np.array(["wren", "tit"])[clusters % 2], *[None] * 60]
    alone = learn_from_answers(table_of(features), labels)
    groups = np.append(clusters, 100 + np.arange(60))
    together = learn_from_answers(table_of(features), labels, groups=groups)
    assert np.isfinite(alone.model.margin)
    assert np.isinf(together.model.margin)
    assert together.counts["known"] == 0


class StoppedError(Exception):
    """Raised by a progress listener to cancel."""


def test_classification_reports_progress_and_can_be_stopped():
    features = pd.DataFrame({"x": np.linspace(0, 1, 5000)})
    labels = [*["a"] * 5, *[None] * 4995]
    seen = []
    with reporting(seen.append):
        learn_from_answers(table_of(features), labels)
    assert [(step.done, step.total) for step in seen if step.task == "judging rows"] == [
        (0, 3), (1, 3), (2, 3), (3, 3)
    ]  # fmt: skip

    def stop(step):
        if step.done == 1:
            raise StoppedError

    with pytest.raises(StoppedError), reporting(stop):
        learn_from_answers(table_of(features), labels)
