"""Cluster hierarchies as trees over bandwidth: large branches, and small clusters that persist."""

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

from kernova.report.canvas import (
    KNOWN,
    MUTED,
    NEW,
    ink,
    label_axes,
    legend_below,
    new_axes,
    note_above,
)
from kernova.text import quantity
from kernova.typing import Indices

if TYPE_CHECKING:
    from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift


# A cluster with this fraction of the rows is large.
_LARGE: Final = 0.05
_MAX_LARGE, _MAX_RARE = 12, 10
# A branch between two mergers is labelled with its size if it spans this fraction of the axis.
_LONG: Final = 0.07
# Consecutive lines overlap by this fraction of the axis, so that no gap shows.
_OVERLAP: Final = 0.002
# Widths of lines in points: for a cluster of few rows, and the addition for all rows.
_THIN, _THICK = 1.0, 11.0
_SMALL_TEXT: Final = 8


class Forest(NamedTuple):
    """The nodes that are drawn, and their vertical positions."""

    nodes: Indices  # the tips and all nodes between them and the root
    height: dict[int, float]  # the vertical position of each node's line
    children: dict[int, list[int]]  # the children of each node among those drawn
    rare: list[int]  # tips that are small and persist


class NodeLines(NamedTuple):
    """The columns of the node table that a tree is drawn from."""

    born: Indices
    last: Indices
    size: Indices
    parent: Indices
    representative: Indices

    @classmethod
    def of(cls, model: "HierarchicalMeanShift") -> "NodeLines":
        """Return the columns of a fitted hierarchy."""
        nodes = model.nodes_
        return cls(*(nodes[name].to_numpy(dtype=np.intp) for name in cls._fields))


def plot_hierarchy(model: "HierarchicalMeanShift", ax: Axes | None = None) -> Axes:
    """Draw the clusters of a hierarchy as a tree over bandwidth.

    From left to right the bandwidth increases and clusters merge. The width of a line grows with
    the size of its cluster. The tree shows the large branches that persist longest and, marked,
    the small clusters that do: candidates for rare categories. A number on a branch is its size
    before it merges; a rare cluster is labelled with its representative row, counted from 0.
    Other small clusters are omitted.

    Parameters
    ----------
    model : HierarchicalMeanShift
        Fitted.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
    >>> from kernova.report.figures import plot_hierarchy
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(9, 0.2, (4, 2))])
    >>> ax = plot_hierarchy(HierarchicalMeanShift().fit(X))
    >>> ax.get_xscale()
    'log'
    """
    lines = NodeLines.of(model)
    forest = lay_out(lines, *choose_tips(lines))
    ax = _high_axes(forest) if ax is None else ax
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda bandwidth, _: f"{bandwidth:g}"))
    reach = _reach(model.bandwidths_, lines, forest)
    _draw_lines(ax, lines, forest, reach)
    _write_sizes(ax, lines, forest, reach)
    low = min(start for start, _ in reach.values())
    ax.set_xlim(low / _axis_span(reach) ** 0.02, low * _axis_span(reach))
    ax.set_ylim(-0.8, max(forest.height.values()) + 0.8)
    ax.invert_yaxis()
    ax.set_yticks([])
    ax.spines[["left", "top", "right"]].set_visible(False)
    label_axes(ax, "bandwidth, in units of the standardised rows", "")
    n_left_out = len(lines.size) - len(forest.nodes)
    note_above(ax, f"{quantity(n_left_out, 'smaller cluster')} not drawn")
    _explain(ax, forest)
    return ax


def _high_axes(forest: Forest) -> Axes:
    """Return axes that are high enough for all tips."""
    n_tips = sum(not below for below in forest.children.values())
    return new_axes(7.2, 1.6 + 0.27 * max(4, n_tips))


def choose_tips(lines: NodeLines) -> tuple[list[int], list[int]]:
    """Return the tips of the tree: large clusters that persist, and small ones that do."""
    n_rows = int(lines.size.max())
    least = max(2, int(np.ceil(_LARGE * n_rows)))
    is_large = lines.size >= least
    has_large_child = np.zeros(len(lines.size), dtype=np.bool_)
    has_large_child[lines.parent[is_large & (lines.parent >= 0)]] = True
    tips = np.flatnonzero(is_large & ~has_large_child)
    lifetime = _branch_ends(lines, tips) - lines.born[tips]
    large = tips[np.lexsort((-lines.size[tips], -lifetime))[:_MAX_LARGE]].tolist()
    # A node that merges into a small cluster, or just grows, is not a cluster beside large ones.
    into = lines.size[lines.parent]
    is_swallowed = (lines.parent >= 0) & (into >= least) & (into >= 2 * lines.size)
    small = np.flatnonzero((lines.size >= 2) & ~is_large & is_swallowed)
    lifetime = lines.last[small] - lines.born[small]
    rare = small[np.lexsort((-lines.size[small], -lifetime))[:_MAX_RARE]].tolist()
    return large, rare


def _branch_ends(lines: NodeLines, tips: Indices) -> Indices:
    """Return the last level of each tip's own branch, before it merges with another."""
    n_tips_below = np.zeros(len(lines.size), dtype=np.intp)
    for tip in tips:
        node = int(tip)
        while node >= 0:
            n_tips_below[node] += 1
            node = int(lines.parent[node])
    ends = np.empty(len(tips), dtype=np.intp)
    for index, tip in enumerate(tips):
        node = int(tip)
        while lines.parent[node] >= 0 and n_tips_below[lines.parent[node]] == 1:
            node = int(lines.parent[node])
        ends[index] = lines.last[node]
    return ends


def _ancestors(lines: NodeLines, node: int) -> list[int]:
    found = []
    while lines.parent[node] >= 0:
        node = int(lines.parent[node])
        found.append(node)
    return found


def lay_out(lines: NodeLines, large: list[int], rare: list[int]) -> Forest:
    """Assign a height to every tip, and to each merger the weighted mean of its children."""
    tips = [*large, *rare] or [int(np.argmax(lines.size))]
    drawn = sorted({node for tip in tips for node in (tip, *_ancestors(lines, tip))})
    children: dict[int, list[int]] = {node: [] for node in drawn}
    roots = [node for node in drawn if lines.parent[node] < 0]
    for node in drawn:
        if lines.parent[node] >= 0:
            children[int(lines.parent[node])].append(node)
    for below in children.values():
        below.sort(key=lambda node: (-int(lines.size[node]), node))
    height: dict[int, float] = {}
    for node in _children_first(children, roots):
        below = children[node]
        if below:
            sizes = [float(lines.size[child]) for child in below]
            height[node] = float(np.average([height[child] for child in below], weights=sizes))
        else:
            height[node] = float(sum(not children[other] for other in height))
    return Forest(np.array(drawn, dtype=np.intp), height, children, rare)


def _children_first(children: dict[int, list[int]], roots: list[int]) -> list[int]:
    """Return the nodes, children first; without recursion, since chains are long."""
    order: list[int] = []
    pending = list(roots)
    while pending:
        node = pending.pop()
        order.append(node)
        pending.extend(children[node])
    return order[::-1]


def _reach(
    bandwidths: NDArray[np.float64], lines: NodeLines, forest: Forest
) -> dict[int, tuple[float, float]]:
    """Return the range of bandwidths of each node's line, which ends where its parent begins."""
    beyond = float(bandwidths[-1]) * 1.5
    found = {}
    for node in map(int, forest.nodes):
        parent = int(lines.parent[node])
        end = beyond if parent < 0 else float(bandwidths[lines.born[parent]])
        found[node] = (float(bandwidths[lines.born[node]]), end)
    return found


def _axis_span(reach: dict[int, tuple[float, float]]) -> float:
    """Return the ratio of the largest to the smallest bandwidth drawn."""
    return max(end for _, end in reach.values()) / min(start for start, _ in reach.values())


def _branch_start(forest: Forest, node: int) -> int:
    """Return the first node of a branch: follow single children."""
    while len(forest.children[node]) == 1:
        (node,) = forest.children[node]
    return node


def _draw_lines(
    ax: Axes, lines: NodeLines, forest: Forest, reach: dict[int, tuple[float, float]]
) -> None:
    n_rows = int(lines.size.max())
    rare = set(forest.rare)
    nodes = [int(node) for node in forest.nodes]
    overlap = _axis_span(reach) ** _OVERLAP
    levels = [
        [(reach[node][0], forest.height[node]), (reach[node][1] * overlap, forest.height[node])]
        for node in nodes
    ]
    widths = [_THIN + _THICK * np.sqrt(lines.size[node] / n_rows) for node in nodes]
    colours = [NEW if node in rare else KNOWN for node in nodes]
    joints = [
        [(reach[child][1], forest.height[child]), (reach[child][1], forest.height[node])]
        for node in nodes
        for child in forest.children[node]
        if forest.height[child] != forest.height[node]
    ]
    ax.add_collection(LineCollection(joints, colors=MUTED, linewidths=_THIN, zorder=1))
    ax.add_collection(
        LineCollection(levels, colors=colours, linewidths=widths, capstyle="butt", zorder=2)
    )
    for node in rare:
        ax.plot(
            reach[node][0], forest.height[node], "D", color=NEW, markersize=5,
            markeredgecolor=ax.get_facecolor(), zorder=3,
        )  # fmt: skip


def _write_sizes(
    ax: Axes, lines: NodeLines, forest: Forest, reach: dict[int, tuple[float, float]]
) -> None:
    """Write each branch's size where it ends, and the representatives of rare clusters."""
    n_rows = int(lines.size.max())
    for node in map(int, forest.nodes):
        parent = int(lines.parent[node])
        if node in forest.rare or (parent >= 0 and len(forest.children[parent]) == 1):
            continue
        start = _branch_start(forest, node)
        length = np.log(reach[node][1] / reach[start][0])
        if forest.children[start] and length < _LONG * np.log(_axis_span(reach)):
            continue
        size = int(lines.size[node])
        label = f"all {size:,}" if size == n_rows else f"{size:,}"
        width = _THIN + _THICK * np.sqrt(size / n_rows)
        _write(ax, label, (reach[node][1], forest.height[node]), "right", width)
    for node in forest.rare:
        label = f"{quantity(int(lines.size[node]), 'row')} like row {lines.representative[node]:,}"
        ax.annotate(
            label,
            (reach[node][0], forest.height[node]),
            xytext=(-6, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=_SMALL_TEXT,
            color=NEW,
        )


def _write(ax: Axes, label: str, point: tuple[float, float], side: str, width: float) -> None:
    ax.annotate(
        label,
        point,
        xytext=(-3, width / 2 + 1),
        textcoords="offset points",
        ha=side,
        va="bottom",
        fontsize=_SMALL_TEXT,
        color=ink(ax),
    )


def _explain(ax: Axes, forest: Forest) -> None:
    entries = [
        (Line2D([], [], color=KNOWN, linewidth=5), "cluster; the wider, the more rows"),
    ]
    if forest.rare:
        rare = Line2D([], [], color=NEW, marker="D", markersize=5, linewidth=_THIN)
        entries.append((rare, "small cluster that persists"))
    legend_below(ax, entries)
