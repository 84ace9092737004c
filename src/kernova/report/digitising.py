"""Pictures of digitising errors: a specimen over the shape that is expected of it."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from kernova.errors import InputError
from kernova.report.canvas import (
    KNOWN,
    MUTED,
    NEW,
    Entry,
    axes_or_new,
    ink,
)
from kernova.report.shapes import finish_shapes, label_directions, write_number
from kernova.text import quantity
from kernova.typing import Coordinates, Indices, Matrix


class Suspicion(Protocol):
    """What a picture needs of a finding: :class:`kernova.species.digitising.Finding` has it."""

    @property
    def id(self) -> str:
        """The name of the specimen."""

    @property
    def landmarks(self) -> tuple[int, ...]:
        """Landmarks to mark, counted from 1; empty for all."""


def plot_digitising(
    specimen: ArrayLike, expected: ArrayLike, finding: Suspicion, *, ax: Axes | None = None
) -> Axes:
    """Draw a specimen over its expected shape, with arrows from suspicious landmarks.

    Each arrow leads from where the landmark was digitised to where it is expected.

    Parameters
    ----------
    specimen : array-like of shape (n_landmarks, 2 or 3)
        The specimen, aligned to the expected shape; NaN where landmarks are missing. Of three
        coordinates the first two are drawn.
    expected : array-like of shape (n_landmarks, 2 or 3)
        The expected shape, such as the mean of its group.
    finding : Suspicion
        What to mark: its ``landmarks``, or all if there are none.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> import numpy as np
    >>> from typing import NamedTuple
    >>> from kernova.report.digitising import plot_digitising
    >>> class One(NamedTuple):
    ...     id: str
    ...     landmarks: tuple[int, ...]
    >>> outline = np.array([[-0.6, 0.0], [-0.1, 0.25], [0.5, 0.02], [0.0, -0.2]])
    >>> specimen = outline + [[0, 0], [0.1, 0.2], [0, 0], [0, 0]]
    >>> ax = plot_digitising(specimen, outline, One("F3", (2,)))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['specimen F3', 'expected shape', 'landmark 2 and its expected position']
    """
    drawn, mean = _points(specimen, "specimen"), _points(expected, "expected shape")
    if drawn.shape != mean.shape:
        raise InputError(
            f"The specimen has {quantity(len(drawn), 'landmark')}, the expected shape {len(mean)}. "
            "Give the same landmarks of both."
        )
    if not np.isfinite(mean).all():
        raise InputError("The expected shape must be finite; it has missing landmarks.")
    marked = _marked(finding.landmarks, drawn)
    is_own, ax = ax is None, axes_or_new(ax)
    others = np.setdiff1d(np.flatnonzero(np.isfinite(drawn).all(axis=1)), marked)
    ax.scatter(
        mean[:, 0], mean[:, 1], s=26, facecolors="white", edgecolors=MUTED, linewidths=1.1, zorder=2
    )
    ax.scatter(drawn[others, 0], drawn[others, 1], s=16, color=KNOWN, zorder=3)
    _draw_arrows(ax, drawn[marked], mean[marked])
    _write_numbers(ax, mean, drawn, marked)
    note = "seen along the third axis" if np.shape(expected)[-1] == 3 else ""
    finish_shapes(ax, _entries(finding, marked), is_own, note)
    return ax


def _points(shape: ArrayLike, what: str) -> Matrix:
    points = np.asarray(shape, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not len(points):
        raise InputError(f"The {what} must be landmarks × 2 (or 3); got shape {points.shape}.")
    return points[:, :2]


def _marked(numbers: Sequence[int], specimen: Coordinates) -> Indices:
    """Return the places of the landmarks to mark, without missing ones."""
    outside = [number for number in numbers if not 1 <= number <= len(specimen)]
    if outside:
        raise InputError(
            f"Landmark {outside[0]} is to be marked, but there are {len(specimen)}; landmarks are "
            "counted from 1."
        )
    places = np.array(numbers, dtype=np.intp) - 1 if numbers else np.arange(len(specimen))
    return np.asarray(places[np.isfinite(specimen[places]).all(axis=1)])


def _draw_arrows(ax: Axes, starts: Matrix, ends: Matrix) -> None:
    for start, end in zip(starts, ends, strict=True):
        ax.annotate(
            "", xy=tuple(end), xytext=tuple(start), zorder=4,
            arrowprops={"arrowstyle": "-|>", "color": NEW, "linewidth": 1.2, "shrinkA": 3,
                        "shrinkB": 3, "mutation_scale": 11},
        )  # fmt: skip
    ax.scatter(
        starts[:, 0],
        starts[:, 1],
        s=42,
        marker="X",
        color=NEW,
        edgecolors="white",
        linewidths=0.6,
        zorder=5,
    )


def _write_numbers(ax: Axes, mean: Matrix, drawn: Matrix, marked: Indices) -> None:
    """Write the numbers of expected landmarks, and of marked ones of the specimen."""
    places = np.concatenate([np.arange(len(mean)), marked])
    points = np.vstack([mean, drawn[marked]])
    for index, (place, point, away) in enumerate(
        zip(places.tolist(), points, label_directions(points), strict=True)
    ):
        write_number(ax, place + 1, point, away, ink(ax) if index < len(mean) else NEW)


def _entries(finding: Suspicion, marked: Indices) -> list[Entry]:
    def dot(marker: str, **colours: str) -> Line2D:
        return Line2D([], [], linestyle="", marker=marker, markersize=6, **colours)  # type: ignore[arg-type]

    entries: list[Entry] = []
    is_part = bool(finding.landmarks)
    if is_part:
        entries.append((dot("o", color=KNOWN), f"specimen {finding.id}"))
    entries.append((dot("o", color=MUTED, markerfacecolor="white"), "expected shape"))
    numbers = ", ".join(str(place + 1) for place in marked)
    if not is_part:
        label = f"specimen {finding.id}, and where its landmarks are expected"
    elif len(marked) == 1:
        label = f"landmark {numbers} and its expected position"
    else:
        label = f"landmarks {numbers} and their expected positions"
    if len(marked):
        entries.append((dot("X", color=NEW), label))
    return entries
