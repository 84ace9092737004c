"""Options that several commands share, and the options that stand for the library's parameters.

The library's messages name parameters (``missing='fill'``). :func:`in_options` writes them as
options of the running command (``--missing fill``) where messages are printed.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, get_args

import typer
from typer.models import OptionInfo

from kernova.audio.annotations import ANNOTATION_FORMATS
from kernova.workflows import settings
from kernova.workflows.detectors import ALL, detector_help, detector_names

if TYPE_CHECKING:
    from kernova.audio.reading import Channel
    from kernova.notes.finder import NoteFinder
    from kernova.notes.training import TrainingSet

MAX_SEED: Final = 2**32 - 1  # NumPy's generator takes no larger one

# --- tables ----------------------------------------------------------------------------------

TABLE_FORMATS: Final = "CSV, TSV, Parquet, Arrow, NPY or NPZ"  # of kernova.tables.formats

if TYPE_CHECKING:
    _NoveltyDetector = str
    _OutlierDetector = str
else:
    _NoveltyDetector = Literal[detector_names("novelty")]
    _OutlierDetector = Literal[(*detector_names("outliers"), ALL)]
NoveltyMethod = Annotated[_NoveltyDetector, typer.Option(help=detector_help("novelty"))]
OutlierMethod = Annotated[
    _OutlierDetector,
    typer.Option(help=f"{detector_help('outliers')} With {ALL}, all side by side."),
]
Scaling = Annotated[
    settings.Scaling,
    typer.Option(help="Scale numeric columns to unit variance, to the range 0 to 1, or not."),
]
Missing = Annotated[
    settings.Missing,
    typer.Option(
        help="Missing values: fill them and add an indicator, report an error, drop such rows, or "
        "fill them."
    ),
]
IdColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column with an identifier for each row.")
]
LabelColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column to copy to the results; it is not a feature."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to ignore; may be repeated."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to use although it seems to be an id or constant; may be repeated.",
    ),
]
RawCoordinates = Annotated[
    bool,
    typer.Option(
        "--raw-coordinates",
        help="Compare columns of landmarks as they are, without alignment.",
    ),
]
Size = Annotated[
    bool,
    typer.Option(
        "--size", help="Landmarks: compare the logarithm of centroid size as well as the shape."
    ),
]
SpecimenLabels = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Landmarks, pictures, embeddings: table with the label of each row, by id or file "
        "name; --label-column and --id-column are those of this table.",
    ),
]
IdPattern = Annotated[
    str | None,
    typer.Option(
        metavar="REGEX",
        help="Landmarks, pictures, embeddings: take the labels from the ids of the rows: the part "
        "in parentheses.",
    ),
]
IdsFrom = Annotated[
    Literal["auto", "id", "image", "number"],
    typer.Option(help="Field of a TPS file that identifies the specimens."),
]
Negative = Annotated[
    Literal["values", "missing"],
    typer.Option(
        help="Landmarks: negative coordinates are ordinary values, or mark missing landmarks."
    ),
]
Dimensions = Annotated[
    int | None,
    typer.Option(
        min=2,
        max=3,
        metavar="2|3",
        help="Landmarks: coordinates of each where the file does not tell, as in rows of MorphoJ.",
    ),
]
Embeddings = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Vectors to compare instead of the columns, one for each row: NPY or NPZ in the order "
        "of the rows (pictures: of their names), or Parquet, CSV or NPZ with ids or file names.",
    ),
]
RotationInvariant = Annotated[
    bool,
    typer.Option(
        "--rotation-invariant",
        help="Pictures without a table: it does not matter how they are turned.",
    ),
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write a table with every row's verdict here.")
]
ModelOutput = Annotated[
    Path, typer.Option("-o", "--output", help="Write the model here (.kernova).")
]
Report = Annotated[
    Path | None, typer.Option(help="Write a report with figures here (one HTML file).")
]
Confidence = Annotated[float, typer.Option(help="Confidence of the bound, between 0 and 1.")]
Bandwidth = Annotated[
    str,
    typer.Option(help="Kernel width for depth: half-nearest, nearest, reach, median, or a number."),
]
SplittingSeed = Annotated[
    int, typer.Option(min=0, max=MAX_SEED, help="Random seed of the hold-out split.")
]
Raw = Annotated[
    bool,
    typer.Option("--raw", help="Write CSV and TSV without apostrophes before formula-like text."),
]
MemoryMb = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="MB",
        help="Memory for reading each file, in MB (default: 80 MB plus 16 × its size).",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

# --- recordings and annotations --------------------------------------------------------------

if TYPE_CHECKING:
    Format = str
else:
    Format = Literal[ANNOTATION_FORMATS]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model from kernova notes learn (.kernova).")
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
    str | None,
    typer.Option(metavar="A,B,...", help="Use only these labels, separated by commas."),
]
AnnotationFormat = Annotated[
    Format | None,
    typer.Option(help="Format of the annotation; detected from its content by default."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="ROLE=NAME",
        help="Column of the annotation whose name is not the default, such as label=Species; "
        "roles: start, end, label, file. May be repeated.",
    ),
]
Tier = Annotated[str | None, typer.Option(help="Tier of a TextGrid; all tiers by default.")]
Threshold = Annotated[
    float | None,
    typer.Option(help="Minimum score of a note; estimated from each recording by default."),
]
_CHANNELS: Final = "mean|1|2|..."
ChannelToLearn = Annotated[
    str,
    typer.Option(
        "--channel", metavar=_CHANNELS, help="Channel of the recordings, or the mean of all."
    ),
]
ChannelToSearch = Annotated[
    str | None,
    typer.Option(
        "--channel",
        metavar=_CHANNELS,
        help="Channel of the recordings, or the mean of all; the model's by default.",
    ),
]


def table_argument(metavar: str, contents: str, *, landmarks: bool = False) -> Any:
    """Return the argument for a table; its help lists the formats."""
    more = (
        " Or landmarks, which are aligned: TPS, or columns x1, y1, x2, y2 and so on. Or pictures: "
        "a folder or ZIP archive."
    )
    return typer.Argument(
        metavar=metavar, help=f"{contents}: {TABLE_FORMATS}.{more if landmarks else ''}"
    )


def examples(*commands: str) -> str:
    """Return the end of a command's help: examples of its use, one on each line."""
    title = "Example:" if len(commands) == 1 else "Examples:"
    return "\n".join(["\b", title, *(f"  {command}" for command in commands)])


# --- reading option values -------------------------------------------------------------------


def number_or_name(text: str) -> "str | float":
    """Read an option that takes a number or a name."""
    try:
        return float(text)
    except ValueError:
        return text


def whole_number_or_name(text: str) -> "str | int":
    """Read an option that takes a whole number or a name."""
    try:
        return int(text)
    except ValueError:
        return text


def split_names(text: str) -> list[str]:
    """Read names separated by commas.

    Examples
    --------
    >>> from kernova.cli.options import split_names
    >>> split_names("a, b,c")
    ['a', 'b', 'c']
    """
    return [name.strip() for name in text.split(",")]


def split_labels(text: str | None) -> list[str] | None:
    """Read distinct labels separated by commas; None where the option was not given."""
    if text is None:
        return None
    from kernova.errors import InputError, quoted

    labels = [label for label in split_names(text) if label]
    if not labels:
        raise InputError(f"--labels got {quoted(text)}; name at least one label.")
    return list(dict.fromkeys(labels))


def read_columns(pairs: Sequence[str] | None) -> dict[str, str] | None:
    """Read ``role=name`` pairs; None if there are none.

    Examples
    --------
    >>> from kernova.cli.options import read_columns
    >>> read_columns(["label=Species", "start=Begin"])
    {'label': 'Species', 'start': 'Begin'}
    """
    from kernova.errors import InputError, quoted

    columns = {}
    for pair in pairs or ():
        role, equals, name = pair.partition("=")
        if not (equals and role.strip() and name):
            raise InputError(
                f"--column got {quoted(pair)}; write ROLE=NAME, such as label=Species."
            )
        columns[role.strip()] = name
    return columns or None


def read_channel(text: str) -> "Channel":
    """Read ``mean`` or the number of a channel, counted from 1.

    Examples
    --------
    >>> from kernova.cli.options import read_channel
    >>> read_channel("mean"), read_channel("2")
    ('mean', 2)
    """
    from kernova.errors import InputError, quoted

    if text.strip().lower() == "mean":
        return "mean"
    if not (text.strip().isdecimal() and int(text) >= 1):
        raise InputError(
            f"--channel must be mean or a channel number of at least 1; got {quoted(text)}."
        )
    return int(text)


def read_sources(
    sources: Sequence[Path],
    format: str | None,
    columns: Sequence[str] | None,
    tier: str | None,
    labels: Sequence[str] | None = None,
    *,
    may_be_empty: bool = False,
) -> "TrainingSet":
    """Read recordings and their annotations."""
    from kernova.notes.training import AnnotationReading, read_training_annotations

    reading = AnnotationReading(format, read_columns(columns), tier)
    return read_training_annotations(sources, reading, labels=labels, may_be_empty=may_be_empty)


def configure_finder(finder: "NoteFinder", threshold: float | None, channel: str | None) -> None:
    """Set the finder's threshold and channel where these options were given."""
    import math

    from kernova.errors import InputError

    if threshold is not None:
        if not (math.isfinite(threshold) and threshold >= 0):
            raise InputError(f"--threshold must be a number of at least 0; got {threshold}.")
        finder.set_params(threshold=threshold)
    if channel is not None:
        finder.set_params(channel=read_channel(channel))


def check_targets(
    output: Path | None, report: Path | None, *others: Path | None, kept: Sequence[Path]
) -> None:
    """Reject files that can never be written, before any work is done."""
    from kernova.files import check_ending, ensure_distinct, ensure_writable
    from kernova.tables.formats import check_table_path

    if output is not None:
        check_table_path(output)
    if report is not None:
        check_ending(report, (".html", ".htm"), "a page")
    targets = [path for path in (output, report, *others) if path is not None]
    ensure_distinct(targets, kept=kept)
    for path in targets:
        ensure_writable(path)


# --- from parameters to options --------------------------------------------------------------

# Parameters whose option has another name. All others are named like their option.
_OPTION_OF_PARAMETER: Final = {
    "columns": "--column",
    "format": "--annotation-format",
    "n_nearest": "--nearest",
    "n_neighbors": "--neighbors",
    "random_state": "--seed",
}
_VALUE: Final = r"'[^']*+'|\"[^\"]*+\"|\{[^{}]*+\}|\.\.\.|[\w+-]++(?:\.\w++)*+|"
_ROLE: Final = r"\{'(\w+)': (?:\.\.\.|'([^']*)')\}"

_command: ContextVar[Callable[..., object] | None] = ContextVar("kernova_command", default=None)


class _Option(NamedTuple):
    name: str
    metavar: str
    is_flag: bool


@contextmanager
def running(command: Callable[..., object]) -> Iterator[None]:
    """Let messages printed inside the block name the options of this command."""
    token = _command.set(command)
    try:
        yield
    finally:
        _command.reset(token)


def in_options(message: str) -> str:
    """Replace the library's parameters in a message by options of the running command.

    Parameters are recognised with a value (``missing='fill'``), between backquotes, by an
    underscore in the name, or at the start of a sentence about a value.

    Examples
    --------
    >>> from kernova.cli.novelty import novelty
    >>> from kernova.cli.options import in_options, running
    >>> with running(novelty):
    ...     print(in_options("holdout must be below 1. Pass missing='fill' or label_column."))
    --holdout must be below 1. Pass --missing fill or --label-column.
    """
    command = _command.get()
    options = {} if command is None else _options_of(command)
    if not options:
        return message
    names = "|".join(sorted(options, key=len, reverse=True))
    long_names = "|".join(name for name in options if "_" in name) or "(?!)"
    message = re.sub(
        rf"(?<![\w'\"./`-])(`*+)({names})=({_VALUE})\1",
        lambda found: _assigned(options[found[2]], found[3]) or found[0],
        message,
    )
    return re.sub(
        rf"(?<!`)`++({names})`++"
        rf"|(?<![\w'\"./-])({long_names})(?![\w'\"/=-]|\.\w)"
        rf"|(?:^|(?<=[.;:] ))({names})(?= (?:must|is [-+\d'\"]|is (?:nan|inf)\b))",
        lambda found: options[found[found.lastindex or 0]].name,
        message,
    )


def _assigned(option: _Option, value: str) -> str | None:
    """Write an option with its value, None where no option means the same."""
    if option.is_flag:
        return option.name if value == "True" else None
    if value in ("None", "False", "True"):
        return None
    if value == "...":
        return f"{option.name} {option.metavar}"
    if role := re.fullmatch(_ROLE, value):
        return f"{option.name} {role[1]}={role[2] or 'NAME'}"
    if value[:1] in ("'", '"'):
        from shlex import quote

        value = quote(value[1:-1])
    return f"{option.name} {value}".rstrip()


def _options_of(command: Callable[..., object]) -> dict[str, _Option]:
    """Return the options of a command by the library's names of their parameters."""
    own = {}
    for parameter in inspect.signature(command).parameters.values():
        option = _declared(parameter.name, parameter.annotation)
        if option is not None:
            own[parameter.name] = option
    by_option = {option.name: option for option in own.values()}
    others = {
        parameter: by_option[name]
        for parameter, name in _OPTION_OF_PARAMETER.items()
        if name in by_option
    }
    return {**others, **own}


def _declared(name: str, annotation: Any) -> _Option | None:
    declared, *details = get_args(annotation) or (None,)
    info = next((one for one in details if isinstance(one, OptionInfo)), None)
    if info is None:
        return None
    # Before it reads an annotation, Typer holds the first spelling as if it were a default.
    spellings = [info.default, *(info.param_decls or ())]
    spelled = [one for one in spellings if isinstance(one, str) and one.startswith("--")]
    option = spelled[0] if spelled else f"--{name.replace('_', '-')}"
    return _Option(option, info.metavar or name.upper(), declared is bool)
