"""Areas by set and method, and the map of length-scale and ridge."""

from typing import Final

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kernova.report.canvas import label_axes, legend_below
from kernova.studies.mddkm_methods import METHODS
from kernova.studies.mddkm_runs import Results, means_of

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#5b5b5b")
_MARKERS: Final = "osD^vP"
# Light enough for dark numbers below this share of the colours' range.
_DARK: Final = 0.55


def pictures_of(results: Results) -> dict[str, Figure]:
    """Draw "areas" and "heat-map"."""
    return {"areas": _areas(means_of(results.runs)), "heat-map": _heat_map(results.heat)}


def _new_figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _areas(means: pd.DataFrame) -> Figure:
    names = list(dict.fromkeys(means["set"]))
    figure = _new_figure(6.4, 1.7 + 0.55 * len(names))
    ax = figure.subplots()
    entries = []
    for place, method in enumerate(METHODS):
        of = means[means["method"] == method].set_index("set").loc[names]
        # Methods stand a little apart, so that equal areas do not hide each other.
        heights = np.arange(len(names)) + 0.11 * (place - (len(METHODS) - 1) / 2)
        drawn = ax.errorbar(
            of["auroc"], heights, xerr=_whiskers(of), ls="none", lw=1, ms=5,
            color=_COLOURS[place], marker=_MARKERS[place],
        )  # fmt: skip
        entries.append((drawn, method))
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x", alpha=0.3)
    label_axes(ax, "area under the ROC curve, known against foreign", "")
    legend_below(ax, entries)
    return figure


def _whiskers(of: pd.DataFrame) -> NDArray[np.float64]:
    """Give a standard deviation to both sides, none over one seed, and never beyond 1."""
    deviation = of["deviation"].fillna(0.0).to_numpy(dtype=np.float64)
    return np.stack([deviation, np.minimum(deviation, 1 - of["auroc"].to_numpy(dtype=np.float64))])


def _heat_map(heat: pd.DataFrame) -> Figure:
    table = heat.pivot_table("auroc", index="ridge", columns="length_scale")
    figure = _new_figure(7.2, 3.9)
    ax = figure.subplots()
    areas = table.to_numpy()
    image = ax.imshow(areas, cmap="Blues", aspect="auto", origin="lower")
    low, high = float(areas.min()), float(areas.max())
    for row, column in np.ndindex(*areas.shape):
        share = (areas[row, column] - low) / max(high - low, 1e-12)
        ax.text(
            column, row, f"{areas[row, column]:.3f}", ha="center", va="center", fontsize=8,
            color="white" if share > _DARK else "black",
        )  # fmt: skip
    ax.set_xticks(range(len(table.columns)), [f"{value:g}" for value in table.columns])
    ax.set_yticks(range(len(table.index)), [f"{value:g}" for value in table.index])
    fitted = float(heat["fitted_length_scale"].median())
    place = np.interp(np.log(fitted), np.log(table.columns), np.arange(len(table.columns)))
    # Above the map, where it hides no number.
    ax.plot(
        place, 1.03, "v", color="#d55e00", ms=9, transform=ax.get_xaxis_transform(), clip_on=False
    )
    ax.set_title(
        f"{heat['set'].iloc[0]}: area by length-scale and ridge (triangle: fitted)", pad=16
    )
    label_axes(ax, "length-scale, in median distances between training rows", "ridge")
    figure.colorbar(image, ax=ax, label="area")
    return figure
