"""Model learnt from the answers so far: suggestions for other rows, notes, and the saved file."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from kernova.errors import InputError
from kernova.persist.models import load_model
from kernova.progress import reporting
from kernova.tables.table import Table
from kernova.workbench.recognizer import (
    VERDICTS,
    Negative,
    learn_from_answers,
    what_is_missing,
)
from kernova.workflows.learn import LearnSettings
from kernova.workflows.recognize import load_recognizer, recognize_rows
from tests.workbench import messages

pytestmark = pytest.mark.usefixtures("few_trees")


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
    assert np.isnan(learnt.judged.probability[:15]).all()
    assert (learnt.judged.suggested[:15] == -1).all()
    assert (learnt.verdicts[80:] == VERDICTS.index("unknown")).all()
    assert (learnt.verdicts[15:40] == VERDICTS.index("known")).mean() > 0.6
    assert {learnt.line_of(row).suggested for row in range(15, 40)} == {"wren"}
    assert sum(learnt.counts.values()) == 90
    assert learnt.summary.endswith(messages.VERDICTS.format(**learnt.counts))
    assert [(line["class"], line["rows"]) for line in learnt.classes] == [("tit", 15), ("wren", 15)]
    assert sum(line["claimed"] for line in learnt.classes) == 90 - learnt.counts["unknown"]


def test_every_unlabelled_row_has_a_ranked_suggestion(three_kinds):
    table, labels = three_kinds
    learnt = learn_from_answers(table, labels)
    for row in range(120):
        line = learnt.line_of(row)
        if labels[row] is not None:
            assert (line.suggested, line.probability, line.ranking) == (None, None, [])
            continue
        first, second = line.ranking
        assert (first.category, first.probability) == (
            line.suggested, pytest.approx(line.probability)
        )  # fmt: skip
        assert line.margin == pytest.approx(first.probability - second.probability)
        total = first.probability + second.probability + line.none
        assert total == pytest.approx(1, abs=1e-6)
        assert 0 < line.p_value <= 1


def test_the_suggestions_are_those_of_recognize(three_kinds, tmp_path):
    table, labels = three_kinds
    learnt = learn_from_answers(table, labels)
    learnt.save(tmp_path / "birds.kernova")
    rows = recognize_rows(load_recognizer(tmp_path / "birds.kernova"), table).rows
    for row in np.flatnonzero(labels == None):  # noqa: E711
        line = learnt.line_of(row)
        is_unknown = rows["recognized"][row] == "unknown"
        assert (line.verdict == "unknown") == is_unknown
        assert is_unknown or line.suggested == rows["recognized"][row]
        assert line.id == rows["id"][row]
    assert load_model(tmp_path / "birds.kernova").ids_.tolist() == [
        *(f"r{i:03}" for i in range(15)),
        *(f"r{i:03}" for i in range(40, 55)),
    ]


def test_unknown_rows_are_ordered_by_novelty_and_distance():
    rng = np.random.default_rng(1)
    centres = np.repeat([[0.0, 0.0], [40.0, 0.0], [0.0, 25.0], [-25.0, 0.0]], 50, axis=0)
    features = pd.DataFrame(rng.normal(size=(200, 2)) + centres)
    features.columns = ["x", "y"]
    labels = [*["wren"] * 50, *[None] * 150]
    learnt = learn_from_answers(table_of(features), labels)
    asked = learnt.rows_of("unknown")
    assert sorted(asked) == list(range(50, 200))
    assert asked[0] == 50 + np.argmin(learnt.judged.p_values[50:])
    assert len({row // 50 for row in asked[:3].tolist()}) == 3


def test_suggestions_are_ordered_by_probability_within_a_category(three_kinds):
    learnt = learn_from_answers(*three_kinds)
    everything = learnt.suggestions(0.0)
    assert len(everything) == 90 - learnt.counts["unknown"]
    assert (np.diff(learnt.judged.probability[everything]) <= 0).all()
    assert learnt.suggestions(learnt.threshold).tolist() == learnt.rows_of("known").tolist()
    wrens = learnt.suggestions(0.5, "wren")
    assert {learnt.line_of(row).suggested for row in wrens} == {"wren"}
    assert learnt.precision_of("wren").at(0.5).rows == len(wrens)
    assert learnt.precision.at(0.5).rows == len(learnt.suggestions(0.5))
    assert (np.diff(learnt.judged.margin[learnt.rows_of("ambiguous")]) >= 0).all()
    with pytest.raises(InputError) as error:
        learnt.suggestions(0.5, "owl")
    assert str(error.value) == messages.NOT_LEARNT
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
    assert learnt.notes == [messages.FEW_ROWS, messages.NO_PROMISE]
    assert learnt.line_of(7).suggested == "tit"
    assert learnt.line_of(8).verdict == "unknown"


@pytest.mark.parametrize(
    ("labels", "suggested"),
    [(["wren", "tit", None, None], ["tit", "wren"]), (["wren", "wren", None, None], ["wren"] * 2)],
)
def test_two_answers_are_enough_to_begin(labels, suggested):
    features = pd.DataFrame({"x": [0.0, 1.0, 1.1, 0.1], "y": [3.0, 1.0, 1.2, 2.9]})
    learnt = learn_from_answers(table_of(features), labels)
    assert [learnt.line_of(row).suggested for row in (2, 3)] == suggested
    assert learnt.threshold is None
    assert learnt.counts["known"] == 0
    assert messages.NO_PROMISE in learnt.notes


def test_one_category_is_learnt_with_a_note_on_what_is_missing():
    learnt = learn_from_answers(table_of(pd.DataFrame({"x": [0.0, 0.1, 0.2]})), ["wren"] * 3)
    assert learnt.notes == [messages.ONE_CATEGORY]
    assert learnt.summary.endswith(messages.NO_OTHER_ROWS)
    assert learnt.rows_of("unknown").tolist() == []


@pytest.mark.parametrize(("labels", "message"), messages.TOO_FEW_LABELS)
def test_too_few_labels_are_told_with_what_is_missing(labels, message):
    assert what_is_missing(Counter(filter(None, labels))) == message
    with pytest.raises(InputError) as error:
        learn_from_answers(table_of(pd.DataFrame({"x": np.arange(6.0)})), labels)
    assert str(error.value) == message


def test_many_categories_of_single_rows_need_more_answers():
    sizes = {f"kind {i}": 1 for i in range(60)} | {"kind 0": 2}
    assert what_is_missing(sizes) == messages.MANY_CATEGORIES


def test_rows_called_unknown_count_as_unlabelled():
    features = pd.DataFrame({"x": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2, 0.15, 5.0]})
    labels = ["wren", "wren", "wren", "tit", "tit", "tit", "unknown", None]
    learnt = learn_from_answers(table_of(features), labels)
    assert learnt.names == ["tit", "wren"]
    assert learnt.line_of(6).suggested == "wren"
    assert learnt.notes[0] == messages.CALLED_UNKNOWN


def test_a_rejected_suggestion_is_not_made_again(three_kinds):
    table, labels = three_kinds
    before = learn_from_answers(table, labels)
    row = int(before.suggestions(0.0, "wren")[0])
    negatives = [Negative(row, "wren"), Negative(row, "never met")]
    after = learn_from_answers(table, labels, negatives=negatives)
    assert after.line_of(row).probability < 0.5 < before.line_of(row).probability
    others = before.suggestions(0.9, "tit")
    assert after.judged.probability[others] == pytest.approx(before.judged.probability[others])


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
    assert learnt.model.columns == ["x", "sex", "song", "weight"]


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
    assert learnt.counts["known"] > 0.8 * 176
    right = np.repeat(["wren", "tit"], 100)
    known = np.flatnonzero(learnt.verdicts == VERDICTS.index("known"))
    assert np.mean([learnt.line_of(row).suggested == right[row] for row in known]) > 0.95


def test_contradictory_answers_make_no_row_known():
    rng = np.random.default_rng(5)
    features = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x", "y"])
    labels = [*rng.permutation(["wren", "tit", "jay"] * 20), *[None] * 60]
    learnt = learn_from_answers(table_of(features), labels)
    assert learnt.counts["known"] == 0
    assert learnt.notes == [messages.NO_PROMISE]
    assert len(learnt.suggestions(0.0)) == 60 - learnt.counts["unknown"] > 40


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
    assert alone.precision.at(0.0).answers == 60
    assert together.precision.at(0.0).answers == pytest.approx(10)
    assert alone.precision.at(0.6).precision > 0.95
    assert together.precision.at(0.6).high < 0.95
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
