"""Raven selection table: the intervals of the rows in their recordings, with their labels."""

from typing import Any, Final

from kernova.audio.annotations.fields import one_line
from kernova.audio.annotations.raven import raven_table
from kernova.audio.annotations.segments import Segment
from kernova.workbench.exports.labels import joined
from kernova.workbench.exports.snapshot import Snapshot

# Columns of features that hold the limits of a row's frequencies.
_LOW: Final = ("low freq (hz)", "low_hz", "low")
_HIGH: Final = ("high freq (hz)", "high_hz", "high")
# Readers of such tables want a text in every row; the status says that it is no label.
_NO_LABEL: Final = "?"
#: Status of rows that have a remark but no label.
UNLABELLED: Final = "unlabelled"
_FURTHER: Final = {
    "Id": "id",
    "Status": "status",
    "Expert": "expert",
    "Time": "time",
    "Confidence": "confidence",
    "Heading": "heading",
    "Further Labels": "further_labels",
    "Flagged": "flagged",
    "Note": "note",
}


def raven_reason_against(snapshot: Snapshot) -> str | None:
    """Return why there is no Raven table of a project; None if there is one."""
    if snapshot.media.kind != "sound":
        return "Raven tables need recordings of the rows."
    return None


def raven_text(snapshot: Snapshot) -> bytes:
    """Return one selection for each row with a label or a remark, and who gave it."""
    low, high = (_frequencies(snapshot, names) for names in (_LOW, _HIGH))
    rows = [row for row in snapshot.rows_with_content if snapshot.media.interval(row) is not None]
    segments = [_segment(snapshot, row, low[row], high[row]) for row in rows]
    lines = raven_table(segments, None).splitlines()
    facts = _facts(snapshot, rows)
    cells_of = ([_text(one.get(name)) for name in _FURTHER.values()] for one in facts)
    further = [list(_FURTHER), *cells_of]
    return "".join(
        "\t".join([line, *cells]) + "\n" for line, cells in zip(lines, further, strict=True)
    ).encode()


def _segment(snapshot: Snapshot, row: int, low: float | None, high: float | None) -> Segment:
    interval = snapshot.media.interval(row)
    assert interval is not None
    probability = float(snapshot.probability[row])
    return Segment(
        interval.start,
        interval.end,
        snapshot.labels[row] or _NO_LABEL,
        None if probability != probability else probability,  # NaN
        low,
        high,
        interval.name,
    )


def _frequencies(snapshot: Snapshot, names: tuple[str, ...]) -> list[float | None]:
    """Return the limits in the table; None without such a column, or where it is empty."""
    features = None if snapshot.table is None else snapshot.table.features
    columns = {} if features is None else {str(name).strip().lower(): name for name in features}
    found = next((columns[name] for name in names if name in columns), None)
    if features is None or found is None:
        return [None] * snapshot.n_rows
    return [None if value != value else float(value) for value in features[found].tolist()]


def _facts(snapshot: Snapshot, rows: list[int]) -> list[dict[str, Any]]:
    headings = (snapshot.headings.get(snapshot.labels[row] or "") for row in rows)
    return [
        {
            "id": str(snapshot.ids[row]),
            "heading": heading,
            "status": UNLABELLED,
            **snapshot.facts_of(row),
        }
        for row, heading in zip(rows, headings, strict=True)
    ]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if value is True:
        return "yes"
    return one_line(joined(value) if isinstance(value, list) else str(value))
