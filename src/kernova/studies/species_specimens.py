"""Specimens of no known group, tested one by one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import pairwise_distances_argmin

from kernova.decide.p_values import conformal_p_values, select_discoveries
from kernova.errors import InputError
from kernova.load.specimens import Landmarks
from kernova.studies.species import checked_groups, refuse_shapeless
from kernova.studies.species_digitising import check_digitising
from kernova.studies.species_files import check_enough
from kernova.studies.species_halvings import (
    Halving,
    Names,
    Vector,
    depths_among,
    halved,
    halving_of,
)
from kernova.studies.species_space import SpeciesSettings


@dataclass(frozen=True)
class SpecimenTests:
    """Every new specimen judged by itself.

    Attributes
    ----------
    rows : DataFrame
        One line per new specimen, in the input's order: ``id``; ``depth`` among the reference
        specimens; ``p_value``, the chance that a specimen of the known groups is as shallow;
        ``verdict``, "new" where the false discovery rate allows it and else "usual"; ``closest``,
        the group of the nearest reference specimen, and ``closest_p_value`` against that group
        alone (1 where it is too small to tell);
        ``landmark``, the number of one that seems out of place or 0, ``landmark_p_value``, and
        ``digitising`` in words.
    known, new : Landmarks
        What was judged, and against what.
    groups : ndarray of str
        The groups of the known specimens.
    halving : Halving
        All specimens, known ones first, in the space of the reference half.
    settings : SpeciesSettings
        How.
    """

    rows: pd.DataFrame
    known: Landmarks
    new: Landmarks
    groups: Names
    halving: Halving
    settings: SpeciesSettings

    @property
    def n_new(self) -> int:
        """Number of specimens called new."""
        return int((self.rows["verdict"] == "new").sum())

    @property
    def notes(self) -> list[str]:
        """What a reader of the result should also know."""
        n_holdout, n_rows = len(self.halving.holdout), len(self.rows)
        smallest = 1 / (n_holdout + 1)
        notes = []
        if n_rows and smallest > self.settings.false_discovery_rate / n_rows:
            fewest = int(np.ceil(n_rows * smallest / self.settings.false_discovery_rate))
            notes.append(
                f"{n_holdout} held-out specimens give no p-value below {smallest:.3g}: at a false "
                f"discovery rate of {self.settings.false_discovery_rate:g}, specimens are called "
                f"new only where {fewest} or more of the {n_rows} stand out together."
            )
        n_suspicious = int((self.rows["landmark"] > 0).sum())
        if n_suspicious:
            them = "specimen has" if n_suspicious == 1 else "specimens have"
            notes.append(
                f"{n_suspicious} {them} landmarks that seem out of place. Look at them before "
                "believing a verdict: a digitising error looks like a new shape."
            )
        return notes


def judge_specimens(
    known: Landmarks,
    groups: Sequence[str],
    new: Landmarks,
    settings: SpeciesSettings | None = None,
) -> SpecimenTests:
    """Test each new specimen against the known groups, one halving for all of them.

    Parameters
    ----------
    known : Landmarks
        Specimens of known groups; half of them are held out to turn depths into p-values.
    groups : sequence of str
        Their groups.
    new : Landmarks
        Specimens with the same landmarks.
    settings : SpeciesSettings, optional
        How.

    Returns
    -------
    SpecimenTests
        One line per new specimen.
    """
    settings = settings or SpeciesSettings()
    names = checked_groups(known, groups)
    if known.coordinates.shape[1:] != new.coordinates.shape[1:]:
        raise InputError(
            f"{known.source} has {known.n_landmarks} landmarks of {known.n_dimensions} "
            f"coordinates, but {new.source} has {new.n_landmarks} of {new.n_dimensions}. Give "
            "specimens with the same landmarks."
        )
    check_enough(names.tolist())
    refuse_shapeless(new)
    coordinates = np.concatenate([known.coordinates, new.coordinates])
    # A group of their own, which no known specimen is of: new ones take no part in the halving.
    all_names = np.concatenate([names, np.full(len(new), "")])
    positions = np.arange(len(coordinates))
    split = halved(all_names, positions[: len(known)], settings.seed, 0)
    unknown = positions[len(known) :]
    ids = (*known.ids, *new.ids)
    halving = halving_of(coordinates, all_names, split, unknown, settings, ids)
    rows = _lines(halving, all_names, coordinates, new.ids, settings)
    return SpecimenTests(rows, known, new, names, halving, settings)


def _lines(
    halving: Halving,
    groups: Names,
    coordinates: Vector,
    ids: Sequence[str],
    settings: SpeciesSettings,
) -> pd.DataFrame:
    p_values = conformal_p_values(halving.holdout_depths, halving.unknown_depths)
    is_new = select_discoveries(p_values, settings.false_discovery_rate)
    closest = _closest(halving, groups, settings)
    check = check_digitising(
        halving.space.procrustes, coordinates[halving.holdout], coordinates[halving.unknown]
    )
    words = [
        "in order" if not number else _suspicion(number, is_single)
        for number, is_single in zip(check.landmark, check.is_single, strict=True)
    ]
    return pd.DataFrame(
        {
            "id": list(ids),
            "depth": halving.unknown_depths,
            "p_value": p_values,
            "verdict": np.where(is_new, "new", "usual"),
            "closest": closest.groups,
            "closest_p_value": closest.p_values,
            "landmark": check.landmark,
            "landmark_p_value": check.p_value,
            "digitising": words,
        }
    )


def _suspicion(number: int, is_single: bool) -> str:
    if is_single:
        return f"landmark {number} sticks out"
    return f"several landmarks stick out, landmark {number} most"


class _Closest(NamedTuple):
    groups: Names
    p_values: Vector


def _closest(halving: Halving, groups: Names, settings: SpeciesSettings) -> _Closest:
    """Find the group of the nearest reference specimen, and how well each specimen fits it."""
    rows = halving.placed.rows
    nearest = pairwise_distances_argmin(rows[halving.unknown], rows[halving.reference])
    closest = groups[halving.reference[nearest]]
    p_values = np.ones(len(closest))
    for group in np.unique(closest):
        reference = halving.reference[groups[halving.reference] == group]
        holdout = halving.holdout[groups[halving.holdout] == group]
        if len(reference) + len(holdout) < settings.least_group:
            continue  # so few can be told from nothing
        mine = halving.unknown[closest == group]
        depths = depths_among(rows[reference], rows[np.concatenate([holdout, mine])], settings)
        p_values[closest == group] = conformal_p_values(
            depths[: len(holdout)], depths[len(holdout) :]
        )
    return _Closest(closest, p_values)
