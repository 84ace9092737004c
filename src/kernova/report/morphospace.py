"""Morphospace: groups of specimens on principal components or canonical variates."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike, NDArray
from sklearn.covariance import ledoit_wolf

from kernova.errors import InputError
from kernova.report.canvas import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    LEGEND_LINE,
    MUTED,
    NEW,
    Entry,
    View,
    figure_of,
    finite_matrix,
    ignore_missing_glyphs,
    ink,
    label_axes,
    new_axes,
)
from kernova.report.planes import clip_to_views, draw_marked, finish_plane, plane_views
from kernova.text import percent, quantity, truncate_middle
from kernova.typing import Indices, Matrix, Vector

# Eleven colours and nine marks have no common divisor: 99 groups differ in one or both.
_COLOURS: Final = (*CLASS_COLOURS, "#333333", "#a6cf3a", "#7f1734", "#c4a5e6")
_MARKERS: Final = (*CLASS_MARKERS, "<", ">", "p")
MOST_GROUPS: Final = 60
# So many groups are labelled by name, more by the number that the legend gives them.
_MAX_NAMED: Final = 14
_LONGEST_NAME: Final = 28
# Widths of figures of a few groups and of many, and the room beside and below the plane, in inches.
_SMALL, _LARGE, _ROOM_BESIDE, _ROOM_BELOW = 6.4, 8.4, 0.8, 0.75
# The plane is at least and at most so high, relative to its width.
_FLATTEST, _STEEPEST = 0.45, 0.8
# In points: distance of the legend from the axes, and the mark before a label.
_LEGEND_DROP, _HANDLE = 34, 34
_SMALL_TEXT: Final = 8
# Labels, in points: width of a letter, half a mark, and a gap from the group that needs a line.
_LETTER, _MARK, _FAR = 5.8, 3.0, 14.0
# Where a label may stand: so many directions, at these distances from the median of its group.
_N_TURNS: Final = 24
_REACHES: Final = (5.0, 10.0, 16.0, 24.0, 34.0, 46.0, 60.0, 78.0, 100.0, 130.0, 170.0)
# The cost of hiding a point of a small group, of so many points at most, and of another group; of
# hiding another label; and of standing a point of 1/72 inch farther out.
_SMALL_GROUP, _SMALL_WEIGHT, _WEIGHT, _OVER_LABEL, _PER_POINT = 15, 50.0, 3.0, 5000.0, 0.06
_N_ROUNDS: Final = 4
# Within-group deviations below this fraction of the largest are rounding errors.
_NEGLIGIBLE: Final = 1e-9
_N_FOLDS: Final = 10
# Labels take the colour of their group, darkened by this factor so that yellow can be read.
_DARKER: Final = 0.6


def plot_morphospace(
    scores: ArrayLike,
    groups: Sequence[Any],
    *,
    unknown: ArrayLike | None = None,
    unknown_name: str = "unknown",
    explained: Sequence[float] | None = None,
    most_groups: int = MOST_GROUPS,
    ax: Axes | None = None,
) -> Axes:
    """Draw specimens on their first two components, each group with a colour and mark of its own.

    Groups are labelled at their centroids: by name up to 14 groups, by numbers if there are more,
    which the legend explains.

    Parameters
    ----------
    scores : array-like of shape (n_specimens, n_components)
        Known specimens; the first two columns are drawn.
    groups : sequence of length n_specimens
        The group of each.
    unknown : array-like of shape (n_unknown, n_components), default=None
        Specimens to highlight.
    unknown_name : str
        The label of the unknown specimens.
    explained : sequence of float, default=None
        The fraction of the variance that each component explains, for the axes.
    most_groups : int, default=60
        The number of groups, the largest, that are coloured; the others are grey. At most 60.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.figures import plot_morphospace
    >>> scores = np.random.default_rng(0).normal(size=(30, 4))
    >>> ax = plot_morphospace(scores, ["a"] * 20 + ["b"] * 10, unknown=scores[:3] + 5)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a: 20', 'b: 10', 'unknown: 3']
    """
    known = _first_two(finite_matrix(scores, "specimens"))
    names = _group_names(groups, len(known))
    if not 0 <= most_groups <= MOST_GROUPS:
        raise InputError(f"most_groups must lie from 0 to {MOST_GROUPS}; got {most_groups}.")
    others = np.empty((0, 2))
    if unknown is not None:
        others = _first_two(finite_matrix(unknown, "unknown specimens"))
    largest = [name for name, _ in Counter(sorted(names)).most_common(most_groups)]
    ax = _draw_plane(ax, known, names, largest, others, unknown_name)
    label_axes(ax, *(_component(k, explained) for k in range(2)))
    return ax


def plot_canonical_variates(
    rows: ArrayLike,
    groups: Sequence[Any],
    *,
    unknown: ArrayLike | None = None,
    unknown_name: str = "unknown",
    ax: Axes | None = None,
) -> Axes:
    """Draw specimens on the first two canonical variates (CVA), which separate known groups best.

    Distances are in standard deviations within groups, whose covariance is shrunk. Canonical
    variates exaggerate the separation of the specimens they are computed from, the more so the more
    columns there are. Each known specimen is therefore drawn where the variates of other specimens
    place it (10-fold cross-validation), as the unknown ones are, which take no part.

    Parameters
    ----------
    rows : array-like of shape (n_specimens, n_columns)
        Known specimens, such as aligned landmarks or shape features.
    groups : sequence of length n_specimens
        The group of each; two or more groups.
    unknown : array-like of shape (n_unknown, n_columns), default=None
        Specimens to highlight.
    unknown_name : str
        The label of the unknown specimens.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.morphospace import plot_canonical_variates
    >>> rows = np.random.default_rng(0).normal(size=(60, 4))
    >>> rows[:20, 1] += 9
    >>> ax = plot_canonical_variates(rows, ["a"] * 20 + ["b"] * 20 + ["c"] * 20)
    >>> ax.get_xlabel()
    'canonical variate 1 (100 % of between-group variance)'
    """
    known = finite_matrix(rows, "specimens")
    names = _group_names(groups, len(known))
    variates = canonical_variates(known, names)
    others = np.empty((0, 2))
    if unknown is not None:
        new = finite_matrix(unknown, "unknown specimens")
        if new.shape[1] != known.shape[1]:
            raise InputError(
                f"The unknown specimens have {quantity(new.shape[1], 'column')}, the known ones "
                f"{known.shape[1]}. Give both the same columns."
            )
        others = _first_two(variates.scores(new))
    scores = cross_validated_scores(known, names)
    drawn = _first_two(variates.scores(known) if scores is None else scores)
    largest = [name for name, _ in Counter(sorted(names)).most_common(MOST_GROUPS)]
    ax = _draw_plane(ax, drawn, names, largest, others, unknown_name)
    label_axes(ax, *variates.axis_labels())
    held_out = "not cross-validated: too few" if scores is None else "cross-validated (10-fold)"
    # On the left, since the number of specimens beyond the view stands on the right.
    ax.set_title(f"known specimens {held_out}", loc="left", fontsize=_SMALL_TEXT, color=ink(ax))
    return ax


class CanonicalVariates(NamedTuple):
    """Axes that separate groups best, relative to the variance within groups."""

    origin: Vector  # the mean of all specimens
    axes: Matrix  # one axis per column; within groups, scores have unit variance
    fractions: Vector  # of the between-group variance; zero for an axis within groups

    def scores(self, rows: Matrix) -> Matrix:
        """Return the rows' canonical scores."""
        return np.asarray((rows - self.origin) @ self.axes)

    def axis_labels(self) -> list[str]:
        """Return labels of the first two axes."""
        labels = []
        for number, fraction in enumerate(self.fractions[:2], start=1):
            of_variance = f"({percent(fraction)} of between-group variance)"
            is_between = fraction > 0
            labels.append(
                f"canonical variate {number} {of_variance}"
                if is_between
                else "main component within groups"
            )
        return [*labels, "", ""][:2]


def canonical_variates(rows: Matrix, groups: NDArray[np.object_]) -> CanonicalVariates:
    """Return the canonical variates of groups, with the covariance within groups shrunk.

    The covariance is pooled over groups and shrunk after Ledoit and Wolf, in units of the columns'
    standard deviations within groups. Groups count by their size. Two groups have one variate; the
    second axis is then the main component within groups.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.morphospace import canonical_variates
    >>> rows = np.random.default_rng(0).normal(size=(40, 3)) + np.repeat([[0], [5]], 20, axis=0)
    >>> canonical_variates(rows, np.repeat(["a", "b"], 20)).fractions
    array([1., 0.])
    """
    names, index = np.unique(groups.astype(str), return_inverse=True)
    counts = np.bincount(index)
    means = np.stack([rows[index == number].mean(axis=0) for number in range(len(names))])
    residuals = rows - means[index]
    scales = np.sqrt(np.square(residuals).mean(axis=0))
    if len(names) < 2 or not scales.any():
        raise InputError(
            "Canonical variates need two or more groups, one of them with different specimens; "
            f"got {quantity(len(names), 'group')} of {quantity(len(rows), 'specimen')}."
        )
    scales = np.where(scales > _NEGLIGIBLE * scales.max(), scales, scales.max())
    within = ledoit_wolf(residuals / scales, assume_centered=True)[0]
    values, vectors = np.linalg.eigh(within * len(rows) / max(len(rows) - len(names), 1))
    whitening = vectors / np.sqrt(values) / scales[:, None]
    origin = rows.mean(axis=0)
    between = np.sqrt(counts)[:, None] * ((means - origin) @ whitening)
    _, strengths, directions = np.linalg.svd(between, full_matrices=False)
    n_axes = min(len(names) - 1, rows.shape[1])
    directions, squares = directions[:n_axes], np.square(strengths[:n_axes])
    fractions = squares / squares.sum() if squares.any() else np.zeros(n_axes)
    if n_axes == 1 and rows.shape[1] > 1:
        directions = np.vstack([directions, _main_direction(residuals @ whitening, directions[0])])
        fractions = np.append(fractions, 0.0)
    return CanonicalVariates(origin, _oriented(whitening @ directions.T), fractions)


def cross_validated_scores(rows: Matrix, groups: NDArray[np.object_]) -> Matrix | None:
    """Return canonical scores of specimens, each on variates of the folds that it is not in.

    The variates of each fold are turned and reflected, not stretched, to agree best with those of
    all specimens. None if some fold leaves too few specimens for variates.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.morphospace import cross_validated_scores
    >>> noise = np.random.default_rng(0).normal(size=(40, 30))
    >>> scores = cross_validated_scores(noise, np.repeat(["a", "b"], 20))[:, 0]
    >>> bool(abs(scores[:20].mean() - scores[20:].mean()) < 1)  # the groups are alike
    True
    """
    reference = canonical_variates(rows, groups)
    folds = _folds_within(groups)
    scores = np.empty((len(rows), reference.axes.shape[1]))
    for number in np.unique(folds):
        is_out = folds == number
        try:
            variates = canonical_variates(rows[~is_out], groups[~is_out])
        except InputError:
            return None
        own, target = (v.scores(rows[~is_out]) for v in (variates, reference))
        left, _, right = np.linalg.svd(own.T @ target, full_matrices=False)
        scores[is_out] = variates.scores(rows[is_out]) @ (left @ right)
    return scores


def _folds_within(groups: NDArray[np.object_]) -> Indices:
    """Return the fold of each specimen, each group spread over the folds in the order of rows."""
    folds = np.empty(len(groups), dtype=np.intp)
    folds[np.argsort(groups.astype(str), kind="stable")] = np.arange(len(groups)) % _N_FOLDS
    return folds


def _main_direction(residuals: Matrix, excluded: Vector) -> Vector:
    """Return the direction of the largest variance that is orthogonal to another one."""
    rest = residuals - np.outer(residuals @ excluded, excluded)
    return np.asarray(np.linalg.svd(rest, full_matrices=False)[2][0])


def _oriented(axes: Matrix) -> Matrix:
    """Let the largest coefficient of each axis be positive, so that pictures do not flip."""
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return np.asarray(axes * np.where(largest < 0, -1.0, 1.0))


def _group_names(groups: Sequence[Any], n_specimens: int) -> NDArray[np.object_]:
    names = np.array([str(name) for name in groups], dtype=object)
    if len(names) != n_specimens:
        raise InputError(
            f"groups must hold a group for each of {quantity(n_specimens, 'specimen')}; got "
            f"{len(names)}."
        )
    return names


def _first_two(scores: Matrix) -> Matrix:
    """Return the first two columns; a single component is drawn on a line."""
    return np.column_stack([scores[:, :2], np.zeros(len(scores))])[:, :2]


def _component(index: int, explained: Sequence[float] | None) -> str:
    label = f"component {index + 1}"
    if explained is None or index >= len(explained):
        return label
    return f"{label} ({percent(explained[index])} of variance)"


def _draw_plane(
    ax: Axes | None,
    known: Matrix,
    names: NDArray[np.object_],
    largest: list[str],
    others: Matrix,
    unknown_name: str,
) -> Axes:
    """Draw groups and unknown specimens, with labels at the centroids and a legend."""
    is_numbered = len(largest) > _MAX_NAMED
    views = _even_views(known, others)
    is_own = ax is None
    if ax is None:
        width = _LARGE if is_numbered else _SMALL
        ratio = np.clip(views[1].width / views[0].width, _FLATTEST, _STEEPEST)
        ax = new_axes(width, (width - _ROOM_BESIDE) * ratio + _ROOM_BELOW)
        ax.spines[["top", "right"]].set_visible(False)
    entries = _draw_groups(ax, known, names, views, largest, is_numbered)
    if len(others):
        draw_marked(ax, others, views, "X", NEW).set_zorder(3.5)
        shown = truncate_middle(unknown_name, _LONGEST_NAME)
        entries.append((_mark("X", NEW, 8), f"{shown}: {len(others):,}"))
    finish_plane(ax, views, np.vstack([known, others]), entries)
    _draw_legend(ax, entries, is_numbered, is_own)
    if np.ptp(known[:, 1]) > 0:
        ax.set_aspect("equal", adjustable="box" if is_own else "datalim")
    texts = [str(number) if is_numbered else name for number, name in enumerate(largest, start=1)]
    groups = [known[names == name] for name in largest]
    colours = [_COLOURS[number % len(_COLOURS)] for number in range(len(largest))]
    if len(others):
        texts.append(unknown_name)
        groups.append(others)
        colours.append(NEW)
    if len(texts) > 1:
        rest = known[~np.isin(names, largest)]
        groups = [clip_to_views(rows, views) for rows in (*groups, rest)]
        _write_labels(ax, texts, groups, colours)
    return ax


def _even_views(known: Matrix, others: Matrix) -> list[View]:
    """Return views whose proportions a figure can have at one scale of both axes."""
    across, up = plane_views(known, others, 0.08)
    if not np.ptp(known[:, 1]) > 0:
        return [across, up]
    wide = max(across.width, up.width / _STEEPEST)
    tall = max(up.width, wide * _FLATTEST)
    return [
        view.with_margin((width / view.width - 1) / 2)
        for view, width in ((across, wide), (up, tall))
    ]


def _draw_groups(
    ax: Axes,
    known: Matrix,
    names: NDArray[np.object_],
    views: list[View],
    largest: list[str],
    is_numbered: bool,
) -> list[Entry]:
    is_other = ~np.isin(names, largest)
    size = 26 if len(known) <= 500 else 15
    for index, name in reversed(list(enumerate(largest))):  # small groups lie on large ones
        x, y = clip_to_views(known[names == name], views).T
        ax.scatter(
            x, y, s=size, marker=_MARKERS[index % len(_MARKERS)], alpha=0.75, linewidths=0.3,
            color=_COLOURS[index % len(_COLOURS)], edgecolors="white",
            zorder=2.2 + 0.005 * index,
        )  # fmt: skip
    entries: list[Entry] = []
    for index, name in enumerate(largest):
        marker = _MARKERS[index % len(_MARKERS)]
        # A diamond is a square on its corner, which looks larger.
        mark = _mark(marker, _COLOURS[index % len(_COLOURS)], 5 if marker == "D" else 6)
        text = f"{truncate_middle(name, _LONGEST_NAME)}: {(names == name).sum():,}"
        entries.append((mark, f"{index + 1} {text}" if is_numbered else text))
    if is_other.any():
        x, y = clip_to_views(known[is_other], views).T
        dots = ax.scatter(x, y, s=12, color=MUTED, alpha=0.55, linewidths=0, zorder=2)
        n_groups = quantity(len(set(names[is_other])), "other group")
        entries.append((dots, f"{n_groups}: {is_other.sum():,}"))
    return entries


def _mark(marker: str, colour: str, size: float) -> Line2D:
    return Line2D(
        [], [], linestyle="", marker=marker, markersize=size, color=colour, markeredgewidth=0
    )


def _draw_legend(ax: Axes, entries: list[Entry], is_numbered: bool, is_own: bool) -> None:
    """Draw the legend in as many columns as fit below the axes, and make room for its lines."""
    figure = figure_of(ax)
    drop = ScaledTranslation(0, -_LEGEND_DROP / 72, figure.dpi_scale_trans)
    longest = max(len(label) for _, label in entries)
    column = (_HANDLE + (4.2 if is_numbered else 4.7) * longest) / 72
    n_columns = max(1, min(len(entries), int(figure.get_size_inches()[0] * 0.9 / column)))
    handles, labels = zip(*entries, strict=True)
    ax.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(0, 0), borderaxespad=0, frameon=False,
        bbox_transform=ax.transAxes + drop, ncols=n_columns,
        fontsize=_SMALL_TEXT if is_numbered else _SMALL_TEXT + 1, columnspacing=1.2,
        handletextpad=0.4,
    )  # fmt: skip
    legend = ax.get_legend()
    for text in legend.get_texts() if legend is not None else ():
        text.set_parse_math(False)
    if is_own:
        wide, tall = figure.get_size_inches()
        n_lines = -(-len(entries) // n_columns)
        figure.set_size_inches(wide, tall + LEGEND_LINE * n_lines)


def _write_labels(ax: Axes, texts: list[str], groups: list[Matrix], colours: list[str]) -> None:
    """Write labels beside their groups, with a line to those that stand far from all their points.

    There may be one more group than labels: points that labels avoid too.
    """
    shown = [truncate_middle(text, _LONGEST_NAME) for text in texts]
    figure = figure_of(ax)
    with ignore_missing_glyphs():
        figure.draw_without_rendering()  # the layout decides where points lie on paper
    scale = figure.dpi / 72
    on_paper = [ax.transData.transform(rows) / scale for rows in groups]  # in points of 1/72 inch
    sizes = np.array([(_LETTER * len(text) + 8, 12.0) for text in shown])
    frame = np.array([ax.bbox.min, ax.bbox.max]) / scale
    centres = labels_beside(on_paper, sizes, frame)
    for text, group, centre, size, rows, colour in zip(
        shown, on_paper, centres, sizes, groups, colours, strict=False
    ):
        gaps = np.maximum(np.abs(group - centre) - size / 2, 0)
        nearest = int(np.hypot(*gaps.T).argmin())
        dark = np.array(to_rgb(colour)) * _DARKER
        line = {"arrowstyle": "-", "color": dark, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 2}
        is_far = np.hypot(*gaps[nearest]) > _FAR
        written = ax.annotate(
            text, rows[nearest], xytext=centre - group[nearest], textcoords="offset points",
            ha="center", va="center", fontsize=_SMALL_TEXT + 0.5, fontweight="bold", color=dark,
            zorder=6, parse_math=False, arrowprops=line if is_far else None, annotation_clip=False,
        )  # fmt: skip
        written.set_path_effects([withStroke(linewidth=3, foreground="white")])
        if written.arrow_patch is not None:
            written.arrow_patch.set_zorder(5)


def labels_beside(groups: list[Matrix], sizes: Matrix, frame: Matrix) -> Matrix:
    """Return the centres of labels beside groups of points, where they hide fewest points.

    Each label tries places around the median of its group. One that covers another label costs
    most, then one that covers points, those of small groups most, then one far from the median.

    Parameters
    ----------
    groups : list of ndarray of shape (n_points, 2)
        The points of each group; further ones, without a label, may follow.
    sizes : ndarray of shape (n_labels, 2)
        Width and height of each label.
    frame : ndarray of shape (2, 2)
        Lower left and upper right corner, which labels stay within.

    Examples
    --------
    >>> import numpy as np
    >>> frame = np.array([[0.0, 0.0], [100.0, 100.0]])
    >>> labels_beside([np.array([[50.0, 50.0]])], np.array([[20.0, 10.0]]), frame).round()
    array([[50., 60.]])
    """
    points = np.concatenate(groups)
    counts = np.array([len(group) for group in groups])
    weights = np.repeat(np.where(counts <= _SMALL_GROUP, _SMALL_WEIGHT, _WEIGHT), counts)
    medians = np.array([np.median(group, axis=0) for group in groups[: len(sizes)]])
    tried = [_places(*one, frame) for one in zip(medians, sizes, strict=True)]
    costs = []
    for places, size, median in zip(tried, sizes, medians, strict=True):
        is_hidden = (np.abs(places[:, None] - points) < size / 2 + _MARK).all(axis=2)
        far = np.hypot(*(places - median).T)
        costs.append(is_hidden @ weights + _PER_POINT * far)
    centres = np.array([places[cost.argmin()] for places, cost in zip(tried, costs, strict=True)])
    for _ in range(_N_ROUNDS):
        for label in np.argsort(counts[: len(sizes)], kind="stable"):
            room = (sizes + sizes[label]) / 2
            is_over = (np.abs(tried[label][:, None] - centres) < room).all(axis=2)
            is_over[:, label] = False
            # Labels that have not yet moved may still do so.
            total = costs[label] + _OVER_LABEL * is_over.sum(axis=1)
            centres[label] = tried[label][total.argmin()]
    return centres


def _places(median: Vector, size: Vector, frame: Matrix) -> Matrix:
    """Return where a label may stand: around a point, near and far, within the frame."""
    turns = np.pi / 2 + np.linspace(0, 2 * np.pi, _N_TURNS, endpoint=False)
    around = np.column_stack([np.cos(turns), np.sin(turns)])
    # On an ellipse as wide as the label, so that it is as near from the side as from above.
    places = median + np.concatenate([around * (size / 2 + reach) for reach in _REACHES])
    low, high = frame[0] + size / 2, np.maximum(frame[0] + size / 2, frame[1] - size / 2)
    return np.asarray(np.clip(places, low, high))
