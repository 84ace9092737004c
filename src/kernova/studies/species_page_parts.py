"""Parts that all pages on species share: number formats, pictures, how it was decided."""

from collections.abc import Mapping
from typing import Final

import pandas as pd
from matplotlib.figure import Figure

from kernova import __version__
from kernova.report.page import Format, Html, Section, facts, paragraph, picture, table
from kernova.studies.species_space import SpeciesSettings

FOOTER: Final = f"Made by kernova {__version__}: load → represent → score → decide → report."


def small(value: float) -> str:
    """Write a p-value so that a small one is not 0."""
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.0e}"


_RATES = (
    "e_star", "e_star_spread", "detection_rate", "false_alarm_bound", "equal_error_rate",
    "equal_error_rate_spread", "auroc", "worst_pair_error", "exact_detection_at_least",
    "exact_false_alarm_bound", "exact_detection_rate",
)  # fmt: skip
FORMATS: Final[dict[str, Format]] = {
    **dict.fromkeys(_RATES, ".3f"),
    **dict.fromkeys(("p_value", "closest_p_value", "landmark_p_value"), small),
    **dict.fromkeys(("depth", "threshold"), ".5f"),
}


def morphospace_picture(figures: Mapping[str, Figure]) -> Html:
    """Give the map of groups."""
    return picture(
        figures["morphospace"],
        "Specimens on the first two components, coloured by group.",
        "Two of several components: what looks close here may be far apart in the others.",
    )


def aligned_picture(figures: Mapping[str, Figure]) -> Html:
    """Give the clouds of landmarks."""
    return picture(
        figures["aligned"],
        "Aligned landmarks of the specimens about the consensus.",
        "Position, size and direction are taken out; what is left is shape.",
    )


def how_it_was_decided(settings: SpeciesSettings) -> Section:
    """Tell how, and with which settings."""
    features = settings.features
    columns = (
        f"{settings.components} principal components of the aligned landmarks"
        if features is None
        else f"{len(features.names)} features, measured on aligned shapes"
    )
    parts: list[str] = [
        paragraph(
            "The known specimens are halved at random, group by group. One half is the reference: "
            "alignment, components and depths are learnt from it alone. The other half is held "
            "out and, like the unknown, only projected, so that both are strangers. A depth is "
            "high in the midst of the reference and low far from it."
        ),
        facts(
            {
                "described by": columns,
                "remainder beyond the components": features is None and settings.remainder,
                "size as a column": settings.size,
                "mirror images allowed": settings.reflection,
                "weighting": settings.weighting if features is None else "none",
                "kernel width": settings.bandwidth,
                "confidence": settings.confidence,
                "halvings": settings.halvings,
                "largest error of separable groups": settings.largest_error,
                "seed": settings.seed,
            }
        ),
    ]
    if features is not None:
        formulas = pd.DataFrame({"feature": features.names, "formula": features.formulas})
        parts.append(table(formulas, "Features"))
    return Section("How it was decided", parts)
