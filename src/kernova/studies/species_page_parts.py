"""Parts that all pages on species share: number formats, pictures, how it was decided."""

from collections.abc import Mapping
from typing import Final

import pandas as pd
from matplotlib.figure import Figure

from kernova import __version__
from kernova.report.page import Format, Html, Section, facts, paragraph, picture, table
from kernova.studies.species_space import ShapeSpace, SpeciesSettings

FOOTER: Final = f"Made by kernova {__version__}: load → represent → score → decide → report."


def small(value: float) -> str:
    """Write a p-value so that a small one is not 0."""
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.1g}"


# What columns are called on a page, where there is less room than in a file.
_WORDS: Final = {
    "specimens": "n",
    "equal_error_rate": "error rate",
    "equal_error_rate_spread": "±",
    "auroc": "area",
    "p_value": "p-value",
    "e_star": "e*",
    "detection_rate": "detected",
    "exact_detection_at_least": "detected ≥",
    "exact_false_alarm_bound": "alarms ≤",
    "exact_detection_rate": "detected then",
    "closest_p_value": "p-value there",
}
_SMALL: Final = ("p_value", "closest_p_value")
_FORMATS: Final[dict[str, Format]] = {
    **dict.fromkeys(_WORDS, ".3f"),
    **dict.fromkeys(_SMALL, small),
    **dict.fromkeys(("depth", "threshold"), ".5f"),
}
_WITHOUT_FORMAT: Final = ("specimens",)
_WEIGHTED: Final = (
    "The components are not plain ones: directions in which specimens of one group hardly vary "
    "count more, by the fourth root of the variance within groups."
)
_REMAINDER: Final = (
    "One more column, the remainder, tells how far a specimen lies from what the components can "
    "show."
)


def readable(rows: pd.DataFrame, caption: str, *, marked: "pd.Series[bool]", max_rows: int) -> Html:
    """Give a table of measurements with short words above its columns."""
    formats = {
        _WORDS.get(name, name): way for name, way in _FORMATS.items() if name not in _WITHOUT_FORMAT
    }
    return table(rows.rename(columns=_WORDS), caption, formats, marked=marked, max_rows=max_rows)


def _weighting(settings: SpeciesSettings) -> str:
    if settings.features is not None:
        return "each feature by its spread"
    return "by variance within groups" if settings.weighting == "within" else "no"


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


def how_it_was_decided(
    settings: SpeciesSettings, space: ShapeSpace, *, one_by_one: bool = False
) -> Section:
    """Tell how, and with which settings; single specimens take one halving and no groups."""
    features = settings.features
    columns = (
        f"{space.components.shape[1]} principal components of the aligned landmarks"
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
        *([paragraph(_WEIGHTED)] if features is None and settings.weighting == "within" else []),
        *([paragraph(_REMAINDER)] if space.has_remainder else []),
        facts(
            {
                "described by": columns,
                "remainder beyond the components": space.has_remainder,
                "size as a column": settings.size,
                "mirror images allowed": settings.reflection,
                "directions weighted": _weighting(settings),
                "kernel width": settings.bandwidth,
                **(
                    {"false discovery rate": settings.false_discovery_rate}
                    if one_by_one
                    else {
                        "confidence": settings.confidence,
                        "halvings": settings.halvings,
                        "largest error of separable groups": settings.largest_error,
                    }
                ),
                "seed": settings.seed,
            }
        ),
    ]
    if features is not None:
        formulas = pd.DataFrame({"feature": features.names, "formula": features.formulas})
        parts.append(table(formulas, "Features"))
    return Section("How it was decided", parts)
