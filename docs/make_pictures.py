"""Figures of the README and the site, drawn by kernova itself.

Run ``python docs/make_pictures.py`` in any folder. The figures are reproducible.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from kernova import (
    CalibratedDetector,
    HierarchicalMeanShift,
    KernelSpatialDepth,
    SpatialDepth,
    false_alarm_threshold,
)
from kernova.discover.strategies import DEFAULT_STRATEGY
from kernova.papers.ksd import reproduce_ksd
from kernova.papers.ksd.report import figures_of
from kernova.report.figures import (
    plot_depth_contours,
    plot_false_alarm_curve,
    plot_hierarchy,
    plot_score_distributions,
    save_picture,
)
from kernova.workflows.demo import write_rare_digits
from kernova.workflows.simulate import SimulationSettings, read_labelled_rows, simulate_strategies

FOLDER = Path(__file__).parent / "pictures"
DPI = 100


def ring_picture() -> Figure:
    """Draw the contours of spatial and of kernelized spatial depth over a ring."""
    rng = np.random.default_rng(0)
    angles, radii = rng.uniform(0, 2 * np.pi, 100), rng.uniform(4, 5, 100)
    ring = np.c_[radii * np.cos(angles), radii * np.sin(angles)]
    return _side_by_side(
        {
            "spatial depth": SpatialDepth().fit(ring),
            "kernelized spatial depth": KernelSpatialDepth(bandwidth=3.0).fit(ring),
        },
        unknown=None,
    )


def masking_picture() -> Figure:
    """Draw rows between four known groups: masked by all of them, not by each alone."""
    rng = np.random.default_rng(0)
    groups = [rng.normal((x, y), size=(100, 2)) for x in (-2, 2) for y in (-2, 2)]
    unknown = rng.uniform(-1, 1, size=(20, 2))
    return _side_by_side(
        {
            "all groups together": SpatialDepth().fit(np.vstack(groups)),
            "one group alone": SpatialDepth().fit(groups[0]),
        },
        unknown,
    )


def _side_by_side(
    models: dict[str, SpatialDepth | KernelSpatialDepth], unknown: NDArray[np.float64] | None
) -> Figure:
    figure = Figure(figsize=(9.4, 4.4), layout="constrained")
    for (title, model), ax in zip(models.items(), figure.subplots(1, 2), strict=True):
        plot_depth_contours(model, unknown=unknown, ax=ax, grid=120)
        ax.set_title(title)
    return figure


def digit_pictures() -> dict[str, Figure]:
    """Draw scores and false alarms of nine known digits, with the four as the new one."""
    X, digit = load_digits(return_X_y=True)
    detector = CalibratedDetector(random_state=0).fit(X[digit != 4])
    known, new = detector.holdout_scores_, detector.score_samples(X[digit == 4])
    chosen = false_alarm_threshold(known, 0.05, bound="binomial")
    return {
        "scores": plot_score_distributions(
            known, new, threshold=detector.threshold_, bound=detector.false_alarm_bound_
        ).figure,
        "false_alarms": plot_false_alarm_curve(known, chosen=chosen).figure,
    }


def reproduction_pictures() -> dict[str, Figure]:
    """Return two figures of ``kernova reproduce ksd``, with its default settings."""
    figures = figures_of(reproduce_ksd())
    return {"masking_widths": figures["masking-widths"], "theorem": figures["theorem"]}


def hierarchy_picture() -> Figure:
    """Draw the hierarchy of three common groups and two rare ones."""
    rng = np.random.default_rng(0)
    groups = [
        ((0, 0), 1, 300),
        ((7, 1), 1, 120),
        ((2, 8), 1, 80),
        ((6, 5), 0.2, 6),
        ((-5, 4), 0.2, 12),
    ]
    rows = [rng.normal(place, spread, (size, 2)) for place, spread, size in groups]
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    plot_hierarchy(HierarchicalMeanShift().fit(np.concatenate(rows)), figure.subplots())
    return figure


def discovery_picture() -> Figure:
    """Draw the discovery curves of strategies on digits, some of them rare."""
    with TemporaryDirectory() as folder:
        data = Path(folder) / "rare_digits.csv"
        write_rare_digits(data)
        table = read_labelled_rows(data, "digit", id_column="id")
    settings = SimulationSettings(
        strategies=(DEFAULT_STRATEGY, "hms-ci", "hms-ci-had", "random"), seeds=25
    )
    return simulate_strategies(table, settings).figure()


def main() -> None:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    figures = {
        "ring": ring_picture(),
        "masking": masking_picture(),
        **digit_pictures(),
        **reproduction_pictures(),
        "hierarchy": hierarchy_picture(),
        "discovery": discovery_picture(),
    }
    for name, figure in figures.items():
        save_picture(figure, FOLDER / f"{name}.png", dpi=DPI)
        print(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
