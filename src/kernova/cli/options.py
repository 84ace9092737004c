"""Options that several commands share, worded once.

Options that the commands about notes share, worded once.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kernova.cli.console import MAX_SEED

if TYPE_CHECKING:
    from kernova.audio.reading import Channel
    from kernova.notes.finder import NoteFinder
    from kernova.notes.training import Lessons


Scaling = Annotated[
    Literal["standard", "minmax", "none"], typer.Option(help="How number columns are scaled.")
]
Missing = Annotated[
    Literal["refuse", "drop", "fill"],
    typer.Option(help="Missing values: refuse the file, drop such rows, or fill them in."),
]
IdColumn = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that names the rows.")]
LabelColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column kept out of the features and carried along."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column that is no feature; may be repeated."),
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write every row's verdict here.")
]
Report = Annotated[
    Path | None, typer.Option(help="Write a page with pictures here (one HTML file).")
]
Confidence = Annotated[float, typer.Option(help="How sure that promise is to be, below 1.")]
Bandwidth = Annotated[
    str, typer.Option(help="Kernel width for depth: nearest, reach, median, or a number.")
]
SplittingSeed = Annotated[
    int, typer.Option(min=0, max=MAX_SEED, help="Decides which rows are held out.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def number_or_name(text: str) -> "str | float":
    """Read an option that takes a number or a word."""
    try:
        return float(text)
    except ValueError:
        return text


def check_targets(
    output: Path | None, report: Path | None, *others: Path | None, kept: list[Path]
) -> None:
    """Refuse, before the work and not after it, files that can never be written."""
    from kernova.files import check_ending, ensure_distinct, ensure_writable
    from kernova.tables.formats import check_table_path

    if output is not None:
        check_table_path(output)
    if report is not None:
        check_ending(report, (".html", ".htm"), "a page")
    wanted = [path for path in (output, report, *others) if path is not None]
    ensure_distinct(wanted, kept=kept)
    for path in wanted:
        ensure_writable(path)


Format = Literal["raven", "audacity", "textgrid", "csv"]

Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model that kernova notes learn wrote (.kernova).")
]
Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="SOURCES",
        help="Recordings, each followed by its annotation; or a table with the columns file, "
        "label and, unless each file is one note, start and end.",
    ),
]
Labels = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Only these labels, by commas.")
]
AnnotationFormat = Annotated[
    Format | None,
    typer.Option(help="Format of the annotation; recognised by its content if not given."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="ROLE=NAME",
        help="Column of the annotation that is not called as usual, such as label=Species; roles: "
        "start, end, label, file. May be repeated.",
    ),
]
Tier = Annotated[str | None, typer.Option(help="Tier of a TextGrid; all of them by default.")]
Threshold = Annotated[
    float | None,
    typer.Option(help="Least score of a note; by default found out from the recording."),
]

ChannelToLearn = Annotated[
    str,
    typer.Option(
        "--channel",
        metavar="mean|1|2|...",
        help="Channel of the recordings to listen to, or the mean of all.",
    ),
]
ChannelToSearch = Annotated[
    str | None,
    typer.Option(
        "--channel",
        metavar="mean|1|2|...",
        help="Channel of the recordings to listen to, or the mean of all; by default what the "
        "model was learnt from.",
    ),
]


def read_channel(text: str) -> "Channel":
    """Read ``mean`` or the number of a channel, counted from 1.

    Examples
    --------
    >>> from kernova.cli.options import read_channel
    >>> read_channel("mean"), read_channel("2")
    ('mean', 2)
    """
    from kernova.errors import InputError

    if text.strip().lower() == "mean":
        return "mean"
    if not (text.strip().isdecimal() and int(text) >= 1):
        raise InputError(
            f"--channel is {text!r}; it is mean, or the number of a channel from 1 on."
        )
    return int(text)


def set_channel(finder: "NoteFinder", text: str | None) -> None:
    """Let the finder listen to this channel, if one was given."""
    if text is not None:
        finder.set_params(channel=read_channel(text))


def set_threshold(finder: "NoteFinder", threshold: float | None) -> None:
    """Let the finder take this threshold, if one was given."""
    import math

    from kernova.errors import InputError

    if threshold is None:
        return
    if not (math.isfinite(threshold) and threshold >= 0):
        raise InputError(f"--threshold is {threshold}; it is a number from 0 on.")
    finder.set_params(threshold=threshold)


def split_labels(text: str | None) -> list[str] | None:
    """Read labels separated by commas; None if there is no such option.

    Examples
    --------
    >>> from kernova.cli.options import split_labels
    >>> split_labels("a, b,c")
    ['a', 'b', 'c']
    """
    if text is None:
        return None
    from kernova.errors import InputError

    labels = [label.strip() for label in text.split(",") if label.strip()]
    if not labels:
        raise InputError(f"--labels got {text!r}; name at least one label.")
    return list(dict.fromkeys(labels))


def read_sources(
    sources: Sequence[Path],
    format: str | None,
    columns: Sequence[str] | None,
    tier: str | None,
    labels: Sequence[str] | None = None,
    *,
    may_be_empty: bool = False,
) -> "Lessons":
    """Read recordings and annotations; what the library says of arguments is said of options."""
    from kernova.errors import InputError
    from kernova.notes.training import AnnotationReading, read_lessons

    reading = AnnotationReading(format, named_columns(columns), tier)
    try:
        return read_lessons(sources, reading, labels=labels, may_be_empty=may_be_empty)
    except InputError as error:
        said = re.sub(r"columns=\{'(\w+)': \.\.\.\}", r"--column \1=NAME", str(error))
        raise InputError(said.replace("with format=,", "with --annotation-format,")) from error


def named_columns(pairs: Sequence[str] | None) -> dict[str, str] | None:
    """Read ``role=name`` pairs; None if there are none.

    Examples
    --------
    >>> from kernova.cli.options import named_columns
    >>> named_columns(["label=Species", "start=Begin"])
    {'label': 'Species', 'start': 'Begin'}
    """
    from kernova.errors import InputError

    named = {}
    for pair in pairs or ():
        role, equals, name = pair.partition("=")
        if not (equals and role.strip() and name):
            raise InputError(f"--column got {pair!r}; write ROLE=NAME, such as label=Species.")
        named[role.strip()] = name
    return named or None
