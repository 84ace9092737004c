"""Reasons for a question in terms of row spacing."""

import pytest

from kernova.discover.questions import Answer
from kernova.discover.strategies.spacing import RowFacts, row_reason

DENSE = RowFacts(
    n_group=14,
    is_more=False,
    closer=0.1,
    wider=0.9,
    n_rows=6664,
    nearest=Answer(3, "common"),
    distance=6.0,
    spacing=1.2,
    median_spacing=2.0,
)


SPARSE = DENSE._replace(n_group=1, closer=0.998, wider=0.0018, distance=50.0, spacing=20.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {},
            "A dense group of 14 rows, far from every row labelled so far: the nearest, "
            "labelled 'common', is 5 times as far away as its rows are from each other.",
        ),
        (
            {"n_group": 10, "is_more": True, "wider": 0.3, "distance": 1.8},
            "A group of at least 10 rows, not far from a row labelled so far: the nearest, "
            "labelled 'common', is 1.5 times as far away as its rows are from each other.",
        ),
        (
            {"n_group": 1, "distance": 1.0, "nearest": Answer(3, None)},
            "A row, not far from a row labelled so far: the nearest, skipped, is no farther "
            "away than neighbours typically are.",
        ),
    ],
)
def test_dense_groups_are_compared_with_their_own_spacing(changes, reason):
    assert row_reason("dense", DENSE._replace(**changes)) == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {},
            "An isolated row, far from every row labelled so far: the nearest, labelled "
            "'common', is 25 times as far away as neighbours typically are. Only 12 of 6,664 "
            "rows are more isolated.",
        ),
        (
            {"n_group": 9, "is_more": True, "wider": 0.0, "distance": 1e6},
            "An isolated group of at least 9 rows, far from every row labelled so far: the "
            "nearest, labelled 'common', is over 1,000 times as far away as neighbours "
            "typically are. No row is more isolated.",
        ),
        (
            {"wider": 1 / 6664, "distance": 3.0},
            "An isolated row, not far from a row labelled so far: the nearest, labelled "
            "'common', is 1.5 times as far away as neighbours typically are. Only 1 of 6,664 "
            "rows is more isolated.",
        ),
        (
            {"closer": 0.8, "wider": 0.2, "distance": 6.0},
            "An isolated row, far from every row labelled so far: the nearest, labelled "
            "'common', is 3 times as far away as neighbours typically are. 80 % of all rows "
            "are less isolated.",
        ),
    ],
)
def test_isolated_rows_are_compared_with_the_median_spacing(changes, reason):
    assert row_reason("sparse", SPARSE._replace(**changes)) == reason
