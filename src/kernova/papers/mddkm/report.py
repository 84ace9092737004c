"""Report of the MDD-KM reproduction on tables: the page and the figures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kernova.papers.claims import (
    COLOURS,
    MARKERS,
    NOT_REPRODUCED,
    claims_section,
    panels,
    write_report,
)
from kernova.papers.mddkm.experiments import METHODS, means_of
from kernova.papers.mddkm.reproduction import MddkmReproduction
from kernova.report.canvas import label_axes, legend_below, new_figure
from kernova.report.page import Section, page, picture, table
from kernova.text import quantity

# The numbers of the heat map are white above this fraction of the range of colours.
_DARK: Final = 0.55


def mddkm_page(result: MddkmReproduction, pictures: Mapping[str, bytes]) -> str:
    """Return the page: the claims, then the results."""
    return page(
        "Multiclass data description: claims and our results",
        [_claims(result), _comparison(result, pictures["areas"]), _heat(result, pictures)],
        lead="Kalantari, Principe and Sieving, Uncertainty quantification for multiclass data "
        "description.",
        footer=f"Made by kernova reproduce mddkm-tables, with {quantity(result.seeds, 'seed')}.",
    )


def save_report(result: MddkmReproduction, folder: Path) -> list[Path]:
    """Write the page, tables and figures to a folder; return the paths."""
    return write_report(result, figures_of(result), mddkm_page, folder)


def _claims(result: MddkmReproduction) -> Section:
    introduction = (
        "The recordings of the paper are not public. The claims are its main point, that "
        "classes must share their hyperparameters, and the results of a literal implementation "
        "of its formulas."
    )
    claims = result.table().rename(columns={"literal": "literal implementation"})
    caption = "Claims, and our results"
    return claims_section(claims, result.notes, [NOT_REPRODUCED], [introduction], caption)


def _comparison(result: MddkmReproduction, png: bytes) -> Section:
    return Section(
        "Areas and accuracies",
        [
            "Area under the ROC curve of known against held-out classes, and accuracy of the best "
            "class on known rows: means over seeds.",
            table(result.comparison(), "Area / accuracy"),
            picture(png, "Areas by set and method, with the standard deviation over seeds."),
        ],
    )


def _heat(result: MddkmReproduction, pictures: Mapping[str, bytes]) -> Section:
    return Section(
        "Length-scale and ridge",
        [
            "Area of MDD-KM with fixed length-scale and ridge. Rows are ranked by the logarithm of "
            "q = 1 - d / sigma², which loses less to rounding than d.",
            picture(pictures["heat-map"], "Area by length-scale and ridge."),
            table(
                result.heat_table(),
                "The same by d, where it differs",
                dict.fromkeys(("by q", "by d"), ".3f"),
            ),
        ],
    )


def figures_of(result: MddkmReproduction) -> dict[str, Figure]:
    """Draw the "areas" by set and method, and the "heat-map" of length-scale and ridge."""
    results = result.results
    return {"areas": _areas(means_of(results.runs)), "heat-map": _heat_map(results.heat)}


def _areas(means: pd.DataFrame) -> Figure:
    names = list(dict.fromkeys(means["set"]))
    figure, (ax,) = panels(6.4, 1.7 + 0.55 * len(names))
    entries = []
    for number, method in enumerate(METHODS):
        of = means[means["method"] == method].set_index("set").loc[names]
        # Methods are drawn at different heights, so that equal areas do not overlap.
        heights = np.arange(len(names)) + 0.11 * (number - (len(METHODS) - 1) / 2)
        drawn = ax.errorbar(
            of["auroc"], heights, xerr=_whiskers(of), ls="none", lw=1, ms=5,
            color=COLOURS[number], marker=MARKERS[number],
        )  # fmt: skip
        entries.append((drawn, method))
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    label_axes(ax, "area under the ROC curve, known against held-out", "")
    legend_below(ax, entries)
    return figure


def _whiskers(of: pd.DataFrame) -> NDArray[np.float64]:
    """Return a standard deviation to both sides, zero with one seed, and never beyond 1."""
    deviation = of["deviation"].fillna(0.0).to_numpy(dtype=np.float64)
    return np.stack([deviation, np.minimum(deviation, 1 - of["auroc"].to_numpy(dtype=np.float64))])


def _heat_map(heat: pd.DataFrame) -> Figure:
    table = heat.pivot_table("auroc", index="ridge", columns="length_scale")
    figure = new_figure(7.2, 3.9)
    ax = figure.subplots()
    areas = table.to_numpy()
    image = ax.imshow(areas, cmap="Blues", aspect="auto", origin="lower")
    low, high = float(areas.min()), float(areas.max())
    for row, column in np.ndindex(*areas.shape):
        fraction = (areas[row, column] - low) / max(high - low, 1e-12)
        ax.text(
            column, row, f"{areas[row, column]:.3f}", ha="center", va="center", fontsize=8,
            color="white" if fraction > _DARK else "black",
        )  # fmt: skip
    ax.set_xticks(range(len(table.columns)), [f"{value:g}" for value in table.columns])
    ax.set_yticks(range(len(table.index)), [f"{value:g}" for value in table.index])
    fitted = float(heat["fitted_length_scale"].median())
    fitted_at = np.interp(np.log(fitted), np.log(table.columns), np.arange(len(table.columns)))
    # Above the map, so that it covers no number.
    ax.plot(
        fitted_at,
        1.03,
        "v",
        color="#d55e00",
        ms=9,
        transform=ax.get_xaxis_transform(),
        clip_on=False,
    )
    ax.set_title(
        f"{heat['set'].iloc[0]}: area by length-scale and ridge (triangle: fitted)", pad=16
    )
    label_axes(ax, "length-scale, in median distances between training rows", "ridge")
    figure.colorbar(image, ax=ax, label="area")
    return figure
