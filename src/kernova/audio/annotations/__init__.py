"""Annotations of recordings: Raven tables, Audacity labels, Praat TextGrids, and CSV.

Every reader returns a list of :class:`Segment`; every writer takes one. Contents of the formats:

=========  ========  =======  ===========  ====  =======================================
format     times to  scores   frequencies  file  labels
=========  ========  =======  ===========  ====  =======================================
csv        1 ns      yes      yes          yes   any text
raven      1 ns      yes      yes          yes   tabs and line ends become spaces
audacity   1 ns      no       yes          no    tabs and line ends become spaces
textgrid   1 ns      no       no           no    the same; not empty; overlapping segments
                                                 get a tier for each label
=========  ========  =======  ===========  ====  =======================================

Scores are written to six significant digits, frequencies to a thousandth of a hertz.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from kernova.audio.annotations.audacity import audacity_labels, read_audacity
from kernova.audio.annotations.csv import (
    read_separated_annotation,
    separated_annotation,
    separator_of,
)
from kernova.audio.annotations.fields import writable
from kernova.audio.annotations.raven import BEGIN, END, raven_table, read_raven
from kernova.audio.annotations.segments import (
    Segment,
    check_segments,
    segment_faults,
    segments_by_file,
)
from kernova.audio.annotations.textgrid import read_textgrid, textgrid
from kernova.errors import InputError, quoted
from kernova.files import replacing
from kernova.textfiles import first_line, is_number, read_text

__all__ = [
    "ANNOTATION_ENDINGS",
    "ANNOTATION_FORMATS",
    "Segment",
    "check_segments",
    "read_annotations",
    "segment_faults",
    "segments_by_file",
    "write_annotations",
]

ANNOTATION_FORMATS = ("raven", "audacity", "textgrid", "csv")

# Endings of file names that programs expect of the formats.
ANNOTATION_ENDINGS = {
    "raven": ".selections.txt",
    "audacity": ".labels.txt",
    "textgrid": ".TextGrid",
    "csv": ".csv",
}


def read_annotations(
    path: str | Path,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    tier: str | None = None,
) -> list[Segment]:
    r"""Read the segments of an annotation file.

    Parameters
    ----------
    path : path
        Text in UTF-8, or in UTF-16 with a byte order mark.
    format : {"raven", "audacity", "textgrid", "csv"}, optional
        Recognised by the content and the extension of the file if not given.
    columns : mapping, optional
        For Raven tables and CSV: names of columns that differ from the default ones, such as
        ``{"start": "onset_s", "label": "Species"}``. The keys are "start", "end", "label",
        "score", "low", "high" and "file".
    tier : str, optional
        For TextGrids: the tier to read; all of them by default.

    Returns
    -------
    list of Segment
        In the order of the file (TextGrids: in order of time). Labels are text as written.

    Raises
    ------
    InputError
        With the file and, if there is one, the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.audio.annotations import read_annotations
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "songs.csv"
    >>> _ = path.write_text("file,label,start,end\n1.wav,01,1.063,1.151\n")
    >>> read_annotations(path)[0][:3]
    (1.063, 1.151, '01')
    """
    text, source = read_text(path), str(path)
    kind = _checked_format(format) if format is not None else _recognised(text, source)
    if columns is not None and kind not in ("raven", "csv"):
        raise InputError(f"{source} has no columns to choose: it is read as '{kind}'.")
    if tier is not None and kind != "textgrid":
        raise InputError(f"{source} has no tiers to choose: it is read as '{kind}'.")
    if kind == "raven":
        return read_raven(text, source, columns)
    if kind == "audacity":
        return read_audacity(text, source)
    if kind == "textgrid":
        return read_textgrid(text, source, tier)
    return read_separated_annotation(text, source, columns)


def write_annotations(
    segments: Iterable[Segment],
    path: str | Path,
    *,
    format: str,
    sample_rate: float | None = None,
    duration: float | None = None,
    channel: int = 1,
    raw: bool = False,
) -> None:
    """Write segments to a file; without segments, a table has only its header.

    Parameters
    ----------
    segments : iterable of Segment
        Fields that the format does not have (see :mod:`kernova.audio.annotations`) are left out.
    path : path
        File to write, replaced as a whole.
    format : {"raven", "audacity", "textgrid", "csv"}
        ``ANNOTATION_ENDINGS`` has the extension that other programs expect.
    sample_rate : float, optional
        Sample rate of the recording: frequencies are clipped to half of it, and Raven selections
        without frequencies span all of them.
    duration : float, optional
        Length of the recording in seconds, which a TextGrid spans; required without segments.
    channel : int, default=1
        Channel of Raven selections, counted from 1.
    raw : bool, default=False
        Write labels to CSV as they are. By default those that a spreadsheet would run as formulas
        get an apostrophe, which :func:`read_annotations` removes. The other formats are for
        programs that would take an apostrophe for a part of the label, and never have one.

    Raises
    ------
    InputError
        If a segment has times out of order or numbers that are not finite, or the segments belong
        to several recordings and the format describes one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.audio.annotations import Segment, write_annotations
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "song.labels.txt"
    >>> write_annotations([Segment(1.063, 1.151, "01")], path, format="audacity")
    >>> path.read_text().split()
    ['1.063', '1.151', '01']
    """
    kind = _checked_format(format)
    kept = [writable(segment, sample_rate) for segment in segments]
    if kind == "raven":
        text = raven_table(kept, sample_rate, channel)
    elif kind == "audacity":
        text = audacity_labels(kept)
    elif kind == "textgrid":
        text = textgrid(kept, duration)
    else:
        text = separated_annotation(kept, raw=raw)
    with replacing(path) as scratch:
        scratch.write_bytes(text.encode("utf-8"))


def _checked_format(format: str) -> str:
    if format not in ANNOTATION_FORMATS:
        raise InputError(
            f"There is no annotation format {quoted(format)}; choose one of "
            f"{', '.join(map(repr, ANNOTATION_FORMATS))}."
        )
    return format


def _recognised(text: str, source: str) -> str:
    """Return the format by the first line of the file, or else by its ending."""
    ending = Path(source).suffix.lower()
    first = first_line(text)
    fields = first.split("\t")
    if "ooTextFile" in first or ending == ".textgrid":
        return "textgrid"
    if BEGIN in fields or END in fields:
        return "raven"
    if len(fields) > 1 and is_number(fields[0]) and is_number(fields[1]):
        return "audacity"
    if ending in (".csv", ".tsv") or (first and _looks_like_a_header(first)):
        return "csv"
    if not first:
        return "audacity"  # the only format in which an empty list is an empty file
    raise InputError(
        f"The annotation format of {source} cannot be recognised from its first line, "
        f"{quoted(first)}; choose format= from {', '.join(map(repr, ANNOTATION_FORMATS))}."
    )


def _looks_like_a_header(first: str) -> bool:
    names = {name.strip().strip('"').lower() for name in first.split(separator_of(first))}
    return {"start", "end", "label"} <= names
