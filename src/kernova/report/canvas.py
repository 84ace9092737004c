"""What pictures are drawn on: axes, colours, the part of the data in view, and picture files.

Nothing here needs a display or touches pyplot: a figure belongs to whoever holds it.
"""

import math
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
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

from kernova.calibration.bounds import rounded_up
from kernova.errors import InputError
from kernova.files import replacing
from kernova.typing import Matrix, Vector

# Told apart with any colour vision, and in grey print: the two also differ in lightness.
KNOWN: Final = "#2b6ca3"
NEW: Final = "#c8501e"
USUAL: Final = "#e69f00"
MUTED: Final = "#8a8f98"

PERCENT: Final = FuncFormatter(lambda share, _: f"{100 * share:.6g} %")
# What a legend explains: a thing drawn, and words for it.
Entry = tuple[Any, str]

_SMALL_TEXT: Final = 9
# Below the tick labels and the axis label, in points.
_LEGEND_DROP: Final = 34
# Widths in a legend, in points: a letter on average, and what stands before the words.
_LETTER, _HANDLE = 4.7, 38
# Rows further out than so many times the 5-95 % spread are drawn at the edge.
_FENCE: Final = 2.0
# A picture has no room for more numbers than this, nor for smaller steps between them.
_LARGEST: Final = 1e100
_SMALLEST_STEP: Final = 1e-9

_WITHOUT_DATE: Final[dict[str, dict[str, Any]]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def axes_or_new(ax: Axes | None) -> Axes:
    """Give the axes, or new ones on a figure of their own."""
    if ax is not None:
        return ax
    figure = Figure(figsize=(5.6, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    new: Axes = figure.subplots()
    new.spines[["top", "right"]].set_visible(False)
    return new


def ink(ax: Axes) -> Any:
    """Give the colour of the writing on these axes, so that lines suit dark styles too."""
    return ax.xaxis.label.get_color()


def label_axes(ax: Axes, x: str, y: str) -> None:
    """Name both axes; a dollar sign in a column's name is a dollar sign."""
    ax.set_xlabel(x, parse_math=False)
    ax.set_ylabel(y, parse_math=False)


def legend_below(ax: Axes, entries: Sequence[Entry]) -> None:
    """Put the legend under the axes, where it hides neither data nor a title."""
    handles, labels = zip(*entries, strict=True)
    # What a new figure's axes have before they are laid out is near what they get in the end.
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
    """Give two columns where they fit under the axes: a wider legend would narrow these."""
    half = math.ceil(len(labels) / 2)
    columns = [labels[:half], labels[half:]]
    width = sum(_HANDLE + _LETTER * max(map(len, column), default=0) for column in columns)
    return 2 if width <= room else 1


def note_above(ax: Axes, text: str) -> None:
    """Say something small about the picture, above its upper right corner."""
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
    """Count rows on a logarithmic axis as 1, 2, 5, 10 ..., since there is no half row."""
    digits = range(1, 10) if n < 10 else (1, 2, 5) if n <= 200 else (1,)
    ticks = [digit * 10**power for power in range(len(str(n))) for digit in digits]
    axis.set_major_locator(FixedLocator([tick for tick in ticks if tick <= n]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.0f}"))


def spread_on_log_axis(n: int, most: int) -> NDArray[np.intp]:
    """Choose places evenly on a logarithmic axis of ranks: more points would hide each other."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.rint(np.geomspace(1, n, most)).astype(np.intp)) - 1


class View(NamedTuple):
    """From where to where an axis reaches."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How much is in view."""
        return self.high - self.low

    def with_margin(self, share: float) -> "View":
        """Leave a share of the width free on both sides."""
        return View(self.low - share * self.width, self.high + share * self.width)

    def n_beyond(self, values: Vector) -> int:
        """Count the values that are out of view."""
        return int(np.count_nonzero((values < self.low) | (values > self.high)))


def view_of(main: Vector, others: Vector | None = None, reach: float = 1.0) -> View:
    """Choose what to show: the main values, and the others where they are not too far off.

    A few values far out must not press all the rest together. So the view ends at two spreads
    (5 % to 95 % quantile) outside the main values' bulk, and others widen it on each side by
    at most ``reach`` times its width.

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
    if not 0 < room < np.inf:  # mostly copies of one value: the few others are the news
        return View(low, high)
    return View(max(low, float(first - room)), min(high, float(last + room)))


def finite_matrix(rows: ArrayLike, what: str) -> Matrix:
    """Give the rows as a matrix of finite numbers with at least one row, or say why not."""
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
    """Give a number that can be a place in a picture, or say why it cannot."""
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


def check_pair(labels: Sequence[str]) -> None:
    """Refuse anything but a name for each of two groups of rows."""
    if isinstance(labels, str) or len(labels) != 2:
        raise InputError(f"labels must be two names, for known and for new rows; got {labels!r}.")


def counted(n: int, what: str) -> str:
    """Count in words: 1 row, 2 rows."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def percent_up(rate: float) -> str:
    """Write a proven rate in percent, rounded so that it stays true."""
    return f"{(100 * Decimal(rounded_up(rate))).normalize():f} %"


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
    """Write a figure as PNG, SVG or PDF, by the ending of ``path``; whole or not at all."""
    ending = Path(path).suffix.lower()
    if ending not in _WITHOUT_DATE:
        raise InputError(
            f"Cannot save the picture {Path(path).name}: its ending names no kind of picture "
            f"known here. Take one of {', '.join(_WITHOUT_DATE)}."
        )
    with replacing(path) as scratch:
        _render(figure, scratch, ending, dpi)


@contextmanager
def boxes_for_missing_letters() -> Iterator[None]:
    """Let names in scripts that the font lacks show as boxes; a page has them in its text too."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _render(figure: Figure, target: Path | BytesIO, ending: str, dpi: float) -> None:
    with boxes_for_missing_letters():
        figure.savefig(target, format=ending[1:], dpi=dpi, metadata=_WITHOUT_DATE[ending])
