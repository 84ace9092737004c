"""Raven selection tables: tabs, a header line, and one row for each view of a selection."""

from collections.abc import Mapping, Sequence

from kernova.audio.annotations.fields import (
    TIME_DECIMALS,
    SegmentBudget,
    SourceLine,
    checked_segment,
    columns_by_role,
    frequency_text,
    one_line,
    optional_number,
    score_text,
    time_text,
)
from kernova.audio.annotations.segments import Segment
from kernova.errors import InputError
from kernova.textfiles import lines_in, parse_number

BEGIN, END = "Begin Time (s)", "End Time (s)"
_LOW, _HIGH = "Low Freq (Hz)", "High Freq (Hz)"
_FILE, _OFFSET = "Begin File", "File Offset (s)"
_WRITTEN = ("Selection", "View", "Channel", BEGIN, END, _LOW, _HIGH, "Annotation", "Score")

# Columns without a role that are read, too.
_OTHER_COLUMNS = ("Selection", "View", _OFFSET)

_DEFAULT_NAMES = {
    "start": (BEGIN,),
    "end": (END,),
    # Users and programs name the column of labels differently.
    "label": ("Annotation", "Label", "Species", "Common Name", "Species Code", "Tag"),
    "score": ("Score", "Confidence"),
    "low": (_LOW,),
    "high": (_HIGH,),
    "file": (_FILE, "Begin Path"),
}


def read_raven(text: str, source: str, columns: Mapping[str, str] | None) -> list[Segment]:
    r"""Read a selection table; a selection that is listed once for each view is one segment.

    Where the table covers several recordings, ``File Offset (s)`` counts from the start of
    ``Begin File``, and ``Begin Time (s)`` from the start of the first recording; segments count
    from the start of their own file.

    Examples
    --------
    >>> from kernova.audio.annotations.raven import read_raven
    >>> table = "Selection\tBegin Time (s)\tEnd Time (s)\tSpecies\n1\t0.5\t0.75\tEATO\n"
    >>> read_raven(table, "song.selections.txt", None)[0].label
    'EATO'
    """
    rows = ((i, line) for i, line in enumerate(lines_in(text), 1) if line.strip())
    header = next(rows, (0, ""))[1].split("\t")
    if header == [""]:
        raise InputError(f"{source} is empty; a selection table needs at least a header line.")
    budget = SegmentBudget(source, text)
    budget.check_columns(len(header))
    found = columns_by_role(header, _DEFAULT_NAMES, columns, source)
    positions = {name.strip(): i for i, name in enumerate(header)}
    positions = {name: positions[name] for name in _OTHER_COLUMNS if name in positions}
    chosen: dict[tuple[object, ...], Segment] = {}
    for i, line in rows:
        location = SourceLine(source, i)
        fields = _fields(line, len(header), location)
        cells = {name: _field(fields, at) for name, at in positions.items()}
        roles = {role: _field(fields, at) for role, at in found.items()}
        segment = _segment(roles, cells, location)
        # Without a number, each row is a separate selection.
        number = cells.get("Selection", "").strip() or location
        key = (number, segment.start, segment.end, segment.label, segment.file)
        if key not in chosen or cells.get("View", "").startswith("Spectrogram"):
            chosen[key] = segment
            budget.add_segment()
    return list(chosen.values())


def raven_table(segments: Sequence[Segment], sample_rate: float | None, channel: int = 1) -> str:
    """Return the text of a selection table.

    Selections without frequencies span the whole frequency range, as Raven shows them. Without the
    sample rate their cells are empty.
    """
    has_files = any(segment.file for segment in segments)
    names = (*_WRITTEN, _FILE, _OFFSET) if has_files else _WRITTEN
    rows = [
        (
            str(number),
            f"Spectrogram {channel}",
            str(channel),
            *_row(segment, sample_rate, has_files),
        )
        for number, segment in enumerate(segments, start=1)
    ]
    return "".join("\t".join(row) + "\n" for row in [names, *rows])


def _fields(line: str, n_columns: int, location: SourceLine) -> list[str]:
    fields = line.split("\t")
    if len(fields) > n_columns and any(field.strip() for field in fields[n_columns:]):
        raise InputError(
            f"{location} has {len(fields)} fields where the header has {n_columns}; correct it."
        )
    return fields[:n_columns]


def _field(fields: Sequence[str], at: int) -> str:
    # Some editors remove the tabs of empty cells at the end of a line.
    return fields[at] if at < len(fields) else ""


def _segment(fields: Mapping[str, str], cells: Mapping[str, str], location: SourceLine) -> Segment:
    start = parse_number(fields["start"], "the begin time", location)
    end = parse_number(fields["end"], "the end time", location)
    file = fields.get("file", "") or None
    if file is not None:
        offset = optional_number(cells.get(_OFFSET, ""), "the file offset", location)
        if offset is not None and offset != start:
            # Rounding keeps sums of decimal numbers short: 12.34, not 12.340000000000003.
            start, end = offset, round(end + (offset - start), TIME_DECIMALS)
    return checked_segment(
        location,
        Segment(
            start,
            end,
            fields["label"],
            optional_number(fields.get("score", ""), "the score", location),
            optional_number(fields.get("low", ""), "the low frequency", location),
            optional_number(fields.get("high", ""), "the high frequency", location),
            file,
        ),
    )


def _row(segment: Segment, sample_rate: float | None, has_files: bool) -> tuple[str, ...]:
    low, high = segment.low_hz, segment.high_hz
    if sample_rate is not None:
        low = 0.0 if low is None else low
        high = sample_rate / 2 if high is None else high
    row = (
        time_text(segment.start),
        time_text(segment.end),
        "" if low is None else frequency_text(low),
        "" if high is None else frequency_text(high),
        one_line(segment.label),
        "" if segment.score is None else score_text(segment.score),
    )
    return (*row, one_line(segment.file or ""), time_text(segment.start)) if has_files else row
