"""The comparison of descriptions as one page for people.

Areas by set and method, and the map of length-scale and ridge.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kernova.papers.claims import write_reproduction
from kernova.papers.mddkm import MddkmReproduction
from kernova.papers.mddkm.claims import NOT_REPRODUCED
from kernova.papers.mddkm.experiments import METHODS, Results, means_of
from kernova.report.canvas import label_axes, legend_below
from kernova.report.page import Section, facts, page, paragraph, picture, table


def mddkm_page(result: MddkmReproduction, pictures: Mapping[str, bytes]) -> str:
    """Give the page: claims first, then what stands behind them."""
    return page(
        "Known classes and none of these: what is said, and what comes out",
        [_claims(result), _comparison(result, pictures["areas"]), _heat(result, pictures)],
        lead="Kalantari, Principe and Sieving, Uncertainty quantification for multiclass data "
        "description.",
        footer=f"Made by kernova reproduce mddkm-tables, with {result.seeds} "
        f"{'seed' if result.seeds == 1 else 'seeds'}.",
    )


def save_everything(result: MddkmReproduction, folder: Path) -> list[Path]:
    """Write the page, a table (CSV) and a picture (PNG) of everything; give the paths."""
    return write_reproduction(result, mddkm_page, folder)


def _claims(result: MddkmReproduction) -> Section:
    claims = result.table()
    verdicts = claims["verdict"].str.split(":").str[0].value_counts()
    is_off = claims["verdict"] == NOT_REPRODUCED
    return Section(
        "What holds",
        [
            facts({"claims": len(claims), **{str(name): n for name, n in verdicts.items()}}),
            "The paper's recordings are not public. Judged are its point, that classes must share "
            "their hyperparameters, and what a literal implementation of its formulas measured.",
            table(
                claims.rename(columns={"literal": "literal implementation"}),
                "What is said, and what came out here",
                marked=is_off,
            ),
            *(paragraph(note) for note in result.notes),
        ],
    )


def _comparison(result: MddkmReproduction, png: bytes) -> Section:
    return Section(
        "Areas and accuracies",
        [
            "Area under the ROC curve of known against foreign rows, and accuracy of the best "
            "class on known rows: means over seeds.",
            table(result.comparison(), "Area / accuracy"),
            picture(png, "Areas by set and method, with the standard deviation over seeds."),
        ],
    )


def _heat(result: MddkmReproduction, pictures: Mapping[str, bytes]) -> Section:
    return Section(
        "Length-scale and ridge",
        [
            "Area of MDD-KM with length-scale and ridge set by hand. Ranks are taken by the "
            "logarithm of q = 1 - d / sigma², which does not round away as d does.",
            picture(pictures["heat-map"], "Area by length-scale and ridge."),
            table(
                result.heat_table(),
                "The same by d, where it differs",
                dict.fromkeys(("by q", "by d"), ".3f"),
            ),
        ],
    )


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
