"""Log of a session with very many answers: several experts, with corrections among them."""

from datetime import UTC, datetime, timedelta

import numpy as np

from kernova.discover.events import (
    Answered,
    Merged,
    PriorLabels,
    Record,
    Renamed,
    RowLabelled,
    RowsLabelled,
    Skipped,
    Undone,
)

EXPERTS = ("Anna", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gil", "Hana")


def large_table(n_rows, n_columns=8, seed=0):
    """Return rows around centres, as floats of a few digits."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=4, size=(50, n_columns))
    return (centers[rng.integers(50, size=n_rows)] + rng.normal(size=(n_rows, n_columns))).round(3)


def large_log(n_rows, n_answers, n_categories, seed=0):
    """Return records with ``n_answers`` answers in effect, and some of all other kinds."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_rows).tolist()
    names = [f"species {number:04d}" for number in range(n_categories)]
    codes = rng.permutation(
        np.concatenate([np.arange(n_categories), rng.integers(n_categories, size=n_answers)])
    ).tolist()
    prior = [order.pop() for _ in range(20)]
    records = [Record(PriorLabels(tuple(prior), tuple(names[:20])), at=_time(0))]

    def add(event):
        number = len(records)
        key = f"{number:08x}-0000-4000-8000-{number:012x}"
        records.append(Record(event, EXPERTS[number % len(EXPERTS)], key, _time(number)))

    answered = []
    for number in range(n_answers):
        row, name = order.pop(), names[codes[number]]
        answered.append(row)
        add(Answered(row, name))
        for event in _others(number, name, names[codes[number - 1]], answered, order, len(records)):
            add(event)
    return records


def _others(number, name, other, answered, order, n_records):
    """Return what follows some answers: skips, opinions, undos, new names and merges."""
    match number % 100:
        case 7:
            return [Skipped(order.pop())]
        case 19:
            return [RowLabelled(answered[number * 7919 % len(answered)], other)]
        case 53:
            return [RowsLabelled(tuple(answered[-5:]), other)]
        case 71:
            return [Answered(order.pop(), name), Undone(n_records + 1)]
    if number % 1000 == 501:
        return [Renamed(name, f"{name} bis"), Renamed(f"{name} bis", name)]
    if number % 1000 == 801:
        return [Answered(order.pop(), f"synonym {number}"), Merged(name, (f"synonym {number}",))]
    return []


def _time(number):
    time = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
    return time.isoformat(timespec="milliseconds")
