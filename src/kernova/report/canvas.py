"""Axes, colours, views and files of all pictures.

Nothing here needs a display or uses pyplot: a figure belongs to its caller.
"""

import math
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike, NDArray

from kernova.errors import InputError, quoted
from kernova.files import replacing
from kernova.typing import Matrix, Vector

# Distinct for every type of colour vision, and in grey print: KNOWN and NEW differ in lightness.
KNOWN: Final = "#2b6ca3"
NEW: Final = "#c8501e"
INLIER: Final = "#e69f00"
MUTED: Final = "#8a8f98"

# Categories: distinct for every type of colour vision; the colour of what is new is left out.
CLASS_COLOURS: Final = (KNOWN, "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#6b4f1d", "#5b3a91")
CLASS_MARKERS: Final = ("o", "s", "^", "D", "v", "P")
# Lines: the palette of Okabe and Ito; more than eight lines differ by their dashes.
LINE_COLOURS: Final = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b", "#b3a500",
)  # fmt: skip
LINE_DASHES: Final = ("-", (0, (5, 2)), (0, (1, 1.5)))

PERCENT: Final = FuncFormatter(lambda fraction, _: f"{100 * fraction:.6g} %")
# An entry of a legend: what is drawn, and its label.
Entry = tuple[Any, str]

_SMALL_TEXT: Final = 9
# Distance of the legend from the axes, in points: room for tick labels and the axis label.
_LEGEND_DROP: Final = 34
# Widths in a legend, in points: a letter on average, and the handle before the label.
_LETTER, _HANDLE = 4.7, 38
# Height of a line of the legend, in inches.
LEGEND_LINE: Final = 0.2
# Rows farther out than so many times the 5-95 % range are drawn at the edge.
_FENCE: Final = 2.0
# matplotlib cannot draw larger numbers, nor axes with smaller relative steps.
_LARGEST: Final = 1e100
_SMALLEST_STEP: Final = 1e-9

_WITHOUT_DATE: Final[dict[str, dict[str, Any]]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the axes, or new ones on a figure of their own."""
    if ax is not None:
        return ax
    new = new_axes(5.6, 4.4)
    new.spines[["top", "right"]].set_visible(False)
    return new


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, ready to be rendered without a display."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_axes(width: float, height: float) -> Axes:
    """Return the single axes of a new figure of this size in inches."""
    ax: Axes = new_figure(width, height).subplots()
    return ax


def axes_above_legend(n_lines: float) -> Axes:
    """Return new axes whose figure leaves room for a legend with this many extra lines."""
    ax = axes_or_new(None)
    figure = figure_of(ax)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + LEGEND_LINE * max(0, n_lines))
    return ax


def figure_of(ax: Axes) -> Figure:
    """Return the figure that a picture was drawn on; it must have one of its own."""
    assert isinstance(ax.figure, Figure)
    return ax.figure


def ink(ax: Axes) -> Any:
    """Return the text colour of these axes, so that lines suit dark styles too."""
    return ax.xaxis.label.get_color()


def label_axes(ax: Axes, x: str, y: str) -> None:
    """Label both axes; dollar signs in labels are not read as formulas."""
    ax.set_xlabel(x, parse_math=False)
    ax.set_ylabel(y, parse_math=False)


def legend_below(ax: Axes, entries: Sequence[Entry]) -> None:
    """Draw the legend below the axes, where it hides neither data nor a title."""
    handles, labels = zip(*entries, strict=True)
    # The width of new axes before layout is close to the final one.
    room = 72 * ax.bbox.width / ax.figure.dpi
    drop = ScaledTranslation(0, -_LEGEND_DROP / 72, ax.figure.dpi_scale_trans)
    legend = ax.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + drop,
        borderaxespad=0,
        ncols=_legend_columns(labels, room),
        frameon=False,
        fontsize=_SMALL_TEXT,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _legend_columns(labels: Sequence[str], room: float) -> int:
    """Return 2 if two columns fit below the axes; a wider legend would narrow the axes."""
    half = math.ceil(len(labels) / 2)
    columns = [labels[:half], labels[half:]]
    width = sum(_HANDLE + _LETTER * max(map(len, column), default=0) for column in columns)
    return 2 if width <= room else 1


def note_above(ax: Axes, text: str) -> None:
    """Write a small note above the upper right corner."""
    ax.annotate(
        text,
        (1, 1),
        xycoords="axes fraction",
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=_SMALL_TEXT - 1,
        color=ink(ax),
        parse_math=False,
    )


def count_ticks(axis: Axis, n: int) -> None:
    """Set the ticks of a logarithmic axis of counts: 1, 2, 5, 10 and so on."""
    digits = range(1, 10) if n < 10 else (1, 2, 5) if n <= 200 else (1,)
    ticks = [digit * 10**power for power in range(len(str(n))) for digit in digits]
    axis.set_major_locator(FixedLocator([tick for tick in ticks if tick <= n]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.0f}"))


def log_spaced_indices(n: int, most: int) -> NDArray[np.intp]:
    """Return at most ``most`` indices, evenly spaced on a logarithmic axis of ranks."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.rint(np.geomspace(1, n, most)).astype(np.intp)) - 1


class View(NamedTuple):
    """The range of an axis."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """The width of the range."""
        return self.high - self.low

    def with_margin(self, fraction: float) -> "View":
        """Return the view, wider by a fraction of its width on both sides."""
        return View(self.low - fraction * self.width, self.high + fraction * self.width)

    def n_beyond(self, values: Vector) -> int:
        """Return the number of values outside the view."""
        return int(np.count_nonzero((values < self.low) | (values > self.high)))


def view_of(main: Vector, others: Vector | None = None, reach: float = 1.0) -> View:
    """Return the view that shows the main values, and the others where they are not too far.

    A few extreme values must not compress all the rest. The view therefore ends at twice the
    range from the 5 % to the 95 % quantile outside that range, and the other values widen it on
    each side by at most ``reach`` times its width.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.canvas import view_of
    >>> view_of(np.arange(11.0), np.array([-3.0, 1e6]))
    View(low=-3.0, high=20.0)
    """
    low, high = _fenced(main)
    if others is not None and others.size:
        beyond_low, beyond_high = _fenced(np.clip(others, -_LARGEST, _LARGEST))
        room = reach * (high - low) if high > low else np.inf
        low = max(min(low, beyond_low), low - room)
        high = min(max(high, beyond_high), high + room)
    largest = max(abs(low), abs(high))
    _check_drawable(largest)
    if high - low > _SMALLEST_STEP * largest and high - low > 1 / _LARGEST:
        return View(low, high)
    pad = 0.05 * largest if largest > 1 / _LARGEST else 0.5
    return View(low - pad, high + pad)


def _fenced(values: Vector) -> View:
    low, high = float(values.min()), float(values.max())
    with np.errstate(over="ignore", invalid="ignore"):
        first, last = np.quantile(values, [0.05, 0.95])
        room = _FENCE * (last - first)
    if not 0 < room < np.inf:  # mostly one value, so that the few others are of interest
        return View(low, high)
    return View(max(low, float(first - room)), min(high, float(last + room)))


def finite_matrix(rows: ArrayLike, what: str) -> Matrix:
    """Return the rows as a matrix of finite numbers with at least one row, or raise."""
    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The {what} must be numbers in rows and columns.") from None
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise InputError(
            f"The {what} must be a table of rows and columns; got an array of shape {matrix.shape}."
        )
    if len(matrix) == 0:
        raise InputError(f"There are no {what}. Give at least one.")
    n_bad = np.count_nonzero(~np.isfinite(matrix).all(axis=1))
    if n_bad:
        raise InputError(
            f"The {what} must be finite; {n_bad} of {len(matrix)} hold NaN or infinity. "
            "Leave such rows out, or fill them."
        )
    _check_drawable(float(np.abs(matrix).max()))
    return matrix


def drawable_number(value: float, what: str) -> float:
    """Return a number that can be drawn, or raise."""
    number = float(value)
    if not math.isfinite(number):
        raise InputError(f"The {what} must be a finite number; got {number}.")
    _check_drawable(abs(number))
    return number


def _check_drawable(largest: float) -> None:
    if largest > _LARGEST:
        raise InputError(
            f"No picture can show numbers as large as {largest:.3g}. Rescale them first."
        )


def check_two_labels(labels: Sequence[str]) -> None:
    """Raise unless there is a label for each of two groups of rows."""
    if isinstance(labels, str) or len(labels) != 2:
        raise InputError(
            f"labels must be two texts, for known and for new rows; got {quoted(labels)}."
        )


def picture_png(figure: Figure, dpi: float = 160) -> bytes:
    r"""Render a figure as a PNG; the same figure gives the same bytes.

    Examples
    --------
    >>> from kernova.report.figures import picture_png, plot_p_values
    >>> picture_png(plot_p_values([0.2, 0.5, 0.9]).figure)[:4]
    b'\x89PNG'
    """
    buffer = BytesIO()
    _render(figure, buffer, ".png", dpi)
    return buffer.getvalue()


def save_picture(figure: Figure, path: str | os.PathLike[str], dpi: float = 160) -> None:
    """Write a figure as PNG, SVG or PDF, by the suffix of ``path``, atomically."""
    suffix = Path(path).suffix.lower()
    if suffix not in _WITHOUT_DATE:
        raise InputError(
            f"Cannot save the picture {Path(path).name}: its suffix is not a supported format. "
            f"Use one of {', '.join(_WITHOUT_DATE)}."
        )
    with replacing(path) as scratch:
        _render(figure, scratch, suffix, dpi)


@contextmanager
def ignore_missing_glyphs() -> Iterator[None]:
    """Silence warnings about glyphs that the font lacks; they are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _render(figure: Figure, target: Path | BytesIO, suffix: str, dpi: float) -> None:
    with ignore_missing_glyphs():
        figure.savefig(target, format=suffix[1:], dpi=dpi, metadata=_WITHOUT_DATE[suffix])
