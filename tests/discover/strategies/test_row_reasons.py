"""What an expert is told about strangers and crowds."""

import pytest

from kernova.discover.questions import Answer
from kernova.discover.strategies.spacing import RowFacts, reason_of_row

CROWD = RowFacts(
    n_group=14,
    is_more=False,
    closer=0.1,
    wider=0.9,
    n_rows=6664,
    nearest=Answer(3, "usual"),
    distance=6.0,
    spacing=1.2,
    usual_spacing=2.0,
)
STRANGER = CROWD._replace(n_group=1, closer=0.998, wider=0.0018, distance=50.0, spacing=20.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {},
            "A tight group of 14 rows, unlike anything named so far: the nearest, named 'usual', "
            "is 5 times as far away as they are from each other.",
        ),
        (
            {"n_group": 10, "is_more": True, "wider": 0.3, "distance": 1.8},
            "A group of at least 10 rows, not far from what was named so far: the nearest, named "
            "'usual', is 1.5 times as far away as they are from each other.",
        ),
        (
            {"n_group": 1, "distance": 1.0, "nearest": Answer(3, None)},
            "A row, not far from what was named so far: the nearest, skipped, is no farther away "
            "than neighbours usually are.",
        ),
    ],
)
def test_crowds_are_measured_by_how_far_their_rows_are_from_each_other(changes, reason):
    assert reason_of_row("crowds", CROWD._replace(**changes)) == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {},
            "A row that stands apart, unlike anything named so far: the nearest, named 'usual', is "
            "25 times as far away as neighbours usually are. Only 12 of 6,664 rows stand more "
            "apart.",
        ),
        (
            {"n_group": 9, "is_more": True, "wider": 0.0, "distance": 1e6},
            "At least 9 rows that stand apart, unlike anything named so far: the nearest, named "
            "'usual', is over 1,000 times as far away as neighbours usually are. No row stands "
            "more apart.",
        ),
        (
            {"wider": 1 / 6664, "distance": 3.0},
            "A row that stands apart, not far from what was named so far: the nearest, named "
            "'usual', is 1.5 times as far away as neighbours usually are. Only 1 of 6,664 rows "
            "stands more apart.",
        ),
        (
            {"closer": 0.8, "wider": 0.2, "distance": 6.0},
            "A row that stands apart, unlike anything named so far: the nearest, named 'usual', is "
            "3 times as far away as neighbours usually are. 80 % of all rows stand less apart.",
        ),
    ],
)
def test_strangers_are_measured_by_the_usual_distance_of_neighbours(changes, reason):
    assert reason_of_row("strangers", STRANGER._replace(**changes)) == reason
