"""CSV annotations: tables with a header line, separated by commas, semicolons or tabs."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence

from kernova.audio.annotations.fields import (
    SegmentBudget,
    SourceLine,
    checked_segment,
    columns_by_role,
    frequency_text,
    optional_number,
    score_text,
    time_text,
)
from kernova.audio.annotations.segments import Segment
from kernova.errors import InputError
from kernova.tables.spreadsheets import original_text, safe_text
from kernova.textfiles import first_line, parse_number

_DEFAULT_NAMES = {
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
    r"""Read a table of segments, one per row; columns without a role are ignored.

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
    budget = SegmentBudget(source, text)
    budget.check_columns(len(header))
    found = columns_by_role(header, _DEFAULT_NAMES, columns, source)
    # A table that separated_annotation wrote; in others, an apostrophe is a part of the label.
    is_ours = tuple(header) == _WRITTEN
    restored: Callable[[str], str] = original_text if is_ours else str
    segments = []
    for line, row in rows:
        location = SourceLine(source, line)
        if len(row) != len(header):
            raise InputError(
                f"{location} has {len(row)} fields where the header has {len(header)}; correct it."
            )
        segments.append(_segment({role: restored(row[i]) for role, i in found.items()}, location))
        budget.add_segment()
    return segments


def separated_annotation(segments: Sequence[Segment], *, raw: bool = False) -> str:
    """Return the text of a table with all columns, even empty ones, to ease joining tables.

    Labels and files that a spreadsheet would run as formulas are marked, unless ``raw`` is true;
    :func:`read_separated_annotation` removes the marks of such a table.
    """
    written: Callable[[str], str] = str if raw else safe_text
    rows = [
        (
            written(segment.file or ""),
            written(segment.label.replace("\0", " ")),
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
    """Quote a field if needed; older ``csv`` writers do not quote a lone carriage return."""
    if not any(mark in field for mark in ',"\r\n'):
        return field
    doubled = field.replace('"', '""')
    return f'"{doubled}"'


def separator_of(header: str) -> str:
    """Return the separator of fields: the most frequent one of the header line."""
    return max(",;\t", key=header.count)


def _rows(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank with the number of its first line."""
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
        is_long = "field limit" in str(error)
        problem = "a field is too long" if is_long else "a quotation mark is unbalanced"
        raise InputError(
            f"{SourceLine(source, line)} cannot be read as separated text: {problem}."
        ) from error


def _segment(fields: Mapping[str, str], location: SourceLine) -> Segment:
    return checked_segment(
        location,
        Segment(
            parse_number(fields["start"], "the start", location),
            parse_number(fields["end"], "the end", location),
            fields["label"],
            optional_number(fields.get("score", ""), "the score", location),
            optional_number(fields.get("low", ""), "the low frequency", location),
            optional_number(fields.get("high", ""), "the high frequency", location),
            fields.get("file", "") or None,
        ),
    )
