"""Lists of rows to review: which are in them, their order, and that it stays."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from kernova import InputError
from kernova.workbench.review.decisions import Decisions, Selection
from kernova.workbench.review.query import ColumnFilter, ReviewQuery
from kernova.workbench.review.reviewing import Reviewing
from tests.workbench.review.conftest import N_ROWS, learn


@pytest.fixture
def reviewing(bench):
    return bench.part(Reviewing)


def rows_of(reviewing, **wanted):
    return reviewing.numbers(ReviewQuery(**wanted), 0, N_ROWS).rows


def save(bench, request):
    return bench.questions.save(request)


def test_pages_put_together_are_the_whole_list(reviewing):
    query = ReviewQuery(status="suggested")
    first = reviewing.page(query, 0, 50)
    pages = [
        reviewing.page(query, offset, 50, first.entries, first.learnt)
        for offset in range(0, first.total + 50, 50)
    ]
    rows = [one.row for page in pages for one in page.rows]
    assert len(rows) == len(set(rows)) == first.total
    assert rows == rows_of(reviewing, status="suggested")
    assert min(rows) >= 30
    p = [one.probability for page in pages for one in page.rows]
    assert p == sorted(p, reverse=True)


def test_suggestions_are_right_on_easy_rows(bench, reviewing):
    page = reviewing.page(ReviewQuery(status="suggested", category="carp"), 0, 50)
    assert [one.suggested for one in page.rows] == ["carp"] * len(page.rows)
    right = [bench.kinds[one.row] == "carp" for one in page.rows]
    assert np.mean(right) > 0.95


@pytest.mark.parametrize(
    ("order", "value"),
    [
        ("margin", lambda one: one.margin),
        ("table", lambda one: one.row),
        ("date", lambda one: one.at),
    ],
)
def test_orders(reviewing, order, value):
    status = "hand" if order == "date" else "suggested"
    query = ReviewQuery(status=status, order=order)
    found = [value(one) for one in reviewing.page(query, 0, N_ROWS).rows]
    assert found == sorted(found, reverse=order == "date")
    back = ReviewQuery(status=status, order=order, is_reversed=True)
    assert [value(one) for one in reviewing.page(back, 0, N_ROWS).rows] == found[::-1]


def test_random_order_is_the_same_among_fewer_rows(reviewing):
    everything = rows_of(reviewing, order="random")
    some = rows_of(reviewing, order="random", status="suggested")
    assert some == [row for row in everything if row in set(some)]
    assert everything != sorted(everything)


def test_every_status_has_its_rows(bench, reviewing):
    session = bench.discovery.session
    ids = session.ids_
    session.review.accept(ids[40:45], ["carp"] * 5, [0.9] * 5, expert="Bob")
    session.review.mark_unsure([ids[50]])
    session.review.flag([ids[60], ids[0]])
    session.review.note(ids[61], "torn fin")
    session.ask_row(ids[70], "Why not?")
    session.skip()
    expected = {
        "hand": list(range(30)), "accepted": [40, 41, 42, 43, 44], "unsure": [50], "skipped": [70],
        "flagged": [0, 60], "noted": [61], "prior": [],
    }  # fmt: skip
    for status, rows in expected.items():
        assert sorted(rows_of(reviewing, status=status)) == rows, status
    unlabelled = set(rows_of(reviewing, status="unlabelled"))
    assert len(unlabelled) == N_ROWS - 35
    suggested = set(rows_of(reviewing, status="suggested"))
    assert suggested < unlabelled
    assert not suggested & {50, 70}
    assert rows_of(reviewing, expert="Bob") == [40, 41, 42, 43, 44]
    statuses = {one.row: one.status for one in reviewing.page(ReviewQuery(), 0, N_ROWS).rows}
    assert (statuses[0], statuses[40], statuses[50], statuses[70]) == (
        "hand", "accepted", "unsure", "skipped",
    )  # fmt: skip


def test_rows_without_category_have_neither_label_nor_suggestion(bench, reviewing):
    session = bench.discovery.session
    for kind in ("carp", "pike", "eel"):
        session.review.reject(session.ids_[100:103], kind)
    rows = reviewing.page(ReviewQuery(is_without_category=True), 0, N_ROWS).rows
    assert {100, 101, 102} <= {one.row for one in rows}
    assert all(one.label is None and one.suggested is None for one in rows)
    of_each = [len(rows_of(reviewing, category=kind)) for kind in ("carp", "pike", "eel")]
    assert len(rows) + sum(of_each) == N_ROWS


def test_columns_choose_rows(bench, reviewing):
    table = bench.discovery.table.features
    inside = rows_of(reviewing, columns=(ColumnFilter("length", low=5, high=15),), order="table")
    assert inside == np.flatnonzero(table["length"].between(5, 15)).tolist()
    both = (ColumnFilter("length", low=5), ColumnFilter("sex", contains="F"))
    expected = np.flatnonzero((table["length"] >= 5) & (table["sex"] == "f")).tolist()
    assert rows_of(reviewing, columns=both, order="table") == expected
    one = str(bench.discovery.table.ids.iloc[17])
    assert rows_of(reviewing, columns=(ColumnFilter("fish", contains=one),)) == [17]
    assert [one.name for one in reviewing.columns().columns] == ["fish", *table.columns]
    length = reviewing.columns().columns[1]
    assert (length.is_number, length.low) == (True, table["length"].min())


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (
            ColumnFilter("sex", low=1),
            "The column 'sex' holds texts, which have no lowest and highest value. Give a text "
            "that it contains instead.",
        ),
        (
            ColumnFilter("age", low=1),
            "There is no column 'age'. Columns: 'fish', 'length', 'width', 'sex'.",
        ),
    ],
)
def test_conditions_that_cannot_be_met(reviewing, condition, message):
    with pytest.raises(InputError) as raised:
        reviewing.page(ReviewQuery(columns=(condition,)), 0, 10)
    assert str(raised.value) == message


def test_times_and_probabilities_choose_rows(bench, reviewing):
    session = bench.discovery.session
    ids = session.ids_
    session.review.accept(ids[40:45], ["carp"] * 5, [0.5, 0.6, 0.7, 0.8, 0.9])
    found = rows_of(reviewing, status="accepted", below=0.8, order="table")
    assert found == [40, 41, 42]
    assert rows_of(reviewing, status="accepted", lowest=0.8, order="table") == [43, 44]
    now = datetime.now(UTC)
    for shift, number in ((timedelta(minutes=-9), 0), (timedelta(minutes=9), 5)):
        assert len(rows_of(reviewing, status="accepted", before=now + shift)) == number
        assert len(rows_of(reviewing, status="accepted", since=now + shift)) == 5 - number
        naive = (now + shift).replace(tzinfo=None)
        assert len(rows_of(reviewing, status="accepted", before=naive)) == number


def test_the_order_stays_while_others_label(bench, reviewing):
    query = ReviewQuery(status="suggested")
    first = reviewing.page(query, 0, 20)
    labelled = first.rows[3].row
    bench.discovery.session.label_row(bench.discovery.session.ids_[labelled], "eel", expert="Bob")
    again = reviewing.page(query, 0, 20, first.entries, first.learnt)
    assert [one.row for one in again.rows] == [one.row for one in first.rows]
    assert (again.rows[3].status, again.rows[3].label) == ("hand", "eel")
    anew = reviewing.page(query, 0, 20)
    assert labelled not in [one.row for one in anew.rows]
    assert anew.total == first.total - 1
    generation = learn(bench)
    later = reviewing.page(query, 0, 20, first.entries, first.learnt)
    assert (later.learnt, later.newest) == (first.learnt, generation)
    assert reviewing.page(query, 0, 20).learnt == generation


def test_an_order_that_is_not_known_any_longer_is_made_anew(reviewing):
    found = reviewing.page(ReviewQuery(status="suggested"), 0, 20, entries=1, learnt=1)
    assert found.entries != 1
    assert found.learnt == found.newest


def test_wrong_labels_come_first(bench, reviewing):
    wrong = [3, 11, 19]
    session = bench.discovery.session
    for row in wrong:
        other = "eel" if bench.kinds[row] == "carp" else "carp"
        session.label_row(session.ids_[row], other, expert="Anna")
    learn(bench)
    found = reviewing.page(ReviewQuery(status="doubtful", order="disagreement"), 0, 30).rows
    assert set(wrong) <= {one.row for one in found[:6]}
    assert all(one.other == bench.kinds[one.row] for one in found if one.row in wrong)
    assert all(one.other_probability > one.probability for one in found)


def test_the_curve_counts_the_rows_of_the_query(reviewing):
    query = ReviewQuery(category="carp", columns=(ColumnFilter("sex", contains="f"),))
    points = reviewing.precision(query).points
    for place in (0, 50, 90):
        found = ReviewQuery(
            "carp", status="suggested", columns=query.columns, lowest=points[place].threshold
        )
        assert points[place].rows == reviewing.page(found, 0, 1).total
    whole = reviewing.precision(ReviewQuery(category="carp")).points
    assert whole[0].answers == points[0].answers
    assert whole[0].rows > points[0].rows


def test_before_anything_is_learnt_all_rows_are_listed(tmp_path):
    from tests.web.in_process import fish, opened

    fish(tmp_path)
    bench = opened(tmp_path, strategy="random")
    reviewing = bench.part(Reviewing)
    page = reviewing.page(ReviewQuery(), 0, 100)
    assert (page.total, page.learnt, page.newest) == (60, None, None)
    assert {one.status for one in page.rows} == {"unlabelled"}
    with pytest.raises(InputError, match=r"^Nothing has been learnt yet"):
        reviewing.precision(ReviewQuery())
    flagged = bench.questions.save(
        bench.part(Decisions).flag(
            None, Selection(query=ReviewQuery(), count=60), "all", is_on=True
        )
    )
    assert flagged.saved.words == "60 rows flagged."
    bench.close()
