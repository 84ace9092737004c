"""All plotting functions: each draws on matplotlib axes and returns them.

Each takes ``ax``, or makes a figure of its own that needs no display; ``picture_png(ax.figure)``
and ``save_picture(ax.figure, path)`` render it. The legend stands below the axes.
"""

from kernova.report.canvas import picture_png, save_picture
from kernova.report.curves import (
    plot_discovery_curves,
    plot_false_alarm_curve,
    plot_p_values,
    plot_session_curve,
)
from kernova.report.distributions import plot_score_distributions
from kernova.report.explanations import explanation_figure
from kernova.report.hierarchies import plot_hierarchy
from kernova.report.memberships import plot_confusion, plot_probabilities, plot_recognized
from kernova.report.notes import plot_note_thresholds, plot_notes
from kernova.report.planes import plot_depth_contours, plot_map
from kernova.report.rankings import plot_outlier_map, plot_ranking, rank_stability_figure
from kernova.report.shapes import (
    plot_aligned_shapes,
    plot_deformation,
    plot_error_rates,
    plot_morphospace,
)

__all__ = [
    "explanation_figure",
    "picture_png",
    "plot_aligned_shapes",
    "plot_confusion",
    "plot_deformation",
    "plot_depth_contours",
    "plot_discovery_curves",
    "plot_error_rates",
    "plot_false_alarm_curve",
    "plot_hierarchy",
    "plot_map",
    "plot_morphospace",
    "plot_note_thresholds",
    "plot_notes",
    "plot_outlier_map",
    "plot_p_values",
    "plot_probabilities",
    "plot_ranking",
    "plot_recognized",
    "plot_score_distributions",
    "plot_session_curve",
    "rank_stability_figure",
    "save_picture",
]
