"""Tables with a header line: CSV by commas, semicolons or tabs, columns named by the user."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from kernova.audio.annotations.fields import (
    Place,
    checked_segment,
    columns_by_role,
    frequency_text,
    optional_number,
    score_text,
    time_text,
)
from kernova.audio.annotations.segments import Segment
from kernova.errors import InputError
from kernova.textfiles import first_line, number_in

_USUAL_NAMES = {
    "start": ("start",),
    "end": ("end",),
    "label": ("label",),
    "score": ("score",),
    "low": ("low", "low_hz"),
    "high": ("high", "high_hz"),
    "file": ("file",),
}

_WRITTEN = ("file", "label", "start", "end", "score", "low", "high")


def read_separated_annotation(
    text: str, source: str, columns: Mapping[str, str] | None
) -> list[Segment]:
    r"""Read a table of segments, one a row; columns that are about nothing here are passed over.

    Examples
    --------
    >>> from kernova.audio.annotations.csv import read_separated_annotation
    >>> table = "onset_s;end;label\n0,5;1;01\n"
    >>> read_separated_annotation(table, "song.csv", {"start": "onset_s"})
    [Segment(start=0.5, end=1.0, label='01', score=None, low_hz=None, high_hz=None, file=None)]
    """
    rows = _rows(text, source)
    _, header = next(rows, (0, []))
    if not header:
        raise InputError(f"{source} is empty; a table of annotations needs at least a header line.")
    found = columns_by_role(header, _USUAL_NAMES, columns, source)
    segments = []
    for line, row in rows:
        place = Place(source, line)
        if len(row) != len(header):
            raise InputError(
                f"{place} has {len(row)} fields where the header has {len(header)}; correct it."
            )
        segments.append(_segment({role: row[i] for role, i in found.items()}, place))
    return segments


def separated_annotation(segments: Sequence[Segment]) -> str:
    """Write all columns, also those that are empty, so that tables can be put together."""
    rows = [
        (
            segment.file or "",
            segment.label.replace("\0", " "),
            time_text(segment.start),
            time_text(segment.end),
            "" if segment.score is None else score_text(segment.score),
            "" if segment.low_hz is None else frequency_text(segment.low_hz),
            "" if segment.high_hz is None else frequency_text(segment.high_hz),
        )
        for segment in segments
    ]
    return "".join(",".join(map(_quoted, row)) + "\n" for row in [_WRITTEN, *rows])


def _quoted(field: str) -> str:
    """Quote what would break a row; older ``csv`` writers leave a lone carriage return bare."""
    if not any(mark in field for mark in ',"\r\n'):
        return field
    doubled = field.replace('"', '""')
    return f'"{doubled}"'


def separator_of(header: str) -> str:
    """Guess the mark between fields: the most frequent one of the header line."""
    return max(",;\t", key=header.count)


def _rows(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Give each row that is not blank with the number of the line that it begins on."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator_of(first_line(text)),
        strict=True,
    )
    line = 1
    try:
        for row in reader:
            if any(field.strip() for field in row):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{Place(source, line)} cannot be read as separated text; a quotation mark is never "
            "closed, or stands where none belongs."
        ) from error


def _segment(fields: Mapping[str, str], place: Place) -> Segment:
    return checked_segment(
        place,
        Segment(
            number_in(fields["start"], "the start", place),
            number_in(fields["end"], "the end", place),
            fields["label"],
            optional_number(fields.get("score", ""), "the score", place),
            optional_number(fields.get("low", ""), "the low frequency", place),
            optional_number(fields.get("high", ""), "the high frequency", place),
            fields.get("file", "") or None,
        ),
    )
